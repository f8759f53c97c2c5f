// Measures the processor time of fetching robots.txt from new origins, in the process that fetches.
import { ours } from '../libraries/libraries.ts'
import { type Contestant, measureInRounds } from '../rounds.ts'
import type { Finding, Sheet } from '../sheet.ts'
import { NumberProcess } from './number-process.ts'
import type { Plan } from './plan.ts'
import { withRobotsServer } from './robots-server.ts'

/** Concurrent requests. */
const CONCURRENCY = 200

const SCRIPT = new URL('./cold-fetch-child.ts', import.meta.url)

const BARE = 'bare undici.request'
const CRAWLEE = '@crawlee/utils'
const METHODS = [ours.name, BARE, 'built-in fetch', CRAWLEE]

export async function coldFetch(plan: Plan): Promise<Sheet> {
  return withRobotsServer(plan.files, (port) => compare(plan, port))
}

async function compare(plan: Plan, port: number): Promise<Sheet> {
  let next = 1
  const nextOrigins = (count: number) => {
    next += count
    return next - count
  }
  const methods = METHODS.map((name) => new FetchMethod(name, port, plan.coldFetches, nextOrigins))
  try {
    const medians = await measureInRounds(methods, 1, plan.rounds)
    return sheetOf(
      plan,
      medians.map(([ns = Number.NaN]) => ns / 1e3),
    )
  } finally {
    for (const method of methods) method.end()
  }
}

function sheetOf(plan: Plan, us: readonly number[]): Sheet {
  const of = (name: string) => us[METHODS.indexOf(name)] as number
  const findings: Finding[] = [
    {
      what: 'cold fetch: processor time, against a bare undici.request',
      value: of(ours.name) / of(BARE),
      unit: '×',
      target: { atMost: 1.4 },
    },
    {
      what: 'cold fetch: processor time of @crawlee/utils, against ours',
      value: of(CRAWLEE) / of(ours.name),
      unit: '×',
      target: { atLeast: 3 },
    },
  ]
  return {
    workload: 'cold fetch',
    over: 'own',
    title: `cold fetch: ${plan.coldFetches} origins on loopback, ${CONCURRENCY} at once, one check for each`,
    columns: [
      { name: 'one robots.txt', unit: 'µs of processor' },
      { name: 'against', unit: `× ${BARE}` },
    ],
    rows: METHODS.map((name) => ({ name, cells: [of(name), of(name) / of(BARE)] })),
    findings,
    notes: [],
  }
}

/**
 * One way to fetch, in its own child process, as in a crawler. In one process for all ways, the
 * compiled code and garbage of each would slow down the others.
 */
class FetchMethod implements Contestant {
  readonly #child: NumberProcess
  readonly #count: number
  /** Reserves `count` new origins and returns the number of the first. */
  readonly #nextOrigins: (count: number) => number

  constructor(name: string, port: number, count: number, nextOrigins: (count: number) => number) {
    this.#child = new NumberProcess(SCRIPT, [name, port, count, CONCURRENCY])
    this.#count = count
    this.#nextOrigins = nextOrigins
  }

  measure(): Promise<number> {
    return this.#child.request(this.#nextOrigins(this.#count))
  }

  end(): void {
    this.#child.kill()
  }
}
