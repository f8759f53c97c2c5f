// RobotsClient: may I fetch this URL, and why? Gets robots.txt when it must, remembers it while it may.
import {
  type Access,
  addressOf,
  type CrawlerRules,
  type DayRange,
  decide,
  type Entry,
  type HasHref,
  type InvalidUrl,
  isAttemptDue,
  parseRobots,
  type RequestRate,
  settle,
  type Verdict,
} from '@politely/core'
import type { LRUCache } from 'lru-cache'
import { Flights } from './flights.ts'
import { createMemory, type Remembered } from './memory.ts'
import { obtain } from './obtain.ts'
import { type RobotsClientOptions, type Settings, settingsOf } from './options.ts'
import { Transport } from './transport.ts'

/** The answer about one URL. JSON-safe; a discriminated union by `because`. */
export type ClientVerdict = (Verdict & Asked) | (InvalidUrl & { readonly url: string })

/** What was asked, and where the answer comes from. */
export interface Asked {
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

export interface AskOptions {
  /** Aborting it rejects this call with the signal's reason; a fetch that others wait for goes on. */
  readonly signal?: AbortSignal
}

/** Thrown by every question after `close`. */
export class ClientClosedError extends Error {
  override readonly name = 'ClientClosedError'
  readonly code = 'ERR_POLITELY_CLOSED'
  constructor() {
    super('this RobotsClient is closed; make a new one')
  }
}

export class RobotsClient {
  readonly #settings: Settings
  readonly #transport: Transport
  readonly #memory: LRUCache<string, Remembered>
  readonly #flights = new Flights<Remembered>()
  readonly #closing = new AbortController()
  /** The rules of no file: everything is left to what is known of the origin. */
  readonly #noRules: CrawlerRules

  /** @throws {OptionError} for an option that cannot be used. */
  constructor(options: RobotsClientOptions) {
    this.#settings = settingsOf(options)
    this.#transport = new Transport(this.#settings)
    this.#memory = createMemory(this.#settings.maxCacheBytes)
    this.#noRules = this.#rulesOf('')
    const { signal } = this.#settings
    if (signal?.aborted) this.#closing.abort(signal.reason)
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

  /**
   * May this URL be fetched?
   * @throws {ClientClosedError} after `close`. What a site does is never thrown.
   */
  async isAllowed(url: string | HasHref, options?: AskOptions): Promise<boolean> {
    return (await this.check(url, options)).allowed
  }

  /**
   * May it, and why? Fetches robots.txt if it is not known or no longer fresh. RFC 9309 §2.3 and §2.4.
   * @throws {ClientClosedError} after `close`. What a site does is never thrown: it is in the verdict.
   */
  async check(url: string | HasHref, { signal }: AskOptions = {}): Promise<ClientVerdict> {
    if (this.#closing.signal.aborted) throw new ClientClosedError()
    signal?.throwIfAborted()
    const text = typeof url === 'string' ? url : url.href
    const address = addressOf(text)
    if (typeof address === 'string') return { url: text, allowed: false, because: 'invalid-url', problem: address }
    const { origin, robotsUrl } = address
    const { now, policy } = this.#settings

    let known = this.#memory.get(origin)
    if (known === undefined || isAttemptDue(known.entry, now(), policy)) {
      known = await this.#flights.join(origin, () => this.#refresh(origin, robotsUrl, known?.entry), signal)
    }
    const { verdict, access } = decide(known.entry, known.rules, address, now(), policy)
    return { url: text, origin, ...verdict, access, ...(access.copy ? paceOf(known.rules) : NO_PACE) }
  }

  /** Ends all fetches and connections of this client. Questions under way are rejected. */
  async close(): Promise<void> {
    this.#closing.abort(new ClientClosedError())
    await this.#flights.settled()
    await this.#transport.destroy()
    this.#memory.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #refresh(origin: string, robotsUrl: string, last: Entry | undefined): Promise<Remembered> {
    const { policy, retries, timeoutMs, now } = this.#settings
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), timeoutMs)
    const end = () => deadline.abort()
    this.#closing.signal.addEventListener('abort', end, { once: true })
    try {
      const outcome = await obtain(robotsUrl, last?.copy, {
        transport: this.#transport,
        policy,
        retries,
        deadline: deadline.signal,
      })
      this.#closing.signal.throwIfAborted() // what came of it says nothing about the site
      const entry = settle(last, origin, outcome, now(), policy)
      const remembered = { entry, rules: entry.copy === undefined ? this.#noRules : this.#rulesOf(entry.copy.octets) }
      this.#memory.set(origin, remembered)
      return remembered
    } finally {
      clearTimeout(timer)
      this.#closing.signal.removeEventListener('abort', end)
    }
  }

  #rulesOf(octets: string): CrawlerRules {
    const { dialect, productTokens } = this.#settings
    return parseRobots(Buffer.from(octets, 'latin1'), { dialect }).forCrawler(productTokens)
  }
}

type PaceWishes = Pick<Asked, 'crawlDelayMs' | 'requestRates' | 'visitTimes'>

const NO_PACE: PaceWishes = { crawlDelayMs: undefined, requestRates: undefined, visitTimes: undefined }

/** What the site asks of this crawler's pace; what it does not name is undefined. */
function paceOf({ crawlDelayMs, requestRates, visitTimes }: CrawlerRules): PaceWishes {
  return {
    crawlDelayMs,
    requestRates: requestRates.length > 0 ? requestRates : undefined,
    visitTimes: visitTimes.length > 0 ? visitTimes : undefined,
  }
}
