// Which crawler a command line names: the product tokens of its flags.
import { isProductToken, productTokenOf } from '@politely/core'
import { describeValue, explainMissingToken } from '@politely/core/engine'
import type { Arguments } from './command-line.ts'
import { UsageError } from './errors.ts'

/**
 * Returns the product tokens, in order. `check` gets the same messages from the fetcher, which
 * `match` does not load.
 * @throws {UsageError} for a missing or an invalid product token.
 */
export function tokensOf(args: Arguments): readonly string[] {
  const given = givenTokens(args)
  if (given.length > 0) return given
  const userAgent = args.get('user-agent')
  if (userAgent === undefined || userAgent.trim() === '') {
    throw new UsageError(
      '--user-agent: is missing or empty; write one such as "ExampleBot/1.0", or give --product-token',
    )
  }
  const token = productTokenOf(userAgent)
  if (token !== undefined) return [token]
  throw new UsageError(
    `--user-agent: ${explainMissingToken(userAgent)}; write the name to look for in robots.txt as --product-token, such as "ExampleBot", or begin the header with a name such as ExampleBot/1.0`,
  )
}

/**
 * Returns the values of `--product-token`, in order.
 * @throws {UsageError} for an invalid one.
 */
export function givenTokens(args: Arguments): readonly string[] {
  const given = args.all('product-token')
  const invalid = given.find((token) => !isProductToken(token))
  if (invalid === undefined) return given
  throw new UsageError(
    `--product-token: ${describeValue(invalid)} is not a product token; write letters, digits, "-" and "_", such as ExampleBot`,
  )
}
