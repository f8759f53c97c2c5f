// Computes the next request after a redirect (WHATWG Fetch, HTTP-redirect fetch).
import { withoutCredentials } from '@politely/fetcher'

/** The parts of a request that may change from hop to hop. */
export interface Request {
  readonly url: string
  readonly method: string
  readonly headers: Headers
  /** `spent`: it was a stream, which can be read only once. */
  readonly body: { readonly value: unknown } | 'none' | 'spent'
}

/** How many redirects fetch follows (WHATWG Fetch, HTTP-redirect fetch). */
export const MAX_REDIRECTS = 20
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** Headers that describe the body. They are removed with it. */
const BODY_HEADERS = ['content-encoding', 'content-language', 'content-location', 'content-type', 'content-length']
/** Headers that are meant for one origin. They are removed when a redirect leads to another. */
const PRIVATE_HEADERS = 'authorization proxy-authorization cookie host signature signature-input signature-agent'.split(
  ' ',
)

/** Returns whether a response is a redirect that `fetch` follows. */
export function isRedirect(status: number, location: string | null): location is string {
  return REDIRECT_STATUSES.has(status) && location !== null
}

export function isHttp({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:'
}

/**
 * Returns whether undici's redirect interceptor comes before another one, by the context of
 * `onRequestStart`: the redirect handler adds the list of URLs that it has followed.
 */
export function hasRedirectInside(context: unknown): boolean {
  return typeof context === 'object' && context !== null && 'history' in context
}

/** The changes that a redirect makes to a request. */
interface Redirection {
  readonly url: URL
  /** Whether the next request is a GET without a body. */
  readonly becomesGet: boolean
  /**
   * Names in lower case of the headers to remove: headers of a dropped body, and headers meant for
   * another origin.
   */
  readonly removedHeaders: readonly string[]
}

/**
 * Returns the changes that a redirect makes; undefined if the Location is not an http or https URL.
 */
export function redirectionOf(from: URL, method: string, status: number, location: string): Redirection | undefined {
  // Node decodes header values as Latin-1. Fetch decodes a Location as UTF-8.
  const url = URL.parse(Buffer.from(location, 'latin1').toString(), from.href)
  if (url === null || !isHttp(url)) return undefined
  if (url.hash === '') url.hash = from.hash
  const becomesGet = (status === 303 && method !== 'GET' && method !== 'HEAD') || (status <= 302 && method === 'POST')
  const ofBody = becomesGet ? BODY_HEADERS : []
  const ofOrigin = url.origin === from.origin ? [] : PRIVATE_HEADERS
  return { url, becomesGet, removedHeaders: [...ofBody, ...ofOrigin] }
}

/**
 * Returns the next request.
 * @throws {TypeError} for a Location that is not an http or https URL, as fetch does.
 */
export function redirected(request: Request, status: number, location: string): Request {
  const redirection = redirectionOf(new URL(request.url), request.method, status, location)
  if (redirection === undefined) {
    throw new TypeError(
      `fetch failed: ${withoutCredentials(request.url)} redirects to ${JSON.stringify(withoutCredentials(location))}, which is not an http or https URL`,
    )
  }
  const { url, becomesGet, removedHeaders } = redirection
  const headers = new Headers(request.headers)
  for (const name of removedHeaders) headers.delete(name)
  const { method, body } = request
  return { url: url.href, headers, ...(becomesGet ? { method: 'GET', body: 'none' } : { method, body }) }
}
