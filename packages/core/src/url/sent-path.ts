// The path and query of a URL as a client sends them: RFC 9309 §2.2.2, WHATWG URL. Also as
// google/robotstxt finds them in a string.
import { SLASH } from '../ascii.ts'
import type { NormalForm } from './normal-form.ts'
import { isParsedUrl, limited, originOf, parseUrl, sentPath, type UrlInput, urlText } from './origin.ts'
import type { UrlProblem } from './url-problem.ts'

export interface SentUrl {
  /** Undefined if the caller gave only a path, or the host is invalid and ignored. */
  readonly origin: string | undefined
  /** Path and query. */
  readonly path: string
}

/**
 * Parses a URL, or a path that starts with one `/`, as a client does (WHATWG URL): resolves dot
 * segments, changes `\` to `/`, and removes tabs, line ends and the fragment. A string that starts
 * with `//` or `/\` has a host and no scheme, which is a problem: `relative`. For `google`, returns
 * the path that google/robotstxt finds in any string.
 *
 * @param hasOrigin Whether the caller has an origin to compare. Without one, rules match the path
 * only. Then an invalid host, as in `https://a%20b/page`, is not a problem, unless it is unclear
 * where the host ends.
 */
export function sentUrlOf(url: UrlInput, form: NormalForm, hasOrigin: boolean): SentUrl | UrlProblem {
  if (form === 'google') {
    const text = urlText(url)
    return limited({ origin: hasOrigin ? originOf(text) : undefined, path: googlePathOf(text) })
  }
  if (isParsedUrl(url)) return limited(url)
  const text = urlText(url)
  if (text.charCodeAt(0) === SLASH && !startsHost(text)) return pathOf(text)
  const parsed = parseUrl(text)
  if (parsed !== 'malformed' || hasOrigin) return parsed
  const [start, host] = INVALID_HOST.exec(text) ?? []
  if (start === undefined || host === undefined || UNCLEAR_END.test(host)) return parsed
  return pathOf(text.slice(start.length))
}

/** The scheme, the credentials and the host of a malformed URL. */
const INVALID_HOST = /^\s*(?:https?|ftp):\/\/(?:[^/?#\\]*@)?([^/?#\\]+)/i

/**
 * A bracket that does not close, and a port that begins with a letter or a colon: `[::1`,
 * `host:port`, `::1`.
 */
const UNCLEAR_END = /^\[[^\]]*$|^(?:\[[^\]]*\])?[^[]*:[a-z:]/i

/** Parses a path after a fixed host, which is valid with every path. */
function pathOf(path: string): SentUrl | UrlProblem {
  return limited({ origin: undefined, path: sentPath(new URL(`http://host.invalid${path}`).href) })
}

/**
 * Returns whether a string starts with `//` or `/\`, also with tabs and line ends between them,
 * which a client removes.
 */
function startsHost(path: string): boolean {
  return /^\/[\t\n\r]*[/\\]/.test(path)
}

/**
 * The path that google/robotstxt finds in any string: after `//`, a scheme and a host, each of which
 * may be missing, it begins with `/`, `?` or `;`. A NUL ends it, because google/robotstxt passes it
 * to its matcher as a C string. All parts are optional, so the pattern never backtracks into one.
 */
const GOOGLE_PATH = /^(?:\/\/)?(?:[^/?;#]*:\/\/)?[^/?;#]*([/?;][^#\0]*)?/

/**
 * Returns the path that google/robotstxt finds in any string. It resolves, decodes and rejects
 * nothing; a string without a path has the path `/`. This has the behaviour of its
 * `GetPathParamsQuery`, not its code.
 */
function googlePathOf(url: string): string {
  const path = GOOGLE_PATH.exec(url)?.[1] ?? '/'
  return path.startsWith('/') ? path : `/${path}`
}
