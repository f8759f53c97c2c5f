// The rules of one file for one crawler.
import { bytesOfLatin1, latin1Of } from '../bytes.ts'
import { type DialectName, dialects } from '../dialect.ts'
import { linesByNumber } from '../parse/line-reader.ts'
import { keptRates } from '../parse/pace-records.ts'
import type { DayRange, RequestRate } from '../timed-records.ts'
import { MAX_TIMED_RECORDS } from '../timed-records.ts'
import { printableForm } from '../url/normal-form.ts'
import { MAX_SHORT_URL_LENGTH, startsWithOrigin, type UrlInput, urlText } from '../url/origin.ts'
import { sentUrlOf } from '../url/sent-path.ts'
import { BOUND_VERSION, type BoundDialect, type BoundRules } from './bound-rules.ts'
import { type Explanation, type Match, wonBy } from './explanation.ts'
import { Matcher } from './matcher.ts'
import { allowsAt, groupAt, groupsBetween, NO_RULE, ruleAt, type UnpackedRule } from './packed-rules.ts'
import { indexBytes, MAX_TRIED_RULES } from './rule-index.ts'
import type { Group, RulesVerdict } from './verdict.ts'
import { workspace } from './workspace.ts'

/**
 * After this many checks, an index is built, which takes about as long as these checks. Most
 * crawlers check fewer URLs of a site.
 */
const INDEX_AFTER_CHECKS = 64

/** The rules of one file, bound to one crawler. */
export class CrawlerRules {
  readonly #dialect: BoundDialect
  readonly #productTokens: string | readonly string[]
  readonly #origin: string | undefined
  /**
   * The packed rules as a string, which takes the least memory; undefined after the index has
   * copied them.
   */
  #packed: string | undefined
  /** The matcher of the last check. It may have the rules of another file now. */
  #lastMatcher: Matcher | undefined
  /** Its `loads` after these rules were loaded. */
  #loads = -1
  readonly #groupsAt: number
  readonly #count: number
  /** Whether the first rule that matches decides. Otherwise the strongest does. */
  readonly #takesFirst: boolean
  readonly #records: TimedRecords
  #checks = 0
  /** The group of the last verdict, while a verdict still uses it; and its index. */
  #lastGroup: WeakRef<Group> | undefined
  #lastGroupIndex = -1

  /**
   * @internal `Robots.forCrawler` and `restoreRules` create instances. @param count The number of
   * rules.
   */
  constructor(
    { productTokens, origin, packed, groupsAt, crawlDelayMs, requestRates, visitTimes, file }: BoundRules,
    dialect: BoundDialect,
    count: number,
  ) {
    this.#dialect = dialect
    this.#productTokens = productTokens.length === 1 ? (productTokens[0] as string) : productTokens
    this.#origin = origin
    this.#packed = packed
    this.#groupsAt = groupsAt
    this.#count = count
    this.#takesFirst = dialect.parsing.winner === 'first'
    const hasNone =
      crawlDelayMs === undefined && requestRates.length === 0 && visitTimes.length === 0 && file === undefined
    this.#records = hasNone
      ? NO_RECORDS
      : frozen({
          crawlDelayMs,
          requestRates: keptRates(requestRates),
          visitTimes: visitTimes.slice(0, MAX_TIMED_RECORDS),
          file,
        })
  }

  /** The crawler that the rules are for. */
  get productTokens(): readonly string[] {
    return typeof this.#productTokens === 'string' ? [this.#productTokens] : this.#productTokens
  }

  /**
   * The pause that the site asks for between two requests, in milliseconds: the longest of several
   * `Crawl-delay` lines, undefined without one. An extension (RFC 9309 §2.2.4).
   */
  get crawlDelayMs(): number | undefined {
    return this.#records.crawlDelayMs
  }

  /**
   * The rates that the site asks for. All of them apply, each always or at its time of day. At most
   * 24 are kept; docs/records.md says which. An extension (RFC 9309 §2.2.4).
   */
  get requestRates(): readonly RequestRate[] {
    return this.#records.requestRates
  }

  /**
   * The parts of the day in which the site wants visits: the first 24 in the file. An empty list
   * means at any time. An extension (RFC 9309 §2.2.4).
   */
  get visitTimes(): readonly DayRange[] {
    return this.#records.visitTimes
  }

