// The next request after a redirect, by the rules of fetch (WHATWG Fetch, HTTP-redirect fetch), in the form that Crawlee's
// HTTP clients take.
import type { HttpRequest, ResponseTypes, StreamingHttpResponse } from '@crawlee/basic'
import { isRedirect, redirectionOf } from '@politely/gate'

type SimpleHeaders = NonNullable<HttpRequest['headers']>

/** Where an answer leads, if it leads elsewhere. */
export function locationOf({
  statusCode,
  headers,
}: Pick<StreamingHttpResponse, 'statusCode' | 'headers'>): string | undefined {
  const location = (Array.isArray(headers.location) ? headers.location[0] : headers.location) ?? null
  return isRedirect(statusCode, location) ? location : undefined
}

/** A redirect that cannot be followed, and could not the next time. */
export class RedirectError extends Error {
  override readonly name = 'RedirectError'
  readonly code = 'ERR_POLITELY_REDIRECT'
}

/**
 * @throws {RedirectError} for a Location that is no http or https URL, and for a body that cannot be sent again.
 */
export function redirected<R extends HttpRequest<keyof ResponseTypes>>(
  request: R,
  url: URL,
  statusCode: number,
  location: string,
): R {
  const method = (request.method ?? 'GET').toUpperCase()
  const redirection = redirectionOf(url, method, statusCode, location)
  if (redirection === undefined) {
    throw new RedirectError(`${url.href} redirects to ${JSON.stringify(location)}, which is no http or https URL`)
  }
  const { becomesGet, removedHeaders: headersLeftOut } = redirection
  const { body, ...others } = request
  if (!becomesGet && typeof body === 'object' && !Buffer.isBuffer(body)) {
    throw new RedirectError(`${url.href} redirects, and a body that was a stream or a form cannot be sent again`)
  }
  const next = { ...others, url: redirection.url, headers: without(request.headers ?? {}, headersLeftOut) }
  return (becomesGet ? { ...next, method: 'GET' } : { ...next, ...(body !== undefined && { body }) }) as R
}

function without(headers: SimpleHeaders, names: readonly string[]): SimpleHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name.toLowerCase())))
}
