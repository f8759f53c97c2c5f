// @module-tag nodes
// A slow caller loses nothing. If a body still breaks off, the loop throws after the last entry.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { politely } from '@politely/gate'
import { index, url, urlset } from '@politely/testkit/cases/sitemap-case'
import { firstInShortRun } from '@politely/testkit/scope'
import { expect, it, onTestFinished } from 'vitest'
import { readSitemaps, type SitemapEntry, SitemapIncompleteError, type SitemapReading } from '../src/index.ts'
import { outcomes, paths, withTemporaryFolder } from './reading-site.ts'

const COUNT = 6_000
/** More than the sockets and the spool hold in memory. */
const PADDING = `?${'x'.repeat(2_000)}`
const bigFile = Buffer.from(urlset(Array.from({ length: COUNT }, (_, n) => url(`/${n}${PADDING}`)).join('')))

type Handle = (request: IncomingMessage, response: ServerResponse, origin: string) => void

/** Starts a server whose robots.txt names /s.xml. Each page but `handle` has one word. */
async function startSite(sitemap: Handle): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === '/robots.txt') response.end(`Sitemap: ${origin}/s.xml`)
    else if (request.url?.endsWith('.xml')) sitemap(request, response, origin)
    else response.end('page')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return origin
}

function politeFetch(requestTimeoutMs?: number) {
  const options = { userAgent: 'ExampleBot/1.0', minDelayMs: 0, requestTimeoutMs }
  const fetch = politely(globalThis.fetch, options)
  onTestFinished(() => fetch.close())
  return fetch
}

/** Sends the bytes, and closes the connection if the client stops reading. Resolves when either is done. */
async function sendImpatiently(response: ServerResponse, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; at += 100_000) {
    let isRead = false
    response.write(bytes.subarray(at, at + 100_000), () => {
      isRead = true
    })
    for (let waits = 0; !isRead; waits++) {
      if (waits === 45) return void response.destroy() // after a second
      await sleep(waits)
    }
  }
  response.end()
}

/** Reads a reading as the natural loop does, and waits after the first entry. */
async function loop(reading: SitemapReading, wait: () => Promise<unknown> = async () => undefined) {
  const entries: SitemapEntry[] = []
  let error: unknown
  try {
    for await (const entry of reading) if (entries.push(entry) === 1) await wait()
  } catch (caught) {
    error = caught
  }
  return { entries, error }
}

it('loses nothing by requestTimeoutMs, which still applies to pages', { tags: 'full' }, async () => {
  const origin = await startSite((_request, response) => {
    response.write(bigFile.subarray(0, -100_000))
    setTimeout(() => response.end(bigFile.subarray(-100_000)), 1_400) // longer than requestTimeoutMs
  })
  const fetch = politeFetch(1_000)
  const reading = readSitemaps(origin, { fetch })
  let count = 0
  for await (const { loc } of reading) {
    if (count++ % 1_000 === 0) await (await fetch(loc.replace(PADDING, ''))).text()
  }
  expect(count).toBe(COUNT)
  expect(outcomes(reading)).toEqual([`/s.xml complete: ${COUNT} entries`])
  const page = await fetch(`${origin}/page.xml`)
  await expect(page.text()).rejects.toThrow('requestTimeoutMs')
})

it('loses nothing to a server that closes stalled connections', async () => {
  let sending: Promise<void> | undefined
  const origin = await startSite((_request, response) => {
    sending = sendImpatiently(response, bigFile)
  })
  const reading = readSitemaps(origin, { fetch: politeFetch() })
  const { entries, error } = await loop(reading, async () => sending)
  expect(error).toBe(undefined)
  expect(entries.length).toBe(COUNT)
  expect(outcomes(reading)).toEqual([`/s.xml complete: ${COUNT} entries`])
})

it.each(firstInShortRun(['with', 'without']))(
  'requests the rest if there is no disk, from a server %s ranges',
  { tags: 'full' },
  async (ranges) => {
    withTemporaryFolder('/no/such/folder')
    const asked: (string | undefined)[] = []
    let sending: Promise<void> | undefined
    const origin = await startSite((request, response) => {
      asked.push(request.headers.range && `${request.headers.range} if ${request.headers['if-range']}`)
      const from = Number(/\d+/.exec(request.headers.range ?? '')?.[0] ?? 0)
      if (from > 0 && ranges === 'with')
        response.writeHead(206, {
          'content-range': `bytes ${from}-${bigFile.length - 1}/${bigFile.length}`,
          etag: '"1"',
        })
      else response.setHeader('etag', '"1"')
      sending = sendImpatiently(response, ranges === 'with' ? bigFile.subarray(from) : bigFile)
    })
    const reading = readSitemaps(origin, { fetch: politeFetch() })
    const { entries, error } = await loop(reading, async () => sending)
    expect(asked[1]).toMatch(/^bytes=\d+- if "1"$/)
    if (ranges === 'with') {
      expect(error).toBe(undefined)
      expect(new Set(paths(entries)).size).toBe(COUNT)
      expect(outcomes(reading)).toEqual([`/s.xml complete: ${COUNT} entries`])
    } else {
      expect(entries.length).toBeGreaterThan(0)
      expect(String(error)).toContain('no temporary file could be written (ENOENT')
    }
  },
)

