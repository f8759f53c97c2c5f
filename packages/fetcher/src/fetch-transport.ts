// Robots.txt by the caller's own fetch: of the platform, of undici, or one that signs requests. It decodes the body itself.
import { Readable } from 'node:stream'
import {
  brotliDecompressSync,
  constants,
  type InputType,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
} from 'node:zlib'
import type { Body, Failure, Reply, Headers as ReplyHeaders } from '@politely/core'
import { isCoded, readBody } from './body.ts'
import type { Deadline } from './deadline.ts'
import { answerIn, failureOf, truncated } from './failure.ts'
import { cutIn, type Exchange, problemOfCoding, RequestWatch } from './request-watch.ts'
import {
  ACCEPT,
  isBodyWanted,
  PAST_CACHES,
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
    const watch = new RequestWatch(url, maxBodyBytes)
    let phase: 'request' | 'body' = 'request'
    try {
      const response = await this.#ask(url, conditions, deadline)
      phase = 'body'
      const { status, body } = response
      const isRead = body !== null && isBodyWanted(status, policy)
      const problem =
        problemOfHead(response, url, watch) ?? (isRead ? problemOfCodings(headersOf(response)) : undefined)
      if (problem !== undefined || !isRead) {
        discard(response)
        return problem ?? { kind: 'response', status, headers: headersOf(response) }
      }
      // With the signal, since a fetch may have forgotten it by now. Cancels what is not read.
      const bytes = Readable.fromWeb(body, { signal: deadline.signal })
      // A body of the caller's own making may neither end nor heed the signal.
      const read = await deadline.orBefore(readBody(bytes, {}, maxBodyBytes))
      const headers = headersOf(response)
      return (
        (await problemOfBody(read, headers, watch.answeredWith(status), maxBodyBytes)) ?? {
          kind: 'response',
          status,
          headers,
          body: read,
        }
      )
    } catch (error) {
      const answered = phase === 'request' ? answerIn(error) : undefined
      if (answered !== undefined) return answered
      const failure = failureOf(error, phase, deadline)
      // Some fetches say no more of a body than that it is "terminated".
      return (failure.reason === 'network' && phase === 'body' ? cutIn(watch.exchanges) : undefined) ?? failure
    } finally {
      watch.stop()
    }
  }

  async #ask(url: string, conditions: RobotsRequest['conditions'], deadline: Deadline): Promise<Response> {
    const { userAgent } = this.#settings
    const fetch = this.#fetch // a platform's own must not be called as a method of ours
    const asked = fetch(url, {
      method: 'GET',
      // Not coded: some fetches hand out what they could decode of a coding that ends early.
      headers: {
        'user-agent': userAgent,
        accept: ACCEPT,
        'accept-encoding': 'identity',
        ...PAST_CACHES,
        ...conditions,
      },
      redirect: 'manual', // redirects are ours: each hop is counted, and looked at by the guard
      credentials: 'omit',
      referrer: '',
      referrerPolicy: 'no-referrer',
      signal: deadline.signal,
    })
    try {
      return await deadline.orBefore(asked)
    } catch (error) {
      asked.then(discard, () => undefined) // a fetch that does not heed the signal may answer yet
      throw error
    }
  }
}

/** Why a response does not answer the request that was made. */
function problemOfHead(response: Response, url: string, watch: RequestWatch): Failure | undefined {
  const { type, status, redirected, url: answered } = response
  if (redirected || watch.wasRedirected(status)) {
    return malformed('the fetch that was given follows redirects itself; it must heed `redirect: "manual"`')
  }
  if (type === 'opaqueredirect' || status === 0) {
    return malformed(
      'the fetch that was given hides redirects; it must answer `redirect: "manual"` with the 3xx itself, as that of Node does',
    )
  }
  // A Response that the caller has made has no URL.
  if (answered !== '' && !isSameUrl(answered, url)) {
    return malformed(
      `the fetch that was given answers for ${answered}, and was asked for ${url}; it must heed \`redirect: "manual"\` and ask for the URL it is given`,
    )
  }
  return undefined
}

function isSameUrl(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).href.replace(/#.*/, '') === new URL(other).href.replace(/#.*/, '')
}

/** Tells whether bytes are still coded: all of a stream, or the beginning of one that is longer than the limit. */
type Test = (bytes: Buffer, isBeginning: boolean) => boolean

