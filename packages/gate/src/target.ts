// What a request asks for, and of which origin. What is judged is what is sent: the path is sent as it was judged, or the request fails.
import { describeValue } from '@politely/fetcher/option-checks'
import { InvalidRequestError } from './errors.ts'
import { isHttp } from './redirect.ts'

export interface Target {
  /** The URL that is judged. */
  readonly url: string
  /** Of the server that the request is sent to. */
  readonly origin: string
  /** The path that is sent: that of the URL, or the whole URL where the request goes to a proxy. */
  readonly path: string
}

/**
 * A path that is a whole URL is meant for a proxy, and is judged as that URL.
 * @param origin Scheme, host and port, as `originOf` returns them.
 * @throws {InvalidRequestError}
 */
export function targetOf(origin: string, path: unknown): Target {
  if (typeof path !== 'string') throw badPath(path)
  const isForProxy = /^https?:\/\//i.test(path)
  if (!isForProxy && !path.startsWith('/')) throw badPath(path)
  const url = URL.parse(isForProxy ? path : `${origin}${path}`)
  if (url === null) throw badPath(path)
  url.hash = ''
  return { url: url.href, origin, path: isForProxy ? url.href : url.href.slice(origin.length) }
}

/** @throws {InvalidRequestError} for anything but the origin of an http or https URL, as a string or as a URL. */
export function originOf(origin: unknown): string {
  const url = typeof origin === 'string' || origin instanceof URL ? URL.parse(String(origin)) : null
  if (url !== null && isHttp(url) && url.href === `${url.origin}/`) return url.origin
  const given = origin instanceof URL ? describeValue(String(origin)) : describeValue(origin)
  throw new InvalidRequestError(
    `origin ${given} is not the origin of a site; write scheme, host and port only, such as https://example.com`,
  )
}

/**
 * A server picks the site by the Host header, and robots.txt is that of the URL: both must name the same one. For adapters of your own.
 * @param hosts The values of all Host headers that a request has.
 * @param server The URL of the server that is connected to, if that is a proxy: some clients send it its own name, and it heeds the URL only.
 * @throws {InvalidRequestError}
 */
export function assertOwnHost(url: string, hosts: readonly unknown[], server: string = url): void {
  const [host] = hosts
  if (hosts.length === 0 || (hosts.length === 1 && (names(host, url) || names(host, server)))) return
  const given = hosts.map(describeValue).join(', ')
  const { host: own } = new URL(url)
  throw new InvalidRequestError(
    `the Host header is ${given}, and the URL names ${own}; leave the header out, and write the site's name in the URL. To connect to an address of your choice, use \`lookup\``,
  )
}

function names(host: unknown, url: string): boolean {
  if (typeof host !== 'string' || /[^\w.:[\]%-]/.test(host)) return false
  const own = new URL(url)
  return URL.parse(`${own.protocol}//${host}`)?.host === own.host
}

function badPath(path: unknown): InvalidRequestError {
  return new InvalidRequestError(
    `path ${describeValue(path)} is not a path; write one that begins with /, such as /page`,
  )
}
