// What the caller reports about a request, and what the pace needs of it.
import { type Headers, type PaceResponse, rateLimitHeaders, rateLimitOf, retryAfterMs } from '@politely/core/engine'
import { headerOf } from '@politely/core/internal'
import { withoutCredentials } from '@politely/fetcher'
import { describeValue } from '@politely/fetcher/internal'
import type { Backoff } from '../pace/pacing-options.ts'
import { ResponseError } from '../report/errors.ts'
import type { AskedPause } from '../report/gate-log.ts'

/**
 * The part of a response that the pace depends on. A response of Node's or undici's `fetch` has
 * this type, and a plain object may have it.
 * @inline
 */
export type ResponseLike = {
  readonly status: number
  /**
   * An object with a `get` method, such as `Headers`; or a plain object whose names are in lower
   * case.
   */
  readonly headers: { get(name: string): string | null } | Headers
}

/**
 * The site asks for fewer requests, whatever the status of the response is: for example a page with
 * status 200 whose text says so. Counts like a 429.
 * @inline
 */
export interface RateLimited extends Partial<ResponseLike> {
  readonly rateLimited: true
  /**
   * How long the site asks to wait. Milliseconds; default: what Retry-After in `headers` says, and
   * otherwise a growing pause (`backoff`).
   */
  readonly retryAfterMs?: number | undefined
}

/**
 * The request has failed without a response, for example by a timeout or a reset. Changes the pace
 * only with `backoff: { failures: true }`.
 * @inline
 */
export type RequestFailed = {
  readonly failed: true
  /** The error with which it failed, for the option `circuit`. Default: a failure of the connection. */
  readonly error?: unknown
}

/** What the caller reports about a request to its permit. */
export type RequestReport = ResponseLike | RateLimited | RequestFailed

/**
 * Returns what to report about a request that has failed without a response. The caller's own abort
 * is not a failure of the site. A timeout of the caller is one, and so is the error of a connection
 * with which `node:http` itself destroys a request.
 * @param signal Aborted if the request was aborted or destroyed.
 * @param error The error with which it failed, if it is known.
 */
export function reportOfFailure(signal: AbortSignal | null | undefined, error?: unknown): RequestFailed | undefined {
  if (!signal?.aborted) return { failed: true, error }
  const { name, code, cause } = Object(signal.reason) as { readonly [field in 'name' | 'code' | 'cause']?: unknown }
  // `node:http` wraps the reason of the caller's signal.
  return /timeout/i.test(`${name} ${Object(cause).name}`) || /^(?:E[A-Z_]+|UND_ERR_\w+)$/.test(`${code}`)
    ? { failed: true, error: error ?? signal.reason }
    : undefined
}

/** Returns whether a report says that the site asks for fewer requests. */
export function isRateLimited(report: RequestReport): report is RateLimited {
  return (report as Partial<RateLimited> | null)?.rateLimited === true
}

/** Returns whether a report is a response. */
export function isResponse(report: RequestReport): report is ResponseLike {
  return !isRateLimited(report) && !isFailure(report)
}

export function isFailure(report: RequestReport): report is RequestFailed {
  return (report as Partial<RequestFailed> | null)?.failed === true
}

/**
 * Returns the status and the Retry-After header of a response.
 * @throws {ResponseError} for a value that is not a response.
 */
export function paceResponseOf(response: ResponseLike): PaceResponse {
  if (typeof response !== 'object' || response === null)
    throw new ResponseError(
      `${describeValue(response)} is not a response; expected an object with \`status\` and \`headers\``,
    )
  const { status, headers } = response
  if (!Number.isInteger(status))
    throw new ResponseError(`\`status\` is ${describeValue(status)}; expected an integer such as 200`)
  if (typeof headers !== 'object' || headers === null)
    throw new ResponseError(
      `\`headers\` is ${describeValue(headers)}; expected a Headers object, or a plain object with names in lower case`,
    )
  const retryAfter = readHeader(headers, 'retry-after')
  if (retryAfter === undefined || typeof retryAfter === 'string') return { status, retryAfter }
  throw new ResponseError(`the header retry-after is ${describeValue(retryAfter)}; expected a string such as "120"`)
}

