// `robotsDirectives`: what the robots tags of one response say to one crawler.
//
// There are three channels:
//
//   X-Robots-Tag: googlebot: noindex, nofollow         a header, see tag-value.ts
//   Robots-Tag: *;nosnippet, ExampleBot;noindex        a header, a List of RFC 9651
//   <meta name="robots" content="noindex, nofollow">   an element of the head, see page-head.ts
//
// Each rule is for all crawlers or for one. The rules for all crawlers and the rules for this
// crawler add up (draft-illyes-repext-03 §3.1.1; Google). So every rule restricts, and none
// lifts the restriction of another.
import { parseList, Token } from 'structured-headers'
import { describeValue } from '../../describe-value.ts'
import { OptionError } from '../../errors.ts'
import { headerLines, type ResponseHeaders } from '../../http/header-lines.ts'
import { assertKnownOptions } from '../../known-options.ts'
import { type ProductTokens, tokensOf } from '../../parse/product-tokens.ts'
import { isProductToken, productTokenOf } from '../../parse/user-agent-name.ts'
import { type Statement, type UsageSource, usageSourceOf } from '../purpose.ts'
import { datesAsIntegers } from '../structured-fields.ts'
import { type PageHead, pageHeadOf } from './page-head.ts'
import { type Reading, type RobotsDocumentKey, robotsRules } from './robots-rules.ts'
import { tagDate } from './tag-date.ts'
import { isSlipOf, isSlipOfRobots } from './tag-slips.ts'
import { hasRule, meantBy, type TagRule, tagRules } from './tag-value.ts'

/** What `robotsDirectives` reads. */
export interface TaggedResponse {
  /** The headers of the response. */
  readonly headers?: ResponseHeaders | undefined
  /**
   * The page, or its start: text, bytes in UTF-8 or UTF-16, or a `PageHead`. Pass it only if the
   * response is HTML.
   */
  readonly html?: string | Uint8Array | PageHead | undefined
  /**
   * The current time, in milliseconds since 1970. It is needed for dates with a year of two digits
   * only: such a year is at most 50 years after it.
   *
   * @default 2020-01-01, so `70` means 2070 and `71` means 1971
   */
  readonly now?: number | undefined
}

/** A rule of a robots tag that is for this crawler. JSON-safe. */
export interface RobotsDirective {
  /** The name, in lower case. */
  readonly name: string
  /** Whether `robotsRules` has the rule. */
  readonly isKnown: boolean
  /** What follows the name, as written, such as `20` in `max-snippet: 20`. */
  readonly value: string | undefined
  /** The crawler that the rule names, in lower case; undefined for a rule for all crawlers. */
  readonly token: string | undefined
  readonly source: UsageSource
}

/** Why a part of the robots tags does not count. */
const robotsProblems = {
  'too-long': 'the tags have more than 8,192 characters; only the rules that end before that count',
  unreadable: 'the header is not a List (RFC 9651), so none of it counts',
  'not-a-token': 'a member is not the name of a crawler',
  'no-rules': 'a member has no rules, but its name is a rule; probably * and a semicolon are missing before it',
  'invalid-value': 'the value of a rule is invalid or missing, so the rule has no effect',
  'head-too-long': 'the head of the page is too long; elements after the limit do not count',
  'unknown-rule': 'a rule is not known, so it has no effect',
  'unknown-name': 'a name is not known, so the rules behind it do not count',
  'wrong-attribute': 'an attribute is not read in this element, so it has no effect',
  'no-name': 'the element has no attribute `name`, so it has no effect',
  'no-content': 'the element has no attribute `content`, so it has no effect',
  'not-in-head': 'the element is not in the head of the page, so it has no effect',
} as const

/**
 * A key of `robotsProblems`.
 * @inline
 */
export type RobotsProblemReason = keyof typeof robotsProblems

/**
 * A part of the robots tags that does not count. JSON-safe.
 * @inline
 */
export interface RobotsProblem {
  readonly reason: RobotsProblemReason
  readonly source: UsageSource
  /** The rule, name or attribute with a slip, as written; cut after 200 characters. */
  readonly found?: string
  /** What it was probably meant to be, such as `noindex` for `no-index`. */
  readonly meant?: string
}

/** Describes a problem: its reason, what was found, and what it was probably meant to be. */
export function describeRobotsProblem({ reason, found, meant }: Omit<RobotsProblem, 'source'>): string {
  const what = found === undefined ? '' : `: ${found}`
  return `${robotsProblems[reason]}${what}${meant === undefined ? '' : `; did you mean ${meant}?`}`
}

