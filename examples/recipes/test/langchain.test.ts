// What only LangChain's loaders have: sitemaps, a timeout in place of a signal, seven tries.
import { CheerioWebBaseLoader } from '@langchain/community/document_loaders/web/cheerio'
import { SitemapLoader } from '@langchain/community/document_loaders/web/sitemap'
import { expect, onTestFinished, test, vi } from 'vitest'
import { politeGlobalFetch } from '../global-fetch.ts'
import { PoliteSitemapLoader, politeLoading } from '../langchain.ts'
import { refusalIn } from '../small-web.ts'
import { HOME, type NarrowWeb, openNarrowWeb } from './kit.ts'

async function openPoliteWeb(): Promise<NarrowWeb> {
  const web = await openNarrowWeb()
  onTestFinished(politeGlobalFetch(web.gate))
  return web
}

test('a loader takes no signal; one that runs out of time leaves the queue, and does not try again', async () => {
  const { sites, gate } = await openPoliteWeb()
  const pass = await gate.enter(sites.withPort(`${HOME}/first`))
  const loader = new CheerioWebBaseLoader(sites.withPort(`${HOME}/open`), { ...politeLoading, timeout: 100 })
  await expect(loader.load()).rejects.toMatchObject({ name: 'TimeoutError' })
  expect(gate.queues()).toMatchObject([{ waiting: 0 }])
  expect(gate.counters.abandoned).toBe(1)
  pass.release()
})

test('without what it is given here a loader tries a refusal again', async () => {
  const { sites, gate } = await openPoliteWeb()
  const loader = new CheerioWebBaseLoader(sites.withPort(`${HOME}/private`), { maxRetries: 1 })
  await expect(loader.load()).rejects.toThrow('fetch failed')
  expect(gate.counters.refusals).toEqual({ rule: 2 })
})

test('a loader has more than a day', async () => {
  const { sites } = await openPoliteWeb()
  const timeout = vi.spyOn(AbortSignal, 'timeout')
  onTestFinished(() => timeout.mockRestore())
  await new CheerioWebBaseLoader(sites.withPort(`${HOME}/open`), politeLoading).load()
  expect(timeout.mock.lastCall?.[0]).toBeGreaterThan(86_400_000)
})

const PAGES = ['/open', '/private/page', '/moved'].map((path) => HOME + path)

async function openSitemap(): Promise<NarrowWeb> {
  const web = await openPoliteWeb()
  const urls = PAGES.map((url) => `<url><loc>${web.sites.withPort(url)}</loc></url>`).join('')
  web.sites.answer(`${HOME}/sitemap.xml`, { status: 200, body: `<urlset>${urls}</urlset>` })
  web.sites.answer(`${HOME}/moved`, { status: 302, headers: { location: '/open' } })
  return web
}

test('the polite loader of a sitemap leaves out what is disallowed', async () => {
  const { sites, gate } = await openSitemap()
  const pages = await new PoliteSitemapLoader(sites.withPort(HOME), gate).load()
  expect(pages.map(({ metadata }) => metadata.source)).toEqual(
    [`${HOME}/open`, `${HOME}/moved`].map((url) => sites.withPort(url)),
  )
  expect(sites.asked).not.toContain(`${HOME}/private/page`)
})

test('the plain one fails with the first refusal', async () => {
  const { sites } = await openSitemap()
  const error = await new SitemapLoader(sites.withPort(HOME), politeLoading).load().catch((error: unknown) => error)
  expect(refusalIn(error)?.verdict.url).toBe(sites.withPort(`${HOME}/private/page`))
})
