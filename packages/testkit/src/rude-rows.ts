// Servers that misbehave on the wire, each as what it does with the connection after it has read the request.
import type { Socket } from 'node:net'
import { forbidsPage } from './reply-rows.ts'
import type { Behaviour } from './sites.ts'

export interface RudeRow {
  /** The standard's section, or that it is our choice. */
  readonly name: string
  readonly behave: Behaviour
  /** Why robots.txt is unreachable, or the status of what is taken for a sound answer all the same. */
  readonly expected: UnreachableBecause | { readonly status: number }
  /** Whether only the deadline ends it. */
  readonly lastsUntilDeadline?: true
}

/** The reasons for which a server on the wire can be found unreachable. */
export type UnreachableBecause = 'reset' | 'truncated' | 'malformed' | 'too-large' | 'timeout'

/** Sends the octets (latin1) and ends the connection in good order. */
function sends(...octets: readonly string[]): Behaviour {
  return (socket) => socket.end(Buffer.from(octets.join(''), 'latin1'))
}

/** Sends the octets and then nothing, with the connection open. */
function sendsAndHolds(...octets: readonly string[]): Behaviour {
  return (socket) => void socket.write(Buffer.from(octets.join(''), 'latin1'))
}

/** Sends the octets and then resets the connection. */
function sendsAndResets(...octets: readonly string[]): Behaviour {
  return (socket) => void socket.write(octets.join(''), () => socket.resetAndDestroy())
}

/** Sends the beginning, and then the same again and again for as long as the client takes it. */
function sendsForever(beginning: string, again: string): Behaviour {
  return (socket) => {
    socket.write(beginning)
    const more = () => {
      while (!socket.destroyed && socket.write(again)) {}
    }
    socket.on('drain', more)
    more()
  }
}

/** Sends the beginning, and then a drop every few milliseconds: no pause is long, and it never ends. */
function drips(beginning: string, drop: string): Behaviour {
  return (socket: Socket) => {
    socket.write(beginning)
    const timer = setInterval(() => socket.write(drop), 5)
    socket.once('close', () => clearInterval(timer))
  }
}

