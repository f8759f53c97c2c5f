// Turns a refusal into a Response, for callers that handle statuses rather than errors.
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/fetcher/internal'
import type { RobotsDisallowedError } from '../report/errors.ts'

const refusals = new WeakMap<object, RobotsDisallowedError>()

/**
 * Returns a response with status 403. If robots.txt is unreachable now, the status is 503, with a
 * Retry-After header, so that a client that retries after a 503 does so at the right time. The body
 * is the error's message. The class is the global `Response`, whichever fetch is wrapped.
 */
export function refusedResponse(error: RobotsDisallowedError): Response {
  const { verdict, message, retryAt } = error
  const headers: Record<string, string> = { 'content-type': 'text/plain; charset=utf-8' }
  // The date is by the clock of the RobotsClient, which may not be the one of this process. So the
  // header has a date, not seconds.
  if (retryAt !== undefined) headers['retry-after'] = new Date(retryAt).toUTCString()
  const status = retryAt === undefined ? 403 : 503
  const response = new Response(`${message}\n`, { status, statusText: 'Refused by robots.txt', headers })
  Object.defineProperty(response, 'url', { value: verdict.url })
  refusals.set(response, error)
  return response
}

/**
 * Returns the refusal that `politely` turned into this response (`onDisallowed: 'response'`).
 * Returns undefined for a response that a site sent; a site cannot forge a refusal. Also returns
 * undefined for a clone of the response.
 * @throws {OptionError} for a value that is not an object, and for a promise.
 */
export function refusalOf(response: object): RobotsDisallowedError | undefined {
  if (typeof response !== 'object' || response === null || 'then' in response)
    throw new OptionError('response', `${describeValue(response)} is not a response; write refusalOf(await fetch(url))`)
  return refusals.get(response)
}