  /**
   * About how many bytes of memory the rules take, with the index that many checks build. Measured,
   * rounded up.
   */
  get memoryBytes(): number {
    const packed = this.#packedLength()
    const index = this.#count > MAX_TRIED_RULES ? indexBytes(this.#count) : 0
    const { requestRates, visitTimes, file = '' } = this.#records
    const records = requestRates.length * RATE_BYTES + visitTimes.length * TIME_BYTES + file.length
    const names = this.productTokens.reduce((bytes, token) => bytes + TOKEN_BYTES + token.length, 0)
    return OBJECT_BYTES + packed + index + records + names + (this.#origin?.length ?? 0)
  }

  /**
   * Returns the rules as plain data, for caches and other threads. `JSON.stringify(rules)` calls
   * it; `restoreRules` reads the result.
   */
  toJSON(): BoundRules {
    return {
      version: BOUND_VERSION,
      dialect: nameOf(this.#dialect) ?? { name: this.#dialect.name, parsing: this.#dialect.parsing },
      productTokens: this.productTokens,
      origin: this.#origin,
      packed: this.#packed ?? latin1Of(this.#packedBytes()),
      groupsAt: this.#groupsAt,
      ...this.#records,
    }
  }

  /**
   * Returns whether the crawler may fetch this URL, or this path of the file's own origin. Returns
   * false for a string that is not a URL, such as `example.com/page`; `check` says why.
   *
   * @throws {OptionError} if `url` is neither a string nor an object with `href`.
   */
  isAllowed(url: UrlInput): boolean {
    // Without rules, every URL of the file's own origin is allowed.
    const origin = this.#origin
    const isShort = typeof url === 'string' && url.length <= MAX_SHORT_URL_LENGTH
    if (this.#groupsAt === 0 && origin !== undefined && isShort && startsWithOrigin(url, origin)) return true
    const found = this.#resolve(url)
    if (typeof found !== 'number') return found.allowed
    return found === NO_RULE || allowsAt(this.#packedBytes(), found)
  }

  /**
   * Returns whether the crawler may fetch this URL, and why (RFC 9309 §2.2.2). A string that is not
   * a URL gets the verdict `invalid-url`.
   *
   * @throws {OptionError} if `url` is neither a string nor an object with `href`.
   */
  check(url: UrlInput): RulesVerdict {
    const found = this.#resolve(url)
    return typeof found === 'number' ? this.#verdictBy(found) : found
  }

  /**
   * Returns the verdict, every rule that matches, and why one of them decides.
   *
   * @throws {OptionError} if `url` is neither a string nor an object with `href`.
   */
  explain(url: UrlInput): Explanation {
    const found = this.#resolve(url)
    const verdict = typeof found === 'number' ? this.#verdictBy(found) : found
    const { bytes, start, end } = workspace.path
    const matches = typeof found === 'number' ? this.#matches() : []
    return {
      verdict,
      target: verdict.because === 'invalid-url' ? undefined : printableForm(latin1Of(bytes.subarray(start, end))),
      groups: groupsBetween(this.#packedBytes(), this.#groupsAt, this.#packedLength()),
      matches,
      wonBy: wonBy(matches, this.#dialect.parsing.winner),
    }
  }

  /**
   * Returns the offset of the rule that decides, or `NO_RULE`; or a verdict that does not depend on
   * a rule. Sets `workspace.path`.
   */
  #resolve(url: UrlInput): number | RulesVerdict {
    const { path } = workspace
    const { compare, robotsTxtItself } = this.#dialect.parsing
    const fileOrigin = this.#origin
    const isSimple = typeof url === 'string' && path.setSimpleUrl(url, fileOrigin, compare)
    if (!isSimple) {
      const sent = sentUrlOf(url, compare, fileOrigin !== undefined)
      if (typeof sent === 'string') return { allowed: false, because: 'invalid-url', url: urlText(url), problem: sent }
      const { origin, path: sentPath } = sent // before `setPath`, because a getter of the caller may check another URL
      path.setPath(sentPath, compare)
      if (origin !== undefined && fileOrigin !== undefined && origin !== fileOrigin) {
        return { allowed: false, because: 'other-origin', origin, fileOrigin } // RFC 9309 §2.3
      }
    }
    if (robotsTxtItself === 'allowed' && path.isRobotsTxt()) return ROBOTS_TXT_ITSELF
    return this.#groupsAt === 0 ? NO_RULE : this.#matcherForCheck().find(path)
  }

  /** Returns the matcher for one more check. Builds an index if it pays. */
  #matcherForCheck(): Matcher {
    if (this.#packed !== undefined && this.#count > MAX_TRIED_RULES && ++this.#checks > INDEX_AFTER_CHECKS) {
      const copy = this.#packedBytes().slice(0, this.#packed.length)
      const indexed = new Matcher()
      indexed.load(copy, this.#groupsAt, this.#count, this.#takesFirst)
      indexed.buildIndex(workspace.buckets)
      this.#keep(indexed)
      this.#packed = undefined
    }
    return this.#matcher()
  }

  /** Returns a matcher with these rules. */
  #matcher(): Matcher {
    const last = this.#lastMatcher
    if (last !== undefined && last.loads === this.#loads) return last
    return this.#keep(workspace.loaded.load(this.#packed as string, this.#groupsAt, this.#count, this.#takesFirst))
  }

  #keep(matcher: Matcher): Matcher {
    this.#lastMatcher = matcher
    this.#loads = matcher.loads
    return matcher
  }

  #packedBytes(): Uint8Array {
    return this.#matcher().packed
  }

  /** Returns the verdict by the rule at an offset, or by `NO_RULE`. */
  #verdictBy(found: number): RulesVerdict {
    const packed = this.#packedBytes()
    if (found !== NO_RULE) {
      const { rule, group } = ruleAt(packed, found)
      return { allowed: allowsAt(packed, found), because: 'rule', rule, group: this.#sharedGroup(packed, group) }
    }
    if (this.#groupsAt === this.#packedLength()) {
      return {
        allowed: true,
        because: 'no-group',
        productTokens: this.productTokens,
        ...(this.#dialect.parsing.groupsForAll === 'ignored' && { ignoresGroupsForAll: true }),
      }
    }
    return { allowed: true, because: 'no-rule-matched', group: this.#sharedGroup(packed, 0) }
  }

  /**
   * Returns a group. Verdicts share it, because a group of a hostile file may take 700 KiB, and
   * each waiting request keeps its verdict.
   */
  #sharedGroup(packed: Uint8Array, index: number): Group {
    const last = index === this.#lastGroupIndex ? this.#lastGroup?.deref() : undefined
    if (last !== undefined) return last
    const group = groupAt(packed, this.#groupsAt, index)
    // Cloudflare Workers with a compatibility date before 2025-05-05 have no WeakRef.
    this.#lastGroup = typeof WeakRef === 'function' ? new WeakRef(group) : undefined
    this.#lastGroupIndex = index
    return group
  }

  #packedLength(): number {
    return this.#packed?.length ?? this.#packedBytes().length
  }

  /** Returns the rules that match `workspace.path`, in order of strength. */
  #matches(): readonly Match[] {
    const packed = this.#packedBytes()
    /**
     * By line: `Allow: /dir/index.html` is packed a second time for its folder, and only the
     * stronger of the two is shown.
     */
    const byLine = new Map<number, UnpackedRule>()
    for (const offset of this.#matcher().findAll(workspace.path)) {
      const unpacked = ruleAt(packed, offset)
      if (!byLine.has(unpacked.rule.line)) byLine.set(unpacked.rule.line, unpacked)
    }
    const { file } = this.#records
    const lines = file === undefined ? undefined : linesByNumber(bytesOfLatin1(file), new Set(byLine.keys()))
    return [...byLine.values()].map(({ rule, form }) => ({
      ...rule,
      form: printableForm(form),
      source: lines?.get(rule.line),
    }))
  }
}

/** RFC 9309 §2.2.2. */
const ROBOTS_TXT_ITSELF: RulesVerdict = frozen({ allowed: true, because: 'robots-txt-itself' })

/**
 * The records that are kept with the rules, and the file. Most files have no such records, so their
 * rules share `NO_RECORDS`.
 */
type TimedRecords = Pick<BoundRules, 'crawlDelayMs' | 'requestRates' | 'visitTimes' | 'file'>

const NO_RECORDS: TimedRecords = frozen({ crawlDelayMs: undefined, requestRates: [], visitTimes: [], file: undefined })

/** Freezes a value and everything in it, because all callers get the same objects. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const item of Object.values(value)) frozen(item)
  return Object.freeze(value)
}

// Bytes of memory for `memoryBytes`:
const OBJECT_BYTES = 250 // this object and the objects that it always has
const RATE_BYTES = 140 // a request-rate, with its time of day
const TIME_BYTES = 60 // a visit-time
const TOKEN_BYTES = 32 // a product token, without its characters

/** Returns the name of a built-in dialect; undefined for a custom one. */
function nameOf({ name, parsing }: BoundDialect): DialectName | undefined {
  const known = name as DialectName
  return Object.hasOwn(dialects, known) && dialects[known].parsing === parsing ? known : undefined
}
