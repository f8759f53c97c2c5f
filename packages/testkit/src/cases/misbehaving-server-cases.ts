// Servers that misbehave. Each case is a function that gets the connection after the server has
// read the request.
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Behaviour } from '../servers/sites.ts'
import { disallowsPage, type ExpectedAccess } from './response-cases.ts'

export interface MisbehavingServerCase {
  /**
   * Source and case: a section of a standard or `our choice`, a comma, and what the server does.
   */
  readonly name: string
  readonly behave: Behaviour
  readonly expected: ServerCaseExpectation
  /** Set if only the deadline ends the request. */
  readonly lastsUntilDeadline?: true
}

export interface ServerCaseExpectation extends ExpectedAccess {
  readonly status: number | undefined
}

/** The reasons for `unreachable` that a server can cause. */
type UnreachableReason =
  | 'refused'
  | 'reset'
  | 'truncated'
  | 'malformed'
  | 'undecodable'
  | 'too-large'
  | 'timeout'
  | 'tls'

function unreachable(reason: UnreachableReason): ServerCaseExpectation {
  return { allowed: false, because: 'unreachable', outcome: 'unreachable', reason, status: undefined }
}

const rulesHold: ServerCaseExpectation = {
  allowed: false,
  because: 'rule',
  outcome: 'success',
  reason: 'status',
  status: 200,
}
const noRules: ServerCaseExpectation = { ...rulesHold, allowed: true, because: 'no-group' }
const notFound: ServerCaseExpectation = {
  allowed: true,
  because: 'unavailable',
  outcome: 'unavailable',
  reason: 'status',
  status: 404,
}
const oddStatus = (status: number): ServerCaseExpectation => ({ ...unreachable('reset'), reason: 'status', status })

/** Sends the bytes (latin1), and then ends the connection with FIN. */
function sends(...bytes: readonly string[]): Behaviour {
  return (socket) => socket.end(Buffer.from(bytes.join(''), 'latin1'))
}

/** Sends the bytes, and then keeps the connection open. */
function sendsAndHolds(...bytes: readonly string[]): Behaviour {
  return (socket) => void socket.write(Buffer.from(bytes.join(''), 'latin1'))
}

/** Sends the bytes, and then resets the connection. */
function sendsAndResets(...bytes: readonly string[]): Behaviour {
  return (socket) => void socket.write(bytes.join(''), () => socket.resetAndDestroy())
}

/** Sends the beginning, and then repeats a text for as long as the client accepts it. */
function sendsForever(beginning: string, repeated: string): Behaviour {
  return (socket) => {
    socket.write(beginning)
    const more = () => {
      while (!socket.destroyed && socket.write(repeated)) {}
    }
    socket.on('drain', more)
    more()
  }
}

/**
 * Sends the beginning, and then one piece every few milliseconds. No pause is long, and it never
 * ends.
 */
function sendsSlowly(beginning: string, piece: string): Behaviour {
  return (socket: Socket) => {
    socket.write(beginning)
    const timer = setInterval(() => socket.write(piece), 5)
    socket.once('close', () => clearInterval(timer))
  }
}