/**
 * What the robots tags of a response say to a crawler. JSON-safe. A boolean is true if the rule is
 * for this crawler or for all crawlers, or if that is unclear (see `uncertain`). If it is false, the
 * site says nothing.
 */
export interface RobotsDirectives {
  /** The page must not be in an index. Also true for `none`. */
  readonly noindex: boolean
  /** The links of the page must not be followed. Also true for `none`. */
  readonly nofollow: boolean
  /** No stored copy of the page must be shown. Also true for `nocache`, Bing's synonym. */
  readonly noarchive: boolean
  /** `nocache` is present. In Bing's AI answers, it restricts less than `noarchive`. */
  readonly nocache: boolean
  /** No part of the page must be shown. `max-snippet: 0` says the same, but leaves this false. */
  readonly nosnippet: boolean
  /** The images of the page must not be in an index. */
  readonly noimageindex: boolean
  /** No translation of the page must be offered. */
  readonly notranslate: boolean
  /** `noindex` does not count for the page inside a frame of another page. Google. */
  readonly indexifembedded: boolean
  /** The page must not be used by AI models. DeviantArt. */
  readonly noai: boolean
  /** The images of the page must not be used by AI models. DeviantArt. */
  readonly noimageai: boolean
  /** The page must not be used for machine learning. Mojeek. */
  readonly noml: boolean
  /** The longest snippet, in characters; the lowest of several. -1: no limit. */
  readonly maxSnippet: number | undefined
  /** The largest preview of an image; the smallest of several. */
  readonly maxImagePreview: 'none' | 'standard' | 'large' | undefined
  /** The longest preview of a video, in seconds; the lowest of several. -1: no limit. */
  readonly maxVideoPreview: number | undefined
  /**
   * From this time on, the page must not be in an index. Milliseconds since 1970; the earliest of
   * several.
   */
  readonly unavailableAfter: number | undefined
  /** The names of rules that are not known, each once, in lower case. */
  readonly unknown: readonly string[]
  /** Every rule for this crawler or for all crawlers, in order: headers first. */
  readonly list: readonly RobotsDirective[]
  /**
   * The rules that are for another crawler in one reading, and for all crawlers in the other. They
   * are not in `list`. Restrictions among them count in the fields above: an unclear refusal counts
   * as a refusal, and an unclear permission does not count.
   *
   * HTTP clients join the lines of a repeated header with commas. Then the value
   * `googlebot: nofollow, noindex` can be one line, whose rules are all for Googlebot (Google's
   * syntax). Or it can be two lines, and `noindex` is for all crawlers. To know, pass the lines as a
   * list, such as `headersDistinct` or `rawHeaders` of Node, or as pairs.
   */
  readonly uncertain: readonly RobotsDirective[]
  /** The parts of the tags that do not count. */
  readonly problems: readonly RobotsProblem[]
}

/**
 * A statement of a robots rule, in one reading of the rule. JSON-safe.
 * @inline
 */
export interface RobotsStatement extends Statement {
  readonly vocabulary: RobotsDocumentKey
  readonly reading: Reading
}

/**
 * The number of characters that are read of X-Robots-Tag, of Robots-Tag, and of the meta elements
 * for a crawler. draft-illyes-repext-03 §3.1.1 asks for at least 8 KiB.
 */
export const MAX_TAG_LENGTH: number = 8192

/** Misspelt names of X-Robots-Tag. The headers of a caller may have no list of names to compare. */
const MISNAMED_HEADERS = ['x-robot-tag', 'x-robots-tags', 'x-robots', 'x-robot', 'robot-tag', 'robots-tags', 'robots']

/** Longer names and values of rules are cut, so that a result does not grow with the page. */
const MAX_SHOWN = 200

/** For dates with a year of two digits, if the caller does not pass the time. */
const DEFAULT_NOW = Date.UTC(2020)

/**
 * Returns what the robots tags of a response say to one crawler: X-Robots-Tag, Robots-Tag
 * (draft-illyes-repext-03), and robots meta elements. Never throws because of what the site sent.
 *
 * @param response The headers of the response, and its HTML if it is a page.
 * @param productTokens The crawler's name, such as `ExampleBot`, or its whole User-Agent header; or
 * several, which all count. `*` for a crawler that no tag names.
 * @throws {OptionError} if an argument has another type, or an option is unknown.
 */
