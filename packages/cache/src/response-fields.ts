// The headers of responses: what is stored of them, and what a 304 changes.
import type { FetchResponse } from '@politely/gate'

export type HeaderList = readonly (readonly [name: string, value: string])[]

/** A 304 does not change these: the stored body stays (RFC 9111 §3.2). */
const KEPT: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'transfer-encoding',
])

/** These concern one connection (RFC 9110 §7.6.1). */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** These describe a body (RFC 9110 §8). */
const OF_BODY: ReadonlySet<string> = new Set(['content-encoding', 'content-length', 'content-type'])

/** Returns the headers of a response that may be stored. */
export function storedHeaders({ headers }: FetchResponse): HeaderList {
  const all = [...(headers as Headers)] as [string, string][]
  const connection = storedHeaderOf(all, 'connection')?.toLowerCase().split(',') ?? []
  const listed = connection.map((name) => name.trim())
  return all.filter(([name]) => !HOP_BY_HOP.has(name) && !listed.includes(name))
}

/** Returns the headers, except the headers of a body. */
export function withoutBody(headers: HeaderList): HeaderList {
  return headers.filter(([name]) => !OF_BODY.has(name))
}

/** Returns the headers of a stored response after a 304 (RFC 9111 §3.2). Its age counts from the 304. */
export function freshenedHeaders(stored: HeaderList, sent: FetchResponse): HeaderList {
  const news = storedHeaders(sent).filter(([name]) => !KEPT.has(name))
  const replaced = new Set(['age', 'date', ...news.map(([name]) => name)])
  return [...stored.filter(([name]) => !replaced.has(name)), ...news]
}

/** Returns the headers of a conditional request for a stored response (RFC 9111 §4.3.1). */
export function revalidationHeaders(headers: HeaderList): Readonly<Record<string, string>> {
  const etag = storedHeaderOf(headers, 'etag')
  const lastModified = storedHeaderOf(headers, 'last-modified')
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
  }
}

export function storedHeaderOf(headers: HeaderList, name: string): string | undefined {
  return headers.find(([found]) => found === name)?.[1]
}

/** Returns the URLs whose stored responses an unsafe request makes invalid (RFC 9111 §4.4). */
export function invalidatedBy(url: string, { headers }: FetchResponse): readonly string[] {
  const others = ['location', 'content-location'].flatMap((name) => {
    const value = headers.get(name)
    const target = value === null ? null : URL.parse(value, url)
    return target?.origin === new URL(url).origin ? [withoutFragment(target.href)] : []
  })
  return [url, ...others]
}

/** Returns a URL as pages are stored under it. */
export function pageKeyOf(url: string | URL): string {
  return withoutFragment(URL.parse(String(url))?.href ?? String(url))
}

function withoutFragment(url: string): string {
  return url.split('#', 1)[0] as string
}

/**
 * Whether a 304 is about another page than the stored one, which it then must not update (RFC 9111
 * §4.3.4). ETags are compared without their mark of weakness and of the coding: servers strengthen a
 * weak one in a 304, and name the coding in one of the two.
 */
export function isOfOtherPage(stored: HeaderList, { headers }: FetchResponse): boolean {
  const etag = headers.get('etag')
  const old = storedHeaderOf(stored, 'etag')
  if (etag !== null) return old === undefined || tagOf(etag) !== tagOf(old)
  const modified = headers.get('last-modified')
  return modified !== null && modified !== storedHeaderOf(stored, 'last-modified')
}

/** Whether the response to a HEAD shows that the stored page has changed (RFC 9111 §4.3.5). */
export function hasChanged(stored: HeaderList, { headers }: FetchResponse): boolean {
  return ['etag', 'last-modified', 'content-length'].some((name) => {
    const [before, now] = [storedHeaderOf(stored, name), headers.get(name)]
    if (before === undefined || now === null) return false
    return name === 'etag' ? tagOf(before) !== tagOf(now) : before !== now
  })
}

function tagOf(etag: string): string {
  return etag.replace(/^W\//, '').replace(/[-;](?:gzip|br|zstd|deflate)"$/, '"')
}
