// PageCache: a private cache of pages (RFC 9111), for the option `cache` of politely(fetch).
//
// One request goes through these steps:
// 1. A request that no stored page can answer is sent as it is (`bypass`).
// 2. A stored page that is fresh is returned, after the check against robots.txt (`hit`).
// 3. If another request is fetching the page, this one waits for the store to have it.
// 4. Otherwise the request is sent, with the validators of the stored page if there is one. A 304
//    returns the stored page (`revalidated`), a failure may do so (`stale`), and another response is
//    stored while the caller reads it (`stored`).
import { isPolitelyError, OptionError, outcomeOf } from '@politely/core'
import { httpDate } from '@politely/core/engine'
import type { SitemapHint } from '@politely/core/revisit'
import { assertOptions, integer, messageOf, number } from '@politely/fetcher/internal'
import type { CachedRequest, CacheExchange, FetchResponse, ResponseCache } from '@politely/gate'
import { type CacheReport, type CacheState, report } from './cache-report.ts'
import { CacheMissError } from './errors.ts'
import { type Flight, type FlightEnd, Flights } from './flights.ts'
import { directivesOf, type Freshness, secondsOf } from './freshness.ts'
import { withBody } from './lazy-body.ts'
import { type PageCacheOptions, type Settings, settingsOf } from './options.ts'
import type { Awaitable, PageRecord, PageWriter, StoredPage, VisitLog } from './page-store.ts'
import { type BodyEnd, recorded } from './recorded-body.ts'
import {
  fits,
  freshenedHeaders,
  headerOf,
  invalidatedBy,
  isOfOtherPage,
  isPersonal,
  keyOf,
  storedHeaders,
  validatorsOf,
  variedFields,
  withoutBody,
} from './response-fields.ts'
import { Visits } from './visits.ts'

/** Methods that change nothing at the site (RFC 9110 §9.2.1). */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** With one of these, the caller asks the site itself. */
const OWN_CONDITIONS = ['range', 'if-range', 'if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since']

const NULL_BODY: ReadonlySet<number> = new Set([204, 205, 304])
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Which responses `prune` deletes. */
export interface PruneOptions {
  /** Those that the site has neither sent nor confirmed for so long. Milliseconds. */
  readonly olderThanMs: number
  /** Whether the visits of their URLs are deleted too. Default false. */
  readonly forget?: boolean | undefined
}

/** Which URLs `due` yields. */
export interface DueOptions {
  /** Those that are due at this time. Milliseconds since 1970. Default: the time now. */
  readonly now?: number | undefined
  /** At most so many. Default 1000. */
  readonly limit?: number | undefined
}

/** A stored response, and how fresh it is now. */
export interface ListedPage extends StoredPage, Freshness {}

