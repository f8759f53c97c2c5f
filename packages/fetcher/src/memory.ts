// What a client remembers, bounded by memory and not by count: a file may be 10 octets long or 500 KiB.
import type { CrawlerRules, Entry } from '@politely/core'
import { LRUCache } from 'lru-cache'

/** An entry, and the rules of its copy (of an empty file, where it has none) bound to the client's crawler. */
export interface Remembered {
  readonly entry: Entry
  readonly rules: CrawlerRules
}

/** What an entry takes beside its file and rules: objects, strings and the cache's own links. Measured, rounded up. */
const ENTRY_BYTES = 2_048

/** Holds about `maxBytes`; one entry that is larger takes all of it, since a file that is never kept is asked for again and again. */
export function createMemory(maxBytes: number): LRUCache<string, Remembered> {
  return new LRUCache({
    maxSize: maxBytes,
    sizeCalculation: ({ entry, rules }) => Math.min(maxBytes, ENTRY_BYTES + charactersOf(entry) + rules.memoryBytes),
  })
}

/** Of the file, and of all else that a site may make long: the URLs of redirects, ETag, what is told of a failure. */
function charactersOf({ copy, ...others }: Entry): number {
  const { octets = '', ...aboutCopy } = copy ?? {}
  return octets.length + JSON.stringify([others, aboutCopy]).length
}
