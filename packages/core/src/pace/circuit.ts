// The circuit of one origin: whether requests may start, as far as the last requests failed.
// Pure functions; the caller keeps the state. The field calls it a circuit breaker.
//
//   closed      Requests start. `failures` in a row open the circuit.
//   open        No request starts before `retryAt`.
//   half-open   From `retryAt` on, one request may start: the probe. Its failure opens the circuit
//               again, for longer. Any success closes it.
//
// A probe is a lease: if its result is not known after two minutes, the next request is the probe.
//
// All times are in milliseconds by one clock of the caller, which must never go back.
import { MAX_RETRY_AFTER_MS } from '../http/retry-after.ts'
import { MAX_UNDER_WAY_MS } from './pace.ts'

/** When the circuit of an origin opens, and for how long. */
export interface CircuitLimits {
  /** How many failures in a row open it. */
  readonly failures: number
  /** The first cooling period. Milliseconds. */
  readonly coolMs: number
  /** The longest cooling period. A site may ask for a longer one, of up to a day. Milliseconds. */
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
  /** The number of the last probe; 0 before the first. */
  readonly lastProbe: number
  /** Until when the last probe may be under way; 0 if it has ended. */
  readonly probeUntil: number
  /** Until when robots.txt is not requested again after an attempt that failed. */
  readonly robotsUntil: number
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
  lastProbe: 0,
  probeUntil: 0,
  robotsUntil: 0,
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

/**
 * Returns the circuit after its next probe has started. Numbers of probes grow with time, so that a
 * late result of a probe is ignored if the circuit has closed and opened again since.
 */
export function startProbe<F>(circuit: Circuit<F>, now: number): Circuit<F> {
  const lastProbe = Math.max(circuit.lastProbe + 1, Math.ceil(now))
  return { ...circuit, lastProbe, probeUntil: now + MAX_UNDER_WAY_MS }
}

/** Returns the circuit after a probe has ended without a result, for example by an abort. */
export function returnProbe<F>(circuit: Circuit<F>, probe: number): Circuit<F> {
  return probe === circuit.lastProbe && circuit.probeUntil > 0 ? { ...circuit, probeUntil: 0 } : circuit
}

/**
 * Returns the circuit after a failure. In an open circuit, only the failure of the probe counts, and
 * once: the other requests started before it opened.
 * @param probe The number of the probe that failed; undefined for another request.
 * @param retryAfterMs How long the site asks to wait. Milliseconds.
 */
export function applyFailure<F>(
  circuit: Circuit<F>,
  limits: CircuitLimits,
  failure: F | undefined,
  now: number,
  probe?: number,
  retryAfterMs = 0,
): Circuit<F> {
  const isOpen = circuit.periods > 0
  if (isOpen && (probe !== circuit.lastProbe || circuit.probeUntil === 0)) return circuit
  const failures = circuit.failures + 1
  const failed = { ...circuit, failures, failure, failedAt: now, probeUntil: 0 }
  if (!isOpen && failures < limits.failures) return failed
  const coolMs = Math.max(coolingMs(limits, circuit.periods), retryAfterMs)
  return { ...failed, periods: circuit.periods + 1, retryAt: now + coolMs }
}

/** Returns the circuit without a doubt: after a success it is closed, and no failure counts. */
export function applySuccess<F>(circuit: Circuit<F>): Circuit<F> {
  return circuit.failures === 0 ? circuit : closedCircuit
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
export function canForgetCircuit(circuit: Circuit, limits: CircuitLimits, now: number): boolean {
  return circuit.failures === 0 || now >= circuitKeptUntil(circuit, limits)
}

/** Returns from when on a circuit with failures may be forgotten. */
export function circuitKeptUntil({ failedAt, retryAt, probeUntil }: Circuit, { maxMs }: CircuitLimits): number {
  return Math.max(failedAt, retryAt, probeUntil) + maxMs
}

/** What became of a request, for the circuit of its origin. */
export interface CircuitResult<F = unknown> {
  /** `unknown`: the request was aborted, or never sent. If it was the probe, another may follow. */
  readonly kind: 'success' | 'failure' | 'unknown'
  /** Undefined unless it is a failure. */
  readonly failure?: F | undefined
  /**
   * How long the site asks to wait, or when robots.txt is requested again. Milliseconds from now;
   * undefined if neither is known. At most a day counts.
   */
  readonly retryAfterMs?: number | undefined
  /**
   * The ticket of `admit`, if the request was the probe. `robots`: the request was for robots.txt,
   * which the client starts without asking. It counts as the probe if the circuit is half-open.
   */
  readonly probe?: string | number | undefined
}

/** The state of the circuit of an origin. */
export interface CircuitReport<F = unknown> {
  /** `open`: no request may start. `half-open`: one may, the probe. */
  readonly state: 'closed' | 'open' | 'half-open'
  /** How many requests have failed in a row. */
  readonly failures: number
  /** How many cooling periods there were in a row. 0 if the circuit is closed. */
  readonly periods: number
  /** How long until a probe may start, as far as that is known. Milliseconds. */
  readonly waitMs: number
  /** The last failure. */
  readonly failure?: F | undefined
}

/**
 * Returns the circuit after a request has asked whether it may start. If the circuit is half-open,
 * the request is the probe: `probe` is its number.
 */
export function admitTo<F>(
  known: Circuit<F>,
  limits: CircuitLimits,
  now: number,
): { readonly circuit: Circuit<F>; readonly probe: number | undefined } {
  const circuit = unlessForgotten(known, limits, now)
  if (circuitStateOf(circuit, now) !== 'half-open') return { circuit, probe: undefined }
  const probing = startProbe(circuit, now)
  return { circuit: probing, probe: probing.lastProbe }
}

/** Returns the circuit after a request has ended. */
export function circuitAfter<F>(
  known: Circuit<F>,
  limits: CircuitLimits,
  { kind, failure, retryAfterMs, probe }: CircuitResult<F>,
  now: number,
): Circuit<F> {
  const circuit = unlessForgotten(known, limits, now)
  const askedMs = Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS)
  if (kind === 'success') return applySuccess(circuit)
  if (kind === 'unknown') return returnProbe(circuit, Number(probe))
  if (probe !== 'robots') return applyFailure(circuit, limits, failure, now, Number(probe), askedMs)
  const state = circuitStateOf(circuit, now)
  if (state === 'closed') {
    if (now < circuit.robotsUntil) return circuit // another worker with the same store has told it
    return { ...applyFailure(circuit, limits, failure, now, undefined, askedMs), robotsUntil: now + askedMs }
  }
  if (state === 'open') return delayProbe(circuit, now + askedMs)
  const probing = startProbe(circuit, now)
  return applyFailure(probing, limits, failure, now, probing.lastProbe, askedMs)
}

/** Returns what callers need to know of a circuit. */
export function circuitReport<F>(circuit: Circuit<F>, now: number): CircuitReport<F> {
  const { failures, periods, retryAt, probeUntil, failure } = circuit
  const name = circuitStateOf(circuit, now)
  const state = name === 'probing' ? 'half-open' : name
  const waitMs = state === 'closed' ? 0 : Math.max(0, (name === 'probing' ? probeUntil : retryAt) - now)
  return { state, failures, periods, waitMs, failure }
}

function unlessForgotten<F>(circuit: Circuit<F>, limits: CircuitLimits, now: number): Circuit<F> {
  return canForgetCircuit(circuit, limits, now) ? closedCircuit : circuit
}
