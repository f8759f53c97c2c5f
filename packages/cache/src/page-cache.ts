// PageCache: a private cache of pages (RFC 9111), for the option `cache` of politely(fetch). What happens
// to one request stands in `exchange.ts`.
import { OptionError } from '@politely/core'
import type { SitemapHint } from '@politely/core/revisit'
import { assertOptions, callable, integer, messageOf, number } from '@politely/fetcher/internal'
import type { CachedRequest, CacheExchange, FetchResponse, ResponseCache } from '@politely/gate'
import { attempted } from './awaitable.ts'
import { CachedFetch, restored, type Shared, storedBodyOf } from './exchange.ts'
import { PageFlights } from './flights.ts'
import type { Freshness } from './freshness.ts'
import { type CacheSettings, cacheSettingsOf, type PageCacheOptions } from './options.ts'
import type { StoredPage, VisitLog } from './page-store.ts'
import { pageKeyOf } from './response-fields.ts'
import { type StoreAttempt, Visits } from './visits.ts'

/** Which responses `prune` deletes. */
export interface PruneOptions {
  /** Those that the site has neither sent nor confirmed for so long. Milliseconds. */
  readonly olderThanMs: number
  /** Whether the visits of their URLs are deleted too. Default false. */
  readonly forget?: boolean | undefined
  /**
   * Only URLs for whose response this returns true. The other responses of such a URL, for other
   * values of Vary, are deleted too. Default: all.
   */
  readonly where?: ((page: StoredPage) => boolean) | undefined
}

/** What `prune` deleted. */
export interface Pruned {
  /** How many stored responses. */
  readonly pages: number
  /** How long their bodies were. */
  readonly bytes: number
}

/**
 * Which URLs `due` yields.
 * @inline
 */
interface DueOptions {
  /** Those that are due at this time. Milliseconds since 1970. Default: the time now. */
  readonly now?: number | undefined
  /** At most so many. Default 1000. */
  readonly limit?: number | undefined
}

/** A stored response, and how fresh it is now. */
export interface ListedPage extends StoredPage, Freshness {}

/**
 * A private cache of pages (RFC 9111). A stored page that is fresh is returned without a request, after
 * the ordinary check against robots.txt. One that is no longer fresh is requested with its ETag or its
 * Last-Modified, like any other request: it waits for its slot.
 *
 * A response is stored when its body has been read to its end. Requests for a page that is being
 * requested wait for its response to be stored.
 *
 * @example
 * ```ts
 * import { PageCache, cacheOf } from '@politely/cache'
 * import { politely } from '@politely/gate'
 *
 * const cache = new PageCache({ file: 'pages.sqlite' })
 * const fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0 (+https://example.com/bot)', cache })
 * const page = await fetch('https://example.com/about')
 * console.log(await page.text(), cacheOf(page)?.state)
 * await fetch.close()
 * await cache.close()
 * ```
 */
export class PageCache implements ResponseCache {
  readonly #settings: CacheSettings
  readonly #visits: Visits
  readonly #flights: PageFlights = new PageFlights()
  readonly #shared: Shared
  readonly #warned: Set<string> = new Set()

  /**
   * @throws {OptionError} for an invalid or unknown option.
   * @throws {StoreError} if the file cannot be opened, or belongs to another application.
   */
  constructor(options: PageCacheOptions = {}) {
    this.#settings = cacheSettingsOf(options)
    const failed = (error: unknown) => {
      const problem = `the store of the page cache has failed (${messageOf(error)}); requests go on without it`
      this.#warn('POLITELY_PAGE_STORE', problem)
      return undefined
    }
    const attempt: StoreAttempt = (work) => attempted(work, failed)
    this.#visits = new Visits(this.#settings.store, this.#settings.revisit, attempt)
    const warn = (code: string, message: string) => this.#warn(code, message)
    this.#shared = { settings: this.#settings, visits: this.#visits, flights: this.#flights, attempt, warn }
  }

