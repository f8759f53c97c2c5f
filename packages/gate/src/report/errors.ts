// The errors of the gate, each with a stable `code`.
import { describeOutcome, describeVerdict } from '@politely/core'
import { escapeControls, formatTime, PolitelyError, PolitelyTypeError } from '@politely/core/internal'
import { type ClientVerdict, loggableVerdict, withoutCredentials } from '@politely/fetcher'
import { describeValue } from '@politely/fetcher/internal'
import type { CircuitFailure, CircuitReport } from '../pace/pacer.ts'
import type { WaitLevel, WaitReason } from '../pace/wait-cause.ts'
import { durationRoundedUp } from './duration.ts'

/**
 * robots.txt disallows the URL, robots.txt is unreachable, or the URL is invalid or not permitted
 * by the `network` option. The request was not sent. `verdict` says which of these it was, and
 * names the rule that decided.
 *
 * Remedy: skip the URL. If `retryAt` is set, robots.txt is unreachable: try again after that time.
 */
export class RobotsDisallowedError extends PolitelyError {
  override readonly name = 'RobotsDisallowedError'
  readonly code = 'ERR_POLITELY_DISALLOWED'
  /** The reason, with the rule that decided. Its `url` has no credentials. */
  readonly verdict: ClientVerdict
  /**
   * When the client will fetch robots.txt again, if it is unreachable now. Milliseconds since 1970.
   */
  readonly retryAt: number | undefined

  constructor(verdict: ClientVerdict) {
    const loggable = loggableVerdict(verdict)
    super(`${escapeControls(loggable.url) || 'an empty string'} is ${describeVerdict(loggable)}`)
    this.verdict = loggable
    this.retryAt = verdict.retryAt
  }
}

/**
 * The gate was closed while the request waited, or before it was made. The request was not sent.
 *
 * Remedy: await all requests, or `await gate.drain()`, before `close`; or create a new gate for
 * further requests.
 */
export class GateClosedError extends PolitelyError {
  override readonly name = 'GateClosedError'
  readonly code = 'ERR_POLITELY_GATE_CLOSED'
  constructor() {
    super('the gate is closed; await the requests that still run before close(), or create a new gate')
  }
}

/**
 * The request would have to wait longer than `maxWaitMs`, or it has waited that long. The request
 * was not sent, and used no slot.
 *
 * Remedy: try again after `waitMs`, or raise `maxWaitMs`.
 */
export class WaitTooLongError extends PolitelyError {
  override readonly name = 'WaitTooLongError'
  readonly code = 'ERR_POLITELY_WAIT'
  /** The verdict that allows the request. Its `url` has no credentials. */
  readonly verdict: ClientVerdict
  /**
   * How long the request would still have had to wait, as far as that is known. Milliseconds; 0 if
   * it is not known, as with `because: 'concurrency'`.
   */
  readonly waitMs: number
  /** When a request could start, as far as that is known. Milliseconds since 1970, by the gate's clock. */
  readonly retryAt: number | undefined
  /** What the request would wait for. Undefined if the pacer had not replied. */
  readonly because: WaitReason | undefined
  /** The level that the request would wait for. */
  readonly level: WaitLevel | undefined
  /** How long the request has waited. Milliseconds; 0 if it was rejected at once. */
  readonly waitedMs: number

  /** The limit that applied to the request. Milliseconds. */
  readonly maxWaitMs: number

  constructor(
    wait: Pick<WaitTooLongError, 'verdict' | 'waitMs' | 'retryAt' | 'because' | 'level' | 'waitedMs' | 'maxWaitMs'>,
  ) {
    const { waitMs, retryAt, because, level, waitedMs, maxWaitMs } = wait
    const loggable = loggableVerdict(wait.verdict)
    const waits =
      waitedMs === 0 ? `would have to wait ${durationRoundedUp(waitMs)}` : `has waited ${durationRoundedUp(waitedMs)}`
    const remedy = waitMs === 0 ? '' : `try again in ${durationRoundedUp(waitMs)}, or `
    super(
      `${escapeControls(loggable.url)} ${waits} (${causeText(because, level)}), and maxWaitMs is ${maxWaitMs}; ${remedy}raise maxWaitMs`,
    )
    this.verdict = loggable
    this.waitMs = waitMs
    this.retryAt = retryAt
    this.because = because
    this.level = level
    this.waitedMs = waitedMs
    this.maxWaitMs = maxWaitMs
  }
}

/**
 * `maxQueuedPerKey` requests with the same pace key wait already. The request was not sent, and did
 * not join the queue.
 *
 * Remedy: make fewer requests at a time to this site, or raise `maxQueuedPerKey`.
 */
export class QueueFullError extends PolitelyError {
  override readonly name = 'QueueFullError'
  readonly code = 'ERR_POLITELY_QUEUE_FULL'
  /** The verdict that allows the request. Its `url` has no credentials. */
  readonly verdict: ClientVerdict
  /** The pace key of the queue. */
  readonly key: string
  /** How many requests wait. */
  readonly waiting: number
  /** Undefined: the gate cannot tell when the queue has room. Other refusals may have a time here. */
  readonly retryAt: undefined

  constructor(verdict: ClientVerdict, key: string, waiting: number) {
    const loggable = loggableVerdict(verdict)
    super(
      `${escapeControls(loggable.url)} cannot wait: the queue of ${escapeControls(key)} is full (${waiting} waiting); make fewer requests at a time, or raise maxQueuedPerKey`,
    )
    this.verdict = loggable
    this.key = key
    this.waiting = waiting
  }
}

