// Puts together the URL of a request from its parts: an origin, a path and a Host header.
//
// The gate checks this URL against robots.txt. The request must go to exactly this URL, or fail.
import { stringify } from 'node:querystring'
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/fetcher/internal'
import { isHttp } from '../redirects/redirect.ts'
import { InvalidRequestError } from '../report/errors.ts'

export interface Target {
  /** The URL to check. */
  readonly url: string
  /** The origin of the server that the request is sent to: the site, or a proxy. */
  readonly origin: string
  /** The path to send: the path of the URL, or the whole URL if the request goes to a proxy. */
  readonly path: string
}

/**
 * Combines an origin and a path. A path that is a whole URL is meant for a proxy; then that URL is
 * the one to check.
 * @param givenOrigin Scheme, host and port, as a string or a URL.
 * @throws {InvalidRequestError} for anything else, also for an origin with a path.
 */
export function targetOf(givenOrigin: unknown, path: unknown): Target {
  if (typeof givenOrigin === 'string' && typeof path === 'string' && path.startsWith('/')) {
    // Most origins are in normal form. Parsing the whole URL shows it.
    const url = URL.parse(givenOrigin + path)
    if (url !== null && url.origin === givenOrigin && isHttp(url)) return targetWith(url, givenOrigin, false)
  }
  const origin = originOf(givenOrigin)
  if (typeof path !== 'string') throw badPath(path)
  const isForProxy = /^https?:\/\//i.test(path)
  if (!isForProxy && !path.startsWith('/')) throw badPath(path)
  const url = URL.parse(isForProxy ? path : `${origin}${path}`)
  if (url === null) throw badPath(path)
  return targetWith(url, origin, isForProxy)
}

/**
 * Returns the target of a request that is dispatched by undici.
 * @param ownOrigin The origin of the Client or Pool, if it sends all requests there.
 * @throws {InvalidRequestError} as `targetOf`, and for a request to another origin than
 * `ownOrigin`.
 */
export function dispatchedTarget(
  { origin: givenOrigin, path, query }: { readonly origin?: unknown; readonly path: unknown; readonly query?: unknown },
  ownOrigin: string | undefined,
): Target {
  const target = targetOf(givenOrigin, withQuery(path, query))
  if (ownOrigin !== undefined && ownOrigin !== target.origin)
    throw new InvalidRequestError(
      `origin ${target.origin} is not the origin of the Client or Pool, which would send the request to ${ownOrigin}; write a request to ${ownOrigin}, or compose an Agent: new Agent().compose(…)`,
    )
  return target
}

/** Combines path and query as undici does. */
function withQuery(path: unknown, query: unknown): unknown {
  if (!query || typeof path !== 'string') return path
  if (/[?#]/.test(path))
    throw new InvalidRequestError(
      `path ${describeValue(path)} has a query or a fragment beside the option \`query\`; write the query in one of them`,
    )
  const text = stringify(query as NodeJS.Dict<string>)
  return text === '' ? path : `${path}?${text}`
}

function targetWith(url: URL, origin: string, isForProxy: boolean): Target {
  if (url.href.includes('#')) url.hash = ''
  const { href } = url
  return { url: href, origin, path: isForProxy ? href : href.slice(origin.length) }
}

/**
 * Returns the normalised origin of an http or https URL, given as a string or a URL.
 * @throws {InvalidRequestError} for anything else, also for a URL with a path.
 */
function originOf(origin: unknown): string {
  const url = typeof origin === 'string' || origin instanceof URL ? URL.parse(String(origin)) : null
  if (url !== null && isHttp(url) && url.href === `${url.origin}/`) return url.origin
  const given = describeValue(origin instanceof URL ? String(origin) : origin)
  throw new InvalidRequestError(
    `origin ${given} is invalid; expected scheme, host and port only, such as https://example.com`,
  )
}

/**
 * Throws unless the Host header names the host of the URL. A server chooses the site by the Host
 * header, while the gate checks the robots.txt of the URL, so both must name the same site. For
 * your own adapters.
 * @param hostHeaders The values of all Host headers of the request.
 * @param server The URL of the proxy, if the request goes to one. Some clients send the proxy's
 * name in the Host header; the proxy ignores it and uses the URL.
 * @throws {InvalidRequestError} for another host or port, and for several Host headers.
 * @throws {OptionError} if `url` is not a string with a valid URL, or `hostHeaders` is not an
 * array.
 */
export function assertOwnHost(url: string, hostHeaders: readonly unknown[], server: string = url): void {
  if (!Array.isArray(hostHeaders) || typeof url !== 'string' || !URL.canParse(url))
    throw new OptionError(
      Array.isArray(hostHeaders) ? 'url' : 'hostHeaders',
      'is missing or invalid; write assertOwnHost("https://example.com/page", [host]), with the values of all Host headers',
    )
  const [host] = hostHeaders
  if (hostHeaders.length === 0 || (hostHeaders.length === 1 && (isHostOf(url, host) || isHostOf(server, host)))) return
  const given = hostHeaders.map(describeValue).join(', ')
  const { host: expected } = new URL(url)
  throw new InvalidRequestError(
    `the Host header is ${given}; expected ${expected}, the host of the URL. Leave the header out, and write the site's name in the URL. To connect to an address of your choice, use the option \`lookup\``,
  )
}

/**
 * @throws {InvalidRequestError} for a pseudo-header of HTTP/2: `:authority` and `:path` could name
 * another site or page than the URL.
 */
export function assertNoPseudoHeader(name: string): void {
  if (!name.startsWith(':')) return
  throw new InvalidRequestError(
    `the pseudo-header ${name} of HTTP/2 is not supported; leave it out, and put its value in the URL`,
  )
}

function isHostOf(url: string, host: unknown): boolean {
  if (typeof host !== 'string' || host === '' || /[^\w.:[\]%-]/.test(host)) return false
  if (url.startsWith(`http://${host}/`) || url.startsWith(`https://${host}/`)) return true // most hosts are in normal form
  const { protocol, host: expected } = new URL(url)
  return URL.parse(`${protocol}//${host}`)?.host === expected
}

function badPath(path: unknown): InvalidRequestError {
  return new InvalidRequestError(
    `path ${describeValue(path)} is invalid; expected a path that begins with /, such as /page`,
  )
}
