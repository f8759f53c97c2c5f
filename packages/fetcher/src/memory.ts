// What a client remembers, bounded by memory and not by count: a file may be 10 bytes long or 500 KiB.
import type { Attempt, CrawlerRules, Entry } from '@politely/core'
import { LRUCache } from 'lru-cache'

/** An entry, and the rules of its copy (of an empty file, where it has none) bound to the client's crawler. */
export interface CachedRules {
  readonly entry: Entry
  readonly rules: CrawlerRules
  /** Until when, from the entry's last attempt on, nothing but the rules has to be asked. Milliseconds since 1970. */
  readonly freshUntil: number
}

/** What an entry takes beside its texts and rules: objects, and the cache's own links. Measured, rounded up. */
const ENTRY_BYTES = 700
/** And each of its earlier attempts. */
const ATTEMPT_BYTES = 150
/** And each hop of one. */
const HOP_BYTES = 80

/** Holds about `maxBytes`; one entry that is larger takes all of it, since a file that is never kept is asked for again and again. */
export function createMemory(maxBytes: number): LRUCache<string, CachedRules> {
  return new LRUCache({
    maxSize: maxBytes,
    sizeCalculation: ({ entry, rules }) => Math.min(maxBytes, ENTRY_BYTES + textBytesOf(entry) + rules.memoryBytes),
  })
}

/** Of the file, and of all else that a site may make long: the URLs of redirects, ETag, what is told of a failure. */
function textBytesOf({ origin, latest, earlier, held, copy }: Entry): number {
  let bytes = origin.length + attemptBytes(latest)
  for (const attempt of held === undefined ? earlier : [held.attempt, ...earlier])
    bytes += ATTEMPT_BYTES + attemptBytes(attempt)
  if (copy === undefined) return bytes
  return bytes + copy.bytes.length + copy.url.length + (copy.etag?.length ?? 0) + (copy.lastModified?.length ?? 0)
}

function attemptBytes({ url, detail, hops }: Attempt): number {
  return hops.reduce((bytes, hop) => bytes + HOP_BYTES + hop.url.length, url.length + (detail?.length ?? 0))
}
