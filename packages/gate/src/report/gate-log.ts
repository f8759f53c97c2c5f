// Writes log lines about long waits: why a request waits, until when, and what the caller can do.
import { escapeControls } from '@politely/core'
import { delayOf, formatTime, type PaceLimits, type PaceResponse } from '@politely/core/engine'
import { type Logger, withoutCredentials } from '@politely/fetcher'
import { callSafely, describeValue } from '@politely/fetcher/internal'
import { isPromise } from '../pace/is-promise.ts'
import type { WaitEstimate } from '../pace/pacer.ts'
import { setBounded } from '../pace/set-bounded.ts'
import type { WaitCause } from '../pace/wait-cause.ts'
import { durationText } from './duration.ts'
import { causeText } from './errors.ts'

/** A request that waits longer is logged. Our choice. */
const LONG_WAIT_MS = 10_000
/** A longer delay of a site is logged, unless the caller has set `maxDelayMs`. Our choice. */
const LONG_DELAY_MS = 5 * 60 * 1_000
/** After this time, the same cause is logged again. */
const REPEAT_MS = 60 * 60 * 1_000
/** For how many pace keys and origins the last line is remembered. Our choice. */
const MAX_REMEMBERED = 1_000

/** A request that waits. */
export interface LongWait {
  readonly url: string
  readonly cause: WaitCause
  /** How long it will wait, as far as that is known. Milliseconds. */
  readonly waitMs: number
  /** How many requests of its lane wait before it. */
  readonly ahead: number
}

/** The line about waits that a lane has logged last. */
export interface LoggedWait {
  readonly cause: string
  readonly at: number
}

export class GateLog {
  readonly #logger: Logger | undefined
  readonly #now: () => number
  /** The origins and the parts of robots.txt of which it was logged that they are not obeyed. */
  readonly #disobeyed = new Map<string, true>()

  constructor(logger: Logger | undefined, now: () => number) {
    this.#logger = logger
    this.#now = now
  }

  get informs(): boolean {
    return this.#logger?.info !== undefined
  }

  get warns(): boolean {
    return this.#logger?.warn !== undefined
  }

  info(line: string): void {
    callSafely(() => this.#logger?.info?.(escapeControls(line)))
  }

  warn(line: string): void {
    callSafely(() => this.#logger?.warn?.(escapeControls(line)))
  }

  /**
   * Logs a wait that is long, or whose end is not known because the pacer fails: once for each lane
   * and cause, and again after an hour.
   */
  waits(lane: { lastLoggedWait: LoggedWait | undefined }, { url, cause, waitMs, ahead }: LongWait): void {
    if (waitMs <= LONG_WAIT_MS && cause.because !== 'pacer-failure') return
    const at = this.#now()
    const text = causeText(cause.because, cause.level)
    const last = lane.lastLoggedWait
    if (last?.cause === text && at - last.at < REPEAT_MS) return
    lane.lastLoggedWait = { cause: text, at }
    const until =
      waitMs > LONG_WAIT_MS ? `${durationText(waitMs)}, until about ${formatTime(at + waitMs)}` : 'for the pacer'
    this.info(`${withoutCredentials(url)} waits ${until} (${text}); requests that wait before it: ${ahead}`)
  }

  /**
   * Logs a pushback, and how long the requests of this pace key pause.
   * @param estimatePause Asks the pacer. Its failure is not logged here.
   */
  pushedBack(
    key: string,
    url: string,
    { status, retryAfter }: PaceResponse,
    estimatePause: () => WaitEstimate | Promise<WaitEstimate>,
  ): void {
    const header = retryAfter === undefined ? 'no Retry-After' : `Retry-After ${describeValue(retryAfter)}`
    const received = `${withoutCredentials(url)}: ${status === 0 ? 'no response' : `status ${status}, ${header}`}`
    const log = ({ waitMs, because }: WaitEstimate) => {
      const until = formatTime(this.#now() + waitMs)
      const pause = `; requests to ${key} pause for ${durationText(waitMs)}, until about ${until} (${because})`
      this.warn(waitMs > 0 ? received + pause : received)
    }
    try {
      const estimate = estimatePause()
      if (isPromise(estimate)) estimate.then(log).catch(() => this.warn(received))
      else log(estimate)
    } catch {
      this.warn(received)
    }
  }

  /**
   * Logs that a site asks for fewer requests by its answer to the request for robots.txt.
   * @param askedMs The time in Retry-After. @param pauseMs How long pages wait from now on.
   */
  robotsPushedBack(origin: string, status: number | undefined, askedMs: number | undefined, pauseMs: number): void {
    if (!this.warns) return
    const asked = askedMs === undefined ? '' : ` and asked to wait ${durationText(askedMs)}`
    const until = formatTime(this.#now() + pauseMs)
    this.warn(`${origin}: robots.txt answered ${status}${asked}; pages wait until about ${until}`)
  }

  /** Logs that a part of robots.txt is not obeyed, once for each origin. */
  disobeys(origin: string, what: string, line: string): void {
    const name = `${origin} ${what}`
    if (this.#disobeyed.has(name)) return
    setBounded(this.#disobeyed, name, true, MAX_REMEMBERED)
    this.warn(line)
  }

  /** Logs a long delay that a site asks for, once for each route. */
  delays(origin: string, limits: PaceLimits, route: { hasLoggedDelay: boolean }): void {
    if (!this.warns || limits.maxDelayMs !== undefined) return
    if (limits.crawlDelayMs === undefined && !limits.requestRates?.length) return
    const { delayMs, because } = delayOf(limits, this.#now())
    if (delayMs <= LONG_DELAY_MS || because === 'own-delay' || route.hasLoggedDelay) return
    route.hasLoggedDelay = true
    this.warn(
      `${origin}: robots.txt asks for a delay of ${durationText(delayMs)} between requests (${because}); if that is too long, write the option maxDelayMs, such as maxDelayMs: 60_000`,
    )
  }
}