/**
 * The `budget` of the pace key is used up: so many of its requests have started. The request was not
 * sent.
 *
 * Remedy: make no further requests to this site, or raise `budget`. A new gate begins with the whole
 * budget.
 */
export class BudgetError extends PolitelyError {
  override readonly name = 'BudgetError'
  readonly code = 'ERR_POLITELY_BUDGET'
  /** The verdict that allows the request. Its `url` has no credentials. */
  readonly verdict: ClientVerdict
  /** The pace key. */
  readonly key: string
  /** How many requests may start. */
  readonly budget: number
  /** Undefined: a budget does not grow. Other refusals may have a time here. */
  readonly retryAt: undefined

  constructor(verdict: ClientVerdict, key: string, budget: number) {
    const loggable = loggableVerdict(verdict)
    super(
      escapeControls(
        `${loggable.url} does not start: the budget of ${key} is used up (${budget} requests); make no further requests to it, or raise the option budget`,
      ),
    )
    this.verdict = loggable
    this.key = key
    this.budget = budget
  }
}

/**
 * The circuit of the origin is open: its last requests failed (option `circuit`). The request was not
 * sent.
 *
 * Remedy: try again after `retryAt`; then one request finds out whether the site is back. With
 * `circuit: { whenOpen: 'wait' }` requests wait for that.
 */
export class CircuitOpenError extends PolitelyError {
  override readonly name = 'CircuitOpenError'
  readonly code = 'ERR_POLITELY_CIRCUIT'
  /** The verdict that allows the request. Its `url` has no credentials. */
  readonly verdict: ClientVerdict
  /** The outcome of the last request that failed, such as `connection`. */
  readonly outcome: CircuitFailure['kind']
  /** What showed it, such as `refused`. */
  readonly because: CircuitFailure['because']
  /** How many requests have failed in a row. */
  readonly failures: number
  /** When the next request may start. Milliseconds since 1970, by the gate's clock. */
  readonly retryAt: number

  constructor(
    verdict: ClientVerdict,
    { failure, failures }: Pick<CircuitReport, 'failure' | 'failures'>,
    retryAt: number,
  ) {
    const loggable = loggableVerdict(verdict)
    const { kind, because } = failure ?? { kind: 'connection', because: 'network' }
    const last = describeOutcome({ kind, because })
    super(
      escapeControls(
        `${loggable.url} does not start: the last ${failures} requests to ${loggable.origin} failed, and after the last ${last}; try again at ${formatTime(retryAt)}`,
      ),
    )
    this.verdict = loggable
    this.outcome = kind
    this.because = because
    this.failures = failures
    this.retryAt = retryAt
  }
}

/**
 * Your own pacer returned an invalid reply. The request that the call was for is rejected with this
 * error. After an invalid reply of `admit` or `settle`, the gate only counts and publishes it.
 *
 * Remedy: return from the pacer's method an object of the form that the message shows.
 */
export class PacerError extends PolitelyError {
  override readonly name = 'PacerError'
  readonly code = 'ERR_POLITELY_PACER'
  constructor(method: 'reserve' | 'estimate' | 'admit' | 'settle', given: unknown, expected: string) {
    super(`\`${method}\` of the pacer returned ${describeValue(given)}; expected ${expected}`)
  }
}

/**
 * `report` or `release` of a permit was given a value that is not a response, or a response after a
 * redirect that the gate did not check. Or the function that `politely` wraps does not return a
 * response.
 *
 * Remedy: pass the response of `fetch(url, { redirect: 'manual' })`, an object such as
 * `{ status: 200, headers: {} }`, or nothing.
 */
export class ResponseError extends PolitelyTypeError {
  override readonly name = 'ResponseError'
  readonly code = 'ERR_POLITELY_RESPONSE'
  constructor(
    problem: string,
    remedy = 'write permit.release(response), permit.release({ status: 200, headers: {} }), or permit.release()',
    options?: ErrorOptions,
  ) {
    super(`${problem}; ${remedy}`, options)
  }
}

/**
 * The gate closed the connection of a redirect. Its body had not ended after 30 seconds, or too
 * many bodies of redirects were open: 8 of one site, 32 of its platform, or 64 in all.
 *
 * Remedy: follow the redirect without reading its body; a site that does not end the bodies of its
 * redirects is broken or hostile.
 */
export class OpenRedirectError extends PolitelyError {
  override readonly name = 'OpenRedirectError'
  readonly code = 'ERR_POLITELY_OPEN_REDIRECT'
  constructor(url: string) {
    super(
      `the body of the redirect from ${withoutCredentials(url)} did not end within 30 s, or too many such bodies were open; its connection was closed`,
    )
  }
}

/**
 * The gate cannot tell which URL the request is for: the origin, the path, the Host header or an
 * option is invalid or ambiguous. Or the dispatcher and the request are of different versions of
 * undici. The request was not sent. The error's `name` is `TypeError`, like the `name` of the
 * errors of `fetch`.
 *
 * Remedy: follow the message. Usually it helps to write the name of the site in the URL, and no
 * Host header.
 */
export class InvalidRequestError extends PolitelyTypeError {
  readonly code = 'ERR_POLITELY_REQUEST'
}

/** Returns what a request waits for, for people. */
export function causeText(because: WaitReason | undefined, level: WaitLevel | undefined): string {
  return because === undefined ? 'the pacer has not replied' : `${because}, ${level}`
}
