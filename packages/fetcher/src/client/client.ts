// RobotsClient: decides whether a crawler may fetch a URL, and says why. The cache behind it
// fetches and keeps robots.txt.
import type { EventEmitter } from 'node:events'
import {
  type Access,
  type Explanation,
  explainUrlProblem,
  type HasHref,
  type InvalidUrl,
  OptionError,
  type ParsedUrl,
  parseRobots,
  type Robots,
} from '@politely/core'
import { allows, settle } from '@politely/core/engine'
import {
  type Failure,
  MAX_SHORT_URL_LENGTH,
  markClass,
  type OtherRecord,
  parseUrl,
  withoutCredentials,
} from '@politely/core/internal'
import { orAborted } from '../base/abort-listeners.ts'
import { concurrentMap } from '../base/concurrent-map.ts'
import { type BlockedAddressError, ClientClosedError } from '../base/errors.ts'
import { assertCallOptions, assertIterable, describeValue, redirectChain, urlText } from '../base/option-checks.ts'
import { entrySince } from '../cache/entry-since.ts'
import { type Inspection, inspectionOf } from '../cache/inspection.ts'
import type { CachedRules } from '../cache/memory.ts'
import { isFresh, RobotsCache } from '../cache/robots-cache.ts'
import { Deadline } from '../fetch/deadline.ts'
import { failureOf } from '../fetch/failure.ts'
import {
  assertLookupOptions,
  assertUsageOptions,
  CHECK_NOW_OPTIONS,
  type CheckManyOptions,
  checkedManyOptions,
  type LookupOptions,
  PREFETCH_OPTIONS,
  type UsageOptions,
} from '../options/call-options.ts'
import { type ClientSettings, clientSettingsOf, namesItself, type RobotsClientOptions } from '../options/options.ts'
import type { Counters } from '../report/client-counters.ts'
import { type ClientVerdict, clientVerdictOf, invalidUrlVerdict } from '../report/client-verdict.ts'
import { DecisionBases, Decisions } from '../report/decisions.ts'
import type { EvidenceSink } from '../report/evidence.ts'
import type { Gauges } from '../report/gauges.ts'
import { type ClientEvents, isCheckTraced, type ReportingClient, Telemetry } from '../report/telemetry.ts'
import { openPage, type PageResponse, redirectedUrl, sentPageOf } from './page-response.ts'
import type { ClientUsage, UsageReader } from './usage-reader.ts'

/** A longer file is parsed for each call of `usage`: `maxCacheBytes` does not count parsed files. Bytes. */
const MAX_KEPT_FILE = 16_384

/** A verdict, and everything in the file that affects it. JSON-safe. */
export interface ClientExplanation {
  readonly verdict: ClientVerdict
  /**
   * The rules that match, why one of them decides, and their lines. Undefined if the verdict does
   * not depend on a copy of robots.txt.
   */
  readonly explanation: Explanation | undefined
  /**
   * The fields of that copy that are neither user-agent lines nor rules, in the order of the file.
   * RFC 9309 §2.2.4.
   */
  readonly records: readonly OtherRecord[]
}

/** The sitemaps that the robots.txt of an origin names. */
export interface SitemapList extends ReadonlyArray<string> {
  /**
   * What is known about that robots.txt. For an empty list, `outcome` tells a file without sitemaps
   * (`success`) from a missing one (`unavailable`) and a failed fetch (`unreachable`).
   */
  readonly access: Access
}

/** The number of URLs given to `prefetch`, by the outcome for their origin. */
export type PrefetchCounts = Readonly<Record<Access['outcome'] | 'invalid-url', number>>

/** The numbers of lines given to `import`, by what the client did with them. */
export interface ImportCounts {
  /** Lines whose entry the client took. */
  readonly taken: number
  /** Lines that the client skipped, because it knew a newer entry. */
  readonly older: number
  /** Lines that the client could not read, or may not use with its options. */
  readonly unreadable: number
}