/** The codings that every fetch decodes, of Node 22 and later and of undici. */
const STILL_CODED: Readonly<Record<string, Test>> = {
  gzip: isGzip,
  'x-gzip': isGzip,
  deflate: (bytes, isBeginning) =>
    decodes(inflateSync, bytes, isBeginning && constants.Z_SYNC_FLUSH) ||
    decodes(inflateRawSync, bytes, isBeginning && constants.Z_SYNC_FLUSH),
  br: (bytes, isBeginning) => decodes(brotliDecompressSync, bytes, isBeginning && constants.BROTLI_OPERATION_FLUSH),
}

/** As many as the other transports decode. */
const MAX_CODINGS = 2

/**
 * Why not every fetch decodes a body with these headers. The fetches of Node hand out the bytes as they were received where one
 * member of the list is unknown to them, be it `identity` or empty, and none decodes a transfer coding.
 */
function problemOfCodings(headers: ReplyHeaders): Failure | undefined {
  const content = String(headers['content-encoding'] ?? '')
  const transfer = String(headers['transfer-encoding'] ?? '')
  const codings = codingsOf(content)
  if (codings.length > MAX_CODINGS || codings.some((coding) => !Object.hasOwn(STILL_CODED, coding))) {
    return undecodable(`no fetch is sure to decode Content-Encoding ${JSON.stringify(content)}`)
  }
  if (!['', 'identity', 'chunked'].includes(transfer.trim().toLowerCase())) {
    return undecodable(`no fetch decodes Transfer-Encoding ${JSON.stringify(transfer)}`)
  }
  return undefined
}

/** All members of the list, known or not; empty where nothing has to be decoded. */
function codingsOf(contentEncoding: string): readonly string[] {
  const codings = contentEncoding.split(',').map((coding) => coding.trim().toLowerCase())
  return codings.length === 1 && (codings[0] === '' || codings[0] === 'identity') ? [] : codings
}

/** Why a body that was read to its end, or to the limit, cannot be used. */
async function problemOfBody(
  { bytes, truncated: isAtLimit }: Body,
  headers: ReplyHeaders,
  exchanges: readonly Exchange[],
  maxBodyBytes: number,
): Promise<Failure | undefined> {
  const codings = codingsOf(String(headers['content-encoding'] ?? ''))
  if (!isAtLimit) {
    const cut = cutIn(exchanges)
    if (cut !== undefined) return cut
    const length = Number(headers['content-length'] ?? 0)
    if (codings.length === 0 && bytes.length < length) {
      return truncated(`${bytes.length} bytes of a body with Content-Length ${length}`)
    }
    if (bytes.length === 0 && exchanges.some(hasText)) return malformed(NO_BODY)
    const coded = exchanges.find((exchange) => exchange.end === 'whole' && isCoded(exchange.headers))
    const problem = coded && (await problemOfCoding(coded, maxBodyBytes))
    if (problem !== undefined) return problem
  }
  const received = Buffer.from(bytes, 'latin1')
  const coding = codings.find((name) => STILL_CODED[name]?.(received, isAtLimit))
  return coding === undefined
    ? undefined
    : undecodable(
        `the fetch that was given says Content-Encoding ${JSON.stringify(coding)} and hands out the coded bytes`,
      )
}

/** Whether the site sent more than a byte order mark. */
function hasText({ end, headers, size }: Exchange): boolean {
  return end === 'whole' && !isCoded(headers) && size > 3
}

const NO_BODY =
  'the fetch that was given does not hand out the body that was received; leave out interceptors that drop it, such as `interceptors.dump()`'

/** By its magic number, which begins no text. RFC 1952 §2.3.1. */
function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

/** As much as is decoded to see that bytes are a stream of a coding. */
const MAX_OUTPUT_BYTES = 2 ** 22

/**
 * Whether all of the bytes are one stream of a coding. A text that is one by chance would have to be very short.
 * @param finishFlush For the beginning of a stream: the flush that takes it for one.
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

function malformed(detail: string): Failure {
  return { kind: 'failure', reason: 'malformed', detail }
}

function undecodable(detail: string): Failure {
  return { kind: 'failure', reason: 'undecodable', detail }
}

function headersOf({ headers }: Response): ReplyHeaders {
  return Object.fromEntries(headers)
}

/** Nobody is there to hear that what is not wanted could not be given back either. */
function discard({ body }: Response): void {
  body?.cancel().catch(() => undefined)
}
