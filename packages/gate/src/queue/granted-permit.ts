// The permit that a request gets from its queue. It holds the request's concurrency limits until
// the caller releases it.
//
// The gate calls `start` once, and hands the permit to the caller. If the caller never gets the
// permit, the gate calls `cancel` instead. The phases, and the next phase after each call. In an
// empty cell, the call does not change what the gate knows.
//
//   | phase        | run          | sent   | report     | release, cancel |
//   |--------------|--------------|--------|------------|-----------------|
//   | `granted`    | `connecting` | `sent` | `reported` | `released`      |
//   | `connecting` |              | `sent` | `reported` | `released`      |
//   | `sent`       |              |        | `reported` | `released`      |
//   | `reported`   |              |        |            | `released`      |
//   | `released`   |              |        |            |                 |
//
// The limits may be released before the last phase: see `releaseConcurrency`.
//
// The delay counts from `start`, and again from `sent`: a new connection may take longer than
// the delay. So from `run` until `sent`, the next request of the queue does not start. Whether
// `sent` is called depends on the HTTP client. If a response arrives without it, the gate's
// later requests do not wait for it, until one is seen again.
import type { Delay, PaceResponse } from '@politely/core/engine'
import { loggableVerdict } from '@politely/fetcher'
import type { StartedItem } from '@politely/fetcher/internal'
import type { WaitCause } from '../pace/wait-cause.ts'
import type { Permit } from '../permit/permit.ts'
import {
  assertNotRedirected,
  isFailure,
  isRateLimited,
  locationOf,
  paceResponseOf,
  type RequestReport,
  type ResponseLike,
  rateLimitedResponse,
  rateLimitPauseOf,
  withBackoff,
} from '../permit/request-report.ts'
import { type NestablePermit, Sending } from '../permit/sending.ts'
import type { AllowedVerdict } from '../report/allowed-verdict.ts'
import { channels } from '../report/events.ts'
import type { AskedPause } from '../report/gate-log.ts'
import type { GateContext } from './gate-context.ts'
import type { OpenPermit } from './open-permits.ts'
import { cancelSlots, type KeySlot } from './paced-key.ts'
import type { SharedLimit } from './shared-limit.ts'

/** What a request holds from its start to its end. */
export interface Grant extends StartedItem {
  /** A slot at each level. The slot of the queue is the last. */
  readonly slots: readonly KeySlot[]
  readonly sharedLimits: readonly SharedLimit[]
  /** Releases the limits. */
  readonly queue: { release(grant: Grant): void }
}

type Phase = 'granted' | 'connecting' | 'sent' | 'reported' | 'released'

export class GrantedPermit implements NestablePermit, OpenPermit {
  readonly verdict: AllowedVerdict
  readonly waitedMs: number
  readonly waitedFor: Permit['waitedFor']
  readonly waitedLevel: Permit['waitedLevel']
  readonly delay: Delay
  readonly enteredAt: string | undefined
  readonly redirectedFrom: readonly string[]
  readonly #context: GateContext
  readonly key: string
  readonly #grant: Grant
  /** The slot of the queue's pace key. */
  readonly #slot: KeySlot
  readonly #sending: Sending
  startedAt = 0
  #status: number | undefined
  #phase: Phase = 'granted'
  /** Whether a report has asked for fewer requests. */
  #isPushedBack = false
  #holdsLimits = true
  #hasEndedSlots = false

  constructor(
    context: GateContext,
    key: string,
    grant: Grant,
    verdict: AllowedVerdict,
    waitedMs: number,
    waitedFor: WaitCause | undefined,
    redirectedFrom: readonly string[],
    enteredAt: string | undefined,
  ) {
    this.enteredAt = enteredAt
    this.redirectedFrom = redirectedFrom
    this.#context = context
    this.key = key
    this.#grant = grant
    this.#slot = grant.slots.at(-1) as KeySlot
    this.verdict = verdict
    this.waitedMs = waitedMs
    this.waitedFor = waitedFor?.because ?? 'none'
    this.waitedLevel = waitedFor?.level
    this.delay = this.#slot.delay
    this.#sending = new Sending(context.gate, this)
  }