/** What the gate uses of a client, in addition to the public methods. */
export interface ClientPort {
  /**
   * Returns the verdict about a URL whose host the guard refuses, or whose name could not be
   * resolved. The verdict says nothing about the origin, so it is not cached.
   */
  readonly blockedVerdict: (url: string, refusal: BlockedAddressError | Failure) => ClientVerdict
  /**
   * Returns whether the client makes a request for this URL right now, in this async context. Such
   * a request needs no verdict.
   */
  readonly isOwnRequest: (url: string) => boolean
  /**
   * Returns the sources of a link, for `redirectedFrom`: its page, if the page has a public host.
   * Otherwise the page changes nothing, and its own sources stay.
   */
  readonly linkSources: (page: string, sourcesOfPage: readonly string[]) => readonly string[]
  /** The same as `usage`, but the answer is about `url` even if the response names another URL. */
  readonly usageOf: (url: string, response: PageResponse | undefined, options: UsageOptions) => Promise<ClientUsage>
  /** The checked options of the client. */
  readonly settings: () => ClientSettings
  /** The clock of the client: returns milliseconds since 1970. */
  readonly now: () => number
  /**
   * Returns the rules of the URL's origin, if memory has them, they are fresh, and nothing listens for
   * verdicts. `isAllowed` of the rules is then the answer. Counts nothing.
   * @param at The time by the clock of the client.
   */
  readonly peek: (url: string, at: number) => CachedRules | undefined
  /** Counts the verdict on a URL that `peek` has found rules for, and that they allow. */
  readonly countAllowed: () => void
  /** Returns the verdict on such a URL. @param at The time of the check, by the clock of the client. */
  readonly verdictOn: (url: string, rules: CachedRules, at: number) => ClientVerdict
  /**
   * Returns the verdict by the robots.txt in memory or in the store, however old, as it was when the
   * last attempt ended. Undefined if neither has it. Never fetches.
   */
  readonly storedVerdict: (url: string) => Promise<ClientVerdict | undefined>
  /** Reads the store once, so that `storeOutageMs` is up to date without checks too. */
  readonly probeStore: () => Promise<void>
  /** The same as the public method with only these options, without evidence of the decision. */
  readonly check: (url: string, signal: AbortSignal, redirectedFrom: readonly string[]) => Promise<ClientVerdict>
  /** The same as the public method, without evidence of the decision. */
  readonly checkNow: (url: string, redirectedFrom: readonly string[]) => ClientVerdict | undefined
  /** Returns where a gate keeps its decisions. @param sink The gate's own. Default: the client's. */
  readonly decisionsOf: (sink: EvidenceSink | undefined) => Decisions | undefined
}

/** Returns the port of a client. The class sets this function, since the port is private there. */
export let clientPort: (client: RobotsClient) => ClientPort

/**
 * Fetches and caches robots.txt, and decides whether a crawler may fetch a URL. It follows RFC 9309
 * for redirects, failures, size and freshness; its options can choose another dialect and policy.
 * Concurrent checks of one origin share one fetch. By default, a public host cannot lead a fetch to
 * a private address (see `network`).
 *
 * @example
 * ```ts
 * import { RobotsClient } from '@politely/fetcher'
 *
 * const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0 (+https://example.com/bot)' })
 * const verdict = await robots.check('https://example.com/page')
 * console.log(verdict.allowed, verdict.because)
 * await robots.close()
 * ```
 */
export class RobotsClient implements ReportingClient {
  readonly #settings: ClientSettings
  readonly #telemetry: Telemetry
  readonly #cache: RobotsCache
  /** Set with the option `evidence`. */
  readonly #decisions: Decisions | undefined
  /** Loaded by the first call of `usage`. */
  #usageReader: Promise<UsageReader> | undefined
  /** The parsed files of copies in memory, which calls of `usage` have in common. */
  readonly #files: WeakMap<object, Robots> = new WeakMap()
  /** Aborted by `close`, with a `ClientClosedError`. */
  readonly #closing = new AbortController()
  readonly #port: ClientPort = {
    blockedVerdict: (url, refusal) => this.#blockedVerdict(url, refusal),
    isOwnRequest: (url) => this.#cache.isOwnRequest(url),
    linkSources: (page, sources) =>
      this.#settings.guard.reachOf([page]) === 'public' ? [new URL(page).origin] : sources,
    usageOf: (url, response, options) => this.#usage(url, response, options),
    settings: () => this.#settings,
    now: () => this.#settings.now(),
    peek: (url, at) => this.#peek(url, at),
    countAllowed: () => this.#telemetry.countVerdict(true),
    verdictOn: (url, cached, at) => this.#verdictOf(url, cached.entry.origin, url, cached, at),
    storedVerdict: (url) => this.#storedVerdict(url),
    probeStore: () => this.#cache.probeStore(),
    check: (url, signal, redirectedFrom) => this.#checkSince(url, signal, redirectedFrom, undefined),
    checkNow: (url, redirectedFrom) => this.#checkNow(url, redirectedFrom),
    decisionsOf: (sink) => (sink === undefined ? this.#decisions : this.#decisionsFor(sink)),
  }

  static {
    clientPort = (client) => client.#port
    markClass('RobotsClient', RobotsClient)
  }

