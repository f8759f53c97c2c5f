// A public site cannot lead a reading to a private host, whichever field names it. 127.0.0.1 counts as
// public here, and 127.0.0.2 is private.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RobotsClient } from '@politely/fetcher'
import { politely } from '@politely/gate'
import { index, url, urlset } from '@politely/testkit/cases/sitemap-case'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { describeResult } from '../src/file-result.ts'
import { type ReadSitemapsOptions, readSitemaps, type SitemapFile, type SitemapReading } from '../src/index.ts'
import { all } from './reading-site.ts'

let site = ''
let inside = ''
let pages: Record<string, { readonly body?: string; readonly location?: string }> = {}
/** The requests that the private host got. */
let received: string[] = []
let servers: Server[] = []

beforeAll(async () => {
  const outside = createServer((request, response) => {
    const { body, location } = pages[request.url ?? ''] ?? {}
    if (location !== undefined) response.writeHead(302, { location }).end()
    else response.writeHead(body === undefined ? 404 : 200).end(body)
  })
  const secret = createServer((request, response) => {
    received.push(request.url ?? '')
    response.end(request.url === '/robots.txt' ? `Sitemap: ${site}/s.xml` : urlset(url(`${site}/secret`)))
  })
  await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve))
  const { port } = outside.address() as AddressInfo
  await new Promise<void>((resolve) => secret.listen(port, '127.0.0.2', resolve))
  site = `http://127.0.0.1:${port}`
  inside = `http://127.0.0.2:${port}`
  servers = [outside, secret]
})
beforeEach(() => {
  received = []
})
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

const OPTIONS = { userAgent: 'ExampleBot/1.0', allowAddresses: ['127.0.0.1'], retries: 0 } as const
const ways: Readonly<Record<string, () => ReadSitemapsOptions>> = {
  'a polite fetch': () => {
    const fetch = politely(globalThis.fetch, { ...OPTIONS, minDelayMs: 0 })
    onTestFinished(() => fetch.close())
    return { fetch }
  },
  'a RobotsClient': () => {
    const robots = new RobotsClient(OPTIONS)
    onTestFinished(() => robots.close())
    return { fetch: globalThis.fetch, robots }
  },
}

/** The problems of each file, and why it was not read. */
const problemsOf = ({ files }: SitemapReading) =>
  files.list.map((file: SitemapFile) => [
    new URL(file.url).host === new URL(site).host ? new URL(file.url).pathname : 'inside',
    ...file.problems.map(({ code, count }) => `${code} ${count}`),
    ...(file.verdict === undefined ? [] : [describeResult(file)]),
  ])

describe.each(Object.keys(ways))('with %s', (way) => {
  const read = async (source: string | readonly string[]) => {
    const reading = readSitemaps(source, ways[way]?.() as ReadSitemapsOptions)
    const entries = await all(reading)
    return { locs: entries.map(({ loc }) => loc), problems: problemsOf(reading) }
  }

  it('no Sitemap line of a public site does', async () => {
    pages = {
      '/robots.txt': { body: `Sitemap: ${inside}/s.xml\nSitemap: ${site}/s.xml` },
      '/s.xml': { body: urlset(url(`${site}/a`)) },
    }
    const { locs } = await read(site)
    expect(locs).toEqual([`${site}/a`])
    expect(received).toEqual([])
  })

  it('no sitemap of an index, and no redirect does', async () => {
    pages = {
      '/i.xml': { body: index(`${inside}/s.xml`, `${site}/redirect.xml`, `${site}/1.xml`) },
      '/redirect.xml': { location: `${inside}/s.xml` },
      '/1.xml': { body: index(`${inside}/deep.xml`) },
    }
    const { locs, problems } = await read([`${site}/i.xml`])
    expect(locs).toEqual([])
    expect(problems).toEqual([
      ['/i.xml', 'private-host 1'],
      ['/redirect.xml', expect.stringContaining('is not a public address')],
      ['/1.xml', 'private-host 1'],
    ])
    expect(received).toEqual([])
  })

  it('no entry does, and no proof is asked of a private host', async () => {
    const others = [
      `${inside}/a`,
      'http://[::1]/b',
      'http://169.254.169.254/latest',
      'http://printer/',
      'http://a.internal/',
    ]
    pages = { '/s.xml': { body: urlset([...others, `${site}/a`].map((loc) => url(loc)).join('')) } }
    const { locs, problems } = await read([`${site}/s.xml`])
    expect(locs).toEqual([`${site}/a`])
    expect(problems).toEqual([['/s.xml', 'private-host 5']])
    expect(received).toEqual([])
  })

  it('a resumed reading does not either', async () => {
    pages = {
      '/robots.txt': { body: `Sitemap: ${site}/s.xml\nSitemap: ${inside}/s.xml` },
      '/s.xml': { body: urlset(url(`${site}/a`) + url(`${site}/b`)) },
    }
    const options = ways[way]?.() as ReadSitemapsOptions
    const first = readSitemaps(site, options)
    for await (const _entry of first) break
    const second = readSitemaps(site, { ...options, resume: JSON.parse(JSON.stringify(first.token())) })
    expect((await all(second)).map(({ loc }) => loc)).toEqual([`${site}/b`])
    expect(received).toEqual([])
  })
})