  get url(): string {
    return this.verdict.url
  }

  /**
   * Marks the start of the request. The gate calls it just before it hands the permit to the
   * caller, which is as late as the gate can observe the start. If the clock throws, the permit is
   * cancelled.
   */
  start(): void {
    const { gate, now, counters, localStarts, openPermits } = this.#context
    const { waitedMs, waitedFor, waitedLevel, delay } = this
    try {
      const at = now()
      this.startedAt = at
      counters.started++
      localStarts?.started(this.key, this.verdict.origin, at, delay.delayMs)
      if (waitedFor !== 'none') counters.waited(waitedFor, waitedMs)
      if (channels.start.hasSubscribers) {
        const { url, origin } = loggableVerdict(this.verdict)
        channels.start.publish({ gate, at, url, origin, key: this.key, waitedMs, waitedFor, waitedLevel, delay })
      }
      for (const slot of this.#grant.slots) slot.pacedKey.started(slot)
      openPermits.add(this)
    } catch (error) {
      this.cancel()
      throw error
    }
  }

  /** The request does not start: gives its slots back, and releases its concurrency limits. */
  cancel(): void {
    this.#phase = 'released'
    this.#context.budgets?.giveBack(this.key)
    cancelSlots(this.#grant.slots)
    this.#releaseLimits()
  }

  run<T>(send: () => T): T {
    if (this.#phase === 'granted') {
      this.#phase = 'connecting'
      if (this.#context.sight.isSendingSeen) this.#slot.pacedKey.expectSent(this.#slot, this.startedAt)
    }
    return this.#sending.run(send)
  }

  endNesting(): void {
    this.#sending.end()
  }

  sent(): void {
    if (this.#phase !== 'granted' && this.#phase !== 'connecting') return
    this.#phase = 'sent'
    const { now, sight } = this.#context
    sight.isSendingSeen = true
    const at = now()
    for (const slot of this.#grant.slots) slot.pacedKey.sent(slot, at)
  }

  get #isUnsent(): boolean {
    return this.#phase === 'granted' || this.#phase === 'connecting'
  }

  /**
   * The gate has not seen the request being sent. Its response has arrived, or it has ended, so it
   * was sent before, if at all.
   */
  #endUnseen(at: number): void {
    for (const slot of this.#grant.slots) if (slot.awaitsSent) slot.pacedKey.sent(slot, at)
  }

  report(report: RequestReport): void {
    this.#sending.end()
    this.applyResponse(report)
  }

  applyResponse(report: RequestReport, sending: Sending = this.#sending): void {
    if (this.#phase === 'released') return
    if (isRateLimited(report)) {
      const response = rateLimitedResponse(report) // throws for an invalid response, of which nothing must be reported
      const asked = this.#applyRateLimitHeaders(report)
      if (this.#phase === 'reported') this.#extendPause(response, asked)
      else this.#tell(response, report.status, asked)
    } else if (this.#phase === 'reported') return
    else if (isFailure(report)) this.#applyFailure()
    else {
      const response = paceResponseOf(report) // throws for an invalid response, of which nothing must be reported
      if (!sending.hasEntered) assertNotRedirected(report)
      const { status } = response
      if (status >= 300 && status <= 399)
        this.#context.redirects.note(this.url, status, locationOf(report), this.redirectedFrom)
      this.#tell(response, status, this.#applyRateLimitHeaders(report))
    }
  }

  /**
   * After an earlier report, requests of the key pause, without the growth of a series. If that
   * report was a pushback, only a time can make its pause longer.
   */
  #extendPause(response: PaceResponse, asked: AskedPause | undefined): void {
    const { pacer, pacing, now, counters } = this.#context
    const { requestedMs = 0 } = withBackoff(response, pacing.backoff, now())
    if (requestedMs > 0) pacer.pause(this.key, requestedMs, 'retry-after')
    else if (!this.#isPushedBack) pacer.pause(this.key, pacing.backoff.firstMs, 'backoff')
    else return
    if (!this.#isPushedBack) counters.pushbacks++
    this.#isPushedBack = true
    this.#log(response, asked)
  }

  #applyFailure(): void {
    if (this.#context.pacing.backoff.failures)
      this.#tell({ status: 0, retryAfter: undefined, isPushback: true }, undefined)
  }

  /** Returns the pause that the headers ask for, if the gate obeys them or can log them. */
  #applyRateLimitHeaders(report: Partial<ResponseLike>): AskedPause | undefined {
    const { pacer, pacing, now, log } = this.#context
    if (!pacing.rateLimitHeaders && !log.warns) return undefined
    const asked = rateLimitPauseOf(report, now())
    if (asked !== undefined && pacing.rateLimitHeaders) pacer.pause(this.key, asked.pauseMs, 'rate-limit')
    return asked
  }

  /** Tells the pacer of the response, and counts and logs a pushback. */
  #tell(response: PaceResponse, status: number | undefined, asked?: AskedPause): void {
    const { counters, pacer, pacing, sight, now, log } = this.#context
    const isUnsent = this.#isUnsent
    if (isUnsent && response.status !== 0) sight.isSendingSeen = false
    this.#phase = 'reported'
    this.#slot.pacedKey.stopExpecting(this.#slot)
    this.#status = status
    const at = now()
    if (isUnsent) this.#endUnseen(at)
    const told = withBackoff(response, pacing.backoff, at)
    pacer.report(this.key, this.#slot.ticket, told)
    if (told.isPushback) {
      this.#isPushedBack = true
      counters.pushbacks++
      this.#log(told, asked)
    } else if (asked !== undefined && !pacing.rateLimitHeaders) log.ignoredRateLimit(this.key, this.url, told, asked)
  }

  /** Logs a pushback, after the pacer knows all that the response asks for. */
  #log(response: PaceResponse, asked: AskedPause | undefined): void {
    const { log, pacer, pacing } = this.#context
    if (!log.warns) return
    const estimate = () => pacer.estimate(this.key, this.#slot.limits, 0)
    log.pushedBack(this.key, this.url, response, estimate, asked, pacing.rateLimitHeaders)
  }

  release(report?: RequestReport): void {
    if (this.#phase === 'released') return
    const { gate, now, counters, activity, openPermits } = this.#context
    try {
      if (report !== undefined) this.report(report) // throws for an invalid response; the permit is released all the same
    } finally {
      const isUnsent = this.#isUnsent
      this.#phase = 'released'
      this.#sending.end()
      counters.done++
      openPermits.delete(this)
      try {
        const at = now()
        const tookMs = at - this.startedAt
        if (isUnsent) this.#endUnseen(at)
        this.#endSlots(tookMs)
        if (channels.done.hasSubscribers) {
          const { url, origin } = loggableVerdict(this.verdict)
          channels.done.publish({ gate, at, url, origin, key: this.key, tookMs, status: this.#status })
        }
      } finally {
        this.#releaseLimits()
        activity.end()
      }
    }
  }

  releaseConcurrency(): void {
    if (!this.#holdsLimits) return
    const { now, pacing } = this.#context
    try {
      // The next request would otherwise wait until this one has ended.
      if (pacing.pauseFrom === 'end') this.#endSlots(now() - this.startedAt)
    } finally {
      this.#releaseLimits()
    }
  }

  /** Reports the end of the slots to the pacer, once. */
  #endSlots(tookMs: number): void {
    if (this.#hasEndedSlots) return
    this.#hasEndedSlots = true
    const { pacer } = this.#context
    for (const { pacedKey, ticket, limits } of this.#grant.slots) pacer.end(pacedKey.key, ticket, limits, tookMs)
  }

  #releaseLimits(): void {
    if (!this.#holdsLimits) return
    this.#holdsLimits = false
    this.#slot.pacedKey.stopExpecting(this.#slot)
    this.#grant.queue.release(this.#grant)
  }

  [Symbol.dispose](): void {
    this.release()
  }
}
