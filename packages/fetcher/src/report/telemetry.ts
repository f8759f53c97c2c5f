// Reports what a client does: typed events, tracing channels, counters, and a log line for each
// event.
import { tracingChannel } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { describeVerdict, escapeControls } from '@politely/core'
import {
  describeCause,
  describeForeign,
  describeRetryAfter,
  type Entry,
  type State,
  withoutCredentials,
} from '@politely/core/engine'
import { callSafely } from '../base/call-safely.ts'
import type { RobotsVia } from '../network/robots-way.ts'
import { type ClientVerdict, loggableVerdict } from './client-verdict.ts'

/** Events of a `RobotsClient`, by name. Each listener is called with one object. */
export interface ClientEvents {
  /** The client returned a verdict. */
  verdict: [VerdictEvent]
  /** An attempt to fetch a robots.txt has ended, including its redirects and retries. */
  fetch: [FetchEvent]
  /** An attempt to fetch a tdmrep.json has ended, including its redirects and retries. */
  'tdmrep-fetch': [TdmrepFetchEvent]
  /**
   * The store threw or did not respond in time, or a lease did not end. The client continues
   * without it.
   */
  'store-failed': [StoreFailure]
}

/** The event `verdict`: the client returned a verdict. */
export interface VerdictEvent {
  readonly verdict: ClientVerdict
}

/** The event `fetch`: an attempt to fetch a robots.txt has ended. */
export interface FetchEvent {
  readonly origin: string
  /** The state of the origin before the attempt. */
  readonly from: State
  /** The state of the origin after the attempt. */
  readonly to: State
  /** The new entry of the origin; `latest` is this attempt. Read only. */
  readonly entry: Entry
  /**
   * Headers of the last response of the attempt that are about caching, its type and Retry-After,
   * by name in lower case. Undefined without a response.
   */
  readonly headers: Readonly<Record<string, string>> | undefined
  /** The number of requests of the attempt. */
  readonly requests: number
  /** The duration of the attempt by the client's clock, in milliseconds. */
  readonly tookMs: number
}

/** The event `tdmrep-fetch`: an attempt to fetch a tdmrep.json has ended. See `usage`. */
export interface TdmrepFetchEvent extends Omit<FetchEvent, 'from' | 'to'> {
  /** The URL of the file. `entry.latest.url` is the URL after redirects. */
  readonly url: string
}

/**
 * The event `store-failed`: a call of the store threw or took longer than two seconds, or another
 * client's lease did not end.
 */
export interface StoreFailure {
  readonly operation: 'get' | 'set' | 'delete' | 'lease' | 'release'
  readonly origin: string
  readonly error: unknown
}

/**
 * The logging methods of `console` and of most loggers. Each message is one line. Control
 * characters of a site are escaped, so a message is safe to print. The client passes no further
 * arguments: `console` and others would substitute them for a `%d0` in a URL. Listen to the events
 * for the values.
 */
export interface Logger {
  debug?(message: string): void
  info?(message: string): void
  warn?(message: string): void
}

/**
 * The counters of a client, and the meaning of each. They start at 0 when the client is created,
 * and never decrease.
 */
export const counterMeanings = {
  questions: 'URLs that were checked',
  allowed: 'checked URLs that the crawler may fetch',
  disallowed: 'checked URLs that it may not fetch, including invalid URLs',
  waits: 'checks that had to wait for robots.txt',
  fetches: 'attempts to fetch a robots.txt',
  requests: 'requests of these attempts, including redirects and retries',
  successes: 'attempts that ended with a file, including 304',
  unavailable: 'attempts that ended without a file: the site has none',
  restricted: 'attempts that ended with 401 or 403, in dialects where these restrict access',
  unreachable: 'attempts that failed',
  refreshesAhead: 'attempts that started before the entry was stale, while no check waited',
  reusedRedirects: 'files at the end of a redirect that were also saved for the target’s origin',
  redirectWaits:
    'redirects whose target’s request had to wait, because of the limits on concurrent fetches or on redirects to one site',
  busyTargets: 'attempts that ended with `busy-target`: a redirect to another site was not followed',
  bytes: 'decoded bytes of robots.txt received',
  storeHits: 'entries found in the store',
  storeMisses: 'entries missing from the store, or incomplete there',
  leaseWaits: 'attempts that waited, because another client held the lease of the origin',
  storeFailures: 'store calls that threw or timed out, and leases that did not end',
  tdmrepFetches: 'attempts to fetch a tdmrep.json; no other counter but `redirectWaits` includes them',
  tdmrepRequests: 'requests of these attempts, including redirects and retries',
} as const

