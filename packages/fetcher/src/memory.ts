// What a client remembers, bounded by memory and not by count: a file may be 10 octets long or 500 KiB.
import type { CrawlerRules, Entry } from '@politely/core'
import { LRUCache } from 'lru-cache'

/** An entry, and the rules of its copy (of an empty file, where it has none) bound to the client's crawler. */
export interface Remembered {
  readonly entry: Entry
  readonly rules: CrawlerRules
}

/** What an entry takes beside its file: objects, strings and the cache's own links. Measured, rounded up. */
const ENTRY_BYTES = 2_048
/** How many times its file's size an entry takes: the text itself, and its rules bound to one crawler. Measured, rounded up. */
const TIMES_FILE = 4

export function createMemory(maxBytes: number): LRUCache<string, Remembered> {
  return new LRUCache({
    maxSize: maxBytes,
    sizeCalculation: ({ entry }) => ENTRY_BYTES + TIMES_FILE * (entry.copy?.octets.length ?? 0),
  })
}
