// What one file says to one crawler.
import { bytesOfLatin1, latin1Of } from '../bytes.ts'
import { type DialectName, dialects } from '../dialect.ts'
import type { DayRange } from '../parse/day-range.ts'
import { linesByNumber } from '../parse/line-reader.ts'
import { keptRates, type RequestRate } from '../parse/request-rate.ts'
import { MAX_TIMED_RECORDS } from '../timed-records.ts'
import { printableForm } from '../url/normal-form.ts'
import { startsWithOrigin, type UrlInput } from '../url/origin.ts'
import { setSimpleUrl } from '../url/url-fast-path.ts'
import { BOUND_VERSION, type BoundDialect, type BoundRules } from './bound-rules.ts'
import { type Explanation, type Match, wonBy } from './explanation.ts'
import { IndexedMatcher, indexBytes } from './indexed.ts'
import type { LinearMatcher, Matcher } from './linear.ts'
import {
  allowsAt,
  formLength,
  formStart,
  readGroups,
  matchesAt,
  NO_RULE,
  nextRuleOffset,
  type PackedRule,
  ruleAt,
  strengthAt,
} from './packed-rules.ts'
import { resolveUrl } from './resolve-url.ts'
import { type Group, groupOf, type RulesVerdict, ruleOf, verdictByRule, verdictWithoutRule } from './verdict.ts'
import { workspace } from './workspace.ts'

/** With fewer rules, the linear engine is as fast as an index. */
const MIN_INDEXED_RULES = 24
/** Questions that the linear engine answers before an index is built: most visits end earlier, and building an index takes as long. */
const INDEX_AFTER_QUESTIONS = 64

/** The rules of one file, bound to one crawler. */
export class CrawlerRules {
  readonly #dialect: BoundDialect
  readonly #productTokens: string | readonly string[]
  readonly #origin: string | undefined
  /** The packed rules as a string, which takes the least memory; undefined once an index has them. */
  #packed: string | undefined
  #index: IndexedMatcher | undefined
  readonly #groupsAt: number
  readonly #count: number
  /** Whether the first rule that matches decides, and not the strongest. */
  readonly #takesFirst: boolean
  readonly #records: TimedRecords
  #questions = 0

