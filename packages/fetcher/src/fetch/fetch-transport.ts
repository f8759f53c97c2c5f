// Fetches robots.txt with the caller's fetch: Node's fetch, undici's fetch, or one that signs
// requests. The fetch decodes bodies itself.
import { Readable } from 'node:stream'
import {
  brotliDecompressSync,
  constants,
  type InputType,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
} from 'node:zlib'
import {
  type Body,
  type Failure,
  isText,
  type Reply,
  type Headers as ReplyHeaders,
  withoutCredentials,
} from '@politely/core/engine'
import { isCoded, readBody } from './body.ts'
import type { Deadline } from './deadline.ts'
import { failure, replyOf } from './failure.ts'
import { type Exchange, problemOfCoding, RequestObserver, truncationOf } from './request-observer.ts'
import {
  ACCEPT,
  BYPASS_CACHES,
  CACHE_HEADERS,
  isBodyWanted,
  type RobotsRequest,
  type RobotsTransport,
  type TransportSettings,
} from './robots-transport.ts'

export class FetchTransport implements RobotsTransport {
  readonly #settings: TransportSettings
  readonly #fetch: typeof globalThis.fetch

  constructor(settings: TransportSettings, fetch: typeof globalThis.fetch) {
    this.#settings = settings
    this.#fetch = fetch
  }

  async send({ url, conditions }: RobotsRequest, deadline: Deadline): Promise<Reply> {
    const { policy, maxBodyBytes } = this.#settings
    const observer = new RequestObserver(url, maxBodyBytes)
    let phase: 'request' | 'body' = 'request'
    try {
      const response = await this.#fetchResponse(url, conditions, deadline)
      phase = 'body'
      if (!isReadable(response)) {
        return failure(
          'unusable-transport',
          'the given fetch must return a Response with `status`, `headers`, and as `body` null or a ReadableStream that was not read',
        )
      }
      const { status, body: stream } = response
      const problem = problemOfHead(response, url, observer)
      if (problem !== undefined) {
        discard(response)
        return problem
      }
      const headers: ReplyHeaders = Object.fromEntries(response.headers)
      const isRead = isBodyWanted(status, headers, policy) && status !== 204
      const codingProblem = isRead ? problemOfCodings(headers) : undefined
      if (!isRead || codingProblem !== undefined) {
        discard(response)
        return codingProblem ?? { kind: 'response', status, headers }
      }
      const missing = stream === null ? problemOfMissingBody(status, headers) : undefined
      if (missing !== undefined) return missing
      const body = stream === null ? EMPTY_BODY : await this.#readBody(stream, deadline)
      const bodyProblem = await problemOfBody(body, headers, observer.withStatus(status), maxBodyBytes)
      return bodyProblem ?? { kind: 'response', status, headers, body }
    } catch (error) {
      const reply = replyOf(error, phase, deadline)
      // The error of some fetches only says that the body was "terminated".
      const isUnexplained = phase === 'body' && reply.kind === 'failure' && reply.reason === 'network'
      return (isUnexplained ? truncationOf(observer.exchanges) : undefined) ?? withHintOfThrow(reply, error, phase)
    } finally {
      observer.stop()
    }
  }

  async #fetchResponse(url: string, conditions: RobotsRequest['conditions'], deadline: Deadline): Promise<Response> {
    const { userAgent, httpCaches } = this.#settings
    const fetch = this.#fetch // the platform's fetch must not be called as a method of another object
    const pending = fetch(url, {
      method: 'GET',
      // Asks for an uncoded body: some fetches return the decoded beginning of a truncated coded
      // body as if it were complete.
      headers: {
        'user-agent': userAgent,
        accept: ACCEPT,
        'accept-encoding': 'identity',
        ...BYPASS_CACHES,
        ...CACHE_HEADERS[httpCaches],
        ...conditions,
      },
      redirect: 'manual', // the client follows redirects itself: it counts each hop, and the guard checks it
      credentials: 'omit',
      referrer: '',
      referrerPolicy: 'no-referrer',
      signal: deadline.signal,
    })
    try {
      return await deadline.orBefore(pending)
    } catch (error) {
      pending.then(discard).catch(() => undefined) // a fetch that ignores the signal may still return a response
      throw error
    }
  }

  async #readBody(stream: ReadableStream, deadline: Deadline): Promise<Body> {
    // The signal is passed again, since a fetch may ignore it once the response has begun. It
    // cancels the rest of the body.
    const bytes = Readable.fromWeb(stream, { signal: deadline.signal })
    // A stream that the caller's code made may ignore the signal and never end.
    return deadline.orBefore(readBody(bytes, {}, this.#settings.maxBodyBytes))
  }
}

