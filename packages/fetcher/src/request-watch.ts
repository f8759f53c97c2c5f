// Watches the requests that the caller's dispatcher or fetch makes, through the diagnostics channels of undici and node:http2.
//
// undici reports some bodies that were cut as complete. Over HTTP/2 it takes RST_STREAM with NO_ERROR or CANCEL for the end of the
// body; over HTTP/1.1 it takes a TCP reset for the end of a body that lasts as long as its connection. Neither the handler of a
// dispatcher nor a Response shows the difference; these channels do. A fetch also decodes what it can of a content coding that ends
// early; the channels have the bytes as they were received.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { type Failure, type Headers, headerOf } from '@politely/core'
import { isCoded, readBody } from './body.ts'
import { endsWithConnection, isEndReceived, problemOfConnection } from './body-end.ts'
import { truncated } from './failure.ts'

/** One request on the wire, and how its response ended. */
export interface Exchange {
  /** Undefined until there is a response. */
  status?: number
  /** Those that say how the body is framed and coded. */
  headers: Headers
  end: 'open' | 'whole' | { readonly cut: string }
  /** The bytes of a coded body as they were received, until they pass the limit. */
  chunks: Buffer[]
  /** How many bytes of the body were received. undici 6 does not report them. */
  size: number
}

/** Sees every request for its URL in this process, from its making until `stop`. */
export class RequestWatch {
  readonly exchanges: Exchange[] = []
  /** How many bytes of a body are kept: decoded, more than the limit of robots.txt. */
  readonly maxBytes: number
  readonly #key: string
  /** Those that began before this watch. */
  readonly #joined = new Set<Exchange>()

