// When pages are due again: what PageCache notes of each visit, at a real site.
import { describe, expect, test } from 'vitest'
import { cacheOf } from '../src/index.ts'
import { HOUR, listOf, START, TestSite } from './site.ts'

const DAY = 24 * HOUR

describe('the visits to a page', () => {
  test('are noted with what changed: by the body, by a 304, and by the status', async () => {
    const site = await TestSite.open()
    const cache = site.cache()
    const fetch = site.fetch(cache)
    const bodies = ['one', 'one', 'two']
    site.pages.set('/a', (_, response) => response.end(bodies.shift()))
    for (let visit = 0; visit < 3; visit++, site.now += DAY) await (await fetch('/a')).text()
    site.page('/a', {}, 404)
    await (await fetch('/a')).text()
    site.now += DAY
    site.page('/a', {}, 999)
    await (await fetch('/a')).text()
    site.now += DAY
    site.pages.set('/a', ({ socket }) => socket.destroy())
    await expect(fetch('/a')).rejects.toThrow('fetch failed')
    site.now += DAY
    site.pages.set('/a', (_, response) => response.end('two'))
    await (await fetch('/a')).text()
    expect((await cache.visits(`${site.origin}/a#part`))?.visits).toEqual([
      { at: START, status: 200, changed: false },
      { at: START + DAY, status: 200, changed: false },
      { at: START + 2 * DAY, status: 200, changed: true },
      { at: START + 3 * DAY, status: 404, changed: false },
      { at: START + 4 * DAY, status: 599, changed: false },
      { at: START + 5 * DAY, status: 0, changed: false },
      { at: START + 6 * DAY, status: 200, changed: false },
    ])
  })

  test('of a page with validators, a redirect, and a page that may not be stored', async () => {
    const site = await TestSite.open()
    const cache = site.cache()
    const fetch = site.fetch(cache)
    const lastModified = new Date(START - DAY).toUTCString()
    site.page('/a', { 'last-modified': lastModified })
    site.page('/b', { 'cache-control': 'no-store' })
    site.pages.set('/c', (_, response) => response.writeHead(302, { location: '/a' }).end())
    for (let visit = 0; visit < 2; visit++, site.now += DAY) {
      for (const path of ['/a', '/b', '/c']) await (await fetch(path)).text()
      site.pages.set('/c', (_, response) => response.writeHead(302, { location: '/b' }).end())
    }
    const visitsTo = async (path: string) => (await cache.visits(site.origin + path))?.visits
    const ofPage = { changed: false, lastModified: START - DAY }
    expect(await visitsTo('/a')).toEqual([
      { at: START, status: 200, ...ofPage },
      { at: START, status: 304, ...ofPage },
      { at: START + DAY, status: 304, ...ofPage },
    ])
    expect((await visitsTo('/b'))?.map(({ changed }) => changed)).toEqual([false, true, true])
    expect(await visitsTo('/c')).toEqual([
      { at: START, status: 302, changed: false },
      { at: START + DAY, status: 302, changed: true },
    ])
  })

  test('of a caller with cookies are not noted, nor those of POST, nor hits', async () => {
    const site = await TestSite.open()
    site.page('/a', { 'cache-control': 'max-age=60' })
    const cache = site.cache()
    const fetch = site.fetch(cache)
    await (await fetch('/a', { headers: { cookie: 'a=1' } })).text()
    await (await fetch('/a', { method: 'POST' })).text()
    expect(await cache.visits(`${site.origin}/a`)).toBeUndefined()
    for (let visit = 0; visit < 3; visit++) await (await fetch('/a')).text()
    expect((await cache.visits(`${site.origin}/a`))?.visits).toHaveLength(1)
  })

  test('are compared by the text, if the caller says how', async () => {
    const site = await TestSite.open()
    let count = 0
    site.pages.set('/a', (_, response) => response.end(`<p>text</p><i>visitor ${++count}</i>`))
    const textOf = (body: Uint8Array) => Buffer.from(body).toString().replace(/<i>.*/, '')
    const cache = site.cache({ fingerprint: textOf })
    const fetch = site.fetch(cache)
    for (let visit = 0; visit < 3; visit++, site.now += HOUR) await (await fetch('/a')).text()
    const log = await cache.visits(`${site.origin}/a`)
    expect(log?.fingerprint).toBe('<p>text</p>')
    expect(log?.visits.map(({ changed }) => changed)).toEqual([false, false, false])
  })
})

