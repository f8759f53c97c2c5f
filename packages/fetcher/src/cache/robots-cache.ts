// Gives a client the rules of an origin: from memory if its entry is usable, otherwise from the
// store or by a fetch.
//
// Calls go one way. The client calls this cache. The cache calls `Entries` (memory and store),
// `Flights` (which fetch runs when) and `RobotsFetcher` (the requests of one attempt), and reports
// to `Telemetry`. None of them calls the client.
import type { CrawlerRules, ParsedUrl } from '@politely/core'
import { type Entry, entryText, holdsUntil, type Outcome, plan, settle, stateOf } from '@politely/core/engine'
import { parseUrl } from '@politely/core/internal'
import { ReentryError } from '../base/errors.ts'
import { linesIn } from '../base/ndjson.ts'
import { withTimeout } from '../base/timeout.ts'
import { OwnRequests } from '../fetch/own-requests.ts'
import { RobotsFetcher } from '../fetch/robots-fetcher.ts'
import { isSigningError } from '../fetch/signed-request.ts'
import type { ClientSettings } from '../options/options.ts'
import type { Gauges } from '../report/gauges.ts'
import { reportedHeaders } from '../report/reported-headers.ts'
import type { FetchEvent, Telemetry } from '../report/telemetry.ts'
import { PROBED_ORIGIN } from '../store/store-calls.ts'
import { Entries } from './entries.ts'
import { entrySince } from './entry-since.ts'
import { FetchLease } from './fetch-lease.ts'
import { Flights, type FlightWork, type JoinOptions, takeTurn } from './flights.ts'
import type { KnownOrigin } from './inspection.ts'
import type { CachedRules } from './memory.ts'
import { RedirectLimits } from './redirect-limits.ts'

/** The parts that the fetches of tdmrep.json use too. */
export interface SharedParts {
  readonly entries: Pick<Entries, 'tdmrepOf' | 'keepTdmrep'>
  readonly flights: Flights<unknown>
  readonly redirectLimits: RedirectLimits
  readonly ownRequests: OwnRequests
}

/** The result of importing one line. */
export type ImportedLine = 'taken' | 'older' | 'unreadable'

/**
 * How long `close` waits for the store, mostly for the release of leases, in milliseconds. A store
 * that responds needs less.
 */
const MAX_CLOSE_MS = 250

export class RobotsCache {
  readonly #settings: ClientSettings
  readonly #telemetry: Telemetry
  readonly #entries: Entries
  readonly #redirectLimits: RedirectLimits
  readonly #flights: Flights<unknown>
  readonly #fetcher: RobotsFetcher
  readonly #ownRequests = new OwnRequests()
  readonly #closing: AbortSignal

  /** @param closing The client aborts it before it calls `close`. */
  constructor(settings: ClientSettings, telemetry: Telemetry, closing: AbortSignal) {
    this.#settings = settings
    this.#telemetry = telemetry
    this.#closing = closing
    this.#entries = new Entries(settings, telemetry, closing)
    const rulesOf = (origin: string) => this.#entries.peek(origin)?.rules
    this.#redirectLimits = new RedirectLimits({ rulesOf, now: settings.now })
    this.#flights = new Flights(settings, this.#redirectLimits)
    this.#fetcher = new RobotsFetcher(settings, this.#ownRequests)
  }

  get shared(): SharedParts {
    return {
      entries: this.#entries,
      flights: this.#flights,
      redirectLimits: this.#redirectLimits,
      ownRequests: this.#ownRequests,
    }
  }

  get gauges(): Gauges {
    const { count: origins, bytes: memoryBytes, storeOutageMs } = this.#entries
    const { underWay: flightsUnderWay, waiting: flightsWaiting } = this.#flights
    return { origins, memoryBytes, flightsUnderWay, flightsWaiting, storeOutageMs }
  }

  /** The rules of an origin without a copy of robots.txt: they allow everything. */
  get noRules(): CrawlerRules {
    return this.#entries.noRules
  }

  /** Returns whether this client is making a request for this URL in the current async context. */
  isOwnRequest(url: string): boolean {
    return this.#ownRequests.includes(url)
  }

