// The circuits of origins, which all workers of a fleet share: one worker finds out that a site is
// down, and all of them stop.
//
// The server has one small value for each origin with failures. A change takes two calls: one reads
// the state, and one stores the next state, unless another worker was faster. Then the change is
// computed again. So two workers never get the same probe.
//
// A request to a healthy origin must not cost a call. So an origin counts as healthy until this
// worker knows of a failure. If the origin is the key of the pace too, `reserve` takes no slot once
// another worker has had a failure, and then this worker asks. Otherwise it asks after a second, so
// a failure of another worker reaches it that much later.
//
// While the server is away, an open circuit that this worker knows of stays open until its cooling
// period is over. Otherwise `LocalPacer` decides with `onFailure: 'local'`. With `wait`, the
// circuit counts as closed: the request then waits for its slot until the server is back.
import {
  admitTo,
  type Circuit,
  type CircuitLimits,
  circuitAfter,
  circuitReport,
  closedCircuit,
} from '@politely/core/engine'
import { circuitKeptUntil } from '@politely/core/internal'
import { LRUCache } from '@politely/fetcher/internal'
import type { Admission, CircuitReport, CircuitResult, LocalPacer } from '@politely/gate'
import { isLocal, LOCAL } from './local-fallback.ts'
import type { PaceCalls } from './pace-calls.ts'
import type { CircuitReply } from './pace-reply.ts'
import type { CircuitChange } from './pace-transport.ts'

type OriginCircuit = Circuit<NonNullable<CircuitReport['failure']>>

/**
 * How long an origin counts as healthy without a call, if `reserve` does not look. Milliseconds. Our
 * choice.
 */
const CLEAR_MS = 1_000
/** How often a worker asks for the result of another worker's probe. Milliseconds. Our choice. */
const LOOK_MS = 1_000
/** Our choice. A forgotten origin costs a call. */
const MAX_ORIGINS = 10_000
/** So often a change is computed again, if other workers have been faster. Our choice. */
const MAX_ATTEMPTS = 10
/** How long the server keeps a circuit if the clock is not its own. Milliseconds. */
const TEST_KEEP_MS = 3_600_000

const CLOSED: CircuitReport = { state: 'closed', failures: 0, periods: 0, waitMs: 0 }
/** What counts as known of an origin that this worker has not visited yet. */
const UNKNOWN = { report: CLOSED, at: Number.NEGATIVE_INFINITY }
/** The origin has had a failure, so the server is asked. */
const HAS_FAILED = { report: { ...CLOSED, failures: 1 }, at: 0 }

interface FleetCircuitsOptions {
  readonly calls: Pick<PaceCalls, 'tryCircuit'>
  readonly now: () => number
  readonly hasTestClock: boolean
  /** Keeps the circuits while the server is away. Undefined with `onFailure: 'wait'`. */
  readonly local: Pick<LocalPacer, 'admit' | 'settle'> | undefined
}

export class FleetCircuits {
  readonly #options: FleetCircuitsOptions
  /** What the server has said last of an origin without failures, or with an open circuit. */
  readonly #known = new LRUCache<string, { readonly report: CircuitReport; readonly at: number }>({ max: MAX_ORIGINS })
  /**
   * The origins that `reserve` has to look at, since the last reply of `admit` relies on that. A
   * failure in between deletes an origin from `#known`, but not from here.
   */
  readonly #unseen = new LRUCache<string, true>({ max: MAX_ORIGINS })
  /** How many results of requests this worker has told. A reply that is older says nothing of them. */
  #settled = 0

  constructor(options: FleetCircuitsOptions) {
    this.#options = options
  }

