// The next request after a redirect, by the rules of fetch (WHATWG Fetch, HTTP-redirect fetch), in the form that Crawlee's
// HTTP clients take.
import type { HttpRequest, ResponseTypes, StreamingHttpResponse } from '@crawlee/basic'

type SimpleHeaders = NonNullable<HttpRequest['headers']>

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** What describes a body goes with it. */
const BODY_HEADERS = ['content-encoding', 'content-language', 'content-location', 'content-type', 'content-length']
/** What was meant for one origin is not shown to another. */
const PRIVATE_HEADERS = ['authorization', 'proxy-authorization', 'cookie', 'host']

/** Where an answer leads, if it leads elsewhere. */
export function locationOf({
  statusCode,
  headers,
}: Pick<StreamingHttpResponse, 'statusCode' | 'headers'>): string | undefined {
  const location = REDIRECTS.has(statusCode) ? headers.location : undefined
  return Array.isArray(location) ? location[0] : location
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
  // A header's value is a string of octets; a Location's are UTF-8.
  const target = URL.parse(Buffer.from(location, 'latin1').toString(), url.href)
  if (target === null || (target.protocol !== 'http:' && target.protocol !== 'https:')) {
    throw new RedirectError(`${url.href} redirects to ${JSON.stringify(location)}, which is no http or https URL`)
  }
  if (target.hash === '') target.hash = url.hash
  const method = (request.method ?? 'GET').toUpperCase()
  const toGet =
    (statusCode === 303 && method !== 'GET' && method !== 'HEAD') || (statusCode <= 302 && method === 'POST')
  let { headers = {}, body } = request
  if (target.origin !== url.origin) headers = without(headers, PRIVATE_HEADERS)
  if (toGet) {
    headers = without(headers, BODY_HEADERS)
    body = undefined
  } else if (typeof body === 'object' && !Buffer.isBuffer(body)) {
    throw new RedirectError(`${url.href} redirects, and a body that was a stream or a form cannot be sent again`)
  }
  const { body: _, ...others } = request
  return { ...others, url: target, headers, ...(body !== undefined && { body }), ...(toGet && { method: 'GET' }) } as R
}

function without(headers: SimpleHeaders, names: readonly string[]): SimpleHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name.toLowerCase())))
}