  /**
   * Returns the rules of the origin with which a URL's text begins, if memory has them and they may
   * be used at this time. The text must spell the origin as `URL.origin` does; otherwise the result
   * is undefined. No URL is parsed.
   */
  getByUrl(url: string, at: number): CachedRules | undefined {
    const cached = this.#entries.byUrl(url)
    return cached !== undefined && (isFresh(cached, at) || this.#isUsable(cached.entry, at)) ? cached : undefined
  }

  /**
   * Returns the rules of an origin, if memory has them and they may be used without a fetch. May
   * start an early refresh.
   * @param since The caller uses no result that is older than this. Milliseconds since 1970.
   */
  get(origin: string, since?: number): CachedRules | undefined {
    const cached = this.#entries.inMemory(origin)
    if (cached === undefined) return undefined
    return this.#isUsable(entrySince(cached.entry, since), this.#settings.now()) ? cached : undefined
  }

  /** Returns the rules of an origin in memory or in the store, however old. Never fetches. */
  stored(origin: string): Promise<CachedRules | undefined> {
    return this.#entries.newest(origin)
  }

  /**
   * Loads the rules of an origin: reads the store, or fetches robots.txt. Callers that wait for one
   * origin share one flight.
   * @param chain The URLs that led to the origin. They restrict the connections of a new flight.
   * @throws {ReentryError} if the caller's `fetch` or `dispatcher` asks while it makes a request
   * for this robots.txt.
   * @throws what the option `sign` throws. Nothing is remembered then.
   */
  async load(
    { origin, robotsUrl }: ParsedUrl,
    options: JoinOptions,
    chain?: readonly string[] | undefined,
  ): Promise<CachedRules> {
    this.#ownRequests.assertOutside(robotsUrl)
    this.#telemetry.count('waits')
    const refresh = (work: FlightWork) => this.#refresh(origin, robotsUrl, 'due', work, chain)
    const join = () => this.#flights.join(origin, refresh, options)
    const cached = await join()
    // The flight may have found its entry before this caller joined, and the entry may be too old
    // for this caller. The next flight knows of this caller from the start.
    const { now, policy } = this.#settings
    const isTooOld =
      options.since !== undefined && plan(entrySince(cached.entry, options.since), now(), policy) === 'obtain'
    return isTooOld ? join() : cached
  }

  /**
   * Removes what memory and the store know about an origin. A flight continues without it. Resolves
   * with whether the store has removed its entry.
   */
  async forget(origin: string): Promise<boolean> {
    const isRemoved = await this.#entries.forget(origin)
    this.#flights.forget(origin)
    return isRemoved
  }

  /**
   * Returns what memory or the store knows about an origin. Does not fetch, and does not count as a
   * use of the entry.
   */
  async inspect(origin: string): Promise<KnownOrigin> {
    const remembered = this.#entries.peek(origin)?.entry
    const entry = remembered ?? (await this.#entries.inStore(origin))
    const source = remembered !== undefined ? 'memory' : entry !== undefined ? 'store' : 'nowhere'
    return { entry, source, flight: this.#flights.phaseOf(origin), via: this.#fetcher.viaOf(origin) }
  }

  /** Reads the store once, so that an outage begins and ends without checks too. */
  async probeStore(): Promise<void> {
    await this.#entries.inStore(PROBED_ORIGIN, 'again')
  }

  /** Yields the entries in memory as NDJSON, one line each. */
  *exportLines(): Generator<string, void, undefined> {
    for (const entry of this.#entries.all()) yield `${entryText(entry)}\n`
  }

  /**
   * Imports the lines of `exportLines`, given in chunks of any size, and yields the result of each
   * line.
   */
  async *importLines(
    chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  ): AsyncGenerator<ImportedLine, void, undefined> {
    for await (const line of linesIn(chunks, this.#entries.maxTextLength)) {
      this.#throwIfClosed()
      yield line === undefined ? 'unreadable' : await this.#importLine(line)
    }
  }

  /**
   * Empties the memory, rejects all callers that wait, aborts the attempts under way, and closes
   * the client's own connections.
   */
  async close(): Promise<void> {
    this.#entries.clear()
    this.#fetcher.abortAll()
    await withTimeout(this.#flights.close(this.#closing.reason), MAX_CLOSE_MS, () => undefined)
    await this.#fetcher.close()
  }

  async #importLine(line: string): Promise<ImportedLine> {
    const entry = this.#entries.parse(line)
    if (entry === undefined) return 'unreadable'
    const known = await this.#entries.newest(entry.origin)
    if (known !== undefined && known.entry.latest.at >= entry.latest.at) return 'older'
    await this.#entries.save(entry)
    return 'taken'
  }

  /**
   * Returns whether an entry may be used without a new attempt. Starts an early refresh if one is
   * due (`refreshAheadMs`).
   */
  #isUsable(entry: Entry, at: number): boolean {
    const next = plan(entry, at, this.#settings.policy)
    if (next === 'answer-and-refresh') this.#refreshAhead(entry.origin)
    return next !== 'obtain'
  }

  #refreshAhead(origin: string): void {
    if (this.#flights.phaseOf(origin) !== undefined) return
    this.#telemetry.count('refreshesAhead')
    const robotsUrl = `${origin}/robots.txt`
    const flight = this.#flights.startAhead(origin, (work) => this.#refresh(origin, robotsUrl, 'ahead', work))
    // The check that started this flight does not wait for it; its result goes into the entry. It
    // fails if the client is closed, if the caller's fetch asks the client, or if the request
    // cannot be signed. Any other error is a bug, and becomes an unhandled rejection.
    flight.catch((error: unknown) => {
      if (!this.#closing.aborted && !(error instanceof ReentryError) && !isSigningError(error)) throw error
    })
  }

  /**
   * The work of one flight: takes the entry that another process has stored meanwhile, or makes an
   * attempt.
   */
  async #refresh(
    origin: string,
    robotsUrl: string,
    when: 'due' | 'ahead',
    work: FlightWork,
    chain?: readonly string[] | undefined,
  ): Promise<CachedRules> {
    const { now, policy } = this.#settings
    const lease = new FetchLease(origin, this.#entries, this.#telemetry, this.#settings)
    let step: 'first' | 'taken' | 'waited' | 'without' = 'first'
    try {
      for (;;) {
        const last = await this.#entries.newest(origin, step === 'first' ? 'first' : 'again')
        this.#throwIfEnded(work) // the store may have taken its time
        const next = plan(last && entrySince(last.entry, work.since), now(), policy)
        if (last !== undefined && (next === 'answer' || (next === 'answer-and-refresh' && when === 'due'))) return last
        if (step !== 'taken') {
          step = await lease.takeOrWait(this.#closing)
          this.#throwIfEnded(work)
          if (step !== 'without') continue
        }
        work.isDroppable = false
        return await this.#fetch(origin, robotsUrl, last?.entry, work, chain)
      }
    } finally {
      await lease.release()
    }
  }

  /** Makes an attempt, and saves its entry. */
  async #fetch(
    origin: string,
    robotsUrl: string,
    last: Entry | undefined,
    work: FlightWork,
    chain: readonly string[] | undefined,
  ): Promise<CachedRules> {
    let saved: CachedRules | undefined
    const event = await this.#telemetry.traceFetch(origin, robotsUrl, async () => {
      const event = await this.#attempt(origin, robotsUrl, last, work, chain)
      saved = await this.#entries.save(event.entry)
      return event
    })
    this.#telemetry.fetched(robotsUrl, event)
    return saved as CachedRules
  }

  async #attempt(
    origin: string,
    robotsUrl: string,
    last: Entry | undefined,
    work: FlightWork,
    chain: readonly string[] | undefined,
  ): Promise<FetchEvent> {
    const { policy, now } = this.#settings
    const startedAt = now()
    this.#telemetry.startedVia(this.#fetcher.viaOf())
    const takeNext = (url: string) => takeTurn(url, work, this.#telemetry)
    const { outcome, requests } = await this.#fetcher.fetch(robotsUrl, last?.copy, takeNext, chain)
    this.#throwIfClosed() // the outcome of an aborted attempt says nothing about the site
    const at = now()
    const known = work.isForgotten ? undefined : last
    const entry = settle(known, origin, outcome, at, policy)
    this.#telemetry.bases?.received(entry.latest, outcome.headers)
    if (outcome.kind === 'success') this.#telemetry.count('bytes', outcome.body.bytes.length)
    this.#redirectLimits.pauseAfter(outcome, entry)
    await this.#saveForTarget(origin, outcome, at)
    const from = stateOf(known, startedAt, policy)
    const headers = outcome.headers && reportedHeaders(outcome.headers)
    return { origin, from, to: stateOf(entry, at, policy), entry, headers, requests, tookMs: at - startedAt }
  }

  /**
   * Saves the response at the end of a redirect for the target's origin too, if the target is that
   * origin's /robots.txt. This saves a fetch. An origin's entry only ever holds a response of that
   * origin itself, and an entry that is still fresh is not replaced.
   */
  async #saveForTarget(origin: string, outcome: Outcome, at: number): Promise<void> {
    const isResponse = outcome.kind === 'success' || (outcome.kind === 'unavailable' && outcome.reason === 'status')
    if (!isResponse || outcome.hops.length === 0) return
    const target = parseUrl(outcome.url)
    if (typeof target === 'string') return
    if (target.origin === origin || target.robotsUrl !== outcome.url) return
    const { policy } = this.#settings
    const last = (await this.#entries.newest(target.origin))?.entry
    if (this.#flights.phaseOf(target.origin) !== undefined) return
    // A failed attempt may be replaced before its wait is over; a response is kept until it is
    // stale.
    if (last !== undefined && (last.latest.at >= at || holdsUntil(last, at, policy) > at)) return
    this.#telemetry.count('reusedRedirects')
    const entry = settle(last, target.origin, { ...outcome, hops: [] }, at, policy)
    this.#telemetry.bases?.received(entry.latest, outcome.headers)
    await this.#entries.save(entry)
  }

  #throwIfEnded(work: FlightWork): void {
    this.#throwIfClosed()
    if (work.isDropped) throw new Error('all callers of this flight have aborted') // so it rejects none of them
  }

  #throwIfClosed(): void {
    this.#closing.throwIfAborted()
  }
}

/**
 * Returns whether only the rules decide at this time, so that neither the policy nor the entry's
 * state matters.
 */
export function isFresh({ entry, freshUntil }: CachedRules, at: number): boolean {
  return at < freshUntil && at >= entry.latest.at
}
