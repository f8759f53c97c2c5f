// What becomes of a request that the gate refuses in the pool, and of the requests of a site that
// stays down. None of them is an error of the crawler.
//
//   the gate's error                           the request
//   disallowed by robots.txt, at a redirect    is skipped
//   the site rests, or the wait is too long    is deferred until the site may get a request
//   the site rests, nothing else is left       is skipped after `giveUpAfterMs`
import { type Request, RequestState } from '@crawlee/basic'
import { describeOutcome, originOf, outcomeOf } from '@politely/core'
import { withoutCredentials } from '@politely/fetcher'
import { boundedMap } from '@politely/fetcher/internal'
import { BudgetError, CircuitOpenError, type PoliteGate, RobotsDisallowedError, WaitTooLongError } from '@politely/gate'
import { gatePort } from '@politely/gate/internal'
import type { CrawleeInternals, RequestSource } from '../crawlee-internals.ts'
import type { DeferredRequests } from '../deferred-requests.ts'
import { currentTask, type PoolTask } from '../pool-task.ts'
import { reasons } from '../skipped.ts'

export class RefusedRequests {
  readonly #internals: CrawleeInternals
  readonly #gate: PoliteGate
  readonly #deferred: DeferredRequests
  readonly #giveUpAfterMs: number
  /** Since when only requests of sites that rest are left. `performance.now()`. */
  #onlyRestingSince: number | undefined

  constructor(internals: CrawleeInternals, gate: PoliteGate, deferred: DeferredRequests, giveUpAfterMs: number) {
    this.#internals = internals
    this.#gate = gate
    this.#deferred = deferred
    this.#giveUpAfterMs = giveUpAfterMs
  }

  /**
   * Skips or defers the request of a task that has failed, if the gate has refused it. Returns false
   * for every other failure.
   */
  async take(task: PoolTask, request: Request, source: RequestSource, error: Error): Promise<boolean> {
    const { refusal } = task
    if (refusal instanceof RobotsDisallowedError) {
      const skipped = { url: request.url, reason: 'robotsTxt' }
      reasons.set(skipped, { verdict: refusal.verdict })
      await this.#skip(request, source, skipped)
      return true
    }
    const origin = originOf(request.url)
    if (error instanceof CircuitOpenError) {
      // Without a refusal, it is the error of a handler's own request. Was that to the site of its page?
      const isOfPage = refusal !== undefined || error.verdict.origin === origin
      return isOfPage && this.#deferred.deferAgain(task, error.verdict.origin)
    }
    // After a redirect the site got a request. Without an end, it would get one again and again.
    const isOwn = refusal instanceof WaitTooLongError && refusal.verdict.url === URL.parse(request.url)?.href
    return isOwn && refusal.waitMs > 0 && this.#deferred.deferAgain(task, origin, refusal.waitMs)
  }

  /** To be called while nothing runs. Skips the requests of sites that rest, if nothing else has been left for long. */
  async giveUp(): Promise<void> {
    if (!this.#deferred.hasOnlyResting) {
      this.#onlyRestingSince = undefined
      return
    }
    this.#onlyRestingSince ??= performance.now()
    if (performance.now() - this.#onlyRestingSince < this.#giveUpAfterMs) return
    for await (const { request, source, queue } of this.#deferred.takeAll()) {
      const report = gatePort(this.#gate).circuitOf(queue.origin)
      const verdict = await this.#gate.robots.check(request.url)
      const refusal = new CircuitOpenError(verdict, report, report.retryAt)
      const skipped = { url: request.url, reason: 'filters' }
      reasons.set(skipped, { refusal })
      await this.#skip(request, source, skipped)
    }
  }

  async #skip(request: Request, source: RequestSource, skipped: { url: string; reason: string }): Promise<void> {
    request.state = RequestState.SKIPPED
    request.noRetry = true
    await source.markRequestHandled(request)
    await this.#internals.handleSkippedRequest(skipped)
  }
}

// Replaces what Crawlee logs about failed requests, where its stacks say nothing about the site.

/** What Crawlee writes about each failed request, before the stack of the error. */
const OF_CRAWLEE = /^(Request failed and reached maximum retries\.|Reclaiming failed request back to)/

/** How many origins are remembered, at most. */
const MAX_LOGGED_ORIGINS = 10_000

/**
 * Replaces two of Crawlee's messages. A request that failed for good at its first attempt is logged
 * without "reached maximum retries", and a refusal is not an error of the crawler. A site without a
 * response is logged once, however many requests fail.
 *
 * @param isFinal Returns whether an error is not retried.
 */
export function replaceFailureLog(internals: CrawleeInternals, isFinal: (error: Error) => boolean): void {
  const { log } = internals
  const loggedOrigins = boundedMap<true>(MAX_LOGGED_ORIGINS)
  const replaced = (level: 'error' | 'warning') => (message: string, data?: object) => {
    const task = currentTask()
    const error = task?.error
    if (error === undefined || !OF_CRAWLEE.test(message)) return log[level](message, data)
    if (isFinal(error)) {
      const isRefusal = error instanceof RobotsDisallowedError || error instanceof BudgetError
      return log[isRefusal ? 'warning' : 'error'](`Request failed, and is not retried: ${error.message}`, data)
    }
    const outcome = outcomeOf(error)
    const origin = originOf(task?.request?.url ?? '')
    if (outcome?.kind !== 'connection' || origin === undefined) return log[level](message, data)
    if (loggedOrigins.has(origin)) return
    loggedOrigins.set(origin, true)
    const url = withoutCredentials(task?.request?.url ?? '')
    log.warning(
      `Request to ${url} failed: ${describeOutcome(outcome)}. Further failures of ${origin} without a response are not logged; errorHandler and failedRequestHandler get them all`,
    )
  }
  internals.log = Object.create(log, {
    error: { value: replaced('error') },
    warning: { value: replaced('warning') },
  }) as typeof log
}
