// The origin and the robots.txt URL of a URL. RFC 9309 §2.3: one robots.txt for each scheme, host and port.
import { COLON, DOT, HYPHEN, SLASH, ZERO } from '../ascii.ts'

/** The schemes RFC 9309 §2.3 names as having a robots.txt. */
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ftp:'])

/** Anything that carries an absolute URL as `href`: a `URL`, a `Location`, a link. */
export interface HasHref {
  readonly href: string
}

/**
 * Why no robots.txt applies to a URL:
 * `empty`: an empty string; `relative`: a path or `//host/path`, which needs a base that only the caller knows;
 * `malformed`: invalid by the WHATWG URL standard; `scheme`: its scheme has no robots.txt, such as `mailto:`.
 */
export type UrlProblem = 'empty' | 'relative' | 'malformed' | 'scheme'

/** A URL as a client would send it, and the origin whose robots.txt applies to it. */
export interface ParsedUrl {
  /** Scheme, host as an IDNA A-label in lower case, and port unless it is the scheme's default: `https://example.com`. */
  readonly origin: string
  /** Where that origin's rules are. RFC 9309 §2.3. */
  readonly robotsUrl: string
  /** Path and query as a client sends them: dot segments resolved, no fragment. Not yet in the form rules are compared in. */
  readonly path: string
}

/** A URL in any of the forms that questions accept. A `ParsedUrl` is not parsed again. */
export type UrlInput = string | HasHref | ParsedUrl

/** Parses an absolute URL as a client does (WHATWG URL), without userinfo and fragment. */
export function parseUrl(url: UrlInput): ParsedUrl | UrlProblem {
  if (isParsedUrl(url)) return url
  const text = typeof url === 'string' ? url : url.href
  const parsed = URL.parse(text)
  if (parsed === null) return problemOf(text)
  if (!SCHEMES.has(parsed.protocol)) return 'scheme'
  const { origin } = parsed
  return { origin, robotsUrl: `${origin}/robots.txt`, path: sentPath(parsed.href) }
}

/** The end of an origin that a URL parser would not change; -1 where the URL does not begin with one, or this cannot be seen at once. */
function endOfSimpleOrigin(url: string): number {
  const scheme = url.startsWith('https://') ? 'https' : url.startsWith('http://') ? 'http' : ''
  if (scheme === '') return -1
  const start = scheme.length + 3
  let label = start
  let i = start
  for (let c = 0; i < url.length; i++) {
    c = url.charCodeAt(i)
    if (c === SLASH || c === COLON) break
    if (c === DOT) label = i + 1
    // Two hyphens in a row may be those of an A-label, which may be invalid.
    else if (c === HYPHEN ? url.charCodeAt(i - 1) === HYPHEN : !isLetter(c) && !isDigit(c)) return -1
  }
  // A host that ends in a number is an IPv4 address, in one of its many spellings.
  if (!isLetter(url.charCodeAt(label))) return -1
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

/** Path and query as sent, from a URL's `href`: `pathname` and `search` together would lose the `?` of an empty query. */
export function sentPath(href: string): string {
  const authority = href.indexOf('//') + 2
  const path = href.indexOf('/', authority)
  const fragment = href.indexOf('#', path)
  return href.slice(path, fragment === -1 ? href.length : fragment)
}

/** The origin of an absolute URL, as a URL parser writes it; undefined where it has none with a robots.txt. */
export function originOf(url: string | HasHref): string | undefined {
  const end = typeof url === 'string' ? endOfSimpleOrigin(url) : -1
  if (end !== -1) return (url as string).slice(0, end)
  const parsed = parseUrl(url)
  return typeof parsed === 'string' ? undefined : parsed.origin
}

/**
 * Does a URL begin with this origin, as a URL parser writes it, and a path? Then it belongs to that origin, whatever follows. A URL that is
 * written in another way may belong to it too.
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

/** Explains a problem in one sentence, which says what to write instead. */
export function explainUrlProblem(problem: UrlProblem): string {
  return PROBLEMS[problem]
}
