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
import { httpDate, outcomesThatMay } from '@politely/core/engine'
import type { SitemapHint } from '@politely/core/revisit'
import {
  assertOptions,
  callable,
  integer,
  isDecodedByFetch,
  makeResponse,
  messageOf,
  NULL_BODY,
  number,
  UNSEEN_CODING,
} from '@politely/fetcher/internal'
import type { CachedRequest, CacheExchange, FetchResponse, ResponseCache } from '@politely/gate'
import { type CacheReport, type CacheState, report } from './cache-report.ts'
import { CacheMissError } from './errors.ts'
import { type Flight, type FlightEnd, Flights } from './flights.ts'
import { directivesOf, type Freshness, secondsOf } from './freshness.ts'
import { withBody } from './lazy-body.ts'
import { type PageCacheOptions, type Settings, settingsOf } from './options.ts'
import type { PageRecord, PageStore, PageWriter, StoredPage, VisitLog } from './page-store.ts'
import { type BodyEnd, recorded } from './recorded-body.ts'
import {
  freshenedHeaders,
  type HeaderList,
  hasChanged,
  headerOf,
  invalidatedBy,
  isOfOtherPage,
  keyOf,
  storedHeaders,
  validatorsOf,
  withoutBody,
} from './response-fields.ts'
import { type Attempt, Visits } from './visits.ts'

/** Methods that change nothing at the site (RFC 9110 §9.2.1). */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** With one of these, the caller asks the site itself. */
const OWN_CONDITIONS = ['range', 'if-range', 'if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since']

/** What is stored: pages, redirects, and that a page is missing. Errors and what is sent in place of a page are not. */
const KEPT_OUTCOMES = new Set(outcomesThatMay('be-stored'))
/** The types of challenges and login pages. */
const MAY_BE_CHALLENGE = /html|json|xml|text/i
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Which responses `prune` deletes. */
export interface PruneOptions {
  /** Those that the site has neither sent nor confirmed for so long. Milliseconds. */
  readonly olderThanMs: number
  /** Whether the visits of their URLs are deleted too. Default false. */
  readonly forget?: boolean | undefined
  /**
   * Only URLs with a response for which this returns true, such as those of one host. The other
   * responses of such a URL, for other values of Vary, are deleted too. Default: all.
   */
  readonly where?: ((page: StoredPage) => boolean) | undefined
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
  readonly #warned: Set<string> = new Set()

  /**
   * @throws {OptionError} for an invalid or unknown option.
   * @throws {StoreError} if the file cannot be opened, or belongs to another application.
   */
  constructor(options: PageCacheOptions = {}) {
    this.#settings = settingsOf(options)
    const attempt: Attempt = async (work) => {
      try {
        return await work()
      } catch (error) {
        this.#warn(
          'POLITELY_PAGE_STORE',
          `the store of the page cache has failed (${messageOf(error)}); requests go on without it`,
        )
        return undefined
      }
    }
    this.#visits = new Visits(this.#settings.store, this.#settings.revisit, attempt)
    const warn = (code: string, message: string) => this.#warn(code, message)
    this.#shared = { settings: this.#settings, visits: this.#visits, flights: this.#flights, attempt, warn }
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
    const { store } = this.#settings
    const [page] = await store.find(keyOf(url))
    if (page === undefined) return undefined
    const chunks = await bodyOf(page, 'GET', store)
    return chunks && restored(page, chunks, this.#settings, 'hit', 'the caller asked the store')
  }

