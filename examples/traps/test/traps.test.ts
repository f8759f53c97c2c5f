// Each trap catches a crawler that ignores robots.txt or stops at the first page, and none catches
// the project's own.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { politely } from '@politely/gate'
import { readSitemaps } from '@politely/sitemaps'
import { afterEach, expect, test } from 'vitest'
import { type Sites, startSites } from '../sites.ts'
import { judge, type Request, traps } from '../traps.ts'

const MAIN = join(import.meta.dirname, '../main.ts')

/** The links of a page. In a sitemap, the URLs. */
const HREF = /href="([^"]+)"/g
const HREF_OR_LOC = /(?:href="|<loc>)([^"<]+)/g

let sites: Sites
afterEach(() => sites?.close())

/** The traps by result, without what passed. */
function results() {
  const report = sites.report()
  const of = (result: string) => report.filter((row) => row.result === result).map(({ name }) => name)
  return { fell: of('fell'), missed: of('missed'), notReached: of('not reached') }
}

function linksOf(url: string, page: string, pattern: RegExp): string[] {
  return Array.from(page.matchAll(pattern), ([, link = '']) => new URL(link, url).href)
}

test('a crawler that requests every link falls into each trap, but for the one that asks for a page', async () => {
  sites = await startSites({ delayMs: 60_000 })
  const seen = new Set<string>()
  async function crawl(url: string): Promise<void> {
    if (seen.has(url)) return
    seen.add(url)
    const response = await fetch(url)
    await Promise.all(linksOf(url, await response.text(), HREF_OR_LOC).map(crawl))
  }

  await crawl(sites.start)

  const names = traps.map(({ name }) => name).filter((name) => name !== 'robots-404')
  expect(results()).toEqual({ fell: names, missed: [], notReached: [] })
})

test('a crawler that stops at the first pages misses the allowed pages behind them', async () => {
  sites = await startSites({ delayMs: 60_000 })
  for (const url of sites.urls) {
    await fetch(new URL('/robots.txt', url)).catch(() => undefined)
    await fetch(url)
  }

  const names = traps.filter(({ open }) => open !== undefined).map(({ name }) => name)
  expect(results()).toMatchObject({ missed: names })
})

test('a file about the whole site, such as tdmrep.json, may be requested without the delay', () => {
  const request = (path: string, at: number): Request => {
    return { at, end: at, method: 'GET', path, userAgent: 'ExampleBot/1.0', status: 200 }
  }
  const pages = ['/page-1', '/page-2', '/page-3'].map((path, i) => request(path, 2000 * (i + 1)))
  const log = [request('/robots.txt', 0), request('/', 0), request('/.well-known/tdmrep.json', 10), ...pages]
  const resultOf = (name: string) => judge(traps.find((trap) => trap.name === name) as never, log, 2000).result
  expect(resultOf('crawl-delay')).toBe('passed')
  expect(resultOf('ask-first')).toBe('missed') // and didn't fall
})

test('politely(fetch) and readSitemaps pass all traps', { tags: 'full' }, async () => {
  sites = await startSites({ delayMs: 2000 })
  const maxPagesPerSite = 20
  const fetch = politely(globalThis.fetch, {
    userAgent: 'ExampleBot/1.0 (+https://example.com/bot)',
    minDelayMs: 0,
    onDisallowed: 'response',
  })
  const pagesOf = new Map<string, Set<string>>()
  async function crawl(url: string): Promise<void> {
    const { origin } = new URL(url)
    const pages = pagesOf.get(origin) ?? new Set()
    pagesOf.set(origin, pages)
    if (pages.has(url) || pages.size === maxPagesPerSite) return
    pages.add(url)
    const response = await fetch(url)
    await Promise.all(linksOf(url, await response.text(), HREF).map(crawl))
  }

  await crawl(sites.start)
  for (const site of sites.urls) {
    for await (const { loc, foreign } of readSitemaps(site, { fetch })) if (!foreign) await crawl(loc)
  }
  await fetch.close()

  expect(results()).toEqual({ fell: [], missed: [], notReached: [] })
})

test('the command runs a crawler, and its exit code says whether the crawler fell into a trap', {
  tags: 'full',
}, () => {
  const run = (program: string) => {
    const crawler = `"${process.execPath}" -e "${program}"`
    const { stdout, status } = spawnSync(process.execPath, [MAIN, '--json', '--run', crawler], { encoding: 'utf8' })
    return { report: JSON.parse(stdout), status }
  }

  const { report, status } = run("fetch(process.env.START_URLS.split(' ')[0])")
  expect(status).toBe(1)
  expect(report).toMatchObject({ version: 1, fell: 1, missed: 0 })
  expect(report.traps[0]).toMatchObject({
    name: 'ask-first',
    result: 'fell',
    why: 'requested a page before robots.txt',
    request: { method: 'GET', path: '/', status: 200 },
  })
  expect(run('').status).toBe(1) // it reached no trap
  expect(spawnSync(process.execPath, [MAIN, '--delay', '1']).status).toBe(2)
})
