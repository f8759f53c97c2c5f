// @module-tag nodes
// The limit of the bytes of a whole response on the client's own connections. Our choice.
import type { Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { bodyLimit } from '@politely/testkit/cases/body-cases'
import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { isFullRun } from '@politely/testkit/scope'
import { selfSigned } from '@politely/testkit/servers/self-signed'
import { startSites } from '@politely/testkit/servers/sites'
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import { test } from './with-sites.ts'

const certificate = selfSigned('a.test')
const usual = getCACertificates('default')
beforeAll(() => setDefaultCACertificates([...usual, certificate.cert]))
afterAll(() => setDefaultCACertificates(usual))

/**
 * Sends the beginning, and then the rest again and again until the client closes the connection.
 */
const endless = (beginning: string, again: string | Buffer) => (socket: Socket) => {
  const block = Buffer.alloc(again.length * Math.ceil(10_000 / again.length), again)
  socket.write(beginning)
  const more = () => {
    while (!socket.destroyed && socket.write(block)) {}
  }
  socket.on('drain', more)
  more()
}

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`
const chunkOf = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const tooLarge = {
  allowed: false,
  because: 'unreachable',
  access: { reason: 'too-large', detail: expect.stringContaining('longer than 4120576 bytes') },
}
/** Returns a chunk for each byte. */
function chunkEachByte(text: string): Buffer {
  const chunks = Buffer.alloc(6 * text.length, chunkOf('#'))
  for (let i = 0; i < text.length; i++) chunks.writeUInt8(text.charCodeAt(i), 6 * i + 3)
  return chunks
}
/** As long as RFC 9309 §2.5 requires, with a rule in its last line. */
const longest = `User-agent: *\n${'#'.repeat(bodyLimit - 31)}\nDisallow: /page\n`
const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'
const interim = (bytes: number) => EARLY_HINTS.repeat(bytes / EARLY_HINTS.length)
const obeyed = { allowed: false, because: 'rule' }
const cut = { ...obeyed, access: { copy: { truncated: true } } }
const whole = { ...obeyed, access: { copy: { truncated: false } } }

const rows: readonly (readonly [name: string, behave: (socket: Socket) => void, expected: object])[] = [
  ['endless interim responses are too large', endless('', EARLY_HINTS), tooLarge],
  ['an endless chunk extension before the body is too large', endless(`${CHUNKED}1e;x=`, 'x'), tooLarge],
  [
    'a coded body that decodes to nothing is too large',
    endless(`${OK}Content-Encoding: gzip\r\n\r\n`, gzipSync('')),
    tooLarge,
  ],
  [
    'an endless chunk extension after a part of the body is too large',
    endless(`${CHUNKED}${chunkOf(disallowsPage)}1e;x=`, 'x'),
    tooLarge,
  ],
  [
    'a file behind more interim responses than the limit is too large',
    (socket) => void socket.end(`${interim(4_200_000)}${OK}\r\n${disallowsPage}`),
    tooLarge,
  ],
  [
    'a file with more chunk extensions than the limit is too large',
    (socket) =>
      void socket.end(
        `${CHUNKED}${chunkOf('User-agent: *\n')}10;${'x'.repeat(4_200_000)}\r\nDisallow: /page\n\r\n0\r\n\r\n`,
      ),
    tooLarge,
  ],
  [
    'an endless file in chunks of one byte is cut at its own limit',
    endless(`${CHUNKED}${chunkEachByte(disallowsPage)}`, chunkOf('#')),
    cut,
  ],
  [
    'RFC 9309 §2.5, the longest file in chunks of one byte is whole',
    (socket) =>
      void socket.end(Buffer.concat([Buffer.from(CHUNKED), chunkEachByte(longest), Buffer.from('0\r\n\r\n')])),
    whole,
  ],
  [
    'a file behind two megabytes of interim responses is whole',
    (socket) => void socket.end(`${interim(2_080_000)}${OK}\r\n${disallowsPage}`),
    whole,
  ],
  [
    'a file with two megabytes of chunk extensions is whole',
    (socket) => void socket.end(`${CHUNKED}1e;${'x'.repeat(2_080_000)}\r\n${disallowsPage}\r\n0\r\n\r\n`),
    whole,
  ],
]

/** The short run has one case over the limit and one below it over TLS, whose bytes the same code counts. */
const IN_SHORT_RUN = /^an endless chunk extension before|^a file behind two megabytes/

describe.for(['http', 'https'] as const)('%s', (scheme) => {
  const runs = isFullRun || scheme === 'http' ? rows : rows.filter(([name]) => IN_SHORT_RUN.test(name))
  test.for(runs)('%s', async ([, behave, expected], { newClient }) => {
    const sites = await startSites(scheme === 'https' ? { certificate } : {})
    onTestFinished(() => sites.close())
    sites.respond(`${scheme}://a.test:PORT/robots.txt`, behave)
    const page = sites.withPort(checkedPage).replace('http', scheme)

    expect(await newClient().check(page)).toMatchObject(expected)

    await sites.allConnectionsClosed()
  })
})
