import { type Headers, headerOf } from '@politely/core/engine'

/**
 * The headers that say how old a response is, which cache sent it, and what it contains. Others,
 * such as Location and Set-Cookie, may hold credentials, which no event shows.
 */
const REPORTED = [
  'age',
  'cache-control',
  'cache-status',
  'cdn-cache',
  'cf-cache-status',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'last-modified',
  'retry-after',
  'x-cache',
  'x-cache-status',
  'x-proxy-cache',
  'x-vercel-cache',
] as const

/** Returns the headers of a response that an event shows, by name in lower case. */
export function reportedHeaders(headers: Headers): Readonly<Record<string, string>> {
  const pairs = REPORTED.map((name) => [name, headerOf(headers, name)] as const)
  return Object.fromEntries(
    pairs.filter((pair): pair is readonly [(typeof REPORTED)[number], string] => pair[1] !== undefined),
  )
}
