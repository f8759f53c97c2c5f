// The next request after a redirect, by the rules of fetch (WHATWG Fetch, HTTP-redirect fetch).

/** What of a request changes from hop to hop. */
export interface Request {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  /** `spent`: it was a stream, and it is gone. */
  readonly body: { readonly value: unknown } | 'none' | 'spent'
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** What describes a body goes with it. */
const BODY_HEADERS = ['content-encoding', 'content-language', 'content-location', 'content-type', 'content-length']
/** What was meant for one origin is not shown to another. */
const PRIVATE_HEADERS = ['authorization', 'proxy-authorization', 'cookie', 'host']

/** Does this answer lead elsewhere? */
export function isRedirect(status: number, location: string | null): location is string {
  return REDIRECTS.has(status) && location !== null
}

export function isHttp({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:'
}

/** @throws {TypeError} where fetch itself would fail: a Location that is no http(s) URL. */
export function redirected(request: Request, status: number, location: string): Request {
  // A header's value is a string of octets; fetch reads those of a Location as UTF-8, and so did its sender.
  const target = URL.parse(Buffer.from(location, 'latin1').toString(), request.url)
  if (target === null || !isHttp(target)) {
    throw new TypeError(
      `fetch failed: ${request.url} redirects to ${JSON.stringify(location)}, which is no http or https URL`,
    )
  }
  if (target.hash === '') target.hash = new URL(request.url).hash
  const headers = new Headers(request.headers)
  let { method, body } = request
  const toGet = (status === 303 && method !== 'GET' && method !== 'HEAD') || (status <= 302 && method === 'POST')
  if (toGet) {
    method = 'GET'
    body = 'none'
    for (const name of BODY_HEADERS) headers.delete(name)
  }
  if (target.origin !== new URL(request.url).origin) for (const name of PRIVATE_HEADERS) headers.delete(name)
  return { url: target.href, method, headers, body }
}
