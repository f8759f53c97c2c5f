// Measures what a crawler does at each site: parse the bytes of robots.txt, bind the rules to its
// product token, and check some URLs.

import { countAllowedSync, separateCopy } from '../check-loops.ts'
import { ours, reference } from '../libraries/libraries.ts'
import type { Library } from '../libraries/library.ts'
import type { Site } from '../libraries/prepared.ts'
import { sum } from '../median.ts'
import { type Contestant, measureInRounds, nowNs } from '../rounds.ts'
import type { Finding, Row, Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'

/** The number of URLs in one visit, and the target: our rate divided by robots-parser's rate. */
const VISIT_LENGTHS = [
  { urlCount: 1, atLeast: 2.5 },
  { urlCount: 10, atLeast: 2.5 },
  { urlCount: 50, atLeast: 4 },
  { urlCount: 200, atLeast: 7 },
]

export async function siteVisit(plan: Plan, sites: readonly Site[], over: Sheet['over']): Promise<Sheet> {
  // The slow libraries would take hours.
  const libraries = plan.libraries.filter(({ checks }) => checks === 'all')
  const cells = new Map<string, (number | null)[]>(libraries.map(({ name }) => [name, []]))
  const findings: Finding[] = []
  for (const { urlCount, atLeast } of VISIT_LENGTHS) {
    const medians = await measureInRounds(
      libraries.map((one) => new VisitContestant(one, sites, urlCount)),
      sites.length,
      plan.rounds,
    )
    const theirs = medians[libraries.indexOf(reference)] ?? []
    for (const [i, { name }] of libraries.entries()) {
      const own = medians[i] ?? []
      const us = mean(own) / 1e3
      const rate = rateOf(own, theirs)
      cells.get(name)?.push(us, rate)
      if (name !== ours.name) continue
      const what = `site visit, ${urlCount} ${urlCount === 1 ? 'URL' : 'URLs'}`
      findings.push({ what: `${what}: parse, bind and check`, value: us, unit: 'µs', target: null })
      if (rate !== null) {
        findings.push({ what: `${what}: rate against ${reference.name}`, value: rate, unit: '×', target: { atLeast } })
      }
    }
  }
  return {
    workload: 'site visit',
    over,
    title: `site visit: ${sites.length} files; each is parsed, bound, and N URLs are checked`,
    columns: VISIT_LENGTHS.flatMap(({ urlCount }) => [
      { name: `N = ${urlCount}`, unit: 'µs' },
      { name: 'rate', unit: '×' },
    ]),
    rows: libraries.map(({ name }): Row => ({ name, cells: cells.get(name) ?? [] })),
    findings,
    notes: [`times are means over all files; rates are relative to ${reference.name}`],
  }
}

function mean(ns: readonly (number | undefined)[]): number {
  const measured = ns.filter((one) => one !== undefined)
  return sum(measured) / measured.length
}

/** Returns the rate relative to the other library, over the files that both can parse. */
function rateOf(own: readonly (number | undefined)[], other: readonly (number | undefined)[]): number | null {
  const both = own.flatMap((ns, i) => (ns === undefined || other[i] === undefined ? [] : [{ ns, other: other[i] }]))
  return both.length === 0 ? null : sum(both.map((pair) => pair.other)) / sum(both.map(({ ns }) => ns))
}

/**
 * Visits with one library. For a library that accepts text only, the bytes are decoded first, as
 * its users must do.
 */
class VisitContestant implements Contestant {
  readonly #library: Library
  readonly #countAllowed: typeof countAllowedSync
  readonly #sites: readonly Site[]
  readonly #urls: readonly (readonly string[])[]
  readonly #decoder = new TextDecoder()
  /** The count of allowed URLs. It prevents V8 from optimizing the checks away. */
  allowed = 0

  constructor(library: Library, sites: readonly Site[], urlCount: number) {
    this.#library = library
    this.#countAllowed = separateCopy(countAllowedSync, `${library.name}, ${urlCount}`)
    this.#sites = sites
    // Every seventh URL: URLs made from rules alternate with others, and an odd step takes both
    // kinds.
    this.#urls = sites.map(({ urls }) =>
      Array.from({ length: urlCount }, (_, i) => urls[(7 * i) % urls.length] as string),
    )
  }

  measure(file: number): number | undefined | Promise<number | undefined> {
    const { file: site, robotsUrl } = this.#sites[file] as Site
    const urls = this.#urls[file] as readonly string[]
    const start = nowNs()
    try {
      const rules =
        this.#library.prepareBytes(site.bytes, robotsUrl) ??
        this.#library.prepare(this.#decoder.decode(site.bytes), robotsUrl)
      if (rules instanceof Promise) return this.#measureAsync(rules, urls, start)
      this.allowed += this.#countAllowed(this.#library.isAllowed, rules, urls)
      return nowNs() - start
    } catch {
      return undefined
    }
  }

  async #measureAsync(
    pendingRules: Promise<unknown>,
    urls: readonly string[],
    start: number,
  ): Promise<number | undefined> {
    try {
      this.allowed += this.#countAllowed(this.#library.isAllowed, await pendingRules, urls)
      return nowNs() - start
    } catch {
      return undefined
    }
  }
}
