// Slips in robots tags: what the author of a tag probably meant. A tag with a slip states nothing,
// since no crawler documents that it reads it. It is reported as a problem.
import { editDistance } from '../../edit-distance.ts'
import { robotsRules } from './robots-rules.ts'

/** Rules without an effect today. They are never suggested. */
const RETIRED: ReadonlySet<string> = new Set(['noodp', 'noydir', 'noyaca', 'nositelinkssearchbox'])

/** The rules that a slip may have meant, by their letters and digits. */
const RULES: ReadonlyMap<string, string> = new Map(
  [...robotsRules.keys()].filter((name) => !RETIRED.has(name)).map((name) => [lettersOf(name), name]),
)

/** Longer names are not compared: this bounds the work. */
const MAX_LENGTH = 40

/**
 * Returns the rule that an unknown name is probably a misspelling of, such as `noindex` for
 * `no-index`, `no_index` and `nonidex`.
 */
export function meantRule(name: string): string | undefined {
  if (name.length > MAX_LENGTH) return undefined
  const letters = lettersOf(name)
  const exact = RULES.get(letters)
  if (exact !== undefined) return exact
  for (const [rule, meant] of RULES) if (isNear(letters, rule)) return meant
  return undefined
}

/**
 * Returns whether a name before a colon is a misspelt rule and not a crawler, such as `max-snipet`
 * and `no-index`. `archiver` may be a crawler: `archive` takes no value.
 */
export function isSlipBeforeColon(name: string): boolean {
  const meant = meantRule(name)
  return meant !== undefined && (robotsRules.get(meant)?.value !== undefined || RULES.has(lettersOf(name)))
}

/**
 * Returns whether the author of a name probably meant another name, such as `robots` by `robot` and
 * `ExampleBot` by `example-bot`. @param meant A product token in lower case.
 */
export function isSlipOf(name: string, meant: string): boolean {
  if (name.length > MAX_LENGTH || name.toLowerCase() === meant) return false
  const [letters, wanted] = [lettersOf(name), lettersOf(meant)]
  return letters === wanted || isNear(letters, wanted)
}

/**
 * Returns whether the author of a name probably meant `robots`, such as by `robot`, by
 * `X-Robots-Tag`, and by `noindex`, which belongs in the content.
 */
export function isSlipOfRobots(name: string): boolean {
  const letters = lettersOf(name.slice(0, MAX_LENGTH))
  return (
    isSlipOf(name, 'robots') || /^x?robots?(?:tags?|meta|txt|no.*)$|^metarobots?$/.test(letters) || isNegation(name)
  )
}

/** Returns whether a name is a rule that refuses something. `archive` may name other things. */
function isNegation(name: string): boolean {
  return /^no/i.test(name) && meantRule(name) !== undefined
}

/**
 * Returns whether a few letters differ: one, or two of a long name. The first letter is the same, so
 * `dofollow` is not taken for `nofollow`. A short name is too near to others.
 */
function isNear(letters: string, wanted: string): boolean {
  if (wanted.length < 5 || letters[0] !== wanted[0]) return false
  const most = wanted.length < 9 ? 1 : 2
  return Math.abs(letters.length - wanted.length) <= most && editDistance(letters, wanted) <= most
}

function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z\d]/g, '')
}
