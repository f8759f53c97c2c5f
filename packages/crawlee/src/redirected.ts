// Builds the next request after a redirect, by the rules of WHATWG Fetch ("HTTP-redirect fetch"),
// in the format of Crawlee's HTTP clients.
import type { HttpRequest, ResponseTypes, StreamingHttpResponse } from '@crawlee/basic'
import { PolitelyError } from '@politely/core/internal'
import { withoutCredentials } from '@politely/fetcher'
import { isRedirect } from '@politely/gate'
import { redirectionOf } from '@politely/gate/internal'

type SimpleHeaders = NonNullable<HttpRequest['headers']>

/** Returns the `Location` of a redirect. Undefined for every other response. */
export function redirectLocationOf({
  statusCode,
  headers,
}: Pick<StreamingHttpResponse, 'statusCode' | 'headers'>): string | undefined {
  const location = (Array.isArray(headers.location) ? headers.location[0] : headers.location) ?? null
  return isRedirect(statusCode, location) ? location : undefined
}

/**
 * A redirect cannot be followed: its `Location` is not an http or https URL, the chain of redirects
 * is too long, or the request's body cannot be sent again. The request is not retried.
 *
 * Remedy: Correct the URL, raise `maxRedirects` of `sendRequest`, or send the body as a string or a
 * Buffer.
 */
export class RedirectError extends PolitelyError {
  override readonly name = 'RedirectError'
  readonly code = 'ERR_POLITELY_REDIRECT'
}

/**
 * Returns the request for the next hop.
 *
 * @throws {RedirectError} for a `Location` that is not an http or https URL, and for a body that
 * cannot be sent again.
 */
export function redirectedRequest<R extends HttpRequest<keyof ResponseTypes>>(
  request: R,
  url: URL,
  statusCode: number,
  location: string,
): R {
  const method = (request.method ?? 'GET').toUpperCase()
  const redirection = redirectionOf(url, method, statusCode, location)
  if (redirection === undefined) {
    throw new RedirectError(
      `${withoutCredentials(url.href)} redirects to ${JSON.stringify(withoutCredentials(location))}, which is not an http or https URL`,
    )
  }
  const { becomesGet, removedHeaders } = redirection
  const { body, ...others } = request
  if (!becomesGet && typeof body === 'object' && !Buffer.isBuffer(body)) {
    throw new RedirectError(
      `${withoutCredentials(url.href)} redirects, but the request's body is a stream or a form, which cannot be sent again; send a string or a Buffer`,
    )
  }
  const next = { ...others, url: redirection.url, headers: without(request.headers ?? {}, removedHeaders) }
  return (becomesGet ? { ...next, method: 'GET' } : { ...next, ...(body !== undefined && { body }) }) as R
}

function without(headers: SimpleHeaders, names: readonly string[]): SimpleHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name.toLowerCase())))
}
