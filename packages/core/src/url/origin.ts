// The origin and the robots.txt URL of a URL. RFC 9309 §2.3: one robots.txt for each scheme, host and port.
import { COLON, DOT, HYPHEN, SLASH, ZERO } from '../ascii.ts'
import { describeValue, OptionError } from '../option-error.ts'
import { problemOf, type UrlProblem } from './url-problem.ts'

/** The schemes with a robots.txt that RFC 9309 §2.3 names. */
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ftp:'])

/** An object with an absolute URL as `href`: a `URL`, a `Location`, a link. */
export interface HasHref {
  readonly href: string
}

/** A URL as a client sends it, and the origin whose robots.txt applies to it. */
export interface ParsedUrl {
  /** Scheme, host as an IDNA A-label in lower case, and port unless it is the scheme's default: `https://example.com`. */
  readonly origin: string
  /** The URL of that origin's robots.txt. RFC 9309 §2.3. */
  readonly robotsUrl: string
  /** Path and query as a client sends them: with dot segments resolved and without fragment, not in normal form. */
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
  const parsed = URL.parse(text)
  if (parsed === null || !SCHEMES.has(parsed.protocol)) return problemOf(text, parsed)
  const { origin } = parsed
  return { origin, robotsUrl: `${origin}/robots.txt`, path: sentPath(parsed.href) }
}

/** Returns the end of an origin that a URL parser would not change. Returns -1 if the URL does not begin with one, or if in doubt. */
function endOfSimpleOrigin(url: string): number {
  const scheme = url.startsWith('https://') ? 'https' : url.startsWith('http://') ? 'http' : ''
  if (scheme === '') return -1
  const start = scheme.length + 3
  let lastLabel = start
  let i = start
  for (let c = 0; i < url.length; i++) {
    c = url.charCodeAt(i)
    if (c === SLASH || c === COLON) break
    if (c === DOT) lastLabel = i + 1
    // Two adjacent hyphens may belong to an A-label, which may be invalid.
    else if (c === HYPHEN ? url.charCodeAt(i - 1) === HYPHEN : !isLetter(c) && !isDigit(c)) return -1
  }
  // A host whose last label begins with a digit may be an IPv4 address, in one of its many spellings.
  if (!isLetter(url.charCodeAt(lastLabel))) return -1
  if (url.charCodeAt(i) === COLON) {
    const port = i + 1
    for (i = port; isDigit(url.charCodeAt(i)); i++);
    const number = Number(url.slice(port, i))
    if (url.charCodeAt(port) === ZERO || number === (scheme === 'http' ? 80 : 443) || number > 65_535 || i === port) {
      return -1
    }
  }
  return i === url.length || url.charCodeAt(i) === SLASH ? i : -1
}

function isDigit(c: number): boolean {
  return c >= ZERO && c <= 57
}

function isLetter(c: number): boolean {
  return c >= 97 && c <= 122
}

export function isParsedUrl(url: UrlInput): url is ParsedUrl {
  return typeof url === 'object' && url !== null && 'robotsUrl' in url
}

/** Returns the text of a URL. @throws {OptionError} if `url` is neither a string nor an object with `href`. */
export function urlText(url: string | HasHref): string {
  if (typeof url === 'string') return url
  const href: unknown = url?.href
  if (typeof href === 'string') return href
  const problem = url === undefined ? 'is missing' : `${describeValue(url)} is not a URL`
  throw new OptionError(
    'url',
    `${problem}; expected a string, a URL, or an object with \`href\`, such as "https://example.com/page"`,
  )
}

/** Returns path and query from a URL's `href`. `pathname` and `search` together would lose the `?` of an empty query. */
export function sentPath(href: string): string {
  const authority = href.indexOf('//') + 2
  const path = href.indexOf('/', authority)
  const fragment = href.indexOf('#', path)
  return href.slice(path, fragment === -1 ? href.length : fragment)
}

/**
 * Returns the origin of an absolute URL, as a URL parser writes it; undefined if the URL is invalid or its scheme has no robots.txt.
 *
 * @throws {OptionError} if `url` is neither a string nor an object with `href`.
 */
export function originOf(url: string | HasHref): string | undefined {
  const end = typeof url === 'string' ? endOfSimpleOrigin(url) : -1
  if (end !== -1) return (url as string).slice(0, end)
  const parsed = parseUrl(url)
  return typeof parsed === 'string' ? undefined : parsed.origin
}

/**
 * Returns whether a URL begins with this origin, as a URL parser writes it, and `/`. Such a URL belongs to the origin, whatever its path. A URL
 * in another spelling may belong to it too.
 */
export function startsWithOrigin(url: string, origin: string): boolean {
  const at = origin.length
  return url.length > at && url.charCodeAt(at) === SLASH && url.lastIndexOf(origin, 0) === 0
}
