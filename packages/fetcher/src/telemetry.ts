// What a client tells of its work: typed events, tracing channels, counters, and a line of log for each of them.
import { tracingChannel } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { describeVerdict, type Entry, escapeControls, type State } from '@politely/core'
import type { ClientVerdict } from './client.ts'

/** Events of a `RobotsClient`, by name; a listener gets one object. */
export interface ClientEvents {
  /** A question was answered. */
  verdict: [VerdictEvent]
  /** An attempt to get a robots.txt has ended: its requests, redirects and retries together. */
  fetch: [FetchEvent]
  /** The store threw, or did not answer in time; the client goes on without it. */
  'store-failed': [StoreFailure]
}

export interface VerdictEvent {
  readonly verdict: ClientVerdict
}

export interface FetchEvent {
  readonly origin: string
  /** The state of the origin before and after. */
  readonly from: State
  readonly to: State
  /** What is known now; `latest` is this attempt. Read only. */
  readonly entry: Entry
  /** The requests it took. */
  readonly requests: number
  /** How long it took, by the client's clock. Milliseconds. */
  readonly tookMs: number
}

export interface StoreFailure {
  readonly operation: 'get' | 'set'
  readonly origin: string
  readonly error: unknown
}

/**
 * Of `console`, and of most loggers. Each message is one line, and safe to print whatever a site wrote. Nothing comes with it: console
 * and others would take a `%d0` of a URL for a place to put that. Who wants the values listens to the events.
 */
export interface Logger {
  debug?(message: string): void
  info?(message: string): void
  warn?(message: string): void
}

/** What is counted since the client was made, and what each number means. They only grow. */
export const counterMeanings = {
  questions: 'URLs that were asked about',
  allowed: 'of them, those that may be fetched',
  disallowed: 'those that may not, URLs that are none included',
  waits: 'questions that had to wait for robots.txt',
  fetches: 'attempts to get a robots.txt',
  requests: 'the requests that they took, redirects and retries included',
  successes: 'attempts that ended in a file, 304 included',
  unavailable: 'attempts that ended in: there is none',
  restricted: 'attempts that ended in 401 or 403, where those restrict',
  unreachable: 'attempts that failed',
  refreshesAhead: 'attempts off the caller’s path, before the answer had ended',
  reusedRedirects: 'files that answered a redirect, and were their own origin’s answer too',
  bytes: 'decoded bytes of robots.txt that were received',
  storeHits: 'entries that the store had',
  storeMisses: 'entries that it had not, or not whole',
  storeFailures: 'times that it threw or did not answer',
} as const

export type CounterName = keyof typeof counterMeanings
export type Counters = Readonly<Record<CounterName, number>>

/** Channels of `node:diagnostics_channel`, for all clients of the process: `tracing:politely:check:start` and so on. */
const checkChannel = tracingChannel<unknown, CheckTrace>('politely:check')
const fetchChannel = tracingChannel<unknown, FetchTrace>('politely:fetch')

/** The message of the channels `tracing:politely:check:*`. At `asyncEnd` it has a result, or an error. */
export interface CheckTrace {
  readonly url: string
  readonly result?: ClientVerdict
  readonly error?: unknown
}

/** The message of the channels `tracing:politely:fetch:*`. At `asyncEnd` it has a result, or an error. */
export interface FetchTrace {
  readonly origin: string
  readonly robotsUrl: string
  readonly result?: FetchEvent
  readonly error?: unknown
}

export class Telemetry {
  /** Made when it is asked for: nobody listens to what nobody has, and that is told faster than by counting listeners. */
  #events: EventEmitter<ClientEvents> | undefined
  readonly #counters = Object.fromEntries(Object.keys(counterMeanings).map((name) => [name, 0])) as Record<
    CounterName,
    number
  >
  /** Apart from the others, since they are counted a million times a second. */
  #allowed = 0
  #disallowed = 0
  readonly #logger: Logger | undefined

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

  /** One more question, and its answer. */
  answered(allowed: boolean): void {
    if (allowed) this.#allowed++
    else this.#disallowed++
  }

  /** Whether anybody wants to hear of each verdict; else none has to be made for a plain yes or no. */
  get isHeardOnVerdicts(): boolean {
    return this.#logger?.debug !== undefined || checkChannel.hasSubscribers || this.#isHeardOn('verdict')
  }

  async tracedCheck(url: string, check: () => Promise<ClientVerdict>): Promise<ClientVerdict> {
    return this.#checked(await (checkChannel.hasSubscribers ? checkChannel.tracePromise(check, { url }) : check()))
  }

  /** Counts and publishes a verdict that was found without waiting. The trace has the same four messages as that of `tracedCheck`. */
  checkedNow(verdict: ClientVerdict): ClientVerdict {
    const { url } = verdict
    if (checkChannel.hasSubscribers) void checkChannel.tracePromise(async () => verdict, { url })
    return this.#checked(verdict)
  }

  #checked(verdict: ClientVerdict): ClientVerdict {
    this.answered(verdict.allowed)
    this.#tell('verdict', { verdict })
    if (this.#logger?.debug) this.#log('debug', `${verdict.url}: ${describeVerdict(verdict)}`)
    return verdict
  }

  async tracedFetch(trace: FetchTrace, fetch: () => Promise<FetchEvent>): Promise<void> {
    const event = await (fetchChannel.hasSubscribers ? fetchChannel.tracePromise(fetch, trace) : fetch())
    const { entry, from, to, requests } = event
    const { kind, reason, status } = entry.latest
    this.count('fetches')
    this.count(kind === 'success' ? 'successes' : kind)
    this.count('requests', requests)
    this.#tell('fetch', event)
    const level = kind === 'unreachable' ? 'warn' : 'info'
    const cause = reason === 'status' ? `status ${status}` : reason
    this.#log(level, `${trace.robotsUrl}: ${kind} (${cause}); ${from} -> ${to}`)
  }

  storeFailed(failure: StoreFailure): void {
    this.count('storeFailures')
    this.#tell('store-failed', failure)
    const { operation, origin, error } = failure
    this.#log('warn', `the store failed to ${operation} ${origin}: ${textOf(error)}`)
  }

  #tell<N extends keyof ClientEvents>(name: N, event: ClientEvents[N][0]): void {
    if (this.#isHeardOn(name)) aside(() => (this.events as EventEmitter).emit(name, event))
  }

  #isHeardOn(name: keyof ClientEvents): boolean {
    return this.#events !== undefined && this.#events.listenerCount(name) > 0
  }

  #log(level: keyof Logger, line: string): void {
    aside(() => this.#logger?.[level]?.(escapeControls(line)))
  }
}

/** Calls somebody else's code. What it throws must not end the question that it hears of, nor be passed over in silence. */
function aside(call: () => void): void {
  try {
    call()
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

/** Also of what cannot be made a text. */
function textOf(error: unknown): string {
  try {
    return String(error)
  } catch {
    return 'something that is no error'
  }
}
