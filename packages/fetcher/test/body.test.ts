// @module-tag nodes
// Bodies: content codings, the size limit of RFC 9309 §2.5, and decompression bombs.
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { bodyCases, bodyLimit, SLOW_BODIES } from '@politely/testkit/cases/body-cases'
import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { withoutSlow } from '@politely/testkit/scope'
import { describe, expect } from 'vitest'
import { readBody } from '../src/fetch/body.ts'
import { test } from './with-sites.ts'

const ROBOTS = 'http://a.test:PORT/robots.txt'

for (const { name, contentEncoding, body, expected } of withoutSlow(bodyCases, SLOW_BODIES)) {
  test(name, async ({ sites, newClient }) => {
    const headers = contentEncoding === undefined ? {} : { 'content-encoding': contentEncoding }
    sites.respond(ROBOTS, { status: 200, headers, body: body() })

    const verdict = await newClient().check(sites.withPort(checkedPage))

    const { allowed, because, truncated, ...access } = expected
    expect(verdict).toMatchObject({ allowed, because, access })
    expect(verdict.access?.copy?.truncated).toBe(truncated)
  })
}

test('our choice, a signal stops the decoders, also after the whole body was received', async () => {
  const stop = new AbortController()
  const body = Readable.from([
    brotliCompressSync(Buffer.alloc(2 ** 26), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  ])
  const reading = readBody(body, { 'content-encoding': 'br' }, 2 ** 27, stop.signal)
  await finished(body)
  stop.abort()
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' })
})

describe('our choice, an endless body is read up to the limit, and its connection is closed', () => {
  const comments = `${'#'.repeat(99)}\n`.repeat(100)
  test.for([
    ['uncoded', '', Buffer.from(disallowsPage), Buffer.from(comments)],
    ['gzip', 'Content-Encoding: gzip\r\n', gzipSync(disallowsPage), gzipSync(comments)],
  ] as const)('%s', async ([, header, beginning, again], { sites, newClient }) => {
    sites.respond(ROBOTS, (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${header}\r\n`)
      socket.write(beginning)
      const more = () => {
        while (!socket.destroyed && socket.write(again)) {}
      }
      socket.on('drain', more)
      more()
    })

    const verdict = await newClient().check(sites.withPort(checkedPage))

    expect(verdict).toMatchObject({ allowed: false, because: 'rule', access: { copy: { truncated: true } } })
    await sites.allConnectionsClosed()
  })
})

test('our choice, a larger maxBodyBytes applies', async ({ sites, newClient }) => {
  const body = `User-agent: *\n${'#\n'.repeat(bodyLimit)}Disallow: /page\n`
  sites.respond(ROBOTS, { status: 200, body })

  const verdict = await newClient({ maxBodyBytes: body.length }).check(sites.withPort(checkedPage))

  expect(verdict).toMatchObject({ allowed: false, because: 'rule', access: { copy: { truncated: false } } })
})

// The bytes that are kept, which a verdict does not show.
describe('RFC 9309 §2.5, the bytes kept of a body with a limit of 10 bytes', () => {
  test.each([
    ['under the limit', ['a\nb\nc'], 'a\nb\nc', false],
    ['exactly the limit', ['12345678\n0'], '12345678\n0', false],
    ['the limit inside a line', ['1234\n6789012'], '1234\n', true],
    ['the limit after LF', ['1234\n6789\nx'], '1234\n6789\n', true],
    ['the limit after CR', ['1234\r6789\rx'], '1234\r6789\r', true],
    ['the limit between CR and LF', ['12345678\r\r\n'], '12345678\r\r', true],
    ['no line end', ['12345678901234'], '1234567890', true],
    ['several chunks', ['12', '34\n', '', '678', '901234'], '1234\n', true],
    ['bytes, not characters', ['é\n678é\n'], 'Ã©\n678Ã©\n', false],
    ['nothing', [], '', false],
  ])('%s', async (_, chunks, bytes, truncated) => {
    const body = Readable.from(chunks.map((chunk) => Buffer.from(chunk)))
    expect(await readBody(body, {}, 10)).toEqual({ bytes, truncated })
  })

  test('a decompression bomb', async () => {
    const body = Readable.from([gzipSync('0123\n'.repeat(1_000_000))])
    expect(await readBody(body, { 'content-encoding': 'gzip' }, 10)).toEqual({
      bytes: '0123\n0123\n',
      truncated: true,
    })
  })

  test.each([
    ['uncoded', undefined, Buffer.from('0123\n')],
    ['gzip', 'gzip', gzipSync('0123\n')],
    ['gzip twice', 'gzip, gzip', gzipSync(gzipSync('0123\n'))],
  ])('an endless body, of which only the buffers of the streams are read: %s', async (_, coding, chunk) => {
    let taken = 0
    function* endless() {
      for (; taken < 100_000; taken++) yield chunk
    }
    const body = Readable.from(endless())
    expect(await readBody(body, { 'content-encoding': coding }, 10)).toEqual({
      bytes: '0123\n0123\n',
      truncated: true,
    })
    expect(taken).toBeLessThan(10_000)
    await finished(body).catch(() => undefined) // it ends, one way or the other
    expect(body.destroyed).toBe(true)
  })
})
