// Pushbacks: responses that ask for fewer requests, and the pauses after them.
import { MAX_RETRY_AFTER_MS, retryAfterMs } from '../http/retry-after.ts'

/**
 * How the pauses grow after pushbacks that do not say how long to wait.
 * @inline
 */
export interface BackoffLimits {
  /** The pause after the first pushback. Milliseconds. */
  readonly firstMs: number
  /**
   * The longest pause. For as long again after the last pause of a series, the next pushback belongs
   * to the series, unless a response has ended it. Milliseconds.
   */
  readonly maxMs: number
  /** Each further pushback makes the pause this many times as long. */
  readonly factor: number
}

/** The backoff of a gate whose caller sets none: 5 s, 10 s, 20 s and so on, up to 5 minutes. Our choice. */
export const defaultBackoff: BackoffLimits = { firstMs: 5_000, maxMs: 300_000, factor: 2 }

/**
 * The statuses that are pushbacks if the caller sets none: 429 (RFC 6585 §4), 503 (RFC 9110
 * §15.6.4), and two that servers use instead of 429: 430 and 529.
 */
export const defaultPushbackStatuses: readonly number[] = [429, 430, 503, 529]

/** The parts of a response that affect the pace. */
export interface PaceResponse {
  /** The HTTP status; 0 for a request that has failed without a response. */
  readonly status: number
  /** The Retry-After header. */
  readonly retryAfter: string | undefined
  /**
   * Whether the response is a pushback. Default: by its status, and with any status if Retry-After
   * asks for a time.
   */
  readonly isPushback?: boolean | undefined
  /**
   * How long the response asks to wait. Milliseconds; 0 or less counts as absent. Default: what
   * Retry-After says.
   */
  readonly requestedMs?: number | undefined
  /** How the pauses grow. Default: `defaultBackoff`. */
  readonly backoff?: BackoffLimits | undefined
}

/** What a pushback asks for. */
export interface Pushback {
  /** Milliseconds, above 0 and at most a day; undefined if the response does not say it. */
  readonly requestedMs: number | undefined
  /** No time is longer than a day. */
  readonly backoff: BackoffLimits
}

/**
 * Returns what a response asks for if it is a pushback. A time of 0, or in the past, counts as
 * absent.
 * @param utc Milliseconds since 1970, for a date in Retry-After.
 */
export function pushbackOf(response: PaceResponse, utc: number): Pushback | undefined {
  const { status, retryAfter, requestedMs = retryAfterMs(retryAfter, utc) ?? 0 } = response
  const isTimeAsked = requestedMs > 0
  if (!(response.isPushback ?? (isTimeAsked || defaultPushbackStatuses.includes(status)))) return undefined
  const { firstMs, maxMs, factor } = response.backoff ?? defaultBackoff
  return {
    requestedMs: isTimeAsked ? atMostOneDay(requestedMs) : undefined,
    // `RedisPacer` sends these numbers as JSON, which has no infinity.
    backoff: { firstMs: atMostOneDay(firstMs), maxMs: atMostOneDay(maxMs), factor: Math.min(factor, Number.MAX_VALUE) },
  }
}

function atMostOneDay(ms: number): number {
  return Math.min(ms, MAX_RETRY_AFTER_MS)
}

/**
 * Returns the pause after a pushback that does not say how long to wait. Milliseconds.
 * @param before How many pushbacks of the same series came before it.
 */
export function backoffMs({ firstMs, maxMs, factor }: BackoffLimits, before: number): number {
  return Math.min(firstMs * factor ** before, maxMs)
}
