// The entries of a client: in memory, and in the store if the caller gave one.
import { type CrawlerRules, parseRobots } from '@politely/core'
import { type Entry, entryFrom, entryText, freshUntil, keepUntil } from '@politely/core/engine'
import { isOwnFailure, startsWithOrigin } from '@politely/core/internal'
import type { ClientSettings } from '../options/options.ts'
import type { Telemetry } from '../report/telemetry.ts'
import type { Lease } from '../store/store.ts'
import { StoreCalls } from '../store/store-calls.ts'
import { permitsEntry } from './entry-guard.ts'
import { type CachedRules, type CachedTdmrep, createMemory } from './memory.ts'

/** The first position in a URL at which its host may end. */
const AFTER_SCHEME = 'https://'.length

export class Entries {
  readonly #settings: ClientSettings
  readonly #telemetry: Telemetry
  readonly #closing: AbortSignal
  readonly #calls: StoreCalls
  readonly #memory
  /** The rules of an entry without a copy. They allow everything; the entry's state decides. */
  readonly noRules: CrawlerRules
  /** The result of the last lookup. Cleared by every write. */
  #last: CachedRules | undefined
  /** The calls of `newest` that wait for the store. */
  readonly #readings = new Set<{ readonly origin: string; isForgotten: boolean }>()

  /** @param closing Once it is aborted, no entry is saved any more. */
  constructor(settings: ClientSettings, telemetry: Telemetry, closing: AbortSignal) {
    this.#settings = settings
    this.#telemetry = telemetry
    this.#closing = closing
    this.#calls = new StoreCalls(telemetry, closing, settings.store?.lease !== undefined)
    this.#memory = createMemory(settings.maxCacheBytes)
    this.noRules = this.#parseRules('', undefined)
  }

  /** Returns the entry in memory and marks it as the most recently used. */
  inMemory(origin: string): CachedRules | undefined {
    const cached = this.#memory.get(origin)
    this.#last = cached
    return cached
  }

  /**
   * Like `inMemory`, for a URL whose text begins with its origin in normal form and a slash. Most
   * URLs begin so, and need no URL parser.
   */
  byUrl(url: string): CachedRules | undefined {
    const last = this.#last
    if (last !== undefined && startsWithOrigin(url, last.entry.origin)) return last // most links of a page share its origin
    const end = url.indexOf('/', AFTER_SCHEME)
    return end === -1 ? undefined : this.inMemory(url.slice(0, end))
  }

  /** Like `inMemory`, but does not update recency. */
  peek(origin: string): CachedRules | undefined {
    return this.#memory.peek(origin)
  }

  /** Returns the origin's tdmrep.json, and marks the origin as the most recently used. */
  tdmrepOf(origin: string): CachedTdmrep | undefined {
    return this.#memory.get(origin)?.tdmrep
  }

  /** Keeps the origin's tdmrep.json with its robots.txt, if memory still has that. The store doesn't get it. */
  keepTdmrep(origin: string, tdmrep: CachedTdmrep): void {
    const cached = this.#memory.peek(origin)
    if (cached === undefined) return
    this.#memory.set(origin, { ...cached, tdmrep })
    this.#last = undefined
  }

