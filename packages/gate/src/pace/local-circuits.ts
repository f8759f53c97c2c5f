// The circuits of all origins, in the memory of this process. It stores only origins with a failure.
import {
  admitTo,
  type Circuit,
  type CircuitLimits,
  circuitAfter,
  circuitReport,
  closedCircuit,
} from '@politely/core/engine'
import { canForgetCircuit } from '@politely/core/internal'
import type { Admission, CircuitFailure, CircuitReport, CircuitResult } from './pacer.ts'

/** The circuit of one origin. */
export type OriginCircuit = Circuit<CircuitFailure>

/** Most origins never fail. */
export const CLOSED: CircuitReport = { state: 'closed', failures: 0, periods: 0, waitMs: 0 }

/** After this many failures, all circuits are checked for eviction. Our choice. */
const FAILURES_BETWEEN_CHECKS = 1_000

/** Keeps the circuits of all origins in this process. */
export class LocalCircuits<L extends CircuitLimits = CircuitLimits> {
  readonly #now: () => number
  readonly #onChange: ((origin: string, before: OriginCircuit, after: OriginCircuit, limits: L) => void) | undefined
  /** The circuits of origins with failures. The origin that failed first comes first. */
  readonly all: Map<string, OriginCircuit> = new Map()
  #failures = 0

  /** @param onChange Called for each origin whose circuit may have changed. */
  constructor(
    now: () => number,
    onChange?: (origin: string, before: OriginCircuit, after: OriginCircuit, limits: L) => void,
  ) {
    this.#now = now
    this.#onChange = onChange
  }

  /** Whether no request to this origin has failed since the last success. */
  isClear(origin: string): boolean {
    return this.all.size === 0 || !this.all.has(origin)
  }

  admit(origin: string, limits: L): Admission {
    const known = this.all.get(origin)
    if (known === undefined) return CLOSED
    const now = this.#now()
    const { circuit, probe } = admitTo(known, limits, now)
    this.keep(origin, circuit, limits)
    return probe === undefined ? circuitReport(circuit, now) : { ...circuitReport(circuit, now), probe }
  }

  settle(origin: string, limits: L, result: CircuitResult): CircuitReport {
    const now = this.#now()
    const next = circuitAfter(this.all.get(origin) ?? closedCircuit, limits, result, now)
    this.keep(origin, next, limits)
    if (result.kind === 'failure' && ++this.#failures % FAILURES_BETWEEN_CHECKS === 0)
      for (const [one, circuit] of this.all) if (canForgetCircuit(circuit, limits, now)) this.all.delete(one)
    return circuitReport(next, now)
  }

  /** Replaces the circuit of an origin. */
  keep(origin: string, circuit: OriginCircuit, limits: L): void {
    const before = this.all.get(origin)
    if (circuit.failures > 0) this.all.set(origin, circuit)
    else if (!this.all.delete(origin)) return
    this.#onChange?.(origin, before ?? closedCircuit, circuit, limits)
  }
}
