// One request through the page cache.
//
// A request looks for a stored page, and may have to ask the site. A `CachedFetch` is in one of these
// states, and only this file moves it. Each row is a question; the first yes decides.
//
//   | state       | question                                 | next                               |
//   |-------------|------------------------------------------|------------------------------------|
//   | `new`       | is the cache offline?                    | ends: a stored page, or an error   |
//   |             | can't it be cached, such as a POST?      | ends: sent as it is (`bypass`)     |
//   |             | otherwise                                | `found`: the store is asked        |
//   | `found`     | may the stored page be used as it is?    | ends (`hit`), if robots.txt allows |
//   |             | is it `only-if-cached`?                  | ends: status 504                   |
//   |             | is it `no-store`?                        | ends: sent as it is (`bypass`)     |
//   |             | HEAD, personal, or with directives?      | `asking`, alone                    |
//   |             | is another request fetching the page?    | `following`                        |
//   |             | otherwise                                | `asking`, and others may follow    |
//   | `following` | does the store have the page now?        | ends (`hit`)                       |
//   |             | was the leading request aborted?         | `following` another, or it leads   |
//   |             | otherwise                                | `asking`, alone                    |
//   | `asking`    | does the site fail, and an old page do?  | ends (`stale`)                     |
//   |             | is a 304 about another page?             | `asking`, without validators       |
//   |             | was the page of the 304 deleted?         | `asking`, with nothing stored      |
//   |             | is it a 304?                             | ends (`revalidated`)               |
//   |             | otherwise                                | `received`                         |
//   | `received`  | may it not be stored?                    | ends (`bypass`)                    |
//   |             | is it a redirect, or without a stream?   | ends: stored at once (`stored`)    |
//   |             | otherwise                                | `recording`: the caller reads it   |
//   | `recording` | is the body whole, and the page?         | ends (`stored`)                    |
//   |             | otherwise                                | ends (`bypass`)                    |
//
// Requests that follow learn the end of the flight once: when the page is stored, or when it is
// clear that it won't be.
import { isPolitelyError, outcomeOf } from '@politely/core'
import { outcomesThatMay } from '@politely/core/engine'
import { httpDate } from '@politely/core/internal'
import {
  discard,
  isDecodedByFetch,
  makeResponse,
  messageOf,
  NULL_BODY,
  UNSEEN_CODING,
} from '@politely/fetcher/internal'
import type { CachedRequest, CacheExchange, FetchResponse } from '@politely/gate'
import { withValue } from './awaitable.ts'
import { type CacheReport, report } from './cache-report.ts'
import { CacheMissError } from './errors.ts'
import type { Flight, FlightEnd, PageFlights } from './flights.ts'
import { directivesOf, type Freshness, secondsOf } from './freshness.ts'
import { withBody } from './lazy-body.ts'
import type { CacheSettings } from './options.ts'
import type { Awaitable, PageRecord, PageStore, PageWriter, StoredPage } from './page-store.ts'
import { type BodyEnd, recorded } from './recorded-body.ts'
import {
  freshenedHeaders,
  hasChanged,
  invalidatedBy,
  isOfOtherPage,
  revalidationHeaders,
  storedHeaderOf,
  storedHeaders,
  withoutBody,
} from './response-fields.ts'
import type { Found, StoreAttempt, Visits } from './visits.ts'

/** Methods that change nothing at the site (RFC 9110 §9.2.1). */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** With one of these, the caller asks the site itself. */
const OWN_CONDITIONS = ['range', 'if-range', 'if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since']

/** What is stored: pages, redirects, and that a page is missing. Errors are not, nor are challenges and login pages. */
const KEPT_OUTCOMES = new Set(outcomesThatMay('be-stored'))
/** The types of challenges and login pages. */
const MAY_BE_CHALLENGE = /html|json|xml|text/i
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** What the requests of one cache share. */
export interface Shared {
  readonly settings: CacheSettings
  readonly visits: Visits
  readonly flights: PageFlights
  readonly attempt: StoreAttempt
  /** Warns of a mistake of the program, once for each code. */
  readonly warn: (code: string, message: string) => void
}

/** A response whose body has not ended. */
type Draft = Omit<PageRecord, 'storedAt'>