/**
 * A caller's fetch may throw for a 404, as wrappers of fetch do. It looks like a broken network
 * then. The errors of a network have a `code`, or a cause with one.
 */
function withHintOfThrow(reply: Reply, error: unknown, phase: 'request' | 'body'): Reply {
  if (phase === 'body' || reply.kind !== 'failure' || reply.reason !== 'network' || hasCode(error)) return reply
  return {
    ...reply,
    detail: `${reply.detail}; the fetch threw this itself: it must return responses of every status, or write robotsVia: 'own'`,
  }
}

function hasCode(error: unknown): boolean {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } }
  return code !== undefined || cause?.code !== undefined
}

const EMPTY_BODY: Body = { bytes: '', truncated: false }

/** Returns whether the value that a caller's fetch returned is a Response with an unread body. */
function isReadable(response: unknown): boolean {
  const { status, headers, body } = (response ?? {}) as Partial<Response>
  const isUnread = body === null || (typeof body?.getReader === 'function' && !body.locked)
  return Number.isInteger(status) && typeof headers?.[Symbol.iterator] === 'function' && isUnread
}

/** Returns why a response cannot be the reply to a request for this URL, if so. */
function problemOfHead(response: Response, url: string, observer: RequestObserver): Failure | undefined {
  const { type, status, redirected, url: responseUrl } = response
  if (redirected || observer.wasRedirected(status)) {
    return failure(
      'unusable-transport',
      'the given fetch follows redirects itself; it must support `redirect: "manual"`',
    )
  }
  if (type === 'opaqueredirect' || status === 0) {
    return failure(
      'unusable-transport',
      'the given fetch hides redirects; with `redirect: "manual"` it must return the 3xx response, as the fetch of Node does',
    )
  }
  // A Response that the caller's code made has no URL.
  if (responseUrl !== '' && !isSameUrl(responseUrl, url)) {
    return failure(
      'unusable-transport',
      `the given fetch returned a response from ${withoutCredentials(responseUrl)} to a request for ${url}; it must support \`redirect: "manual"\` and request the URL it is given`,
    )
  }
  return undefined
}

function isSameUrl(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).href.replace(/#.*/, '') === new URL(other).href.replace(/#.*/, '')
}

/**
 * Returns whether bytes are still coded. They are a whole stream, or the beginning of one that is
 * longer than the limit.
 */
type IsCoded = (bytes: Buffer, isBeginning: boolean) => boolean

/**
 * The codings that every fetch of undici and of Node 22 and later decodes, each with a check for
 * bytes that were not decoded.
 */
const DECODED_CODINGS: Readonly<Record<string, IsCoded>> = {
  gzip: isGzip,
  'x-gzip': isGzip,
  deflate: (bytes, isBeginning) =>
    decodes(inflateSync, bytes, isBeginning && constants.Z_SYNC_FLUSH) ||
    decodes(inflateRawSync, bytes, isBeginning && constants.Z_SYNC_FLUSH),
  br: (bytes, isBeginning) => decodes(brotliDecompressSync, bytes, isBeginning && constants.BROTLI_OPERATION_FLUSH),
}

/**
 * Fewer than with the other transports: a fetch does not limit what its first decoder passes to the
 * second one, and its decoders continue after the request was aborted.
 */
const MAX_CODINGS = 1

/**
 * Returns why some fetches would not decode a body with these headers, if so. The fetches of Node
 * return the bytes as received if they do not know one member of the list, which includes
 * `identity` and an empty member. So a list is not accepted. No fetch decodes a transfer coding.
 */
function problemOfCodings(headers: ReplyHeaders): Failure | undefined {
  const content = String(headers['content-encoding'] ?? '')
  const transfer = String(headers['transfer-encoding'] ?? '')
  const codings = codingsOf(content)
  if (codings.length > MAX_CODINGS || codings.includes('zstd')) {
    return failure('undecodable', `not every fetch decodes Content-Encoding ${JSON.stringify(content)}`)
  }
  if (!['', 'identity', 'chunked'].includes(transfer.trim().toLowerCase())) {
    return failure('undecodable', `no fetch decodes Transfer-Encoding ${JSON.stringify(transfer)}`)
  }
  return undefined
}