/** What `prune` deleted. */
export interface Pruned {
  /** How many stored responses. */
  readonly pages: number
  /** How long their bodies were. */
  readonly bytes: number
}

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
  readonly #settings: Settings
  readonly #visits: Visits
  readonly #flights: Flights = new Flights()
  readonly #shared: Shared
  #hasFailed = false

  /**
   * @throws {OptionError} for an invalid or unknown option.
   * @throws {StoreError} if the file cannot be opened, or belongs to another application.
   */
  constructor(options: PageCacheOptions = {}) {
    this.#settings = settingsOf(options)
    this.#visits = new Visits(this.#settings.store, this.#settings.revisit)
    const failed = (error: unknown) => this.#failed(error)
    this.#shared = { settings: this.#settings, visits: this.#visits, flights: this.#flights, failed }
  }

  /** Called by `politely`. Not meant for other callers. */
  async respond(request: CachedRequest, exchange: CacheExchange): Promise<FetchResponse> {
    return new Exchange(this.#shared, request, exchange).respond()
  }

  /**
   * Returns the stored response for a URL, however old, without a request and without a check against
   * robots.txt. Returns undefined if the page is not stored.
   */
  async get(url: string | URL): Promise<Response | undefined> {
    const [page] = await this.#settings.store.find(keyOf(url))
    return page && (await restored(page, 'GET', this.#settings, 'hit', 'the caller asked the store'))
  }

  /** Deletes the stored responses for a URL. Returns how many there were. Its visits are kept. */
  async delete(url: string | URL): Promise<number> {
    const key = keyOf(url)
    this.#flights.invalidate(key, this.#settings.now())
    return this.#settings.store.delete(key)
  }

  /**
   * All stored responses, in no particular order. It is fresh if its `ageMs` is below its `lifetimeMs`.
   * @param url Only the responses for this URL, the last received first.
   */
  async *pages(url?: string | URL): AsyncGenerator<ListedPage, void, undefined> {
    const { store, now, freshness } = this.#settings
    const pages = url === undefined ? store.pages() : await store.find(keyOf(url))
    for await (const page of pages) yield { ...page, ...freshness.freshnessOf(page.record, now()) }
  }

  /**
   * Deletes old responses.
   * @throws {OptionError} for an invalid option.
   */
  async prune(options: PruneOptions): Promise<Pruned> {
    assertOptions(options, '{ olderThanMs: 2_592_000_000 }', { olderThanMs: true, forget: true })
    const { forget = false } = options
    const olderThanMs = number('olderThanMs', options.olderThanMs, { min: 0 })
    const { store, now } = this.#settings
    const before = now() - olderThanMs
    const urls = new Set<string>()
    let pages = 0
    let bytes = 0
    for await (const { record, bodyBytes } of store.pages()) {
      if (record.receivedAt >= before) continue
      urls.add(record.url)
      pages++
      bytes += bodyBytes
    }
    for (const url of urls) await (forget ? store.forget(url) : store.delete(url))
    return { pages, bytes }
  }

  /** Returns what is known of the visits to a URL. Undefined if it was never visited or scheduled. */
  async visits(url: string | URL): Promise<VisitLog | undefined> {
    return this.#settings.store.visits(keyOf(url))
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
    return this.#visits.schedule(keyOf(url), this.#settings.now(), sitemap)
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

  #failed(error: unknown): void {
    if (this.#hasFailed) return
    this.#hasFailed = true
    process.emitWarning(`the store of the page cache has failed (${messageOf(error)}); requests go on without it`, {
      type: 'PolitelyWarning',
      code: 'POLITELY_PAGE_STORE',
    })
  }
}

/** What the requests of one cache share. */
interface Shared {
  readonly settings: Settings
  readonly visits: Visits
  readonly flights: Flights
  /** Called when the store fails. */
  readonly failed: (error: unknown) => void
}

/** One request through the cache. */
class Exchange {
  readonly #settings: Settings
  readonly #visits: Visits
  readonly #flights: Flights
  readonly #request: CachedRequest
  readonly #exchange: CacheExchange
  readonly #failed: (error: unknown) => void

  constructor({ settings, visits, flights, failed }: Shared, request: CachedRequest, exchange: CacheExchange) {
    this.#settings = settings
    this.#visits = visits
    this.#flights = flights
    this.#request = request
    this.#exchange = exchange
    this.#failed = failed
  }

  async respond(): Promise<FetchResponse> {
    const { method, headers, hasBody, url } = this.#request
    const why =
      (method !== 'GET' && method !== 'HEAD' && `the method is ${method}`) ||
      (hasBody && 'the request has a body') ||
      (OWN_CONDITIONS.some((name) => headers[name] !== undefined) && 'the caller asks for a part or with a condition')
    if (this.#settings.offline) return this.#answerOffline(why !== false)
    if (why !== false) return this.#bypass(why)

    const found = await this.#find()
    if (found !== undefined && this.#isUsable(found) && !(await this.#isOutdated(found))) {
      await this.#exchange.check()
      const hit = await this.#restore(found, 'hit', 'it is fresh')
      if (hit !== undefined) {
        const { ageMs, lifetimeMs } = this.#freshness(found)
        await this.#postpone(this.#settings.now() + lifetimeMs - ageMs)
        return hit
      }
    }
    const directives = directivesOf(headers['cache-control'])
    if (directives.has('only-if-cached')) return this.#notCached()
    if (directives.has('no-store')) return this.#bypass('the request says no-store')
    if (method !== 'GET' || directives.size > 0 || isPersonal(headers)) return this.#revalidate(found, undefined)

    const joinedAt = this.#settings.now()
    for (let other = this.#flights.of(url); other !== undefined; other = this.#flights.of(url)) {
      const end = await other.follow(this.#request.signal)
      const stored = end === 'stored' ? await this.#find() : undefined
      if (stored !== undefined && stored.record.receivedAt >= joinedAt) {
        await this.#exchange.check()
        const hit = await this.#restore(stored, 'hit', 'another request has just fetched it')
        if (hit !== undefined) return hit
      }
      if (end !== 'aborted') return this.#revalidate(await this.#find(), undefined)
    }
    return this.#lead(found)
  }

  /** Fetches a page for which other requests may wait. */
  async #lead(found: StoredPage | undefined): Promise<FetchResponse> {
    const flight = this.#flights.begin(this.#request.url)
    try {
      return await this.#revalidate(found, flight)
    } catch (error) {
      flight.end(this.#endWithoutPage())
      throw error
    }
  }

  /** Sends a stored response's validators, and returns what follows. */
  async #revalidate(found: StoredPage | undefined, flight: Flight | undefined): Promise<FetchResponse> {
    const { headers, url, signal } = this.#request
    const { now } = this.#settings
    const requestedAt = now()
    const isStaleAllowed = found !== undefined && this.#mayBeStale(found)
    let sent: FetchResponse
    try {
      sent = await this.#exchange.send({ ...headers, ...(found && validatorsOf(found.record.headers)) })
    } catch (error) {
      if (isPolitelyError(error) && error.code === 'ERR_POLITELY_DISALLOWED')
        await this.#postpone((error as { readonly retryAt?: number }).retryAt)
      if (!isFailure(error, signal)) throw error
      await this.#visited({ at: now(), status: 0, changed: false })
      const stale = isStaleAllowed && (await this.#restore(found, 'stale', `the request failed: ${messageOf(error)}`))
      if (!stale) throw error
      flight?.end('failed')
      return stale
    } finally {
      // A request that comes now would wait for a body that this caller may never read.
      if (flight !== undefined) this.#flights.close(url)
    }
    if (found !== undefined && sent.status === 304) {
      await cancel(sent.body)
      if (isOfOtherPage(found.record.headers, sent)) return this.#revalidate(undefined, flight)
      const fresh = { ...found, record: this.#freshened(found.record, sent, requestedAt) }
      await this.#attempt(() => this.#settings.store.update(found.id, fresh.record))
      await this.#visitedPage(fresh.record, 304, false, undefined)
      flight?.end('stored')
      const revalidated = await this.#restore(fresh, 'revalidated', 'the site says that it is unchanged')
      // Another request or process has deleted the page meanwhile.
      return revalidated ?? this.#revalidate(undefined, flight)
    }
    if (sent.status >= 500 && isStaleAllowed) {
      const stale = await this.#restore(found, 'stale', `the site answered with status ${sent.status}`)
      if (stale !== undefined) {
        await cancel(sent.body)
        await this.#visited({ at: now(), status: sent.status, changed: false })
        flight?.end('failed')
        return stale
      }
    }
    return this.#stored(sent, found, requestedAt, flight)
  }

  /** Returns a sent response whose body is stored as the caller reads it. */
  async #stored(
    sent: FetchResponse,
    found: StoredPage | undefined,
    requestedAt: number,
    flight: Flight | undefined,
  ): Promise<FetchResponse> {
    const { url, method, headers: requestHeaders } = this.#request
    const { now, freshness, maxEntryBytes, store, fingerprint: fingerprintOf } = this.#settings
    const { status, body } = sent
    const fields = storedHeaders(sent)
    const receivedAt = now()
    const draft: Omit<PageRecord, 'storedAt'> = {
      url,
      varied: variedFields(headerOf(fields, 'vary'), requestHeaders),
      status,
      statusText: (sent as Partial<Response>).statusText ?? '',
      headers: fields,
      robotsTags: this.#exchange.robotsTagsOf(sent),
      requestedAt,
      receivedAt,
    }
    const why =
      (method !== 'GET' && `the method is ${method}`) ||
      (!freshness.isStorable(draft) && 'HTTP forbids to store it') ||
      (body !== null && !(body instanceof ReadableStream) && 'its body is not a stream of the web') ||
      ((numberOf(headerOf(fields, 'content-length')) ?? 0) > maxEntryBytes && 'it is longer than maxEntryBytes') ||
      (headerOf(fields, 'content-type')?.startsWith('text/event-stream') && 'it is a stream of events')
    const about: CacheReport = {
      state: why ? 'bypass' : 'stored',
      ageMs: 0,
      storedAt: undefined,
      because: why || 'the site sent it',
    }
    if (why) flight?.end('failed')
    if (method !== 'GET') return report(sent, about)

    const location = REDIRECTS.has(status) ? headerOf(fields, 'location') : undefined
    if (location !== undefined || !(body instanceof ReadableStream)) {
      // Few read the body of a redirect, so it is left out.
      const record = { ...draft, headers: location === undefined ? fields : withoutBody(fields), storedAt: receivedAt }
      const isStored = !why && (await this.#commit(await this.#attempt(() => store.begin()), record))
      await this.#visitedPage(record, status, found !== undefined, location && `${status} ${location}`)
      flight?.end(isStored ? 'stored' : 'failed')
      return report(sent, about)
    }
    // The caller may not read the body of an error, or of a page that is due.
    if (status >= 400) await this.#visitedPage({ ...draft, storedAt: receivedAt }, status, false, undefined)
    else await this.#postpone()
    const response = recorded(sent as Response, {
      begin: why ? undefined : () => store.begin(),
      maxBytes: maxEntryBytes,
      expectedBytes:
        headerOf(fields, 'content-encoding') === undefined ? numberOf(headerOf(fields, 'content-length')) : undefined,
      flight: flight?.hasFollowers && !why ? flight : undefined,
      fingerprintOf: fingerprintOf && ((bytes) => fingerprintOf(bytes, { url, headers: sent.headers as Headers })),
      onEnd: (end, writer) => this.#bodyEnded(end, writer, draft, found, flight),
      onFailure: this.#failed,
    })
    return report(response, about)
  }

  async #bodyEnded(
    { isWhole, fingerprint }: BodyEnd,
    writer: PageWriter | undefined,
    draft: Omit<PageRecord, 'storedAt'>,
    found: StoredPage | undefined,
    flight: Flight | undefined,
  ): Promise<void> {
    const record = { ...draft, storedAt: this.#settings.now() }
    const isStored = isWhole && (await this.#commit(writer, record))
    if (record.status < 400) {
      // Without a body to compare, the site's answer to the validators says whether the page has changed.
      const hasValidators = found !== undefined && Object.keys(validatorsOf(found.record.headers)).length > 0
      await this.#visitedPage(record, record.status, hasValidators, fingerprint)
    }
    flight?.end(isStored ? 'stored' : this.#endWithoutPage())
  }

  /**
   * Stores a response, unless a newer one was stored meanwhile or the page may have changed. Returns
   * whether it is stored.
   */
  async #commit(writer: PageWriter | undefined, record: PageRecord): Promise<boolean> {
    if (writer === undefined) return false
    const isStored = await this.#attempt(async () => {
      const newer = await this.#find()
      const { url, requestedAt, receivedAt } = record
      if (!this.#flights.isValid(url, requestedAt) || (newer && newer.record.receivedAt > receivedAt)) {
        await writer.abort()
        return false
      }
      await writer.commit(record)
      return true
    })
    return isStored === true
  }

  /** Returns what the end of this request without a page means for requests that wait for it. */
  #endWithoutPage(): FlightEnd {
    return this.#request.signal?.aborted ? 'aborted' : 'failed'
  }

  async #answerOffline(isOther: boolean): Promise<FetchResponse> {
    const { url } = this.#request
    if (isOther) throw new CacheMissError(url, 'request')
    if (!(await this.#exchange.checkStored())) throw new CacheMissError(url, 'rules')
    const found = await this.#find()
    if (found === undefined) throw new CacheMissError(url, 'page')
    const { ageMs, lifetimeMs } = this.#freshness(found)
    const page =
      ageMs < lifetimeMs
        ? await this.#restore(found, 'hit', 'it is fresh')
        : await this.#restore(found, 'stale', 'the cache is offline')
    if (page === undefined) throw new CacheMissError(url, 'page')
    return page
  }

  async #bypass(because: string): Promise<FetchResponse> {
    const { url, method, headers } = this.#request
    const sent = await this.#exchange.send(headers)
    if (!SAFE.has(method) && sent.status >= 200 && sent.status < 400) {
      for (const invalid of invalidatedBy(url, sent)) {
        this.#flights.invalidate(invalid, this.#settings.now())
        await this.#attempt(() => this.#settings.store.delete(invalid))
      }
    }
    return report(sent, { state: 'bypass', ageMs: 0, storedAt: undefined, because })
  }

  #notCached(): Response {
    const response = asSent(new Response(null, { status: 504, statusText: 'Gateway Timeout' }), this.#request.url)
    return report(this.#exchange.adopt(response, []), {
      state: 'bypass',
      ageMs: 0,
      storedAt: undefined,
      because: 'the request says only-if-cached, and nothing that is stored may answer it',
    })
  }

  /** Makes a response of what is stored. Undefined if its body is gone. */
  async #restore(page: StoredPage, state: CacheState, because: string): Promise<Response | undefined> {
    const { method } = this.#request
    const response = await this.#attempt(() => restored(page, method, this.#settings, state, because))
    return response && this.#exchange.adopt(response, page.record.robotsTags)
  }

  async #find(): Promise<StoredPage | undefined> {
    const { url, headers } = this.#request
    const found = (await this.#attempt(() => this.#settings.store.find(url))) ?? []
    return found.find(({ record }) => fits(record, headers))
  }

  #freshness({ record }: StoredPage): Freshness {
    const { now, freshness } = this.#settings
    return freshness.freshnessOf(record, now())
  }

  /** Whether a stored response may be returned without asking the site (RFC 9111 §4.2, §5.2.1). */
  #isUsable(found: StoredPage): boolean {
    if (this.#settings.refresh) return false
    const { headers } = this.#request
    const asked = directivesOf(headers['cache-control'] ?? (/no-cache/i.test(headers.pragma ?? '') ? 'no-cache' : ''))
    if (asked.has('no-cache') || asked.has('no-store')) return false
    const { ageMs, lifetimeMs } = this.#freshness(found)
    const maxAgeMs = secondsOf(asked.get('max-age'))
    if (maxAgeMs !== undefined && (maxAgeMs === 0 || ageMs > maxAgeMs)) return false
    const minFreshMs = secondsOf(asked.get('min-fresh'))
    if (minFreshMs !== undefined && lifetimeMs - ageMs < minFreshMs) return false
    if (ageMs < lifetimeMs) return true
    if (!asked.has('max-stale') || forbidsStale(found)) return false
    const maxStaleMs = secondsOf(asked.get('max-stale')) ?? Number.POSITIVE_INFINITY
    return ageMs - lifetimeMs <= maxStaleMs
  }

  /** Whether a stored response may be returned because the site fails (RFC 5861 §4). */
  #mayBeStale(found: StoredPage): boolean {
    if (forbidsStale(found)) return false
    if (this.#settings.isStaleIfError) return true
    const allowedMs = secondsOf(directivesIn(found).get('stale-if-error')) ?? 0
    const { ageMs, lifetimeMs } = this.#freshness(found)
    return ageMs < lifetimeMs + allowedMs
  }

  /** Returns what is known of a stored response after a 304 (RFC 9111 §3.2). */
  #freshened(record: PageRecord, sent: FetchResponse, requestedAt: number): PageRecord {
    return {
      ...record,
      headers: freshenedHeaders(record.headers, sent),
      robotsTags: sent.headers.get('x-robots-tag') === null ? record.robotsTags : this.#exchange.robotsTagsOf(sent),
      requestedAt,
      receivedAt: this.#settings.now(),
    }
  }

  async #visitedPage(
    record: PageRecord,
    status: number,
    changed: boolean,
    fingerprint: string | undefined,
  ): Promise<void> {
    const { now, freshness } = this.#settings
    const at = now()
    const { ageMs, lifetimeMs } = freshness.freshnessOf(record, at)
    await this.#visited({
      at,
      status,
      fingerprint,
      changed,
      lastModified: httpDate(headerOf(record.headers, 'last-modified') ?? '', at),
      freshUntil: lifetimeMs > ageMs ? at + lifetimeMs - ageMs : undefined,
      unavailableAfter: await unavailableAfter(record.robotsTags, at),
    })
  }

  /** Notes a visit. Those of a caller's own cookies and authorization are about another page. */
  async #visited(found: Parameters<Visits['add']>[1]): Promise<void> {
    const { method, url, headers } = this.#request
    if (method !== 'GET') return
    if (isPersonal(headers)) await this.#postpone()
    else await this.#attempt(() => this.#visits.add(url, found))
  }

  /** Lets a page that is due be due later. */
  async #postpone(until?: number): Promise<void> {
    const { now } = this.#settings
    if (this.#visits.isUsed) await this.#attempt(() => this.#visits.postpone(this.#request.url, now(), until))
  }

  /** Whether a sitemap dates a change after the stored response. */
  async #isOutdated({ record }: StoredPage): Promise<boolean> {
    if (!this.#visits.isUsed) return false
    return (await this.#attempt(() => this.#visits.hasChangedSince(record.url, record.receivedAt))) ?? false
  }

  /** Works with the store. If that fails, requests go on without it. */
  async #attempt<T>(work: () => Awaitable<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      this.#failed(error)
      return undefined
    }
  }
}

