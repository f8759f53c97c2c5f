// Warns if a timeout that counts the wait ends a request that waits: most programs take that for a
// failure of the site, and lose the page.
import { escapeControls } from '@politely/core/internal'
import { withoutCredentials } from '@politely/fetcher'
import { abortedWaitOf, isTimeout } from '../report/aborted-wait.ts'
import { durationRoundedUp } from '../report/duration.ts'
import { causeText } from '../report/errors.ts'

/** What to write for a client whose signal Politely can't replace. */
export const CLIENT_COUNTS =
  "its HTTP client counts the wait: raise its timeout, limit the wait with maxWaitMs instead, or send the request through politely(fetch, { callerTimeouts: 'from-sending' })"

/** The same for a fetch, if the client has aborted with another reason than a signal with a timeout. */
const OWN_TIMER =
  'its HTTP client has a timer, which counts the wait: switch it off, and write politely(fetch, { requestTimeoutMs })'

let hasWarned = false
/** The signals of calls whose timeout is meant to count the wait. */
const meant = new WeakSet<AbortSignal>()

/** Forgets the warning. For tests. */
export function forgetQueueTimeout(): void {
  hasWarned = false
}

/** Marks a signal whose timeout is meant to count the wait. Returns it. */
export function countsWait(signal: AbortSignal): AbortSignal {
  meant.add(signal)
  return signal
}

/** How a request ended that waited at the gate. */
interface EndedWait {
  readonly url: string
  readonly signal: AbortSignal
  /** The error with which the wait ended. */
  readonly error: unknown
  /** Since the request came to the gate. */
  readonly sinceMs: number
  /** What it waited for, if it had not reached its queue. Default robots.txt. */
  readonly waitedFor?: string
  /** What to write instead. */
  readonly remedy: string
}

/** Emits a process warning if the wait ended by a timeout. Once for the process. */
export function warnOfQueueTimeout(ended: EndedWait): void {
  const { url, signal, error, sinceMs, waitedFor = 'robots.txt', remedy } = ended
  if (hasWarned || !signal.aborted || meant.has(signal)) return
  const { code, cause } = Object(signal.reason) as { readonly code?: unknown; readonly cause?: unknown }
  const isOfClient = code === 'ETIMEDOUT' || code === 'ECONNABORTED' // axios
  // node:http wraps the reason of a signal.
  if (!isOfClient && !isTimeout(signal.reason) && !isTimeout(cause)) return
  hasWarned = true
  const wait = abortedWaitOf(error, signal)
  const held = wait === undefined ? waitedFor : causeText(wait.waitedFor, wait.waitedLevel)
  const waited = durationRoundedUp(wait?.waitedMs ?? sinceMs)
  const advice = isOfClient && remedy !== CLIENT_COUNTS ? OWN_TIMER : remedy
  process.emitWarning(
    `${escapeControls(withoutCredentials(url))} had waited ${waited} (${held}) when its own timeout ended it, so it was not sent; ${advice}`,
    { type: 'PolitelyWarning', code: 'POLITELY_TIMEOUT_IN_QUEUE' },
  )
}
