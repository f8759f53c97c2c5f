// The leave to make one request.
import { type Delay, type Headers, headerOf, type PageAnswer } from '@politely/core'
import type { ClientVerdict } from '@politely/fetcher'
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

/** @throws {TypeError} for what is no answer. */
export function pageAnswerOf({ status, headers }: Answer): PageAnswer {
  const retryAfter = isHeaders(headers) ? headers.get('retry-after') : headerOf(headers, 'retry-after')
  return { status, retryAfter: retryAfter ?? undefined }
}

function isHeaders(headers: Answer['headers']): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function'
}