/** The name of a counter. `counterMeanings` says what each counts. */
export type CounterName = keyof typeof counterMeanings
/** The value of each counter. */
export type Counters = Readonly<Record<CounterName, number>>

/**
 * Channels of `node:diagnostics_channel`, shared by all clients of the process:
 * `tracing:politely:check:start` and so on.
 */
const checkChannel = tracingChannel<unknown, CheckTrace>('politely:check')
const fetchChannel = tracingChannel<unknown, FetchTrace>('politely:fetch')

/**
 * The message of the channels `tracing:politely:check:*`. At `asyncEnd` it has a result or an
 * error.
 */
export interface CheckTrace {
  readonly url: string
  readonly result?: ClientVerdict
  readonly error?: unknown
}

/**
 * The message of the channels `tracing:politely:fetch:*`. At `asyncEnd` it has a result or an
 * error.
 */
export interface FetchTrace {
  readonly origin: string
  readonly robotsUrl: string
  readonly result?: FetchEvent
  readonly error?: unknown
}

/** Returns whether a check has to run inside a trace. */
export function isCheckTraced(): boolean {
  return checkChannel.hasSubscribers
}

/**
 * Runs a check inside a trace, if anything subscribes to the channel. The messages of the trace
 * have no credentials of the URL. The caller gets the verdict unchanged.
 */
export function traceCheck(url: string, check: () => Promise<ClientVerdict>): Promise<ClientVerdict> {
  if (!checkChannel.hasSubscribers) return check()
  const checked = Promise.withResolvers<ClientVerdict>()
  const traced = checkChannel.tracePromise(
    async () => {
      const verdict = await check()
      checked.resolve(verdict)
      return loggableVerdict(verdict)
    },
    { url: withoutCredentials(url) },
  )
  return traced.then(() => checked.promise)
}

/** Runs a fetch inside a trace, if anything subscribes to the channel. */
export function traceFetch(trace: FetchTrace, fetch: () => Promise<FetchEvent>): Promise<FetchEvent> {
  return fetchChannel.hasSubscribers ? fetchChannel.tracePromise(fetch, trace) : fetch()
}

/** The ways that the client takes by itself. */
const WAYS_OF_PAGES: Readonly<Partial<Record<RobotsVia, string>>> = {
  'pages-fetch': 'the fetch for pages',
  'global-fetch': 'globalThis.fetch',
  'global-dispatcher': 'the global dispatcher of undici',
}

export class Telemetry {
  /**
   * Created on first use. Without an emitter nothing listens, and a missing emitter is faster to
   * check than a listener count.
   */
  #events: EventEmitter<ClientEvents> | undefined
  readonly #counters = Object.fromEntries(Object.keys(counterMeanings).map((name) => [name, 0])) as Record<
    CounterName,
    number
  >
  /** Separate fields, since they are incremented up to a million times a second. */
  #allowed = 0
  #disallowed = 0
  readonly #logger: Logger | undefined
  /** The way of the last attempt. */
  #via: RobotsVia = 'own'

  constructor(logger: Logger | undefined) {
    this.#logger = logger
  }

  get events(): EventEmitter<ClientEvents> {
    this.#events ??= new EventEmitter()
    return this.#events
  }