/** Makes a response of what is stored. Undefined if its body is gone. */
async function restored(
  { id, record, bodyBytes }: StoredPage,
  method: string,
  { now, freshness, store }: Settings,
  state: CacheState,
  because: string,
): Promise<Response | undefined> {
  const { url, status, statusText, storedAt } = record
  const { ageMs } = freshness.freshnessOf(record, now())
  const headers = record.headers.filter(([name]) => name !== 'age') as [string, string][]
  headers.push(['age', String(Math.floor(ageMs / 1000))])
  const hasBody = method !== 'HEAD' && bodyBytes > 0 && !NULL_BODY.has(status)
  const chunks = hasBody ? await store.body(id) : undefined
  if (hasBody && chunks === undefined) return undefined
  const response = asSent(new Response(null, { status, statusText, headers }), url)
  if (chunks !== undefined) {
    withBody(response, {
      stream: () => ReadableStream.from(copies(chunks)) as ReadableStream<Uint8Array>,
      whole: () => joined(chunks, bodyBytes),
    })
  }
  return report(response, { state, ageMs, storedAt, because })
}

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

async function joined(chunks: Chunks, length: number): Promise<Uint8Array> {
  if (Array.isArray(chunks) && chunks.length === 1) return chunks[0]
  const all = Buffer.allocUnsafeSlow(length)
  let at = 0
  for await (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.byteLength
  }
  return all
}

