// Features of LangChain's loaders: sitemaps, timeouts instead of signals, and seven attempts.
import { CheerioWebBaseLoader } from '@langchain/community/document_loaders/web/cheerio'
import { SitemapLoader } from '@langchain/community/document_loaders/web/sitemap'
import { expect, onTestFinished, test, vi } from 'vitest'
import { findRefusal } from '../demo.ts'
import { politeGlobalFetch } from '../global-fetch.ts'
import { PoliteSitemapLoader, politeLoaderOptions } from '../langchain.ts'
import { HOME, openTestWeb, type TestWeb } from './test-web.ts'

async function openPoliteWeb(): Promise<TestWeb> {
  const web = await openTestWeb()
  onTestFinished(politeGlobalFetch(web.gate))
  return web
}

test('a loader that times out leaves the queue and does not retry', async () => {
  const { sites, gate } = await openPoliteWeb()
  const permit = await gate.enter(sites.withPort(`${HOME}/first`))
  const timeout = new AbortController()
  const timeoutSignal = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(timeout.signal)
  onTestFinished(() => timeoutSignal.mockRestore())
  const loader = new CheerioWebBaseLoader(sites.withPort(`${HOME}/open`), { ...politeLoaderOptions, timeout: 100 })
  const timesOut = expect(loader.load()).rejects.toMatchObject({ name: 'TimeoutError' })
  await vi.waitUntil(() => gate.queues()[0]?.waiting === 1)
  timeout.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  await timesOut
  expect(gate.queues()).toMatchObject([{ waiting: 0 }])
  expect(gate.counters.abandoned).toBe(1)
  permit.release()
})

test('without politeLoaderOptions, a loader retries a disallowed page', { tags: 'full' }, async () => {
  const { sites, gate } = await openPoliteWeb()
  const loader = new CheerioWebBaseLoader(sites.withPort(`${HOME}/private`), { maxRetries: 1 })
  await expect(loader.load()).rejects.toThrow('fetch failed')
  expect(gate.counters.refusals).toEqual({ rule: 2 })
})

test('politeLoaderOptions has a timeout of more than a day', async () => {
  const { sites } = await openPoliteWeb()
  const timeout = vi.spyOn(AbortSignal, 'timeout')
  onTestFinished(() => timeout.mockRestore())
  await new CheerioWebBaseLoader(sites.withPort(`${HOME}/open`), politeLoaderOptions).load()
  expect(timeout.mock.lastCall?.[0]).toBeGreaterThan(86_400_000)
})

const PAGES = ['/open', '/private/page', '/moved'].map((path) => HOME + path)

async function openSitemap(): Promise<TestWeb> {
  const web = await openPoliteWeb()
  const urls = PAGES.map((url) => `<url><loc>${web.sites.withPort(url)}</loc></url>`).join('')
  web.sites.respond(`${HOME}/sitemap.xml`, { status: 200, body: `<urlset>${urls}</urlset>` })
  web.sites.respond(`${HOME}/moved`, { status: 302, headers: { location: '/open' } })
  return web
}

test('PoliteSitemapLoader skips disallowed pages', async () => {
  const { sites, gate } = await openSitemap()
  const pages = await new PoliteSitemapLoader(sites.withPort(HOME), gate).load()
  expect(pages.map(({ metadata }) => metadata.source)).toEqual(
    [`${HOME}/open`, `${HOME}/moved`].map((url) => sites.withPort(url)),
  )
  expect(sites.requestedUrls).not.toContain(`${HOME}/private/page`)
})

test('SitemapLoader fails at the first disallowed page', async () => {
  const { sites } = await openSitemap()
  const error = await new SitemapLoader(sites.withPort(HOME), politeLoaderOptions)
    .load()
    .catch((error: unknown) => error)
  expect(findRefusal(error)?.verdict.url).toBe(sites.withPort(`${HOME}/private/page`))
})
