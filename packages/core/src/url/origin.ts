// The origin and the robots.txt URL of a URL. RFC 9309 §2.3: one robots.txt for each scheme, host and port.
import { COLON, DOT, HYPHEN, SLASH, ZERO } from '../ascii.ts'

/** The schemes with a robots.txt that RFC 9309 §2.3 names. */
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ftp:'])

/** An object with an absolute URL as `href`: a `URL`, a `Location`, a link. */
export interface HasHref {
  readonly href: string
}

/**
 * Why no robots.txt applies to a URL:
 * `empty`: the string is empty or blank;
 * `relative`: it is a path or `//host/path`, which needs a base that only the caller knows;
 * `malformed`: it is invalid by the WHATWG URL standard;
 * `scheme`: its scheme has no robots.txt, such as `mailto:`.
 */
export type UrlProblem = 'empty' | 'relative' | 'malformed' | 'scheme'

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

/** Parses an absolute URL as a client does (WHATWG URL). Drops userinfo and fragment. */
export function parseUrl(url: UrlInput): ParsedUrl | UrlProblem {
  if (isParsedUrl(url)) return url
  const text = typeof url === 'string' ? url : url.href
  const parsed = URL.parse(text)
  if (parsed === null) return problemOf(text)
  if (!SCHEMES.has(parsed.protocol)) return 'scheme'
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
  return typeof url !== 'string' && 'robotsUrl' in url
}

/** Returns path and query from a URL's `href`. `pathname` and `search` together would lose the `?` of an empty query. */
export function sentPath(href: string): string {
  const authority = href.indexOf('//') + 2
  const path = href.indexOf('/', authority)
  const fragment = href.indexOf('#', path)
  return href.slice(path, fragment === -1 ? href.length : fragment)
}

/** Returns the origin of an absolute URL, as a URL parser writes it; undefined if the URL is invalid or its scheme has no robots.txt. */
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

function problemOf(text: string): UrlProblem {
  if (text.trim() === '') return 'empty'
  // A reference that resolves against a base is relative; any other is malformed.
  const hasScheme = /^\s*[a-z][a-z0-9+.-]*:/i.test(text)
  return !hasScheme && URL.canParse(text, 'http://base.invalid/') ? 'relative' : 'malformed'
}

const PROBLEMS: Readonly<Record<UrlProblem, string>> = {
  empty: 'no URL was given; write one such as https://example.com/page',
  relative: 'the URL has no scheme and host; write it whole, such as https://example.com/page',
  malformed: 'this is not a URL; write one such as https://example.com/page',
  scheme: 'only http, https and ftp URLs have a robots.txt; write one such as https://example.com/page',
}

/** Explains a problem in one sentence, and says what to write instead. */
export function explainUrlProblem(problem: UrlProblem): string {
  return PROBLEMS[problem]
}
