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
  const plain = typeof url === 'string' ? PLAIN_ORIGIN.exec(url)?.[0] : undefined
  if (plain !== undefined) return plain
  const address = addressOf(url)
  return typeof address === 'string' ? undefined : address.origin
}

/**
 * What begins so has this origin, whatever follows: a URL parser would leave it as it is. No name of a host that is all letters at its end is an
 * address, and none of these has an A-label (`xn--`), which may be no name.
 */
const PLAIN_ORIGIN = /^https?:\/\/(?:(?!xn--)[a-z0-9-]+\.)+[a-z]{2,}(?=\/|$)/

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