  constructor(url: string, maxBodyBytes: number) {
    this.#key = keyOf(url)
    this.maxBytes = 2 * maxBodyBytes
    if (watches.size === 0) for (const [channel, listener] of LISTENERS) subscribe(channel, listener)
    const others = watches.get(this.#key)
    if (others === undefined) watches.set(this.#key, new Set([this]))
    else {
      // An interceptor may answer this request with the response to another one that is under way.
      const open = [...others].flatMap(({ exchanges }) => exchanges.filter(({ end }) => end === 'open'))
      for (const exchange of new Set(open)) this.#joined.add(exchange)
      this.exchanges.push(...this.#joined)
      others.add(this)
    }
  }

  stop(): void {
    const all = watches.get(this.#key)
    if (all?.delete(this) && all.size === 0) watches.delete(this.#key)
    if (watches.size === 0) for (const [channel, listener] of LISTENERS) unsubscribe(channel, listener)
  }

  /** The requests that were answered with this status; those before a retry were not. */
  answeredWith(status: number): readonly Exchange[] {
    const isOther = (exchange: Exchange) => exchange.end === 'open' && this.#joined.has(exchange)
    return this.exchanges.filter((exchange) => exchange.status === status && !isOther(exchange))
  }

  /** Whether the URL answered with a redirect and the caller's transport gave another answer: it followed the redirect itself. */
  wasRedirected(status: number): boolean {
    return !isRedirect(status) && this.exchanges.some((exchange) => isRedirect(exchange.status))
  }
}

/** The failure where the body of any of these was cut. */
export function cutIn(exchanges: readonly Exchange[]): Failure | undefined {
  for (const { end } of exchanges) if (typeof end === 'object') return truncated(end.cut)
  return undefined
}

/** Decodes again what a caller's transport decoded: some decoders take a coding that ends early for a whole one. */
export async function problemOfCoding(exchange: Exchange, maxBodyBytes: number): Promise<Failure | undefined> {
  const { headers, chunks, size } = exchange
  if (size === 0 && headerOf(headers, 'content-length') !== '0') {
    return undecodable('undici 6, which is in Node 22, and node:http2 do not show whether a coded body is whole')
  }
  try {
    await readBody(Readable.from(chunks), headers, maxBodyBytes)
    return undefined
  } catch (error) {
    return undecodable((error as Error).message)
  }
}

function undecodable(detail: string): Failure {
  return { kind: 'failure', reason: 'undecodable', detail }
}

const watches = new Map<string, Set<RequestWatch>>()

/** Scheme, host, port and path: what a proxy, a DNS interceptor and HTTP/2 leave as it is. */
function keyOf(url: string): string {
  const { protocol, host, pathname, search } = new URL(url)
  return `${protocol}//${host}${pathname}${search}`
}

function isRedirect(status: number | undefined): boolean {
  return status !== undefined && status >= 300 && status <= 399 && status !== 304
}

/** undici's Request, as much of it as its documentation and all of its versions since 6 have. */
interface UndiciRequest {
  readonly origin: string | URL
  readonly path: string
  readonly method: string
  readonly host?: string | null
}

/** What is known of a request of undici; `socket` of one over HTTP/1.1, `stream` of one over HTTP/2. */
interface Sent {
  readonly exchange: Exchange
  readonly watches: readonly RequestWatch[]
  readonly socket?: Socket
  stream?: ClientHttp2Stream
}

const sent = new WeakMap<object, Sent>()
/** The request over HTTP/2 whose stream undici is about to open, in the same call. */
let opening: Sent | undefined
/** Streams over HTTP/2 that are not made by undici, or by undici 6, which does not report them. */
const foreign = new WeakMap<ClientHttp2Stream, Exchange>()
const cutStreams = new WeakSet<ClientHttp2Stream>()

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
  const matching = watchesOf(request)
  if (matching.length === 0) return
  const exchange = newExchange(matching)
  const isHttp1 = /^GET \S+ HTTP\/1\.1\r\n/.test(headers)
  const entry: Sent = { exchange, watches: matching, ...(isHttp1 && { socket }) }
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
  const url = `${scheme}://${authority}${path}`
  const matching = method === 'GET' && URL.canParse(url) ? [...(watches.get(keyOf(url)) ?? [])] : []
  if (matching.length > 0) foreign.set(stream, newExchange(matching))
}

function onStreamHeaders({ stream, headers }: { stream: ClientHttp2Stream; headers: Record<string, unknown> }): void {
  const exchange = foreign.get(stream)
  if (exchange === undefined) return
  exchange.status = Number(headers[':status'])
  exchange.headers = framingOf(headers)
}

function onStreamClose({ stream }: { stream: ClientHttp2Stream }): void {
  // END_STREAM ends the readable side before the stream is closed. Where it has not ended, a RST_STREAM or the end of the session
  // closes the stream, and Node ends the readable side only after this.
  const isWhole = isEndReceived(stream)
  if (!isWhole) cutStreams.add(stream)
  const exchange = foreign.get(stream)
  if (exchange?.end === 'open') exchange.end = isWhole ? 'whole' : { cut: STREAM_CUT }
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
  const { exchange, watches } = entry
  exchange.size += chunk.length
  if (!isCoded(exchange.headers)) return
  // Copied: the memory is undici's, which uses it again.
  if (watches.some(({ maxBytes }) => exchange.size <= maxBytes)) exchange.chunks.push(Buffer.from(chunk))
}

function onEnd({ request }: { request: object }): void {
  const entry = sent.get(request)
  if (entry?.exchange.end === 'open') entry.exchange.end = endOf(entry)
}

function onError({ request, error }: { request: object; error?: Error }): void {
  const entry = sent.get(request)
  if (entry?.exchange.end === 'open') entry.exchange.end = { cut: error?.message ?? 'the request failed' }
}

function endOf({ exchange: { status = 0, headers }, socket, stream }: Sent): Exchange['end'] {
  if (socket === undefined) return stream !== undefined && !cutStreams.has(stream) ? 'whole' : { cut: STREAM_CUT }
  const problem = problemOfConnection(socket)
  if (endsWithConnection(status, headers)) return problem === undefined ? 'whole' : { cut: problem }
  // undici 6 takes the end of the connection for the end of chunks too.
  const isOver = socket.errored !== null || socket.readableEnded
  return isOver && headers['content-length'] === undefined
    ? { cut: 'the connection ended before the last chunk' }
    : 'whole'
}

const STREAM_CUT = 'the HTTP/2 stream ended without END_STREAM'

function newExchange(matching: readonly RequestWatch[]): Exchange {
  const exchange: Exchange = { headers: {}, end: 'open', chunks: [], size: 0 }
  for (const watch of matching) watch.exchanges.push(exchange)
  return exchange
}

function watchesOf({ origin, path, host }: UndiciRequest): readonly RequestWatch[] {
  // To a proxy the path is the whole URL.
  const server = new URL(origin)
  const url = path.startsWith('/') ? `${server.protocol}//${host ?? server.host}${path}` : path
  return [...(watches.get(keyOf(url)) ?? [])]
}

const FRAMING = ['content-length', 'transfer-encoding', 'content-encoding']

/** undici reports pairs of Buffers, or for HTTP/2 an object. */
function framingOf(headers: unknown): Headers {
  const found: Record<string, string> = {}
  const pairs = Array.isArray(headers)
    ? headers.flatMap((name, i) => (i % 2 === 0 ? [[String(name).toLowerCase(), String(headers[i + 1])] as const] : []))
    : Object.entries(headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)] as const)
  for (const [name, value] of pairs) {
    if (FRAMING.includes(name)) found[name] = found[name] === undefined ? value : `${found[name]}, ${value}`
  }
  return found
}

const LISTENERS = Object.entries({
  'undici:client:sendHeaders': onSendHeaders,
  'undici:request:headers': onHeaders,
  'undici:request:bodyChunkReceived': onChunk,
  'undici:request:trailers': onEnd,
  'undici:request:error': onError,
  'http2.client.stream.created': onStreamCreated,
  'http2.client.stream.finish': onStreamHeaders, // as it has received them
  'http2.client.stream.close': onStreamClose,
}) as unknown as readonly (readonly [channel: string, listener: (message: unknown) => void])[]