  /** @throws {OptionError} for an invalid or unknown option. */
  constructor(options: RobotsClientOptions) {
    this.#settings = clientSettingsOf(options, this.#closing.signal)
    this.#telemetry = new Telemetry(this, this.#settings.logger)
    this.#cache = new RobotsCache(this.#settings, this.#telemetry, this.#closing.signal)
    const { evidence } = this.#settings
    this.#decisions = evidence && this.#decisionsFor(evidence)
    this.#logProductTokens(options.productToken === undefined ? 'userAgent' : 'productToken')
    if (!namesItself(this.#settings)) this.#warnOfUserAgent()
    const { signal } = this.#settings
    if (signal?.aborted) void this.close()
    else signal?.addEventListener('abort', () => this.close(), { once: true, signal: this.#closing.signal })
  }

  /** The User-Agent header of robots.txt requests. Send the same one with page requests. */
  get userAgent(): string {
    return this.#settings.userAgent
  }

  /** The product tokens that select this crawler's group in robots.txt. */
  get productTokens(): readonly string[] {
    return this.#settings.productTokens
  }

  /**
   * Emits the client's events: `client.events.on('fetch', …)`. If a listener throws, the error is
   * uncaught; it does not reject the check.
   */
  get events(): EventEmitter<ClientEvents> {
    return this.#telemetry.events
  }

  /** Totals since the client was created. They never decrease. */
  get counters(): Counters {
    return this.#telemetry.counters
  }

  /** The current size of the client: what its memory cache holds, and its fetches of robots.txt. */
  get gauges(): Gauges {
    return this.#cache.gauges
  }

  /**
   * Returns whether the crawler may fetch this URL. Fetches robots.txt if it is not cached or is
   * stale. Returns false for a string that is not a valid URL, such as `example.com/page`; `check`
   * says why.
   * @throws {OptionError} for invalid arguments. An invalid URL in a string is not an error.
   * @throws {ClientClosedError} after `close`. A failure of the site is not an error: the client's
   * policy decides.
   * @throws {ReentryError} if the client's own `fetch` or `dispatcher` asks the client.
   */
  isAllowed(url: string | HasHref, options?: LookupOptions): Promise<boolean> {
    // This is not an async function, and known results use shared promises. New promises would take
    // a twentieth of the time of such a check.
    try {
      if (options !== undefined) assertLookupOptions(options)
      const mayAnswerNow =
        options === undefined ||
        (options.maxAgeMs === undefined && options.redirectedFrom === undefined && !options.signal?.aborted)
      const allowed = mayAnswerNow ? this.#isAllowedNow(urlText(url)) : undefined
      if (allowed === undefined) return this.check(url, options).then((verdict) => verdict.allowed)
      this.#telemetry.countVerdict(allowed)
      return allowed ? ALLOWED : DISALLOWED
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * Returns the verdict about this URL: whether the crawler may fetch it, and why. Fetches
   * robots.txt if it is not cached or is stale. RFC 9309 §2.3 and §2.4.
   * @throws {OptionError} for invalid arguments. An invalid URL in a string is not an error: the
   * verdict describes it.
   * @throws {ClientClosedError} after `close`. A failure of the site is not an error: the verdict
   * describes it.
   * @throws {ReentryError} if the client's own `fetch` or `dispatcher` asks the client.
   */
  async check(url: string | HasHref, options: LookupOptions = NO_OPTIONS): Promise<ClientVerdict> {
    this.#throwIfClosed()
    if (options === NO_OPTIONS && !isCheckTraced()) {
      const known = this.#verdictByText(urlText(url))
      if (known !== undefined) {
        this.#telemetry.checked(known)
        return this.#decisions === undefined ? known : this.#kept(this.#decisions, known, undefined)
      }
    }
    assertLookupOptions(options)
    return this.#checkAndKeep(url, options, this.#sinceOf(options))
  }

  /**
   * Returns the verdict of `check` if memory has it, or undefined if `check` would have to read the
   * store, fetch robots.txt, or look at the address of a private host that a public one has named
   * (`redirectedFrom`). The client counts and publishes the verdict as it does for `check`.
   * @throws {OptionError} if `url` is not a string or an object with an `href`, and for invalid
   * options.
   * @throws {ClientClosedError} after `close`.
   */
  checkNow(url: string | HasHref, options?: Pick<LookupOptions, 'redirectedFrom'>): ClientVerdict | undefined {
    this.#throwIfClosed()
    const text = urlText(url)
    if (options !== undefined) assertCallOptions(options, CHECK_NOW_OPTIONS)
    const redirectedFrom = redirectChain(options?.redirectedFrom)
    const verdict = this.#checkNow(text, redirectedFrom)
    if (verdict !== undefined) this.#decisions?.decide('check', verdict, redirectedFrom)
    return verdict
  }

  /**
   * Checks a stream of URLs concurrently. Reads the URLs only as fast as the caller takes the
   * verdicts. Leaving the loop aborts the checks under way.
   * @throws {OptionError} for invalid arguments, and for an item that is neither a string nor an
   * object with an `href`.
   * @throws {ClientClosedError}, the signal's reason, or an error of the source.
   */
  checkMany(
    urls: AsyncIterable<string | HasHref> | Iterable<string | HasHref>,
    options: CheckManyOptions = {},
  ): AsyncGenerator<ClientVerdict, void, undefined> {
    assertIterable('urls', urls, '[url]')
    const manyOptions = checkedManyOptions(options)
    const since = this.#sinceOf(options) // once, so that URLs of one origin share its fetch
    const { maxAgeMs } = options
    const redirectedFrom = redirectChain(options.redirectedFrom)
    const check = (url: string | HasHref, signal: AbortSignal) =>
      this.#checkAndKeep(url, { signal, redirectedFrom, maxAgeMs }, since)
    return concurrentMap(urls, check, manyOptions)
  }

  /**
   * Fetches the robots.txt of each URL's origin unless it is cached, so that later checks need not
   * wait.
   * @throws {OptionError} for invalid arguments, and for an item that is neither a string nor an
   * object with an `href`.
   * @throws {ClientClosedError}, the signal's reason, or an error of the source.
   */
  async prefetch(
    urls: AsyncIterable<string | HasHref> | Iterable<string | HasHref>,
    options: Omit<CheckManyOptions, 'order'> = {},
  ): Promise<PrefetchCounts> {
    assertLookupOptions(options, PREFETCH_OPTIONS)
    const counts = { success: 0, unavailable: 0, restricted: 0, unreachable: 0, 'invalid-url': 0 }
    for await (const verdict of this.checkMany(urls, { ...options, order: 'ready' })) {
      counts[verdict.access?.outcome ?? 'invalid-url']++
    }
    return counts
  }

  /**
   * Returns the verdict of `check`, every rule that matches the URL with its line, and why one of
   * them decides. Fetches robots.txt if it is not cached or is stale. Does not count as a check,
   * and takes longer than a check, since it parses the file again.
   * @throws {OptionError} for invalid arguments. An invalid URL in a string is not an error: the
   * verdict describes it.
   * @throws {ClientClosedError} after `close`.
   */
  async explain(url: string | HasHref, options: LookupOptions = {}): Promise<ClientExplanation> {
    const text = this.#textOf(url, options)
    const parsed = parseUrl(text)
    if (typeof parsed === 'string') {
      return { verdict: invalidUrlVerdict(text, parsed), explanation: undefined, records: [] }
    }
    const since = this.#sinceOf(options)
    const cached = await this.#load(parsed, options, since)
    const verdict = this.#verdict(text, parsed, cached, since)
    const robots = verdict.access?.copy && this.#fileOf(cached)
    const explanation = robots?.explain(parsed, this.#settings.productTokens)
    return { verdict, explanation, records: robots?.records ?? [] }
  }

  /**
   * Returns the URLs of the `Sitemap` lines in the robots.txt of the URL's origin, each once and in
   * the order of the file. The list is empty if the client has no copy of robots.txt; its `access`
   * says why. Fetches robots.txt if it is not cached or is stale.
   * @throws {OptionError} for invalid arguments, and for an invalid URL.
   * @throws {ClientClosedError} after `close`.
   */
  async sitemaps(url: string | HasHref, options: LookupOptions = {}): Promise<SitemapList> {
    const parsed = validUrl(this.#textOf(url, options))
    const since = this.#sinceOf(options)
    const cached = await this.#load(parsed, options, since)
    const { access } = this.#verdict(parsed.origin, parsed, cached, since)
    const sitemaps = Object.assign([...(this.#fileOf(cached)?.sitemaps ?? [])], { access: access as Access })
    // So the list prints and compares like any other.
    return Object.defineProperty(sitemaps, 'access', { enumerable: false })
  }

  /**
   * Returns the parsed robots.txt of the URL's origin, with its records and text. Returns undefined
   * if the client has no copy: the site has no robots.txt, or it has been unreachable from the
   * start. Fetches robots.txt if it is not cached or is stale.
   * @throws {OptionError} for invalid arguments, and for an invalid URL.
   * @throws {ClientClosedError} after `close`.
   */
  async robots(url: string | HasHref, options: LookupOptions = {}): Promise<Robots | undefined> {
    const parsed = validUrl(this.#textOf(url, options))
    return this.#fileOf(await this.#load(parsed, options, this.#sinceOf(options)))
  }

  /**
   * Returns what may be done with a page: whether the site lets the crawler index it, train on it and
   * so on, from robots.txt, the origin's tdmrep.json, and the response for the page. Fetches
   * robots.txt and tdmrep.json if they are not cached or are stale, and nothing else.
   *
   * @param url The URL of the page, after redirects.
   * @param response The response for the page. Of HTML, the head is read from a clone, so the caller
   * can read the body afterwards or at the same time. If its fetch has followed redirects, the answer
   * is about `response.url`, and `url` is where the redirects come from (see `redirectedFrom`).
   * Default: the page is not looked at.
   * @throws {OptionError} for invalid arguments, for an invalid URL, and for an HTML response whose
   * body was read already.
   * @throws {ClientClosedError} after `close`.
   * @throws {ReentryError} if the client's own `fetch` or `dispatcher` asks the client.
   */
  async usage(url: string | HasHref, response?: PageResponse, options: UsageOptions = {}): Promise<ClientUsage> {
    const redirected = redirectedUrl(response)
    if (redirected === undefined) return this.#usage(url, response, options)
    const from = urlText(url)
    const chain = URL.canParse(from) ? [from] : []
    return this.#usage(redirected, response, {
      ...options,
      redirectedFrom: [...redirectChain(options.redirectedFrom), ...chain],
    })
  }

  async #usage(url: string | HasHref, response: PageResponse | undefined, options: UsageOptions): Promise<ClientUsage> {
    this.#throwIfClosed()
    const text = urlText(url)
    assertUsageOptions(options)
    const { signal } = options
    signal?.throwIfAborted()
    const parsed = validUrl(text)
    const page = openPage(response)
    this.#usageReader ??= this.#loadUsageReader()
    const reading = this.#usageReader.then((reader) => reader.readHead(page, signal)) // while the files are fetched
    const loadFiles = () => this.#loadForUsage(text, parsed, options)
    const files = await (sentPageOf(response)?.pauseDuring?.(loadFiles) ?? loadFiles())
    const { reader, robots, verdict, tdmrep } = files
    const read = await reading
    signal?.throwIfAborted()
    this.#throwIfClosed()
    const usage = reader.report(parsed, robots, verdict, read, tdmrep, options.policyTokens)
    const decisions = sentPageOf(response)?.decisions ?? this.#decisions
    if (decisions !== undefined)
      this.#keepUsage(decisions, verdict, usage, response, redirectChain(options.redirectedFrom))
    return usage
  }

  /** Adds the answers to the decision about the request for the page, or else to a new one. */
  #keepUsage(
    decisions: Decisions,
    verdict: ClientVerdict,
    { purposes }: ClientUsage,
    response: unknown,
    chain: readonly string[],
  ): void {
    const id = sentPageOf(response)?.decision ?? decisions.decide('check', verdict, chain).id
    const usage = Object.fromEntries(Object.entries(purposes).map(([purpose, { answer }]) => [purpose, answer]))
    decisions.ended({ id, at: this.#settings.now(), outcome: 'noted', usage })
  }

  /** Loads what `usage` needs of the origin: its robots.txt, and its tdmrep.json if it is wanted. */
  async #loadForUsage(text: string, url: ParsedUrl, options: UsageOptions) {
    const { signal, tdmrep: wanted = 'fetch', policyTokens } = options
    if (policyTokens !== undefined) (await this.#usageReader)?.checkPolicyTokens(policyTokens)
    const since = this.#sinceOf(options)
    const cached = await this.#load(url, options, since)
    const verdict = this.#verdict(text, url, cached, since)
    const reader = await (this.#usageReader as Promise<UsageReader>)
    const robots = verdict.access?.copy && this.#fileOf(cached)
    const mayFetch = (file: ParsedUrl) => this.#verdict(file.origin + file.path, file, cached, since)
    const tdmrep = await reader.loadTdmrep(url.origin, wanted === 'fetch' ? mayFetch : undefined, { signal, since })
    return { reader, robots, verdict, tdmrep }
  }

  /**
   * Returns all that the client knows about the URL's origin: its state, attempts and copy. Reads
   * the store, but sends no requests.
   * @throws {OptionError} if `url` is not a string or an object with an `href`.
   * @throws {ClientClosedError} after `close`.
   */
  async inspect(url: string | HasHref): Promise<Inspection | InvalidUrl> {
    this.#throwIfClosed()
    const text = urlText(url)
    const parsed = parseUrl(text)
    if (typeof parsed === 'string')
      return { allowed: false, because: 'invalid-url', url: withoutCredentials(text), problem: parsed }
    const known = await orAborted(this.#cache.inspect(parsed.origin), [this.#closing.signal])
    return inspectionOf(parsed, known, this.#settings.now(), this.#settings)
  }

  /**
   * Removes what memory and the store know about the URL's origin: its robots.txt, its tdmrep.json,
   * and the wait after a failure. The next check fetches robots.txt. A fetch that is under way continues, and
   * its result counts. Other processes notice it when they next read the store.
   * @returns Whether the store has removed its entry; true without a store. If it is false, the
   * store failed (event `store-failed`), and the next check may find the old entry there.
   * @throws {OptionError} for invalid arguments, and for an invalid URL.
   * @throws {ClientClosedError} after `close`.
   */
  async forget(url: string | HasHref): Promise<boolean> {
    this.#throwIfClosed()
    const { origin } = validUrl(urlText(url))
    const forgotten = this.#cache.forget(origin).finally(async () => (await this.#usageReader)?.tdmrep.forget(origin))
    return orAborted(forgotten, [this.#closing.signal])
  }

  /**
   * Yields the entries in memory as NDJSON: one entry on each line, with its line end. Another
   * process can `import` them.
   */
  export(): Generator<string, void, undefined> {
    return this.#cache.exportLines()
  }

  /**
   * Imports the text of `export`, in chunks of any size. Of two entries about one origin, the newer
   * one wins.
   * @throws {OptionError} if `chunks` is not an iterable, or is a single text.
   * @throws {ClientClosedError} after `close`.
   */
  async import(chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>): Promise<ImportCounts> {
    assertIterable('chunks', chunks, '[text], or a stream')
    return orAborted(this.#countImported(chunks), [this.#closing.signal])
  }

  /**
   * Aborts all fetches, closes all connections and rejects all calls under way. The caller closes
   * the store. If the store does not respond, a call of the store may still be under way when
   * `close` resolves.
   */
  async close(): Promise<void> {
    this.#closing.abort(new ClientClosedError())
    await Promise.all([this.#cache.close(), this.#usageReader?.then((reader) => reader.tdmrep.close())])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** `check` with the time of `#sinceOf`. */
  #checkAndKeep(url: string | HasHref, options: LookupOptions, since: number | undefined): Promise<ClientVerdict> {
    const { signal, maxAgeMs } = options
    const redirectedFrom = redirectChain(options.redirectedFrom)
    const checking = this.#checkSince(url, signal, redirectedFrom, since)
    const decisions = this.#decisions
    if (decisions === undefined) return checking
    return checking.then((verdict) => this.#kept(decisions, verdict, signal, redirectedFrom, maxAgeMs))
  }

  /** Resolves with the verdict when the sink has kept the decision as safely as it promises. */
  async #kept(
    decisions: Decisions,
    verdict: ClientVerdict,
    signal: AbortSignal | undefined,
    redirectedFrom?: readonly string[],
    maxAgeMs?: number | undefined,
  ): Promise<ClientVerdict> {
    const { written } = decisions.decide('check', verdict, redirectedFrom, { maxAgeMs })
    const closing = this.#closing.signal
    if (written !== undefined) await orAborted(written, signal ? [signal, closing] : [closing])
    return verdict
  }

  async #checkSince(
    url: string | HasHref,
    signal: AbortSignal | undefined,
    redirectedFrom: readonly string[],
    since: number | undefined,
  ): Promise<ClientVerdict> {
    this.#throwIfClosed()
    const text = urlText(url)
    signal?.throwIfAborted()
    const verdict = await this.#telemetry.traceCheck(text, () => this.#check(text, signal, redirectedFrom, since))
    this.#telemetry.checked(verdict)
    return verdict
  }

  async #check(
    text: string,
    signal: AbortSignal | undefined,
    redirectedFrom: readonly string[],
    since: number | undefined,
  ): Promise<ClientVerdict> {
    const mayBeKnown = redirectedFrom.length === 0 && since === undefined
    const known = mayBeKnown ? this.#verdictByText(text) : undefined
    if (known !== undefined) return known
    const url = parseUrl(text)
    if (typeof url === 'string') return invalidUrlVerdict(text, url)
    return this.#verdict(text, url, await this.#load(url, { signal, redirectedFrom }, since), since)
  }

  #verdict(text: string, url: ParsedUrl, { entry, rules }: CachedRules, since?: number): ClientVerdict {
    return this.#verdictOf(text, url.origin, url, { entry: entrySince(entry, since), rules }, this.#settings.now())
  }

  #verdictOf(
    text: string,
    origin: string,
    url: string | ParsedUrl,
    cached: Pick<CachedRules, 'entry' | 'rules'>,
    at: number,
  ): ClientVerdict {
    const verdict = clientVerdictOf(text, origin, url, cached, at, this.#settings.policy)
    this.#telemetry.bases?.note(verdict, cached.entry, at)
    return verdict
  }

  #decisionsFor(sink: EvidenceSink): Decisions {
    const { userAgent, productTokens, dialect, policy, maxBodyBytes, now } = this.#settings
    // Without the other settings: a sink may write all of the client, and they have secrets.
    this.#telemetry.bases ??= new DecisionBases({ userAgent, productTokens, dialect, policy, maxBodyBytes }, now)
    return new Decisions(sink, this.#telemetry.bases)
  }

  #checkNow(text: string, redirectedFrom: readonly string[]): ClientVerdict | undefined {
    this.#throwIfClosed()
    const verdict = this.#cachedVerdict(text, redirectedFrom)
    if (verdict !== undefined) this.#telemetry.checkedNow(verdict)
    return verdict
  }

  /** Checks the arguments of a method, and returns the text of the URL. */
  #textOf(url: string | HasHref, options: LookupOptions): string {
    this.#throwIfClosed()
    const text = urlText(url)
    assertLookupOptions(options)
    options.signal?.throwIfAborted()
    return text
  }

  /**
   * Returns the rules of a URL's origin. Fetches robots.txt if it is not cached or is stale, unless
   * the guard refuses the URL because of the site that gave it.
   */
  async #load(
    url: ParsedUrl,
    { signal, redirectedFrom = [] }: LookupOptions,
    since: number | undefined,
  ): Promise<CachedRules> {
    const isNamed = this.#mayRefuse(url, redirectedFrom)
    const refusal = isNamed ? await this.#refusalOf(url, redirectedFrom, signal) : undefined
    if (refusal !== undefined) return this.#blockedRules(url, refusal)
    const chain = isNamed ? redirectedFrom : undefined // its connection must be public too
    return this.#cache.get(url.origin, since) ?? this.#cache.load(url, { signal, since }, chain)
  }

  async #loadUsageReader(): Promise<UsageReader> {
    const { UsageReader } = await import('./usage-reader.ts')
    const check = (url: string, redirectedFrom: readonly string[]) =>
      this.#cachedVerdict(url, redirectedFrom) ?? this.#check(url, undefined, redirectedFrom, undefined)
    const { signal: closing } = this.#closing
    return new UsageReader({
      ...this.#cache.shared,
      settings: this.#settings,
      telemetry: this.#telemetry,
      closing,
      check,
    })
  }

  /** Returns the time before which a robots.txt is too old for these options. */
  #sinceOf({ maxAgeMs }: LookupOptions): number | undefined {
    return maxAgeMs === undefined ? undefined : this.#settings.now() - maxAgeMs
  }

  /** Parses the copy of an entry, if it has one. The cache keeps the rules of one crawler only. */
  #fileOf({ entry: { copy, origin } }: CachedRules): Robots | undefined {
    if (copy === undefined) return undefined
    const known = this.#files.get(copy)
    if (known !== undefined) return known
    const file = parseRobots(copy, { dialect: this.#settings.dialect, origin })
    if (copy.bytes.length <= MAX_KEPT_FILE) this.#files.set(copy, file)
    return file
  }

  /** @param source The option that the product tokens come from. */
  #logProductTokens(source: 'userAgent' | 'productToken'): void {
    const names = this.#settings.productTokens.map((token, n) => (n === 0 ? token : `, else ${token}`)).join('')
    this.#telemetry.log('info', `robots.txt is read for ${names} (the name comes from the option ${source})`)
  }

  #warnOfUserAgent(): void {
    const { userAgent, productTokens } = this.#settings
    this.#telemetry.log(
      'warn',
      `productToken: the userAgent ${JSON.stringify(userAgent)} does not contain ${productTokens.join(' or ')}, so a site cannot tell which rules the crawler obeys; begin it with a name such as ${productTokens[0]}/1.0 (RFC 9309 §2.2.1)`,
    )
  }

  #cachedVerdict(text: string, redirectedFrom: readonly string[]): ClientVerdict | undefined {
    const known = redirectedFrom.length === 0 ? this.#verdictByText(text) : undefined
    if (known !== undefined) return known
    const url = parseUrl(text)
    if (typeof url === 'string') return invalidUrlVerdict(text, url)
    if (this.#mayRefuse(url, redirectedFrom)) return undefined
    const cached = this.#cache.get(url.origin)
    return cached && this.#verdict(text, url, cached)
  }

  /** Returns the verdict about a URL for which `#rulesByText` has rules. */
  #verdictByText(text: string): ClientVerdict | undefined {
    const at = this.#settings.now()
    const cached = this.#rulesByText(text, at)
    return cached && this.#verdictOf(text, cached.entry.origin, text, cached, at)
  }

  async #storedVerdict(text: string): Promise<ClientVerdict | undefined> {
    this.#throwIfClosed()
    const url = parseUrl(text)
    if (typeof url === 'string') return invalidUrlVerdict(text, url)
    const cached = await this.#cache.stored(url.origin)
    return cached && this.#verdictOf(text, url.origin, url, cached, cached.entry.latest.at)
  }

  #peek(text: string, at: number): CachedRules | undefined {
    if (this.#telemetry.needsVerdicts) return undefined
    const cached = this.#rulesByText(text, at)
    return cached !== undefined && isFresh(cached, at) ? cached : undefined
  }

  /**
   * Returns the rules for a URL whose text begins with its origin in normal form, if memory has them.
   * Most URLs begin so, and need no URL parser. Returns undefined for any other URL.
   */
  #rulesByText(text: string, at: number): CachedRules | undefined {
    // A longer URL may have a path that is too long to be checked. Google's dialect matches the
    // text as the caller wrote it.
    if (text.length > MAX_SHORT_URL_LENGTH || this.#settings.dialect.parsing.compare === 'google') return undefined
    return this.#cache.getByUrl(text, at)
  }

  async #countImported(
    chunks: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  ): Promise<ImportCounts> {
    const counts = { taken: 0, older: 0, unreadable: 0 }
    for await (const result of this.#cache.importLines(chunks)) counts[result]++
    return counts
  }

  /** Returns whether the guard may refuse a URL because of the URLs that led to it. */
  #mayRefuse({ origin }: ParsedUrl, redirectedFrom: readonly string[]): boolean {
    return redirectedFrom.length > 0 && this.#settings.guard.mayRefuseRedirect(redirectedFrom, origin)
  }

  /** Returns the guard's refusal of a URL, because of the URLs that led to it. */
  async #refusalOf(
    url: ParsedUrl,
    redirectedFrom: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<BlockedAddressError | Failure | undefined> {
    const { guard, timeoutMs } = this.#settings
    const closing = this.#closing.signal
    const deadline = new Deadline(timeoutMs)
    const refusing = deadline
      .orBefore(guard.refusalOfRedirect(redirectedFrom, url.origin))
      .catch((error: unknown) => failureOf(error, 'request', deadline))
    return orAborted(refusing, signal ? [closing, signal] : [closing]).finally(() => deadline.clear())
  }

  #blockedVerdict(url: string, refusal: BlockedAddressError | Failure): ClientVerdict {
    const parsed = parseUrl(url)
    if (typeof parsed === 'string') return invalidUrlVerdict(url, parsed)
    return this.#verdict(url, parsed, this.#blockedRules(parsed, refusal))
  }

  /** Returns what a refusal means for the origin of a URL. It is not cached: it holds for one URL. */
  #blockedRules({ origin, robotsUrl }: ParsedUrl, refusal: BlockedAddressError | Failure): CachedRules {
    const { now, policy } = this.#settings
    const { reason, detail } =
      'reason' in refusal ? refusal : ({ reason: 'blocked-address', detail: refusal.message } as const)
    const outcome = { kind: 'unreachable', reason, detail, url: robotsUrl, hops: [] } as const
    const entry = settle(undefined, origin, outcome, now(), policy)
    return { entry, rules: this.#cache.noRules, freshUntil: 0, tdmrep: undefined }
  }

  /**
   * Returns the result of `isAllowed` without a promise or a verdict object. This is the common
   * case: memory has the rules, the URL's text is in normal form, and nothing listens for verdicts.
   * Otherwise returns undefined, as it does after `close`, which empties the memory.
   */
  #isAllowedNow(text: string): boolean | undefined {
    if (this.#telemetry.needsVerdicts) return undefined
    const { now, policy, dialect } = this.#settings
    const at = now()
    const cached = this.#cache.getByUrl(text, at)
    if (cached === undefined) return undefined
    // Google's dialect matches the URL's text as the caller wrote it. `new URL` turns it into the
    // text that is sent.
    const url = dialect.parsing.compare === 'google' ? new URL(text) : text
    return isFresh(cached, at) ? cached.rules.isAllowed(url) : allows(cached.entry, cached.rules, url, at, policy)
  }

  #throwIfClosed(): void {
    if (this.#closing.signal.aborted) throw new ClientClosedError()
  }
}

/** @throws {OptionError} for an invalid URL. */
function validUrl(text: string): ParsedUrl {
  const parsed = parseUrl(text)
  if (typeof parsed !== 'string') return parsed
  throw new OptionError('url', `${describeValue(text)}: ${explainUrlProblem(parsed, text)}`)
}

const NO_OPTIONS: LookupOptions = {}
const ALLOWED: Promise<boolean> = Promise.resolve(true)
const DISALLOWED: Promise<boolean> = Promise.resolve(false)
