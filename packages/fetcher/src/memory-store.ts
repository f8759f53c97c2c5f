// The simplest store: texts in memory. For clients of one process that share what they know, for tests, and as an example.
import { LRUCache } from 'lru-cache'
import { assertKnown, callable, integer } from './option-checks.ts'
import type { Store } from './store.ts'

export interface MemoryStoreOptions {
  /** Bytes of memory for all texts, with what keeping them takes. Default 64 MiB; the least recently used go first. */
  readonly maxBytes?: number
  /** The clock: milliseconds since 1970. Default `Date.now`. For tests and simulations. */
  readonly now?: () => number
}

/** Thrown by every method of a store after `close`. */
export class StoreClosedError extends Error {
  override readonly name = 'StoreClosedError'
  readonly code = 'ERR_POLITELY_STORE_CLOSED'
  constructor() {
    super('this store is closed; make a new one')
  }
}

interface Kept {
  readonly text: string
  /** Milliseconds since 1970. */
  readonly keepUntil: number
}

const DEFAULT_BYTES = 64 * 1024 * 1024
/**
 * What a text takes beside its characters and its key's: two strings, an object with a number, a place in the cache's map and
 * in its lists, which are up to twice as long as they need be. Measured with up to a million origins: npm run bench -- store-memory.
 */
const KEEPING_BYTES = 220
const KNOWN: Readonly<Record<keyof MemoryStoreOptions, true>> = { maxBytes: true, now: true }

/**
 * Keeps texts as long as the process lives, in a bounded part of its memory. What has expired is not given back, and makes room
 * before anything else is forgotten.
 */
export class MemoryStore implements Store {
  readonly #now: () => number
  readonly #kept: LRUCache<string, Kept>
  /** Sets since expired texts were last looked for. */
  #sets = 0
  #isClosed = false

  /** @throws {OptionError} for an option that cannot be used. */
  constructor(options: MemoryStoreOptions = {}) {
    assertKnown(options, KNOWN)
    const { maxBytes = DEFAULT_BYTES, now = Date.now } = options
    this.#now = callable('now', now, 'a function that returns milliseconds')
    this.#kept = new LRUCache({ maxSize: integer('maxBytes', maxBytes, { min: 1 }) })
  }

  /** Bytes of memory that it takes now, about: rather too many than too few. */
  get memoryBytes(): number {
    return this.#kept.calculatedSize
  }

  async get(origin: string): Promise<string | undefined> {
    this.#throwIfClosed()
    const kept = this.#kept.get(origin)
    if (kept === undefined || kept.keepUntil > this.#now()) return kept?.text
    this.#kept.delete(origin)
    return undefined
  }

  /** A text that is larger than all of `maxBytes` is not kept, nor is the one that it was to replace. */
  async set(origin: string, text: string, keepUntil: number): Promise<void> {
    this.#throwIfClosed()
    const size = bytesOf(origin) + bytesOf(text) + KEEPING_BYTES
    if (this.#kept.calculatedSize + size > this.#kept.maxSize) this.#sweep()
    this.#sets++
    this.#kept.set(ownCopyOf(origin), { text: ownCopyOf(text), keepUntil }, { size })
  }

  async delete(origin: string): Promise<void> {
    this.#throwIfClosed()
    this.#kept.delete(origin)
  }

  /** Forgets everything. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#kept.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** Looks at everything, and so is done no more often than once in as many sets as there are texts. */
  #sweep(): void {
    if (this.#sets < this.#kept.size) return
    this.#sets = 0
    const now = this.#now()
    for (const [origin, { keepUntil }] of this.#kept.entries()) if (keepUntil <= now) this.#kept.delete(origin)
  }

  #throwIfClosed(): void {
    if (this.#isClosed) throw new StoreClosedError()
  }
}

/** V8 keeps an byte for a character where all of a string are Latin-1, else two. */
function bytesOf(text: string): number {
  return isLatin1(text) ? text.length : 2 * text.length
}

/** The same text in memory of its own: a part of a longer string would keep all of that alive. */
function ownCopyOf(text: string): string {
  const encoding = isLatin1(text) ? 'latin1' : 'utf16le'
  return Buffer.from(text, encoding).toString(encoding)
}

function isLatin1(text: string): boolean {
  return !/[^\0-\xff]/.test(text)
}
