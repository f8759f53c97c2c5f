// Reports what a client does: typed events, tracing channels, counters, and a log line for each
// event.
import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { describeVerdict } from '@politely/core'
import type { Entry, State } from '@politely/core/engine'
import {
  describeCause,
  describeForeign,
  describeRetryAfter,
  escapeControls,
  withoutCredentials,
} from '@politely/core/internal'
import { callSafely } from '../base/call-safely.ts'
import type { RobotsVia } from '../network/robots-way.ts'
import { HAS_OWN_WAY } from '../network/undici.ts'
import { ClientCounters, type CounterName, type Counters } from './client-counters.ts'
import { type ClientVerdict, loggableVerdict } from './client-verdict.ts'
import type { DecisionBases } from './decisions.ts'
import type { Gauges } from './gauges.ts'

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
 * The event `store-failed`: a call of the store threw or took too long, or another client's lease
 * did not end.
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
 * Channels of `node:diagnostics_channel`, shared by all clients of the process:
 * `tracing:politely:check:start` and so on.
 */
const checkChannel = tracingChannel<unknown, CheckTrace>('politely:check')
const fetchChannel = tracingChannel<unknown, FetchTrace>('politely:fetch')

/**
 * The client that publishes a message, a `RobotsClient`: what it reports of itself.
 * @inline
 */
export type ReportingClient = {
  readonly counters: Counters
  readonly gauges: Gauges
}

/** What the messages of both channels say about the client. */
interface ClientTrace {
  readonly client: ReportingClient
  /** Counts for `client`. Keep this object, not the client: it doesn't keep the client in memory. */
  readonly counters: { snapshot(): Counters }
  /**
   * A subscriber to `start` may set this function. The client then calls it with the traced work,
   * and expects the result of `work()`. So a tracer can make its span current for the work. Call
   * the function that another subscriber has set, if any.
   */
  run?: (<T>(work: () => T) => T) | undefined
}

/**
 * The message of the channels `tracing:politely:check:*`. At `asyncEnd` it has a result or an
 * error.
 */
export interface CheckTrace extends ClientTrace {
  readonly url: string
  readonly result?: ClientVerdict
  readonly error?: unknown
}

/**
 * The message of the channels `tracing:politely:fetch:*`. At `asyncEnd` it has a result or an
 * error.
 */
export interface FetchTrace extends ClientTrace {
  readonly origin: string
  readonly robotsUrl: string
  readonly result?: FetchEvent
  readonly error?: unknown
}

