// The limit of the bytes of a whole response on the client's own connections. Our choice.
import type { Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { checkedPage, disallowsPage } from '@politely/testkit/response-cases'
import { selfSigned } from '@politely/testkit/self-signed'
import { startSites } from '@politely/testkit/sites'
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import { test } from './with-sites.ts'

const certificate = selfSigned('a.test')
const usual = getCACertificates('default')
beforeAll(() => setDefaultCACertificates([...usual, certificate.cert]))
afterAll(() => setDefaultCACertificates(usual))

/** Sends the beginning, and then the rest again and again until the client closes the connection. */
const endless = (beginning: string, again: string | Buffer) => (socket: Socket) => {
  const block = Buffer.concat(Array.from({ length: Math.ceil(10_000 / again.length) }, () => Buffer.from(again)))
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
  access: { reason: 'too-large', detail: expect.stringContaining('longer than 2072576 bytes') },
}
const obeyed = { allowed: false, because: 'rule' }
const cut = { ...obeyed, access: { copy: { truncated: true } } }
const whole = { ...obeyed, access: { copy: { truncated: false } } }

describe.for(['http', 'https'] as const)('%s', (scheme) => {
  test.for<readonly [name: string, behave: (socket: Socket) => void, expected: object]>([
    [
      'endless interim responses are too large',
      endless('', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
      tooLarge,
    ],
    ['an endless chunk extension before the body is too large', endless(`${CHUNKED}1e;x=`, 'x'), tooLarge],
    [
      'a coded body that decodes to nothing is too large',
      endless(`${OK}Content-Encoding: gzip\r\n\r\n`, gzipSync('')),
      tooLarge,
    ],
    [
      'an endless chunk extension after a part of the body cuts it',
      endless(`${CHUNKED}${chunkOf(disallowsPage)}1e;x=`, 'x'),
      cut,
    ],
    [
      'chunks of one byte cut a body under its own limit',
      endless(CHUNKED + Array.from(disallowsPage, chunkOf).join(''), chunkOf('#')),
      cut,
    ],
    [
      'a megabyte of chunk extensions is no problem',
      (socket) => void socket.end(`${CHUNKED}1e;${'x'.repeat(1_000_000)}\r\n${disallowsPage}\r\n0\r\n\r\n`),
      whole,
    ],
  ])('%s', async ([, behave, expected], { newClient }) => {
    const sites = await startSites(scheme === 'https' ? { certificate } : {})
    onTestFinished(() => sites.close())
    sites.respond(`${scheme}://a.test:PORT/robots.txt`, behave)
    const page = sites.withPort(checkedPage).replace('http', scheme)

    expect(await newClient().check(page)).toMatchObject(expected)

    await sites.allConnectionsClosed()
  })
})
