// Rules parsed and bound before: what does a question cost?

import { pathsIn } from '../files/site-question.ts'
import { ours, reference } from '../libraries/libraries.ts'
import { bareWalk, naiveWalk } from '../libraries/naive-walk.ts'
import { type Prepared, prepare, type Site } from '../libraries/prepared.ts'
import { countAllowedAtOnce, ownCopy } from '../loops.ts'
import { median, sum } from '../median.ts'
import { type Contestant, duel, inRounds, nowNs } from '../rounds.ts'
import type { Finding, Row, Sheet } from '../sheet.ts'
import { slowestOf } from '../slowest.ts'
import type { Plan } from './plan.ts'

/** Files with no more rules than so many are small: an index has nothing to win there, and must not lose. */
const SMALL_RULES = 24

export async function ask(plan: Plan, sites: readonly Site[], over: Sheet['over']): Promise<Sheet> {
  const prepared: Prepared[] = []
  for (const library of plan.libraries) prepared.push(await prepare(library, sites))
  const contestants = prepared.map((one) => new Asking(one, plan.leastNs))
  const medians = await inRounds(contestants, sites.length, plan.rounds)
  const index = (name: string) => prepared.findIndex(({ library }) => library.name === name)
  const of = (name: string) => medians[index(name)] ?? []

  const rows = prepared.map(({ library, failedFiles, failedQuestions }, i): Row => {
    const pairs = pairsOf(medians[i] ?? [], of(reference.name))
    return {
      name: library.name,
      cells: [
        pairs.length === 0 ? null : sum(pairs.map(([, theirs]) => theirs)) / sum(pairs.map(([own]) => own)),
        pairs.length === 0 ? null : median(pairs.map(([own, theirs]) => theirs / own)),
        mean((medians[i] ?? []).filter((ns) => ns !== undefined)),
        failedFiles,
        failedQuestions,
      ],
    }
  })

  const findings: Finding[] = []
  const asides: string[] = []
  const rate = rows.find(({ name }) => name === ours.name)?.cells[0]
  if (typeof rate === 'number') {
    findings.push({ what: `ask: rate against ${reference.name}`, value: rate, unit: '×', target: { atLeast: 20 } })
  }
  const versus = async (rival: string, isMeasured: (file: number) => boolean) => {
    if (index(rival) === -1 || index(ours.name) === -1) return undefined
    const ratios = medians[index(ours.name)]?.map((ns, i) => {
      const theirs = of(rival)[i]
      return ns === undefined || theirs === undefined || !isMeasured(i) ? Number.NaN : ns / theirs
    })
    const [own, other] = [contestants[index(ours.name)], contestants[index(rival)]]
    return own && other && ratios ? await slowestOf(ratios, (file) => duel(own, other, file, plan.turns)) : undefined
  }

  const against = await versus(reference.name, () => true)
  if (against !== undefined) {
    const { ratio: worst, slower, file } = against
    findings.push(
      { what: `ask: slowest file, time against ${reference.name}`, value: worst, unit: '×', target: { atMost: 1 } },
      { what: `ask: files slower than ${reference.name}`, value: slower, unit: '', target: { atMost: 0 } },
    )
    asides.push(`slowest against ${reference.name}: ${sites[file]?.file.name}, ${describe(sites[file])}`)
  }
  const small = sites.map(({ text }) => pathsIn(text).length <= SMALL_RULES)
  for (const { name } of [naiveWalk, bareWalk]) {
    const verdict = await versus(name, (file) => small[file] === true)
    if (verdict === undefined) continue
    const { ratio: worst, slower, file } = verdict
    const target = name === naiveWalk.name ? { atMost: 1 } : null
    const what = `ask, ${SMALL_RULES} rules or fewer`
    findings.push(
      { what: `${what}: slowest file, time against the ${name}`, value: worst, unit: '×', target },
      { what: `${what}: files slower than the ${name}`, value: slower, unit: '', target: null },
    )
    asides.push(`slowest against the ${name}: ${sites[file]?.file.name}, ${describe(sites[file])}`)
  }
  return {
    workload: 'ask',
    over,
    title: `ask: ${sites.length} files, ${sites[0]?.urls.length} questions each, rules parsed and bound before`,
    columns: [
      { name: 'all files', unit: `× ${reference.name}` },
      { name: 'median file', unit: `× ${reference.name}` },
      { name: 'a question', unit: 'ns' },
      { name: 'throws at', unit: 'files' },
      { name: 'throws at', unit: 'questions' },
    ],
    rows,
    findings,
    asides,
  }
}

/** One library with the questions about each file; all questions again and again, until it took long enough to be measured. */
class Asking implements Contestant {
  readonly #prepared: Prepared
  readonly #countAllowed: typeof countAllowedAtOnce
  readonly #leastNs: number
  readonly #repeats: number[]
  /** Answers are counted, and the count is kept, so that no compiler may leave the question out. */
  allowed = 0

  constructor(prepared: Prepared, leastNs: number) {
    this.#prepared = prepared
    this.#countAllowed = ownCopy(countAllowedAtOnce, prepared.library.name)
    this.#leastNs = leastNs
    this.#repeats = prepared.of.map(() => 1)
  }

  measure(file: number): number | undefined {
    const { rules, urls } = this.#prepared.of[file] as Prepared['of'][number]
    if (urls.length === 0) return undefined
    const { isAllowed } = this.#prepared.library
    const repeats = this.#repeats[file] as number
    const start = nowNs()
    for (let i = 0; i < repeats; i++) this.allowed += this.#countAllowed(isAllowed, rules, urls)
    const ns = nowNs() - start
    if (ns < this.#leastNs) this.#repeats[file] = Math.ceil((1.2 * repeats * this.#leastNs) / Math.max(ns, 100))
    return ns / (repeats * urls.length)
  }
}

function pairsOf(own: readonly (number | undefined)[], theirs: readonly (number | undefined)[]): [number, number][] {
  return own.flatMap((ns, i): [number, number][] => {
    const other = theirs[i]
    return ns === undefined || other === undefined ? [] : [[ns, other]]
  })
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : sum(values) / values.length
}

function describe(site: Site | undefined): string {
  return site === undefined ? '' : `${site.file.bytes.length} bytes, ${pathsIn(site.text).length} rules`
}
