// The memory cache of a client. Its limit is a size, not a count, since a file may have 10 bytes or
// 500 KiB.
import type { Attempt, CrawlerRules } from '@politely/core'
import type { Entry } from '@politely/core/engine'
import type { TdmrepFile } from '@politely/core/usage'
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
  /** The origin's tdmrep.json. Undefined until `usage` has asked for it. */
  readonly tdmrep: CachedTdmrep | undefined
}

/** What is known about the tdmrep.json of an origin. */
export interface CachedTdmrep {
  readonly entry: Entry
  /** The copy of the entry, parsed; undefined if it has none. */
  readonly file: TdmrepFile | undefined
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
/** The memory of a parsed rule of tdmrep.json without its texts, and of a problem. */
const TDMREP_RULE_BYTES = 80
const TDMREP_PROBLEM_BYTES = 500

/**
 * Creates a cache of about `maxBytes`. An entry that is larger counts as `maxBytes` and evicts all
 * others: without a cached entry, every check would fetch the file again.
 */
export function createMemory(maxBytes: number): LRUCache<string, CachedRules> {
  return new LRUCache({
    maxSize: maxBytes,
    sizeCalculation: ({ entry, rules, tdmrep }) =>
      Math.min(maxBytes, entryBytes(entry) + rules.memoryBytes + (tdmrep === undefined ? 0 : tdmrepBytes(tdmrep))),
  })
}

function tdmrepBytes({ entry, file }: CachedTdmrep): number {
  if (file === undefined) return entryBytes(entry)
  const texts = 2 * (entry.copy?.bytes.length ?? 0) // of rules and problems; not all of it may be Latin-1
  return entryBytes(entry) + texts + TDMREP_RULE_BYTES * file.rules.length + TDMREP_PROBLEM_BYTES * file.problems.length
}

/** Returns the memory of an entry, with its file and texts, in bytes. */
function entryBytes(entry: Entry): number {
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
