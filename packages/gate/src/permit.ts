// The leave to make one request.
import { type Delay, type Headers, headerOf, type PageResponse } from '@politely/core'
import type { ClientVerdict } from '@politely/fetcher'
import { describeValue } from '@politely/fetcher/option-checks'
import { ResponseError } from './errors.ts'
import type { WaitReason } from './queue.ts'

/**
 * The leave to make one request. Call `leave` when it is over, or declare it with `using`: a pass that is never given back holds its
 * place, and with all places held nobody leaves.
 */
export interface Permit extends Disposable {
  readonly url: string
  readonly verdict: ClientVerdict
  /** How long the request waited for its turn. Milliseconds. */
  readonly waitedMs: number
  /** What it waited for in the end; `none` where it left at once. */
  readonly waitedFor: WaitReason | 'none'
  /** The pause that is kept after it, and who asked for it. */
  readonly delay: Delay
  /**
   * Calls the function that sends the request, and returns what it returns. If it comes to the same gate again, as a fetch does that
   * has this gate too, the request passes through without a second turn. Another request to this gate frees the slot first, and takes a turn
   * of its own.
   */
  run<T>(send: () => T): T
  /** @internal The request is on its connection, so code that runs in its async context later is not part of sending it. */
  sent(): void
  /** The headers of its answer are there: what they say about pace holds from now on. `leave` does the same at the end. */
  report(answer: ResponseLike): void
  /** The request is over; its answer, if there was one, may slow the origin down (429, 503, Retry-After). Once is enough. */
  release(answer?: ResponseLike): void
}

/** As much of a response as pace depends on: that of `fetch`, of undici, or your own. */
export interface ResponseLike {
  readonly status: number
  readonly headers: { get(name: string): string | null } | Headers
}

/** @throws {ResponseError} for anything that is not a response. */
export function pageResponseOf(answer: ResponseLike): PageResponse {
  if (typeof answer !== 'object' || answer === null)
    throw new ResponseError(`${describeValue(answer)} is not a response; expected an object with a status and headers`)
  const { status, headers } = answer
  if (!Number.isInteger(status)) throw new ResponseError(`status ${describeValue(status)} is not a number such as 200`)
  if (typeof headers !== 'object' || headers === null)
    throw new ResponseError(
      `headers ${describeValue(headers)} are neither Headers nor an object with names in lower case`,
    )
  const retryAfter = headerIn(headers, 'retry-after')
  if (retryAfter === undefined || typeof retryAfter === 'string') return { status, retryAfter }
  throw new ResponseError(`the header retry-after is ${describeValue(retryAfter)}, which is not a string`)
}

/** The header Location of a response that `pageAnswerOf` has accepted. */
export function locationOf({ headers }: ResponseLike): string | null {
  const location = headerIn(headers, 'location')
  return typeof location === 'string' ? location : null
}

function headerIn(headers: ResponseLike['headers'], name: string): unknown {
  try {
    return (isHeaders(headers) ? headers.get(name) : headerOf(headers, name)) ?? undefined
  } catch (error) {
    throw new ResponseError(`the header ${name} cannot be read`, { cause: error })
  }
}

function isHeaders(headers: ResponseLike['headers']): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}
