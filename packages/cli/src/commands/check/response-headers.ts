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
