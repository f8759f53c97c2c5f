// Observes the requests of the caller's dispatcher or fetch, through the diagnostics channels of
// undici and node:http2.
//
// undici reports some truncated bodies as complete. Over HTTP/2 it treats RST_STREAM with NO_ERROR
// or CANCEL as the end of the body. Over HTTP/1.1, in a body that ends with its connection, it
// treats a TCP reset as the end. The handler of a dispatcher and a Response look the same in both
// cases; these channels show the difference. A fetch also decodes the beginning of a truncated
// coded body; the channels report the bytes as received.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { Headers } from '@politely/core/engine'
import { type Failure, headerOf } from '@politely/core/internal'
import { BodyBuffer } from '../base/byte-buffer.ts'
import { readBody } from './body.ts'
import { isEndReceived } from './body-end.ts'
import { failure } from './failure.ts'
import { endsWithConnection, framingOf, isCoded, problemOfConnection, UNSEEN_END } from './framing.ts'

/** One request that was sent, and how its response ended. */
export interface ObservedRequest {
  /** Undefined until the response begins. */
  status?: number
  /** Only the headers about the framing and coding of the body. */
  headers: Headers
  /** `unseen`: nothing shows whether the body is complete (`UNSEEN_END`). */
  end: 'open' | 'complete' | 'unseen' | { readonly truncation: string }
  /** The bytes of a coded body as received, up to the largest limit of the observers. */
  readonly coded: BodyBuffer
  /** The number of body bytes received. 0 with undici 6, which does not report them. */
  size: number
}

/** Observes every request for one URL in this process, from its construction until `stop`. */
export class RequestObserver {
  readonly exchanges: ObservedRequest[] = []
  readonly #maxBodyBytes: number
  readonly #key: string
  /** The exchanges that began before this observer. */
  readonly #earlier = new Set<ObservedRequest>()

