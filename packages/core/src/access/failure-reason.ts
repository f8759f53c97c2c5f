// Maps errors of Node, undici and basic-ftp to the reasons why a request got no usable response.
import type { FailureReason } from './reply.ts'

/** Reasons by error code. Every other code means `network`. */
const REASONS: Readonly<Record<string, FailureReason>> = {
  ERR_POLITELY_BLOCKED_ADDRESS: 'blocked-address',
  FTP_CLOSED: 'reset', // FTP_…, CODED_… and some Z_… are codes of the fetcher's TransferError
  FTP_TOO_LARGE: 'too-large',
  FTP_MALFORMED: 'malformed',
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
  ESOCKETTIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  CODED_TOO_LARGE: 'too-large',
  UND_ERR_HEADERS_OVERFLOW: 'too-large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'truncated',
  ERR_ASSERTION: 'malformed', // undici 8.12, for a status under 100 and for an unrequested 101
  EPROTO: 'tls',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls',
  UNABLE_TO_GET_ISSUER_CERT: 'tls',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls',
  HOSTNAME_MISMATCH: 'tls',
  UND_ERR_PRX_TLS: 'tls',
  UND_ERR_CLOSED: 'unusable-transport', // the caller's dispatcher was closed
  UND_ERR_DESTROYED: 'unusable-transport',
}

/**
 * Reasons by code prefix: HTTP that the parser rejects, certificate and TLS errors, content codings
 * that do not decode.
 */
const REASONS_BY_PREFIX: readonly (readonly [prefix: string, reason: FailureReason])[] = [
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

/** The parts of an error that say why a request failed. */
export interface RequestError {
  readonly name: string
  readonly message: string
  readonly code?: unknown
}

/**
 * Returns why a request failed, by its error alone: a `cause` is not read. `network` for every error
 * that is not known.
 */
export function failureReasonOf({ name, message, code: given }: RequestError): FailureReason {
  // undici 8.12 loses the HPE_ code of these errors. HPE_INVALID_EOF_STATE shows only in the
  // message.
  if (name === 'HTTPParserError') return message.includes('Invalid EOF state') ? 'reset' : 'malformed'
  if (name === 'TimeoutError') return 'timeout' // AbortSignal.timeout
  if (message.startsWith('too many content-encodings')) return 'undecodable' // this error of undici has no code
  const code = given === undefined ? '' : String(given)
  if (Object.hasOwn(REASONS, code)) return REASONS[code] as FailureReason
  return REASONS_BY_PREFIX.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'network'
}
