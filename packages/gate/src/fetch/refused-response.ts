// Turns a refusal into a Response, for callers that handle statuses rather than errors.
import { OptionError } from '@politely/core'
import { markClass, REFUSED_RESPONSE } from '@politely/core/internal'
import { describeValue, makeResponse } from '@politely/fetcher/internal'
import {
  BudgetError,
  CircuitOpenError,
  QueueFullError,
  RobotsDisallowedError,
  WaitTooLongError,
} from '../report/errors.ts'

/** An error of the gate that `onDisallowed: 'response'` turns into a response. */
export type Refusal = RobotsDisallowedError | WaitTooLongError | QueueFullError | BudgetError | CircuitOpenError

export function isRefusal(error: unknown): error is Refusal {
  return [RobotsDisallowedError, WaitTooLongError, QueueFullError, BudgetError, CircuitOpenError].some(
    (kind) => error instanceof kind,
  )
}

const refusals = new WeakMap<object, Refusal>()

/**
 * Returns a response with status 403 if robots.txt disallows the request. The status is 503 if
 * robots.txt is unreachable now, if the request cannot wait, if its budget is used up, or if the
 * circuit of its origin is open. If it is
 * known when a retry can succeed, the response has a Retry-After header, so that a client that
 * retries after a 503 does so at the right time. The body is the error's message. The class is the
 * global `Response`, whichever fetch is wrapped.
 */
export function refusedResponse(error: Refusal): Response {
  const { verdict, message, retryAt } = error
  const headers: Record<string, string> = { 'content-type': 'text/plain; charset=utf-8' }
  if (error instanceof WaitTooLongError && error.waitMs > 0)
    headers['retry-after'] = String(Math.ceil(error.waitMs / 1_000))
  // The date is by the clock of the RobotsClient, which may not be the one of this process. So the
  // header has a date, not seconds.
  else if (retryAt !== undefined) headers['retry-after'] = new Date(retryAt).toUTCString()
  const byRobots = error instanceof RobotsDisallowedError
  const status = byRobots && retryAt === undefined ? 403 : 503
  const statusText = byRobots ? 'Refused by robots.txt' : 'Refused by the gate'
  return remember(makeResponse(`${message}\n`, { status, statusText, headers, url: verdict.url }), error)
}

/** Also for clones of the response, which libraries make. */
function remember(response: Response, error: Refusal): Response {
  refusals.set(response, error)
  markClass(REFUSED_RESPONSE, { prototype: response }) // for outcomeOf, which is in core
  const { clone } = response
  const value = () => remember(clone.call(response), error)
  return Object.defineProperty(response, 'clone', { value, configurable: true, writable: true })
}

/**
 * Returns the refusal that `politely` turned into this response (`onDisallowed: 'response'`).
 * Returns undefined for a response that a site sent; a site cannot forge a refusal. Clones of the
 * response are recognised. A `new Response(body, response)` is not: it has only what a site could
 * have sent.
 * @throws {OptionError} for a value that is not an object, and for a promise.
 */
export function refusalOf(response: object): Refusal | undefined {
  if (typeof response !== 'object' || response === null || 'then' in response)
    throw new OptionError('response', `${describeValue(response)} is not a response; write refusalOf(await fetch(url))`)
  return refusals.get(response)
}