/** Returns all members of the list, known or unknown; an empty list if the body is not coded. */
function codingsOf(contentEncoding: string): readonly string[] {
  const codings = contentEncoding.split(',').map((coding) => coding.trim().toLowerCase())
  return codings.length === 1 && (codings[0] === '' || codings[0] === 'identity') ? [] : codings
}

/**
 * Returns why a Response without a stream does not have an empty body, if so. A fetch drops the
 * body of a 205 (WHATWG Fetch), so only a Content-Length of 0 shows that it was empty.
 */
function problemOfMissingBody(status: number, headers: ReplyHeaders): Failure | undefined {
  const length = headers['content-length']
  if (length === '0' || (length === undefined && status !== 205)) return undefined
  const framing = length === undefined ? 'no Content-Length' : `Content-Length ${length}`
  return failure('unusable-transport', `the given fetch returned no body with status ${status} and ${framing}`)
}

/** Returns why a body that was read to its end or to the limit cannot be used, if so. */
async function problemOfBody(
  { bytes, truncated: isAtLimit }: Body,
  headers: ReplyHeaders,
  exchanges: readonly Exchange[],
  maxBodyBytes: number,
): Promise<Failure | undefined> {
  const codings = codingsOf(String(headers['content-encoding'] ?? ''))
  if (!isAtLimit) {
    const truncation = truncationOf(exchanges)
    if (truncation !== undefined) return truncation
    const length = Number(headers['content-length'] ?? 0)
    if (codings.length === 0 && bytes.length < length) {
      return failure('truncated', `${bytes.length} bytes of a body with Content-Length ${length}`)
    }
    if (bytes.length === 0 && exchanges.some(hasText)) return DROPPED_BODY
    const coded = exchanges.find((exchange) => isEnded(exchange) && isCoded(exchange.headers))
    const problem = coded && (await problemOfCoding(coded, maxBodyBytes))
    if (problem !== undefined) return problem
  }
  const [coding] = codings // `problemOfCodings` accepts one
  if (coding === undefined) return undefined
  const isStillCoded = Object.hasOwn(DECODED_CODINGS, coding)
    ? DECODED_CODINGS[coding]?.(Buffer.from(bytes, 'latin1'), isAtLimit)
    : !isText(bytes) // no fetch decodes an unknown coding, such as `utf-8`
  return isStillCoded
    ? failure(
        'undecodable',
        `the given fetch returned Content-Encoding ${JSON.stringify(coding)} and a body that is still coded`,
      )
    : undefined
}

/** Returns whether the site sent a body that is longer than a byte order mark. */
function hasText(exchange: Exchange): boolean {
  return isEnded(exchange) && !isCoded(exchange.headers) && exchange.size > 3
}

/**
 * Returns whether the site ended the body. A body whose end was not seen counts as ended: the fetch
 * took it for complete, and the pages that it fetches are taken as they are too.
 */
function isEnded({ end }: Exchange): boolean {
  return end === 'complete' || end === 'unseen'
}

const DROPPED_BODY = failure(
  'unusable-transport',
  'the given fetch did not return the body that was received; remove interceptors that drop it, such as `interceptors.dump()`',
)

/** Detects gzip by its magic number, which no text begins with. RFC 1952 §2.3.1. */
function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

/** How many bytes are decoded to detect a coding. */
const MAX_OUTPUT_BYTES = 2 ** 22

/**
 * Returns whether all the bytes are one stream of a coding. Only a very short text could be one by
 * chance.
 * @param finishFlush The flush value that makes the decoder accept the beginning of a stream;
 * `false` for a whole stream.
 */
function decodes(
  decode: (bytes: InputType, options: ZlibOptions) => unknown,
  bytes: Buffer,
  finishFlush: number | false,
): boolean {
  const options = { info: true, maxOutputLength: MAX_OUTPUT_BYTES, ...(finishFlush !== false && { finishFlush }) }
  try {
    const { engine } = decode(bytes, options) as { readonly engine: { readonly bytesWritten: number } }
    return engine.bytesWritten === bytes.length
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
  }
}

/** Cancels a body that is not needed. An error of the cancellation does not matter. */
function discard({ body }: Response): void {
  body?.cancel().catch(() => undefined)
}
