// Servers that misbehave on the wire, each as what it does with the connection after it has read the request.
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { type ExpectedAccess, forbidsPage } from './response-cases.ts'
import type { Behaviour } from './sites.ts'

export interface RudeRow {
  /** The standard's section, or that it is our choice. */
  readonly name: string
  readonly behave: Behaviour
  readonly expected: RudeExpectation
  /** Whether only the deadline ends it. */
  readonly lastsUntilDeadline?: true
}

export interface RudeExpectation extends ExpectedAccess {
  readonly status: number | undefined
}

/** The reasons for which a server on the wire can be found unreachable. */
type UnreachableBecause =
  | 'refused'
  | 'reset'
  | 'truncated'
  | 'malformed'
  | 'undecodable'
  | 'too-large'
  | 'timeout'
  | 'tls'

function unreachable(reason: UnreachableBecause): RudeExpectation {
  return { allowed: false, because: 'unreachable', outcome: 'unreachable', reason, status: undefined }
}

const rulesHold: RudeExpectation = {
  allowed: false,
  because: 'rule',
  outcome: 'success',
  reason: 'status',
  status: 200,
}
const noRules: RudeExpectation = { ...rulesHold, allowed: true, because: 'no-group' }
const notFound: RudeExpectation = {
  allowed: true,
  because: 'unavailable',
  outcome: 'unavailable',
  reason: 'status',
  status: 404,
}
const oddStatus = (status: number): RudeExpectation => ({ ...unreachable('reset'), reason: 'status', status })

/** Sends the bytes (latin1) and ends the connection in good order. */
function sends(...bytes: readonly string[]): Behaviour {
  return (socket) => socket.end(Buffer.from(bytes.join(''), 'latin1'))
}

/** Sends the bytes and then nothing, with the connection open. */
function sendsAndHolds(...bytes: readonly string[]): Behaviour {
  return (socket) => void socket.write(Buffer.from(bytes.join(''), 'latin1'))
}

