// Meta elements with a slip: elements that do not count, and look as if they were meant to.
import { isProductToken } from '../../parse/user-agent-name.ts'
import { type Attributes, isRuleName } from './html-tokenizer.ts'
import { decodedValue } from './references.ts'
import { isSlipOfRobots } from './tag-slips.ts'
import { hasRule } from './tag-value.ts'

/**
 * A meta element with rules for robots, or a name of TDMRep, that does not count. JSON-safe.
 * @inline
 */
export interface UncountedMeta {
  /** Why not: a key of `robotsProblems`. */
  readonly reason: 'unknown-name' | 'wrong-attribute' | 'no-name' | 'no-content' | 'not-in-head'
  /** As written, without blanks around it. An empty text without a name. */
  readonly name: string
  /** As written, with character references decoded. */
  readonly content: string
  /** The attribute that is not read, such as `value`. */
  readonly found?: string
  /** The attribute that was probably meant, such as `content`. */
  readonly meant?: string
}

/** `name`, and the attributes that authors write in its place. */
const NAMES = ['name', 'property', 'http-equiv', 'itemprop'] as const

/** Why an element does not count, and what its report shows instead of its own name and content. */
type Slip = Pick<UncountedMeta, 'reason'> & Partial<UncountedMeta>

/** Returns the rules that became attributes, since quotes are missing: `content=noindex, nofollow`. */
export function strayRules(attributes: Attributes, said: string): Slip | undefined {
  const stray = Object.keys(attributes).filter(isRuleName)
  if (stray.length === 0) return undefined
  const meant = [said, ...stray].map((one) => one.replace(/[,;]+$/, '')).join(', ')
  return { reason: 'wrong-attribute', found: stray.join(' '), meant: `content="${meant}"` }
}

/** Returns why a meta element does not count that was meant to; undefined for another one. */
export function slipOf({ content, value, robots, ...attributes }: Attributes, said: string): Slip | undefined {
  if (robots !== undefined) {
    const rules = decodedValue(robots)
    const meant = `name="robots" content="${rules}"`
    return { reason: 'wrong-attribute', name: 'robots', content: rules, found: 'robots', meant }
  }
  const found = NAMES.find((one) => attributes[one] !== undefined)
  if (found === undefined) return hasRule(said) ? { reason: 'no-name' } : undefined
  const name = decodedValue(attributes[found]).trim()
  const isNamed = name.toLowerCase() === 'robots' || /^tdm-/i.test(name) || isSlipOfRobots(name)
  if (!isNamed && !hasRule(said)) return undefined
  if (found !== 'name') return { reason: 'wrong-attribute', name, found, meant: 'name' }
  if (content === undefined) {
    return value === undefined
      ? { reason: 'no-content' }
      : { reason: 'wrong-attribute', found: 'value', meant: 'content' }
  }
  if (isProductToken(name)) return { reason: 'not-in-head' }
  return isNamed ? { reason: 'unknown-name' } : undefined
}
