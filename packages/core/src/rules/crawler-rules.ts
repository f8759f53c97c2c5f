// What one file says to one crawler.

import type { Dialect, Reading } from '../dialect.ts'
import { characters, Scratch, textOf } from '../octets.ts'
import { AskedPath } from '../url/asked-path.ts'
import { shownForm } from '../url/normal-form.ts'
import type { Askable } from '../url/origin.ts'
import type { BoundRules } from './bound-rules.ts'
import type { DayRange } from './day-range.ts'
import { type Explanation, type Match, wonBy } from './explanation.ts'
import { linesOf } from './fields.ts'
import { allowsAt, firstMatch, groupsFrom, matchesAt, nextRule, type PackedRule, ruleAt } from './packed-rules.ts'
import { askPlainly, questionOf } from './question.ts'
import { indexBytes, isWorthwhile, RuleIndex } from './rule-index.ts'
import type { RequestRate } from './request-rate.ts'
import { type Group, groupOf, type Rule, type RulesVerdict, verdictByRule, verdictWithoutRule } from './verdict.ts'

/** So many questions are asked before an index is made: it takes about as long as they do, and many files are never asked so much. */
const ASKED_OFTEN = 8

/** Of the objects around the packed rules. Measured, rounded up. */
const OBJECT_BYTES = 300

/** The rules of one file, bound to one crawler: for asking often. */
export class CrawlerRules {
  readonly #bound: Omit<BoundRules, 'packed'>
  readonly #dialect: Dialect
  /** The packed rules, as text, which takes the least memory; or in an index, once there is one. */
  #rules: string | RuleIndex
  /** How many questions were asked, as long as it is not known whether an index is worth it. */
  #asked = 0

  /** @internal Made by `Robots.forCrawler` and `restoreRules`. */
  constructor({ packed, ...bound }: BoundRules, dialect: Dialect) {
    this.#bound = bound
    this.#dialect = dialect
    this.#rules = packed
  }

  /** Whom the rules are for. */
  get productTokens(): readonly string[] {
    return this.#bound.productTokens
  }

  /**
   * The pause that the site asks for between two requests, in milliseconds: the longest, where it names several; undefined
   * where it names none. An extension, RFC 9309 §2.2.4.
   */
  get crawlDelayMs(): number | undefined {
    return this.#bound.crawlDelayMs
  }

  /** The rates that the site asks for: each holds, always or at its time of day. An extension, RFC 9309 §2.2.4. */
  get requestRates(): readonly RequestRate[] {
    return this.#bound.requestRates
  }

  /** When the site wants visits: in any of these parts of the day; none for at any time. An extension, RFC 9309 §2.2.4. */
  get visitTimes(): readonly DayRange[] {
    return this.#bound.visitTimes
  }

  /** About how many octets of memory the rules take, for who keeps many of them. Measured, rounded up. */
  get memoryBytes(): number {
    const { length } = this.#packed
    return OBJECT_BYTES + length + indexBytes(length) + (this.#bound.file?.length ?? 0)
  }

  /** The same as plain data, for caches and other threads. `JSON.stringify(rules)` uses it; `restoreRules` reads it. */
  toJSON(): BoundRules {
    return { ...this.#bound, packed: this.#packed }
  }

  /** May the crawler fetch this URL, or this path of the file's own origin? */
  isAllowed(url: Askable): boolean {
    const { origin, groupsAt } = this.#bound
    if (!askPlainly(url, this.#reading, origin, asked)) {
      const { path = '', settled } = questionOf(url, this.#reading, origin)
      if (settled !== undefined) return settled.allowed
      asked.put(path)
    }
    const place = this.#deciding(asked)
    return place === groupsAt || allowsAt(this.#bytes, place)
  }

  /** May it, and why? No string makes it throw: what is no URL gets a verdict that says so. RFC 9309 §2.2.2. */
  check(url: Askable): RulesVerdict {
    const { path = '', settled } = questionOf(url, this.#reading, this.#bound.origin)
    return settled ?? this.#byRules(path)
  }

  /** The verdict, with every rule that matched and why the winner won. */
  explain(url: Askable): Explanation {
    const { path, settled } = questionOf(url, this.#reading, this.#bound.origin)
    const matching = path === undefined || settled !== undefined ? [] : this.#matches(path)
    return {
      verdict: settled ?? this.#byRules(path ?? ''),
      target: path === undefined ? undefined : shownForm(path),
      groups: this.#groups,
      matches: matching,
      wonBy: wonBy(matching, this.#reading.winner),
    }
  }

  get #reading(): Reading {
    return this.#dialect.reading
  }

  get #packed(): string {
    return typeof this.#rules === 'string' ? this.#rules : characters(this.#rules.packed)
  }

  get #bytes(): Uint8Array {
    return typeof this.#rules === 'string' ? unpacked(this.#rules) : this.#rules.packed
  }

  get #groups(): readonly Group[] {
    return groupsFrom(this.#bytes, this.#bound.groupsAt, this.#rules.length).map(groupOf)
  }

  #byRules(path: string): RulesVerdict {
    const place = this.#deciding(asked.put(path))
    if (place === this.#bound.groupsAt) return verdictWithoutRule(this.#groups[0])
    const rule = ruleAt(this.#bytes, place)
    return verdictByRule(ruleOf(rule), this.#groups[rule.group] as Group)
  }

  /** Where the rule stands that decides, or else the end of the rules. */
  #deciding(path: AskedPath): number {
    if (typeof this.#rules !== 'string') return this.#rules.find(path)
    const { groupsAt } = this.#bound
    const bytes = unpacked(this.#rules)
    if (this.#asked === ASKED_OFTEN && isWorthwhile(bytes, groupsAt)) {
      this.#rules = new RuleIndex(bytes.slice(0, this.#rules.length), groupsAt)
      return this.#rules.find(path)
    }
    if (this.#asked <= ASKED_OFTEN) this.#asked++
    return firstMatch(bytes, groupsAt, path)
  }

  /** The rules that match, in order of strength. */
  #matches(path: string): readonly Match[] {
    const { groupsAt, file } = this.#bound
    const bytes = this.#bytes
    asked.put(path)
    /** By line: `Allow: /dir/index.html` is packed twice, for its folder too, and the first of them counts. */
    const matching = new Map<number, PackedRule>()
    for (let place = 0; place < groupsAt; place = nextRule(bytes, place)) {
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
