// RobotsClient: may I fetch this URL, and why? Gets robots.txt when it must, remembers it while it may.
import type { EventEmitter } from 'node:events'
import {
  type Access,
  allows,
  type CrawlerRules,
  type DayRange,
  decide,
  type Entry,
  entryText,
  type Failure,
  type HasHref,
  holdsUntil,
  type InvalidUrl,
  type Outcome,
  type ParsedUrl,
  parseRobots,
  parseUrl,
  plan,
  type RequestRate,
  settle,
  stateOf,
  type Verdict,
} from '@politely/core'
import { type ConcurrentMapOptions, concurrentMap } from './concurrent-map.ts'
import { Deadline } from './deadline.ts'
import { Entries } from './entries.ts'
import { failureOf } from './failure.ts'
import { fetchRobotsTxt } from './fetch-robots-txt.ts'
import { Flights } from './flights.ts'
import { type Inspection, inspectionOf } from './inspection.ts'
import type { CachedRules } from './memory.ts'
import { linesIn } from './ndjson.ts'
import type { BlockedAddressError } from './network-guard.ts'
import { checkedManyOptions, type RobotsClientOptions, type Settings, settingsOf } from './options.ts'
import { OwnRequests, ReentryError } from './own-requests.ts'
import { type ClientEvents, type Counters, type FetchEvent, Telemetry } from './telemetry.ts'
import { Transport } from './transport.ts'

/** The answer about one URL. JSON-safe; a discriminated union by `because`. */
export type ClientVerdict = (Verdict & CheckedUrl) | (InvalidUrl & { readonly url: string })

/** What was asked, and where the answer comes from. */
export interface CheckedUrl {
  readonly url: string
  /** Scheme, host as an A-label, and port unless it is the default. RFC 9309 §2.3. */
  readonly origin: string
  readonly access: Access
  /** The pause that the site asks this crawler to keep between requests, if it names one. Milliseconds. */
  readonly crawlDelayMs: number | undefined
  /** The rates that the site asks this crawler to keep; undefined where it names none. */
  readonly requestRates?: readonly RequestRate[] | undefined
  /** When the site wants visits, in any of these hours; undefined for at any time. */
  readonly visitTimes?: readonly DayRange[] | undefined
}

export interface AbortOptions {
  /** Aborting it rejects this call with the signal's reason; a fetch that others wait for goes on. */
  readonly signal?: AbortSignal
}

export interface CheckOptions extends AbortOptions {
  /**
   * The URLs whose redirects led to this one, in their order. A redirect from a public host must lead to a public address (`network`); where it
   * does not, the answer is `unreachable` with reason `blocked-address`, and the target is asked nothing. Default: none.
   */
  readonly redirectedFrom?: readonly string[]
}

export interface ManyOptions extends AbortOptions {
  /** How many questions are under way, or answered and not yet taken, at most. Default 64. */
  readonly concurrency?: number
}

export interface CheckManyOptions extends ManyOptions {
  /** `input`: verdicts come in the order of the URLs (the default). `ready`: each as soon as it is known. */
  readonly order?: ConcurrentMapOptions['order']
}

/** How many of the URLs that were given to `prefetch` were answered so. */
export type PrefetchCounts = Readonly<Record<Access['outcome'] | 'invalid-url', number>>

/** How many lines `import` took, how many it knew later news of, and how many are no entries. */
export interface ImportCounts {
  readonly taken: number
  readonly older: number
  readonly unreadable: number
}

/** What a client holds just now. */
export interface Gauges {
  /** Origins in memory, and about how many bytes they take. */
  readonly origins: number
  readonly memoryBytes: number
  readonly flightsUnderWay: number
  readonly flightsWaiting: number
}

/** Thrown by every question after `close`. */
export class ClientClosedError extends Error {
  override readonly name = 'ClientClosedError'
  readonly code = 'ERR_POLITELY_CLIENT_CLOSED'
  constructor() {
    super('this RobotsClient is closed; make a new one')
  }
}

