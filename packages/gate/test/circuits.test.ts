// The circuits of a gate, with a keeper whose replies the test chooses.
import { describe, expect, test } from 'vitest'
import { Circuits } from '../src/circuit/circuits.ts'
import { DEFAULT_CIRCUIT } from '../src/options/circuit.ts'
import type { Admission, CircuitReport, CircuitResult } from '../src/pace/pacer.ts'
import { Counters } from '../src/report/counters.ts'

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
  const keeper = {
    admit: async (): Promise<Admission> => CLOSED,
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
    counters: new Counters(),
    failed: () => undefined,
  } as never)
  return { circuits, clock, settled }
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
})
