// The permit that a request gets from its queue. It holds the request's concurrency limits until the caller releases it.
//
// The gate calls `start` once, and hands the permit to the caller. The caller may call `report` when the headers of the response have arrived,
// and calls `release` when the request ends. If the caller never gets the permit, the gate calls `cancel` instead.
import type { Delay } from '@politely/core/engine'
import { channels } from './events.ts'
import { locationOf, type Permit, paceResponseOf, type ResponseLike } from './permit.ts'
import type { RequestQueue, ReservedSlot, WaitReason } from './queue.ts'
import type { AllowedVerdict } from './robots-check.ts'
import { type NestablePermit, Sending } from './sending.ts'

export class GrantedPermit implements NestablePermit {
  readonly verdict: AllowedVerdict
  readonly waitedMs: number
  readonly waitedFor: Permit['waitedFor']
  readonly delay: Delay
  readonly #queue: RequestQueue
  readonly #slot: ReservedSlot
  readonly #domain: string
  readonly #sending: Sending
  #startedAt = 0
  #status: number | undefined
  #isReported = false
  #holdsConcurrency = true
  #isReleased = false

  constructor(
    queue: RequestQueue,
    slot: ReservedSlot,
    verdict: AllowedVerdict,
    domain: string,
    waitedMs: number,
    waitedFor: WaitReason | 'none',
  ) {
    this.#queue = queue
    this.#slot = slot
    this.verdict = verdict
    this.#domain = domain
    this.waitedMs = waitedMs
    this.waitedFor = waitedFor
    this.delay = slot.delay
    this.#sending = new Sending(queue.context.gate, this)
  }

  get url(): string {
    return this.verdict.url
  }

  /**
   * Marks the start of the request. The gate calls it just before it hands the permit to the caller, which is as late as the gate can observe
   * the start. If the clock throws, the permit is cancelled.
   */
  start(): void {
    const { gate, now, counters, pacer } = this.#queue.context
    const { key } = this.#queue
    const { waitedMs, waitedFor, delay } = this
    try {
      const at = now()
      this.#startedAt = at
      counters.started++
      if (waitedFor !== 'none') counters.waited(waitedFor, waitedMs)
      if (channels.start.hasSubscribers) {
        const { url, origin } = this.verdict
        channels.start.publish({ gate, at, url, origin, key, waitedMs, waitedFor, delay })
      }
      pacer.started(key, this.#slot.ticket, delay)
    } catch (error) {
      this.cancel()
      throw error
    }
  }

  /** The request does not start: gives its slot back, and releases its concurrency limits. */
  cancel(): void {
    this.#isReleased = true
    this.#queue.cancelSlot(this.#slot)
    this.releaseConcurrency()
  }

  run<T>(send: () => T): T {
    return this.#sending.run(send)
  }

  markSent(): void {
    this.#sending.end()
  }

  report(response: ResponseLike): void {
    this.#sending.end()
    this.applyResponse(response)
  }

  applyResponse(response: ResponseLike): void {
    if (this.#isReported || this.#isReleased) return
    const paceResponse = paceResponseOf(response) // throws for an invalid response, of which nothing must be reported
    this.#isReported = true
    this.#status = paceResponse.status
    const { counters, pacer, redirects } = this.#queue.context
    redirects.note(this.url, paceResponse.status, locationOf(response))
    counters.responded(paceResponse)
    pacer.report(this.#queue.key, this.#slot.ticket, paceResponse)
  }

  release(response?: ResponseLike): void {
    if (this.#isReleased) return
    const { gate, now, counters, pacer, activity } = this.#queue.context
    const { key } = this.#queue
    try {
      if (response !== undefined) this.report(response) // throws for an invalid response; the permit is released all the same
    } finally {
      this.#isReleased = true
      this.#sending.end()
      counters.done++
      try {
        if (!this.#isReported) pacer.report(key, this.#slot.ticket, undefined)
        if (channels.done.hasSubscribers) {
          const { url, origin } = this.verdict
          const at = now()
          channels.done.publish({ gate, at, url, origin, key, tookMs: at - this.#startedAt, status: this.#status })
        }
      } finally {
        this.releaseConcurrency()
        activity.end()
      }
    }
  }

  releaseConcurrency(): void {
    if (!this.#holdsConcurrency) return
    this.#holdsConcurrency = false
    this.#queue.release(this.#domain)
  }

  [Symbol.dispose](): void {
    this.release()
  }
}
