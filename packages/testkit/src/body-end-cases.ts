// The ways in which a response's body can end, whole or cut, over each protocol; and what each transport makes of it.
import { constants } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { END_HEADERS, END_STREAM, type FrameBehaviour, field, frame, STATUS_200, words } from './frame-server.ts'
import { forbidsPage } from './response-cases.ts'

/** `whole`: its rules are obeyed; any other word is the reason for which robots.txt is unreachable. */
export type BodyEnd = 'whole' | 'truncated' | 'undecodable'

interface Row {
  readonly name: string
  readonly expected: BodyEnd
  /** Through a caller's transport, where less can be seen. */
  readonly expectedOfOthers?: BodyEnd
}

export type BodyEndRow = Row &
  (
    | { readonly over: 'HTTP/1.1'; readonly behave: (socket: Socket) => void }
    /** `socket` is the TCP connection below TLS: to end that one sends no close_notify. */
    | { readonly over: 'HTTP/1.1 and TLS'; readonly behave: (tls: TLSSocket, socket: Socket) => void }
    | { readonly over: 'HTTP/2'; readonly behave: FrameBehaviour }
  )

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`
const LAST_CHUNK = '0\r\n\r\n'
const chunk = (bytes: string) => `${bytes.length.toString(16)}\r\n${bytes}\r\n`
const sized = (length: number) => `${OK}Content-Length: ${length}\r\n\r\n`
const unsized = `${OK}\r\n`
const gzipped = gzipSync(forbidsPage).toString('latin1')
const gzip = (head: string) => head.replace(OK, `${OK}Content-Encoding: gzip\r\n`)
const length = forbidsPage.length

type How = 'FIN' | 'RST' | 'nothing'

/** Sends the bytes (latin1), and then ends the connection so. */
function sends(bytes: string, how: How): (socket: Socket) => void {
  return (socket) => {
    socket.write(Buffer.from(bytes, 'latin1'), () => {
      if (how === 'FIN') socket.end()
      if (how === 'RST') socket.resetAndDestroy()
    })
  }
}

const overTcp: readonly (readonly [name: string, bytes: string, how: How, expected: BodyEnd])[] = [
  ['as long as its Content-Length', sized(length) + forbidsPage, 'nothing', 'whole'],
  ['shorter than its Content-Length, then FIN', sized(length + 9) + forbidsPage, 'FIN', 'truncated'],
  ['shorter than its Content-Length, then RST', sized(length + 9) + forbidsPage, 'RST', 'truncated'],
  ['longer than its Content-Length, which ends it', `${sized(length)}${forbidsPage}Allow: /\n`, 'FIN', 'whole'],
  ['chunks with the last one', CHUNKED + chunk(forbidsPage) + LAST_CHUNK, 'nothing', 'whole'],
  ['chunks with the last one, then FIN', CHUNKED + chunk(forbidsPage) + LAST_CHUNK, 'FIN', 'whole'],
  ['chunks without the last one, then FIN', CHUNKED + chunk(forbidsPage), 'FIN', 'truncated'],
  ['chunks without the last one, then RST', CHUNKED + chunk(forbidsPage), 'RST', 'truncated'],
  [
    'chunks without the last one, Connection: close, then FIN',
    CHUNKED.replace(OK, `${OK}Connection: close\r\n`) + chunk(forbidsPage),
    'FIN',
    'truncated',
  ],
  [
    'chunks without the last one, Connection: close, then RST',
    CHUNKED.replace(OK, `${OK}Connection: close\r\n`) + chunk(forbidsPage),
    'RST',
    'truncated',
  ],
  ['neither Content-Length nor chunks, then FIN', unsized + forbidsPage, 'FIN', 'whole'],
  ['neither Content-Length nor chunks, then RST', unsized + forbidsPage, 'RST', 'truncated'],
  ['gzip, whole', gzip(sized(gzipped.length)) + gzipped, 'nothing', 'whole'],
  [
    'gzip that ends early in a message that does not',
    gzip(sized(gzipped.length - 9)) + gzipped.slice(0, -9),
    'nothing',
    'undecodable',
  ],
  [
    'gzip that ends early in chunks that do not',
    gzip(CHUNKED) + chunk(gzipped.slice(0, -9)) + LAST_CHUNK,
    'nothing',
    'undecodable',
  ],
  [
    'gzip that ends early with its message, then FIN',
    gzip(sized(gzipped.length)) + gzipped.slice(0, -9),
    'FIN',
    'truncated',
  ],
  ['gzip, neither Content-Length nor chunks, then FIN', gzip(unsized) + gzipped, 'FIN', 'whole'],
  [
    'gzip that ends early, neither Content-Length nor chunks, then RST',
    gzip(unsized) + gzipped.slice(0, -9),
    'RST',
    'truncated',
  ],
]

/** Sends the bytes, and then ends the TLS connection with a close_notify, or the TCP connection without. */
function sendsOverTls(bytes: string, how: 'close_notify' | 'FIN' | 'RST'): (tls: TLSSocket, socket: Socket) => void {
  return (tls, socket) => {
    tls.write(bytes, () => {
      if (how === 'close_notify') tls.end()
      if (how === 'FIN') socket.end()
      if (how === 'RST') socket.resetAndDestroy()
    })
  }
}

const overTls: readonly (readonly [
  name: string,
  bytes: string,
  how: 'close_notify' | 'FIN' | 'RST',
  expected: BodyEnd,
])[] = [
  ['as long as its Content-Length, then FIN without close_notify', sized(length) + forbidsPage, 'FIN', 'whole'],
  [
    'chunks with the last one, then FIN without close_notify',
    CHUNKED + chunk(forbidsPage) + LAST_CHUNK,
    'FIN',
    'whole',
  ],
  ['shorter than its Content-Length, then close_notify', sized(length + 9) + forbidsPage, 'close_notify', 'truncated'],
  [
    'shorter than its Content-Length, then FIN without close_notify',
    sized(length + 9) + forbidsPage,
    'FIN',
    'truncated',
  ],
  ['chunks without the last one, then FIN without close_notify', CHUNKED + chunk(forbidsPage), 'FIN', 'truncated'],
  ['neither Content-Length nor chunks, then FIN without close_notify', unsized + forbidsPage, 'FIN', 'truncated'],
  ['neither Content-Length nor chunks, then RST', unsized + forbidsPage, 'RST', 'truncated'],
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
const data = (id: number, flags = 0, bytes: string = forbidsPage) =>
  frame('data', flags, id, Buffer.from(bytes, 'latin1'))
const reset = (id: number, code: number) => frame('resetStream', 0, id, words(code))
const goAway = (id: number, code: number) => frame('goAway', 0, 0, words(id, code))
const contentLength = (bytes: number) => field('content-length', String(bytes))
const isGzip = field('content-encoding', 'gzip')

const overHttp2: readonly (readonly [name: string, frames: Frames, how: How, expected: BodyEnd])[] = [
  ['END_STREAM', (id) => [headers(id), data(id, END_STREAM)], 'nothing', 'whole'],
  ['END_STREAM in a frame of its own', (id) => [headers(id), data(id), data(id, END_STREAM, '')], 'nothing', 'whole'],
  [
    'END_STREAM with trailers',
    (id) => [headers(id), data(id), frame('headers', END_HEADERS | END_STREAM, id, field('x', 'y'))],
    'nothing',
    'whole',
  ],
  ['END_STREAM, then RST_STREAM', (id) => [headers(id), data(id, END_STREAM), reset(id, 0)], 'nothing', 'whole'],
  ['GOAWAY, then END_STREAM', (id) => [headers(id), goAway(id, 0), data(id, END_STREAM)], 'nothing', 'whole'],
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
    'whole',
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
  ['gzip, whole', (id) => [headers(id, isGzip), data(id, END_STREAM, gzipped)], 'nothing', 'whole'],
  [
    'gzip that ends early, with END_STREAM',
    (id) => [headers(id, isGzip), data(id, END_STREAM, gzipped.slice(0, -9))],
    'nothing',
    'undecodable',
  ],
  [
    'gzip that ends early, then RST_STREAM',
    (id) => [headers(id, isGzip), data(id, 0, gzipped.slice(0, -9)), reset(id, 0)],
    'nothing',
    'truncated',
  ],
  [
    'gzip, whole, then RST_STREAM without END_STREAM',
    (id) => [headers(id, isGzip), data(id, 0, gzipped), reset(id, 0)],
    'nothing',
    'truncated',
  ],
]

export const bodyEndRows: readonly BodyEndRow[] = [
  ...overTcp.map(
    ([name, bytes, how, expected]): BodyEndRow => ({ over: 'HTTP/1.1', name, behave: sends(bytes, how), expected }),
  ),
  ...overTls.map(
    ([name, bytes, how, expected]): BodyEndRow => ({
      over: 'HTTP/1.1 and TLS',
      name,
      behave: sendsOverTls(bytes, how),
      expected,
    }),
  ),
  {
    over: 'HTTP/1.1 and TLS',
    name: 'neither Content-Length nor chunks, then close_notify',
    behave: sendsOverTls(unsized + forbidsPage, 'close_notify'),
    expected: 'whole',
    expectedOfOthers: 'truncated', // Node does not report the close_notify of a connection that it makes
  },
  ...overHttp2.map(
    ([name, frames, how, expected]): BodyEndRow => ({
      over: 'HTTP/2',
      name,
      behave: ({ id, tls, socket }) => {
        tls.write(Buffer.concat(frames(id)), () => {
          if (how === 'FIN') tls.end()
          if (how === 'RST') setTimeout(() => socket.resetAndDestroy(), 20) // later than the frames are read
        })
      },
      expected,
    }),
  ),
]
