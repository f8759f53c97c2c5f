// A refusal as a Response, for callers that look at statuses.
import type { RobotsDisallowedError } from './errors.ts'

const refusals = new WeakMap<object, RobotsDisallowedError>()

/**
 * 403, or 503 where robots.txt is unreachable now, with Retry-After: what retries on 503 comes back when that makes sense. The body is the
 * error's sentence. It is a Response of the platform, also where the fetch is another's.
 */
export function refusedResponse(error: RobotsDisallowedError): Response {
  const { verdict, message, retryAt } = error
  const headers: Record<string, string> = { 'content-type': 'text/plain; charset=utf-8' }
  // Its clock is that of the RobotsClient, so that a date is what others can read it by.
  if (retryAt !== undefined) headers['retry-after'] = new Date(retryAt).toUTCString()
  const status = retryAt === undefined ? 403 : 503
  const response = new Response(`${message}\n`, { status, statusText: 'Refused by robots.txt', headers })
  Object.defineProperty(response, 'url', { value: verdict.url })
  refusals.set(response, error)
  return response
}

/**
 * Why, where this Response is one that `politely` made with `onDisallowed: 'response'`; undefined for one that a site sent. No site can
 * send what this takes for a refusal. A clone of one is not known by it.
 */
export function refusalOf(response: object): RobotsDisallowedError | undefined {
  return refusals.get(response)
}
