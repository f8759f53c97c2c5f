// The path and query of a URL as a client sends them. RFC 9309 §2.2.2.
import { SLASH } from '../ascii.ts'
import { isParsedUrl, parseUrl, sentPath, type UrlInput, type UrlProblem } from './origin.ts'

/** Path and query; without an origin where the string was a path of the file's own origin. */
export interface SentUrl {
  readonly origin: string | undefined
  readonly path: string
}

/**
 * Reads a URL, or a path that starts with one `/`, as a client does (WHATWG URL): dot segments are resolved, `\` is `/`, tabs and line ends
 * are removed, the fragment is removed. Two slashes (or `/\`) start a host of unknown scheme.
 *
 * @param authority Whether an invalid host or port, as in `https://a%20b/page`, is an error; or is `ignored`, for callers without an origin
 * to compare: rules match paths only.
 */
export function sentUrlOf(url: UrlInput, authority: 'checked' | 'ignored'): SentUrl | UrlProblem {
  if (isParsedUrl(url)) return url
  const text = typeof url === 'string' ? url : url.href
  if (text.charCodeAt(0) === SLASH && !startsHost(text)) return parsePath(text)
  const parsed = parseUrl(text)
  if (parsed === 'malformed' && authority === 'ignored') {
    const [start] = /^\s*(https?|ftp):\/\/[^/?#\\]+/i.exec(text) ?? []
    if (start !== undefined) return parsePath(text.slice(start.length))
  }
  return parsed
}

/** Puts the path behind a host, and does not resolve it against a base: a path must stay a path whatever it contains. */
function parsePath(path: string): SentUrl | UrlProblem {
  const parsed = URL.parse(`http://host.invalid${path}`)
  return parsed === null ? 'malformed' : { origin: undefined, path: sentPath(parsed.href) }
}

/** `//` or `/\`, also with the tabs and line ends between that a client removes. */
function startsHost(path: string): boolean {
  return /^\/[\t\n\r]*[/\\]/.test(path)
}

/**
 * The path as google/robotstxt cuts it out of any string: it resolves, decodes and rejects nothing; a string without a path has the path
 * `/`. This is the behaviour of its `GetPathParamsQuery`, not its code.
 */
export function googlePathOf(url: string): string {
  const start = url.startsWith('//') ? 2 : 0
  const scheme = url.indexOf('://', start)
  const early = indexOfPath(url, start)
  const authority = scheme !== -1 && (early === -1 || early >= scheme) ? scheme + 3 : start
  const path = indexOfPath(url, authority)
  if (path === -1) return '/'
  const hash = url.indexOf('#', start)
  if (hash !== -1 && hash < path) return '/'
  const cut = url.slice(path, hash === -1 ? url.length : hash)
  return cut.startsWith('/') ? cut : `/${cut}`
}

/** The offset of a path, its parameters or its query; -1 if the string has neither. */
function indexOfPath(url: string, from: number): number {
  const offset = url.slice(from).search(/[/?;]/)
  return offset === -1 ? -1 : from + offset
}
