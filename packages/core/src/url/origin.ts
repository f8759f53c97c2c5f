// URL -> origin and robots.txt URL. RFC 9309 §2.3: one robots.txt for each scheme, host and port.

/** The schemes RFC 9309 §2.3 names as having a robots.txt. */
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ftp:'])

/** Anything that carries an absolute URL as `href`: a `URL`, a `Location`, a link. */
export interface HasHref {
  readonly href: string
}

/**
 * Why a string is no URL that robots.txt could speak about:
 * `empty`: nothing was given; `relative`: a path or `//host/path`, which needs a base that only the caller knows;
 * `malformed`: no URL by the WHATWG URL standard; `scheme`: a URL whose scheme has no robots.txt, such as `mailto:`.
 */
export type UrlProblem = 'empty' | 'relative' | 'malformed' | 'scheme'

/** A URL as a client would send it, and the origin whose robots.txt speaks about it. */
export interface Address {
  /** Scheme, host as an IDNA A-label in lower case, and port unless it is the scheme's default: `https://example.com`. */
  readonly origin: string
  /** Where that origin's rules are. RFC 9309 §2.3. */
  readonly robotsUrl: string
  /** Path and query as a client sends them: dot segments resolved, no fragment. Not yet in the form rules are compared in. */
  readonly path: string
}

/** What can be asked about; an `Address` is one that was read before, and is not read again. */
export type Askable = string | HasHref | Address

/** Reads an absolute URL the way a client does (WHATWG URL). Userinfo and fragment are not kept. */
export function addressOf(url: Askable): Address | UrlProblem {
  if (isAddress(url)) return url
  const text = typeof url === 'string' ? url : url.href
  const parsed = URL.parse(text)
  if (parsed === null) return problemOf(text)
  if (!SCHEMES.has(parsed.protocol)) return 'scheme'
  const { origin } = parsed
  return { origin, robotsUrl: `${origin}/robots.txt`, path: sentPath(parsed.href) }
}

/** Where an origin that a URL parser would leave as it is ends; -1 where the URL does not begin with one, or with one that takes thought. */
function plainEnd(url: string): number {
  const scheme = url.startsWith('https://') ? 'https' : url.startsWith('http://') ? 'http' : ''
  if (scheme === '') return -1
  const start = scheme.length + 3
  let label = start
  let i = start
  for (let c = 0; i < url.length; i++) {
    c = url.charCodeAt(i)
    if (c === SLASH || c === COLON) break
    if (c === DOT) label = i + 1
    // Two hyphens in a row may be those of an A-label, which may be no name.
    else if (c === HYPHEN ? url.charCodeAt(i - 1) === HYPHEN : !isLetter(c) && !isDigit(c)) return -1
  }
  // What ends in a number is an IPv4 address, in one of its many spellings.
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

const HYPHEN = 45
const DOT = 46
const SLASH = 47
const ZERO = 48
const COLON = 58

function isDigit(c: number): boolean {
  return c >= ZERO && c <= 57
}

function isLetter(c: number): boolean {
  return c >= 97 && c <= 122
}

export function isAddress(url: Askable): url is Address {
  return typeof url !== 'string' && 'robotsUrl' in url
}

/** Path and query as sent, from a URL's `href`: `pathname` and `search` together would lose the `?` of an empty query. */
export function sentPath(href: string): string {
  const authority = href.indexOf('//') + 2
  const path = href.indexOf('/', authority)
  const fragment = href.indexOf('#', path)
  return href.slice(path, fragment === -1 ? href.length : fragment)
}

/** The origin of an absolute URL in its one spelling, or undefined where it has none with a robots.txt. */
export function originOf(url: string | HasHref): string | undefined {
  const end = typeof url === 'string' ? plainEnd(url) : -1
  if (end !== -1) return (url as string).slice(0, end)
  const address = addressOf(url)
  return typeof address === 'string' ? undefined : address.origin
}

/**
 * Does a URL begin with this origin, in its one spelling, and a path? Then it is one of that origin, whatever follows. One that is written
 * otherwise may be one too.
 */
export function beginsAtOrigin(url: string, origin: string): boolean {
  const at = origin.length
  return url.length > at && url.charCodeAt(at) === SLASH && url.lastIndexOf(origin, 0) === 0
}

function problemOf(text: string): UrlProblem {
  if (text.trim() === '') return 'empty'
  // What resolves against a base is relative; what does not, nobody can read.
  const hasScheme = /^\s*[a-z][a-z0-9+.-]*:/i.test(text)
  return !hasScheme && URL.canParse(text, 'http://base.invalid/') ? 'relative' : 'malformed'
}

const PROBLEMS: Readonly<Record<UrlProblem, string>> = {
  empty: 'no URL was given; write one such as https://example.com/page',
  relative: 'the URL has no scheme and host; write it whole, such as https://example.com/page',
  malformed: 'this is not a URL; write one such as https://example.com/page',
  scheme: 'only http, https and ftp URLs have a robots.txt; write one such as https://example.com/page',
}

/** One sentence for people, which says what to write instead. */
export function explainUrlProblem(problem: UrlProblem): string {
  return PROBLEMS[problem]
}
