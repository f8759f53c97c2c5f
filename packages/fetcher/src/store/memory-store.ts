// A store in memory: for several clients of one process, for tests, and as an example of a store.

import { StoreClosedError } from '../base/errors.ts'
import { LRUCache } from '../base/lru-cache.ts'
import { assertOptions, callable, integer } from '../base/option-checks.ts'
import type { Store } from './store.ts'

/** Options of a `MemoryStore`. */
export interface MemoryStoreOptions {
  /**
   * The size limit of the store in bytes, including its own overhead for each entry. Default 64
   * MiB. The store evicts the least recently used entries.
   */
  readonly maxBytes?: number | undefined
  /** The clock: returns milliseconds since 1970. For tests and simulations. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

interface StoredText {
  readonly text: string
  /** Milliseconds since 1970. */
  readonly keepUntil: number
}

const DEFAULT_BYTES = 64 * 1024 * 1024
/**
 * The memory that an entry takes in addition to the characters of its text and key: two strings, an
 * object with a number, and a slot in the cache's map and lists, which are up to twice as long as
 * needed. Measured with up to a million origins: npm run bench -- store-memory.
 */
const OVERHEAD_BYTES = 220
const KNOWN: Readonly<Record<keyof MemoryStoreOptions, true>> = { maxBytes: true, now: true }

/**
 * Keeps entries in memory of a limited size while the process runs. It never returns expired
 * entries, and removes them before it evicts others.
 */
export class MemoryStore implements Store {
  readonly #now: () => number
  readonly #texts: LRUCache<string, StoredText>
  /** Calls of `set` since the last search for expired entries. */
  #sets = 0
  #isClosed = false

  /** @throws {OptionError} for an invalid or unknown option. */
  constructor(options: MemoryStoreOptions = {}) {
    assertOptions(options, '{ maxBytes: 64 * 1024 * 1024 }', KNOWN)
    const { maxBytes = DEFAULT_BYTES, now = Date.now } = options
    this.#now = callable('now', now, 'a function that returns milliseconds')
    this.#texts = new LRUCache({ maxSize: integer('maxBytes', maxBytes, { min: 1, example: DEFAULT_BYTES }) })
  }

  /** The current size in bytes: an upper estimate. */
  get memoryBytes(): number {
    return this.#texts.calculatedSize
  }

  async get(origin: string): Promise<string | undefined> {
    this.#throwIfClosed()
    const stored = this.#texts.get(origin)
    if (stored === undefined || stored.keepUntil > this.#now()) return stored?.text
    this.#texts.delete(origin)
    return undefined
  }

  /**
   * Saves a text. A text that is larger than `maxBytes` is not saved, and the text that it would
   * replace is deleted.
   */
  async set(origin: string, text: string, keepUntil: number): Promise<void> {
    this.#throwIfClosed()
    const size = bytesOf(origin) + bytesOf(text) + OVERHEAD_BYTES
    if (this.#texts.calculatedSize + size > this.#texts.maxSize) this.#deleteExpired()
    this.#sets++
    this.#texts.set(copyOf(origin), { text: copyOf(text), keepUntil }, { size })
  }

  async delete(origin: string): Promise<void> {
    this.#throwIfClosed()
    this.#texts.delete(origin)
  }

  /** Deletes all entries. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#texts.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /**
   * Deletes expired entries. It scans all entries, so it runs at most once in as many sets as there
   * are entries.
   */
  #deleteExpired(): void {
    if (this.#sets < this.#texts.size) return
    this.#sets = 0
    const now = this.#now()
    for (const [origin, { keepUntil }] of this.#texts.entries()) if (keepUntil <= now) this.#texts.delete(origin)
  }

  #throwIfClosed(): void {
    if (this.#isClosed) throw new StoreClosedError()
  }
}

/** Returns the size of a string in V8: one byte per character if all are Latin-1, otherwise two. */
function bytesOf(text: string): number {
  return isLatin1(text) ? text.length : 2 * text.length
}

/** Copies a string. A substring would keep the longer string alive that it is a part of. */
function copyOf(text: string): string {
  const encoding = isLatin1(text) ? 'latin1' : 'utf16le'
  return Buffer.from(text, encoding).toString(encoding)
}

function isLatin1(text: string): boolean {
  return !/[^\0-\xff]/.test(text)
}
