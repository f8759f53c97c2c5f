// Parses the value of X-Robots-Tag and of a robots meta element.
//
// A value is a list of rules, and a rule may have its own value. In the header, a crawler's name
// and a colon may come before a rule. That name is the scope of all rules up to the next name.
//
//   noindex, max-snippet: 20                        two rules for all crawlers
//   googlebot: noindex, nofollow, otherbot: none    two rules for Googlebot, one for OtherBot
//
// No standard defines this syntax. Google documents it by examples; MDN has the example with two
// names. All functions take time proportional to the length of the value.
import { robotsRules } from './robots-rules.ts'
import { isSlipBeforeColon, meantRule } from './tag-slips.ts'

/** A rule in a value, as written. */
export interface TagRule {
  /** In lower case. */
  readonly name: string
  /** What follows the name and a colon; undefined for a rule without a value. */
  readonly value: string | undefined
  /** The crawler that the rule is for, in lower case; undefined for all crawlers. */
  readonly scope: string | undefined
  /** Whether a comma stands between the scope and this rule, as in `googlebot: none, noindex`. */
  readonly isAfterComma: boolean
}

type NameAndValue = Pick<TagRule, 'name' | 'value'>

/**
 * Returns the rules in a value, in order. Never throws.
 *
 * @param hasScopes Whether the name of a crawler may come before a rule, as it may in a header.
 */
export function tagRules(value: string, hasScopes: boolean): readonly TagRule[] {
  const rules: TagRule[] = []
  const parts = value.split(/([,;])/) // members and separators; a semicolon is an error that sites make
  let scope: string | undefined
  let isAfterComma = false
  for (let i = 0; i < parts.length; i += 2) {
    isAfterComma ||= parts[i - 1] === ','
    let text = trim(parts[i] as string)
    for (let prefix = scopeIn(text); hasScopes && prefix !== undefined; prefix = scopeIn(text)) {
      scope = prefix === '*' || prefix === 'robots' ? undefined : prefix
      isAfterComma = false
      text = trim(text.slice(text.indexOf(':') + 1))
    }
    for (const rule of rulesIn(text)) {
      const next = trim(parts[i + 2] ?? '')
      if (rule.name === 'unavailable_after' && FIRST_PART_OF_DATE.test(rule.value ?? '') && /^\d/.test(next)) {
        i += 2
        rules.push({ ...rule, value: `${rule.value}, ${next}`, scope, isAfterComma })
      } else {
        rules.push({ ...rule, scope, isAfterComma })
      }
    }
  }
  return rules
}

/** What stands before the comma of a date: `Wed, 31 Dec 2025`, or `Dec 31, 2025`. */
const FIRST_PART_OF_DATE = /^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*|[a-z]{3,9} \d{1,2})$/i

/**
 * Returns the text before the first colon in lower case, if it is the name of a crawler. It is one
 * unless it contains the name of a known rule, or is a misspelt rule.
 */
function scopeIn(text: string): string | undefined {
  const colon = text.indexOf(':')
  const name = colon === -1 ? '' : trim(text.slice(0, colon)).toLowerCase()
  return name === '' || wordsOf(name).some(isRule) || isSlipBeforeColon(name) ? undefined : name
}

/** The start of a text shows whether it was meant as a robots tag. */
const MAX_SEARCHED = 200

/** Returns whether a text has a known or a misspelt rule, and so looks like a robots tag. */
export function hasRule(text: string): boolean {
  return tagRules(text.slice(0, MAX_SEARCHED), true).some(({ name }) => isRule(name) || meantBy(name))
}

/**
 * Returns what an unknown rule was probably meant to be: a rule, or several that the author has not
 * separated with commas. An empty text if it contains a rule, and cannot be read otherwise.
 * Undefined if nothing shows that it was meant as another rule.
 */
export function meantBy(name: string): string | undefined {
  const meant = meantRule(name)
  if (meant !== undefined) return meant
  const words = wordsOf(name).map((word) => (isRule(word) ? word : meantRule(word)))
  if (words.every((word) => word !== undefined)) return words.join(', ')
  return words.some((word) => word !== undefined) ? '' : undefined
}

/** Returns the rules in a member of a list. There is one, unless the site forgot commas. */
function rulesIn(member: string): readonly NameAndValue[] {
  const rules: NameAndValue[] = []
  let text = member
  while (text !== '') {
    const end = text.search(/[:=]/) // an equals sign is an error that sites make
    const names = trim(end === -1 ? text : text.slice(0, end)).toLowerCase()
    const rest = end === -1 ? '' : trim(text.slice(end + 1))
    if (names === '') {
      text = rest
      continue
    }
    const words = wordsOf(names)
    const [last = ''] = words.slice(-1)
    if (!words.every(isRule)) return [...rules, { name: names, value: end === -1 ? undefined : rest }]
    for (const name of words.slice(0, -1)) rules.push({ name, value: undefined })
    const kind = robotsRules.get(last)?.value
    if (kind === undefined && PERMISSION.test(last) && NEGATION.test(rest)) {
      return [...rules, { name: `${last}: ${rest.toLowerCase()}`, value: undefined }] // it permits nothing
    }
    if (kind === undefined) {
      rules.push({ name: last, value: undefined })
      text = rest // such as `nofollow` in `noindex: nofollow`
    } else {
      const word = /^\S*/.exec(rest)?.[0] as string
      const isListed = isRule(/^\s*([^\s:=]*)/.exec(rest.slice(word.length))?.[1]?.toLowerCase() ?? '')
      const value = kind !== 'date' && isListed ? word : rest // `-1` in `max-snippet: -1 noindex`
      rules.push({ name: last, value: value === '' ? undefined : value })
      text = trim(rest.slice(value.length))
    }
  }
  return rules
}

/** Rules that permit something, and values that deny it, as in `index: no`. No crawler documents it. */
const PERMISSION = /^(?:all|index|follow|archive)$/
const NEGATION = /^(?:no|false|off|0)$/i

function isRule(name: string): boolean {
  return robotsRules.has(name)
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/)
}

/** Quotes around a value or a rule are an error that sites make. */
const IGNORED = new Set('"\'“”‘’«»` \t\n\f\r\u00a0')

/** Removes blanks and quotes from both ends. */
function trim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && IGNORED.has(text[start] as string)) start++
  while (end > start && IGNORED.has(text[end - 1] as string)) end--
  return text.slice(start, end)
}