  constructor(url: string, maxBodyBytes: number) {
    this.#key = keyOf(new URL(url))
    this.#maxBodyBytes = maxBodyBytes
    if (observersByKey.size === 0) for (const [channel, listener] of LISTENERS) subscribe(channel, listener)
    const others = observersByKey.get(this.#key)
    if (others === undefined) observersByKey.set(this.#key, new Set([this]))
    else {
      // An interceptor may serve this request from the response to another one that is under way.
      const open = [...others].flatMap(({ exchanges }) => exchanges.filter(({ end }) => end === 'open'))
      for (const exchange of new Set(open)) this.#earlier.add(exchange)
      this.exchanges.push(...this.#earlier)
      others.add(this)
    }
  }

  stop(): void {
    const all = observersByKey.get(this.#key)
    if (all?.delete(this) && all.size === 0) observersByKey.delete(this.#key)
    if (observersByKey.size === 0) for (const [channel, listener] of LISTENERS) unsubscribe(channel, listener)
  }

  /**
   * Returns the exchanges whose response had this status. This excludes exchanges that an
   * interceptor retried.
   */
  withStatus(status: number): readonly ObservedRequest[] {
    const isOther = (exchange: ObservedRequest) => exchange.end === 'open' && this.#earlier.has(exchange)
    return this.exchanges.filter((exchange) => exchange.status === status && !isOther(exchange))
  }

  /**
   * How many bytes of a coded body are kept. Decoded, these are more than the size limit of
   * robots.txt.
   */
  get maxCodedBytes(): number {
    return 2 * this.#maxBodyBytes
  }

  /**
   * Returns whether the site sent a redirect, but the caller's transport returned another status:
   * it followed the redirect itself.
   */
  wasRedirected(status: number): boolean {
    return !isRedirect(status) && this.exchanges.some((exchange) => isRedirect(exchange.status))
  }

  /**
   * Decodes a coded body again. The caller's transport decoded it already, but some decoders accept
   * a truncated stream.
   */
  async problemOfCoding({ headers, coded, size }: ObservedRequest): Promise<Failure | undefined> {
    if (size === 0 && headerOf(headers, 'content-length') !== '0') {
      return failure(
        'undecodable',
        'undici 6, which is in Node 22, and node:http2 do not report whether a coded body is complete',
      )
    }
    try {
      const { truncated } = await readBody(Readable.from([coded.bytes]), headers, this.#maxBodyBytes)
      // The kept bytes can end between two members of gzip. Then nothing shows whether the rest is
      // complete.
      const isUnknown = !truncated && size > coded.size
      return isUnknown ? failure('too-large', `the coded body is longer than ${coded.size} bytes`) : undefined
    } catch (error) {
      return failure('undecodable', (error as Error).message)
    }
  }
}

/** Returns the failure if the body of any of these exchanges was truncated. */
export function truncationOf(exchanges: readonly ObservedRequest[]): Failure | undefined {
  for (const { end } of exchanges) if (typeof end === 'object') return failure('truncated', end.truncation)
  return undefined
}

const observersByKey = new Map<string, Set<RequestObserver>>()

/**
 * Returns scheme, host, port and path: the parts of a URL that a proxy, a DNS interceptor and
 * HTTP/2 do not change.
 */
function keyOf({ protocol, host, pathname, search }: URL): string {
  return `${protocol}//${host}${pathname}${search}`
}

/**
 * Returns the observers of a URL. An invalid URL has none: requests of other code may have any Host
 * header, and an error in a listener of a channel would be uncaught.
 */
function observersOf(url: string): readonly RequestObserver[] {
  const parsed = URL.parse(url)
  return parsed === null ? [] : [...(observersByKey.get(keyOf(parsed)) ?? [])]
}

function isRedirect(status: number | undefined): boolean {
  return status !== undefined && status >= 300 && status <= 399 && status !== 304
}

/** undici's Request: the properties that it documents and that all versions since 6 have. */
interface UndiciRequest {
  readonly origin: string | URL
  readonly path: string
  readonly method: string
  readonly host?: string | null
}

/**
 * A request that undici has sent: over HTTP/1.1 with its `socket`, over HTTP/2 with its `stream`.
 */
interface Sent {
  readonly exchange: ObservedRequest
  readonly socket?: Socket
  stream?: ClientHttp2Stream
}

const sent = new WeakMap<object, Sent>()
/** The request over HTTP/2 whose stream undici is about to open, in the same call. */
let opening: Sent | undefined
/** HTTP/2 streams of other libraries, and of undici 6, which does not report its streams. */
const unreported = new WeakMap<ClientHttp2Stream, ObservedRequest>()
const truncatedStreams = new WeakSet<ClientHttp2Stream>()

function onSendHeaders({
  request,
  headers,
  socket,
}: {
  request: UndiciRequest
  headers: string
  socket: Socket
}): void {
  opening = undefined
  if (request.method !== 'GET') return
  const matching = observersOf(urlOf(request))
  if (matching.length === 0) return
  const exchange = newExchange(matching)
  const isHttp1 = /^GET \S+ HTTP\/1\.1\r\n/.test(headers)
  const entry: Sent = { exchange, ...(isHttp1 && { socket }) }
  sent.set(request, entry)
  if (isHttp1) return
  opening = entry
  queueMicrotask(() => {
    if (opening === entry) opening = undefined
  })
}

function onStreamCreated({ stream }: { stream: ClientHttp2Stream }): void {
  if (opening !== undefined) {
    opening.stream = stream
    opening = undefined
    return
  }
  const sentHeaders = stream.sentHeaders ?? {}
  const { ':authority': authority, ':path': path, ':method': method = 'GET', ':scheme': scheme } = sentHeaders
  const matching = method === 'GET' ? observersOf(`${scheme}://${authority}${path}`) : []
  if (matching.length > 0) unreported.set(stream, newExchange(matching))
}

function onStreamHeaders({ stream, headers }: { stream: ClientHttp2Stream; headers: Record<string, unknown> }): void {
  const exchange = unreported.get(stream)
  if (exchange === undefined) return
  exchange.status = Number(headers[':status'])
  exchange.headers = framingOf(headers)
}

function onStreamClose({ stream }: { stream: ClientHttp2Stream }): void {
  // END_STREAM ends the readable side before the stream closes. After a RST_STREAM or the end of
  // the session, Node ends the readable side only after this event.
  const isComplete = isEndReceived(stream)
  if (!isComplete) truncatedStreams.add(stream)
  const exchange = unreported.get(stream)
  if (exchange?.end === 'open') exchange.end = isComplete ? 'complete' : { truncation: STREAM_TRUNCATED }
}

function onHeaders({
  request,
  response,
}: {
  request: object
  response: { statusCode: number; headers: unknown }
}): void {
  const entry = sent.get(request)
  if (entry === undefined) return
  entry.exchange.status = response.statusCode
  entry.exchange.headers = framingOf(response.headers)
}

function onChunk({ request, chunk }: { request: object; chunk: Buffer }): void {
  const entry = sent.get(request)
  if (entry === undefined) return
  const { exchange } = entry
  exchange.size += chunk.length
  if (isCoded(exchange.headers)) exchange.coded.add(chunk)
}

function onEnd({ request }: { request: object }): void {
  const entry = sent.get(request)
  if (entry?.exchange.end === 'open') entry.exchange.end = endOf(entry)
}

function onError({ request, error }: { request: object; error?: Error }): void {
  const entry = sent.get(request)
  if (entry?.exchange.end === 'open') entry.exchange.end = { truncation: error?.message ?? 'the request failed' }
}

function endOf({ exchange: { status = 0, headers }, socket, stream }: Sent): ObservedRequest['end'] {
  if (socket === undefined) {
    return stream !== undefined && !truncatedStreams.has(stream) ? 'complete' : { truncation: STREAM_TRUNCATED }
  }
  const problem = problemOfConnection(socket)
  if (endsWithConnection(status, headers)) {
    if (problem === UNSEEN_END) return 'unseen'
    return problem === undefined ? 'complete' : { truncation: problem }
  }
  // undici 6 also treats the end of the connection as the end of a chunked body.
  const isConnectionOver = socket.errored !== null || socket.readableEnded
  return isConnectionOver && headers['content-length'] === undefined
    ? { truncation: 'the connection ended before the last chunk' }
    : 'complete'
}

const STREAM_TRUNCATED = 'the HTTP/2 stream ended without END_STREAM'

function newExchange(matching: readonly RequestObserver[]): ObservedRequest {
  const coded = new BodyBuffer(Math.max(...matching.map(({ maxCodedBytes }) => maxCodedBytes)))
  const exchange: ObservedRequest = { headers: {}, end: 'open', coded, size: 0 }
  for (const observer of matching) observer.exchanges.push(exchange)
  return exchange
}

/** Returns the URL of a request. It is invalid if its Host header or its origin is. */
function urlOf({ origin, path, host }: UndiciRequest): string {
  if (!path.startsWith('/')) return path // in a request to a proxy, the path is the whole URL
  const server = URL.parse(String(origin))
  return `${server?.protocol}//${host ?? server?.host}${path}`
}

const LISTENERS = Object.entries({
  'undici:client:sendHeaders': onSendHeaders,
  'undici:request:headers': onHeaders,
  'undici:request:bodyChunkReceived': onChunk,
  'undici:request:trailers': onEnd,
  'undici:request:error': onError,
  'http2.client.stream.created': onStreamCreated,
  'http2.client.stream.finish': onStreamHeaders, // emitted when the headers are received
  'http2.client.stream.close': onStreamClose,
}) as unknown as readonly (readonly [channel: string, listener: (message: unknown) => void])[]
