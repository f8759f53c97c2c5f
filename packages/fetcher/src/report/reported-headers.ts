import type { Headers } from '@politely/core/engine'
import { headerOf } from '@politely/core/internal'

/** The headers in which caches say what they did: RFC 9211 §2, and what CDNs and servers send. */
export const CACHE_HEADERS = [
  'x-cache',
  'cf-cache-status',
  'cache-status',
  'cdn-cache',
  'x-cache-status',
  'x-proxy-cache',
  'x-vercel-cache',
] as const

/**
 * The headers that say how old a response is, which cache sent it, and what it contains. Others,
 * such as Location and Set-Cookie, may hold credentials, which no event shows.
 */
const REPORTED = [
  ...CACHE_HEADERS,
  'age',
  'cache-control',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'last-modified',
  'retry-after',
].sort()

/** Returns the headers of a response that an event shows, by name in lower case. */
export function reportedHeaders(headers: Headers): Readonly<Record<string, string>> {
  const pairs = REPORTED.map((name) => [name, headerOf(headers, name)] as const)
  return Object.fromEntries(pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined))
}