  /** Called by `politely`. Not meant for other callers. */
  respond(request: CachedRequest, exchange: CacheExchange): Promise<FetchResponse> {
    return new CachedFetch(this.#shared, request, exchange).respond()
  }

  /**
   * Returns the stored response for a URL, however old, without a request and without a check against
   * robots.txt. Returns undefined if the page is not stored.
   */
  async get(url: string | URL): Promise<Response | undefined> {
    const { store } = this.#settings
    const [page] = await store.find(pageKeyOf(url))
    if (page === undefined) return undefined
    const chunks = await storedBodyOf(page, 'GET', store)
    return chunks && restored(page, chunks, this.#settings, 'hit', 'the caller asked the store')
  }

  /** Deletes the stored responses for a URL. Returns how many there were. Its visits are kept. */
  async delete(url: string | URL): Promise<number> {
    const key = pageKeyOf(url)
    this.#flights.invalidate(key)
    return this.#settings.store.delete(key)
  }

  /**
   * All stored responses, in no particular order. It is fresh if its `ageMs` is below its `lifetimeMs`.
   * @param url Only the responses for this URL, the last received first.
   */
  async *pages(url?: string | URL): AsyncGenerator<ListedPage, void, undefined> {
    const { store, now, freshness } = this.#settings
    const pages = url === undefined ? store.pages() : await store.find(pageKeyOf(url))
    for await (const page of pages) yield { ...page, ...freshness.freshnessOf(page.record, now()) }
  }

  /**
   * Deletes old responses.
   * @throws {OptionError} for an invalid option.
   */
  async prune(options: PruneOptions): Promise<Pruned> {
    assertOptions(options, '{ olderThanMs: 2_592_000_000 }', { olderThanMs: true, forget: true, where: true })
    const { forget = false, where = () => true } = options
    callable('where', where, 'a function that gets a stored response and returns true or false')
    const olderThanMs = number('olderThanMs', options.olderThanMs, { min: 0 })
    const { store, now } = this.#settings
    const before = now() - olderThanMs
    const urls = new Set<string>()
    let pages = 0
    let bytes = 0
    for await (const page of store.pages())
      if (where(page) && page.record.receivedAt < before) urls.add(page.record.url)
    for (const url of urls) {
      for (const { bodyBytes } of await store.find(url)) {
        pages++
        bytes += bodyBytes
      }
      await (forget ? store.forget(url) : store.delete(url))
    }
    await store.compact?.()
    return { pages, bytes }
  }

  /** Returns what is known of the visits to a URL. Undefined if it was never visited or scheduled. */
  async visits(url: string | URL): Promise<VisitLog | undefined> {
    return this.#settings.store.visits(pageKeyOf(url))
  }

  /**
   * Notes a URL for `due`, such as an entry of a sitemap. A new URL is due at once. A known one is due
   * earlier if a trusted date of the sitemap is later than its last visit.
   * @param sitemap What a sitemap says of the page: an entry of `@politely/sitemaps`, with `trust`.
   * @throws {OptionError} for a URL that is not http: or https:, or that has a password.
   */
  async schedule(url: string | URL, sitemap?: SitemapHint): Promise<VisitLog> {
    const { protocol, username, password } = URL.parse(String(url)) ?? {}
    if (!(protocol === 'http:' || protocol === 'https:') || username || password)
      throw new OptionError('url', 'cannot be fetched; expected an http: or https: URL without a password')
    this.#visits.isUsed = true
    return this.#visits.schedule(pageKeyOf(url), this.#settings.now(), sitemap)
  }

  /**
   * Yields the URLs whose next visit is due, the longest due first. When a URL is fetched through this
   * cache, its next visit is planned (`nextVisit` of `@politely/core/revisit`).
   * @throws {OptionError} for an invalid option.
   */
  async *due(options: DueOptions = {}): AsyncGenerator<VisitLog, void, undefined> {
    assertOptions(options, '{ limit: 1000 }', { now: true, limit: true })
    const { now = this.#settings.now(), limit = 1_000 } = options
    this.#visits.isUsed = true
    yield* await this.#settings.store.due(number('now', now, { min: 0 }), integer('limit', limit, { min: 1 }))
  }

  /** Closes the store. Later calls reject. */
  async close(): Promise<void> {
    await this.#settings.store.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #warn(code: string, message: string): void {
    if (this.#warned.has(code)) return
    this.#warned.add(code)
    process.emitWarning(message, { type: 'PolitelyWarning', code })
  }
}
