// Classifies what a request for a page rejected with: the error, its causes, and the errors of an
// AggregateError, which Node throws if each address of a host failed.
import { failureReasonOf } from '../access/failure-reason.ts'
import { failuresThatAre, type PageFailureReason } from '../access/reply.ts'
import { isPolitelyError } from '../errors.ts'
import type { PageOutcome, PageOutcomeReason } from './outcome.ts'

/** Returns a property of a value; undefined for a value without properties, or if a getter throws. */
export function fieldOf(value: unknown, name: string): unknown {
  try {
    return (value as Readonly<Record<string, unknown>> | null | undefined)?.[name]
  } catch {
    return undefined
  }
}

/** How many errors of a chain are read. */
const MAX_ERRORS = 20

interface ReadError {
  readonly source: unknown
  readonly name: string
  readonly message: string
  readonly code: string
}

/**
 * Returns the response that an error carries, or the outcome that it tells of. Undefined if it says
 * nothing about the site.
 */
export function readError(error: unknown): { readonly response: object } | PageOutcome | undefined {
  const errors = chainOf(error)
  if (errors.some(({ source, code }) => isPolitelyError(source) || code.startsWith('ERR_POLITELY_'))) return undefined
  for (const { source } of errors) {
    const response = responseIn(source)
    if (response !== undefined) return { response }
  }
  const reasons = errors.map(reasonOf)
  if (reasons.includes('timeout')) return { kind: 'connection', because: 'timeout' }
  if (errors.some(isAbort) || errors.some(isOwnFault)) return undefined
  const known = reasons.find((reason) => reason !== undefined && reason !== 'network')
  const because = known ?? reasons.find((reason) => reason === 'network')
  if (because === undefined) return undefined
  return { kind: because === 'too-many-redirects' ? 'redirect' : 'connection', because }
}

function chainOf(error: unknown): readonly ReadError[] {
  const found = new Set<unknown>([error])
  const errors: ReadError[] = []
  for (const source of found) {
    if (typeof source !== 'object' || source === null) continue
    const code = fieldOf(source, 'code')
    errors.push({
      source,
      name: textIn(source, 'name'),
      message: textIn(source, 'message'),
      code: typeof code === 'string' ? code : '',
    })
    const several = fieldOf(source, 'errors')
    const next = [fieldOf(source, 'cause'), ...(Array.isArray(several) ? several.slice(0, MAX_ERRORS) : [])]
    for (const one of next) if (found.size < MAX_ERRORS) found.add(one)
  }
  return errors
}

function textIn(source: object, name: string): string {
  const text = fieldOf(source, name)
  return typeof text === 'string' ? text.slice(0, 1000) : ''
}

/** The responses of got, axios, ky and superagent are in a field, those of undici are the error. */
function responseIn(error: unknown): object | undefined {
  return [fieldOf(error, 'response'), error].find((one) => {
    const hasStatus = [fieldOf(one, 'status'), fieldOf(one, 'statusCode')].some((status) => typeof status === 'number')
    const headers = fieldOf(one, 'headers')
    return hasStatus && typeof headers === 'object' && headers !== null
  }) as object | undefined
}

const ABORT_NAMES: ReadonlySet<string> = new Set(['AbortError', 'CanceledError', 'CancelError'])
const ABORT_CODES: ReadonlySet<string> = new Set(['ABORT_ERR', 'ERR_ABORTED', 'ERR_CANCELED', 'UND_ERR_ABORTED'])

function isAbort({ name, code, message }: ReadError): boolean {
  return ABORT_NAMES.has(name) || ABORT_CODES.has(code) || /\b(?:net::ERR_ABORTED|NS_BINDING_ABORTED)\b/.test(message)
}

/**
 * Codes of mistakes in the caller's request, and of its limits: invalid arguments, a closed
 * dispatcher, a body longer than the caller accepts, no file descriptors.
 */
const OWN_FAULT =
  /^(?:ERR_(?:INVALID|UNESCAPED|MISSING|OUT_OF_RANGE|METHOD_NOT|UNSUPPORTED|MODULE|HTTP_HEADERS_SENT|BODY_PARSE)|UND_ERR_(?:INVALID|NOT_SUPPORTED|CLOSED|DESTROYED|REQ_CONTENT|RES_EXCEEDED_MAX_SIZE)|EMFILE$|ENFILE$|ENOMEM$|ENOBUFS$|EACCES$|EPERM$|ENOENT$)/

/** What Chromium, axios and node-fetch say of requests that the caller blocks, and of bodies over its limit. */
const OWN_LIMIT = /net::ERR_BLOCKED_BY_CLIENT|^maxContentLength size of |^content size at .* over limit/

function isOwnFault({ code, message }: ReadError): boolean {
  return OWN_FAULT.test(code) || OWN_LIMIT.test(message)
}

/** Returns undefined for an error that no request makes. */
function reasonOf(error: ReadError): PageOutcomeReason | undefined {
  const { name, message, code } = error
  const reason = failureReasonOf(error)
  if (reason !== 'network') return OF_PAGE.has(reason) ? (reason as PageFailureReason) : undefined
  if (code === 'ERR_FR_TOO_MANY_REDIRECTS' || /^redirect count exceeded$|ERR_TOO_MANY_REDIRECTS/.test(message))
    return 'too-many-redirects'
  const browserCode = /\b(?:net::ERR|NS_ERROR)_(\w+)/.exec(message)?.[1]
  if (browserCode !== undefined) return BROWSER_REASONS.find(([pattern]) => pattern.test(browserCode))?.[1] ?? 'network'
  return code !== '' || NETWORK_NAME.test(name) || FETCH_FAILED.test(message) ? 'network' : undefined
}

const OF_PAGE = failuresThatAre('of-page')

/** The codes of Chromium and Firefox, without `net::ERR_` and `NS_ERROR_`. */
const BROWSER_REASONS: readonly (readonly [RegExp, PageFailureReason])[] = [
  [/^(?:NAME_NOT_RESOLVED|UNKNOWN_HOST)$/, 'dns'],
  [/^(?:NAME_RESOLUTION_FAILED|DNS_)/, 'dns-unavailable'],
  [/^CONNECTION_REFUSED$/, 'refused'],
  [/^(?:CONNECTION_(?:RESET|CLOSED|ABORTED)|EMPTY_RESPONSE|NET_RESET|NET_INTERRUPT)$/, 'reset'],
  [/TIMED_OUT$|TIMEOUT$/, 'timeout'],
  [/^(?:CERT_|SSL_|BAD_SSL)/, 'tls'],
  [/^(?:INVALID_|HTTP2_|QUIC_|RESPONSE_HEADERS_)/, 'malformed'],
  [/^(?:CONTENT_DECODING|INVALID_CONTENT_ENCODING)/, 'undecodable'],
  [/^(?:CONTENT_LENGTH_MISMATCH|INCOMPLETE_CHUNKED|NET_PARTIAL)/, 'truncated'],
]

/** Names of errors of libraries that give no code. */
const NETWORK_NAME = /(?:Fetch|Request|Network|Socket|SocksClient|Connection)Error$/

/** The messages of fetch in Node, Chromium, Firefox, Safari, Deno and Bun. */
const FETCH_FAILED =
  /^(?:fetch failed|Failed to fetch|NetworkError when attempting to fetch resource|Load failed|network error|terminated|error sending request|Unable to connect)/
