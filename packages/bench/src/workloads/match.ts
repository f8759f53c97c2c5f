// Measures the time of one check, with rules that are already parsed and bound.

import { countAllowedSync, separateCopy } from '../check-loops.ts'
import { rulePathsIn } from '../files/site-urls.ts'
import { ours, reference } from '../libraries/libraries.ts'
import { naiveMatcher } from '../libraries/naive-walk.ts'
import { type Prepared, prepare, type Site } from '../libraries/prepared.ts'
import { median, sum } from '../median.ts'
import { type Contestant, measureInRounds, measurePairwise, nowNs } from '../rounds.ts'
import type { Finding, Row, Sheet } from '../sheet.ts'
import { findSlowestFile } from '../slowest-file.ts'
import type { Plan } from './plan.ts'

/**
 * Files with at most this many rules are small. An index cannot gain anything there, and must not
 * make them slower.
 */
const SMALL_FILE_RULES = 24

export async function match(plan: Plan, sites: readonly Site[], over: Sheet['over']): Promise<Sheet> {
  const prepared: Prepared[] = []
  for (const library of plan.libraries) prepared.push(await prepare(library, sites))
  const contestants = prepared.map((one) => new MatchContestant(one, plan.minNs))
  const medians = await measureInRounds(contestants, sites.length, plan.rounds)
  const index = (name: string) => prepared.findIndex(({ library }) => library.name === name)
  const mediansOf = (name: string) => medians[index(name)] ?? []

  const rows = prepared.map(({ library, failedFiles, failedChecks }, i): Row => {
    const pairs = pairsMeasured(medians[i] ?? [], mediansOf(reference.name))
    return {
      name: library.name,
      cells: [
        pairs.length === 0 ? null : sum(pairs.map(([, theirs]) => theirs)) / sum(pairs.map(([own]) => own)),
        pairs.length === 0 ? null : median(pairs.map(([own, theirs]) => theirs / own)),
        mean((medians[i] ?? []).filter((ns) => ns !== undefined)),
        failedFiles,
        failedChecks,
      ],
    }
  })

  const findings: Finding[] = []
  const notes: string[] = []
  const rate = rows.find(({ name }) => name === ours.name)?.cells[0]
  if (typeof rate === 'number') {
    findings.push({ what: `match: rate against ${reference.name}`, value: rate, unit: '×', target: { atLeast: 20 } })
  }
  const compareWith = async (rival: string, isMeasured: (file: number) => boolean) => {
    if (index(rival) === -1 || index(ours.name) === -1) return undefined
    const ratios = medians[index(ours.name)]?.map((ns, i) => {
      const theirs = mediansOf(rival)[i]
      return ns === undefined || theirs === undefined || !isMeasured(i) ? Number.NaN : ns / theirs
    })
    const [own, other] = [contestants[index(ours.name)], contestants[index(rival)]]
    return own && other && ratios
      ? await findSlowestFile(ratios, (file) => measurePairwise(own, other, file, plan.turns))
      : undefined
  }

  const against = await compareWith(reference.name, () => true)
  if (against !== undefined) {
    const { ratio: worst, slower, file } = against
    findings.push(
      { what: `match: slowest file, time against ${reference.name}`, value: worst, unit: '×', target: { atMost: 1 } },
      { what: `match: files slower than ${reference.name}`, value: slower, unit: '', target: { atMost: 0 } },
    )
    notes.push(`slowest against ${reference.name}: ${sites[file]?.file.name}, ${describe(sites[file])}`)
  }
  const small = sites.map(({ text }) => rulePathsIn(text).length <= SMALL_FILE_RULES)
  const { name } = naiveMatcher
  const onSmall = await compareWith(name, (file) => small[file] === true)
  if (onSmall !== undefined) {
    const { ratio: worst, slower, file } = onSmall
    const what = `match, ${SMALL_FILE_RULES} rules or fewer`
    findings.push(
      { what: `${what}: slowest file, time against the ${name}`, value: worst, unit: '×', target: { atMost: 1 } },
      { what: `${what}: files slower than the ${name}`, value: slower, unit: '', target: null },
    )
    notes.push(`slowest against the ${name}: ${sites[file]?.file.name}, ${describe(sites[file])}`)
  }
  return {
    workload: 'match',
    over,
    title: `match: ${sites.length} files, ${sites[0]?.urls.length} URLs each, rules already parsed and bound`,
    columns: [
      { name: 'all files', unit: `× ${reference.name}` },
      { name: 'median file', unit: `× ${reference.name}` },
      { name: 'one check', unit: 'ns' },
      { name: 'throws at', unit: 'files' },
      { name: 'throws at', unit: 'checks' },
    ],
    rows,
    findings,
    notes,
  }
}

/** Checks all URLs of a file with one library, and repeats that until it takes at least `minNs`. */
class MatchContestant implements Contestant {
  readonly #prepared: Prepared
  readonly #countAllowed: typeof countAllowedSync
  readonly #minNs: number
  readonly #repeats: number[]
  /** The count of allowed URLs. It prevents V8 from optimizing the checks away. */
  allowed = 0

  constructor(prepared: Prepared, minNs: number) {
    this.#prepared = prepared
    this.#countAllowed = separateCopy(countAllowedSync, prepared.library.name)
    this.#minNs = minNs
    this.#repeats = prepared.sites.map(() => 1)
  }

  measure(file: number): number | undefined {
    const { rules, urls } = this.#prepared.sites[file] as Prepared['sites'][number]
    if (urls.length === 0) return undefined
    const { isAllowed } = this.#prepared.library
    const repeats = this.#repeats[file] as number
    const start = nowNs()
    for (let i = 0; i < repeats; i++) this.allowed += this.#countAllowed(isAllowed, rules, urls)
    const ns = nowNs() - start
    if (ns < this.#minNs) this.#repeats[file] = Math.ceil((1.2 * repeats * this.#minNs) / Math.max(ns, 100))
    return ns / (repeats * urls.length)
  }
}

function pairsMeasured(
  own: readonly (number | undefined)[],
  theirs: readonly (number | undefined)[],
): [number, number][] {
  return own.flatMap((ns, i): [number, number][] => {
    const other = theirs[i]
    return ns === undefined || other === undefined ? [] : [[ns, other]]
  })
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : sum(values) / values.length
}

function describe(site: Site | undefined): string {
  return site === undefined ? '' : `${site.file.bytes.length} bytes, ${rulePathsIn(site.text).length} rules`
}
