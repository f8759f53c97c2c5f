// The option `retry` of `politely`: repeats a request after a failure that may pass.
//
// Each attempt enters the gate. So it waits for the pace, for the pauses that the site has asked for
// and for the circuit, and counts towards the budget. The pauses of p-retry come on top of that.
import { outcomeOf, type PageOutcomeKind } from '@politely/core'
import { outcomesThatMay } from '@politely/core/engine'
import { discard, integer, makeResponse, rememberSentPage, sentPageOf } from '@politely/fetcher/internal'
import { assertFields } from '../options/fields.ts'
import { failureOutcomes } from '../options/outcomes.ts'
import type { FetchResponse } from './fetch-response.ts'
import { isRefusal } from './refused-response.ts'

/** How `politely` repeats requests. */
export interface RetryOptions {
  /** How often a request is sent at most. The first time counts. From 2 to 100. */
  readonly attempts: number
  /**
   * The outcomes after which it is sent again (`outcomeOf`). Default `connection`, `server-error`
   * and `rate-limited`.
   */
  readonly outcomes?: readonly PageOutcomeKind[] | undefined
  /**
   * Reads up to this many bytes of a body before the call resolves. So a body that breaks off is
   * requested again. A longer body is passed on as it arrives, and may still break off. Bytes,
   * after decoding; default 0: no body is read, and none is requested again.
   */
  readonly bufferBytes?: number | undefined
}

/** The checked option `retry`. */
export interface Retry {
  readonly attempts: number
  readonly outcomes: ReadonlySet<string>
  readonly bufferBytes: number
}

/** What an attempt led to. */
type Attempt<R> = { readonly response: R } | { readonly error: unknown }

const KNOWN: Readonly<Record<keyof RetryOptions, true>> = { attempts: true, outcomes: true, bufferBytes: true }
const EXAMPLE = '{ attempts: 3 }'

/** The first pause between two attempts. Each further one is twice as long, with a random part. Our choice. */
const FIRST_PAUSE_MS = 1_000
/** The longest of these pauses. Our choice. */
const MAX_PAUSE_MS = 60_000

/** The methods whose requests may be sent twice: idempotent ones (RFC 9110 §9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])

/** @throws {OptionError} for an invalid or unknown field. */
export function retryOf(options: RetryOptions | undefined): Retry | undefined {
  if (options === undefined) return undefined
  assertFields('retry', options, EXAMPLE, KNOWN)
  const { attempts, outcomes = outcomesThatMay('pass'), bufferBytes = 0 } = options
  return {
    attempts: integer('retry.attempts', attempts, { min: 2, max: 100, example: 3 }),
    outcomes: failureOutcomes('retry.outcomes', outcomes),
    bufferBytes: integer('retry.bufferBytes', bufferBytes, { min: 0, example: 1_000_000 }),
  }
}

/** Returns whether a request may be sent again. */
export function isRepeatable(method: string, hasStream: boolean): boolean {
  return IDEMPOTENT.has(method.toUpperCase()) && !hasStream
}

/** An attempt failed, and another may follow. Only p-retry gets it. */
class AttemptFailure extends Error {}

/**
 * Sends a request up to `attempts` times. Resolves or rejects as the last attempt did. If the gate
 * refuses an attempt after the first, for example because the circuit has opened, the attempt before
 * it counts.
 * @param send Sends the request. It calls `onEntered` when the gate has let it in.
 * @param onPause Called before the pause between two attempts.
 */
export async function withRetries<R extends FetchResponse>(
  retry: Retry,
  signal: AbortSignal | undefined,
  send: (onEntered: () => Promise<void>) => Promise<R>,
  onPause: () => void = () => undefined,
): Promise<R> {
  let last = await attempt(retry, () => send(async () => undefined))
  if (!isWorthRepeating(retry, last, signal)) return resultOf(last)
  const { default: pRetry } = await import('p-retry') // rarely needed
  const again = async (number: number) => {
    if (number > 1) {
      const before = last
      const next = await attempt(retry, () => send(() => discardResponse(before)))
      if ('error' in next && isRefusal(next.error)) return
      last = next
    }
    if (!isWorthRepeating(retry, last, signal)) return
    if (number < retry.attempts) onPause()
    throw new AttemptFailure()
  }
  try {
    await pRetry(again, {
      retries: retry.attempts - 1,
      minTimeout: FIRST_PAUSE_MS,
      maxTimeout: MAX_PAUSE_MS,
      randomize: true,
      ...(signal && { signal }),
    })
  } catch (error) {
    if (signal?.aborted) {
      await discardResponse(last)
      throw signal.reason
    }
    if (!(error instanceof AttemptFailure)) throw error
  }
  return resultOf(last)
}

async function attempt<R extends FetchResponse>({ bufferBytes }: Retry, send: () => Promise<R>): Promise<Attempt<R>> {
  try {
    const response = await send()
    return { response: bufferBytes > 0 ? await buffered(response, bufferBytes) : response }
  } catch (error) {
    return { error }
  }
}

function isWorthRepeating({ outcomes }: Retry, last: Attempt<FetchResponse>, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted) return false
  const outcome = outcomeOf('response' in last ? last.response : last.error)
  return outcome !== undefined && outcomes.has(outcome.kind)
}

function resultOf<R>(last: Attempt<R>): R {
  if ('error' in last) throw last.error
  return last.response
}

async function discardResponse(last: Attempt<FetchResponse>): Promise<void> {
  if ('response' in last) await discard(last.response.body)
}

/**
 * Returns a response whose body has been read, if it is not longer than `max` bytes. Otherwise its
 * body begins with what has been read. Rejects if the body breaks off.
 */
async function buffered<R extends FetchResponse>(response: R, max: number): Promise<R> {
  const { body } = response
  if (!(body instanceof ReadableStream)) return response // none, or a stream of Node that another fetch returns
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  let hasEnded = false
  while (length <= max && !hasEnded) {
    const { value, done } = await reader.read()
    if (value !== undefined) chunks.push(value)
    length += value?.length ?? 0
    hasEnded = done
  }
  const rest = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = chunks.shift()
      if (chunk !== undefined) return controller.enqueue(chunk)
      const { value, done } = hasEnded ? { value: undefined, done: true } : await reader.read()
      if (value !== undefined) controller.enqueue(value)
      if (done) controller.close()
    },
    cancel: (reason) => reader.cancel(reason),
  })
  const head = response as unknown as Response
  const copy = makeResponse(rest, head, head.constructor as typeof Response)
  const page = sentPageOf(response)
  return (page === undefined ? copy : rememberSentPage(copy, page)) as unknown as R
}