  /**
   * Replies without a call if the origin had no failures a moment ago, or if `reserve` will look.
   * @param key The key of the pace.
   */
  admit(origin: string, limits: CircuitLimits, key?: string): Admission | Promise<Admission> {
    const { report, at } = this.#known.get(origin) ?? UNKNOWN
    if (report.failures > 0) return this.#ask(origin, limits)
    if (key === origin) this.#unseen.set(origin, true)
    else if (this.#options.now() - at >= CLEAR_MS) return this.#ask(origin, limits)
    return CLOSED
  }

  /** Whether `reserve` has to look whether the key is an origin with failures. */
  isUnseen(key: string): boolean {
    return this.#unseen.has(key)
  }

  /** `reserve` has looked. */
  seen(key: string, hasFailures: boolean): void {
    this.#unseen.delete(key)
    if (hasFailures) this.#known.set(key, HAS_FAILED)
  }

  async #ask(origin: string, limits: CircuitLimits): Promise<Admission> {
    const settled = this.#settled
    let probe: number | undefined
    const changed = await this.#change('admit', origin, limits, (circuit, now) => {
      const admitted = admitTo(circuit, limits, now)
      probe = admitted.probe
      return admitted.circuit
    })
    if (changed === undefined) {
      const known = this.#knownOpen(origin)
      if (known !== undefined) return known
      const admission: Admission = this.#options.local?.admit(origin, limits) ?? CLOSED
      return admission.probe === undefined ? admission : { ...admission, probe: `${LOCAL}${admission.probe}` }
    }
    if (settled === this.#settled) this.#remember(origin, changed)
    if (probe !== undefined) return { ...changed, probe }
    return changed.state === 'half-open' ? { ...changed, waitMs: Math.min(changed.waitMs, LOOK_MS) } : changed
  }

  async settle(origin: string, limits: CircuitLimits, result: CircuitResult): Promise<CircuitReport> {
    const settled = ++this.#settled
    const { local } = this.#options
    const { kind, probe } = result
    const open = kind === 'success' ? undefined : this.#knownOpen(origin)
    if (open === undefined) this.#known.set(origin, HAS_FAILED)
    if (local !== undefined && isLocal(probe))
      return local.settle(origin, limits, { ...result, probe: `${probe}`.slice(LOCAL.length) })
    const changed = await this.#change('settle', origin, limits, (circuit, now) =>
      circuitAfter(circuit, limits, result, now),
    )
    if (changed === undefined) {
      const known = probe === 'robots' ? probe : undefined // a ticket of the server means nothing to `local`
      return open ?? local?.settle(origin, limits, { ...result, probe: known }) ?? CLOSED
    }
    if (settled === this.#settled) this.#remember(origin, changed)
    return changed
  }

  /**
   * Changes the circuit of the server. Returns undefined if it is away, or other workers were
   * always faster.
   */
  async #change(
    operation: 'admit' | 'settle',
    origin: string,
    limits: CircuitLimits,
    change: (circuit: OriginCircuit, now: number) => OriginCircuit,
  ): Promise<CircuitReport | undefined> {
    const { calls, hasTestClock } = this.#options
    const call = (next?: CircuitChange): Promise<CircuitReply | undefined> =>
      calls.tryCircuit(operation, origin, next).catch(() => undefined) // counted and published
    let reply = await call()
    for (let attempt = 0; reply !== undefined && attempt < MAX_ATTEMPTS; attempt++) {
      const { value, now } = reply
      const next = change(circuitOf(value), now)
      const nextValue = next.failures === 0 ? '' : JSON.stringify(next)
      if (nextValue === value) return circuitReport(next, now)
      const wantedMs = hasTestClock ? TEST_KEEP_MS : Math.ceil(circuitKeptUntil(next, limits) - now)
      const keepMs = nextValue === '' ? 1 : wantedMs
      reply = await call({ value, next: nextValue, keepMs })
      if (reply?.isStored) return circuitReport(next, now)
    }
    return undefined
  }

  #remember(origin: string, report: CircuitReport): void {
    if (report.failures === 0 || report.state === 'open') this.#known.set(origin, { report, at: this.#options.now() })
    else this.#known.set(origin, HAS_FAILED)
  }

  /** Returns the open circuit of an origin, if its cooling period is not over. */
  #knownOpen(origin: string): CircuitReport | undefined {
    const known = this.#known.get(origin)
    if (known?.report.state !== 'open') return undefined
    const waitMs = known.report.waitMs - (this.#options.now() - known.at)
    return waitMs > 0 ? { ...known.report, waitMs } : undefined
  }
}

/** Returns the circuit that a value means. A value that another program has written means none. */
function circuitOf(value: string): OriginCircuit {
  if (value === '') return closedCircuit
  try {
    const circuit: Partial<OriginCircuit> | null = JSON.parse(value)
    const { failures, periods, retryAt, lastProbe, probeUntil, robotsUntil, failedAt } = circuit ?? {}
    const areNumbers = [failures, periods, retryAt, lastProbe, probeUntil, robotsUntil, failedAt].every(Number.isFinite)
    return areNumbers ? (circuit as OriginCircuit) : closedCircuit
  } catch {
    return closedCircuit
  }
}