export function robotsDirectives(response: TaggedResponse, productTokens: ProductTokens): RobotsDirectives {
  assertKnownOptions(response, KNOWN, '{ headers, html }')
  const { headers, html, now = DEFAULT_NOW } = response
  if (typeof now !== 'number' || Number.isNaN(now)) {
    throw new OptionError('now', `${describeValue(now)} is not a time; expected milliseconds since 1970`)
  }
  const collector = new Collector(ownNames(productTokens), now)
  collector.readXRobotsTag(headers)
  collector.readRobotsTag(headers)
  collector.readMisnamed(headers)
  if (html !== undefined) collector.readHead(pageHeadIn(html))
  return collector.result()
}

const KNOWN: Readonly<Record<keyof TaggedResponse, true>> = { headers: true, html: true, now: true }

/** Returns the product tokens in lower case. A header without one names no crawler. */
function ownNames(productTokens: ProductTokens): ReadonlySet<string> {
  const names = tokensOf(productTokens).map((token) => (isProductToken(token) ? token : productTokenOf(token)))
  return new Set(names.filter((name) => name !== undefined).map((name) => name.toLowerCase()))
}

/** Returns the head of a page. @throws {OptionError} for another type. */
export function pageHeadIn(html: string | Uint8Array | PageHead): PageHead {
  if (typeof html === 'string' || html instanceof Uint8Array) return pageHeadOf(html)
  if (typeof html === 'object' && html !== null && Array.isArray(html.metas)) return html
  throw new OptionError(
    'html',
    `${describeValue(html)} is not a page; expected its text, its bytes as a Uint8Array, or a PageHead`,
  )
}

/** Collects the rules for one crawler. */
class Collector {
  readonly #names: ReadonlySet<string>
  readonly #now: number
  readonly #list: RobotsDirective[] = []
  readonly #uncertain: RobotsDirective[] = []
  readonly #problems: RobotsProblem[] = []

  constructor(names: ReadonlySet<string>, now: number) {
    this.#names = names
    this.#now = now
  }

