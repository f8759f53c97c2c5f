// What one file says to one crawler.

import { type DialectName, dialects } from '../dialect.ts'
import { characters, Scratch, textOf } from '../octets.ts'
import { MAX_TIMED_RECORDS } from '../timed-records.ts'
import { AskedPath } from '../url/asked-path.ts'
import { shownForm } from '../url/normal-form.ts'
import { type Askable, beginsAtOrigin } from '../url/origin.ts'
import { BOUND_VERSION, type BoundDialect, type BoundRules } from './bound-rules.ts'
import type { DayRange } from './day-range.ts'
import { type Explanation, type Match, wonBy } from './explanation.ts'
import { linesOf } from './fields.ts'
import { HotIndexes, NO_SEAT, type Seat, SHORT } from './hot-indexes.ts'
import { allowsAt, firstMatch, groupsFrom, matchesAt, nextRule, type PackedRule, ruleAt } from './packed-rules.ts'
import { askPlainly, questionOf } from './question.ts'
import { keptRates, type RequestRate } from './request-rate.ts'
import { countRules, indexBytes, RuleIndex, UNSURE } from './rule-index.ts'
import { type Group, groupOf, type Rule, type RulesVerdict, verdictByRule, verdictWithoutRule } from './verdict.ts'

/** So many questions are asked before an index is made: it takes about as long as they do, and many files are never asked so much. */
const ASKED_OFTEN = 8
/** Where rules are short, so many: an index saves less there, and may be driven out by other sites' before it has saved what it took. */
const ASKED_OFTEN_IF_SHORT = 64

/** The rules of one file, bound to one crawler: for asking often. */
export class CrawlerRules {
  readonly #dialect: BoundDialect
  readonly #productTokens: string | readonly string[]
  readonly #origin: string | undefined
  /** The packed rules as text, which takes the least memory; where they are not `SHORT`, they stand in the index only, once there is one. */
  #text: string | undefined
  #seat: Readonly<Seat> = NO_SEAT
  readonly #groupsAt: number
  readonly #beside: Beside
  /** How many questions were asked without an index; from the start again, where one was made and driven out. */
  #asked = 0

  /** @internal Made by `Robots.forCrawler` and `restoreRules`. */
  constructor(
    { productTokens, origin, packed, groupsAt, crawlDelayMs, requestRates, visitTimes, file }: BoundRules,
    dialect: BoundDialect,
  ) {
    this.#dialect = dialect
    this.#productTokens = productTokens.length === 1 ? (productTokens[0] as string) : productTokens
    this.#origin = origin
    this.#text = packed
    this.#groupsAt = groupsAt
    const isNothing =
      crawlDelayMs === undefined && requestRates.length === 0 && visitTimes.length === 0 && file === undefined
    this.#beside = isNothing
      ? NOTHING_BESIDE
      : {
          crawlDelayMs,
          requestRates: keptRates(requestRates),
          visitTimes: visitTimes.slice(0, MAX_TIMED_RECORDS),
          file,
        }
  }

  /** Whom the rules are for. */
  get productTokens(): readonly string[] {
    return typeof this.#productTokens === 'string' ? [this.#productTokens] : this.#productTokens
  }

  /**
   * The pause that the site asks for between two requests, in milliseconds: the longest, where it names several; undefined
   * where it names none. An extension, RFC 9309 §2.2.4.
   */
  get crawlDelayMs(): number | undefined {
    return this.#beside.crawlDelayMs
  }

  /**
   * The rates that the site asks for, at most 24: each holds, always or at its time of day. Of more, those in docs/records.md are kept.
   * An extension, RFC 9309 §2.2.4.
   */
  get requestRates(): readonly RequestRate[] {
    return this.#beside.requestRates
  }

  /**
   * When the site wants visits: in any of these parts of the day, at most 24, the first ones in the file. None means at any time. An
   * extension, RFC 9309 §2.2.4.
   */
  get visitTimes(): readonly DayRange[] {
    return this.#beside.visitTimes
  }