  /** Deletes the stored responses for a URL. Returns how many there were. Its visits are kept. */
  async delete(url: string | URL): Promise<number> {
    const key = keyOf(url)
    this.#flights.invalidate(key)
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

  #warn(code: string, message: string): void {
    if (this.#warned.has(code)) return
    this.#warned.add(code)
    process.emitWarning(message, { type: 'PolitelyWarning', code })
  }
}

/** What the requests of one cache share. */
interface Shared {
  readonly settings: Settings
  readonly visits: Visits
  readonly flights: Flights
  readonly attempt: Attempt
  /** Warns of a mistake of the program, once for each code. */
  readonly warn: (code: string, message: string) => void
}

/** What was sent to the site. */
interface Asked {
  /** What was stored then. */
  readonly found: StoredPage | undefined
  /** Whether its validators were sent. */
  readonly isConditional: boolean
  readonly requestedAt: number
}

/** One request through the cache. */
class Exchange {
  readonly #settings: Settings
  readonly #visits: Visits
  readonly #flights: Flights
  readonly #request: CachedRequest
  readonly #exchange: CacheExchange
  readonly #attempt: Attempt
  readonly #warn: Shared['warn']
  /** When the request was sent, in the order of requests and invalidations. */
  #turn = 0

  constructor(shared: Shared, request: CachedRequest, exchange: CacheExchange) {
    const { settings, visits, flights, attempt, warn } = shared
    this.#settings = settings
    this.#visits = visits
    this.#flights = flights
    this.#request = request
    this.#exchange = exchange
    this.#attempt = attempt
    this.#warn = warn
  }

