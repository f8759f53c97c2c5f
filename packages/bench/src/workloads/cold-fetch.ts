// What does it cost to learn the robots.txt of an origin that nobody has asked before? Processor time of the process that asks.
import { ours } from '../libraries/libraries.ts'
import { type Contestant, inRounds } from '../rounds.ts'
import type { Finding, Sheet } from '../sheet.ts'
import { Child } from './child.ts'
import type { Plan } from './plan.ts'
import { withRobotsServer } from './robots-server.ts'

/** Requests under way at once. */
const IN_FLIGHT = 200

const SCRIPT = new URL('./cold-fetch-child.ts', import.meta.url)

const BARE = 'bare undici.request'
const CRAWLEE = '@crawlee/utils'
const WAYS = [ours.name, BARE, 'built-in fetch', CRAWLEE]

export async function coldFetch(plan: Plan): Promise<Sheet> {
  return withRobotsServer(plan.files, (port) => compare(plan, port))
}

async function compare(plan: Plan, port: number): Promise<Sheet> {
  let next = 1
  const takeOrigins = (count: number) => {
    next += count
    return next - count
  }
  const ways = WAYS.map((name) => new Way(name, port, plan.coldFetches, takeOrigins))
  try {
    const medians = await inRounds(ways, 1, plan.rounds)
    return sheetOf(
      plan,
      medians.map(([ns = Number.NaN]) => ns / 1e3),
    )
  } finally {
    for (const way of ways) way.end()
  }
}

function sheetOf(plan: Plan, us: readonly number[]): Sheet {
  const of = (name: string) => us[WAYS.indexOf(name)] as number
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
    title: `cold fetch: ${plan.coldFetches} origins on loopback, ${IN_FLIGHT} at once, the answer to one question of each`,
    columns: [
      { name: 'a robots.txt', unit: 'µs of processor' },
      { name: 'against', unit: `× ${BARE}` },
    ],
    rows: WAYS.map((name) => ({ name, cells: [of(name), of(name) / of(BARE)] })),
    findings,
    asides: [],
  }
}

/**
 * In a process of its own, as in a crawler, which has one way: in one process for all, what each has V8 compile and collect falls on the
 * others.
 */
class Way implements Contestant {
  readonly #child: Child
  readonly #count: number
  /** The first of so many origins that nobody has asked before. */
  readonly #takeOrigins: (count: number) => number

  constructor(name: string, port: number, count: number, takeOrigins: (count: number) => number) {
    this.#child = new Child(SCRIPT, [name, port, count, IN_FLIGHT])
    this.#count = count
    this.#takeOrigins = takeOrigins
  }

  measure(): Promise<number> {
    return this.#child.answer(this.#takeOrigins(this.#count))
  }

  end(): void {
    this.#child.end()
  }
}