it('throws after the last entry if a body breaks off, and a later reading continues there', async () => {
  let isBroken = true
  const origin = await startSite((request, response) => {
    const name = request.url?.slice(1, -4)
    if (name === 's') return void response.end(index(`${origin}/a.xml`, `${origin}/gone.xml`, `${origin}/b.xml`))
    if (name === 'gone') return void response.writeHead(404).end()
    const body = urlset(['0', '1', '2'].map((n) => url(`${origin}/${name}${n}`)).join('\n'))
    if (name === 'b' || !isBroken) return void response.end(body)
    response.writeHead(200, { 'content-length': body.length })
    response.write(body.slice(0, body.indexOf('/a2')), () => setImmediate(() => response.destroy()))
  })
  const fetch = politeFetch()
  const first = readSitemaps(origin, { fetch })
  const { entries, error } = await loop(first)
  expect(paths(entries)).toEqual(['/a0', '/a1', '/b0', '/b1', '/b2'])
  expect(error).toBeInstanceOf(SitemapIncompleteError)
  expect(error).toMatchObject({
    name: 'SitemapIncompleteError',
    code: 'ERR_POLITELY_SITEMAP_INCOMPLETE',
    message: expect.stringContaining(`${origin}/a.xml broke off: partial (the body ended early: terminated`),
    files: [first.files.list.find((file) => file.url === `${origin}/a.xml`)],
  })
  expect(outcomes(first)).toContain('/gone.xml failed: status 404')

  isBroken = false
  const second = readSitemaps(origin, { fetch, resume: JSON.parse(JSON.stringify(first.token())) })
  const rest = await loop(second)
  expect(paths(rest.entries)).toEqual(['/a2'])
  expect(rest.error).toBe(undefined)
})

it('throws for a stream of the caller that breaks off, and not for a file that is broken itself', async () => {
  const base = 'https://site.example/s.xml'
  const body = Buffer.from(urlset(url(`${base}/a`)))
  async function* broken() {
    yield body.subarray(0, -15)
    throw new Error('disk error')
  }
  const { entries, error } = await loop(readSitemaps(broken(), { base }))
  expect(entries.length).toBe(1)
  expect(String(error)).toContain('disk error')
  expect(await loop(readSitemaps(body.subarray(0, -15), { base }))).toMatchObject({ error: undefined })
})

it('reports a file that broke off, and throws nothing, if only the results are iterated', async () => {
  const origin = await startSite((_request, response) => {
    response.writeHead(200, { 'content-length': 1_000 })
    response.write(`<urlset>${url(`${origin}/a`)}`, () => setImmediate(() => response.destroy()))
  })
  const reading = readSitemaps(origin, { fetch: politeFetch() })
  const reasons: unknown[] = []
  for await (const { outcome, reason } of reading.files) reasons.push([outcome, reason])
  expect(reasons).toEqual([['partial', 'cut-off']])
})

it('closes the connection if the loop ends early, or is aborted', async () => {
  let closed = 0
  const origin = await startSite((_request, response) => {
    response.on('close', () => closed++)
    response.write(`<urlset>${url(`${origin}/a`).repeat(2_000)}`) // and no end
  })
  const fetch = politeFetch(60_000)
  for await (const _entry of readSitemaps(origin, { fetch })) break
  await expect.poll(() => closed).toBe(1)
  const controller = new AbortController()
  const reading = readSitemaps(origin, { fetch, signal: controller.signal })
  const error = await (async () => {
    for await (const _entry of reading) controller.abort(new Error('enough'))
  })().catch((caught: Error) => caught)
  expect(error?.message).toBe('enough')
  await expect.poll(() => closed).toBe(2)
})

it('does not count the time of the caller towards maxFileMs', async () => {
  const origin = await startSite((_request, response) => response.end(bigFile))
  const reading = readSitemaps(origin, { fetch: politeFetch(), limits: { maxFileMs: 20_000 } })
  const now = performance.now.bind(performance)
  let late = 0
  performance.now = () => now() + late // an hour passes while the caller has the first entry
  onTestFinished(() => {
    performance.now = now
  })
  let count = 0
  for await (const _entry of reading) {
    late = 3_600_000
    count++
  }
  expect(count).toBe(COUNT)
})