const NO_VALIDATORS: Readonly<Record<string, string>> = {}

export class CachedFetch {
  readonly #shared: Shared
  readonly #request: CachedRequest
  readonly #sender: CacheExchange
  /** What the request asks of caches (RFC 9111 §5.2.1, §5.4). */
  readonly #asked: ReadonlyMap<string, string>
  /** The stored page that fits the request. */
  #found: StoredPage | undefined
  /** Set if other requests may wait for the page. */
  #flight: Flight | undefined
  /** Whether the validators of `#found` may be sent. */
  #mayValidate: boolean
  /** Whether they were sent. */
  #isConditional = false
  #requestedAt = 0
  /** When the request was sent, in the order of requests and invalidations. */
  #turn = 0

  constructor(shared: Shared, request: CachedRequest, sender: CacheExchange) {
    const { 'cache-control': directives, pragma } = request.headers
    this.#shared = shared
    this.#request = request
    this.#sender = sender
    this.#asked = directivesOf(directives ?? pragma?.match(/no-cache/i)?.[0])
    this.#mayValidate = request.isReload !== true
  }

  // `new` and `found`

  async respond(): Promise<FetchResponse> {
    const { method, headers, hasBody, isReload = false } = this.#request
    const { settings, visits } = this.#shared
    const why =
      (method !== 'GET' && method !== 'HEAD' && `the method is ${method}`) ||
      (hasBody && 'the request has a body') ||
      (OWN_CONDITIONS.some((name) => headers[name] !== undefined) && 'the caller asks for a part or with a condition')
    if (settings.offline) return this.#answerOffline(why !== false)
    if (why !== false) return this.#bypass(why)

    const found = await this.#find()
    this.#found = found
    // Only a sitemap makes a fresh page outdated.
    const isUsable = !isReload && found !== undefined && this.#isUsable(found)
    if (isUsable && !(visits.isUsed && (await visits.hasChangedSince(found.record.url, found.record.receivedAt)))) {
      await this.#sender.check()
      const hit = await this.#restoreByAge(found, 'the request accepts an old page')
      if (hit !== undefined) {
        const { ageMs, lifetimeMs } = this.#freshness(found)
        await this.#postpone(settings.now() + lifetimeMs - ageMs)
        return hit
      }
    }
    if (this.#asked.has('only-if-cached')) return this.#notCached()
    if (this.#asked.has('no-store')) return this.#bypass('the request says no-store')
    const isAlone =
      isReload || method !== 'GET' || headers['cache-control'] || settings.requestHeaders.isPersonal(headers)
    return await (isAlone ? this.#ask() : this.#share())
  }

  async #answerOffline(isOther: boolean): Promise<FetchResponse> {
    const { url } = this.#request
    if (isOther) throw new CacheMissError(url, 'request')
    if (!(await this.#sender.checkStored())) throw new CacheMissError(url, 'rules')
    const found = await this.#find()
    const page = found && (await this.#restoreByAge(found, 'the cache is offline'))
    if (page === undefined) throw new CacheMissError(url, 'page')
    return page
  }

  async #bypass(because: string): Promise<FetchResponse> {
    const { url, method, headers } = this.#request
    const { settings, flights, attempt } = this.#shared
    const sent = await this.#sender.send(headers)
    if (!SAFE.has(method) && sent.status >= 200 && sent.status < 400) {
      for (const invalid of invalidatedBy(url, sent)) {
        flights.invalidate(invalid)
        await attempt(() => settings.store.delete(invalid))
      }
    }
    return report(sent, newlySent('bypass', because))
  }

  #notCached(): Response {
    const { url } = this.#request
    const response = makeResponse(null, { status: 504, statusText: 'Gateway Timeout', url })
    const because = 'the request says only-if-cached, and nothing that is stored may answer it'
    return report(this.#sender.adopt(response, []), newlySent('bypass', because))
  }

  // `following`

  /** Waits for another request that is fetching the page, or fetches it for later requests. */
  async #share(): Promise<FetchResponse> {
    const { url, headers, signal } = this.#request
    const { settings, flights } = this.#shared
    const joinedAt = settings.now()
    const key = settings.requestHeaders.flightKey(url, headers)
    for (let other = flights.of(key); other !== undefined; other = flights.of(key)) {
      const end = await other.follow(signal)
      const stored = end === 'stored' ? await this.#find() : undefined
      if (stored !== undefined && stored.record.receivedAt >= joinedAt) {
        await this.#sender.check()
        const hit = await this.#restore(stored, 'hit', 'another request has just fetched it')
        if (hit !== undefined) return hit
      }
      if (end !== 'aborted') {
        this.#found = await this.#find()
        return this.#ask()
      }
    }
    this.#flight = flights.begin(key)
    try {
      return await this.#ask()
    } catch (error) {
      this.#flight.end(this.#endWithoutPage())
      throw error
    }
  }

  // `asking`

  /** Sends the request, with the validators of the stored page, and returns what follows. */
  async #ask(): Promise<FetchResponse> {
    const { headers, signal } = this.#request
    const { settings, flights } = this.#shared
    const found = this.#found
    this.#requestedAt = settings.now()
    this.#turn = flights.nextTurn()
    const validators = found && this.#mayValidate ? revalidationHeaders(found.record.headers) : NO_VALIDATORS
    this.#isConditional = Object.keys(validators).length > 0
    let sent: FetchResponse
    try {
      sent = await this.#sender.send(this.#isConditional ? { ...headers, ...validators } : headers)
    } catch (error) {
      if (isPolitelyError(error) && error.code === 'ERR_POLITELY_DISALLOWED')
        await this.#postpone((error as { readonly retryAt?: number }).retryAt)
      if (!isFailure(error, signal)) throw error
      await this.#visited({ at: settings.now(), status: 0, changed: false })
      const stale = await this.#staleInstead(`the request failed: ${messageOf(error)}`)
      if (stale === undefined) throw error
      return stale
    } finally {
      // A request that comes now would wait for a body that this caller may never read.
      if (this.#flight !== undefined) flights.close(this.#flight)
    }
    if (found !== undefined && this.#isConditional && sent.status === 304) return this.#validated(found, sent)
    const stale =
      sent.status >= 500 ? await this.#staleInstead(`the site answered with status ${sent.status}`) : undefined
    if (stale === undefined) return await this.#receive(sent)
    await discard(sent.body)
    await this.#visited({ at: settings.now(), status: sent.status, changed: false })
    return stale
  }

  /** The site says 304. */
  async #validated(found: StoredPage, sent: FetchResponse): Promise<FetchResponse> {
    const { settings, attempt } = this.#shared
    await discard(sent.body)
    if (isOfOtherPage(found.record.headers, sent)) {
      this.#mayValidate = false
      return this.#ask()
    }
    const fresh = { ...found, record: this.#freshened(found.record, sent) }
    const isKept = settings.freshness.obstacleTo(fresh.record) === undefined // the 304 may say no-store
    const updating = isKept && attempt(() => settings.store.update(found.id, fresh.record))
    await this.#visitedPage(fresh.record, 304, undefined, settings.freshness.freshUntil(fresh.record))
    await updating
    const revalidated = await this.#restore(fresh, 'revalidated', 'the site says that it is unchanged')
    if (!isKept) await attempt(() => settings.store.delete(fresh.record.url))
    this.#flight?.end(isKept ? 'stored' : 'failed')
    if (revalidated !== undefined) return revalidated
    this.#found = undefined // another request or process has deleted the page meanwhile
    return this.#ask()
  }

  /** Returns the stored page although it is no longer fresh, if it may replace a failure (RFC 5861 §4). */
  async #staleInstead(because: string): Promise<Response | undefined> {
    const found = this.#mayValidate ? this.#found : undefined
    if (found === undefined || !this.#mayBeStale(found)) return undefined
    const stale = await this.#restore(found, 'stale', because)
    if (stale !== undefined) this.#flight?.end('failed')
    return stale
  }

  // `received` and `recording`

  /** Returns a response of the site, which is stored when the caller has read its body. */
  async #receive(sent: FetchResponse): Promise<FetchResponse> {
    const { url, method, headers: requestHeaders } = this.#request
    const { settings, attempt, warn } = this.#shared
    const { now, freshness, maxEntryBytes, store, fingerprint: fingerprintOf, requestHeaders: rules } = settings
    const { status, body } = sent
    const found = this.#found
    const flight = this.#flight
    const fields = storedHeaders(sent)
    const receivedAt = now()
    const draft: Draft = {
      url,
      varied: rules.variedFields(storedHeaderOf(fields, 'vary'), requestHeaders),
      status,
      statusText: (sent as Partial<Response>).statusText ?? '',
      headers: fields,
      robotsTags: this.#sender.robotsTagsOf(sent),
      requestedAt: this.#requestedAt,
      receivedAt,
    }
    const stream = body instanceof ReadableStream
    const codedBody = this.#sender.codedBodyOf(sent)
    const isCoded =
      codedBody !== undefined || isDecodedByFetch({ 'content-encoding': storedHeaderOf(fields, 'content-encoding') })
    const expectedBytes = isCoded ? undefined : numberOf(storedHeaderOf(fields, 'content-length'))
    const otherThanPage = this.#otherThanPage(sent)
    const why =
      (method !== 'GET' && `the method is ${method}`) ||
      otherThanPage?.because ||
      freshness.obstacleTo(draft) ||
      (stream && isCoded && codedBody === undefined && `it may be cut off: ${UNSEEN_CODING}`) ||
      (body !== null && !stream && 'its body is not a stream of the web') ||
      (expectedBytes !== undefined && expectedBytes > maxEntryBytes && 'it is longer than maxEntryBytes') ||
      (storedHeaderOf(fields, 'content-type')?.startsWith('text/event-stream') && 'it is a stream of events')
    const freshUntil = freshness.freshUntil(draft)
    const about = why ? newlySent('bypass', why) : newlySent('stored', 'the site sent it')
    if (why) {
      codedBody?.stop()
      flight?.end('failed')
    }
    // The stored page is no longer what the site has, although this response does not replace it.
    const isOutdated =
      method === 'GET' ? why && status !== 304 : status === 200 && found && hasChanged(found.record.headers, sent)
    if (found !== undefined && otherThanPage === undefined && isOutdated)
      await attempt(() => store.update(found.id, { ...found.record, isOutdated: true }))
    if (method !== 'GET') return report(sent, about)

    const location = REDIRECTS.has(status) ? storedHeaderOf(fields, 'location') : undefined
    if (location !== undefined || !stream) {
      // Few read the body of a redirect, so it is left out.
      const record = { ...draft, headers: location === undefined ? fields : withoutBody(fields), storedAt: receivedAt }
      const storing = !why && this.#commit(await attempt(() => store.begin()), record)
      if (otherThanPage?.isInPlaceOfPage) await this.#postpone()
      else await this.#visitedPage(record, status, location && `${status} ${location}`, freshUntil)
      flight?.end((await storing) ? 'stored' : 'failed')
      return report(sent, about)
    }
    // The caller may not read the body of an error, or of a page that is due.
    if (status >= 400 && !otherThanPage?.isInPlaceOfPage) await this.#visitedPage(draft, status, undefined, freshUntil)
    else await this.#postpone()
    const response = recorded(sent as Response, {
      begin: why ? undefined : () => store.begin(),
      maxBytes: maxEntryBytes,
      expectedBytes,
      codedBody,
      check: (head) => this.#otherThanPage(sent, head)?.because,
      flight: flight?.hasFollowers && !why ? flight : undefined,
      fingerprintOf: fingerprintOf && ((bytes) => fingerprintOf(bytes, { url, headers: sent.headers as Headers })),
      onEnd: (end, writer) => {
        if (end.problem !== undefined && !why) report(response, newlySent('bypass', end.problem))
        return otherThanPage ? undefined : this.#bodyEnded(end, writer, draft, freshUntil)
      },
      onFailure: (error) => void attempt(() => Promise.reject(error)),
      onFingerprintFailure: (error) =>
        warn(
          'POLITELY_FINGERPRINT',
          `the option \`fingerprint\` has thrown for ${url} (${messageOf(error)}); pages are stored, and compared without it`,
        ),
    })
    return report(response, about)
  }

  /**
   * Says why a response is not to be stored, although HTTP may allow it: it is an error, or the site has
   * sent something else instead of the page. Undefined for a page, a redirect, and a missing page.
   * @param head The start of its body. Without it, only the headers count.
   */
  #otherThanPage(
    sent: FetchResponse,
    head?: Uint8Array,
  ): { readonly because: string; readonly isInPlaceOfPage: boolean } | undefined {
    const { status, headers } = sent
    if (this.#sender.isRateLimited(sent))
      return { because: 'isRateLimited says that it asks for fewer requests', isInPlaceOfPage: true }
    if (head !== undefined && !MAY_BE_CHALLENGE.test(headers.get('content-type') ?? 'text/html')) return undefined
    const response = { status, headers: headers as Headers, url: this.#request.url, ...(head && { head }) }
    const kind = outcomeOf(response)?.kind ?? 'served'
    if (KEPT_OUTCOMES.has(kind)) return undefined
    return {
      because: `its outcome is \`${kind}\`; only pages, redirects and missing pages are stored`,
      isInPlaceOfPage: kind === 'challenge' || kind === 'login',
    }
  }

  async #bodyEnded(
    { problem, isWhole, fingerprint }: BodyEnd,
    writer: PageWriter | undefined,
    draft: Draft,
    freshUntil: number | undefined,
  ): Promise<void> {
    const record = { ...draft, storedAt: this.#shared.settings.now() }
    // A store on disk writes the page and its visit in one transaction if neither waits for the other.
    const storing = problem === undefined && this.#commit(writer, record)
    const isInPlaceOfPage = isWhole && problem !== undefined
    // Without a body to compare, the site's answer to the validators says whether the page has changed.
    if (record.status < 400 && !isInPlaceOfPage) await this.#visitedPage(record, record.status, fingerprint, freshUntil)
    this.#flight?.end((await storing) ? 'stored' : this.#endWithoutPage())
  }

  /** Stores a response, unless the page may have changed. Returns whether that, or a later one, is stored. */
  #commit(writer: PageWriter | undefined, record: PageRecord): Awaitable<boolean | undefined> {
    if (writer === undefined) return false
    const { attempt, flights } = this.#shared
    const isValid = flights.isValid(record.url, this.#turn)
    return attempt(() => withValue(isValid ? writer.commit(record) : writer.abort(), () => isValid))
  }

  /** Returns what the end of this request without a page means for requests that wait for it. */
  #endWithoutPage(): FlightEnd {
    return this.#request.signal?.aborted ? 'aborted' : 'failed'
  }

  // What the states ask

  #find(): Awaitable<StoredPage | undefined> {
    const { url, headers } = this.#request
    const { settings, attempt } = this.#shared
    const found = attempt(() => settings.store.find(url))
    return withValue(found, (pages) => pages?.find(({ record }) => settings.requestHeaders.fits(record, headers)))
  }

  #freshness({ record }: StoredPage): Freshness {
    const { now, freshness } = this.#shared.settings
    return freshness.freshnessOf(record, now())
  }

  /** Whether a stored response may be returned without asking the site (RFC 9111 §4.2, §5.2.1). */
  #isUsable(found: StoredPage): boolean {
    const asked = this.#asked
    if (this.#shared.settings.refresh || asked.has('no-cache') || asked.has('no-store')) return false
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

  /** Whether a stored response may be returned because the site fails (RFC 5861 §4). */
  #mayBeStale(found: StoredPage): boolean {
    // The caller may want what the site confirms, and must not take an old page for that.
    if (this.#asked.has('no-cache') || secondsOf(this.#asked.get('max-age')) === 0 || forbidsStale(found)) return false
    if (this.#shared.settings.isStaleIfError) return true
    const allowedMs = secondsOf(directivesIn(found).get('stale-if-error')) ?? 0
    const { ageMs, lifetimeMs } = this.#freshness(found)
    return ageMs < lifetimeMs + allowedMs
  }

  // What the states do

  /** Makes a response of what is stored. Undefined if its body is gone. */
  async #restore(page: StoredPage, state: CacheReport['state'], because: string): Promise<Response | undefined> {
    const { settings, attempt } = this.#shared
    const chunks = await attempt(() => storedBodyOf(page, this.#request.method, settings.store))
    const response = chunks && restored(page, chunks, settings, state, because)
    return response && this.#sender.adopt(response, page.record.robotsTags)
  }

  /** @param whyStale Why a page that is no longer fresh may be returned. */
  #restoreByAge(page: StoredPage, whyStale: string): Promise<Response | undefined> {
    const { ageMs, lifetimeMs } = this.#freshness(page)
    return ageMs < lifetimeMs ? this.#restore(page, 'hit', 'it is fresh') : this.#restore(page, 'stale', whyStale)
  }

  /** Returns what is known of a stored response after a 304 (RFC 9111 §3.2). */
  #freshened(record: PageRecord, sent: FetchResponse): PageRecord {
    const { settings } = this.#shared
    const { isOutdated: _, ...known } = record
    const headers = freshenedHeaders(record.headers, sent)
    return {
      ...known,
      // The site has chosen this page for the request of the 304 (RFC 9111 §4.1).
      varied: settings.requestHeaders.variedFields(storedHeaderOf(headers, 'vary'), this.#request.headers),
      headers,
      robotsTags: sent.headers.get('x-robots-tag') === null ? record.robotsTags : this.#sender.robotsTagsOf(sent),
      requestedAt: this.#requestedAt,
      receivedAt: settings.now(),
    }
  }

  #visitedPage(
    record: Draft,
    status: number,
    fingerprint: string | undefined,
    freshUntil: number | undefined,
  ): Awaitable<void> {
    const at = this.#shared.settings.now()
    const lastModified = storedHeaderOf(record.headers, 'last-modified')
    return withValue(unavailableAfter(record.robotsTags, at), (unavailableAfter) => {
      return this.#visited({
        at,
        status,
        fingerprint,
        changed: this.#isConditional && status !== 304,
        lastModified: lastModified === undefined ? undefined : httpDate(lastModified, at),
        freshUntil,
        unavailableAfter,
      })
    })
  }