async function* copies(chunks: Chunks): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield chunk.slice()
}

const directivesIn = ({ record }: StoredPage): ReadonlyMap<string, string> =>
  directivesOf(headerOf(record.headers, 'cache-control'))

function forbidsStale(found: StoredPage): boolean {
  const directives = directivesIn(found)
  return directives.has('must-revalidate') || directives.has('no-cache')
}

/** Whether an error of `send` means that the site fails. */
function isFailure(error: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted) return false
  const { code, because } = Object(error) as { readonly [P in 'code' | 'because']?: unknown }
  if (code === 'ERR_POLITELY_CIRCUIT' || (code === 'ERR_POLITELY_WAIT' && because === 'circuit')) return true
  return outcomeOf(error)?.kind === 'connection'
}

/** Reads `unavailable_after` of the lines of X-Robots-Tag, which is rare. */
async function unavailableAfter(robotsTags: readonly string[], now: number): Promise<number | undefined> {
  if (!robotsTags.some((line) => /unavailable_after/i.test(line))) return undefined
  const { robotsDirectives } = await import('@politely/core/usage')
  return robotsDirectives({ headers: { 'x-robots-tag': [...robotsTags] }, now }, '*').unavailableAfter
}

/** Makes a response look as fetch returns it. */
function asSent(response: Response, url: string): Response {
  Object.defineProperty(response, 'url', { value: url, configurable: true })
  return response
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}

async function cancel(body: object | null): Promise<void> {
  const { cancel: end } = (body ?? {}) as { cancel?(): Promise<void> }
  await end?.call(body).catch(() => undefined)
}