const OK = 'HTTP/1.1 200 OK\r\n'
const sized = (length: number) => `${OK}Content-Length: ${length}\r\n\r\n`
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`
const CHUNK = `${forbidsPage.length.toString(16)}\r\n${forbidsPage}\r\n`
const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\n'

export const rudeRows: readonly RudeRow[] = [
  // No answer.
  {
    name: 'RFC 9309 §2.3.1.4, reset before the answer',
    behave: (socket) => socket.resetAndDestroy(),
    expected: 'reset',
  },
  { name: 'RFC 9309 §2.3.1.4, closed before the answer', behave: (socket) => socket.end(), expected: 'reset' },
  { name: 'RFC 9309 §2.3.1.4, closed in the status line', behave: sends('HTTP/1.1 20'), expected: 'reset' },
  { name: 'RFC 9309 §2.3.1.4, closed in the headers', behave: sends(OK, 'Content-Le'), expected: 'reset' },
  { name: 'our choice, never answers', behave: () => undefined, expected: 'timeout', lastsUntilDeadline: true },

  // Half an answer. RFC 9112 §8: it is incomplete; half a file could lack the line that forbids.
  {
    name: 'RFC 9112 §8, shorter than its Content-Length',
    behave: sends(sized(100), forbidsPage),
    expected: 'truncated',
  },
  { name: 'RFC 9112 §8, reset in the body', behave: sendsAndResets(sized(100), forbidsPage), expected: 'truncated' },
  { name: 'RFC 9112 §8, chunks without the last one', behave: sends(CHUNKED, CHUNK), expected: 'truncated' },
  {
    name: 'RFC 9112 §6.3, two Content-Lengths',
    behave: sends(OK, 'Content-Length: 5\r\n', sized(30).slice(OK.length), forbidsPage),
    expected: 'truncated',
  },
  {
    name: 'our choice, stalls in the body',
    behave: sendsAndHolds(sized(100), forbidsPage),
    expected: 'timeout',
    lastsUntilDeadline: true,
  },

  // What is not HTTP.
  {
    name: 'RFC 9309 §2.3.1.4, a chunk size that is no number',
    behave: sends(CHUNKED, `zz\r\n${forbidsPage}\r\n0\r\n\r\n`),
    expected: 'malformed',
  },
  {
    name: 'RFC 9309 §2.3.1.4, the second chunk size is no number',
    behave: sends(CHUNKED, CHUNK, 'zz\r\n'),
    expected: 'malformed',
  },
  {
    name: 'RFC 9309 §2.3.1.4, a chunk longer than its size',
    behave: sends(CHUNKED, `1\r\n${forbidsPage}\r\n0\r\n\r\n`),
    expected: 'malformed',
  },
  {
    name: 'RFC 9309 §2.3.1.4, a chunk size beyond 64 bits',
    behave: sends(CHUNKED, `fffffffffffffffff\r\n${forbidsPage}`),
    expected: 'malformed',
  },
  {
    name: 'RFC 9112 §6.1, Transfer-Encoding and Content-Length',
    behave: sends(CHUNKED.slice(0, -2), 'Content-Length: 5\r\n\r\n', CHUNK, '0\r\n\r\n'),
    expected: 'malformed',
  },
  {
    name: 'RFC 9110 §8.6, a Content-Length that is no number',
    behave: sends(OK, 'Content-Length: many\r\n\r\n', forbidsPage),
    expected: 'malformed',
  },
  { name: 'our choice, another protocol', behave: sends('SSH-2.0-OpenSSH_9.6\r\n'), expected: 'malformed' },
  { name: 'our choice, HTTP/0.9: a body and nothing else', behave: sends(forbidsPage), expected: 'malformed' },
  {
    name: 'our choice, HTTP/2 frames without asking',
    behave: sends('\x00\x00\x12\x04\x00\x00\x00\x00\x00'),
    expected: 'malformed',
  },
  { name: 'our choice, a TLS alert', behave: sends('\x15\x03\x01\x00\x02\x02\x46'), expected: 'malformed' },
  {
    name: 'RFC 9112 §4, a status of four digits',
    behave: sends('HTTP/1.1 2000 OK\r\n\r\n', forbidsPage),
    expected: 'malformed',
  },
  {
    name: 'RFC 9110 §5.5, NUL in a header',
    behave: sends(OK, 'X: a\x00b\r\n\r\n', forbidsPage),
    expected: 'malformed',
  },
  {
    name: 'RFC 9112 §5, a header line without a colon',
    behave: sends(OK, 'garbage\r\n\r\n', forbidsPage),
    expected: 'malformed',
  },

  // Without end.
  {
    name: 'our choice, one header over the limit',
    behave: sends(OK, `X: ${'x'.repeat(20_000)}\r\n\r\n`, forbidsPage),
    expected: 'too-large',
  },
  {
    name: 'our choice, many headers over the limit',
    behave: sends(OK, 'X-Name: value\r\n'.repeat(2_000), '\r\n', forbidsPage),
    expected: 'too-large',
  },
  {
    name: 'our choice, headers without end',
    behave: sendsForever(OK, `X: ${'x'.repeat(1_000)}\r\n`),
    expected: 'too-large',
  },
  {
    name: 'our choice, trailers without end',
    behave: sendsForever(`${CHUNKED}${CHUNK}0\r\n`, `X: ${'x'.repeat(1_000)}\r\n`),
    expected: 'too-large',
  },
  {
    name: 'our choice, interim answers without end',
    behave: drips('', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    expected: 'timeout',
    lastsUntilDeadline: true,
  },
  {
    name: 'our choice, headers drop by drop',
    behave: drips(`${OK}X: `, 'x'),
    expected: 'timeout',
    lastsUntilDeadline: true,
  },
  {
    name: 'our choice, a body drop by drop',
    behave: drips(`${OK}\r\n`, '#'),
    expected: 'timeout',
    lastsUntilDeadline: true,
  },

  // Odd, and sound enough.
  {
    name: 'RFC 9112 §6.3, no length: the body ends with the connection',
    behave: sends(`${OK}\r\n`, forbidsPage),
    expected: { status: 200 },
  },
  { name: 'RFC 9112 §2.3, HTTP/1.0', behave: sends('HTTP/1.0 200 OK\r\n\r\n', forbidsPage), expected: { status: 200 } },
  {
    name: 'RFC 9112 §4, no reason phrase',
    behave: sends('HTTP/1.1 200\r\n', sized(forbidsPage.length).slice(OK.length), forbidsPage),
    expected: { status: 200 },
  },
  { name: 'RFC 9112 §7.1, chunks', behave: sendsAndHolds(CHUNKED, CHUNK, '0\r\n\r\n'), expected: { status: 200 } },
  {
    name: 'RFC 9110 §15.2, an interim answer first',
    behave: sendsAndHolds('HTTP/1.1 103 Early Hints\r\n\r\n', sized(forbidsPage.length), forbidsPage),
    expected: { status: 200 },
  },
  {
    name: 'RFC 9112 §6.3, octets after the body',
    behave: sends(sized(forbidsPage.length), forbidsPage, 'Allow: /page\n'),
    expected: { status: 200 },
  },
  {
    name: 'RFC 9309 §2.3.1.3, the body of a 404 that ends early',
    behave: sends(NOT_FOUND, 'Sorry'),
    expected: { status: 404 },
  },
  {
    name: 'RFC 9309 §2.3.1.3, the body of a 404 that is reset',
    behave: sendsAndResets(NOT_FOUND, 'Sorry'),
    expected: { status: 404 },
  },
  {
    name: 'RFC 9309 §2.3.1.3, the body of a 404 that stalls',
    behave: sendsAndHolds(NOT_FOUND, 'Sorry'),
    expected: { status: 404 },
  },
  {
    name: 'RFC 9309 §2.3.1.3, the body of a 404 without end',
    behave: sendsForever('HTTP/1.1 404 Not Found\r\n\r\n', 'Sorry '.repeat(100)),
    expected: { status: 404 },
  },
]
