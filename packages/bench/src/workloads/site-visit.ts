// A crawler visits a site: it parses the bytes of robots.txt, binds the rules to its name, asks about some URLs, and forgets both.
import { ours, reference } from '../libraries/libraries.ts'
import type { Library } from '../libraries/library.ts'
import type { Site } from '../libraries/prepared.ts'
import { countAllowedAtOnce, ownCopy } from '../loops.ts'
import { sum } from '../median.ts'
import { type Contestant, inRounds, nowNs } from '../rounds.ts'
import type { Finding, Row, Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'

/** How many URLs a crawler asks about in one visit, and how many times the rate of robots-parser we promise. */
const VISITS = [
  { questions: 1, atLeast: 2.5 },
  { questions: 10, atLeast: 2.5 },
  { questions: 50, atLeast: 4 },
  { questions: 200, atLeast: 7 },
]

export async function siteVisit(plan: Plan, sites: readonly Site[], over: Sheet['over']): Promise<Sheet> {
  // A library that takes long for a question would take hours.
  const libraries = plan.libraries.filter(({ questions }) => questions === 'all')
  const cells = new Map<string, (number | null)[]>(libraries.map(({ name }) => [name, []]))
  const findings: Finding[] = []
  for (const { questions, atLeast } of VISITS) {
    const medians = await inRounds(
      libraries.map((one) => new Visits(one, sites, questions)),
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
      const what = `site visit, ${questions} ${questions === 1 ? 'question' : 'questions'}`
      findings.push({ what: `${what}: parse, bind and ask`, value: us, unit: 'µs', target: null })
      if (rate !== null) {
        findings.push({ what: `${what}: rate against ${reference.name}`, value: rate, unit: '×', target: { atLeast } })
      }
    }
  }
  return {
    workload: 'site visit',
    over,
    title: `site visit: ${sites.length} files, each parsed, bound, asked about N URLs, forgotten`,
    columns: VISITS.flatMap(({ questions }) => [
      { name: `N = ${questions}`, unit: 'µs' },
      { name: 'rate', unit: '×' },
    ]),
    rows: libraries.map(({ name }): Row => ({ name, cells: cells.get(name) ?? [] })),
    findings,
    asides: [`rates are those of ${reference.name}; the mean time of all files`],
  }
}

function mean(ns: readonly (number | undefined)[]): number {
  const taken = ns.filter((one) => one !== undefined)
  return sum(taken) / taken.length
}

/** How many times as many visits in the same time as the other library, over the files that both can parse. */
function rateOf(own: readonly (number | undefined)[], other: readonly (number | undefined)[]): number | null {
  const both = own.flatMap((ns, i) => (ns === undefined || other[i] === undefined ? [] : [{ ns, other: other[i] }]))
  return both.length === 0 ? null : sum(both.map((pair) => pair.other)) / sum(both.map(({ ns }) => ns))
}

/** Visits of one library. A library that takes text decodes the bytes first, as its user must. */
class Visits implements Contestant {
  readonly #library: Library
  readonly #countAllowed: typeof countAllowedAtOnce
  readonly #sites: readonly Site[]
  readonly #urls: readonly (readonly string[])[]
  readonly #decoder = new TextDecoder()
  /** Counted so that no compiler may leave a question out. */
  allowed = 0

  constructor(library: Library, sites: readonly Site[], questions: number) {
    this.#library = library
    this.#countAllowed = ownCopy(countAllowedAtOnce, `${library.name}, ${questions}`)
    this.#sites = sites
    // Not the first ones: those made from rules and the others take turns, and so does a step of seven.
    this.#urls = sites.map(({ urls }) =>
      Array.from({ length: questions }, (_, i) => urls[(7 * i) % urls.length] as string),
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
      if (rules instanceof Promise) return this.#later(rules, urls, start)
      this.allowed += this.#countAllowed(this.#library.isAllowed, rules, urls)
      return nowNs() - start
    } catch {
      return undefined
    }
  }

  async #later(coming: Promise<unknown>, urls: readonly string[], start: number): Promise<number | undefined> {
    try {
      this.allowed += this.#countAllowed(this.#library.isAllowed, await coming, urls)
      return nowNs() - start
    } catch {
      return undefined
    }
  }
}
