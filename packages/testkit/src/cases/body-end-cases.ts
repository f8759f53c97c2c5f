// The ways in which a response's body can end over each protocol, complete or truncated, and the
// result with each transport.
import { constants } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import {
  END_HEADERS,
  END_STREAM,
  field,
  frame,
  type RespondWithFrames,
  STATUS_200,
  words,
} from '../servers/frame-server.ts'
import { disallowsPage } from './response-cases.ts'

/** `complete`: the rules apply. Any other word is the reason why robots.txt is unreachable. */
export type BodyEnd = 'complete' | 'truncated' | 'undecodable'

interface Row {
  readonly name: string
  readonly expected: BodyEnd
  /** The result with the caller's transport, if it differs: there the client can observe less. */
  readonly expectedOfCallers?: BodyEnd
  /** The result with the caller's fetch, if it differs from that: it is trusted where nothing shows the end. */
  readonly expectedOfFetch?: BodyEnd
}

export type BodyEndCase = Row &
  (
    | { readonly over: 'HTTP/1.1'; readonly behave: (socket: Socket) => void }
    /** `socket` is the TCP connection under TLS. Ending it sends no close_notify. */
    | { readonly over: 'HTTP/1.1 and TLS'; readonly behave: (tls: TLSSocket, socket: Socket) => void }
    | { readonly over: 'HTTP/2'; readonly behave: RespondWithFrames }
  )

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`
const LAST_CHUNK = '0\r\n\r\n'
const chunk = (bytes: string) => `${bytes.length.toString(16)}\r\n${bytes}\r\n`
const sized = (length: number) => `${OK}Content-Length: ${length}\r\n\r\n`
const unsized = `${OK}\r\n`
const gzipped = gzipSync(disallowsPage).toString('latin1')
const gzip = (head: string) => head.replace(OK, `${OK}Content-Encoding: gzip\r\n`)
const length = disallowsPage.length

type ConnectionEnd = 'FIN' | 'RST' | 'nothing'

/** Sends the bytes (latin1), and then ends the connection in this way. */
function sends(bytes: string, end: ConnectionEnd): (socket: Socket) => void {
  return (socket) => {
    socket.write(Buffer.from(bytes, 'latin1'), () => {
      if (end === 'FIN') socket.end()
      if (end === 'RST') socket.resetAndDestroy()
    })
  }
}

const overTcp: readonly (readonly [name: string, bytes: string, end: ConnectionEnd, expected: BodyEnd])[] = [
  ['as long as its Content-Length', sized(length) + disallowsPage, 'nothing', 'complete'],
  ['shorter than its Content-Length, then FIN', sized(length + 9) + disallowsPage, 'FIN', 'truncated'],
  ['shorter than its Content-Length, then RST', sized(length + 9) + disallowsPage, 'RST', 'truncated'],
  [
    'as long as its Content-Length, followed by more bytes',
    `${sized(length)}${disallowsPage}Allow: /\n`,
    'FIN',
    'complete',
  ],
  ['chunks with the last one', CHUNKED + chunk(disallowsPage) + LAST_CHUNK, 'nothing', 'complete'],
  ['chunks with the last one, then FIN', CHUNKED + chunk(disallowsPage) + LAST_CHUNK, 'FIN', 'complete'],
  ['chunks without the last one, then FIN', CHUNKED + chunk(disallowsPage), 'FIN', 'truncated'],
  ['chunks without the last one, then RST', CHUNKED + chunk(disallowsPage), 'RST', 'truncated'],
  [
    'chunks without the last one, Connection: close, then FIN',
    CHUNKED.replace(OK, `${OK}Connection: close\r\n`) + chunk(disallowsPage),
    'FIN',
    'truncated',
  ],
  [
    'chunks without the last one, Connection: close, then RST',
    CHUNKED.replace(OK, `${OK}Connection: close\r\n`) + chunk(disallowsPage),
    'RST',
    'truncated',
  ],
  ['neither Content-Length nor chunks, then FIN', unsized + disallowsPage, 'FIN', 'complete'],
  ['neither Content-Length nor chunks, then RST', unsized + disallowsPage, 'RST', 'truncated'],
  ['gzip, complete', gzip(sized(gzipped.length)) + gzipped, 'nothing', 'complete'],
  [
    'truncated gzip in a complete message',
    gzip(sized(gzipped.length - 9)) + gzipped.slice(0, -9),
    'nothing',
    'undecodable',
  ],
  [
    'truncated gzip in complete chunks',
    gzip(CHUNKED) + chunk(gzipped.slice(0, -9)) + LAST_CHUNK,
    'nothing',
    'undecodable',
  ],
  [
    'truncated gzip in a truncated message, then FIN',
    gzip(sized(gzipped.length)) + gzipped.slice(0, -9),
    'FIN',
    'truncated',
  ],
  ['gzip, neither Content-Length nor chunks, then FIN', gzip(unsized) + gzipped, 'FIN', 'complete'],
  [
    'truncated gzip, neither Content-Length nor chunks, then RST',
    gzip(unsized) + gzipped.slice(0, -9),
    'RST',
    'truncated',
  ],
]

/** Sends the bytes, and then ends TLS with close_notify, or the TCP connection without it. */
function sendsOverTls(bytes: string, end: 'close_notify' | 'FIN' | 'RST'): (tls: TLSSocket, socket: Socket) => void {
  return (tls, socket) => {
    tls.write(bytes, () => {
      if (end === 'close_notify') tls.end()
      if (end === 'FIN') socket.end()
      if (end === 'RST') socket.resetAndDestroy()
    })
  }
}

const overTls: readonly (readonly [
  name: string,
  bytes: string,
  end: 'close_notify' | 'FIN' | 'RST',
  expected: BodyEnd,
  expectedOfFetch?: BodyEnd,
])[] = [
  ['as long as its Content-Length, then FIN without close_notify', sized(length) + disallowsPage, 'FIN', 'complete'],
  [
    'chunks with the last one, then FIN without close_notify',
    CHUNKED + chunk(disallowsPage) + LAST_CHUNK,
    'FIN',
    'complete',
  ],
  [
    'shorter than its Content-Length, then close_notify',
    sized(length + 9) + disallowsPage,
    'close_notify',
    'truncated',
  ],
  [
    'shorter than its Content-Length, then FIN without close_notify',
    sized(length + 9) + disallowsPage,
    'FIN',
    'truncated',
  ],
  ['chunks without the last one, then FIN without close_notify', CHUNKED + chunk(disallowsPage), 'FIN', 'truncated'],
  [
    'neither Content-Length nor chunks, then FIN without close_notify',
    unsized + disallowsPage,
    'FIN',
    'truncated',
    'complete',
  ],
  ['neither Content-Length nor chunks, then RST', unsized + disallowsPage, 'RST', 'truncated'],
]

const ERROR_CODES = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
] as const

type Frames = (id: number) => readonly Uint8Array[]

const headers = (id: number, ...fields: readonly Uint8Array[]) =>
  frame('headers', END_HEADERS, id, Buffer.concat([STATUS_200, ...fields]))
const data = (id: number, flags = 0, bytes: string = disallowsPage) =>
  frame('data', flags, id, Buffer.from(bytes, 'latin1'))
const reset = (id: number, code: number) => frame('resetStream', 0, id, words(code))
const goAway = (id: number, code: number) => frame('goAway', 0, 0, words(id, code))
const contentLength = (bytes: number) => field('content-length', String(bytes))
const isGzip = field('content-encoding', 'gzip')

const overHttp2: readonly (readonly [name: string, frames: Frames, end: ConnectionEnd, expected: BodyEnd])[] = [
  ['END_STREAM', (id) => [headers(id), data(id, END_STREAM)], 'nothing', 'complete'],
  [
    'END_STREAM in a frame of its own',
    (id) => [headers(id), data(id), data(id, END_STREAM, '')],
    'nothing',
    'complete',
  ],
  [
    'END_STREAM with trailers',
    (id) => [headers(id), data(id), frame('headers', END_HEADERS | END_STREAM, id, field('x', 'y'))],
    'nothing',
    'complete',
  ],
  ['END_STREAM, then RST_STREAM', (id) => [headers(id), data(id, END_STREAM), reset(id, 0)], 'nothing', 'complete'],
  ['GOAWAY, then END_STREAM', (id) => [headers(id), goAway(id, 0), data(id, END_STREAM)], 'nothing', 'complete'],
  ...ERROR_CODES.map(
    (code) =>
      [
        `RST_STREAM without END_STREAM: ${code}`,
        (id: number) => [headers(id), data(id), reset(id, constants[`NGHTTP2_${code}`])],
        'nothing',
        'truncated',
      ] as const,
  ),
  [
    'GOAWAY and RST_STREAM without END_STREAM',
    (id) => [headers(id), data(id), goAway(id, 0), reset(id, 0)],
    'nothing',
    'truncated',
  ],
  ['GOAWAY without END_STREAM, then FIN', (id) => [headers(id), data(id), goAway(id, 0)], 'FIN', 'truncated'],
  ['GOAWAY with an error, without END_STREAM', (id) => [headers(id), data(id), goAway(0, 2)], 'nothing', 'truncated'],
  ['FIN without END_STREAM', (id) => [headers(id), data(id)], 'FIN', 'truncated'],
  ['RST of the connection without END_STREAM', (id) => [headers(id), data(id)], 'RST', 'truncated'],
  [
    'as long as its Content-Length',
    (id) => [headers(id, contentLength(length)), data(id, END_STREAM)],
    'nothing',
    'complete',
  ],
  [
    'as long as its Content-Length, then RST_STREAM without END_STREAM',
    (id) => [headers(id, contentLength(length)), data(id), reset(id, 0)],
    'nothing',
    'truncated',
  ],
  [
    'shorter than its Content-Length',
    (id) => [headers(id, contentLength(length + 9)), data(id, END_STREAM)],
    'nothing',
    'truncated',
  ],
  [
    'shorter than its Content-Length, then RST_STREAM',
    (id) => [headers(id, contentLength(length + 9)), data(id), reset(id, 0)],
    'nothing',
    'truncated',
  ],
  [
    'longer than its Content-Length',
    (id) => [headers(id, contentLength(length - 9)), data(id, END_STREAM)],
    'nothing',
    'truncated',
  ],
  ['gzip, complete', (id) => [headers(id, isGzip), data(id, END_STREAM, gzipped)], 'nothing', 'complete'],
  [
    'truncated gzip, with END_STREAM',
    (id) => [headers(id, isGzip), data(id, END_STREAM, gzipped.slice(0, -9))],
    'nothing',
    'undecodable',
  ],
  [
    'truncated gzip, then RST_STREAM',
    (id) => [headers(id, isGzip), data(id, 0, gzipped.slice(0, -9)), reset(id, 0)],
    'nothing',
    'truncated',
  ],
  [
    'gzip, complete, then RST_STREAM without END_STREAM',
    (id) => [headers(id, isGzip), data(id, 0, gzipped), reset(id, 0)],
    'nothing',
    'truncated',
  ],
]

export const bodyEndCases: readonly BodyEndCase[] = [
  ...overTcp.map(
    ([name, bytes, end, expected]): BodyEndCase => ({ over: 'HTTP/1.1', name, behave: sends(bytes, end), expected }),
  ),
  ...overTls.map(
    ([name, bytes, end, expected, expectedOfFetch = expected]): BodyEndCase => ({
      over: 'HTTP/1.1 and TLS',
      name,
      behave: sendsOverTls(bytes, end),
      expected,
      expectedOfFetch,
    }),
  ),
  {
    over: 'HTTP/1.1 and TLS',
    name: 'neither Content-Length nor chunks, then close_notify',
    behave: sendsOverTls(unsized + disallowsPage, 'close_notify'),
    expected: 'complete',
    expectedOfCallers: 'truncated', // Node does not report the close_notify of its own connections
    expectedOfFetch: 'complete',
  },
  ...overHttp2.map(
    ([name, frames, end, expected]): BodyEndCase => ({
      over: 'HTTP/2',
      name,
      behave: ({ id, tls, socket, whenRead }) => {
        tls.write(Buffer.concat(frames(id)))
        if (end === 'FIN') tls.end()
        if (end === 'RST') whenRead(() => socket.resetAndDestroy())
      },
      expected,
    }),
  ),
]
