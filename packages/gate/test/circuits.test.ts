// The circuits of a gate, with a keeper whose replies the test chooses.
import { describe, expect, test } from 'vitest'
import { Circuits } from '../src/circuit/circuits.ts'
import { DEFAULT_CIRCUIT } from '../src/options/circuit.ts'
import type { Admission, CircuitReport, CircuitResult } from '../src/pace/pacer.ts'
import { GateCounts } from '../src/report/counters.ts'

const SITE = 'https://a.test'
const CLOSED: CircuitReport = { state: 'closed', failures: 0, periods: 0, waitMs: 0 }
const OPEN: CircuitReport = {
  state: 'open',
  failures: 5,
  periods: 1,
  waitMs: 60_000,
  failure: { kind: 'connection', because: 'refused' },
}

function startCircuits() {
  const clock = { now: 100_000 }
  const settled: CircuitResult[] = []
  const failures: unknown[] = []
  const keeper = {
    admit: (): Admission | Promise<Admission> => CLOSED,
    settle: async (_: string, __: object, result: CircuitResult): Promise<CircuitReport> => {
      settled.push(result)
      return CLOSED
    },
  }
  const log = { circuitOpened: () => undefined, circuitClosed: () => undefined }
  const circuits = new Circuits({
    gate: undefined,
    log,
    keeper,
    now: () => clock.now,
    counters: new GateCounts(),
    failed: (_: string, error: unknown) => void failures.push(error),
  } as never)
  return { circuits, clock, settled, keeper, failures }
}

describe('robots.txt', () => {
  const fetchedAt = (checkedAt: number) => ({ checkedAt, reason: 'success', status: 200 }) as never

  test('closes the circuit if it was fetched after the last failure, of whatever worker', () => {
    const { circuits, clock, settled } = startCircuits()
    circuits.passes(SITE, DEFAULT_CIRCUIT, OPEN) // another worker's requests have failed
    clock.now += 10_000
    circuits.noteRobots(SITE, fetchedAt(90_000), DEFAULT_CIRCUIT, clock.now)
    circuits.noteRobots(SITE, fetchedAt(100_000), DEFAULT_CIRCUIT, clock.now)
    expect(settled).toEqual([])
    circuits.noteRobots(SITE, fetchedAt(100_001), DEFAULT_CIRCUIT, clock.now)
    expect(settled).toEqual([{ kind: 'success' }])
  })

  test('says nothing of a circuit if it was not requested, or if its failures are not among the outcomes', () => {
    const { circuits, clock, settled } = startCircuits()
    const outcomes = new Set(['denied'] as const)
    const failedAt = (reason: string) => ({ checkedAt: clock.now, nextAttemptAt: clock.now, reason }) as never
    circuits.noteRobots(SITE, failedAt('refused'), { ...DEFAULT_CIRCUIT, outcomes }, clock.now)
    circuits.passes(SITE, DEFAULT_CIRCUIT, OPEN)
    clock.now++
    circuits.noteRobots(SITE, failedAt('refused'), { ...DEFAULT_CIRCUIT, outcomes }, clock.now)
    circuits.noteRobots(SITE, failedAt('aborted'), DEFAULT_CIRCUIT, clock.now)
    expect(settled).toEqual([])
    circuits.noteRobots(SITE, failedAt('refused'), DEFAULT_CIRCUIT, clock.now)
    expect(settled).toMatchObject([{ kind: 'failure', probe: 'robots' }])
  })
})

test.for<[string, () => unknown]>([
  ['is undefined', () => undefined],
  ['is a promise of nothing', async () => undefined],
  ['has an unknown state', () => ({ ...OPEN, state: 'ajar' })],
  ['has no time', async () => ({ ...OPEN, waitMs: Number.NaN })],
  ['is an error', () => Promise.reject(new Error('away'))],
])('a reply of admit that %s stops no request, is reported, and leaves the circuit as it was', async ([, admit]) => {
  const { circuits, keeper, failures } = startCircuits()
  circuits.passes(SITE, DEFAULT_CIRCUIT, OPEN)
  keeper.admit = admit as never
  expect(await circuits.admit(SITE, DEFAULT_CIRCUIT, SITE)).toBeUndefined()
  expect(failures).toHaveLength(1)
  expect(circuits.reportOf(SITE).state).toBe('open')
})

test('a request that rests goes back to its lane if its origin is forgotten for 10,000 others', () => {
  const { circuits } = startCircuits()
  const resumed: unknown[] = []
  const lane = {
    rests: () => undefined,
    advance: () => undefined,
    resume: (request: unknown, to: string) => resumed.push([request, to]),
  }
  const request = { check: { origin: SITE }, isWaiting: true, hasRested: false } as never
  circuits.passes(SITE, DEFAULT_CIRCUIT, OPEN)
  circuits.hold(request, lane as never, DEFAULT_CIRCUIT)
  for (let n = 0; n < 9_999; n++) circuits.passes(`https://n${n}.test`, DEFAULT_CIRCUIT, OPEN)
  expect(resumed).toEqual([])
  circuits.passes('https://last.test', DEFAULT_CIRCUIT, OPEN)
  expect(resumed).toEqual([[request, 'in-order']])
})