/** Sends the bytes and then resets the connection. */
function sendsAndResets(...bytes: readonly string[]): Behaviour {
  return (socket) => void socket.write(bytes.join(''), () => socket.resetAndDestroy())
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
const chunk = (bytes: string) => `${bytes.length.toString(16)}\r\n${bytes}\r\n`
const CHUNK = chunk(forbidsPage)
const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\n'

export const rudeRows: readonly RudeRow[] = [
  // No answer.
  {
    name: 'RFC 9309 §2.3.1.4, reset before the answer',
    behave: (socket) => socket.resetAndDestroy(),
    expected: unreachable('reset'),
  },
  {
    name: 'RFC 9309 §2.3.1.4, closed before the answer',
    behave: (socket) => socket.end(),
    expected: unreachable('reset'),
  },
  {
    name: 'RFC 9309 §2.3.1.4, closed in the status line',
    behave: sends('HTTP/1.1 20'),
    expected: unreachable('reset'),
  },
  { name: 'RFC 9309 §2.3.1.4, closed in the headers', behave: sends(OK, 'Content-Le'), expected: unreachable('reset') },
  {
    name: 'our choice, never answers',
    behave: () => undefined,
    expected: unreachable('timeout'),
    lastsUntilDeadline: true,
  },

  // Half an answer. RFC 9112 §8: it is incomplete; half a file could lack the line that forbids.
  {
    name: 'RFC 9112 §8, shorter than its Content-Length',
    behave: sends(sized(100), forbidsPage),
    expected: unreachable('truncated'),
  },
  {
    name: 'RFC 9112 §8, reset in the body',
    behave: sendsAndResets(sized(100), forbidsPage),
    expected: unreachable('truncated'),
  },
  {
    name: 'RFC 9112 §8, reset in a body that ends with the connection',
    behave: sendsAndResets(`${OK}\r\n`, forbidsPage),
    expected: unreachable('truncated'),
  },
  {
    name: 'RFC 9112 §8, HTTP/1.0, reset in a body that ends with the connection',
    behave: sendsAndResets(`${OK}\r\n`.replace('1.1', '1.0'), forbidsPage),
    expected: unreachable('truncated'),
  },
  {
    name: 'RFC 9112 §8, Connection: close, chunks without the last one',
    behave: sends(CHUNKED.replace(OK, `${OK}Connection: close\r\n`), CHUNK),
    expected: unreachable('truncated'),
  },
  {
    name: 'RFC 9112 §8, chunks without the last one',
    behave: sends(CHUNKED, CHUNK),
    expected: unreachable('truncated'),
  },
  {
    name: 'our choice, gzip of nothing at all that only the end of the connection ends: it may have been cut',
    behave: sends(OK, 'Content-Encoding: gzip\r\n\r\n'),
    expected: unreachable('undecodable'),
  },
  {
    name: 'RFC 9112 §8, the headers and no body',
    behave: sends(sized(30)),
    expected: unreachable('truncated'),
  },
  {
    name: 'RFC 9112 §8, HTTP/1.0, shorter than its Content-Length',
    behave: sends(sized(100).replace('1.1', '1.0'), forbidsPage),
    expected: unreachable('truncated'),
  },
  {
    name: 'RFC 9112 §7.1, closed in the last chunk',
    behave: sends(CHUNKED, CHUNK, '0\r\n'),
    expected: unreachable('truncated'),
  },
  {
    name: 'RFC 9112 §7.1, a chunk of 2^63 - 1 bytes that ends early',
    behave: sends(CHUNKED, `7fffffffffffffff\r\n${forbidsPage}`),
    expected: unreachable('truncated'),
  },
  ...[
    ['two Content-Lengths', '5\r\nContent-Length: 30'],
    ['two Content-Lengths, the first one right', '30\r\nContent-Length: 5'],
    ['a Content-Length of 2^63 - 1', '9223372036854775807'],
    ['a Content-Length of 24 digits', '9'.repeat(24)],
    ['a Content-Length in two words', '3 0'],
    ['a Content-Length with decimals', '30.0'],
    ['the same Content-Length twice; our client library takes none of these', '30\r\nContent-Length: 30'],
    ['the same Content-Length twice in one line', '30, 30'],
    ['blanks behind the Content-Length, which a client has to drop; our client library does not', '30  '],
  ].map(
    ([what, lengths]): RudeRow => ({
      name: `RFC 9112 §6.3, ${what}`,
      behave: sends(OK, `Content-Length: ${lengths}\r\n\r\n`, forbidsPage),
      expected: unreachable('truncated'),
    }),
  ),
  {
    name: 'our choice, stalls in the body',
    behave: sendsAndHolds(sized(100), forbidsPage),
    expected: unreachable('timeout'),
    lastsUntilDeadline: true,
  },

  // What is not HTTP.
  {
    name: 'RFC 9309 §2.3.1.4, a chunk size that is no number',
    behave: sends(CHUNKED, `zz\r\n${forbidsPage}\r\n0\r\n\r\n`),
    expected: unreachable('malformed'),
  },
  {
    name: 'RFC 9309 §2.3.1.4, the second chunk size is no number',
    behave: sends(CHUNKED, CHUNK, 'zz\r\n'),
    expected: unreachable('malformed'),
  },
  {
    name: 'RFC 9309 §2.3.1.4, a chunk longer than its size',
    behave: sends(CHUNKED, `1\r\n${forbidsPage}\r\n0\r\n\r\n`),
    expected: unreachable('malformed'),
  },
  {
    name: 'RFC 9309 §2.3.1.4, a chunk size beyond 64 bits',
    behave: sends(CHUNKED, `fffffffffffffffff\r\n${forbidsPage}`),
    expected: unreachable('malformed'),
  },
  ...[
    ['a chunk size with a sign', `-1e\r\n${forbidsPage}\r\n0\r\n\r\n`],
    ['a chunk size in the manner of C', `0x1e\r\n${forbidsPage}\r\n0\r\n\r\n`],
    ['a chunk size with a blank behind it', `1e \r\n${forbidsPage}\r\n0\r\n\r\n`],
    ['a chunk size of nothing', `\r\n${forbidsPage}\r\n0\r\n\r\n`],
    ['a chunk shorter than its size', `1f\r\n${forbidsPage}\r\n0\r\n\r\n`],
    ['no line end behind a chunk', `1e\r\n${forbidsPage}0\r\n\r\n`],
  ].map(
    ([what, body]): RudeRow => ({
      name: `RFC 9112 §7.1, ${what}`,
      behave: sends(CHUNKED, body as string),
      expected: unreachable('malformed'),
    }),
  ),
  ...['gzip', 'xchunked', 'chunked, chunked', 'chunked, identity', 'gzip, gzip, gzip, chunked'].map(
    (coding): RudeRow => ({
      name: `RFC 9112 §6.1, a transfer coding that is not understood: "${coding}"`,
      behave: sends(OK, `Transfer-Encoding: ${coding}\r\n\r\n`, CHUNK, '0\r\n\r\n'),
      expected: unreachable('undecodable'),
    }),
  ),
  {
    name: 'RFC 9112 §6.1, Transfer-Encoding and Content-Length',
    behave: sends(CHUNKED.slice(0, -2), 'Content-Length: 5\r\n\r\n', CHUNK, '0\r\n\r\n'),
    expected: unreachable('malformed'),
  },
  {
    name: 'RFC 9112 §6.1, Content-Length and Transfer-Encoding',
    behave: sends(sized(30).slice(0, -2), 'Transfer-Encoding: chunked\r\n\r\n', CHUNK, '0\r\n\r\n'),
    expected: unreachable('truncated'),
  },
  ...['many', '-5', '+30', '0x1e', ''].map(
    (length): RudeRow => ({
      name: `RFC 9110 §8.6, a Content-Length that is no number: "${length}"`,
      behave: sends(OK, `Content-Length: ${length}\r\n\r\n`, forbidsPage),
      expected: unreachable('malformed'),
    }),
  ),
  {
    name: 'our choice, another protocol',
    behave: sends('SSH-2.0-OpenSSH_9.6\r\n'),
    expected: unreachable('malformed'),
  },
  {
    name: 'our choice, HTTP/0.9: a body and nothing else',
    behave: sends(forbidsPage),
    expected: unreachable('malformed'),
  },
  {
    name: 'our choice, HTTP/2 frames without asking',
    behave: sends('\x00\x00\x12\x04\x00\x00\x00\x00\x00'),
    expected: unreachable('malformed'),
  },
  {
    name: 'our choice, a TLS alert',
    behave: sends('\x15\x03\x01\x00\x02\x02\x46'),
    expected: unreachable('malformed'),
  },
  ...['000 OK', '099 OK', '20 OK', '2000 OK', '2x0 OK', '-1 OK', ' 200 OK', 'OK', ''].map(
    (status): RudeRow => ({
      name: `RFC 9112 §4, a status that is none: "${status}"`,
      behave: sends(`HTTP/1.1 ${status}\r\n`, sized(30).slice(OK.length), forbidsPage),
      expected: unreachable('malformed'),
    }),
  ),
  ...['HTTP/1.2', 'HTTP/2', 'HTTP/3.0', 'HTTP/1.1 ', 'HTTP', 'http/1.1', 'ICY'].map(
    (version): RudeRow => ({
      name: `RFC 9112 §2.3, a version that is none, or not asked for: "${version}"`,
      behave: sends(`${version} 200 OK\r\n`, sized(30).slice(OK.length), forbidsPage),
      expected: unreachable('malformed'),
    }),
  ),
  {
    name: 'RFC 9113 §3.4, the preface of HTTP/2, which is for clients',
    behave: sends('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    expected: unreachable('malformed'),
  },
  {
    name: 'RFC 9110 §15.2.2, 101 without a protocol to switch to',
    behave: sends('HTTP/1.1 101 Switching Protocols\r\n\r\n', sized(30), forbidsPage),
    expected: unreachable('malformed'),
  },
  {
    name: 'RFC 9110 §15.2, an interim answer with a body',
    behave: sends('HTTP/1.1 103 Early Hints\r\nContent-Length: 30\r\n\r\n', forbidsPage, sized(30), forbidsPage),
    expected: unreachable('malformed'),
  },
  ...[
    [
      'RFC 9112 §2.2, line ends without CR, which a client may take; our client library does not',
      `${OK}\r\n`.replaceAll('\r', ''),
    ],
    ['RFC 9112 §2.2, line ends without LF', `${OK}\r\n`.replaceAll('\n', '')],
    [
      'RFC 9112 §5.2, a folded header, which a client has to take; our client library does not',
      `${OK}X: a\r\n b\r\n\r\n`,
    ],
    ['RFC 9112 §2.2, a blank before the first header', `${OK} X: a\r\n\r\n`],
    ['RFC 9112 §5.1, a blank before the colon', `${OK}X : a\r\n\r\n`],
    ['RFC 9112 §5, a header without a name', `${OK}: a\r\n\r\n`],
    ['RFC 9110 §5.5, a control character in a header', `${OK}X: a\x01b\r\n\r\n`],
    ['RFC 9110 §10.2.2, NUL in a Location', 'HTTP/1.1 302 Found\r\nLocation: /a\0b\r\n\r\n'],
  ].map(
    ([name, head]): RudeRow => ({
      name: name as string,
      behave: sends(head as string, forbidsPage),
      expected: unreachable('malformed'),
    }),
  ),
  {
    name: 'RFC 9110 §5.5, NUL in a header',
    behave: sends(OK, 'X: a\x00b\r\n\r\n', forbidsPage),
    expected: unreachable('malformed'),
  },
  {
    name: 'RFC 9112 §5, a header line without a colon',
    behave: sends(OK, 'garbage\r\n\r\n', forbidsPage),
    expected: unreachable('malformed'),
  },

  // Without end.
  {
    name: 'our choice, one header over the limit',
    behave: sends(OK, `X: ${'x'.repeat(20_000)}\r\n\r\n`, forbidsPage),
    expected: unreachable('too-large'),
  },
  {
    name: 'our choice, many headers over the limit',
    behave: sends(OK, 'X-Name: value\r\n'.repeat(2_000), '\r\n', forbidsPage),
    expected: unreachable('too-large'),
  },
  {
    name: 'our choice, the name of a header over the limit',
    behave: sends(OK, `${'x'.repeat(20_000)}: a\r\n\r\n`, forbidsPage),
    expected: unreachable('too-large'),
  },
  {
    name: 'our choice, a Location of 100,000 bytes',
    behave: sends(`HTTP/1.1 302 Found\r\nLocation: /${'x'.repeat(100_000)}\r\nContent-Length: 0\r\n\r\n`),
    expected: unreachable('too-large'),
  },
  {
    name: 'our choice, headers without end',
    behave: sendsForever(OK, `X: ${'x'.repeat(1_000)}\r\n`),
    expected: unreachable('too-large'),
  },
  {
    name: 'our choice, trailers without end',
    behave: sendsForever(`${CHUNKED}${CHUNK}0\r\n`, `X: ${'x'.repeat(1_000)}\r\n`),
    expected: unreachable('too-large'),
  },
  {
    name: 'our choice, interim answers without end',
    behave: drips('', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    expected: unreachable('timeout'),
    lastsUntilDeadline: true,
  },
  ...[
    ['a status line', 'HTTP/1.1 200 O', 'K'],
    ['empty lines before the status line', '\r\n', '\r\n'],
    ['a chunk extension', `${CHUNKED}1e;x=`, 'x'],
    ['chunks of one byte', CHUNKED, '1\r\n#\r\n'],
  ].map(
    ([what, beginning, drop]): RudeRow => ({
      name: `our choice, ${what} without end, drop by drop`,
      behave: drips(beginning as string, drop as string),
      expected: unreachable('timeout'),
      lastsUntilDeadline: true,
    }),
  ),
  {
    name: 'our choice, headers drop by drop',
    behave: drips(`${OK}X: `, 'x'),
    expected: unreachable('timeout'),
    lastsUntilDeadline: true,
  },
  {
    name: 'our choice, a body drop by drop',
    behave: drips(`${OK}\r\n`, '#'),
    expected: unreachable('timeout'),
    lastsUntilDeadline: true,
  },

  // Odd, and sound enough.
  {
    name: 'RFC 9112 §6.3, no length: the body ends with the connection',
    behave: sends(`${OK}\r\n`, forbidsPage),
    expected: rulesHold,
  },
  { name: 'RFC 9112 §2.3, HTTP/1.0', behave: sends('HTTP/1.0 200 OK\r\n\r\n', forbidsPage), expected: rulesHold },
  {
    name: 'RFC 9112 §4, no reason phrase',
    behave: sends('HTTP/1.1 200\r\n', sized(forbidsPage.length).slice(OK.length), forbidsPage),
    expected: rulesHold,
  },
  { name: 'RFC 9112 §7.1, chunks', behave: sendsAndHolds(CHUNKED, CHUNK, '0\r\n\r\n'), expected: rulesHold },
  ...[102, 103, 104, 199].map(
    (status): RudeRow => ({
      name: `RFC 9110 §15.2, an interim answer first: ${status}`,
      behave: sendsAndHolds(`HTTP/1.1 ${status} Wait\r\nLink: </x>\r\n\r\n`, sized(30), forbidsPage),
      expected: rulesHold,
    }),
  ),
  {
    name: 'RFC 9110 §15.2, three interim answers first',
    behave: sendsAndHolds('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(3), sized(30), forbidsPage),
    expected: rulesHold,
  },
  {
    name: 'RFC 9110 §15.2, 100 Continue that nobody asked for, which a client has to take; our client library ends the connection',
    behave: sendsAndHolds('HTTP/1.1 100 Continue\r\n\r\n', sized(30), forbidsPage),
    expected: unreachable('reset'),
  },
  {
    name: 'RFC 9110 §15.2, an interim answer and no other',
    behave: sends('HTTP/1.1 103 Early Hints\r\n\r\n'),
    expected: unreachable('reset'),
  },
  {
    name: 'RFC 9110 §15.2.2, 101 to a protocol that nobody asked for',
    behave: sends('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'),
    expected: unreachable('reset'),
  },
  {
    name: 'RFC 9110 §7.8, an offer to upgrade is passed over',
    behave: sends(OK, 'Connection: upgrade\r\nUpgrade: h2c\r\n', sized(30).slice(OK.length), forbidsPage),
    expected: rulesHold,
  },
  ...[
    ['RFC 9112 §2.3, HTTP/2.0 in the manner of HTTP/1.1', sized(30).replace('1.1', '2.0')],
    ['RFC 9112 §2.3, HTTP/1.0 with a length', sized(30).replace('1.1', '1.0')],
    ['RFC 9112 §2.2, empty lines before the status line', `\r\n\r\n${sized(30)}`],
    ['RFC 9112 §4, a reason phrase that is no UTF-8', sized(30).replace('OK', 'D\xe9j\xe0')],
    ['RFC 9112 §4, a reason phrase of 100,000 bytes', sized(30).replace('OK', 'x'.repeat(100_000))],
    ['RFC 9110 §5.5, a header that is no UTF-8', sized(30).replace(OK, `${OK}X: caf\xe9\r\n`)],
    ['our choice, 1,500 headers under the limit', sized(30).replace(OK, OK + 'X: y\r\n'.repeat(1500))],
    ['RFC 9112 §9.6, Connection: close, keep-alive', sized(30).replace(OK, `${OK}Connection: close, keep-alive\r\n`)],
    ['our choice, Keep-Alive for -5 seconds', sized(30).replace(OK, `${OK}Keep-Alive: timeout=-5\r\n`)],
    ['our choice, Keep-Alive for ever', sized(30).replace(OK, `${OK}Keep-Alive: timeout=${'9'.repeat(30)}\r\n`)],
    ['RFC 9112 §6.1, a transfer coding that is none', `${OK}Transfer-Encoding: identity\r\n\r\n`],
  ].map(
    ([name, head]): RudeRow => ({
      name: name as string,
      behave: sends(head as string, forbidsPage),
      expected: rulesHold,
    }),
  ),
  ...[
    ['a chunk extension', `1e;a=b;c="d"\r\n${forbidsPage}\r\n0\r\n\r\n`],
    ['a chunk extension of 30,000 bytes', `1e;${'x'.repeat(30_000)}\r\n${forbidsPage}\r\n0\r\n\r\n`],
    ['trailers', `${CHUNK}0\r\nX: y\r\n\r\n`],
    ['a chunk size in upper case with zeros before it', `0000001E\r\n${forbidsPage}\r\n000\r\n\r\n`],
    ['a chunk for each byte', `${forbidsPage.replaceAll(/[\s\S]/g, '1\r\n$&\r\n')}0\r\n\r\n`],
  ].map(
    ([what, body]): RudeRow => ({
      name: `RFC 9112 §7.1, ${what}`,
      behave: sends(CHUNKED, body as string),
      expected: rulesHold,
    }),
  ),
  {
    name: 'RFC 9112 §7.1, HTTP/1.0 in chunks',
    behave: sends(CHUNKED.replace('1.1', '1.0'), CHUNK, '0\r\n\r\n'),
    expected: rulesHold,
  },
  {
    name: 'RFC 9112 §7.2, gzip as a transfer coding, which nobody asked for',
    behave: sends(
      OK,
      'Transfer-Encoding: gzip, chunked\r\n\r\n',
      chunk(gzipSync(forbidsPage).toString('latin1')),
      '0\r\n\r\n',
    ),
    expected: rulesHold,
  },
  {
    name: 'RFC 9110 §8.4, Content-Encoding in two lines',
    behave: sends(
      OK,
      'Content-Encoding: gzip\r\n'.repeat(2),
      '\r\n',
      gzipSync(gzipSync(forbidsPage)).toString('latin1'),
    ),
    expected: rulesHold,
  },
  {
    name: 'RFC 9112 §9.3, two answers to one request: the first one counts',
    behave: sendsAndHolds(sized(30), forbidsPage, sized(23), 'User-agent: *\nDisallow:'),
    expected: rulesHold,
  },
  {
    name: 'RFC 9110 §15.3.5, 204 with a body, which it cannot have',
    behave: sends(sized(30).replace('200 OK', '204 No Content'), forbidsPage),
    expected: { ...noRules, status: 204 },
  },
  {
    name: 'our choice, 205 with a body, which it must not have',
    behave: sends(sized(30).replace('200 OK', '205 Reset Content'), forbidsPage),
    expected: { ...rulesHold, status: 205 },
  },
  ...[304, 600, 999].map(
    (status): RudeRow => ({
      name: `our choice, rules under a status that is none for them: ${status}`,
      behave: sends(sized(30).replace('200', String(status)), forbidsPage),
      expected: oddStatus(status),
    }),
  ),
  {
    name: 'RFC 9112 §6.3, bytes after the body',
    behave: sends(sized(forbidsPage.length), forbidsPage, 'Allow: /page\n'),
    expected: rulesHold,
  },
  {
    name: 'RFC 9309 §2.3.1.3, the body of a 404 that ends early',
    behave: sends(NOT_FOUND, 'Sorry'),
    expected: notFound,
  },
  {
    name: 'RFC 9309 §2.3.1.3, the body of a 404 that is reset',
    behave: sendsAndResets(NOT_FOUND, 'Sorry'),
    expected: notFound,
  },
  {
    name: 'RFC 9309 §2.3.1.3, the body of a 404 that stalls',
    behave: sendsAndHolds(NOT_FOUND, 'Sorry'),
    expected: notFound,
  },
  {
    name: 'RFC 9309 §2.3.1.3, the body of a 404 without end',
    behave: sendsForever('HTTP/1.1 404 Not Found\r\n\r\n', 'Sorry '.repeat(100)),
    expected: notFound,
  },
]

/** Servers that misbehave before a request has come. */
export interface DoorRow {
  /** The standard's section, or that it is our choice. */
  readonly name: string
  readonly scheme: 'http' | 'https'
  readonly accept: Behaviour
  readonly expected: RudeExpectation
  /** Whether only the deadline ends it. */
  readonly lastsUntilDeadline?: true
}

/** Waits for the first bytes, and only then behaves. */
function once(behave: Behaviour): Behaviour {
  return (socket) => void socket.once('data', () => behave(socket))
}

const TLS_ALERT = '\x15\x03\x03\x00\x02\x02'

export const doorRows: readonly DoorRow[] = [
  {
    name: 'RFC 9309 §2.3.1.4, reset at the door',
    scheme: 'http',
    accept: (socket) => socket.resetAndDestroy(),
    expected: unreachable('reset'),
  },
  {
    name: 'RFC 9309 §2.3.1.4, closed at the door',
    scheme: 'http',
    accept: (socket) => socket.end(),
    expected: unreachable('reset'),
  },
  {
    name: 'our choice, accepts and says nothing',
    scheme: 'http',
    accept: () => undefined,
    expected: unreachable('timeout'),
    lastsUntilDeadline: true,
  },
  {
    name: 'RFC 9112 §9.2, an answer before there was a question is taken for it',
    scheme: 'http',
    accept: sendsAndHolds(sized(30), forbidsPage),
    expected: rulesHold,
  },
  {
    name: 'our choice, another protocol, whose server speaks first',
    scheme: 'http',
    accept: sendsAndHolds('220 mail.test ESMTP\r\n'),
    expected: unreachable('malformed'),
  },
  {
    name: 'RFC 9309 §2.3.1.4, closed in the TLS handshake',
    scheme: 'https',
    accept: once((socket) => socket.end()),
    expected: unreachable('reset'),
  },
  {
    name: 'RFC 9309 §2.3.1.4, reset in the TLS handshake',
    scheme: 'https',
    accept: once((socket) => socket.resetAndDestroy()),
    expected: unreachable('reset'),
  },
  {
    name: 'our choice, a TLS handshake that never ends',
    scheme: 'https',
    accept: () => undefined,
    expected: unreachable('timeout'),
    lastsUntilDeadline: true,
  },
  ...[
    ['no cipher in common', `${TLS_ALERT}\x28`],
    ['no version in common', `${TLS_ALERT}\x46`],
    ['a name that it does not know', `${TLS_ALERT}\x70`],
    ['a record that is none', '\x16\x03\x03\x00\x04abcd'],
    ['bytes that are no TLS', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ].map(
    ([what, bytes]): DoorRow => ({
      name: `RFC 9309 §2.3.1.4, no safe connection: ${what}`,
      scheme: 'https',
      accept: once(sends(bytes as string)),
      expected: unreachable('tls'),
    }),
  ),
]
