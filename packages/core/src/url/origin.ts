// The origin and the robots.txt URL of a URL. RFC 9309 §2.3: one robots.txt for each scheme, host
// and port.
import { SLASH } from '../ascii.ts'
import { copyOfAscii } from '../bytes.ts'
import { describeOther, describeValue } from '../describe-value.ts'
import { OptionError } from '../errors.ts'
import { urlOrNull } from './url-or-null.ts'
import { problemOf, type UrlProblem } from './url-problem.ts'

/** The schemes with a robots.txt that RFC 9309 §2.3 names. */
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ftp:'])

/** An object with an absolute URL as `href`: a `URL`, a `Location`, a link. */
export interface HasHref {
  readonly href: string
}

/** A URL as a client sends it, and the origin whose robots.txt applies to it. */
export interface ParsedUrl {
  /**
   * Scheme, host as an IDNA A-label in lower case, and port unless it is the scheme's default:
   * `https://example.com`.
   */
  readonly origin: string
  /** The URL of that origin's robots.txt. RFC 9309 §2.3. */
  readonly robotsUrl: string
  /**
   * Path and query as a client sends them: with dot segments resolved and without fragment, not in
   * normal form.
   */
  readonly path: string
}

/** A URL to check, as a string or an object. A `ParsedUrl` is not parsed again. */
export type UrlInput = string | HasHref | ParsedUrl

/**
 * Parses an absolute URL as a client does (WHATWG URL). Drops userinfo and fragment.
 *
 * @throws {OptionError} if `url` is neither a string nor such an object.
 */
export function parseUrl(url: UrlInput): ParsedUrl | UrlProblem {
  if (isParsedUrl(url)) return url
  const text = urlText(url)
  const parsed = urlOrNull(text)
  if (parsed === null || !SCHEMES.has(parsed.protocol)) return problemOf(text, parsed)
  const { origin } = parsed
  return limited({ origin, robotsUrl: `${origin}/robots.txt`, path: sentPath(parsed.href) })
}

/**
 * The longest path that is checked, in characters. A site may choose path and rules so that a check
 * takes a microsecond for each byte of the path. No usual server accepts a tenth of this length.
 */
export const MAX_PATH_LENGTH: number = 2 ** 16

/**
 * The path of a URL with at most this many characters is never too long. Percent-encoding writes at
 * most nine characters for one: `%E2%82%AC` for `€`.
 */
export const MAX_SHORT_URL_LENGTH: number = Math.floor(MAX_PATH_LENGTH / 9)

/** Returns the URL, or `too-long` if its path is. */
export function limited<Sent extends { readonly path: string }>(url: Sent): Sent | 'too-long' {
  return url.path.length > MAX_PATH_LENGTH ? 'too-long' : url
}

/**
 * An origin that a URL parser would not change. Two adjacent hyphens may belong to an A-label,
 * which may be invalid. A host whose last label begins with a digit may be an IPv4 address, in one
 * of its many spellings. A port may be the default one, which a URL parser drops.
 */
const SIMPLE_ORIGIN = /^https?:\/\/(?![a-z\d.-]*--)(?:[a-z\d.-]*\.)?[a-z][a-z\d-]*(?=\/|$)/

export function isParsedUrl(url: UrlInput): url is ParsedUrl {
  return typeof url === 'object' && url !== null && 'robotsUrl' in url
}

/**
 * Returns the text of a URL. @throws {OptionError} if `url` is neither a string nor an object with
 * `href`.
 */
export function urlText(url: UrlInput): string {
  if (typeof url === 'string') return url
  if (isParsedUrl(url)) return url.origin + url.path
  const { href, url: requestUrl } = (url ?? {}) as { readonly href?: unknown; readonly url?: unknown }
  if (typeof href === 'string') return href
  if (typeof requestUrl === 'string') {
    const name = 'status' in (url as object) ? 'Response' : 'Request'
    throw new OptionError('url', `a ${name} has no href; write ${name.toLowerCase()}.url`)
  }
  const problem = url === undefined ? 'is missing' : `${describeOther(url)} is not a URL`
  throw new OptionError('url', `${problem}; expected a string or a URL object, such as "https://example.com/page"`)
}

/**
 * Returns path and query from a URL's `href`. `pathname` and `search` together would lose the `?`
 * of an empty query.
 */
export function sentPath(href: string): string {
  const authority = href.indexOf('//') + 2
  const path = href.indexOf('/', authority)
  const fragment = href.indexOf('#', path)
  return href.slice(path, fragment === -1 ? href.length : fragment)
}

/**
 * Returns the origin of an absolute URL, as a URL parser writes it; undefined if the URL is invalid
 * or its scheme has no robots.txt.
 *
 * @throws {OptionError} if `url` is neither a string nor an object with `href`.
 */
export function originOf(url: string | HasHref): string | undefined {
  const simple = typeof url === 'string' ? SIMPLE_ORIGIN.exec(url) : null
  if (simple !== null) return simple[0]
  const parsed = parseUrl(url)
  return typeof parsed === 'string' ? undefined : parsed.origin
}

/** Returns the host of an origin. */
export function hostOf(origin: string): string {
  return origin.replace(/^\w+:\/\/|:\d+$/g, '')
}

/**
 * Returns whether a URL begins with this origin, as a URL parser writes it, and `/`. Such a URL
 * belongs to the origin, whatever its path. A URL in another spelling may belong to it too.
 */
export function startsWithOrigin(url: string, origin: string): boolean {
  const at = origin.length
  return url.length > at && url.charCodeAt(at) === SLASH && url.lastIndexOf(origin, 0) === 0
}

// Validates the `origin` option.

/** @throws {OptionError} if `url` is not an http, https or ftp URL. */
export function ownOrigin(url: string | HasHref): string {
  const text = typeof url === 'string' ? url : url?.href
  const origin = typeof text === 'string' ? originOf(text) : undefined
  if (origin === undefined) {
    throw new OptionError('origin', `${describeValue(url)} is not an origin; write one such as https://example.com`)
  }
  // V8 may keep the whole URL in memory, because the origin is a slice of it.
  return text.length - origin.length > MAX_CHARACTERS_AFTER_ORIGIN ? copyOfAscii(origin) : origin
}

/**
 * The origin is copied if the URL has more characters than this after it. For fewer, as in
 * `/robots.txt`, a copy costs more than it saves.
 */
const MAX_CHARACTERS_AFTER_ORIGIN = 64
