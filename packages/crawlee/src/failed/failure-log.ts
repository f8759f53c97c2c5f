// Replaces what Crawlee logs about failed requests, where its stacks say nothing about the site.
import { describeOutcome, originOf, outcomeOf } from '@politely/core'
import { withoutCredentials } from '@politely/fetcher'
import { boundedMap } from '@politely/fetcher/internal'
import { BudgetError, RobotsDisallowedError } from '@politely/gate'
import type { CrawleeInternals } from '../crawlee-internals.ts'
import { currentTask } from '../pool-task.ts'

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
