// Checks the names of a crawler that a caller passes.
import { describeOther } from '../describe-value.ts'
import { OptionError } from '../errors.ts'

/**
 * A crawler's name in robots.txt, such as `ExampleBot`; or several, in order of preference: the
 * first one that has a group is used. `*` stands for a crawler that no group names. RFC 9309
 * §2.2.1.
 *
 * In every dialect but `google`, a whole User-Agent header stands for its product token
 * (`productTokenOf`). A header without one gets the rules for all crawlers.
 * @inline
 */
export type ProductTokens = string | readonly string[]

/**
 * Returns the product tokens as a new list. @throws {OptionError} if one is missing or not a
 * string.
 */
export function tokensOf(productTokens: ProductTokens): readonly string[] {
  const isList = typeof productTokens === 'object' && productTokens !== null && Symbol.iterator in productTokens
  const tokens = isList ? [...productTokens] : [productTokens as string]
  if (tokens.length === 0) throw new OptionError('productTokens', `is an empty list; ${EXPECTED_TOKEN}`)
  for (const token of tokens) {
    if (typeof token === 'string') continue
    const problem = token === undefined ? 'is missing' : `${describeOther(token)} is not a product token`
    throw new OptionError('productTokens', `${problem}; ${EXPECTED_TOKEN}`)
  }
  return tokens
}

const EXPECTED_TOKEN =
  'expected the name of a crawler in robots.txt, such as "ExampleBot", or "*" for one that no group names'

/** Returns whether a list has exactly these product tokens. */
export function isSame(list: readonly string[], productTokens: ProductTokens): boolean {
  if (typeof productTokens === 'string') return list.length === 1 && list[0] === productTokens
  return list.length === productTokens?.length && list.every((token, i) => token === productTokens[i])
}