  /** Notes a visit. Those of a caller's own cookies and authorization are about another page. */
  #visited(found: Found): Awaitable<void> {
    const { method, url, headers } = this.#request
    const { settings, visits } = this.#shared
    if (method === 'GET') return settings.requestHeaders.isPersonal(headers) ? this.#postpone() : visits.add(url, found)
  }

  /** Lets a page that is due be due later. */
  async #postpone(until?: number): Promise<void> {
    const { settings, visits } = this.#shared
    if (visits.isUsed) await visits.postpone(this.#request.url, settings.now(), until)
  }
}

function newlySent(state: CacheReport['state'], because: string): CacheReport {
  return { state, ageMs: 0, storedAt: undefined, because }
}

/** Returns the body of what is stored: none for a HEAD. Undefined if it is gone. */
export function storedBodyOf(
  { id, record, bodyBytes }: StoredPage,
  method: string,
  store: PageStore,
): Awaitable<Chunks | undefined> {
  const hasBody = method !== 'HEAD' && bodyBytes > 0 && !NULL_BODY.has(record.status)
  return hasBody ? store.body(id) : NO_CHUNKS
}

const NO_CHUNKS: readonly Uint8Array[] = []

/** Makes a response of what is stored. */
export function restored(
  { record, bodyBytes }: StoredPage,
  chunks: Chunks,
  { now, freshness }: CacheSettings,
  state: CacheReport['state'],
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
      whole: () => (Array.isArray(chunks) && chunks.length === 1 ? chunks[0] : joined(chunks, bodyBytes)),
    })
  }
  return report(response, { state, ageMs, storedAt, because })
}

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

async function joined(chunks: Chunks, length: number): Promise<Uint8Array> {
  const all = Buffer.allocUnsafeSlow(length)
  let at = 0
  for await (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.byteLength
  }
  return all
}

async function* copies(chunks: Chunks): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield new Uint8Array(chunk) // `slice` of a Buffer copies nothing
}

const directivesIn = ({ record }: StoredPage): ReadonlyMap<string, string> =>
  directivesOf(storedHeaderOf(record.headers, 'cache-control'))

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
function unavailableAfter(robotsTags: readonly string[], now: number): Awaitable<number | undefined> {
  if (!robotsTags.some((line) => /unavailable_after/i.test(line))) return undefined
  return import('@politely/core/usage').then(({ robotsDirectives }) => {
    return robotsDirectives({ headers: { 'x-robots-tag': [...robotsTags] }, now }, '*').unavailableAfter
  })
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}
