// What a rule is compared with: the path and query of a URL. RFC 9309 §2.2.2.
import { type Askable, addressOf, isAddress, sentPath, type UrlProblem } from './origin.ts'

/** Path and query to be matched; `origin` is absent where the string was a path of the file's own origin. */
export interface Target {
  readonly origin: string | undefined
  readonly path: string
}

/**
 * A URL, or a path that starts with one `/`, taken as a client would send it (WHATWG URL): dot segments are resolved, `\`
 * is `/`, tabs and line ends go, the fragment goes. Two slashes (or `/\`) start a host, which nobody named a scheme for.
 *
 * @param authority What to make of a host or port that no client could ask, as in `https://a%20b/page`: it is an error, or,
 * for who has no origin to compare it with, `ignored`, since rules speak about paths only.
 */
export function targetOf(url: Askable, authority: 'checked' | 'ignored'): Target | UrlProblem {
  if (isAddress(url)) return url
  const text = typeof url === 'string' ? url : url.href
  if (text.charCodeAt(0) === SLASH && !startsHost(text)) return pathTarget(text)
  const address = addressOf(text)
  if (address === 'malformed' && authority === 'ignored') {
    const [start] = /^\s*(https?|ftp):\/\/[^/?#\\]+/i.exec(text) ?? []
    if (start !== undefined) return pathTarget(text.slice(start.length))
  }
  return address
}

/** Put behind a host, not resolved against a base: a path must stay a path whatever stands in it. */
function pathTarget(path: string): Target | UrlProblem {
  const parsed = URL.parse(`http://host.invalid${path}`)
  return parsed === null ? 'malformed' : { origin: undefined, path: sentPath(parsed.href) }
}

const SLASH = 47

/** `//` or `/\`, also with the tabs and line ends between that a client takes out. */
function startsHost(path: string): boolean {
  return /^\/[\t\n\r]*[/\\]/.test(path)
}

/**
 * The path as google/robotstxt cuts it out of any string at all: nothing is resolved, decoded or refused; what has no path
 * is `/`. Behaviour, not code, of its `GetPathParamsQuery`.
 */
export function googleTargetOf(url: string): string {
  const start = url.startsWith('//') ? 2 : 0
  const scheme = url.indexOf('://', start)
  const early = indexOfAny(url, start)
  const authority = scheme !== -1 && (early === -1 || early >= scheme) ? scheme + 3 : start
  const path = indexOfAny(url, authority)
  if (path === -1) return '/'
  const hash = url.indexOf('#', start)
  if (hash !== -1 && hash < path) return '/'
  const cut = url.slice(path, hash === -1 ? url.length : hash)
  return cut.startsWith('/') ? cut : `/${cut}`
}

/** Where a path, its parameters or its query begin. */
function indexOfAny(url: string, from: number): number {
  for (let i = from; i < url.length; i++) {
    const c = url.charCodeAt(i)
    if (c === 47 || c === 63 || c === 59) return i // / ? ;
  }
  return -1
}