/** @throws {ResponseError} if the request was redirected: its permit was for the first URL only. */
export function assertNotRedirected(response: ResponseLike): void {
  if ((response as { readonly redirected?: unknown }).redirected !== true) return
  const { url } = response as { readonly url?: unknown }
  throw new ResponseError(
    `the response was redirected to ${withoutCredentials(String(url))}, which was not checked`,
    "write redirect: 'manual', as in fetch(permit.url, { redirect: 'manual' })",
  )
}

/** Returns the Location header of a response that `paceResponseOf` has accepted. */
export function locationOf(response: ResponseLike): string | null {
  return headerTextOf(response, 'location')
}

/** Returns a header that has one value. */
export function headerTextOf({ headers }: ResponseLike, name: string): string | null {
  const value = readHeader(headers, name)
  return typeof value === 'string' ? value : null
}

function readHeader(headers: ResponseLike['headers'], name: string): unknown {
  try {
    return (hasGet(headers) ? headers.get(name) : headerOf(headers, name)) ?? undefined
  } catch (error) {
    throw new ResponseError(`the header ${name} cannot be read`, undefined, { cause: error })
  }
}

function hasGet(headers: ResponseLike['headers']): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}

/**
 * Returns the status and headers of a `RateLimited` report as a pushback.
 * @throws {ResponseError} for an invalid `retryAfterMs`, status or header.
 */
export function rateLimitedResponse(report: RateLimited): PaceResponse {
  const { status = 429, headers = {}, retryAfterMs } = report
  if (retryAfterMs !== undefined && !(typeof retryAfterMs === 'number' && retryAfterMs >= 0))
    throw new ResponseError(
      `\`retryAfterMs\` is ${describeValue(retryAfterMs)}; expected milliseconds, such as 60_000, or nothing`,
    )
  return { ...paceResponseOf({ status, headers }), isPushback: true, requestedMs: retryAfterMs }
}

/**
 * Adds what the caller's `backoff` says about a response: whether it is a pushback, and how long
 * the pauses are.
 * @param utc Milliseconds since 1970, for a date in Retry-After.
 * @param isCircuitOpen Whether the cooling period of a circuit replaces a pause that the site has not
 * asked for.
 */
export function withBackoff(
  response: PaceResponse,
  backoff: Backoff,
  utc: number,
  isCircuitOpen = false,
): PaceResponse {
  const { statuses, firstMs, maxMs, factor, jitter } = backoff
  const { status, retryAfter, requestedMs = retryAfterMs(retryAfter, utc) || undefined } = response
  const isPushback = response.isPushback ?? (statuses.includes(status) || requestedMs !== undefined)
  if (!isPushback) return { status, retryAfter, isPushback }
  const longer = 1 + jitter * Math.random()
  const unaskedMs = isCircuitOpen ? 1 : undefined
  return {
    status,
    retryAfter,
    isPushback,
    requestedMs: requestedMs === undefined ? unaskedMs : requestedMs * longer,
    backoff: { firstMs: firstMs * longer, maxMs: maxMs * longer, factor },
  }
}

/** Returns the pause that the rate limit headers of a response ask for; undefined for none. */
export function rateLimitPauseOf({ headers }: Partial<ResponseLike>, utc: number): AskedPause | undefined {
  if (headers === undefined) return undefined
  const found: Record<string, string> = {}
  for (const name of rateLimitHeaders) {
    const value = readHeader(headers, name)
    if (typeof value === 'string') found[name] = value
  }
  const limit = rateLimitOf(found, utc)
  return limit && { pauseMs: limit.pauseMs, headers: found }
}
