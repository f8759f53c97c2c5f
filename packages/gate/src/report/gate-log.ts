// Writes log lines about long waits: why a request waits, until when, and what the caller can do.
import { describeOutcome } from '@politely/core'
import { delayOf, type PaceLimits, type PaceResponse } from '@politely/core/engine'
import { escapeControls, formatTime, isPromise } from '@politely/core/internal'
import { type Logger, withoutCredentials } from '@politely/fetcher'
import { boundedMap, callSafely, describeValue } from '@politely/fetcher/internal'
import type { CircuitReport, WaitEstimate } from '../pace/pacer.ts'
import type { WaitCause } from '../pace/wait-cause.ts'
import { durationRoundedUp } from './duration.ts'
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
  /** Its limit. Milliseconds. */
  readonly maxWaitMs: number
}

/** Whether the process warning about a long wait was emitted. */
let hasWarnedOfWait = false

/** The pause that the rate limit headers of a response ask for. */
export interface AskedPause {
  /** Milliseconds, above 0 and at most a day. */
  readonly pauseMs: number
  /** The headers that were read, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
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
  readonly #disobeyed = boundedMap<true>(MAX_REMEMBERED)

  readonly #ignoredRateLimits = boundedMap<true>(MAX_REMEMBERED)

  constructor(logger: Logger | undefined, now: () => number) {
    this.#logger = logger
    this.#now = now
  }

  get informs(): boolean {
    return this.#logger?.info !== undefined
  }

  /** Whether `waits` may have something to tell. */
  get tellsWaits(): boolean {
    return this.informs || !hasWarnedOfWait
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
   * and cause, and again after an hour. Without a logger, a wait of over five minutes that the
   * site asks for is a process warning, once for the process, unless the caller limits the wait.
   */
  waits(lane: { lastLoggedWait: LoggedWait | undefined }, { url, cause, waitMs, ahead, maxWaitMs }: LongWait): void {
    if (waitMs <= LONG_WAIT_MS && cause.because !== 'pacer-failure') return
    const at = this.#now()
    const text = causeText(cause.because, cause.level)
    if (!this.informs) {
      const isLimited = maxWaitMs < Number.POSITIVE_INFINITY || cause.because === 'own-delay'
      if (waitMs > LONG_DELAY_MS && ahead === 0 && !isLimited && !hasWarnedOfWait) warnOfLongWait(url, waitMs, at, text)
      return
    }
    const last = lane.lastLoggedWait
    if (last?.cause === text && at - last.at < REPEAT_MS) return
    lane.lastLoggedWait = { cause: text, at }
    const until = waitMs > LONG_WAIT_MS ? untilText(waitMs, at) : 'for the pacer'
    this.info(`${withoutCredentials(url)} waits ${until} (${text}); requests that wait before it: ${ahead}`)
  }

  /**
   * Logs a pushback, and how long the requests of this pace key pause.
   * @param estimatePause Asks the pacer. Its failure is not logged here.
   * @param asked What its rate limit headers ask for. @param isObeyed Whether the gate obeys them.
   */
  pushedBack(
    key: string,
    url: string,
    response: PaceResponse,
    estimatePause: () => WaitEstimate | Promise<WaitEstimate>,
    asked: AskedPause | undefined,
    isObeyed: boolean,
  ): void {
    const received = receivedText(url, response, asked)
    const log = ({ waitMs, because }: WaitEstimate) => {
      const until = formatTime(this.#now() + waitMs)
      const pause = `; requests to ${key} pause for ${durationRoundedUp(waitMs)}, until about ${until} (${because})`
      const isIgnored = asked !== undefined && !isObeyed && asked.pauseMs > waitMs
      this.warn(received + (waitMs > 0 ? pause : '') + (isIgnored ? ignoredText(asked) : ''))
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
   * Logs that the rate limit headers of a response ask for a long pause, and that the gate does not
   * obey them: once for each pace key. For responses other than pushbacks.
   */
  ignoredRateLimit(key: string, url: string, response: PaceResponse, asked: AskedPause): void {
    if (asked.pauseMs <= LONG_WAIT_MS || this.#ignoredRateLimits.has(key)) return
    this.#ignoredRateLimits.set(key, true)
    this.warn(receivedText(url, response, asked) + ignoredText(asked))
  }

  /**
   * Logs that a site asks for fewer requests by its answer to the request for robots.txt.
   * @param askedMs The time in Retry-After. @param pauseMs How long pages wait from now on.
   */
  robotsPushedBack(origin: string, status: number | undefined, askedMs: number | undefined, pauseMs: number): void {
    if (!this.warns) return
    const asked = askedMs === undefined ? '' : ` and asked to wait ${durationRoundedUp(askedMs)}`
    const until = formatTime(this.#now() + pauseMs)
    this.warn(`${origin}: robots.txt answered ${status}${asked}; pages wait until about ${until}`)
  }

  /** Logs that a circuit opens: once, until it closes again. */
  circuitOpened(origin: string, { failure, failures, waitMs }: CircuitReport): void {
    if (!this.warns) return
    const last = failure === undefined ? '' : `; the last time ${describeOutcome(failure)}`
    const until = formatTime(this.#now() + waitMs)
    this.warn(
      `${origin}: ${failures} ${failures === 1 ? 'request has' : 'requests in a row have'} failed${last}; no request starts for ${durationRoundedUp(waitMs)}, until about ${until}, and then one tries again (circuit)`,
    )
  }

  /** Logs that requests start again. */
  circuitClosed(origin: string): void {
    this.info(`${origin}: a request has succeeded; requests start again (circuit)`)
  }

  /** Logs that a part of robots.txt is not obeyed, once for each origin. */
  disobeys(origin: string, what: string, line: string): void {
    const name = `${origin} ${what}`
    if (this.#disobeyed.has(name)) return
    this.#disobeyed.set(name, true)
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
      `${origin}: robots.txt asks for a delay of ${durationRoundedUp(delayMs)} between requests (${because}); if that is too long, write the option maxDelayMs, such as maxDelayMs: 60_000`,
    )
  }
}

/** Returns the status of a response, and the headers that name a time. */
function receivedText(url: string, { status, retryAfter }: PaceResponse, asked: AskedPause | undefined): string {
  if (status === 0) return `${withoutCredentials(url)}: no response`
  const header = retryAfter === undefined ? 'no Retry-After' : `Retry-After ${describeValue(retryAfter)}`
  const { age: _, ...limits } = asked?.headers ?? {}
  const others = Object.entries(limits).map(([name, value]) => `, ${name} ${describeValue(value)}`)
  return `${withoutCredentials(url)}: status ${status}, ${header}${others.join('')}`
}

function ignoredText({ pauseMs }: AskedPause): string {
  return `; to obey its rate limit headers, which ask for a pause of ${durationRoundedUp(pauseMs)}, write rateLimitHeaders: true`
}

function untilText(waitMs: number, at: number): string {
  return `${durationRoundedUp(waitMs)}, until about ${formatTime(at + waitMs)}`
}

function warnOfLongWait(url: string, waitMs: number, at: number, cause: string): void {
  hasWarnedOfWait = true
  process.emitWarning(
    `${escapeControls(withoutCredentials(url))} waits ${untilText(waitMs, at)} (${cause}); write the option logger: console to see such waits, maxWaitMs to refuse them, or maxDelayMs to shorten the delays of robots.txt`,
    { type: 'PolitelyWarning', code: 'POLITELY_LONG_WAIT' },
  )
}
