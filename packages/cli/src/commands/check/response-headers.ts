// The headers of the responses for robots.txt, by origin.
import type { FetchEvent, RobotsClient } from '@politely/fetcher'

export type Headers = NonNullable<FetchEvent['headers']>

/** A run may check any number of sites. Their verdicts come soon after their fetches. */
const MAX_ORIGINS = 1000

/** Returns a map that keeps the headers of the last responses of a client. */
export function responseHeaders({ events }: RobotsClient): ReadonlyMap<string, Headers> {
  const kept = new Map<string, Headers>()
  events.on('fetch', ({ origin, headers = {} }) => {
    kept.delete(origin)
    kept.set(origin, headers)
    const [oldest] = kept.keys()
    if (kept.size > MAX_ORIGINS && oldest !== undefined) kept.delete(oldest)
  })
  return kept
}

/** The headers that say where a response comes from, how old it is, and what it is. */
const REPORTED = [
  'age',
  'cache-control',
  'cf-cache-status',
  'content-type',
  'etag',
  'last-modified',
  'retry-after',
  'x-cache',
] as const

/** Returns the headers that a report in JSON has. */
export function reportedHeaders(headers: Headers | undefined): Readonly<Record<string, string>> {
  return pickHeaders(headers, REPORTED)
}

export function pickHeaders(headers: Headers | undefined, names: readonly string[]): Readonly<Record<string, string>> {
  const pairs = names.map((name) => [name, headerText(headers, name)] as const)
  return Object.fromEntries(pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined))
}

export function headerText(headers: Headers | undefined, name: string): string | undefined {
  const value = headers?.[name]
  return value === undefined || typeof value === 'string' ? value : value.join(', ')
}