  readXRobotsTag(headers: ResponseHeaders | undefined): void {
    let left = MAX_TAG_LENGTH
    for (const { text, isJoined } of headerLines(headers, 'x-robots-tag')) {
      const source = usageSourceOf('x-robots-tag', 'header', 'X-Robots-Tag', text)
      for (const rule of tagRules(this.#cut(text, left, source), true)) {
        const { scope } = rule
        if (this.#isFor(scope)) this.#add(rule, source)
        else if (isJoined && rule.isAfterComma) this.#uncertain.push(directiveOf(rule, source))
        else this.#reportName(scope ?? '', source)
      }
      left -= text.length
      if (left < 0) break
    }
  }

  /** Reports headers whose name was probably meant to be X-Robots-Tag. */
  readMisnamed(headers: ResponseHeaders | undefined): void {
    for (const name of MISNAMED_HEADERS) {
      for (const { text } of headerLines(headers, name)) {
        const source = usageSourceOf('x-robots-tag', 'header', name, text)
        if (hasRule(text)) this.#report('unknown-name', source, name, 'X-Robots-Tag')
      }
    }
  }

  readRobotsTag(headers: ResponseHeaders | undefined): void {
    const lines = headerLines(headers, 'robots-tag')
    if (lines.length === 0) return
    const text = lines.map((line) => line.text).join(', ')
    const source = usageSourceOf('robots-tag', 'header', 'Robots-Tag', text)
    const members = listOf(text.slice(0, this.#endOfMembers(text, source)))
    if (members === undefined) this.#report('unreadable', source)
    for (const [item, parameters] of members ?? []) {
      // The draft writes tokens as Tokens. Only a String can hold a token that begins with a digit.
      const token = item instanceof Token || typeof item === 'string' ? item.toString().toLowerCase() : undefined
      if (token === undefined) this.#report('not-a-token', source)
      else if (parameters.size === 0 && robotsRules.has(token)) this.#report('no-rules', source)
      const scope = token === '*' || token === 'robots' ? undefined : (token ?? '')
      if (!this.#isFor(scope)) {
        if (parameters.size > 0) this.#reportName(scope ?? '', source)
        continue
      }
      for (const [name, value] of parameters) {
        if (value === false) continue
        this.#add({ name, value: value === true ? undefined : String(value), scope }, source)
      }
    }
  }

  readHead(head: PageHead): void {
    let left = MAX_TAG_LENGTH
    for (const { name, content, isCut } of head.metas) {
      const token = name.toLowerCase()
      const scope = token === 'robots' ? undefined : token
      const source = usageSourceOf('meta-robots', 'html', name, content)
      if (!this.#isFor(scope)) {
        if (this.#nameMeantBy(name) && (hasRule(content) || hasRule(name))) this.#reportName(name, source)
        continue
      }
      const text = this.#cut(content, left, source, isCut)
      for (const rule of tagRules(text, false)) this.#add({ ...rule, scope }, source)
      left -= content.length
      if (left < 0 || isCut) break
    }
    if (!head.isComplete) this.#report('head-too-long', usageSourceOf('meta-robots', 'html', 'head', ''))
    for (const { reason, name, content, found, meant } of head.uncounted ?? []) {
      const source = usageSourceOf('meta-robots', 'html', name || 'meta', content)
      if (reason === 'unknown-name') this.#reportName(name, source)
      else if (/^(?:robots)?$/i.test(name) || this.#isFor(name.toLowerCase()) || this.#nameMeantBy(name)) {
        this.#report(reason, source, found, meant)
      }
    }
  }

  result(): RobotsDirectives {
    const list = this.#list
    const counting = [...list, ...this.#uncertain.filter(isRestriction)]
    const present = new Set(counting.map(({ name }) => name))
    const has = (...names: string[]) => names.some((name) => present.has(name))
    const valuesOf = (rule: string) => counting.filter(({ name }) => name === rule).map(({ value = '' }) => value)
    const sizes = valuesOf('max-image-preview').map(imageSizeOf)
    return {
      noindex: has('noindex', 'none'),
      nofollow: has('nofollow', 'none'),
      noarchive: has('noarchive', 'nocache'),
      nocache: has('nocache'),
      nosnippet: has('nosnippet'),
      noimageindex: has('noimageindex'),
      notranslate: has('notranslate'),
      indexifembedded: has('indexifembedded'),
      noai: has('noai'),
      noimageai: has('noimageai'),
      noml: has('noml'),
      maxSnippet: lowestLimit(valuesOf('max-snippet').map(numberOf)),
      maxImagePreview: IMAGE_SIZES.find((size) => sizes.includes(size)),
      maxVideoPreview: lowestLimit(valuesOf('max-video-preview').map(numberOf)),
      unavailableAfter: lowest(valuesOf('unavailable_after').map((value) => tagDate(value, this.#now))),
      unknown: [...new Set(list.filter(({ isKnown }) => !isKnown).map(({ name }) => name))],
      list,
      uncertain: this.#uncertain,
      problems: this.#problems,
    }
  }

  #isFor(scope: string | undefined): boolean {
    return scope === undefined || this.#names.has(scope.replace(/\/.*/s, ''))
  }

  #add(rule: Pick<TagRule, 'name' | 'value' | 'scope'>, source: UsageSource): void {
    const directive = directiveOf(rule, source)
    this.#list.push(directive)
    if (!isValid(directive, this.#now)) this.#report('invalid-value', source)
    if (directive.isKnown) return
    const { name, value = '' } = directive
    const isScope = name === 'robots' || this.#isFor(name) // in an element, whose name is its scope
    const meant = isScope && hasRule(value) ? value : meantBy(name)
    if (meant !== undefined) this.#report('unknown-rule', source, name, meant === '' ? undefined : meant)
  }

  #report(reason: RobotsProblemReason, source: UsageSource, found?: string, meant?: string): void {
    const cut = (text: string) => text.slice(0, MAX_SHOWN)
    this.#problems.push({ reason, source, ...(found && { found: cut(found) }), ...(meant && { meant: cut(meant) }) })
  }

  /** Reports a name if it was probably meant to be `robots` or the name of this crawler. */
  #reportName(name: string, source: UsageSource): void {
    const meant = this.#nameMeantBy(name)
    const last = this.#problems.at(-1)
    const isKnown = last?.source === source && last.reason === 'unknown-name' // by an earlier rule behind the name
    if (meant !== undefined && !isKnown) this.#report('unknown-name', source, name, meant)
  }

  #nameMeantBy(name: string): string | undefined {
    if (isSlipOfRobots(name)) return 'robots'
    return [...this.#names].find((own) => isSlipOf(name, own))
  }

  /** Returns the members of a list that end before the limit. Reports the others. */
  #cut(text: string, limit: number, source: UsageSource, isCut = false): string {
    if (text.length <= limit && !isCut) return text
    this.#report('too-long', source)
    return text.slice(0, Math.max(0, text.lastIndexOf(',', limit - 1), text.lastIndexOf(';', limit - 1)))
  }

  /** Returns where the members of a List end that end before the limit. Reports the others. */
  #endOfMembers(text: string, source: UsageSource): number {
    if (text.length <= MAX_TAG_LENGTH) return text.length
    this.#report('too-long', source)
    let end = 0
    let isInString = false
    for (let i = 0; i < MAX_TAG_LENGTH; i++) {
      if (text[i] === '"') isInString = !isInString
      else if (isInString && text[i] === '\\') i++
      else if (!isInString && text[i] === ',') end = i
    }
    return end
  }
}

/** Parses a List of RFC 9651. Undefined if it is invalid. */
function listOf(value: string): ReturnType<typeof parseList> | undefined {
  try {
    return parseList(datesAsIntegers(value))
  } catch {
    return undefined
  }
}

function directiveOf({ name, value, scope }: Pick<TagRule, 'name' | 'value' | 'scope'>, source: UsageSource) {
  return {
    name: name.slice(0, MAX_SHOWN),
    isKnown: robotsRules.has(name),
    value: value?.slice(0, MAX_SHOWN),
    token: scope?.slice(0, MAX_SHOWN),
    source,
  }
}

/** Rules that permit something. */
const PERMISSIONS: ReadonlySet<string> = new Set(['all', 'index', 'follow', 'archive', 'indexifembedded'])

/** Returns whether a rule restricts the crawler. `-1` and `large` do not limit anything. */
function isRestriction({ name, value }: RobotsDirective): boolean {
  return !PERMISSIONS.has(name) && value !== '-1' && value?.toLowerCase() !== 'large'
}

const IMAGE_SIZES = ['none', 'standard', 'large'] as const

function imageSizeOf(value: string): (typeof IMAGE_SIZES)[number] | undefined {
  return IMAGE_SIZES.find((size) => size === value.toLowerCase())
}

function numberOf(value: string): number | undefined {
  return /^(?:\d{1,15}|-1)$/.test(value) ? Number(value) : undefined
}

/** Returns whether a rule has the value that it needs. */
function isValid({ name, value = '' }: RobotsDirective, now: number): boolean {
  switch (robotsRules.get(name)?.value) {
    case 'number':
      return numberOf(value) !== undefined
    case 'image-size':
      return imageSizeOf(value) !== undefined
    case 'date':
      return tagDate(value, now) !== undefined
    default:
      return true
  }
}

function lowest(values: readonly (number | undefined)[]): number | undefined {
  const valid = values.filter((value) => value !== undefined)
  return valid.length === 0 ? undefined : valid.reduce((a, b) => Math.min(a, b))
}

/** Returns the lowest of several limits, of which -1 is the highest. */
function lowestLimit(limits: readonly (number | undefined)[]): number | undefined {
  const limit = lowest(limits.map((value) => (value === -1 ? Number.POSITIVE_INFINITY : value)))
  return limit === Number.POSITIVE_INFINITY ? -1 : limit
}

/**
 * Returns what rules say about our purposes, in every reading. A `max-snippet` above 0 says
 * nothing, and `unavailable_after` says nothing before its time.
 *
 * @param rules The `list` or the `uncertain` of `RobotsDirectives`.
 * @param now The current time, in milliseconds since 1970. Without it, `unavailable_after` says
 * nothing.
 */
export function statementsOf(rules: readonly RobotsDirective[], now?: number): readonly RobotsStatement[] {
  return rules
    .filter((rule) => isInEffect(rule, now))
    .flatMap(({ name, value, source }) => {
      const label = value === undefined ? name : `${name}: ${value}`
      return (robotsRules.get(name)?.means ?? []).map((meaning) => ({ ...meaning, label, source }))
    })
}

function isInEffect({ name, value = '' }: RobotsDirective, now: number | undefined): boolean {
  if (name === 'max-snippet') return numberOf(value) === 0
  if (name !== 'unavailable_after') return true
  return now !== undefined && (tagDate(value, now) ?? Number.POSITIVE_INFINITY) <= now
}
