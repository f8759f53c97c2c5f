// The error for a request that is aborted while it waits in its queue.
import { escapeControls } from '@politely/core/internal'
import { withoutCredentials } from '@politely/fetcher'
import type { WaitLevel, WaitReason } from '../pace/wait-cause.ts'
import { durationRoundedUp } from './duration.ts'
import { causeText } from './errors.ts'

/**
 * A request was aborted while it waited in its queue, by `AbortSignal.timeout` or by `abort()`
 * without a reason. Has the `name` of the signal's reason, `TimeoutError` or `AbortError`, and the
 * reason as its `cause`. The other fields say what the request waited for. The request was not sent.
 */
export class AbortedWaitError extends DOMException {
  /** The reason of the signal. */
  declare readonly cause: DOMException
  /** The URL of the request, without credentials. */
  readonly url: string
  /** How long the request waited in its queue. Milliseconds. */
  readonly waitedMs: number
  /** What the request waited for. Undefined if the pacer had not replied. */
  readonly waitedFor: WaitReason | undefined
  /** The level that the request waited for. */
  readonly waitedLevel: WaitLevel | undefined
  /**
   * How long the request would still have had to wait, as far as that is known. Milliseconds; 0 if
   * it is not known.
   */
  readonly waitMs: number

  constructor(
    reason: DOMException,
    wait: Pick<AbortedWaitError, 'url' | 'waitedMs' | 'waitedFor' | 'waitedLevel' | 'waitMs'>,
  ) {
    const { url, waitedMs, waitedFor, waitedLevel, waitMs } = wait
    const shownUrl = escapeControls(withoutCredentials(url))
    const left = waitMs > 0 ? `, and would have waited at least ${durationRoundedUp(waitMs)} more` : ''
    super(
      `${reason.message}; ${shownUrl} had waited ${durationRoundedUp(waitedMs)} (${causeText(waitedFor, waitedLevel)})${left}`,
      reason.name,
    )
    // As an option of DOMException, only Node knows `cause`.
    Object.defineProperty(this, 'cause', { value: reason, configurable: true, writable: true })
    this.url = shownUrl
    this.waitedMs = waitedMs
    this.waitedFor = waitedFor
    this.waitedLevel = waitedLevel
    this.waitMs = waitMs
  }
}

/** How a request waited. */
type AbortedWait = ConstructorParameters<typeof AbortedWaitError>[1]

/** The waits that ended with a reason of the caller's own, which has no room for them. */
const waits = new WeakMap<AbortSignal, AbortedWait>()

/**
 * Returns the error for a waiting request whose signal is aborted. A reason of the caller's own is
 * returned as it is.
 */
export function abortedWait(signal: AbortSignal, wait: AbortedWait): unknown {
  const { reason } = signal
  if (isPlatformReason(reason)) return new AbortedWaitError(reason, wait)
  waits.set(signal, wait)
  return reason
}

/** Returns how a request waited that was rejected with this error. Undefined if it had not reached its queue. */
export function abortedWaitOf(error: unknown, signal: AbortSignal): AbortedWait | undefined {
  return error instanceof AbortedWaitError ? error : waits.get(signal)
}

/** Whether a signal with this reason was aborted by a timeout. The error of ofetch is not a DOMException. */
export function isTimeout(reason: unknown): boolean {
  return (Object(reason) as { readonly name?: unknown }).name === 'TimeoutError'
}

/** Not by `instanceof`: some test runners give each file its own `DOMException`. */
function isPlatformReason(reason: unknown): reason is DOMException {
  if (Object.prototype.toString.call(reason) !== '[object DOMException]') return false
  return isTimeout(reason) || (reason as DOMException).name === 'AbortError'
}
