// PoliteGate: lets a request leave when robots.txt allows it and its turn has come.
import {
  canForget,
  type Delay,
  delayOf,
  type HasHref,
  type Headers,
  headerOf,
  OptionError,
  type PageAnswer,
} from '@politely/core'
import { type Asked, type ClientVerdict, RobotsClient } from '@politely/fetcher'
import { GateClosedError, RobotsDisallowedError } from './errors.ts'
import { OriginQueue, type Shared } from './queue.ts'

export interface PacingOptions {
  /**
   * The least pause between two requests to one origin, whatever its robots.txt says. Milliseconds; default 1,000. Pauses are kept
   * between the moments at which requests leave: on the way they may come closer, by what connecting takes.
   */
  readonly minDelayMs?: number | undefined
  /**
   * The longest pause you are ready to keep. A site that asks for more gets this, and the pass says so (`because: 'cap'`).
   * Milliseconds; default none: what a site asks is kept. It does not shorten a Retry-After.
   */
  readonly maxDelayMs?: number | undefined
  /** Requests under way at once to one origin, from leaving to `leave`; for `politely`, until the headers are there. Default 2. */
  readonly maxConcurrentPerOrigin?: number | undefined
  /** Requests under way at once to all origins together. Default 64. */
  readonly maxConcurrent?: number | undefined
}

export interface PoliteGateOptions extends PacingOptions {
  /** Who knows what robots.txt says. It stays yours to close. */
  readonly robots: RobotsClient
  /** A clock in milliseconds since 1970 that never goes back. For tests and simulations. */
  readonly now?: () => number
}

export interface EnterOptions {
  /** Aborting it gives the turn back, and rejects with the signal's reason. */
  readonly signal?: AbortSignal | null
}

/**
 * The leave to make one request. Call `leave` when it is over, or declare it with `using`: a pass that is never given back holds its
 * place, and with all places held nobody leaves.
 */
export interface Pass extends Disposable {
  readonly url: string
  readonly verdict: ClientVerdict
  /** How long the request waited for its turn. Milliseconds. */
  readonly waitedMs: number
  /** The pause that is kept after it, and who asked for it. */
  readonly delay: Delay
  /** The request is over; its answer, if there was one, may slow the origin down (429, 503, Retry-After). Once is enough. */
  leave(answer?: Answer): void
}

/** As much of a response as pace depends on: that of `fetch`, of undici, or your own. */
export interface Answer {
  readonly status: number
  readonly headers: { get(name: string): string | null } | Headers
}

/** Forgetting is tried when this many origins are remembered, and after that at twice what was left. */
const FIRST_SWEEP = 1_000

export class PoliteGate {
  readonly #robots: RobotsClient
  readonly #pacing: Pacing
  readonly #now: () => number
  readonly #queues = new Map<string, OriginQueue>()
  readonly #shared: Shared
  /** Queues whose first request waits for one of all the places, in the order in which they came. */
  readonly #wantingPlace = new Set<OriginQueue>()
  readonly #closing = new AbortController()
  #underWay = 0
  #sweepAt = FIRST_SWEEP