export class RobotsClient {
  readonly #settings: Settings
  readonly #transport: Transport
  readonly #telemetry: Telemetry
  readonly #entries: Entries
  readonly #flights: Flights<CachedRules>
  readonly #ownRequests = new OwnRequests()
  readonly #closing = new AbortController()
  #isClosed = false
  /** Of the attempts under way. Not listeners of one signal: each of those is looked for among all when it goes. */
  readonly #underWay = new Set<Deadline>()

  /** @throws {OptionError} for an option that cannot be used. */
  constructor(options: RobotsClientOptions) {
    this.#settings = settingsOf(options)
    this.#transport = new Transport(this.#settings)
    this.#telemetry = new Telemetry(this.#settings.logger)
    const rulesOf = (bytes: string, origin?: string) => this.#rulesOf(bytes, origin)
    this.#entries = new Entries({ ...this.#settings, telemetry: this.#telemetry, rulesOf })
    this.#flights = new Flights(this.#settings)
    const { signal } = this.#settings
    if (signal?.aborted) void this.close()
    else signal?.addEventListener('abort', () => this.close(), { once: true, signal: this.#closing.signal })
  }

  /** The User-Agent that robots.txt is asked with, for whoever asks for the pages. */
  get userAgent(): string {
    return this.#settings.userAgent
  }

  /** The names that are looked for in robots.txt. */
  get productTokens(): readonly string[] {
    return this.#settings.productTokens
  }

  /** Where to listen: `client.events.on('fetch', …)`. What a listener throws is thrown outside of the question it heard of. */
  get events(): EventEmitter<ClientEvents> {
    return this.#telemetry.events
  }

  /** What has been counted so far; these numbers only grow. */
  get counters(): Counters {
    return this.#telemetry.counters
  }

  get gauges(): Gauges {
    const { count: origins, bytes: memoryBytes } = this.#entries
    return {
      origins,
      memoryBytes,
      flightsUnderWay: this.#flights.underWay,
      flightsWaiting: this.#flights.waiting,
    }
  }

  /**
   * May this URL be fetched?
   * @throws {ClientClosedError} after `close`. What a site does is never thrown.
   */
  isAllowed(url: string | HasHref, options?: AbortOptions): Promise<boolean> {
    // Not an async function, and no promise for each answer that is known: they would take a twentieth of such a question.
    try {
      const allowed = options?.signal?.aborted ? undefined : this.#allowsNow(typeof url === 'string' ? url : url.href)
      if (allowed === undefined) return this.#allowsLater(url, options)
      this.#telemetry.answered(allowed)
      return allowed ? ALLOWED : DISALLOWED
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * May it, and why? Fetches robots.txt if it is not known or no longer fresh. RFC 9309 §2.3 and §2.4.
   * @throws {ClientClosedError} after `close`. What a site does is never thrown: it is in the verdict.
   * @throws {ReentryError} where the client's own `fetch` or `dispatcher` asked the client.
   */
  async check(url: string | HasHref, { signal, redirectedFrom = [] }: CheckOptions = {}): Promise<ClientVerdict> {
    this.#throwIfClosed()
    signal?.throwIfAborted()
    const text = typeof url === 'string' ? url : url.href
    return this.#telemetry.tracedCheck(text, () => this.#check(text, signal, redirectedFrom))
  }

  /**
   * @internal The verdict about a URL whose host must not be connected to, or could not be looked up. It says nothing about the origin, so it
   * is not kept.
   */
  blockedVerdict(url: string, refusal: BlockedAddressError | Failure): ClientVerdict {
    const address = parseUrl(url)
    if (typeof address === 'string') return invalid(url, address)
    const { now, policy } = this.#settings
    const { origin, robotsUrl } = address
    const { reason, detail } =
      'reason' in refusal ? refusal : ({ reason: 'blocked-address', detail: refusal.message } as const)
    const outcome = { kind: 'unreachable', reason, detail, url: robotsUrl, hops: [] } as const
    const entry = settle(undefined, origin, outcome, now(), policy)
    const { verdict, access } = decide(entry, this.#rulesOf('', undefined), address, now(), policy)
    return { url, origin, ...verdict, access, ...NO_PACE }
  }

  /** @internal Whether this client makes a request for this URL right now, in this async context: the request needs no verdict. */
  isOwnRequest(url: string): boolean {
    return this.#ownRequests.includes(url)
  }

  /**
   * The verdict of `check`, if it is known without a fetch of robots.txt and without the store; otherwise undefined. A verdict is counted
   * and published as one of `check` is.
   * @throws {ClientClosedError} after `close`.
   */
  checkNow(url: string | HasHref): ClientVerdict | undefined {
    this.#throwIfClosed()
    const text = typeof url === 'string' ? url : url.href
    const address = parseUrl(text)
    if (typeof address === 'string') return this.#telemetry.checkedNow(invalid(text, address))
    const known = this.#known(address.origin)
    return known && this.#telemetry.checkedNow(this.#verdict(text, address, known))
  }

  /**
   * Answers about a stream of URLs, many at once, no faster than the answers are taken. Leaving the loop ends it.
   * @throws {ClientClosedError}, the signal's reason, or what the source throws.
   */
  checkMany(
    urls: AsyncIterable<string | HasHref> | Iterable<string | HasHref>,
    options: CheckManyOptions = {},
  ): AsyncGenerator<ClientVerdict, void, undefined> {
    return concurrentMap(urls, (url, signal) => this.check(url, { signal }), checkedManyOptions(options))
  }

  /** Gets the robots.txt of every URL's origin that is not known, so that later questions need not wait. */
  async prefetch(
    urls: AsyncIterable<string | HasHref> | Iterable<string | HasHref>,
    options: ManyOptions = {},
  ): Promise<PrefetchCounts> {
    const counts = { success: 0, unavailable: 0, restricted: 0, unreachable: 0, 'invalid-url': 0 }
    for await (const verdict of this.checkMany(urls, { ...options, order: 'ready' })) {
      counts['access' in verdict ? verdict.access.outcome : 'invalid-url']++
    }
    return counts
  }

  /**
   * All that is known of the URL's origin and how it came about; asks nobody but the store.
   * @throws {ClientClosedError} after `close`.
   */
  async inspect(url: string | HasHref): Promise<Inspection | InvalidUrl> {
    this.#throwIfClosed()
    const address = parseUrl(url)
    if (typeof address === 'string') return { allowed: false, because: 'invalid-url', problem: address }
    const { origin } = address
    const remembered = this.#entries.peek(origin)
    const entry = remembered ?? (await this.#entries.inStore(origin))
    const source = remembered !== undefined ? 'memory' : entry !== undefined ? 'store' : 'nowhere'
    const { now, policy } = this.#settings
    return inspectionOf(address, { entry, source, flight: this.#flights.phaseOf(origin) }, now(), policy)
  }

  /** What memory holds, as NDJSON: one entry on each line, with its end. For another process, or another day. */
  *export(): Generator<string, void, undefined> {
    for (const entry of this.#entries.all()) yield `${entryText(entry)}\n`
  }

  /** Takes what `export` gave, in pieces of any size. Of two entries about one origin the later one is kept. */
  async import(chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>): Promise<ImportCounts> {
    const counts = { taken: 0, older: 0, unreadable: 0 }
    for await (const line of linesIn(chunks, this.#entries.longestText)) {
      this.#throwIfClosed()
      const entry = line === undefined ? undefined : this.#entries.read(line)
      const known = entry && (await this.#entries.recall(entry.origin))
      if (entry === undefined) counts.unreadable++
      else if (known !== undefined && known.entry.latest.at >= entry.latest.at) counts.older++
      else {
        counts.taken++
        await this.#entries.keep(entry)
      }
    }
    return counts
  }

  /** Ends all fetches and connections of this client. Questions under way are rejected. The store stays yours to close. */
  async close(): Promise<void> {
    const reason = new ClientClosedError()
    this.#isClosed = true
    this.#closing.abort(reason)
    for (const deadline of this.#underWay) deadline.end()
    await this.#flights.close(reason)
    await this.#transport.destroy()
    this.#entries.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #check(
    text: string,
    signal: AbortSignal | undefined,
    redirectedFrom: readonly string[],
  ): Promise<ClientVerdict> {
    const address = parseUrl(text)
    if (typeof address === 'string') return invalid(text, address)
    if (redirectedFrom.length > 0) {
      const blocked = await this.#blockedRedirect(text, redirectedFrom)
      if (blocked !== undefined) return blocked
    }
    return this.#verdict(text, address, this.#known(address.origin) ?? (await this.#wait(address, signal)))
  }

  #verdict(text: string, address: ParsedUrl, { entry, rules }: CachedRules): ClientVerdict {
    const { now, policy } = this.#settings
    const { verdict, access } = decide(entry, rules, address, now(), policy)
    return { url: text, origin: address.origin, ...verdict, access, ...(access.copy ? paceOf(rules) : NO_PACE) }
  }

  /** The verdict about the target of a redirect, if the guard refuses it. */
  async #blockedRedirect(url: string, redirectedFrom: readonly string[]): Promise<ClientVerdict | undefined> {
    const { guard, timeoutMs } = this.#settings
    const deadline = new Deadline(timeoutMs)
    const refusal = await deadline
      .orBefore(guard.refusalOfRedirect(redirectedFrom, url))
      .catch((error: unknown) => failureOf(error, 'request', deadline))
      .finally(() => deadline.clear())
    return refusal && this.blockedVerdict(url, refusal)
  }

  async #allowsLater(url: string | HasHref, options: AbortOptions | undefined): Promise<boolean> {
    return (await this.check(url, options)).allowed
  }

  /** The answer about a URL that is as clients send it, if what it takes is known and nobody else is to hear of it; for most questions so. */
  #allowsNow(text: string): boolean | undefined {
    if (this.#isClosed || this.#telemetry.isHeardOnVerdicts) return undefined
    const known = this.#entries.ofUrl(text)
    if (known === undefined) return undefined
    const { now, policy, dialect } = this.#settings
    const at = now()
    const isSteady = at < known.freshUntil && at >= known.entry.latest.at
    if (!isSteady && !this.#holds(known.entry, at)) return undefined
    // Google's reading compares the URL as it is given; here it is given as it would be sent.
    const url = dialect.parsing.compare === 'google' ? new URL(text) : text
    return isSteady ? known.rules.isAllowed(url) : allows(known.entry, known.rules, url, at, policy)
  }

  /** What is known of an origin, unless robots.txt has to be asked for first. */
  #known(origin: string): CachedRules | undefined {
    const known = this.#entries.inMemory(origin)
    return known !== undefined && this.#holds(known.entry, this.#settings.now()) ? known : undefined
  }

  /** Whether an entry answers questions as it stands. */
  #holds(entry: Entry, at: number): boolean {
    const next = plan(entry, at, this.#settings.policy)
    switch (next) {
      case 'answer':
        return true
      case 'answer-and-refresh':
        this.#refreshAhead(entry.origin)
        return true
      case 'obtain':
        return false
    }
  }

  async #wait({ origin, robotsUrl }: ParsedUrl, signal: AbortSignal | undefined): Promise<CachedRules> {
    this.#ownRequests.assertOutside(robotsUrl)
    this.#telemetry.count('waits')
    return this.#flights.join(origin, () => this.#refresh(origin, robotsUrl), signal)
  }

  #refreshAhead(origin: string): void {
    if (this.#flights.phaseOf(origin) !== undefined) return
    this.#telemetry.count('refreshesAhead')
    // No caller waits for it: its result is in the entry. It fails when the client is closed, or asks itself; any other error is a bug.
    const flight = this.#flights.join(origin, () => this.#refresh(origin, `${origin}/robots.txt`, 'ahead'))
    flight.catch((error: unknown) => {
      if (!this.#closing.signal.aborted && !(error instanceof ReentryError)) throw error
    })
  }

  /** One flight: what another process has learned meanwhile, or else an attempt. */
  async #refresh(origin: string, robotsUrl: string, when: 'due' | 'ahead' = 'due'): Promise<CachedRules> {
    const { now, policy } = this.#settings
    const last = await this.#entries.recall(origin)
    this.#closing.signal.throwIfAborted() // the store may have taken its time
    const next = plan(last?.entry, now(), policy)
    if (last !== undefined && (next === 'answer' || (next === 'answer-and-refresh' && when === 'due'))) return last
    let known = last
    const trace = { origin, robotsUrl }
    await this.#telemetry.tracedFetch(trace, async () => {
      const event = await this.#attempt(origin, robotsUrl, last?.entry)
      known = await this.#entries.keep(event.entry)
      return event
    })
    return known as CachedRules
  }

  async #attempt(origin: string, robotsUrl: string, last: Entry | undefined): Promise<FetchEvent> {
    const { policy, retries, timeoutMs, now, fetch, dispatcher } = this.#settings
    const startedAt = now()
    const deadline = new Deadline(timeoutMs)
    this.#underWay.add(deadline)
    let requests = 0
    try {
      const outcome = await fetchRobotsTxt(robotsUrl, last?.copy, {
        send: (asking) => {
          requests++
          const send = () => this.#transport.send(asking, deadline)
          // Our own connections never ask this client, and an async context costs time.
          return fetch === undefined && dispatcher === undefined
            ? send()
            : this.#ownRequests.run(asking.url, robotsUrl, send)
        },
        policy,
        retries,
        deadline,
      })
      this.#closing.signal.throwIfAborted() // what came of it says nothing about the site
      const at = now()
      const entry = settle(last, origin, outcome, at, policy)
      if (outcome.kind === 'success') this.#telemetry.count('bytes', outcome.body.bytes.length)
      await this.#keepForTarget(origin, outcome, at)
      const from = stateOf(last, startedAt, policy)
      return { origin, from, to: stateOf(entry, at, policy), entry, requests, tookMs: at - startedAt }
    } finally {
      deadline.clear()
      this.#underWay.delete(deadline)
    }
  }

  /**
   * The answer at the end of a redirect, where that is another origin's /robots.txt, is that origin's answer too, and saves its
   * fetch. Nothing is ever kept for an origin that did not answer so itself, and no answer that still holds is changed.
   */
  async #keepForTarget(origin: string, outcome: Outcome, at: number): Promise<void> {
    const isAnswer = outcome.kind === 'success' || (outcome.kind === 'unavailable' && outcome.reason === 'status')
    if (!isAnswer || outcome.hops.length === 0) return
    const target = parseUrl(outcome.url)
    if (typeof target === 'string') return
    if (target.origin === origin || target.robotsUrl !== outcome.url) return
    const { policy } = this.#settings
    const last = (await this.#entries.recall(target.origin))?.entry
    if (this.#flights.phaseOf(target.origin) !== undefined) return
    // What failed has answered now, before its wait is over; what was answered is left to its own time.
    if (last !== undefined && (last.latest.at >= at || holdsUntil(last, at, policy) > at)) return
    this.#telemetry.count('reusedRedirects')
    await this.#entries.keep(settle(last, target.origin, { ...outcome, hops: [] }, at, policy))
  }

  #throwIfClosed(): void {
    if (this.#isClosed) throw new ClientClosedError()
  }

  #rulesOf(bytes: string, origin: string | undefined): CrawlerRules {
    const { dialect, productTokens } = this.#settings
    return parseRobots({ bytes: bytes }, { dialect, ...(origin && { origin }) }).forCrawler(productTokens)
  }
}

const ALLOWED: Promise<boolean> = Promise.resolve(true)
const DISALLOWED: Promise<boolean> = Promise.resolve(false)

function invalid(url: string, problem: InvalidUrl['problem']): ClientVerdict {
  return { url, allowed: false, because: 'invalid-url', problem }
}

type PaceWishes = Pick<CheckedUrl, 'crawlDelayMs' | 'requestRates' | 'visitTimes'>

const NO_PACE: PaceWishes = { crawlDelayMs: undefined, requestRates: undefined, visitTimes: undefined }

/** What the site asks of this crawler's pace; what it does not name is undefined. */
function paceOf({ crawlDelayMs, requestRates, visitTimes }: CrawlerRules): PaceWishes {
  return {
    crawlDelayMs,
    requestRates: requestRates.length > 0 ? requestRates : undefined,
    visitTimes: visitTimes.length > 0 ? visitTimes : undefined,
  }
}
