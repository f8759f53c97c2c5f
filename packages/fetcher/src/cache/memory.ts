// The memory cache of a client. Its limit is a size, not a count, since a file may have 10 bytes or
// 500 KiB.
import type { Attempt, CrawlerRules } from '@politely/core'
import type { Entry } from '@politely/core/engine'
import { LRUCache } from '../base/lru-cache.ts'

/**
 * An entry, and the rules of its copy for the client's crawler. Without a copy, the rules are the
 * rules of an empty file.
 */
export interface CachedRules {
  readonly entry: Entry
  readonly rules: CrawlerRules
  /**
   * From the entry's last attempt until this time, only the rules decide. Milliseconds since 1970.
   */
  readonly freshUntil: number
}

/**
 * The memory of an entry without its texts and rules: objects and the cache's links. Measured and
 * rounded up.
 */
const ENTRY_BYTES = 700
/** The memory of each earlier attempt. */
const ATTEMPT_BYTES = 150
/** The memory of each hop of an attempt. */
const HOP_BYTES = 80

/**
 * Creates a cache of about `maxBytes`. An entry that is larger counts as `maxBytes` and evicts all
 * others: without a cached entry, every check would fetch the file again.
 */
export function createMemory(maxBytes: number): LRUCache<string, CachedRules> {
  return new LRUCache({
    maxSize: maxBytes,
    sizeCalculation: ({ entry, rules }) => Math.min(maxBytes, entryBytes(entry) + rules.memoryBytes),
  })
}

/** Returns the memory of an entry, with its file and texts, in bytes. */
export function entryBytes(entry: Entry): number {
  return ENTRY_BYTES + textBytesOf(entry)
}

/**
 * Returns the size of the file and of all other texts whose length the site controls: redirect
 * URLs, ETag, details of failures.
 */
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