/** Returns whether a check has to run inside a trace. */
export function isCheckTraced(): boolean {
  return hasSubscribers(checkChannel)
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
  readonly #counters = new ClientCounters()
  readonly #client: ReportingClient
  readonly #logger: Logger | undefined
  /** The way of the last attempt. */
  #via: RobotsVia = 'own'
  /** Set if a sink of the option `evidence` gets decisions. */
  bases: DecisionBases | undefined

  constructor(client: ReportingClient, logger: Logger | undefined) {
    this.#client = client
    this.#logger = logger
  }

  get events(): EventEmitter<ClientEvents> {
    this.#events ??= new EventEmitter()
    return this.#events
  }

  get counters(): Counters {
    return this.#counters.snapshot()
  }

  count(name: CounterName, by = 1): void {
    this.#counters.count(name, by)
  }

  /** Counts one checked URL. */
  countVerdict(allowed: boolean): void {
    this.#counters.countVerdict(allowed)
  }

  /**
   * Runs a check inside a trace, if anything subscribes to the channel. The messages of the trace
   * have no credentials of the URL. The caller gets the verdict unchanged.
   */
  traceCheck(url: string, check: () => Promise<ClientVerdict>): Promise<ClientVerdict> {
    if (!hasSubscribers(checkChannel)) return check()
    const checked = Promise.withResolvers<ClientVerdict>()
    const traced = runTraced(
      checkChannel,
      async () => {
        const verdict = await check()
        checked.resolve(verdict)
        return loggableVerdict(verdict)
      },
      { ...this.#traceFields(), url: withoutCredentials(url) },
    )
    return traced.then(() => checked.promise)
  }

  /** Runs a fetch inside a trace, if anything subscribes to the channel. */
  traceFetch(origin: string, robotsUrl: string, fetch: () => Promise<FetchEvent>): Promise<FetchEvent> {
    if (!hasSubscribers(fetchChannel)) return fetch()
    return runTraced(fetchChannel, fetch, { ...this.#traceFields(), origin, robotsUrl })
  }

  /**
   * Whether a listener, subscriber, logger or sink needs each verdict. If not, `isAllowed` need not
   * create any.
   */
  get needsVerdicts(): boolean {
    return (
      this.bases !== undefined ||
      this.#logger?.debug !== undefined ||
      hasSubscribers(checkChannel) ||
      this.#hasListeners('verdict')
    )
  }

  /** Counts and publishes a verdict. */
  checked(verdict: ClientVerdict): void {
    this.countVerdict(verdict.allowed)
    if (this.#logger?.debug === undefined && !this.#hasListeners('verdict')) return
    const loggable = loggableVerdict(verdict)
    this.#emit('verdict', { verdict: loggable })
    if (this.#logger?.debug) this.log('debug', `${loggable.url || 'an empty string'}: ${describeVerdict(loggable)}`)
  }

  /**
   * Counts and publishes a verdict that was found without waiting. Its trace has the same four
   * messages as the trace of `traceCheck`.
   */
  checkedNow(verdict: ClientVerdict): void {
    if (hasSubscribers(checkChannel)) void this.traceCheck(verdict.url, async () => verdict)
    this.checked(verdict)
  }

  /** Says once that requests for robots.txt leave the client's own connections by themselves. */
  startedVia(via: RobotsVia): void {
    if (via === this.#via) return
    this.#via = via
    const way = WAYS_OF_PAGES[via]
    if (way === undefined) return
    this.log(
      'info',
      `requests for robots.txt go through ${way}, as pages do; the network guard sees only their URLs${HAS_OWN_WAY ? " (robotsVia: 'own' prevents this)" : ''}`,
    )
  }

  /** Counts and publishes an attempt. */
  fetched(robotsUrl: string, event: FetchEvent): void {
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
    this.log(level, `${robotsUrl}: ${kind} (${describeCause(entry.latest)}); ${from} -> ${to}${waits}${next}`)
    if (looksLike !== undefined && kind !== 'unreachable' && looksLike !== entry.earlier[0]?.looksLike) {
      const effect = kind === 'success' ? 'the rules in it, if any, are obeyed' : 'everything is allowed'
      this.log(
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
    this.log(level, `${event.url}: ${problem}`)
  }

  /** @param isFirst Whether the calls before it succeeded. Only this failure is logged. */
  storeFailed(failure: StoreFailure, isFirst: boolean): void {
    this.count('storeFailures')
    this.#emit('store-failed', failure)
    const { operation, origin, error } = failure
    const effect = 'until it works again, robots.txt is fetched without it'
    if (isFirst) this.log('warn', `the store failed to ${operation} ${origin}: ${textOf(error)}; ${effect}`)
  }

  /** @param forMs How long it has failed. @param failures So many calls. */
  storeWorks(forMs: number, failures: number): void {
    const calls = `${failures} failed ${failures === 1 ? 'call' : 'calls'}`
    this.log('warn', `the store works again after ${Math.ceil(forMs / 1_000)} s (${calls})`)
  }

  #traceFields(): ClientTrace {
    return { client: this.#client, counters: this.#counters }
  }

  #emit<N extends keyof ClientEvents>(name: N, event: ClientEvents[N][0]): void {
    if (this.#hasListeners(name)) callSafely(() => (this.events as EventEmitter).emit(name, event))
  }

  #hasListeners(name: keyof ClientEvents): boolean {
    return this.#events !== undefined && this.#events.listenerCount(name) > 0
  }

  log(level: keyof Logger, line: string): void {
    callSafely(() => this.#logger?.[level]?.(escapeControls(line)))
  }
}

/** The same as the channel's own `hasSubscribers`, which Bun 1.4 does not have. */
function hasSubscribers<M extends object>(channel: TracingChannel<unknown, M>): boolean {
  const { start, end, asyncStart, asyncEnd, error } = channel
  return (
    start.hasSubscribers ||
    end.hasSubscribers ||
    asyncStart.hasSubscribers ||
    asyncEnd.hasSubscribers ||
    error.hasSubscribers
  )
}

/** Runs the work inside a trace, by the `run` of its message if a subscriber has set it. */
function runTraced<M extends ClientTrace, T>(
  channel: TracingChannel<unknown, M>,
  work: () => Promise<T>,
  message: M,
): Promise<T> {
  return channel.tracePromise(() => (message.run === undefined ? work() : message.run(work)), message)
}

/** Converts an error to text, even if its `toString` throws. */
function textOf(error: unknown): string {
  try {
    return String(error)
  } catch {
    return 'an error that cannot be converted to text'
  }
}
