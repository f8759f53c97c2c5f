// What the platform throws -> why robots.txt is unreachable. RFC 9309 §2.3.1.4.
import type { Failure, FailureReason } from '@politely/core'
import { BlockedAddressError } from './network-guard.ts'

/** By the error's code; what stands in no row is `network`. */
const REASONS: Readonly<Record<string, FailureReason>> = {
  ENOTFOUND: 'dns',
  ENODATA: 'dns',
  EAI_AGAIN: 'dns-unavailable',
  EAI_FAIL: 'dns-unavailable',
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
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
}

/** Families of codes: HTTP that the parser refuses, certificates and TLS, content codings that do not decode. */
const FAMILIES: readonly (readonly [beginning: string, reason: FailureReason])[] = [
  ['HPE_', 'malformed'],
  ['CERT_', 'tls'],
  ['ERR_TLS_', 'tls'],
  ['ERR_SSL_', 'tls'],
  ['Z_', 'malformed'],
  ['ERR_BROTLI_', 'malformed'],
  ['ZSTD_', 'malformed'],
  ['ERR__ERROR_FORMAT_', 'malformed'],
]

/** A failure as a value. `phase` tells a body that ended early from an answer that never came. */
export function failureOf(error: unknown, phase: 'request' | 'body'): Failure {
  const reason = reasonOf(error)
  return {
    kind: 'failure',
    reason: reason === 'reset' && phase === 'body' ? 'truncated' : reason,
    detail: error instanceof Error ? error.message || String(codeOf(error)) : String(error),
  }
}

function reasonOf(error: unknown): FailureReason {
  if (error instanceof BlockedAddressError) return 'blocked-address'
  if (error instanceof Error && error.name === 'HTTPParserError') return 'malformed' // undici 8.12 forgets its HPE_ code
  const code = codeOf(error)
  return REASONS[code] ?? FAMILIES.find(([beginning]) => code.startsWith(beginning))?.[1] ?? 'network'
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