  /** @throws {OptionError} for an option that cannot be used. */
  constructor(options: PoliteGateOptions) {
    const { robots, now, ...pacing } = options ?? {}
    if (!(robots instanceof RobotsClient))
      throw new OptionError('robots', 'must be a RobotsClient; write new RobotsClient({ userAgent })')
    this.#robots = robots
    if (now !== undefined && typeof now !== 'function')
      throw new OptionError('now', 'must be a function that returns milliseconds')
    this.#pacing = checkPacing(pacing)
    this.#now = now ?? (() => performance.timeOrigin + performance.now())
    this.#shared = {
      now: this.#now,
      maxConcurrentPerOrigin: this.#pacing.maxConcurrentPerOrigin,
      takePlace: (queue) => this.#takePlace(queue),
    }
  }

  /** Who knows what robots.txt says. */
  get robots(): RobotsClient {
    return this.#robots
  }

  /**
   * Waits until a request for this URL may leave.
   * @throws {RobotsDisallowedError} where robots.txt does not allow it: at once, or at its turn if the rules have changed since.
   * @throws {GateClosedError} after `close`; the signal's reason after an abort.
   */
  async enter(url: string | HasHref, { signal }: EnterOptions = {}): Promise<Pass> {
    if (this.#closing.signal.aborted) throw new GateClosedError()
    // Not AbortSignal.any: on Node 22 a signal keeps something of each one made from it, for as long as it lives (measured).
    const ends = new AbortController()
    const sources = signal ? [signal, this.#closing.signal] : [this.#closing.signal]
    const end = () => ends.abort(sources.find((source) => source.aborted)?.reason)
    if (signal?.aborted) end()
    for (const source of sources) source.addEventListener('abort', end)
    try {
      return await this.#enter(url, ends.signal)
    } finally {
      for (const source of sources) source.removeEventListener('abort', end)
    }
  }

  /** Rejects everyone who waits and whoever comes later. The RobotsClient stays open. */
  close(): void {
    this.#closing.abort(new GateClosedError())
  }

  async #enter(url: string | HasHref, signal: AbortSignal): Promise<Pass> {
    const { origin } = await this.#allowed(url, signal)
    const queue = this.#queueOf(origin)
    const start = this.#now()
    await turn(queue, signal)
    const leave = this.#leaveOnce(queue)
    try {
      // The rules may have changed while it waited, for hours perhaps. As long as they hold, asking again costs nothing.
      const verdict = await this.#allowed(url, signal)
      const { minDelayMs: ownDelayMs, maxDelayMs } = this.#pacing
      const delay = delayOf({ ownDelayMs, maxDelayMs, crawlDelayMs: verdict.crawlDelayMs })
      queue.depart(delay)
      const waitedMs = this.#now() - start
      return { url: verdict.url, verdict, waitedMs, delay, leave, [Symbol.dispose]: () => leave() }
    } catch (error) {
      queue.stay()
      leave()
      throw error
    }
  }

  async #allowed(url: string | HasHref, signal: AbortSignal): Promise<AllowedVerdict> {
    const verdict = await this.#robots.check(url, { signal })
    if (!verdict.allowed) throw new RobotsDisallowedError(verdict)
    return verdict
  }

  #leaveOnce(queue: OriginQueue): Pass['leave'] {
    let left = false
    return (answer) => {
      if (left) return
      const pageAnswer = answer && pageAnswerOf(answer) // before anything is given back: it throws for what is no answer
      left = true
      this.#underWay--
      queue.finished(pageAnswer)
      // One place is free: the queue that has waited longest for it is asked first, this one last.
      for (const wanting of this.#wantingPlace) {
        if (this.#underWay >= this.#pacing.maxConcurrent) break
        this.#wantingPlace.delete(wanting)
        wanting.advance()
      }
      queue.advance()
    }
  }

  #takePlace(queue: OriginQueue): boolean {
    if (this.#underWay >= this.#pacing.maxConcurrent) {
      this.#wantingPlace.add(queue)
      return false
    }
    this.#underWay++
    return true
  }

  #queueOf(origin: string): OriginQueue {
    let queue = this.#queues.get(origin)
    if (queue === undefined) {
      if (this.#queues.size >= this.#sweepAt) this.#forgetIdle()
      queue = new OriginQueue(this.#shared)
      this.#queues.set(origin, queue)
    }
    return queue
  }

  #forgetIdle(): void {
    const now = this.#now()
    for (const [origin, queue] of this.#queues) {
      if (queue.isIdle && canForget(queue.pace, now)) this.#queues.delete(origin)
    }
    this.#sweepAt = Math.max(FIRST_SWEEP, 2 * this.#queues.size)
  }
}

/** One about a URL: what is none is never allowed. */
type AllowedVerdict = ClientVerdict & Asked

/** Waits for the turn; an abort leaves the queue. The signal is of this one call, so nobody takes the listener away. */
function turn(queue: OriginQueue, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const abort = () => {
      queue.leave(resolve)
      reject(signal.reason)
    }
    signal.addEventListener('abort', abort)
    queue.join(resolve)
  })
}

function pageAnswerOf({ status, headers }: Answer): PageAnswer {
  const retryAfter = isHeaders(headers) ? headers.get('retry-after') : headerOf(headers, 'retry-after')
  return { status, retryAfter: retryAfter ?? undefined }
}

function isHeaders(headers: Answer['headers']): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}

type Pacing = { readonly [K in keyof PacingOptions]-?: number }

const DEFAULTS: Pacing = {
  minDelayMs: 1_000,
  maxDelayMs: Number.POSITIVE_INFINITY,
  maxConcurrentPerOrigin: 2,
  maxConcurrent: 64,
}

function checkPacing(options: PacingOptions): Pacing {
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(DEFAULTS, name)) {
      throw new OptionError(name, `there is no such option; known are robots, now, ${Object.keys(DEFAULTS).join(', ')}`)
    }
  }
  return {
    minDelayMs: atLeast(0, 'minDelayMs', options),
    maxDelayMs: atLeast(0, 'maxDelayMs', options),
    maxConcurrentPerOrigin: atLeast(1, 'maxConcurrentPerOrigin', options),
    maxConcurrent: atLeast(1, 'maxConcurrent', options),
  }
}

/** Pauses are milliseconds; the others count requests. */
function atLeast(least: 0 | 1, name: keyof PacingOptions, options: PacingOptions): number {
  const value = options[name] ?? DEFAULTS[name]
  const fits = typeof value === 'number' && value >= least && (Number.isFinite(value) || name === 'maxDelayMs')
  if (fits && (least === 0 || Number.isInteger(value))) return value
  const wanted = least === 0 ? 'milliseconds, 0 or more' : 'a whole number, 1 or more'
  throw new OptionError(name, `${String(value)} does not do; write ${wanted}`)
}
