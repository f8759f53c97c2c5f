// Warns if a timeout that counts the wait ends a request that waits: most programs take that for a
// failure of the site, and lose the page.
import { escapeControls } from '@politely/core'
import { withoutCredentials } from '@politely/fetcher'
import { abortedWaitOf, isTimeout } from '../report/aborted-wait.ts'
import { durationText } from '../report/duration.ts'
import { causeText } from '../report/errors.ts'

/** What to write for a client whose signal Politely can't replace. */
export const CLIENT_COUNTS =
  "its HTTP client counts the wait: raise its timeout, limit the wait with maxWaitMs instead, or send the request through politely(fetch, { callerTimeouts: 'from-sending' })"

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
  if (hasWarned || !signal.aborted || meant.has(signal) || !isTimeoutOfClient(signal.reason)) return
  hasWarned = true
  const wait = abortedWaitOf(error, signal)
  const cause = wait === undefined ? waitedFor : causeText(wait.waitedFor, wait.waitedLevel)
  process.emitWarning(
    `${escapeControls(withoutCredentials(url))} had waited ${durationText(wait?.waitedMs ?? sinceMs)} (${cause}) when its own timeout ended it, so it was not sent; ${remedy}`,
    { type: 'PolitelyWarning', code: 'POLITELY_TIMEOUT_IN_QUEUE' },
  )
}

/** node:http wraps the reason of a signal, and some of its clients have timers and errors of their own. */
function isTimeoutOfClient(reason: unknown): boolean {
  if (isTimeout(reason)) return true
  const { name, code, cause } = Object(reason) as { readonly [field in 'name' | 'code' | 'cause']?: unknown }
  return name === 'TimeoutError' || code === 'ETIMEDOUT' || code === 'ECONNABORTED' || isTimeout(cause)
}
