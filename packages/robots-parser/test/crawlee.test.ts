// @module-tag full
// Crawlee with our package in place of robots-parser: everything that its documentation says about
// robots.txt still holds.
import type { CheerioCrawlingContext, SkippedRequestCallback } from '@crawlee/cheerio'
import { type Sites, startSites } from '@politely/testkit/servers/sites'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { crawleeWith, type OverriddenCrawlee, parserFolders } from './overridden-crawlee.ts'

const FILE = [
  'User-agent: *',
  'Disallow: /private',
  'User-agent: ExampleBot',
  'Disallow: /page',
  'Sitemap: http://localhost:PORT/sitemap.xml',
  'Sitemap: http://127.0.0.1:PORT/sitemap.xml',
  'Sitemap: /sitemap.xml',
].join('\n')

const page = (...links: readonly string[]) => ({
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: links.map((link) => `<a href="${link}">${link}</a>`).join('\n'),
})

describe.each(Object.entries(parserFolders))('Crawlee with robots-parser: %s', (name, robotsParser) => {
  let sites: Sites
  let crawlee: OverriddenCrawlee
  let RobotsTxtFile: typeof import('@crawlee/utils').RobotsTxtFile
  const here = (path: string) => sites.withPort(`http://localhost:PORT${path}`)

  beforeAll(() => {
    crawlee = crawleeWith(robotsParser)
    RobotsTxtFile = crawlee.require('@crawlee/utils').RobotsTxtFile
    crawlee.require('@crawlee/cheerio').log.setLevel(0)
  })
  afterAll(() => crawlee.close())

  beforeEach(async () => {
    sites = await startSites()
    sites.respond('http://localhost:PORT/robots.txt', { status: 200, body: sites.withPort(FILE) })
    return () => sites.close()
  })

  it('uses this package', () => {
    // A case in which the two packages differ: only rules end a list of user-agent lines (Google).
    const robots = RobotsTxtFile.from(
      'https://example.com/robots.txt',
      'User-agent: a\nCrawl-delay: 1\nUser-agent: b\nDisallow: /',
    )
    expect(robots.isAllowed('https://example.com/', 'a')).toBe(name === 'theirs')
  })

  it('RobotsTxtFile.from(url, content)', () => {
    const robots = RobotsTxtFile.from(here('/robots.txt'), sites.withPort(FILE))
    expect(robots.isAllowed(here('/page'))).toBe(true)
    expect(robots.isAllowed(here('/private/1'))).toBe(false)
    expect(robots.isAllowed(here('/page'), 'ExampleBot')).toBe(false)
    expect(robots.isAllowed('https://example.org/private')).toBe(true) // Crawlee allows URLs of other origins
    expect(robots.getSitemaps()).toEqual([here('/sitemap.xml')])
    expect(robots.getSitemaps({ enqueueStrategy: 'all' })).toEqual([
      here('/sitemap.xml'),
      sites.withPort('http://127.0.0.1:PORT/sitemap.xml'),
    ])
  })

  it('RobotsTxtFile.find(url)', async () => {
    const robots = await RobotsTxtFile.find(here('/some/page?x'))
    expect(sites.requestedUrls).toEqual(['http://localhost:PORT/robots.txt'])
    expect(robots.isAllowed(here('/private'))).toBe(false)
    expect(robots.isAllowed(here('/page'))).toBe(true)
  })

  it('RobotsTxtFile.find(url) allows everything if the site has no robots.txt', async () => {
    sites.respond('http://localhost:PORT/robots.txt', { status: 404 })
    const robots = await RobotsTxtFile.find(here('/'))
    expect(robots.isAllowed(here('/private'))).toBe(true)
    expect(robots.getSitemaps()).toEqual([])
  })

  it('parseSitemaps() and parseUrlsFromSitemaps()', async () => {
    const urls = [here('/page'), here('/private/1')]
    const body = `<urlset>${urls.map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`
    sites.respond('http://localhost:PORT/sitemap.xml', { status: 200, headers: { 'content-type': 'text/xml' }, body })
    const robots = await RobotsTxtFile.find(here('/'))
    expect((await robots.parseSitemaps()).urls).toEqual(urls)
    expect(await robots.parseUrlsFromSitemaps()).toEqual(urls)
  })

  it.each([
    { respectRobotsTxtFile: true, visited: ['/', '/page'], skipped: ['/private', '/private/1'] },
    { respectRobotsTxtFile: { userAgent: 'ExampleBot' }, visited: ['/', '/private', '/private/1'], skipped: ['/page'] },
    { respectRobotsTxtFile: false, visited: ['/', '/page', '/private', '/private/1'], skipped: [] },
  ])(
    'a crawler obeys respectRobotsTxtFile: $respectRobotsTxtFile',
    async ({ respectRobotsTxtFile, visited, skipped }) => {
      sites.respond('http://localhost:PORT/', page('/page', '/private/1'))
      for (const path of ['/page', '/private', '/private/1']) sites.respond(`http://localhost:PORT${path}`, page())
      const { CheerioCrawler, Configuration } = crawlee.require('@crawlee/cheerio') as typeof import('@crawlee/cheerio')
      const { MemoryStorage } = crawlee.require('@crawlee/memory-storage')
      const configuration = new Configuration({ persistStorage: false })
      configuration.useStorageClient(new MemoryStorage({ persistStorage: false, writeMetadata: false }))

      const seen: string[] = []
      const skippedRequests: Parameters<SkippedRequestCallback>[0][] = []
      const crawler = new CheerioCrawler(
        {
          respectRobotsTxtFile,
          onSkippedRequest: (skip) => void skippedRequests.push(skip),
          requestHandler: async ({ request, enqueueLinks }: CheerioCrawlingContext) => {
            seen.push(request.url)
            await enqueueLinks()
          },
        },
        configuration,
      )
      // Crawlee skips one URL when it is added and the other when a link to it is found.
      await crawler.run([here('/'), here('/private')])
      expect(seen.sort()).toEqual(visited.map(here))
      expect(skippedRequests.sort((a, b) => a.url.localeCompare(b.url))).toEqual(
        skipped.map((path) => ({ url: here(path), reason: 'robotsTxt' })),
      )
      const pages = sites.requestedUrls.filter((url) => !url.endsWith('/robots.txt')).sort()
      expect(pages).toEqual(visited.map((path) => `http://localhost:PORT${path}`))
    },
  )
})
