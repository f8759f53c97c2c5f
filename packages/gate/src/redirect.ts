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

/** What a redirect changes, whatever form a request has. */
export interface Redirection {
  readonly url: URL
  /** It becomes a GET without a body. */
  readonly becomesGet: boolean
  /** In lower case: what describes a body that is left out, and what was meant for another origin. */
  readonly removedHeaders: readonly string[]
}

/** @returns Undefined for a Location that is no http(s) URL. */
export function redirectionOf(from: URL, method: string, status: number, location: string): Redirection | undefined {
  // A header's value is a string of bytes; fetch reads those of a Location as UTF-8, and so did its sender.
  const url = URL.parse(Buffer.from(location, 'latin1').toString(), from.href)
  if (url === null || !isHttp(url)) return undefined
  if (url.hash === '') url.hash = from.hash
  const becomesGet = (status === 303 && method !== 'GET' && method !== 'HEAD') || (status <= 302 && method === 'POST')
  const ofBody = becomesGet ? BODY_HEADERS : []
  const ofOrigin = url.origin === from.origin ? [] : PRIVATE_HEADERS
  return { url, becomesGet, removedHeaders: [...ofBody, ...ofOrigin] }
}

/** @throws {TypeError} where fetch itself would fail: a Location that is no http(s) URL. */
export function redirected(request: Request, status: number, location: string): Request {
  const redirection = redirectionOf(new URL(request.url), request.method, status, location)
  if (redirection === undefined) {
    throw new TypeError(
      `fetch failed: ${request.url} redirects to ${JSON.stringify(location)}, which is no http or https URL`,
    )
  }
  const { url, becomesGet, removedHeaders: headersLeftOut } = redirection
  const headers = new Headers(request.headers)
  for (const name of headersLeftOut) headers.delete(name)
  const { method, body } = request
  return { url: url.href, headers, ...(becomesGet ? { method: 'GET', body: 'none' } : { method, body }) }
}