describe('what is due', () => {
  const openCrawl = async () => {
    const site = await TestSite.open()
    const cache = site.cache({ revisit: { defaultIntervalMs: DAY } })
    const dueAt = async (limit?: number) =>
      (await listOf(cache.due(limit === undefined ? {} : { limit }))).map(({ url }) => new URL(url).pathname)
    return { site, cache, fetch: site.fetch(cache), dueAt }
  }

  test('new pages at once, visited ones later, fresh ones when they are stale', async () => {
    const { site, cache, fetch, dueAt } = await openCrawl()
    site.page('/a', {})
    site.page('/b', { 'cache-control': 'max-age=172800' })
    for (const path of ['/a', '/b', '/c']) await cache.schedule(site.origin + path)
    expect(await dueAt()).toEqual(['/a', '/b', '/c'])
    expect(await dueAt(1)).toEqual(['/a'])
    for (const path of ['/a', '/b', '/c']) await (await fetch(path)).text()
    expect(await dueAt()).toEqual([])
    site.now += DAY
    expect(await dueAt()).toEqual(['/a', '/c'])
    for (const path of ['/a', '/c']) await cache.schedule(site.origin + path) // again, as a sitemap names them
    expect(await dueAt()).toEqual(['/a', '/c'])
    site.now += DAY
    expect(await dueAt()).toEqual(['/a', '/c', '/b'])
  })

  test('earlier if a trusted sitemap dates a change, and never after `unavailable_after`', async () => {
    const { site, cache, fetch, dueAt } = await openCrawl()
    site.page('/a', {})
    site.page('/b', { 'x-robots-tag': `unavailable_after: ${new Date(START - DAY).toUTCString()}` })
    for (const path of ['/a', '/b']) await (await fetch(path)).text()
    site.now += 2 * HOUR
    await cache.schedule(`${site.origin}/a`, { lastmod: START + HOUR })
    expect(await dueAt()).toEqual([])
    await cache.schedule(`${site.origin}/a`, { lastmod: START + HOUR, trust: { isTrusted: true } })
    expect(await dueAt()).toEqual(['/a'])
    site.now += 1_000 * DAY
    expect(await dueAt()).toEqual(['/a'])
  })

  test('a page that robots.txt disallows does not stay at the front', async () => {
    const { site, cache, fetch, dueAt } = await openCrawl()
    site.robots = 'User-agent: *\nDisallow: /a\n'
    await cache.schedule(`${site.origin}/a`)
    await expect(fetch('/a')).rejects.toThrow('robots.txt')
    expect(await dueAt()).toEqual([])
    site.now += DAY
    expect(await dueAt()).toEqual(['/a'])
  })

  test('a page whose body is not read, or which is fresh, does not stay at the front either', async () => {
    const { site, cache, fetch, dueAt } = await openCrawl()
    site.page('/a', {}, 404)
    site.page('/b', {})
    site.page('/c', { 'cache-control': 'max-age=604800' })
    await (await fetch('/c')).text()
    for (const path of ['/a', '/b']) await cache.schedule(site.origin + path)
    await cache.schedule(`${site.origin}/c`, { lastmod: START - DAY, trust: { isTrusted: true } })
    for (const path of await dueAt()) await fetch(path)
    expect(await dueAt()).toEqual([])
    site.now += 2 * HOUR
    await cache.schedule(`${site.origin}/c`, { lastmod: site.now, trust: { isTrusted: true } })
    expect(await dueAt()).toEqual(['/c'])
    const page = await fetch('/c') // the sitemap knows more than `max-age`
    expect([cacheOf(page)?.state, await page.text()]).toEqual(['stored', '/c 2'])
    expect(await dueAt()).toEqual([])
  })

  test('only what can be fetched', async () => {
    const { cache } = await openCrawl()
    for (const url of ['mailto:a@b.test', 'http://user:secret@a.test/', 'page'])
      await expect(cache.schedule(url)).rejects.toThrow('url: cannot be fetched')
  })
})
