// Where entries are: in memory, and behind it in the store, if there is one.
import {
  type AccessPolicy,
  type CrawlerRules,
  type Entry,
  entryFrom,
  entryText,
  freshUntil,
  keepUntil,
  startsWithOrigin,
} from '@politely/core'
import { type CachedRules, createMemory } from './memory.ts'
import type { Store } from './store.ts'
import type { Telemetry } from './telemetry.ts'

export interface EntriesOptions {
  readonly maxCacheBytes: number
  readonly maxBodyBytes: number
  readonly store: Store | undefined
  readonly policy: AccessPolicy
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly telemetry: Telemetry
  /** Reads the rules of a file for the client's crawler; without an origin, those of any. */
  readonly rulesOf: (bytes: string, origin?: string) => CrawlerRules
}

/** A store that does not answer by then is gone without: it must not hold up what it is there to speed up. Milliseconds. */
const STORE_PATIENCE_MS = 2_000

const BEHIND_SCHEME = 'https://'.length

export class Entries {
  readonly #options: EntriesOptions
  readonly #memory
  /** The rules of no file: everything is left to what is known of the origin. */
  readonly #noRules: CrawlerRules
  /** What was looked up last; nothing, once there is something newer. */
  #last: CachedRules | undefined

  constructor(options: EntriesOptions) {
    this.#options = options
    this.#memory = createMemory(options.maxCacheBytes)
    this.#noRules = options.rulesOf('')
  }

  /** What memory holds, which is then used last. */
  inMemory(origin: string): CachedRules | undefined {
    const known = this.#memory.get(origin)
    this.#last = known
    return known
  }

  /** The same for a URL that begins with its origin as that is kept, and a slash. Most do, and for them no URL parser is needed. */
  ofUrl(url: string): CachedRules | undefined {
    const last = this.#last
    if (last !== undefined && startsWithOrigin(url, last.entry.origin)) return last // as most links of a page are
    const end = url.indexOf('/', BEHIND_SCHEME)
    return end === -1 ? undefined : this.inMemory(url.slice(0, end))
  }

  /** The same for who only looks. */
  peek(origin: string): Entry | undefined {
    return this.#memory.peek(origin)?.entry
  }

  /** What memory and the store know, the later of both; another process may have asked since. */
  async recall(origin: string): Promise<CachedRules | undefined> {
    const stored = await this.inStore(origin)
    const known = this.#memory.get(origin) // it may have come while the store was asked
    if (stored === undefined || (known !== undefined && known.entry.latest.at >= stored.latest.at)) return known
    return this.#remember(stored)
  }

  /** What the store knows, without remembering it. */
  async inStore(origin: string): Promise<Entry | undefined> {
    const { store, telemetry } = this.#options
    if (store === undefined) return undefined
    const text = await this.#patiently('get', origin, () => store.get(origin))
    const entry = typeof text === 'string' ? this.read(text, origin) : undefined
    telemetry.count(entry === undefined ? 'storeMisses' : 'storeHits')
    return entry
  }

  /** The entry in a text from elsewhere, of that origin or of any; undefined for what is none, or longer than any of ours. */
  read(text: string, of?: string): Entry | undefined {
    return text.length <= this.longestText ? entryFrom(text, of) : undefined
  }

  /** Each byte of a file may take six characters in JSON; what else there is are URLs, a few dozen. */
  get longestText(): number {
    return 6 * this.#options.maxBodyBytes + 1_048_576
  }

  /** Remembers an entry; resolves when the store has it too, or cannot. */
  async keep(entry: Entry): Promise<CachedRules> {
    const { store, policy, now } = this.#options
    const remembered = this.#remember(entry)
    const { origin } = entry
    if (store !== undefined) {
      await this.#patiently('set', origin, () => store.set(origin, entryText(entry), keepUntil(entry, now(), policy)))
    }
    return remembered
  }

  /** Of all entries in memory, the one used longest ago first. */
  *all(): Generator<Entry> {
    for (const origin of [...this.#memory.rkeys()]) {
      const remembered = this.#memory.peek(origin) // it may have gone since
      if (remembered !== undefined) yield remembered.entry
    }
  }

  get count(): number {
    return this.#memory.size
  }

  get bytes(): number {
    return this.#memory.calculatedSize
  }

  clear(): void {
    this.#last = undefined
    this.#memory.clear()
  }

  #remember(entry: Entry): CachedRules {
    const { copy, origin } = entry
    const rules = copy === undefined ? this.#noRules : this.#options.rulesOf(copy.bytes, origin)
    const remembered = { entry, rules, freshUntil: freshUntil(entry, this.#options.policy) }
    this.#memory.set(origin, remembered)
    this.#last = undefined
    return remembered
  }

  /** A store that fails is a store that knows nothing; somebody should hear of it, but not the caller. */
  async #patiently<T>(operation: 'get' | 'set', origin: string, ask: () => Promise<T>): Promise<T | undefined> {
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new StoreTimeoutError(operation)), STORE_PATIENCE_MS)
    try {
      return await Promise.race([ask(), late])
    } catch (error) {
      this.#options.telemetry.storeFailed({ operation, origin, error })
      return undefined
    } finally {
      clearTimeout(timer)
    }
  }
}

/** What the event `store-failed` carries where the store did not answer at all. */
class StoreTimeoutError extends Error {
  override readonly name = 'StoreTimeoutError'
  readonly code = 'ERR_POLITELY_STORE_TIMEOUT'
  constructor(operation: string) {
    super(`the store did not answer to ${operation} within ${STORE_PATIENCE_MS} ms`)
  }
}
