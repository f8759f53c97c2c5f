// What one file says to one crawler.

import { normalForm } from '../url/normal-form.ts'
import { addressOf, type HasHref, type UrlProblem } from '../url/origin.ts'
import { googleTargetOf, type Target, targetOf } from '../url/target.ts'
import { crawlDelayMsOf } from './crawl-delay.ts'
import type { Dialect } from './dialect.ts'
import type { WrittenFile, WrittenGroup } from './groups.ts'
import { textOf } from './octets.ts'
import { matches } from './pattern.ts'
import { type RankedRule, rankRules } from './ranking.ts'
import { selectGroups } from './selection.ts'
import type { Group, Rule, RulesVerdict } from './verdict.ts'

/** The rules of one file, bound to one crawler: for asking often. */
export class CrawlerRules {
  /**
   * The pause that the site asks for between two requests, in milliseconds: the longest, where it names several; undefined
   * where it names none. An extension, RFC 9309 §2.2.4.
   */
  readonly crawlDelayMs: number | undefined
  readonly #dialect: Dialect
  readonly #origin: string | undefined
  readonly #groups: readonly WrittenGroup[]
  readonly #ranked: readonly RankedRule[]

  /** @internal Made by `Robots.forCrawler`. */
  constructor(file: WrittenFile, productTokens: readonly string[], dialect: Dialect, origin: string | undefined) {
    const { groups, names } = selectGroups(file.groups, productTokens, dialect)
    this.#dialect = dialect
    this.#origin = origin
    this.#groups = groups
    this.#ranked = rankRules(groups, dialect)
    this.crawlDelayMs = crawlDelayMsOf(file.delays, names)
  }

  /** May the crawler fetch this URL, or this path of the file's own origin? */
  isAllowed(url: string | HasHref): boolean {
    return this.check(url).allowed
  }

  /** May it, and why? Never throws: what is no URL gets a verdict that says so. RFC 9309 §2.2.2. */
  check(url: string | HasHref): RulesVerdict {
    const target = this.#targetOf(url)
    if (typeof target === 'string') return { allowed: false, because: 'invalid-url', problem: target }
    const { origin, path } = target
    if (origin !== undefined && this.#origin !== undefined && origin !== this.#origin) {
      return { allowed: false, because: 'other-origin', origin, fileOrigin: this.#origin } // §2.3
    }
    if (path === '/robots.txt' && this.#dialect.robotsTxtItself === 'allowed') {
      return { allowed: true, because: 'robots-txt-itself' } // §2.2.2
    }
    const strongest = this.#ranked.find(({ pattern }) => matches(path, pattern))
    if (strongest !== undefined) {
      const { written, group } = strongest
      // A rule without a path matches everything and forbids nothing. §2.2.2.
      const allowed = written.directive === 'allow' || strongest.octets === 0
      return { allowed, because: 'rule', rule: ruleOf(strongest), group: groupOf(group) }
    }
    const [group] = this.#groups
    return group === undefined
      ? { allowed: true, because: 'no-group' }
      : { allowed: true, because: 'no-rule-matched', group: groupOf(group) }
  }

  #targetOf(url: string | HasHref): Target | UrlProblem {
    if (this.#dialect.target === 'as-sent') {
      const target = targetOf(url, this.#origin === undefined ? 'ignored' : 'checked')
      return typeof target === 'string' ? target : { ...target, path: normalForm(target.path, 'target') }
    }
    const text = typeof url === 'string' ? url : url.href
    const address = this.#origin === undefined ? 'relative' : addressOf(text)
    return { origin: typeof address === 'string' ? undefined : address.origin, path: googleTargetOf(text) }
  }
}

function ruleOf({ written, octets }: RankedRule): Rule {
  return { directive: written.directive, text: textOf(written.path), line: written.line, octets }
}

function groupOf({ agents, line }: WrittenGroup): Group {
  return { agents: agents.map(textOf), line }
}