  /** About how many bytes of memory the rules take, with the index that many questions make. Measured, rounded up. */
  get memoryBytes(): number {
    const length = this.#length
    const index = length <= SHORT ? 0 : indexBytes(countRules(this.#bytes(), this.#groupsAt))
    const { requestRates, visitTimes, file = '' } = this.#beside
    const beside = requestRates.length * RATE_BYTES + visitTimes.length * TIME_BYTES + file.length
    const names = this.productTokens.reduce((bytes, token) => bytes + TOKEN_BYTES + token.length, 0)
    return OBJECT_BYTES + length + index + beside + names + (this.#origin?.length ?? 0)
  }

  /** The same as plain data, for caches and other threads. `JSON.stringify(rules)` uses it; `restoreRules` reads it. */
  toJSON(): BoundRules {
    return {
      version: BOUND_VERSION,
      dialect: nameOf(this.#dialect) ?? { name: this.#dialect.name, reading: this.#dialect.reading },
      productTokens: this.productTokens,
      origin: this.#origin,
      packed: this.#packed,
      groupsAt: this.#groupsAt,
      ...this.#beside,
    }
  }

  /** May the crawler fetch this URL, or this path of the file's own origin? */
  isAllowed(url: Askable): boolean {
    const { index } = this.#seat
    if (typeof url === 'string' && (index === undefined ? this.#groupsAt === 0 : index.isLiteral)) {
      const place = this.#decidingAtAGlance(url, index)
      if (place !== UNSURE) return this.#allowsAt(place, index)
    }
    if (!askPlainly(url, this.#dialect.reading, this.#origin, asked)) {
      const { path = '', settled } = questionOf(url, this.#dialect.reading, this.#origin)
      if (settled !== undefined) return settled.allowed
      asked.put(path)
    }
    return this.#allowsAt(index === undefined ? this.#deciding(asked) : index.find(asked), index)
  }

  /** May it, and why? No string makes it throw: what is no URL gets a verdict that says so. RFC 9309 §2.2.2. */
  check(url: Askable): RulesVerdict {
    const { path = '', settled } = questionOf(url, this.#dialect.reading, this.#origin)
    return settled ?? this.#byRules(path)
  }

  /** The verdict, with every rule that matched and why the winner won. */
  explain(url: Askable): Explanation {
    const { path, settled } = questionOf(url, this.#dialect.reading, this.#origin)
    const matching = path === undefined || settled !== undefined ? [] : this.#matches(path)
    return {
      verdict: settled ?? this.#byRules(path ?? ''),
      target: path === undefined ? undefined : shownForm(path),
      groups: this.#groups,
      matches: matching,
      wonBy: wonBy(matching, this.#dialect.reading.winner),
    }
  }

  get #packed(): string {
    return this.#text ?? characters(this.#bytes())
  }

  /** Of the packed rules. */
  get #length(): number {
    return (this.#text ?? this.#bytes()).length
  }

  /** A method, as what is asked often must be: for a private getter V8 calls its runtime each time. */
  #bytes(): Uint8Array {
    return this.#seat.index?.packed ?? unpacked(this.#text as string)
  }

  get #groups(): readonly Group[] {
    return groupsFrom(this.#bytes(), this.#groupsAt, this.#length).map(groupOf)
  }

  #byRules(path: string): RulesVerdict {
    const place = this.#deciding(asked.put(path))
    if (place === this.#groupsAt) return verdictWithoutRule(this.#groups[0])
    const rule = ruleAt(this.#bytes(), place)
    return verdictByRule(ruleOf(rule), this.#groups[rule.group] as Group)
  }

  /** What `#deciding` says, where the URL need not be laid out for that; or `UNSURE`. */
  #decidingAtAGlance(url: string, index: RuleIndex | undefined): number {
    const origin = this.#origin
    if (origin === undefined || !beginsAtOrigin(url, origin)) return UNSURE
    if (index === undefined) return this.#groupsAt // there is no rule
    return this.#dialect.reading.compare === 'rfc9309' ? index.findInUrl(url, origin.length) : UNSURE
  }

  /** @param index The one there was when it was looked for. */
  #allowsAt(place: number, index: RuleIndex | undefined): boolean {
    return place === this.#groupsAt || allowsAt(index === undefined ? this.#bytes() : index.packed, place)
  }

  /** Where the rule stands that decides, or else the end of the rules. */
  #deciding(path: AskedPath): number {
    if (this.#groupsAt === 0) return 0
    const index = this.#seat.index ?? this.#newIndex()
    return index === undefined ? firstMatch(this.#bytes(), this.#groupsAt, path) : index.find(path)
  }

  /** Makes an index, when that is worth it. */
  #newIndex(): RuleIndex | undefined {
    const packed = this.#text as string
    const bytes = unpacked(packed)
    const isShort = packed.length <= SHORT
    if (++this.#asked <= (isShort ? ASKED_OFTEN_IF_SHORT : ASKED_OFTEN)) return undefined
    this.#asked = 0
    const index = new RuleIndex(bytes.subarray(0, packed.length), this.#groupsAt)
    this.#seat = isShort ? hotIndexes.put(index) : { index }
    if (!isShort) this.#text = undefined
    return index
  }

  /** The rules that match, in order of strength. */
  #matches(path: string): readonly Match[] {
    const { file } = this.#beside
    const bytes = this.#bytes()
    asked.put(path)
    /** By line: `Allow: /dir/index.html` is packed twice, for its folder too, and the first of them counts. */
    const matching = new Map<number, PackedRule>()
    for (let place = 0; place < this.#groupsAt; place = nextRule(bytes, place)) {
      if (!matchesAt(bytes, place, asked)) continue
      const rule = ruleAt(bytes, place)
      if (!matching.has(rule.line)) matching.set(rule.line, rule)
    }
    const sources = file === undefined ? undefined : linesOf(file, new Set(matching.keys()))
    return [...matching.values()].map((rule) => {
      const source = sources?.get(rule.line)
      return { ...ruleOf(rule), form: shownForm(rule.form), source: source === undefined ? undefined : textOf(source) }
    })
  }
}

/** What stands beside the rules; most files have nothing of it. */
type Beside = Pick<BoundRules, 'crawlDelayMs' | 'requestRates' | 'visitTimes' | 'file'>

const NOTHING_BESIDE: Beside = { crawlDelayMs: undefined, requestRates: [], visitTimes: [], file: undefined }

const hotIndexes = new HotIndexes()

/** What the objects take. */
const OBJECT_BYTES = 250
/** And each request-rate, with its hours, */
const RATE_BYTES = 140
/** each visit-time, */
const TIME_BYTES = 60
/** and each product token, beside its characters. */
const TOKEN_BYTES = 32

/** The name under which everyone knows it. */
function nameOf({ name, reading }: BoundDialect): DialectName | undefined {
  const known = name as DialectName
  return Object.hasOwn(dialects, known) && dialects[known].reading === reading ? known : undefined
}

const asked = new AskedPath()

/** The packed rules that were asked last, as bytes: crawlers ask about one site many times in a row. */
const lastAsked = { packed: '', bytes: new Uint8Array(0) as Uint8Array, scratch: new Scratch() }

function unpacked(packed: string): Uint8Array {
  if (lastAsked.packed !== packed) {
    lastAsked.bytes = lastAsked.scratch.put(packed)
    lastAsked.packed = packed
  }
  return lastAsked.bytes
}

function ruleOf({ directive, written, line, form }: PackedRule): Rule {
  return { directive, text: textOf(written), line, octets: form.length }
}