  /**
   * Returns the newer of the entries in memory and in the store, since another process may have
   * made an attempt.
   * @param reading The counters of the store count only the first reading, not the repeated
   * readings of a client that waits for another client's fetch.
   */
  async newest(origin: string, reading: 'first' | 'again' = 'first'): Promise<CachedRules | undefined> {
    const wait = { origin, isForgotten: false }
    this.#readings.add(wait)
    const stored = await this.inStore(origin, reading).finally(() => this.#readings.delete(wait))
    const cached = this.#memory.get(origin) // read after the store, since a write may have come meanwhile
    if (
      stored === undefined ||
      wait.isForgotten ||
      (cached !== undefined && cached.entry.latest.at >= stored.latest.at)
    )
      return cached
    return this.#saveInMemory(stored)
  }

  /** Returns the entry in the store without a copy in memory. */
  async inStore(origin: string, reading: 'first' | 'again' = 'first'): Promise<Entry | undefined> {
    const { store } = this.#settings
    if (store === undefined) return undefined
    const text = await this.#calls.call('get', origin, () => store.get(origin))
    const entry = typeof text === 'string' ? this.parse(text, origin) : undefined
    if (reading === 'first') this.#telemetry.count(entry === undefined ? 'storeMisses' : 'storeHits')
    return entry
  }

  /**
   * Parses an entry from a text of unknown origin. Returns undefined for an invalid text, for one
   * that is longer than `maxTextLength`, and for an entry that this client's own fetch would not
   * lead to, by its policy or its network guard.
   * @param origin The origin that the entry must be about. Default: any.
   */
  parse(text: string, origin?: string): Entry | undefined {
    const { policy, guard } = this.#settings
    const entry = text.length <= this.maxTextLength ? entryFrom(text, origin, policy) : undefined
    return entry !== undefined && permitsEntry(guard, entry) ? entry : undefined
  }

  /**
   * The length of the longest entry as text: six characters of JSON for each byte of the file, and
   * 1 MiB for URLs and the rest.
   */
  get maxTextLength(): number {
    return 6 * this.#settings.maxBodyBytes + 1_048_576
  }

  /**
   * Saves an entry in memory and in the store. Resolves when the store has saved it or has failed.
   * A failure of this client itself is not stored: it says nothing to other clients, and would
   * replace an entry that they can use.
   */
  async save(entry: Entry): Promise<CachedRules> {
    const { store, policy, now } = this.#settings
    const cached = this.#saveInMemory(entry)
    const { origin, latest } = entry
    if (store !== undefined && !isOwnFailure(latest)) {
      await this.#calls.call('set', origin, () => store.set(origin, entryText(entry), keepUntil(entry, now(), policy)))
    }
    return cached
  }

  /**
   * Takes the lease of an origin: `held` if another client holds it, `none` if the store has no
   * leases or has failed.
   */
  async lease(origin: string, leaseMs: number): Promise<Lease | 'held' | 'none'> {
    const { store } = this.#settings
    if (store?.lease === undefined) return 'none'
    let pending: Promise<Lease | undefined> | undefined
    const lease = await this.#calls.call('lease', origin, async () => {
      pending = store.lease?.(origin, leaseMs)
      return (await pending) ?? 'held'
    })
    if (lease !== undefined) return lease
    pending?.then((late) => late?.release()).catch(() => undefined) // after a timeout, this client does not use the lease
    return 'none'
  }

  async release(origin: string, lease: Lease): Promise<void> {
    await this.#calls.call('release', origin, async () => lease.release())
  }

  /** Yields all entries in memory, the least recently used first. */
  *all(): Generator<Entry> {
    for (const origin of [...this.#memory.rkeys()]) {
      const cached = this.#memory.peek(origin) // may have been evicted since
      if (cached !== undefined) yield cached.entry
    }
  }

  get storeOutageMs(): number {
    return this.#calls.outageMs
  }

  get count(): number {
    return this.#memory.size
  }

  get bytes(): number {
    return this.#memory.calculatedSize
  }

  /**
   * Removes the entry of an origin from the store, then from memory. Resolves with whether the
   * store has removed it; without a store, with true.
   */
  async forget(origin: string): Promise<boolean> {
    const { store } = this.#settings
    const isRemoved =
      store === undefined ||
      (await this.#calls.call('delete', origin, async () => {
        await store.delete(origin)
        return true
      })) === true
    for (const reading of this.#readings) if (reading.origin === origin) reading.isForgotten = true
    this.#last = undefined
    this.#memory.delete(origin)
    return isRemoved
  }

  /** Removes all entries from memory. The store keeps its own. */
  clear(): void {
    this.#last = undefined
    this.#memory.clear()
  }

  #saveInMemory(entry: Entry): CachedRules {
    this.#closing.throwIfAborted() // the store or the site may have responded after `close` emptied the memory
    const { copy, origin } = entry
    const rules = copy === undefined ? this.noRules : this.#parseRules(copy.bytes, origin)
    const { tdmrep } = this.#memory.peek(origin) ?? { tdmrep: undefined }
    const cached = { entry, rules, freshUntil: freshUntil(entry, this.#settings.policy), tdmrep }
    this.#memory.set(origin, cached)
    this.#last = undefined
    return cached
  }

  /** Parses robots.txt and binds its rules to the client's crawler. */
  #parseRules(bytes: string, origin: string | undefined): CrawlerRules {
    const { dialect, productTokens } = this.#settings
    return parseRobots({ bytes }, { dialect, ...(origin && { origin }) }).forCrawler(productTokens)
  }
}