  async respond(): Promise<FetchResponse> {
    const { method, headers, hasBody, url, isReload = false } = this.#request
    const why =
      (method !== 'GET' && method !== 'HEAD' && `the method is ${method}`) ||
      (hasBody && 'the request has a body') ||
      (OWN_CONDITIONS.some((name) => headers[name] !== undefined) && 'the caller asks for a part or with a condition')
    if (this.#settings.offline) return this.#answerOffline(why !== false)
    if (why !== false) return this.#bypass(why)

    const found = await this.#find()
    const directives = directivesOf(headers['cache-control'])
    if (!isReload && found !== undefined && this.#isUsable(found) && !(await this.#isOutdated(found))) {
      await this.#exchange.check()
      const hit = await this.#restoreByAge(found, 'the request accepts an old page')
      if (hit !== undefined) {
        const { ageMs, lifetimeMs } = this.#freshness(found)
        await this.#postpone(this.#settings.now() + lifetimeMs - ageMs)
        return hit
      }
    }
    if (directives.has('only-if-cached')) return this.#notCached()
    if (directives.has('no-store')) return this.#bypass('the request says no-store')
    if (isReload || method !== 'GET' || directives.size > 0 || this.#isPersonal)
      return this.#revalidate(found, undefined)

    const joinedAt = this.#settings.now()
    const key = this.#settings.requestHeaders.flightKey(url, headers)
    for (let other = this.#flights.of(key); other !== undefined; other = this.#flights.of(key)) {
      const end = await other.follow(this.#request.signal)
      const stored = end === 'stored' ? await this.#find() : undefined
      if (stored !== undefined && stored.record.receivedAt >= joinedAt) {
        await this.#exchange.check()
        const hit = await this.#restore(stored, 'hit', 'another request has just fetched it')
        if (hit !== undefined) return hit
      }
      if (end !== 'aborted') return this.#revalidate(await this.#find(), undefined)
    }
    return this.#lead(found, key)
  }

  /** Fetches a page for which other requests may wait. */
  async #lead(found: StoredPage | undefined, key: string): Promise<FetchResponse> {
    const flight = this.#flights.begin(key)
    try {
      return await this.#revalidate(found, flight)
    } catch (error) {
      flight.end(this.#endWithoutPage())
      throw error
    }
  }

  /** Sends a stored response's validators, and returns what follows. */
  async #revalidate(
    found: StoredPage | undefined,
    flight: Flight | undefined,
    sendsValidators = this.#request.isReload !== true,
  ): Promise<FetchResponse> {
    const { headers, signal } = this.#request
    const { now, store, freshness } = this.#settings
    const requestedAt = now()
    this.#turn = this.#flights.nextTurn()
    const validators = found === undefined || !sendsValidators ? {} : validatorsOf(found.record.headers)
    const isConditional = Object.keys(validators).length > 0
    const staleCopy = () => (found !== undefined && sendsValidators && this.#mayBeStale(found) ? found : undefined)
    let sent: FetchResponse
    try {
      sent = await this.#exchange.send({ ...headers, ...validators })
    } catch (error) {
      if (isPolitelyError(error) && error.code === 'ERR_POLITELY_DISALLOWED')
        await this.#postpone((error as { readonly retryAt?: number }).retryAt)
      if (!isFailure(error, signal)) throw error
      await this.#visited({ at: now(), status: 0, changed: false })
      const copy = staleCopy()
      const stale = copy && (await this.#restore(copy, 'stale', `the request failed: ${messageOf(error)}`))
      if (!stale) throw error
      flight?.end('failed')
      return stale
    } finally {
      // A request that comes now would wait for a body that this caller may never read.
      if (flight !== undefined) this.#flights.close(flight)
    }
    if (found !== undefined && isConditional && sent.status === 304) {
      await cancel(sent.body)
      if (isOfOtherPage(found.record.headers, sent)) return this.#revalidate(found, flight, false)
      const fresh = { ...found, record: this.#freshened(found.record, sent, requestedAt) }
      const isKept = freshness.obstacleTo(fresh.record) === undefined // the 304 may say no-store
      if (isKept) await this.#attempt(() => store.update(found.id, fresh.record))
      await this.#visitedPage(fresh.record, 304, false, undefined)
      const revalidated = await this.#restore(fresh, 'revalidated', 'the site says that it is unchanged')
      if (!isKept) await this.#attempt(() => store.delete(fresh.record.url))
      flight?.end(isKept ? 'stored' : 'failed')
      // Another request or process has deleted the page meanwhile.
      return revalidated ?? this.#revalidate(undefined, flight)
    }
    const copy = sent.status >= 500 ? staleCopy() : undefined
    if (copy !== undefined) {
      const stale = await this.#restore(copy, 'stale', `the site answered with status ${sent.status}`)
      if (stale !== undefined) {
        await cancel(sent.body)
        await this.#visited({ at: now(), status: sent.status, changed: false })
        flight?.end('failed')
        return stale
      }
    }
    return this.#stored(sent, { found, isConditional, requestedAt }, flight)
  }

  /** Returns a sent response whose body is stored as the caller reads it. */
  async #stored(
    sent: FetchResponse,
    { found, isConditional, requestedAt }: Asked,
    flight: Flight | undefined,
  ): Promise<FetchResponse> {
    const { url, method, headers: requestHeaders } = this.#request
    const { now, freshness, maxEntryBytes, store, fingerprint: fingerprintOf, requestHeaders: rules } = this.#settings
    const { status, body } = sent
    const fields = storedHeaders(sent)
    const receivedAt = now()
    const draft: Omit<PageRecord, 'storedAt'> = {
      url,
      varied: rules.variedFields(headerOf(fields, 'vary'), requestHeaders),
      status,
      statusText: (sent as Partial<Response>).statusText ?? '',
      headers: fields,
      robotsTags: this.#exchange.robotsTagsOf(sent),
      requestedAt,
      receivedAt,
    }
    const stream = body instanceof ReadableStream
    const codedBody = this.#exchange.codedBodyOf(sent)
    const isCoded =
      codedBody !== undefined || isDecodedByFetch({ 'content-encoding': headerOf(fields, 'content-encoding') })
    const otherThanPage = this.#otherThanPage(sent)
    const why =
      (method !== 'GET' && `the method is ${method}`) ||
      otherThanPage?.because ||
      freshness.obstacleTo(draft) ||
      (stream && isCoded && codedBody === undefined && `it may be cut off: ${UNSEEN_CODING}`) ||
      this.#obstacleOf(body, fields, isCoded)
    if (why) codedBody?.stop()
    const about: CacheReport = {
      state: why ? 'bypass' : 'stored',
      ageMs: 0,
      storedAt: undefined,
      because: why || 'the site sent it',
    }
    if (why) flight?.end('failed')
    // The stored page is no longer what the site has, although this response does not replace it.
    const isOutdated =
      method === 'GET'
        ? why !== undefined && status !== 304
        : status === 200 && found && hasChanged(found.record.headers, sent)
    if (found !== undefined && otherThanPage === undefined && isOutdated)
      await this.#attempt(() => store.update(found.id, { ...found.record, isOutdated: true }))
    if (method !== 'GET') return report(sent, about)

    const location = REDIRECTS.has(status) ? headerOf(fields, 'location') : undefined
    if (location !== undefined || !stream) {
      // Few read the body of a redirect, so it is left out.
      const record = { ...draft, headers: location === undefined ? fields : withoutBody(fields), storedAt: receivedAt }
      const isStored = !why && (await this.#commit(await this.#attempt(() => store.begin()), record))
      if (otherThanPage?.isInPlaceOfPage) await this.#postpone()
      else await this.#visitedPage(record, status, isConditional, location && `${status} ${location}`)
      flight?.end(isStored ? 'stored' : 'failed')
      return report(sent, about)
    }
    // The caller may not read the body of an error, or of a page that is due.
    if (status >= 400 && !otherThanPage?.isInPlaceOfPage)
      await this.#visitedPage({ ...draft, storedAt: receivedAt }, status, false, undefined)
    else await this.#postpone()
    const response = recorded(sent as Response, {
      begin: why ? undefined : () => store.begin(),
      maxBytes: maxEntryBytes,
      expectedBytes: isCoded ? undefined : numberOf(headerOf(fields, 'content-length')),
      codedBody,
      check: (head) => this.#otherThanPage(sent, head)?.because,
      flight: flight?.hasFollowers && !why ? flight : undefined,
      fingerprintOf: fingerprintOf && ((bytes) => fingerprintOf(bytes, { url, headers: sent.headers as Headers })),
      onEnd: async (end, writer) => {
        if (end.problem !== undefined && !why) report(response, { ...about, state: 'bypass', because: end.problem })
        if (!otherThanPage) await this.#bodyEnded(end, writer, draft, isConditional, flight)
      },
      onFailure: (error) => void this.#attempt(() => Promise.reject(error)),
      onFingerprintFailure: (error) =>
        this.#warn(
          'POLITELY_FINGERPRINT',
          `the option \`fingerprint\` has thrown for ${url} (${messageOf(error)}); pages are stored, and compared without it`,
        ),
    })
    return report(response, about)
  }

  /** Says why a body is not stored. */
  #obstacleOf(body: FetchResponse['body'], fields: HeaderList, isCoded: boolean): string | undefined {
    if (body !== null && !(body instanceof ReadableStream)) return 'its body is not a stream of the web'
    const length = isCoded ? undefined : numberOf(headerOf(fields, 'content-length'))
    if (length !== undefined && length > this.#settings.maxEntryBytes) return 'it is longer than maxEntryBytes'
    return headerOf(fields, 'content-type')?.startsWith('text/event-stream') ? 'it is a stream of events' : undefined
  }

  /**
   * Says why a response is not to be stored, although HTTP may allow it: it is an error, or the site has
   * sent something else in place of the page. Undefined for a page, a redirect, and a missing page.
   * @param head The start of its body. Without it, only the headers count.
   */
  #otherThanPage(
    sent: FetchResponse,
    head?: Uint8Array,
  ): { readonly because: string; readonly isInPlaceOfPage: boolean } | undefined {
    const { status, headers } = sent
    if (this.#exchange.isRateLimited(sent))
      return { because: 'isRateLimited says that it asks for fewer requests', isInPlaceOfPage: true }
    if (head !== undefined && !MAY_BE_CHALLENGE.test(headers.get('content-type') ?? 'text/html')) return undefined
    const response = { status, headers: headers as Headers, url: this.#request.url, ...(head && { head }) }
    const kind = outcomeOf(response)?.kind ?? 'served'
    if (KEPT_OUTCOMES.has(kind)) return undefined
    const isInPlaceOfPage = kind === 'challenge' || kind === 'login'
    return {
      because: `its outcome is \`${kind}\`; only pages, redirects and missing pages are stored`,
      isInPlaceOfPage,
    }
  }

  async #bodyEnded(
    { problem, isWhole, fingerprint }: BodyEnd,
    writer: PageWriter | undefined,
    draft: Omit<PageRecord, 'storedAt'>,
    isConditional: boolean,
    flight: Flight | undefined,
  ): Promise<void> {
    const record = { ...draft, storedAt: this.#settings.now() }
    const isStored = problem === undefined && (await this.#commit(writer, record))
    const isInPlaceOfPage = isWhole && problem !== undefined
    if (record.status < 400 && !isInPlaceOfPage) {
      // Without a body to compare, the site's answer to the validators says whether the page has changed.
      await this.#visitedPage(record, record.status, isConditional, fingerprint)
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
      const { url, receivedAt } = record
      if (!this.#flights.isValid(url, this.#turn) || (newer && newer.record.receivedAt > receivedAt)) {
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
    const page = await this.#restoreByAge(found, 'the cache is offline')
    if (page === undefined) throw new CacheMissError(url, 'page')
    return page
  }

  async #bypass(because: string): Promise<FetchResponse> {
    const { url, method, headers } = this.#request
    const sent = await this.#exchange.send(headers)
    if (!SAFE.has(method) && sent.status >= 200 && sent.status < 400) {
      for (const invalid of invalidatedBy(url, sent)) {
        this.#flights.invalidate(invalid)
        await this.#attempt(() => this.#settings.store.delete(invalid))
      }
    }
    return report(sent, { state: 'bypass', ageMs: 0, storedAt: undefined, because })
  }

  #notCached(): Response {
    const { url } = this.#request
    const response = makeResponse(null, { status: 504, statusText: 'Gateway Timeout', url })
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
    const chunks = await this.#attempt(() => bodyOf(page, method, this.#settings.store))
    const response = chunks && restored(page, chunks, this.#settings, state, because)
    return response && this.#exchange.adopt(response, page.record.robotsTags)
  }

  /** @param whyStale Why a page that is no longer fresh may be returned. */
  #restoreByAge(page: StoredPage, whyStale: string): Promise<Response | undefined> {
    const { ageMs, lifetimeMs } = this.#freshness(page)
    return ageMs < lifetimeMs ? this.#restore(page, 'hit', 'it is fresh') : this.#restore(page, 'stale', whyStale)
  }

  async #find(): Promise<StoredPage | undefined> {
    const { url, headers } = this.#request
    const found = (await this.#attempt(() => this.#settings.store.find(url))) ?? []
    return found.find(({ record }) => this.#settings.requestHeaders.fits(record, headers))
  }

  #freshness({ record }: StoredPage): Freshness {
    const { now, freshness } = this.#settings
    return freshness.freshnessOf(record, now())
  }

  /** Whether a stored response may be returned without asking the site (RFC 9111 §4.2, §5.2.1). */
  #isUsable(found: StoredPage): boolean {
    if (this.#settings.refresh) return false
    const asked = this.#asked
    if (asked.has('no-cache') || asked.has('no-store')) return false
    const { ageMs, lifetimeMs } = this.#freshness(found)
    const maxAgeMs = secondsOf(asked.get('max-age'))
    if (maxAgeMs !== undefined && (maxAgeMs === 0 || ageMs > maxAgeMs)) return false
    const minFreshMs = secondsOf(asked.get('min-fresh'))
    if (minFreshMs !== undefined && lifetimeMs - ageMs < minFreshMs) return false
    if (ageMs < lifetimeMs) return true
    if (!asked.has('max-stale') || forbidsStale(found)) return false
    const maxStale = asked.get('max-stale')
    return ageMs - lifetimeMs <= (maxStale === '' ? Number.POSITIVE_INFINITY : (secondsOf(maxStale) ?? -1))
  }

  /** Whether the request is for one user. */
  get #isPersonal(): boolean {
    return this.#settings.requestHeaders.isPersonal(this.#request.headers)
  }

  /** What the request asks of caches (RFC 9111 §5.2.1, §5.4). */
  get #asked(): ReadonlyMap<string, string> {
    const { 'cache-control': directives, pragma = '' } = this.#request.headers
    return directivesOf(directives ?? (/no-cache/i.test(pragma) ? 'no-cache' : ''))
  }

  /** Whether a stored response may be returned because the site fails (RFC 5861 §4). */
  #mayBeStale(found: StoredPage): boolean {
    const asked = this.#asked
    // The caller wants what the site confirms, and must not take an old page for that.
    if (this.#request.isReload || asked.has('no-cache') || secondsOf(asked.get('max-age')) === 0) return false
    if (forbidsStale(found)) return false
    if (this.#settings.isStaleIfError) return true
    const allowedMs = secondsOf(directivesIn(found).get('stale-if-error')) ?? 0
    const { ageMs, lifetimeMs } = this.#freshness(found)
    return ageMs < lifetimeMs + allowedMs
  }

  /** Returns what is known of a stored response after a 304 (RFC 9111 §3.2). */
  #freshened(record: PageRecord, sent: FetchResponse, requestedAt: number): PageRecord {
    const { isOutdated: _, ...known } = record
    const headers = freshenedHeaders(record.headers, sent)
    return {
      ...known,
      // The site has chosen this page for the request of the 304 (RFC 9111 §4.1).
      varied: this.#settings.requestHeaders.variedFields(headerOf(headers, 'vary'), this.#request.headers),
      headers,
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
    const { method, url } = this.#request
    if (method !== 'GET') return
    if (this.#isPersonal) await this.#postpone()
    else await this.#visits.add(url, found)
  }

  /** Lets a page that is due be due later. */
  async #postpone(until?: number): Promise<void> {
    const { now } = this.#settings
    if (this.#visits.isUsed) await this.#visits.postpone(this.#request.url, now(), until)
  }

  /** Whether a sitemap dates a change after the stored response. */
  async #isOutdated({ record }: StoredPage): Promise<boolean> {
    if (!this.#visits.isUsed) return false
    return this.#visits.hasChangedSince(record.url, record.receivedAt)
  }
}

/** Returns the body of what is stored: none for a HEAD. Undefined if it is gone. */
async function bodyOf({ id, record, bodyBytes }: StoredPage, method: string, store: PageStore) {
  const hasBody = method !== 'HEAD' && bodyBytes > 0 && !NULL_BODY.has(record.status)
  return hasBody ? store.body(id) : NO_CHUNKS
}

const NO_CHUNKS: readonly Uint8Array[] = []

/** Makes a response of what is stored. */
function restored(
  { record, bodyBytes }: StoredPage,
  chunks: Chunks,
  { now, freshness }: Settings,
  state: CacheState,
  because: string,
): Response {
  const { url, status, statusText, storedAt } = record
  const { ageMs } = freshness.freshnessOf(record, now())
  const headers = record.headers.filter(([name]) => name !== 'age') as [string, string][]
  headers.push(['age', String(Math.floor(ageMs / 1000))])
  const response = makeResponse(null, { status, statusText, headers, url })
  if (chunks !== NO_CHUNKS) {
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

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}

async function cancel(body: object | null): Promise<void> {
  const { cancel: end } = (body ?? {}) as { cancel?(): Promise<void> }
  await end?.call(body).catch(() => undefined)
}
