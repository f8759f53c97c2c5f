// The leave to make one request.
import { type Delay, type Headers, headerOf, type PageAnswer } from '@politely/core'
import type { ClientVerdict } from '@politely/fetcher'
import { shown } from '@politely/fetcher/option-checks'
import { AnswerError } from './errors.ts'
import type { WaitReason } from './queue.ts'

/**
 * The leave to make one request. Call `leave` when it is over, or declare it with `using`: a pass that is never given back holds its
 * place, and with all places held nobody leaves.
 */
export interface Pass extends Disposable {
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
  answered(answer: Answer): void
  /** The request is over; its answer, if there was one, may slow the origin down (429, 503, Retry-After). Once is enough. */
  leave(answer?: Answer): void
}

/** As much of a response as pace depends on: that of `fetch`, of undici, or your own. */
export interface Answer {
  readonly status: number
  readonly headers: { get(name: string): string | null } | Headers
}

/** @throws {AnswerError} for anything that is not a response. */
export function pageAnswerOf(answer: Answer): PageAnswer {
  if (typeof answer !== 'object' || answer === null)
    throw new AnswerError(`${shown(answer)} is not a response; expected an object with a status and headers`)
  const { status, headers } = answer
  if (!Number.isInteger(status)) throw new AnswerError(`status ${shown(status)} is not a number such as 200`)
  if (typeof headers !== 'object' || headers === null)
    throw new AnswerError(`headers ${shown(headers)} are neither Headers nor an object with names in lower case`)
  const retryAfter = headerIn(headers, 'retry-after')
  if (retryAfter === undefined || typeof retryAfter === 'string') return { status, retryAfter }
  throw new AnswerError(`the header retry-after is ${shown(retryAfter)}, which is not a string`)
}

/** The header Location of a response that `pageAnswerOf` has accepted. */
export function locationOf({ headers }: Answer): string | null {
  const location = headerIn(headers, 'location')
  return typeof location === 'string' ? location : null
}

function headerIn(headers: Answer['headers'], name: string): unknown {
  try {
    return (isHeaders(headers) ? headers.get(name) : headerOf(headers, name)) ?? undefined
  } catch (error) {
    throw new AnswerError(`the header ${name} cannot be read`, { cause: error })
  }
}

function isHeaders(headers: Answer['headers']): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}
