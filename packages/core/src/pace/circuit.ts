// The circuit of one origin: whether requests may start, as far as the last ones failed. Pure
// functions; the caller keeps the state. The terms are those of the field (circuit breaker).
//
//   closed      Requests start. `failures` in a row open the circuit.
//   open        No request starts before `retryAt`.
//   half-open   From `retryAt` on, one request may start: the probe. Its failure opens the circuit
//               again, for longer. Any success closes it.
//
// A probe is a lease: if its result is not known after two minutes, the next request is the probe.
//
// All times are in milliseconds by one clock of the caller, which must never go back.
import { MAX_UNDER_WAY_MS } from './pace.ts'

/** When the circuit of an origin opens, and for how long. */
export interface CircuitLimits {
  /** How many failures in a row open it. */
  readonly failures: number
  /** The first cooling period. Milliseconds. */
  readonly coolMs: number
  /** The longest cooling period. A site may ask for a longer one. Milliseconds. */
  readonly maxMs: number
  /** Each further cooling period is this many times as long, until a request succeeds. */
  readonly factor: number
}

/** The state of the circuit of one origin. */
export interface Circuit<F = unknown> {
  /** How many requests have failed in a row. */
  readonly failures: number
  /** How many cooling periods there were in a row. 0: the circuit is closed. */
  readonly periods: number
  /** The end of the last cooling period. */
  readonly retryAt: number
  /** How many probes there were. The last one has this number. */
  readonly probes: number
  /** Until when the last probe may be under way; 0 if it has ended. */
  readonly probeUntil: number
  /** The last failure, as the caller describes it. */
  readonly failure: F | undefined
  /** When it was. */
  readonly failedAt: number
}

/** The circuit of an origin without failures. */
export const closedCircuit: Circuit<never> = {
  failures: 0,
  periods: 0,
  retryAt: 0,
  probes: 0,
  probeUntil: 0,
  failure: undefined,
  failedAt: 0,
}

/** `probing`: half-open, and a probe is under way. */
export type CircuitStateName = 'closed' | 'open' | 'half-open' | 'probing'

/** Returns the state of a circuit. `half-open`: the next request may start, as the probe. */
export function circuitStateOf({ periods, retryAt, probeUntil }: Circuit, now: number): CircuitStateName {
  if (periods === 0) return 'closed'
  if (now < retryAt) return 'open'
  return now < probeUntil ? 'probing' : 'half-open'
}

/** Returns the circuit after its next probe has started. */
export function startProbe<F>(circuit: Circuit<F>, now: number): Circuit<F> {
  return { ...circuit, probes: circuit.probes + 1, probeUntil: now + MAX_UNDER_WAY_MS }
}

/** Returns the circuit after a probe has ended without a result, for example by an abort. */
export function returnProbe<F>(circuit: Circuit<F>, probe: number): Circuit<F> {
  return probe === circuit.probes && circuit.probeUntil > 0 ? { ...circuit, probeUntil: 0 } : circuit
}

/**
 * Returns the circuit after a failure. In an open circuit, only the failure of the probe counts:
 * the other requests started before it opened.
 * @param probe The number of the probe that failed; undefined for another request.
 * @param retryAfterMs How long the site asks to wait. Milliseconds.
 */
export function applyFailure<F>(
  circuit: Circuit<F>,
  limits: CircuitLimits,
  failure: F,
  now: number,
  probe?: number,
  retryAfterMs = 0,
): Circuit<F> {
  const isOpen = circuit.periods > 0
  if (isOpen && probe !== circuit.probes) return circuit
  const failures = circuit.failures + 1
  const failed = { ...circuit, failures, failure, failedAt: now, probeUntil: 0 }
  if (!isOpen && failures < limits.failures) return failed
  const coolMs = Math.max(coolingMs(limits, circuit.periods), retryAfterMs)
  return { ...failed, periods: circuit.periods + 1, retryAt: now + coolMs }
}

/** Returns the circuit without a doubt: after a success it is closed, and no failure counts. */
export function applySuccess<F>(circuit: Circuit<F>): Circuit<F> {
  return circuit.failures === 0 ? circuit : { ...closedCircuit, probes: circuit.probes }
}

/**
 * Returns the circuit after something else has set the time of the next attempt, such as
 * robots.txt. A cooling period never becomes shorter.
 */
export function delayProbe<F>(circuit: Circuit<F>, until: number): Circuit<F> {
  return circuit.periods > 0 && until > circuit.retryAt ? { ...circuit, retryAt: until } : circuit
}

/**
 * Returns the length of a cooling period. Milliseconds.
 * @param before How many came before it in a row.
 */
export function coolingMs({ coolMs, maxMs, factor }: CircuitLimits, before: number): number {
  return Math.min(coolMs * factor ** before, maxMs)
}

/** Returns whether the circuit may be forgotten: its last failure says little about the site now. */
export function canForgetCircuit(circuit: Circuit, { maxMs }: CircuitLimits, now: number): boolean {
  return circuit.failures === 0 || now >= Math.max(circuit.failedAt, circuit.retryAt) + maxMs
}