it('a private site may name its own hosts, since the caller asked for it', async () => {
  pages = { '/s.xml': { body: urlset(url(`${inside}/a`)) } }
  const fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0', minDelayMs: 0 })
  onTestFinished(() => fetch.close())
  const reading = readSitemaps(inside, { fetch }) // its robots.txt names a file of the other host
  expect((await all(reading)).map(({ loc }) => loc)).toEqual([`${inside}/a`])
})

it.each([{ network: 'any' }, { allowAddresses: ['127.0.0.0/8'] }] as const)('%j allows the hosts', async (network) => {
  pages = { '/s.xml': { body: urlset(url(`${inside}/a`)) } }
  const fetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0', minDelayMs: 0, ...network })
  onTestFinished(() => fetch.close())
  const [entry] = await all(readSitemaps([`${site}/s.xml`], { fetch }))
  expect(entry?.foreign).toEqual({ origin: inside, proof: 'robots.txt' })
})

it('bytes of a public site, read without a client, name no private host', async () => {
  const body = Buffer.from(urlset(url('http://127.0.0.2/a') + url('https://example.org/b')))
  const reading = readSitemaps(body, { base: 'https://example.com/s.xml' })
  expect((await all(reading)).map(({ loc }) => loc)).toEqual(['https://example.org/b'])
})

it('a fetch without a client does not follow the index of a public site to a private host', async () => {
  const requested: string[] = []
  const fetch = async (target: string) => {
    requested.push(target)
    return new Response(null, { status: 302, headers: { location: `${inside}/s.xml` } })
  }
  const reading = readSitemaps(['https://example.com/s.xml'], { fetch })
  expect(await all(reading)).toEqual([])
  expect(requested).toEqual(['https://example.com/s.xml'])
  expect(reading.files.list[0]).toMatchObject({ outcome: 'failed', reason: 'refused' })
})

it('passes the URLs that led to a file to the fetch', async () => {
  const chains: unknown[] = []
  const fetch = async (target: string, { redirectedFrom }: { readonly redirectedFrom: readonly string[] }) => {
    chains.push([target, redirectedFrom])
    if (target.endsWith('i.xml')) return new Response(index('https://example.org/s.xml'))
    return target.endsWith('s.xml')
      ? new Response(null, { status: 302, headers: { location: '/t.xml' } })
      : new Response(urlset(''))
  }
  await all(readSitemaps(['https://example.com/i.xml'], { fetch }))
  expect(chains).toEqual([
    ['https://example.com/i.xml', []],
    ['https://example.org/s.xml', ['https://example.com/i.xml']],
    ['https://example.org/t.xml', ['https://example.com/i.xml', 'https://example.org/s.xml']],
  ])
})
