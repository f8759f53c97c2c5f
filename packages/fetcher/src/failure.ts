// What the platform throws -> why robots.txt is unreachable. RFC 9309 §2.3.1.4.
import type { Failure, FailureReason, Headers, Response } from '@politely/core'
import type { Deadline } from './deadline.ts'

/** By the error's code; what stands in no row is `network`. */
const REASONS: Readonly<Record<string, FailureReason>> = {
  ERR_POLITELY_BLOCKED_ADDRESS: 'blocked-address',
  ERR_POLITELY_FTP_CLOSED: 'reset',
  ERR_POLITELY_FTP_TOO_LARGE: 'too-large',
  ERR_POLITELY_FTP_MALFORMED: 'malformed',
  ENOTFOUND: 'dns',
  ENODATA: 'dns',
  EAI_AGAIN: 'dns-unavailable',
  EAI_FAIL: 'dns-unavailable',
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  ERR_STREAM_PREMATURE_CLOSE: 'reset',
  UND_ERR_SOCKET: 'reset',
  ERR_HTTP2_STREAM_ERROR: 'reset',
  ERR_HTTP2_SESSION_ERROR: 'reset',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'too-large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'truncated',
  ERR_ASSERTION: 'malformed', // how undici 8.12 takes a status under 100, and a 101 that nobody asked for
  EPROTO: 'tls',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls',
  UNABLE_TO_GET_ISSUER_CERT: 'tls',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls',
  HOSTNAME_MISMATCH: 'tls',
  UND_ERR_PRX_TLS: 'tls',
}

/** Families of codes: HTTP that the parser refuses, certificates and TLS, codings that do not decode. */
const FAMILIES: readonly (readonly [beginning: string, reason: FailureReason])[] = [
  ['HPE_', 'malformed'],
  ['ERR_HTTP2_', 'malformed'],
  ['CERT_', 'tls'],
  ['ERR_TLS_', 'tls'],
  ['ERR_SSL_', 'tls'],
  ['Z_', 'undecodable'],
  ['ERR_BROTLI_', 'undecodable'],
  ['ZSTD_', 'undecodable'],
  ['ERR__ERROR_FORMAT_', 'undecodable'],
]

/** A fetch says no more than "fetch failed"; what did is its cause, or the cause of that. */
const MOST_CAUSES = 5

/**
 * A failure as a value. `phase` tells a body that ended early from an answer that never came; where the deadline has passed, that
 * is what ended it.
 */
export function failureOf(error: unknown, phase: 'request' | 'body', deadline: Deadline): Failure {
  if (deadline.isOver) return { kind: 'failure', reason: 'timeout', detail: 'the deadline passed' }
  const telling = tellingOf(error)
  const reason = reasonOf(telling)
  return {
    kind: 'failure',
    reason: reason === 'reset' && phase === 'body' ? 'truncated' : reason,
    detail: telling instanceof Error ? telling.message || String(codeOf(telling)) : String(telling),
  }
}

/** A body that is not complete. @param detail Why, for people. */
export function truncated(detail: string): Failure {
  return { kind: 'failure', reason: 'truncated', detail }
}

/** The response that undici's `interceptors.responseError()` and `interceptors.retry()` report as an error; without its body. */
export function answerIn(error: unknown): Response | undefined {
  let at = error
  for (let i = 0; i <= MOST_CAUSES && at instanceof Error; i++) {
    const { code, statusCode, headers } = at as { code?: unknown; statusCode?: unknown; headers?: unknown }
    const isAnswer = code === 'UND_ERR_RESPONSE' || code === 'UND_ERR_REQ_RETRY'
    if (isAnswer && typeof statusCode === 'number' && statusCode >= 400) {
      return { kind: 'response', status: statusCode, headers: (headers ?? {}) as Headers }
    }
    at = at.cause
  }
  return undefined
}

/** The error itself or the first of its causes that has a reason; where none has, the error. */
function tellingOf(error: unknown): unknown {
  let at = error
  for (let i = 0; i <= MOST_CAUSES && at instanceof Error; i++) {
    if (reasonOf(at) !== 'network') return at
    at = at.cause
  }
  return error
}

function reasonOf(error: unknown): FailureReason {
  if (!(error instanceof Error)) return 'network'
  // undici 8.12 forgets the HPE_ code of these; of HPE_INVALID_EOF_STATE the message is left.
  if (error.name === 'HTTPParserError') return error.message.includes('Invalid EOF state') ? 'reset' : 'malformed'
  if (error.name === 'TimeoutError') return 'timeout' // AbortSignal.timeout
  if (error.message.startsWith('too many content-encodings')) return 'undecodable' // undici gives it no code
  const code = codeOf(error)
  return REASONS[code] ?? FAMILIES.find(([beginning]) => code.startsWith(beginning))?.[1] ?? 'network'
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : ''
}
