// What one file says to one crawler.

import type { Reading } from '../dialect.ts'
import { textOf } from '../octets.ts'
import { shownForm, targetForm } from '../url/normal-form.ts'
import { addressOf, type HasHref, type UrlProblem } from '../url/origin.ts'
import { googleTargetOf, type Target, targetOf } from '../url/target.ts'
import { crawlDelayMsOf } from './crawl-delay.ts'
import { type DayRange, dayRangeOf } from './day-range.ts'
import { type Explanation, wonBy } from './explanation.ts'
import type { WrittenFile, WrittenGroup } from './groups.ts'
import { readingsOf, recordsFor } from './other-records.ts'
import { matches } from './pattern.ts'
import { type RankedRule, rankRules } from './ranking.ts'
import { type RequestRate, requestRateOf } from './request-rate.ts'
import { selectGroups } from './selection.ts'
import type { Group, Rule, RulesVerdict } from './verdict.ts'

const RULE_BYTES = 400
const PIECE_BYTES = 40

/** The rules of one file, bound to one crawler: for asking often. */
export class CrawlerRules {
  /**
   * The pause that the site asks for between two requests, in milliseconds: the longest, where it names several; undefined
   * where it names none. An extension, RFC 9309 §2.2.4.
   */
  readonly crawlDelayMs: number | undefined
  /** The rates that the site asks for: each holds, always or at its time of day. An extension, RFC 9309 §2.2.4. */
  readonly requestRates: readonly RequestRate[]
  /** When the site wants visits: in any of these parts of the day; none for at any time. An extension, RFC 9309 §2.2.4. */
  readonly visitTimes: readonly DayRange[]
  readonly #reading: Reading
  readonly #origin: string | undefined
  readonly #groups: readonly WrittenGroup[]
  readonly #ranked: readonly RankedRule[]

  /** @internal Made by `Robots.forCrawler`. */
  constructor(file: WrittenFile, productTokens: readonly string[], reading: Reading, origin: string | undefined) {
    const { groups, names } = selectGroups(file.groups, productTokens, reading)
    this.#reading = reading
    this.#origin = origin
    this.#groups = groups
    this.#ranked = rankRules(groups, reading)
    const records = recordsFor(file.others, names)
    this.crawlDelayMs = longest(readingsOf(records, 'crawl-delay', crawlDelayMsOf))
    this.requestRates = readingsOf(records, 'request-rate', requestRateOf)
    this.visitTimes = readingsOf(records, 'visit-time', dayRangeOf)
  }

  /** About how many octets of memory the rules take, for who keeps many of them. Measured, rounded up. */
  get memoryBytes(): number {
    return this.#ranked.reduce((sum, { pattern }) => sum + RULE_BYTES + PIECE_BYTES * pattern.pieces.length, 0)
  }

  /** May the crawler fetch this URL, or this path of the file's own origin? */
  isAllowed(url: string | HasHref): boolean {
    return this.check(url).allowed
  }

  /** May it, and why? No string makes it throw: what is no URL gets a verdict that says so. RFC 9309 §2.2.2. */
  check(url: string | HasHref): RulesVerdict {
    const target = this.#targetOf(url)
    if (typeof target === 'string') return invalid(target)
    return this.#withoutRules(target) ?? this.#byRule(this.#ranked.find(({ pattern }) => matches(target.path, pattern)))
  }

  /** The verdict, with every rule that matched and why the winner won. */
  explain(url: string | HasHref): Explanation {
    const target = this.#targetOf(url)
    const groups = this.#groups.map(groupOf)
    if (typeof target === 'string') {
      return { verdict: invalid(target), target: undefined, groups, matches: [], wonBy: 'no-rule' }
    }
    const settled = this.#withoutRules(target)
    const matching = settled !== undefined ? [] : this.#ranked.filter(({ pattern }) => matches(target.path, pattern))
    const ofLines = oncePerLine(matching)
    return {
      verdict: settled ?? this.#byRule(ofLines[0]),
      target: shownForm(target.path),
      groups,
      matches: ofLines.map((rule) => ({ ...ruleOf(rule), form: shownForm(rule.form) })),
      wonBy: wonBy(ofLines, this.#reading.winner),
    }
  }

  /** The verdict where no rule is looked at. */
  #withoutRules({ origin, path }: Target): RulesVerdict | undefined {
    if (origin !== undefined && this.#origin !== undefined && origin !== this.#origin) {
      return { allowed: false, because: 'other-origin', origin, fileOrigin: this.#origin } // §2.3
    }
    if (path === '/robots.txt' && this.#reading.robotsTxtItself === 'allowed') {
      return { allowed: true, because: 'robots-txt-itself' } // §2.2.2
    }
    return undefined
  }

  /** The verdict by the rule that decides, if any does. */
  #byRule(deciding: RankedRule | undefined): RulesVerdict {
    if (deciding !== undefined) {
      const { written, group } = deciding
      // A rule without a path matches everything and forbids nothing. §2.2.2.
      const allowed = written.directive === 'allow' || written.path === ''
      return { allowed, because: 'rule', rule: ruleOf(deciding), group: groupOf(group) }
    }
    const [group] = this.#groups
    return group === undefined
      ? { allowed: true, because: 'no-group' }
      : { allowed: true, because: 'no-rule-matched', group: groupOf(group) }
  }

  #targetOf(url: string | HasHref): Target | UrlProblem {
    const { compare } = this.#reading
    if (compare !== 'google') {
      const target = targetOf(url, this.#origin === undefined ? 'ignored' : 'checked')
      return typeof target === 'string' ? target : { ...target, path: targetForm(target.path, compare) }
    }
    const text = typeof url === 'string' ? url : url.href
    const address = this.#origin === undefined ? 'relative' : addressOf(text)
    return { origin: typeof address === 'string' ? undefined : address.origin, path: googleTargetOf(text) }
  }
}

function longest(delays: readonly number[]): number | undefined {
  return delays.length === 0 ? undefined : delays.reduce((a, b) => Math.max(a, b))
}

function invalid(problem: UrlProblem): RulesVerdict {
  return { allowed: false, because: 'invalid-url', problem }
}

/** The first of each line: `Allow: /dir/index.html` is ranked twice, for its folder too. */
function oncePerLine(rules: readonly RankedRule[]): readonly RankedRule[] {
  const seen = new Set<number>()
  return rules.filter(({ written: { line } }) => !seen.has(line) && seen.add(line))
}

function ruleOf({ written, octets }: RankedRule): Rule {
  return { directive: written.directive, text: textOf(written.path), line: written.line, octets }
}

function groupOf({ agents, line }: WrittenGroup): Group {
  return { agents: agents.map(textOf), line }
}