  get counters(): Counters {
    const [allowed, disallowed] = [this.#allowed, this.#disallowed]
    return { ...this.#counters, questions: allowed + disallowed, allowed, disallowed }
  }

  count(name: CounterName, by = 1): void {
    this.#counters[name] += by
  }

  /** Counts one checked URL. */
  countVerdict(allowed: boolean): void {
    if (allowed) this.#allowed++
    else this.#disallowed++
  }

  /**
   * Whether a listener, subscriber or logger needs each verdict. If not, `isAllowed` need not
   * create any.
   */
  get needsVerdicts(): boolean {
    return this.#logger?.debug !== undefined || checkChannel.hasSubscribers || this.#hasListeners('verdict')
  }

  /** Counts and publishes a verdict. */
  checked(verdict: ClientVerdict): void {
    this.countVerdict(verdict.allowed)
    if (this.#logger?.debug === undefined && !this.#hasListeners('verdict')) return
    const loggable = loggableVerdict(verdict)
    this.#emit('verdict', { verdict: loggable })
    if (this.#logger?.debug) this.#log('debug', `${loggable.url || 'an empty string'}: ${describeVerdict(loggable)}`)
  }

  /**
   * Counts and publishes a verdict that was found without waiting. Its trace has the same four
   * messages as the trace of `traceCheck`.
   */
  checkedNow(verdict: ClientVerdict): void {
    if (checkChannel.hasSubscribers) void traceCheck(verdict.url, async () => verdict)
    this.checked(verdict)
  }

  /** Says once that requests for robots.txt leave the client's own connections by themselves. */
  startedVia(via: RobotsVia): void {
    if (via === this.#via) return
    this.#via = via
    const way = WAYS_OF_PAGES[via]
    if (way === undefined) return
    this.#log(
      'info',
      `requests for robots.txt go through ${way}, as pages do; the network guard sees only their URLs (robotsVia: 'own' prevents this)`,
    )
  }

  /** Counts and publishes an attempt. */
  fetched({ robotsUrl }: FetchTrace, event: FetchEvent): void {
    const { entry, from, to, requests } = event
    const { kind, reason, at, looksLike } = entry.latest
    this.count('fetches')
    this.count(kind === 'success' ? 'successes' : kind)
    this.count('requests', requests)
    if (reason === 'busy-target') this.count('busyTargets')
    this.#emit('fetch', event)
    const level = kind === 'unreachable' ? 'warn' : 'info'
    const next = kind === 'unreachable' ? `; next attempt in ${Math.ceil((entry.nextAttemptAt - at) / 1000)} s` : ''
    const wait = describeRetryAfter(entry.latest.retryAfterMs, at)
    const waits = wait === undefined ? '' : `; ${wait}`
    this.#log(level, `${robotsUrl}: ${kind} (${describeCause(entry.latest)}); ${from} -> ${to}${waits}${next}`)
    if (looksLike !== undefined && kind !== 'unreachable' && looksLike !== entry.earlier[0]?.looksLike) {
      const effect = kind === 'success' ? 'the rules in it, if any, are obeyed' : 'everything is allowed'
      this.#log(
        'warn',
        `${robotsUrl}: ${describeForeign(entry.latest)}, so ${effect}; write foreignBodies: 'unreachable' if nothing should be allowed then`,
      )
    }
  }

  /**
   * Counts and publishes an attempt to fetch a tdmrep.json.
   * @param problem Why the file cannot be read, if it can no longer be read or is new.
   */
  fetchedTdmrep(event: TdmrepFetchEvent, problem: string | undefined): void {
    this.count('tdmrepFetches')
    this.count('tdmrepRequests', event.requests)
    this.#emit('tdmrep-fetch', event)
    if (problem === undefined) return
    // Many sites send their start page for every path. That isn't a mistake in a tdmrep.json.
    const level = event.entry.copy?.looksLike === 'html' ? 'info' : 'warn'
    this.#log(level, `${event.url}: ${problem}`)
  }

  info(line: string): void {
    this.#log('info', line)
  }

  warn(line: string): void {
    this.#log('warn', line)
  }

  storeFailed(failure: StoreFailure): void {
    this.count('storeFailures')
    this.#emit('store-failed', failure)
    const { operation, origin, error } = failure
    this.#log('warn', `the store failed to ${operation} ${origin}: ${textOf(error)}`)
  }

  #emit<N extends keyof ClientEvents>(name: N, event: ClientEvents[N][0]): void {
    if (this.#hasListeners(name)) callSafely(() => (this.events as EventEmitter).emit(name, event))
  }

  #hasListeners(name: keyof ClientEvents): boolean {
    return this.#events !== undefined && this.#events.listenerCount(name) > 0
  }

  #log(level: keyof Logger, line: string): void {
    callSafely(() => this.#logger?.[level]?.(escapeControls(line)))
  }
}

/** Converts an error to text, even if its `toString` throws. */
function textOf(error: unknown): string {
  try {
    return String(error)
  } catch {
    return 'an error that cannot be converted to text'
  }
}
