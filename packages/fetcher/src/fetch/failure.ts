// Turns errors of Node, undici and basic-ftp into replies. RFC 9309 §2.3.1.4.
import { types } from 'node:util'
import type { Body, Headers, Response } from '@politely/core/engine'
import type { FailureReason } from '@politely/core/internal'
import { type Failure, failureReasonOf, type Reply } from '@politely/core/internal'
import type { Deadline } from './deadline.ts'

/** Codes of errors that this package makes itself. `failureReasonOf` knows them. */
type TransferErrorCode =
  | `FTP_${'CLOSED' | 'TOO_LARGE' | 'MALFORMED'}`
  | 'CODED_TOO_LARGE'
  | 'Z_UNKNOWN_CODING'
  | 'ZSTD_NOT_ONE_FRAME'

/**
 * A response that cannot be used, or a URL that FTP cannot request. No caller sees this error.
 * basic-ftp wraps it, and keeps its code.
 */
export class TransferError extends Error {
  override readonly name = 'TransferError'
  readonly code: TransferErrorCode
  constructor(code: TransferErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Recognises also an error of another realm, such as one of the built-in fetch under Jest. */
function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value)
}

/**
 * How many nested causes are searched. The error of a fetch only says "fetch failed"; its causes
 * say why.
 */
const MAX_CAUSES = 5

export function failure(reason: FailureReason, detail: string): Failure {
  return { kind: 'failure', reason, detail }
}

/** Returns the failure of a body without codings that has fewer bytes than its Content-Length, if so. */
export function shortBody({ bytes }: Body, headers: Headers): Failure | undefined {
  const length = Number(headers['content-length'] ?? 0)
  return bytes.length < length
    ? failure('truncated', `${bytes.length} bytes of a body with Content-Length ${length}`)
    : undefined
}

/**
 * Converts an error of a request to a reply: the response that the error carries, or a failure. See
 * `failureOf` for `phase`.
 */
export function replyOf(error: unknown, phase: 'request' | 'body', deadline: Deadline): Reply {
  return (phase === 'request' ? responseIn(error) : undefined) ?? failureOf(error, phase, deadline)
}

/**
 * Converts an error to a failure.
 * @param phase `body` once a response has begun: the same error then means a truncated body. If the
 * deadline has passed, the failure is `timeout` in either phase.
 */
export function failureOf(error: unknown, phase: 'request' | 'body', deadline: Deadline): Failure {
  if (deadline.isOver) return failure('timeout', deadline.explanation)
  const cause = firstClassified(error)
  const reason = reasonOf(cause)
  return failure(
    reason === 'reset' && phase === 'body' ? 'truncated' : reason,
    isError(cause) ? explanationOf(cause) : String(cause),
  )
}

/**
 * Returns the response that undici's `interceptors.responseError()` and `interceptors.retry()`
 * report as an error, without its body.
 */
function responseIn(error: unknown): Response | undefined {
  let at = error
  for (let i = 0; i <= MAX_CAUSES && isError(at); i++) {
    const { code, statusCode, headers } = at as { code?: unknown; statusCode?: unknown; headers?: unknown }
    const hasResponse = code === 'UND_ERR_RESPONSE' || code === 'UND_ERR_REQ_RETRY'
    if (hasResponse && typeof statusCode === 'number' && statusCode >= 400) {
      return { kind: 'response', status: statusCode, headers: (headers ?? {}) as Headers }
    }
    at = at.cause
  }
  return undefined
}

/**
 * Returns the first of the error and its causes that has a reason other than `network`. If none
 * has, returns the first one that says more than that a fetch failed.
 */
function firstClassified(error: unknown): unknown {
  let at = error
  let explanation = error
  for (let i = 0; i <= MAX_CAUSES && isError(at); i++) {
    if (reasonOf(at) !== 'network') return at
    if (explanation === at && at.message === 'fetch failed' && isError(at.cause)) explanation = at.cause
    at = at.cause
  }
  return explanation
}

function reasonOf(error: unknown): FailureReason {
  return isError(error) ? failureReasonOf(error) : 'network'
}

/**
 * OpenSSL's messages contain file names of its source. Node gives the part that explains the error
 * as `reason`.
 */
function explanationOf(error: Error): string {
  const { reason } = error as { reason?: unknown }
  return codeOf(error).startsWith('ERR_SSL_') && typeof reason === 'string' ? reason : error.message || codeOf(error)
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : ''
}
