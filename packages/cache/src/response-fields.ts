// The headers of requests and responses: what is stored of them, and what a 304 changes.
import { createHash } from 'node:crypto'
import type { CachedRequest, FetchResponse } from '@politely/gate'
import type { PageRecord } from './page-store.ts'

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

/** The credentials of a user. */
const OF_USER = ['authorization', 'cookie']

/** Their values are secrets, which a file must not keep. */
const SECRET: ReadonlySet<string> = new Set([...OF_USER, 'proxy-authorization'])

/** Whether a request is for one user. */
export function isPersonal(headers: CachedRequest['headers']): boolean {
  return OF_USER.some((name) => headers[name] !== undefined)
}

/** Returns the headers of a response that may be stored. */
export function storedHeaders({ headers }: FetchResponse): HeaderList {
  const all = [...(headers as Headers)] as [string, string][]
  const listed = (headers.get('connection') ?? '').toLowerCase().split(/\s*,\s*/)
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
export function validatorsOf(headers: HeaderList): Readonly<Record<string, string>> {
  const etag = headerOf(headers, 'etag')
  const lastModified = headerOf(headers, 'last-modified')
  return {
    ...(etag !== undefined && { 'if-none-match': etag }),
    ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
  }
}

export function headerOf(headers: HeaderList, name: string): string | undefined {
  return headers.find(([found]) => found === name)?.[1]
}

/**
 * Returns the fields of a request that its response depends on: the fields that Vary names, and the
 * user's credentials. HTTP lets a user reuse such a response, but a process may act for several users.
 */
export function variedFields(vary: string | undefined, headers: CachedRequest['headers']): PageRecord['varied'] {
  const own = OF_USER.filter((name) => headers[name] !== undefined)
  if (vary === undefined && own.length === 0) return []
  const names = [vary, ...own]
    .join()
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  return [...new Set(names.filter((name) => name !== ''))].toSorted().map((name) => [name, varied(name, headers)])
}

/** Whether a stored response fits a request, and is for the same user (RFC 9111 §4.1). */
export function fits({ varied: fields }: PageRecord, headers: CachedRequest['headers']): boolean {
  const isListed = (name: string) => headers[name] === undefined || fields.some(([listed]) => listed === name)
  return fields.every(([name, value]) => value === varied(name, headers)) && OF_USER.every(isListed)
}

function varied(name: string, headers: CachedRequest['headers']): string | null {
  const value = headers[name]
  if (value === undefined) return null
  return SECRET.has(name) ? createHash('sha256').update(value).digest('base64url') : value
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
export function keyOf(url: string | URL): string {
  return withoutFragment(URL.parse(String(url))?.href ?? String(url))
}

function withoutFragment(url: string): string {
  return url.split('#', 1)[0] as string
}

/** Whether a 304 is about another page than the stored one (RFC 9111 §4.3.4). Servers mark codings in the ETag. */
export function isOfOtherPage(stored: HeaderList, { headers }: FetchResponse): boolean {
  const [old, now] = [headerOf(stored, 'etag'), headers.get('etag')].map((etag) => {
    return etag?.replace(/^W\//, '').replace(/[-;](?:gzip|br|zstd|deflate)"$/, '"')
  })
  return old !== undefined && now !== undefined && old !== now
}