  /** @internal Made by `Robots.forCrawler` and `restoreRules`. @param count How many rules there are. */
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
      : {
          crawlDelayMs,
          requestRates: keptRates(requestRates),
          visitTimes: visitTimes.slice(0, MAX_TIMED_RECORDS),
          file,
        }
  }

  /** The crawler that the rules are for. */
  get productTokens(): readonly string[] {
    return typeof this.#productTokens === 'string' ? [this.#productTokens] : this.#productTokens
  }

  /**
   * The pause that the site asks for between two requests, in milliseconds: the longest, where it names several; undefined
   * where it names none. An extension, RFC 9309 §2.2.4.
   */
  get crawlDelayMs(): number | undefined {
    return this.#records.crawlDelayMs
  }

  /**
   * The rates that the site asks for, at most 24: each holds, always or at its time of day. Of more, those in docs/records.md are kept.
   * An extension, RFC 9309 §2.2.4.
   */
  get requestRates(): readonly RequestRate[] {
    return this.#records.requestRates
  }

  /**
   * When the site wants visits: in any of these parts of the day, at most 24, the first ones in the file. None means at any time. An
   * extension, RFC 9309 §2.2.4.
   */
  get visitTimes(): readonly DayRange[] {
    return this.#records.visitTimes
  }

  /** About how many bytes of memory the rules take, with the index that many questions build. Measured, rounded up. */
  get memoryBytes(): number {
    const packed = (this.#packed ?? this.#packedBytes()).length
    const index = this.#count > MIN_INDEXED_RULES ? indexBytes(this.#count) : 0
    const { requestRates, visitTimes, file = '' } = this.#records
    const records = requestRates.length * RATE_BYTES + visitTimes.length * TIME_BYTES + file.length
    const names = this.productTokens.reduce((bytes, token) => bytes + TOKEN_BYTES + token.length, 0)
    return OBJECT_BYTES + packed + index + records + names + (this.#origin?.length ?? 0)
  }

  /** The rules as plain data, for caches and other threads. `JSON.stringify(rules)` uses it; `restoreRules` reads it. */
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

  /** May the crawler fetch this URL, or this path of the file's own origin? */
  isAllowed(url: UrlInput): boolean {
    // Without rules, every URL of the file's own origin is allowed.
    if (this.#groupsAt === 0 && typeof url === 'string' && this.#isOwn(url)) return true
    const found = this.#resolve(url)
    if (typeof found !== 'number') return found.allowed
    return found === NO_RULE || allowsAt(this.#packedBytes(), found)
  }

  /** May it, and why? Never throws, whatever the string: an invalid URL gets a verdict that says so. RFC 9309 §2.2.2. */
  check(url: UrlInput): RulesVerdict {
    const found = this.#resolve(url)
    return typeof found === 'number' ? this.#verdictBy(found) : found
  }

  /** The verdict, with every rule that matches and why the deciding one won. */
  explain(url: UrlInput): Explanation {
    const found = this.#resolve(url)
    const verdict = typeof found === 'number' ? this.#verdictBy(found) : found
    const { bytes, start, end } = workspace.path
    const matches = typeof found === 'number' ? this.#matches() : []
    return {
      verdict,
      target: verdict.because === 'invalid-url' ? undefined : printableForm(latin1Of(bytes.subarray(start, end))),
      groups: this.#groups(),
      matches,
      wonBy: wonBy(matches, this.#dialect.parsing.winner),
    }
  }

  #isOwn(url: string): boolean {
    return this.#origin !== undefined && startsWithOrigin(url, this.#origin)
  }

  /** Resolves a URL to the rule that decides, by its offset, or `NO_RULE`; or to a verdict that needs no rule. */
  #resolve(url: UrlInput): number | RulesVerdict {
    const { path } = workspace
    const { parsing: reading } = this.#dialect
    const isSimple =
      typeof url === 'string' &&
      reading.compare === 'rfc9309' &&
      setSimpleUrl(path, url, this.#origin, workspace.origin)
    const settled = isSimple ? undefined : resolveUrl(url, reading, this.#origin, path)
    if (settled !== undefined) return settled
    if (reading.robotsTxtItself === 'allowed' && path.isRobotsTxt()) return ROBOTS_TXT_ITSELF
    return this.#groupsAt === 0 ? NO_RULE : this.#matcher().find(path)
  }

  /** Chooses the engine. */
  #matcher(): Matcher {
    if (this.#index !== undefined) return this.#index
    const linear = this.#linear()
    if (this.#count <= MIN_INDEXED_RULES || this.#questions++ < INDEX_AFTER_QUESTIONS) return linear
    const packed = linear.packed.subarray(0, (this.#packed as string).length)
    this.#index = new IndexedMatcher(packed, linear.filters, this.#takesFirst, workspace.indexBuffers)
    this.#packed = undefined
    return this.#index
  }

  #linear(): LinearMatcher {
    return workspace.linearFor(this, this.#packed as string, this.#groupsAt, this.#count, this.#takesFirst)
  }

  #packedBytes(): Uint8Array {
    return (this.#index ?? this.#linear()).packed
  }

  #verdictBy(found: number): RulesVerdict {
    if (found === NO_RULE) return verdictWithoutRule(this.#groups()[0])
    const rule = ruleAt(this.#packedBytes(), found)
    return verdictByRule(ruleOf(rule), this.#groups()[rule.group] as Group)
  }

  #groups(): readonly Group[] {
    const length = this.#packed?.length ?? this.#packedBytes().length
    return readGroups(this.#packedBytes(), this.#groupsAt, length).map(groupOf)
  }

  /** The rules that match the path of the question, in order of strength. */
  #matches(): readonly Match[] {
    const packed = this.#packedBytes()
    const matching: { readonly rule: PackedRule; readonly strength: number }[] = []
    for (let at = 0; at < this.#groupsAt; ) {
      const length = formLength(packed, at)
      const start = formStart(packed, at, length)
      if (matchesAt(packed, at, start, length, workspace.path)) {
        matching.push({ rule: ruleAt(packed, at), strength: strengthAt(packed, at, length) })
      }
      at = nextRuleOffset(packed, at, start, length)
    }
    if (!this.#takesFirst) matching.sort((a, b) => b.strength - a.strength) // stable: of equal ones the first line first
    /** By line: `Allow: /dir/index.html` is packed twice, for its folder too, and the stronger one counts. */
    const byLine = new Map<number, PackedRule>()
    for (const { rule } of matching) if (!byLine.has(rule.line)) byLine.set(rule.line, rule)
    const lines = this.#linesOf(byLine)
    return [...byLine.values()].map((rule) => ({
      ...ruleOf(rule),
      form: printableForm(rule.form),
      source: lines?.get(rule.line),
    }))
  }

  /** The lines of the file with these numbers, if the file was kept. */
  #linesOf(wanted: ReadonlyMap<number, unknown>): ReadonlyMap<number, string> | undefined {
    const { file } = this.#records
    if (file === undefined) return undefined
    return linesByNumber(bytesOfLatin1(file), new Set(wanted.keys()))
  }
}

/** RFC 9309 §2.2.2. */
const ROBOTS_TXT_ITSELF: RulesVerdict = { allowed: true, because: 'robots-txt-itself' }

/** The records of a file that are kept with its rules; most files have none. */
type TimedRecords = Pick<BoundRules, 'crawlDelayMs' | 'requestRates' | 'visitTimes' | 'file'>

const NO_RECORDS: TimedRecords = { crawlDelayMs: undefined, requestRates: [], visitTimes: [], file: undefined }

// Bytes of memory: of the objects; of each request-rate, with its hours; of each visit-time; of each product token, without its characters.
const OBJECT_BYTES = 250
const RATE_BYTES = 140
const TIME_BYTES = 60
const TOKEN_BYTES = 32

/** The name of a dialect that every version of this library knows. */
function nameOf({ name, parsing: reading }: BoundDialect): DialectName | undefined {
  const known = name as DialectName
  return Object.hasOwn(dialects, known) && dialects[known].parsing === reading ? known : undefined
}
