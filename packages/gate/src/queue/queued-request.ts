// One call of `PoliteGate.enter`, from its arrival in the queue until it gets a permit or is
// rejected.
//
// When the request is the first of its queue, the queue calls `recheckNow`, unless robots.txt has
// just been checked. If it returns `unknown`, the queue calls `recheck`. If robots.txt no longer
// allows the request, these methods reject it.
//
// The states, and what the methods do in each. An empty cell means: nothing.
//
//   | state      | wait      | grant     | fail       | cancelPermit |
//   |------------|-----------|-----------|------------|--------------|
//   | `arriving` | `waiting` | `granted` | `rejected` |              |
//   | `waiting`  |           | `granted` | `rejected` |              |
//   | `granted`  |           |           |            | `rejected`   |
//   | `rejected` |           |           |            |              |
//
// A request may fail twice: first by an abort, and then by a check of robots.txt that was under way
// during the abort. While it waits, an abort of the caller's signal rejects it.
import type { PaceLimits } from '@politely/core/engine'
import { loggableVerdict } from '@politely/fetcher'
import { onAbort } from '@politely/fetcher/internal'
import { paceLimitsOf } from '../options/pacing.ts'
import type { WaitCause } from '../pace/wait-cause.ts'
import type { AllowedVerdict } from '../report/allowed-verdict.ts'
import { RobotsDisallowedError } from '../report/errors.ts'
import { channels } from '../report/events.ts'
import type { GateContext } from './gate-context.ts'
import { type Grant, GrantedPermit } from './granted-permit.ts'
import type { PaceKeys } from './pace-by.ts'

/** The promise that `enter` awaits. */
interface Waiting {
  readonly name: 'waiting'
  readonly resolve: (permit: GrantedPermit) => void
  readonly reject: (error: unknown) => void
  removeAbortListener: (() => void) | undefined
}

type State =
  | { readonly name: 'arriving' }
  | Waiting
  | { readonly name: 'granted'; readonly permit: GrantedPermit }
  | { readonly name: 'rejected'; readonly error: unknown }

const ARRIVING: State = { name: 'arriving' }

export class QueuedRequest {
  readonly keys: PaceKeys
  readonly #context: GateContext
  readonly #signal: AbortSignal | undefined
  readonly #arrivedAt: number
  #verdict: AllowedVerdict
  #limits: PaceLimits
  #state: State = ARRIVING

  constructor(context: GateContext, keys: PaceKeys, verdict: AllowedVerdict, signal: AbortSignal | undefined) {
    this.keys = keys
    this.#context = context
    this.#verdict = verdict
    this.#limits = paceLimitsOf(verdict, context.pacing)
    this.#signal = signal
    this.#arrivedAt = context.now()
  }

  /**
   * The delays and visit times that the caller and the site ask for, as of the last check of
   * robots.txt.
   */
  get limits(): PaceLimits {
    return this.#limits
  }

  /** The permit, or a promise that rejects with the error. Undefined if the request has neither. */
  result(): GrantedPermit | Promise<never> | undefined {
    if (this.#state.name === 'granted') return this.#state.permit
    return this.#state.name === 'rejected' ? Promise.reject(this.#state.error) : undefined
  }

  /**
   * Returns a promise of the permit.
   * @param ahead How many requests were in the queue before.
   * @param queue The request leaves it when the caller's signal is aborted.
   */
  wait(
    heldBy: WaitCause | undefined,
    ahead: number,
    queue: { remove(request: QueuedRequest): void },
  ): Promise<GrantedPermit> {
    const { promise, resolve, reject } = Promise.withResolvers<GrantedPermit>()
    const waiting: Waiting = { name: 'waiting', resolve, reject, removeAbortListener: undefined }
    this.#state = waiting
    if (channels.wait.hasSubscribers) {
      const { because, level } = heldBy ?? {}
      channels.wait.publish({ ...this.#messageFields(), because, level, ahead })
    }
    const signal = this.#signal
    if (signal !== undefined && this.#state === waiting) {
      waiting.removeAbortListener = onAbort(signal, () => {
        queue.remove(this)
        this.fail(signal.reason)
      })
    }
    return promise
  }

  /**
   * Checks robots.txt again, without a fetch. `refused`: the request has rejected itself.
   * `unknown`: a fetch is necessary.
   */
  recheckNow(): 'allowed' | 'refused' | 'unknown' {
    try {
      const verdict = this.#context.robots.requireAllowedNow(this.#verdict.url)
      if (verdict === undefined) return 'unknown'
      this.#update(verdict)
      return 'allowed'
    } catch (error) {
      this.fail(error)
      return 'refused'
    }
  }

  /**
   * Checks robots.txt again, and fetches it if necessary. Resolves to false if the request has
   * rejected itself.
   */
  async recheck(): Promise<boolean> {
    try {
      this.#update(await this.#context.robots.requireAllowed(this.#verdict.url, this.#signal))
      return true
    } catch (error) {
      this.fail(error)
      return false
    }
  }

  /** @param heldBy What the request waited for last. @param at The time of the gate's clock. */
  grant(grant: Grant, heldBy: WaitCause | undefined, at: number): void {
    const before = this.#state
    const waitedFor = before.name === 'waiting' ? heldBy : undefined
    const permit = new GrantedPermit(
      this.#context,
      this.keys.key,
      grant,
      this.#verdict,
      at - this.#arrivedAt,
      waitedFor,
    )
    this.#state = { name: 'granted', permit }
    if (before.name !== 'waiting') return
    before.removeAbortListener?.()
    before.resolve(permit)
  }

  fail(error: unknown): void {
    if (this.#state.name === 'arriving' || this.#state.name === 'waiting') this.#reject(error)
  }

  /**
   * Cancels a granted permit, and counts the request as abandoned. `enter` calls this if the signal
   * was aborted after `grant`, but before `enter` returned the permit. The promise of `wait` is
   * fulfilled already, so `enter` throws the reason itself.
   */
  cancelPermit(reason: unknown): void {
    if (this.#state.name !== 'granted') return
    this.#state.permit.cancel()
    this.#reject(reason)
  }

  #reject(error: unknown): void {
    const before = this.#state
    this.#state = { name: 'rejected', error }
    // The check of robots.txt has counted and published a refusal already.
    if (!(error instanceof RobotsDisallowedError)) {
      const { counters, now } = this.#context
      counters.abandoned++
      if (channels.abandon.hasSubscribers) {
        channels.abandon.publish({ ...this.#messageFields(), waitedMs: now() - this.#arrivedAt, reason: error })
      }
    }
    if (before.name !== 'waiting') return
    before.removeAbortListener?.()
    before.reject(error)
  }

  #update(verdict: AllowedVerdict): void {
    this.#verdict = verdict
    this.#limits = paceLimitsOf(verdict, this.#context.pacing)
  }

  #messageFields() {
    const { gate, now } = this.#context
    const { url, origin } = loggableVerdict(this.#verdict)
    return { gate, at: now(), url, origin, key: this.keys.key }
  }
}