const OK = 'HTTP/1.1 200 OK\r\n'
const sized = (length: number) => `${OK}Content-Length: ${length}\r\n\r\n`
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`
const chunk = (bytes: string) => `${bytes.length.toString(16)}\r\n${bytes}\r\n`
const CHUNK = chunk(disallowsPage)
const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\n'

export const misbehavingServerCases: readonly MisbehavingServerCase[] = [
  // No response.
  {
    name: 'RFC 9309 §2.3.1.4, reset before the response',
    behave: (socket) => socket.resetAndDestroy(),
    expected: unreachable('reset'),
  },
  {
    name: 'RFC 9309 §2.3.1.4, closed before the response',
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
    name: 'our choice, never responds',
    behave: () => undefined,
    expected: unreachable('timeout'),
    lastsUntilDeadline: true,
  },

  // Incomplete responses. RFC 9112 §8. An incomplete file could lack the line that disallows a URL.
  {
    name: 'RFC 9112 §8, shorter than its Content-Length',
    behave: sends(sized(100), disallowsPage),
    expected: unreachable('truncated'),
  },
  {
    name: 'RFC 9112 §8, reset in the body',
    behave: sendsAndResets(sized(100), disallowsPage),
    expected: unreachable('truncated'),
  },
  {
    name: 'RFC 9112 §8, reset in a body that ends with the connection',
    behave: sendsAndResets(`${OK}\r\n`, disallowsPage),
    expected: unreachable('truncated'),
  },
  {
    name: 'RFC 9112 §8, HTTP/1.0, reset in a body that ends with the connection',
    behave: sendsAndResets(`${OK}\r\n`.replace('1.1', '1.0'), disallowsPage),
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
    name: 'our choice, an empty gzip body that ends with the connection, since it may be truncated',
    behave: sends(OK, 'Content-Encoding: gzip\r\n\r\n'),
    expected: unreachable('undecodable'),
  },
  {
    name: 'RFC 9112 §8, headers without the body',
    behave: sends(sized(30)),
    expected: unreachable('truncated'),
  },
  {
    name: 'RFC 9112 §8, HTTP/1.0, shorter than its Content-Length',
    behave: sends(sized(100).replace('1.1', '1.0'), disallowsPage),
    expected: unreachable('truncated'),
  },
  {
    name: 'RFC 9112 §7.1, closed in the last chunk',
    behave: sends(CHUNKED, CHUNK, '0\r\n'),
    expected: unreachable('truncated'),
  },
  {
    name: 'RFC 9112 §7.1, a truncated chunk of 2^63 - 1 bytes',
    behave: sends(CHUNKED, `7fffffffffffffff\r\n${disallowsPage}`),
    expected: unreachable('truncated'),
  },
  ...[
    ['two Content-Lengths', '5\r\nContent-Length: 30'],
    ['two Content-Lengths, the first one correct', '30\r\nContent-Length: 5'],
    ['a Content-Length of 2^63 - 1', '9223372036854775807'],
    ['a Content-Length of 24 digits', '9'.repeat(24)],
    ['a Content-Length in two words', '3 0'],
    ['a Content-Length with decimals', '30.0'],
    ['the same Content-Length twice, which a client may accept; undici does not', '30\r\nContent-Length: 30'],
    ['the same Content-Length twice in one header', '30, 30'],
    ['spaces after the Content-Length, which a client must ignore; undici does not', '30  '],
  ].map(
    ([what, lengths]): MisbehavingServerCase => ({
      name: `RFC 9112 §6.3, ${what}`,
      behave: sends(OK, `Content-Length: ${lengths}\r\n\r\n`, disallowsPage),
      expected: unreachable('truncated'),
    }),
  ),
  {
    name: 'our choice, stalls in the body',
    behave: sendsAndHolds(sized(100), disallowsPage),
    expected: unreachable('timeout'),
    lastsUntilDeadline: true,
  },

  // Invalid HTTP.
  {
    name: 'RFC 9309 §2.3.1.4, a chunk size that is not a number',
    behave: sends(CHUNKED, `zz\r\n${disallowsPage}\r\n0\r\n\r\n`),
    expected: unreachable('malformed'),
  },
  {
    name: 'RFC 9309 §2.3.1.4, a second chunk size that is not a number',
    behave: sends(CHUNKED, CHUNK, 'zz\r\n'),
    expected: unreachable('malformed'),
  },
  {
    name: 'RFC 9309 §2.3.1.4, a chunk longer than its size',
    behave: sends(CHUNKED, `1\r\n${disallowsPage}\r\n0\r\n\r\n`),
    expected: unreachable('malformed'),
  },
  {
    name: 'RFC 9309 §2.3.1.4, a chunk size beyond 64 bits',
    behave: sends(CHUNKED, `fffffffffffffffff\r\n${disallowsPage}`),
    expected: unreachable('malformed'),
  },
  ...[
    ['a chunk size with a sign', `-1e\r\n${disallowsPage}\r\n0\r\n\r\n`],
    ['a chunk size in C notation', `0x1e\r\n${disallowsPage}\r\n0\r\n\r\n`],
    ['a chunk size followed by a space', `1e \r\n${disallowsPage}\r\n0\r\n\r\n`],
    ['an empty chunk size', `\r\n${disallowsPage}\r\n0\r\n\r\n`],
    ['a chunk shorter than its size', `1f\r\n${disallowsPage}\r\n0\r\n\r\n`],
    ['no line end after a chunk', `1e\r\n${disallowsPage}0\r\n\r\n`],
  ].map(
    ([what, body]): MisbehavingServerCase => ({
      name: `RFC 9112 §7.1, ${what}`,
      behave: sends(CHUNKED, body as string),
      expected: unreachable('malformed'),
    }),
  ),
  ...['gzip', 'xchunked', 'chunked, chunked', 'chunked, identity', 'gzip, gzip, gzip, chunked'].map(
    (coding): MisbehavingServerCase => ({
      name: `RFC 9112 §6.1, an unknown transfer coding: "${coding}"`,
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
    (length): MisbehavingServerCase => ({
      name: `RFC 9110 §8.6, an invalid Content-Length: "${length}"`,
      behave: sends(OK, `Content-Length: ${length}\r\n\r\n`, disallowsPage),
      expected: unreachable('malformed'),
    }),
  ),
  {
    name: 'our choice, another protocol',
    behave: sends('SSH-2.0-OpenSSH_9.6\r\n'),
    expected: unreachable('malformed'),
  },
  {
    name: 'our choice, HTTP/0.9, a body without a head',
    behave: sends(disallowsPage),
    expected: unreachable('malformed'),
  },
  {
    name: 'our choice, unrequested HTTP/2 frames',
    behave: sends('\x00\x00\x12\x04\x00\x00\x00\x00\x00'),
    expected: unreachable('malformed'),
  },
  {
    name: 'our choice, a TLS alert',
    behave: sends('\x15\x03\x01\x00\x02\x02\x46'),
    expected: unreachable('malformed'),
  },
  ...['000 OK', '099 OK', '20 OK', '2000 OK', '2x0 OK', '-1 OK', ' 200 OK', 'OK', ''].map(
    (status): MisbehavingServerCase => ({
      name: `RFC 9112 §4, an invalid status: "${status}"`,
      behave: sends(`HTTP/1.1 ${status}\r\n`, sized(30).slice(OK.length), disallowsPage),
      expected: unreachable('malformed'),
    }),
  ),
  ...['HTTP/1.2', 'HTTP/2', 'HTTP/3.0', 'HTTP/1.1 ', 'HTTP', 'http/1.1', 'ICY'].map(
    (version): MisbehavingServerCase => ({
      name: `RFC 9112 §2.3, an invalid or unsupported version: "${version}"`,
      behave: sends(`${version} 200 OK\r\n`, sized(30).slice(OK.length), disallowsPage),
      expected: unreachable('malformed'),
    }),
  ),
  {
    name: 'RFC 9113 §3.4, the client preface of HTTP/2',
    behave: sends('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    expected: unreachable('malformed'),
  },
  {
    name: 'RFC 9110 §15.2.2, 101 without an Upgrade header',
    behave: sends('HTTP/1.1 101 Switching Protocols\r\n\r\n', sized(30), disallowsPage),
    expected: unreachable('malformed'),
  },
  {
    name: 'RFC 9110 §15.2, an interim response with a body',
    behave: sends('HTTP/1.1 103 Early Hints\r\nContent-Length: 30\r\n\r\n', disallowsPage, sized(30), disallowsPage),
    expected: unreachable('malformed'),
  },
  ...[
    [
      'RFC 9112 §2.2, line ends without CR, which a client may accept; undici does not',
      `${OK}\r\n`.replaceAll('\r', ''),
    ],
    ['RFC 9112 §2.2, line ends without LF', `${OK}\r\n`.replaceAll('\n', '')],
    ['RFC 9112 §5.2, a folded header, which a client must accept; undici does not', `${OK}X: a\r\n b\r\n\r\n`],
    ['RFC 9112 §2.2, a space before the first header', `${OK} X: a\r\n\r\n`],
    ['RFC 9112 §5.1, a space before the colon', `${OK}X : a\r\n\r\n`],
    ['RFC 9112 §5, a header without a name', `${OK}: a\r\n\r\n`],
    ['RFC 9110 §5.5, a control character in a header', `${OK}X: a\x01b\r\n\r\n`],
    ['RFC 9110 §10.2.2, NUL in a Location', 'HTTP/1.1 302 Found\r\nLocation: /a\0b\r\n\r\n'],
  ].map(
    ([name, head]): MisbehavingServerCase => ({
      name: name as string,
      behave: sends(head as string, disallowsPage),
      expected: unreachable('malformed'),
    }),
  ),
  {
    name: 'RFC 9110 §5.5, NUL in a header',
    behave: sends(OK, 'X: a\x00b\r\n\r\n', disallowsPage),
    expected: unreachable('malformed'),
  },
  {
    name: 'RFC 9112 §5, a header line without a colon',
    behave: sends(OK, 'garbage\r\n\r\n', disallowsPage),
    expected: unreachable('malformed'),
  },

  // Endless or too large responses.
  {
    name: 'our choice, one header over the size limit',
    behave: sends(OK, `X: ${'x'.repeat(20_000)}\r\n\r\n`, disallowsPage),
    expected: unreachable('too-large'),
  },
  {
    name: 'our choice, many headers over the size limit',
    behave: sends(OK, 'X-Name: value\r\n'.repeat(2_000), '\r\n', disallowsPage),
    expected: unreachable('too-large'),
  },
  {
    name: 'our choice, a header name over the size limit',
    behave: sends(OK, `${'x'.repeat(20_000)}: a\r\n\r\n`, disallowsPage),
    expected: unreachable('too-large'),
  },
  {
    name: 'our choice, a Location of 100,000 bytes',
    behave: sends(`HTTP/1.1 302 Found\r\nLocation: /${'x'.repeat(100_000)}\r\nContent-Length: 0\r\n\r\n`),
    expected: unreachable('too-large'),
  },
  {
    name: 'our choice, endless headers',
    behave: sendsForever(OK, `X: ${'x'.repeat(1_000)}\r\n`),
    expected: unreachable('too-large'),
  },
  {
    name: 'our choice, endless trailers',
    behave: sendsForever(`${CHUNKED}${CHUNK}0\r\n`, `X: ${'x'.repeat(1_000)}\r\n`),
    expected: unreachable('too-large'),
  },
  {
    name: 'our choice, endless interim responses',
    behave: sendsSlowly('', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    expected: unreachable('timeout'),
    lastsUntilDeadline: true,
  },
  ...[
    ['a status line', 'HTTP/1.1 200 O', 'K'],
    ['empty lines before the status line', '\r\n', '\r\n'],
    ['a chunk extension', `${CHUNKED}1e;x=`, 'x'],
    ['chunks of one byte', CHUNKED, '1\r\n#\r\n'],
  ].map(
    ([what, beginning, piece]): MisbehavingServerCase => ({
      name: `our choice, ${what}, slow and endless`,
      behave: sendsSlowly(beginning as string, piece as string),
      expected: unreachable('timeout'),
      lastsUntilDeadline: true,
    }),
  ),
  {
    name: 'our choice, slow and endless headers',
    behave: sendsSlowly(`${OK}X: `, 'x'),
    expected: unreachable('timeout'),
    lastsUntilDeadline: true,
  },
  {
    name: 'our choice, a slow and endless body',
    behave: sendsSlowly(`${OK}\r\n`, '#'),
    expected: unreachable('timeout'),
    lastsUntilDeadline: true,
  },

  // Unusual but valid responses.
  {
    name: 'RFC 9112 §6.3, no length, so the body ends with the connection',
    behave: sends(`${OK}\r\n`, disallowsPage),
    expected: rulesHold,
  },
  { name: 'RFC 9112 §2.3, HTTP/1.0', behave: sends('HTTP/1.0 200 OK\r\n\r\n', disallowsPage), expected: rulesHold },
  {
    name: 'RFC 9112 §4, no reason phrase',
    behave: sends('HTTP/1.1 200\r\n', sized(disallowsPage.length).slice(OK.length), disallowsPage),
    expected: rulesHold,
  },
  { name: 'RFC 9112 §7.1, chunks', behave: sendsAndHolds(CHUNKED, CHUNK, '0\r\n\r\n'), expected: rulesHold },
  ...[102, 103, 104, 199].map(
    (status): MisbehavingServerCase => ({
      name: `RFC 9110 §15.2, an interim response first: ${status}`,
      behave: sendsAndHolds(`HTTP/1.1 ${status} Wait\r\nLink: </x>\r\n\r\n`, sized(30), disallowsPage),
      expected: rulesHold,
    }),
  ),
  {
    name: 'RFC 9110 §15.2, three interim responses first',
    behave: sendsAndHolds('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(3), sized(30), disallowsPage),
    expected: rulesHold,
  },
  {
    name: 'RFC 9110 §15.2, an unrequested 100 Continue, which a client must accept; undici ends the connection',
    behave: sendsAndHolds('HTTP/1.1 100 Continue\r\n\r\n', sized(30), disallowsPage),
    expected: unreachable('reset'),
  },
  {
    name: 'RFC 9110 §15.2, an interim response without a final one',
    behave: sends('HTTP/1.1 103 Early Hints\r\n\r\n'),
    expected: unreachable('reset'),
  },
  {
    name: 'RFC 9110 §15.2.2, 101 to an unrequested protocol',
    behave: sends('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'),
    expected: unreachable('reset'),
  },
  {
    name: 'RFC 9110 §7.8, an offer to upgrade is ignored',
    behave: sends(OK, 'Connection: upgrade\r\nUpgrade: h2c\r\n', sized(30).slice(OK.length), disallowsPage),
    expected: rulesHold,
  },
  ...[
    ['RFC 9112 §2.3, HTTP/2.0 in the syntax of HTTP/1.1', sized(30).replace('1.1', '2.0')],
    ['RFC 9112 §2.3, HTTP/1.0 with a length', sized(30).replace('1.1', '1.0')],
    ['RFC 9112 §2.2, empty lines before the status line', `\r\n\r\n${sized(30)}`],
    ['RFC 9112 §4, a reason phrase that is not UTF-8', sized(30).replace('OK', 'D\xe9j\xe0')],
    ['RFC 9112 §4, a reason phrase of 100,000 bytes', sized(30).replace('OK', 'x'.repeat(100_000))],
    ['RFC 9110 §5.5, a header that is not UTF-8', sized(30).replace(OK, `${OK}X: caf\xe9\r\n`)],
    ['our choice, 1,500 headers below the size limit', sized(30).replace(OK, OK + 'X: y\r\n'.repeat(1500))],
    ['RFC 9112 §9.6, Connection: close, keep-alive', sized(30).replace(OK, `${OK}Connection: close, keep-alive\r\n`)],
    ['our choice, Keep-Alive for -5 seconds', sized(30).replace(OK, `${OK}Keep-Alive: timeout=-5\r\n`)],
    [
      'our choice, Keep-Alive for 10^30 seconds',
      sized(30).replace(OK, `${OK}Keep-Alive: timeout=${'9'.repeat(30)}\r\n`),
    ],
    ['RFC 9112 §6.1, the transfer coding identity', `${OK}Transfer-Encoding: identity\r\n\r\n`],
  ].map(
    ([name, head]): MisbehavingServerCase => ({
      name: name as string,
      behave: sends(head as string, disallowsPage),
      expected: rulesHold,
    }),
  ),
  ...[
    ['a chunk extension', `1e;a=b;c="d"\r\n${disallowsPage}\r\n0\r\n\r\n`],
    ['a chunk extension of 30,000 bytes', `1e;${'x'.repeat(30_000)}\r\n${disallowsPage}\r\n0\r\n\r\n`],
    ['trailers', `${CHUNK}0\r\nX: y\r\n\r\n`],
    ['a chunk size in upper case with leading zeros', `0000001E\r\n${disallowsPage}\r\n000\r\n\r\n`],
    ['a chunk for each byte', `${disallowsPage.replaceAll(/[\s\S]/g, '1\r\n$&\r\n')}0\r\n\r\n`],
  ].map(
    ([what, body]): MisbehavingServerCase => ({
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
    name: 'RFC 9112 §7.2, gzip as an unrequested transfer coding',
    behave: sends(
      OK,
      'Transfer-Encoding: gzip, chunked\r\n\r\n',
      chunk(gzipSync(disallowsPage).toString('latin1')),
      '0\r\n\r\n',
    ),
    expected: rulesHold,
  },
  {
    name: 'RFC 9110 §8.4, two Content-Encoding headers',
    behave: sends(
      OK,
      'Content-Encoding: gzip\r\n'.repeat(2),
      '\r\n',
      gzipSync(gzipSync(disallowsPage)).toString('latin1'),
    ),
    expected: rulesHold,
  },
  {
    name: 'RFC 9112 §9.3, the first of two responses to one request counts',
    behave: sendsAndHolds(sized(30), disallowsPage, sized(23), 'User-agent: *\nDisallow:'),
    expected: rulesHold,
  },
  {
    name: 'RFC 9110 §15.3.5, 204 with a body, which it cannot have',
    behave: sends(sized(30).replace('200 OK', '204 No Content'), disallowsPage),
    expected: { ...noRules, status: 204 },
  },
  {
    name: 'our choice, 205 with a body, which it must not have',
    behave: sends(sized(30).replace('200 OK', '205 Reset Content'), disallowsPage),
    expected: { ...rulesHold, status: 205 },
  },
  ...[304, 600, 999].map(
    (status): MisbehavingServerCase => ({
      name: `our choice, rules in a response whose status has no body or no meaning: ${status}`,
      behave: sends(sized(30).replace('200', String(status)), disallowsPage),
      expected: oddStatus(status),
    }),
  ),
  {
    name: 'RFC 9112 §6.3, bytes after the body',
    behave: sends(sized(disallowsPage.length), disallowsPage, 'Allow: /page\n'),
    expected: rulesHold,
  },
  {
    name: 'RFC 9309 §2.3.1.3, a 404 with a truncated body',
    behave: sends(NOT_FOUND, 'Sorry'),
    expected: notFound,
  },
  {
    name: 'RFC 9309 §2.3.1.3, a 404 whose body is reset',
    behave: sendsAndResets(NOT_FOUND, 'Sorry'),
    expected: notFound,
  },
  {
    name: 'RFC 9309 §2.3.1.3, a 404 whose body stalls',
    behave: sendsAndHolds(NOT_FOUND, 'Sorry'),
    expected: notFound,
  },
  {
    name: 'RFC 9309 §2.3.1.3, a 404 with an endless body',
    behave: sendsForever('HTTP/1.1 404 Not Found\r\n\r\n', 'Sorry '.repeat(100)),
    expected: notFound,
  },
]

/** A server that misbehaves before it has read a request. */
export interface ConnectionCase {
  /**
   * Source and case: a section of a standard or `our choice`, a comma, and what the server does.
   */
  readonly name: string
  readonly scheme: 'http' | 'https'
  readonly accept: Behaviour
  readonly expected: ServerCaseExpectation
  /** Set if only the deadline ends the request. */
  readonly lastsUntilDeadline?: true
}

/** Waits for the first bytes of the client. */
function afterFirstBytes(behave: Behaviour): Behaviour {
  return (socket) => void socket.once('data', () => behave(socket))
}

const TLS_ALERT = '\x15\x03\x03\x00\x02\x02'

export const connectionCases: readonly ConnectionCase[] = [
  {
    name: 'RFC 9309 §2.3.1.4, reset when accepted',
    scheme: 'http',
    accept: (socket) => socket.resetAndDestroy(),
    expected: unreachable('reset'),
  },
  {
    name: 'RFC 9309 §2.3.1.4, closed when accepted',
    scheme: 'http',
    accept: (socket) => socket.end(),
    expected: unreachable('reset'),
  },
  {
    name: 'our choice, accepts the connection and stays silent',
    scheme: 'http',
    accept: () => undefined,
    expected: unreachable('timeout'),
    lastsUntilDeadline: true,
  },
  {
    name: 'RFC 9112 §9.2, a response before the request counts',
    scheme: 'http',
    accept: sendsAndHolds(sized(30), disallowsPage),
    expected: rulesHold,
  },
  {
    name: 'our choice, another protocol whose server sends first',
    scheme: 'http',
    accept: sendsAndHolds('220 mail.test ESMTP\r\n'),
    expected: unreachable('malformed'),
  },
  {
    name: 'RFC 9309 §2.3.1.4, closed in the TLS handshake',
    scheme: 'https',
    accept: afterFirstBytes((socket) => socket.end()),
    expected: unreachable('reset'),
  },
  {
    name: 'RFC 9309 §2.3.1.4, reset in the TLS handshake',
    scheme: 'https',
    accept: afterFirstBytes((socket) => socket.resetAndDestroy()),
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
    ['an unknown host name', `${TLS_ALERT}\x70`],
    ['an invalid record', '\x16\x03\x03\x00\x04abcd'],
    ['bytes that are not TLS', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ].map(
    ([what, bytes]): ConnectionCase => ({
      name: `RFC 9309 §2.3.1.4, no secure connection: ${what}`,
      scheme: 'https',
      accept: afterFirstBytes(sends(bytes as string)),
      expected: unreachable('tls'),
    }),
  ),
]
