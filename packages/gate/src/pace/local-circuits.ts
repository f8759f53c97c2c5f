// The circuits of all origins, in the memory of this process. It stores only origins with a failure.
import {
  applyFailure,
  applySuccess,
  type Circuit,
  type CircuitLimits,
  canForgetCircuit,
  circuitStateOf,
  closedCircuit,
  delayProbe,
  returnProbe,
  startProbe,
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
    const circuit = this.#circuits.get(origin)
    if (circuit === undefined) return CLOSED
    const now = this.#now()
    if (canForgetCircuit(circuit, limits, now)) {
      this.#circuits.delete(origin)
      return CLOSED
    }
    if (circuitStateOf(circuit, now) !== 'half-open') return circuitReport(circuit, now)
    const probing = startProbe(circuit, now)
    this.#circuits.set(origin, probing)
    return { ...circuitReport(probing, now), probe: probing.probes }
  }

  settle(origin: string, limits: CircuitLimits, result: CircuitResult): CircuitReport {
    const now = this.#now()
    const circuit = this.#circuits.get(origin) ?? closedCircuit
    const next = circuitAfter(circuit, limits, result, now)
    if (next.failures === 0) this.#circuits.delete(origin)
    else this.#circuits.set(origin, next)
    if (result.kind === 'failure' && ++this.#failures % FAILURES_BETWEEN_CHECKS === 0) this.#evict(limits, now)
    return circuitReport(next, now)
  }

  #evict(limits: CircuitLimits, now: number): void {
    for (const [origin, circuit] of this.#circuits)
      if (canForgetCircuit(circuit, limits, now)) this.#circuits.delete(origin)
  }
}

/** Returns the circuit after a request. */
function circuitAfter(
  circuit: Circuit<CircuitFailure>,
  limits: CircuitLimits,
  { kind, failure = UNKNOWN, retryAfterMs, probe }: CircuitResult,
  now: number,
): Circuit<CircuitFailure> {
  if (kind === 'success') return applySuccess(circuit)
  if (kind === 'unknown') return returnProbe(circuit, Number(probe))
  if (probe !== 'robots' || circuitStateOf(circuit, now) === 'closed')
    return applyFailure(circuit, limits, failure, now, probe === 'robots' ? undefined : Number(probe), retryAfterMs)
  if (circuitStateOf(circuit, now) === 'open') return delayProbe(circuit, now + (retryAfterMs ?? 0))
  const probing = startProbe(circuit, now)
  return applyFailure(probing, limits, failure, now, probing.probes, retryAfterMs)
}

const UNKNOWN: CircuitFailure = { kind: 'connection', because: 'network' }

/** Returns what the gate needs to know of a circuit. */
function circuitReport(circuit: Circuit<CircuitFailure>, now: number): CircuitReport {
  const { failures, periods, retryAt, probeUntil, failure } = circuit
  const name = circuitStateOf(circuit, now)
  const state = name === 'probing' ? 'half-open' : name
  const waitMs = state === 'closed' ? 0 : Math.max(0, (name === 'probing' ? probeUntil : retryAt) - now)
  return { state, failures, periods, waitMs, failure }
}
