// The circuits of all origins, in the memory of this process. It stores only origins with a failure.
import {
  admitTo,
  type Circuit,
  type CircuitLimits,
  canForgetCircuit,
  circuitAfter,
  circuitReport,
  closedCircuit,
} from '@politely/core/engine'
import type { Admission, CircuitFailure, CircuitReport, CircuitResult } from './pacer.ts'

/** Most origins never fail. */
const CLOSED: CircuitReport = { state: 'closed', failures: 0, periods: 0, waitMs: 0 }

/** After this many failures, all circuits are checked for eviction. Our choice. */
const FAILURES_BETWEEN_CHECKS = 1_000

/** Keeps the circuits of all origins in this process. */
export class LocalCircuits {
  readonly #now: () => number
  readonly #circuits = new Map<string, Circuit<CircuitFailure>>()
  #failures = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /** Whether no request to this origin has failed since the last success. */
  isClear(origin: string): boolean {
    return this.#circuits.size === 0 || !this.#circuits.has(origin)
  }

  admit(origin: string, limits: CircuitLimits): Admission {
    const known = this.#circuits.get(origin)
    if (known === undefined) return CLOSED
    const now = this.#now()
    const { circuit, probe } = admitTo(known, limits, now)
    this.#keep(origin, circuit)
    return probe === undefined ? circuitReport(circuit, now) : { ...circuitReport(circuit, now), probe }
  }

  settle(origin: string, limits: CircuitLimits, result: CircuitResult): CircuitReport {
    const now = this.#now()
    const next = circuitAfter(this.#circuits.get(origin) ?? closedCircuit, limits, result, now)
    this.#keep(origin, next)
    if (result.kind === 'failure' && ++this.#failures % FAILURES_BETWEEN_CHECKS === 0) this.#evict(limits, now)
    return circuitReport(next, now)
  }

  #keep(origin: string, circuit: Circuit<CircuitFailure>): void {
    if (circuit.failures === 0) this.#circuits.delete(origin)
    else this.#circuits.set(origin, circuit)
  }

  #evict(limits: CircuitLimits, now: number): void {
    for (const [origin, circuit] of this.#circuits)
      if (canForgetCircuit(circuit, limits, now)) this.#circuits.delete(origin)
  }
}
