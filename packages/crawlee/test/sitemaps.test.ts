// @module-tag full
// What docs/crawlee.md says about Crawlee's own loaders of sitemaps: they do not use the crawler.
import { createRequire } from 'node:module'
import { CheerioCrawler } from '@crawlee/cheerio'
import { startSites } from '@politely/testkit/servers/sites'
import { expect, onTestFinished, test } from 'vitest'
import { withRobots } from '../src/index.ts'
import { inMemory } from './in-memory.ts'

const HOME = 'http://localhost:PORT'
const userAgent = 'ExampleBot/1.0'

interface SitemapLoader {
  load(url: string): Promise<{ readonly urls: readonly string[] }>
  fromXmlString(xml: string): Promise<{ readonly urls: readonly string[] }>
}
interface RequestListLoader {
  open(options: object): Promise<{ fetchNextRequest(): Promise<{ readonly url: string } | null> }>
}

const crawlee = createRequire(import.meta.resolve('@crawlee/basic'))
const { Sitemap } = crawlee('@crawlee/utils') as { readonly Sitemap: SitemapLoader }
const { SitemapRequestList } = crawlee('@crawlee/core') as { readonly SitemapRequestList: RequestListLoader }

async function openSite() {
  const sites = await startSites()
  onTestFinished(() => sites.close())
  const page = sites.withPort(`${HOME}/page`)
  const body = `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${page}</loc></url></urlset>`
  sites.respond(`${HOME}/robots.txt`, { status: 200, body: 'User-agent: *\nDisallow: /map.xml\n' })
  sites.respond(`${HOME}/map.xml`, { status: 200, headers: { 'content-type': 'application/xml' }, body })
  withRobots(new CheerioCrawler({ requestHandler: () => undefined }, inMemory()), { userAgent, minDelayMs: 0 })
  return { sites, page, body, map: sites.withPort(`${HOME}/map.xml`) }
}

test('Sitemap.load and SitemapRequestList go around the gate, with a User-Agent of their own', async () => {
  const { sites, page, map } = await openSite()
  expect((await Sitemap.load(map)).urls).toEqual([page])
  const list = await SitemapRequestList.open({ sitemapUrls: [map], persistenceOptions: { enable: false } })
  expect(await list.fetchNextRequest()).toMatchObject({ url: page })
  expect(sites.requestedUrls).toEqual([`${HOME}/map.xml`, `${HOME}/map.xml`])
  for (const { headers } of sites.requests) expect(headers['user-agent']).not.toContain('ExampleBot')
})

test('Sitemap.fromXmlString requests nothing for a list of pages', async () => {
  const { sites, page, body } = await openSite()
  expect((await Sitemap.fromXmlString(body)).urls).toEqual([page])
  expect(sites.requests).toEqual([])
})
