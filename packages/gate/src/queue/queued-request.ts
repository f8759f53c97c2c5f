// One call of `PoliteGate.enter`, from its arrival in the queue until it gets a permit or is
// rejected.
//
// When the request is the first of its queue, the queue calls `recheckNow`, unless robots.txt has
// just been checked. If it returns `unknown`, the queue calls `recheck`. If robots.txt no longer
// allows the request, these methods reject it. Otherwise the queue calls `grant`, or `fail` if the
// pacer fails. Until `grant`, the caller's signal may abort the request, and closing the gate
// rejects it.
import type { PaceLimits } from '@politely/core/engine'
import { loggableVerdict } from '@politely/fetcher'
import { onAbort, type Site } from '@politely/fetcher/internal'
import { paceLimitsOf } from '../options/pacing.ts'
import type { WaitCause } from '../pace/wait-cause.ts'
import type { AllowedVerdict } from '../report/allowed-verdict.ts'
import { RobotsDisallowedError } from '../report/errors.ts'
import { channels } from '../report/events.ts'
import { GrantedPermit } from './granted-permit.ts'
import type { PaceKeys, SharedKey } from './pace-by.ts'
import type { Grant, RequestQueue, WaitingRequest } from './queue.ts'

export class QueuedRequest implements WaitingRequest {
  readonly site: Site
  readonly sharedKeys: readonly SharedKey[]
  readonly #queue: RequestQueue
  readonly #signal: AbortSignal | undefined
  readonly #arrivedAt: number
  #verdict: AllowedVerdict
  #limits: PaceLimits
  /** Settles the promise that `enter` awaits. Undefined until `requestPermit` returns a promise. */
  #resolvers:
    | { readonly resolve: (permit: GrantedPermit) => void; readonly reject: (error: unknown) => void }
    | undefined
  #removeAbortListener: (() => void) | undefined
  #permit: GrantedPermit | undefined
  /**
   * The error that the request was rejected with. Wrapped in an object, since a pacer may throw
   * `undefined`.
   */
  #failure: { readonly error: unknown } | undefined

  constructor(
    queue: RequestQueue,
    { site, shared }: PaceKeys,
    verdict: AllowedVerdict,
    signal: AbortSignal | undefined,
  ) {
    const { now, pacing } = queue.context
    this.site = site
    this.sharedKeys = shared
    this.#queue = queue
    this.#verdict = verdict
    this.#limits = paceLimitsOf(verdict, pacing)
    this.#signal = signal
    this.#arrivedAt = now()
  }

  get limits(): PaceLimits {
    return this.#limits
  }

  /**
   * Joins the queue. Returns the permit if the request can start at once and the pacer replies at
   * once. Otherwise returns a promise of the permit.
   */
  requestPermit(): GrantedPermit | Promise<GrantedPermit> {
    const ahead = this.#queue.waiting
    this.#queue.add(this)
    if (this.#permit !== undefined) return this.#permit
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error)
    if (channels.wait.hasSubscribers) {
      const { because, level } = this.#queue.heldBy ?? {}
      channels.wait.publish({ ...this.#messageFields(), because, level, ahead })
    }
    return new Promise((resolve, reject) => {
      this.#resolvers = { resolve, reject }
      const signal = this.#signal
      if (signal === undefined) return
      this.#removeAbortListener = onAbort(signal, () => {
        this.#queue.remove(this)
        this.fail(signal.reason)
      })
    })
  }

  recheckNow(): 'allowed' | 'refused' | 'unknown' {
    try {
      const verdict = this.#queue.context.robots.requireAllowedNow(this.#verdict.url)
      if (verdict === undefined) return 'unknown'
      this.#update(verdict)
      return 'allowed'
    } catch (error) {
      this.fail(error)
      return 'refused'
    }
  }

  async recheck(): Promise<boolean> {
    try {
      this.#update(await this.#queue.context.robots.requireAllowed(this.#verdict.url, this.#signal))
      return true
    } catch (error) {
      this.fail(error)
      return false
    }
  }

  grant(grant: Grant, heldBy: WaitCause | undefined, at: number): void {
    const waitedMs = at - this.#arrivedAt
    const waitedFor = this.#resolvers === undefined ? undefined : heldBy
    this.#permit = new GrantedPermit(this.#queue, grant, this.#verdict, waitedMs, waitedFor)
    this.#removeAbortListener?.()
    this.#resolvers?.resolve(this.#permit)
  }

  /**
   * Rejects the request. Does nothing if the request was rejected before or has its permit. A
   * request may be rejected twice: first by an abort, and then by a check of robots.txt that was
   * under way during the abort.
   */
  fail(error: unknown): void {
    if (this.#failure !== undefined || this.#permit !== undefined) return
    this.#failure = { error }
    // The check of robots.txt has counted and published a refusal already.
    if (!(error instanceof RobotsDisallowedError)) {
      const { counters, now } = this.#queue.context
      counters.abandoned++
      if (channels.abandon.hasSubscribers) {
        channels.abandon.publish({ ...this.#messageFields(), waitedMs: now() - this.#arrivedAt, reason: error })
      }
    }
    this.#removeAbortListener?.()
    this.#resolvers?.reject(error)
  }

  /**
   * Cancels a granted permit, and counts the request as abandoned. `enter` calls this if the signal
   * was aborted after `grant`, but before `enter` returned the permit. The promise of
   * `requestPermit` is fulfilled already, so `enter` throws the reason itself.
   */
  cancelPermit(reason: unknown): void {
    this.#permit?.cancel()
    this.#permit = undefined
    this.fail(reason)
  }

  #update(verdict: AllowedVerdict): void {
    this.#verdict = verdict
    this.#limits = paceLimitsOf(verdict, this.#queue.context.pacing)
  }

  #messageFields() {
    const { gate, now } = this.#queue.context
    const { url, origin } = loggableVerdict(this.#verdict)
    return { gate, at: now(), url, origin, key: this.#queue.key }
  }
}
