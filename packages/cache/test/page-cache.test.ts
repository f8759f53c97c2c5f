// @module-tag nodes
// PageCache behind politely(fetch), at a real site. Only the clock of the cache is faked.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OptionError } from '@politely/core'
import { MemoryStore } from '@politely/fetcher'
import { RobotsDisallowedError, usageOf, WaitTooLongError } from '@politely/gate'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  CacheMissError,
  cacheOf,
  MemoryPageStore,
  PageCache,
  type PageCacheOptions,
  type PageStore,
} from '../src/index.ts'
import { recordOf } from './pages.ts'
import { exchangeOf, HOUR, listOf, requestOf, SECOND, START, TestSite } from './site.ts'

const HTTP_DATE = new Date(START - 100 * HOUR).toUTCString()

/** Reads a page, and returns what it was and where it came from. */
async function read(response: Response): Promise<string> {
  const text = await response.text()
  return `${response.status} ${text} (${cacheOf(response)?.state})`
}

describe('a page that is fresh', () => {
  test('needs no request, no slot and no delay', async () => {
    const site = await TestSite.open()
    site.page('/a', { 'cache-control': 'max-age=600', 'content-type': 'text/html' })
    const fetch = site.fetch(site.cache(), { minDelayMs: HOUR, maxWaitMs: 1 })
    expect(await read(await fetch('/a'))).toBe('200 /a 1 (stored)')
    site.now += 599 * SECOND
    const hit = await fetch('/a#part')
    expect([hit.url, hit.headers.get('age'), hit.headers.get('content-type')]).toEqual([
      `${site.origin}/a`,
      '599',
      'text/html',
    ])
    expect(cacheOf(hit)).toEqual({ state: 'hit', ageMs: 599 * SECOND, storedAt: START, because: 'it is fresh' })
    expect(Object.getOwnPropertySymbols(hit)).toEqual(Object.getOwnPropertySymbols(new Response()))
    expect(await hit.text()).toBe('/a 1')
    expect(site.lines).toEqual(['GET /a'])
  })

  test.each([
    ['an Age', { 'cache-control': 'max-age=600', age: '590' }, 'stored'],
    ['an Age that is over', { 'cache-control': 'max-age=600', age: '600' }, 'stored'],
    ['Expires', { expires: new Date(START + HOUR).toUTCString(), date: new Date(START).toUTCString() }, 'hit'],
    ['an invalid Expires', { expires: '0' }, 'stored'],
    ['no-cache', { 'cache-control': 'max-age=600, no-cache' }, 'stored'],
    ['upper case', { 'cache-control': 'MAX-AGE=600' }, 'hit'],
    ['must-revalidate while it is fresh', { 'cache-control': 'max-age=600, must-revalidate' }, 'hit'],
    ['private', { 'cache-control': 'private, max-age=600' }, 'hit'],
    ['s-maxage, which is for shared caches', { 'cache-control': 's-maxage=600' }, 'stored'],
    ['Set-Cookie', { 'cache-control': 'max-age=600', 'set-cookie': 'a=1' }, 'hit'],
    ['nothing said', {}, 'stored'],
    ['a Last-Modified alone', { 'last-modified': HTTP_DATE }, 'revalidated'],
  ])('%s', async (_, headers, state) => {
    const site = await TestSite.open()
    site.page('/a', headers as Record<string, string>)
    const fetch = site.fetch(site.cache())
    await (await fetch('/a')).text()
    site.now += 20 * SECOND
    const again = await fetch('/a')
    expect(cacheOf(again)?.state).toBe(state)
  })

  test('with `heuristic`, a page is fresh for a tenth of its age', async () => {
    const site = await TestSite.open()
    site.page('/a', { 'last-modified': HTTP_DATE })
    const fetch = site.fetch(site.cache({ heuristic: true }))
    await (await fetch('/a')).text()
    site.now += 9 * HOUR
    expect(await read(await fetch('/a'))).toBe('200 /a 1 (hit)')
    site.now += 2 * HOUR
    expect(await read(await fetch('/a'))).toBe('200 /a 1 (revalidated)')
  })

  test('is not returned if robots.txt no longer allows it', async () => {
    const site = await TestSite.open()
    site.page('/a', { 'cache-control': 'max-age=600' })
    const cache = site.cache()
    await (await site.fetch(cache)('/a')).text()
    site.robots = 'User-agent: *\nDisallow: /a\n'
    await expect(site.fetch(cache)('/a')).rejects.toThrow(RobotsDisallowedError)
  })
})

describe('a page that may have changed', () => {
  test('is asked for with its validators, ten times, and never sent again', async () => {
    const site = await TestSite.open()
    // The 304 repeats its headers.
    site.page('/a', {
      etag: '"1"',
      'last-modified': HTTP_DATE,
      'cache-control': 'max-age=10',
      'x-robots-tag': 'noindex',
    })
    const fetch = site.fetch(site.cache())
    await (await fetch('/a')).text()
    for (let visit = 1; visit <= 10; visit++) {
      site.now += 11 * SECOND
      expect(await read(await fetch('/a'))).toBe('200 /a 1 (revalidated)')
      expect(await read(await fetch('/a'))).toBe('200 /a 1 (hit)')
    }
    expect(site.seen).toHaveLength(11)
    expect(site.seen.at(-1)?.headers).toMatchObject({ 'if-none-match': '"1"', 'if-modified-since': HTTP_DATE })
  })

  test('a 304 changes headers, but none of the body', async () => {
    const site = await TestSite.open()
    site.pages.set('/a', ({ headers }, response) =>
      headers['if-none-match']
        ? response
            .writeHead(304, { 'x-new': '2', 'x-old': '2', 'content-type': 'text/plain', 'cache-control': 'max-age=60' })
            .end()
        : response.writeHead(200, { etag: '"1"', 'x-old': '1', 'content-type': 'text/html' }).end('page'),
    )
    const fetch = site.fetch(site.cache())
    await (await fetch('/a')).text()
    await (await fetch('/a')).text()
    const hit = await fetch('/a')
    expect(cacheOf(hit)?.state).toBe('hit')
    expect(['x-new', 'x-old', 'content-type', 'etag'].map((name) => hit.headers.get(name))).toEqual([
      '2',
      '2',
      'text/html',
      '"1"',
    ])
  })

  test('is asked for without `no-cache`, with which a server would send it again', async () => {
    const site = await TestSite.open()
    site.page('/a', { etag: '"1"' })
    const fetch = site.fetch(site.cache())
    await (await fetch('/a')).text()
    await (await fetch('/a')).text()
    const { headers } = site.seen[1] ?? {}
    expect([headers?.['if-none-match'], headers?.['cache-control'], headers?.pragma]).toEqual([
      '"1"',
      'max-age=0',
      undefined,
    ])
  })

  test('a 304 that names another ETag is not believed', async () => {
    const site = await TestSite.open()
    const etags = ['"1-gzip"', '"1"', '"2"', '"2"']
    site.pages.set('/a', ({ headers }, response) => {
      const etag = etags.shift() as string
      response.writeHead(headers['if-none-match'] ? 304 : 200, { etag }).end(headers['if-none-match'] ? '' : etag)
    })
    const fetch = site.fetch(site.cache())
    const pages: string[] = []
    for (let visit = 0; visit < 3; visit++) pages.push(await read(await fetch('/a')))
    expect(pages).toEqual(['200 "1-gzip" (stored)', '200 "1-gzip" (revalidated)', '200 "2" (stored)'])
  })

  test('a response that is read late replaces neither a newer one, nor one that was made invalid', async () => {
    const site = await TestSite.open()
    let version = 0
    site.pages.set('/a', (_, response) =>
      response.writeHead(200, { 'cache-control': 'max-age=60' }).end(`${++version}`),
    )
    const fetch = site.fetch(site.cache())
    const first = await fetch('/a')
    site.now += SECOND
    await (await fetch('/a')).text()
    await first.text()
    expect(await read(await fetch('/a'))).toBe('200 2 (hit)')
    const late = await fetch('/a', { headers: { 'cache-control': 'no-cache' } })
    await (await fetch('/a', { method: 'POST' })).text() // in the same millisecond
    await late.text()
    expect(await read(await fetch('/a'))).toBe('200 5 (stored)')
    expect(await read(await fetch('/a'))).toBe('200 5 (hit)')
  })

  test('is revalidated if the clock was set back', async () => {
    const site = await TestSite.open()
    site.page('/a', { 'cache-control': 'max-age=60', etag: '"1"' })
    const fetch = site.fetch(site.cache())
    await (await fetch('/a')).text()
    site.now -= HOUR
    expect(await read(await fetch('/a'))).toBe('200 /a 1 (revalidated)')
  })

  test('a page that is deleted while its 304 is under way is requested again', async () => {
    const site = await TestSite.open()
    const cache = site.cache()
    const fetch = site.fetch(cache)
    let deleting: Promise<unknown> | undefined
    site.pages.set('/a', async ({ headers }, response) => {
      if (headers['if-none-match']) {
        deleting = cache.delete(`${site.origin}/a`)
        await deleting
        response.writeHead(304, { etag: '"1"' }).end()
      } else response.writeHead(200, { etag: '"1"' }).end('page')
    })
    await (await fetch('/a')).text()
    expect(await read(await fetch('/a'))).toBe('200 page (stored)')
    expect(site.lines).toEqual(['GET /a', 'GET /a', 'GET /a'])
  })

  test('a new page replaces the old one', async () => {
    const site = await TestSite.open()
    let etag = '"1"'
    site.pages.set('/a', (_, response) => response.writeHead(200, { etag }).end(`page ${etag}`))
    const fetch = site.fetch(site.cache())
    for (etag of ['"1"', '"2"']) expect(await read(await fetch('/a'))).toBe(`200 page ${etag} (stored)`)
    await (await fetch('/a')).text()
    expect(site.seen.at(-1)?.headers['if-none-match']).toBe('"2"')
  })

  test('the caller may ask for less, or for more', async () => {
    const site = await TestSite.open()
    site.page('/a', { 'cache-control': 'max-age=100' })
    const fetch = site.fetch(site.cache())
    const state = async (cacheControl: string) => {
      const response = await fetch('/a', { headers: { 'cache-control': cacheControl } })
      await response.text()
      return `${response.status} ${cacheOf(response)?.state}`
    }
    await state('')
    site.now += 50 * SECOND
    expect(await state('max-age=60')).toBe('200 hit')
    expect(await state('min-fresh=51')).toBe('200 stored')
    site.now += 150 * SECOND
    expect(await state('max-stale=60')).toBe('200 stale')
    expect(await state('only-if-cached')).toBe('504 bypass')
    expect(await state('no-store')).toBe('200 bypass')
    expect(await state('no-cache')).toBe('200 stored')
  })

  test('with `refresh`, a fresh page is revalidated too', async () => {
    const site = await TestSite.open()
    site.page('/a', { 'cache-control': 'max-age=100', etag: '"1"' })
    const fetch = site.fetch(site.cache({ refresh: true }))
    for (const state of ['stored', 'revalidated']) expect(await read(await fetch('/a'))).toBe(`200 /a 1 (${state})`)
  })
})

describe('what is not stored', () => {
  const visits = async (init: RequestInit, headers: Record<string, string> = {}) => {
    const site = await TestSite.open()
    site.page('/a', { 'cache-control': 'max-age=600', ...headers })
    const fetch = site.fetch(site.cache())
    const states: (string | undefined)[] = []
    for (let visit = 0; visit < 2; visit++) {
      const response = await fetch('/a', init)
      await response.text()
      states.push(cacheOf(response)?.state)
    }
    return states.join(' ')
  }

  test.each<[string, RequestInit, Record<string, string>]>([
    ['a POST', { method: 'POST', body: 'a' }, {}],
    ['a range', { headers: { range: 'bytes=0-1' } }, {}],
    ['a request with a condition of its own', { headers: { 'if-none-match': '"x"' } }, {}],
    ['no-store of the site', {}, { 'cache-control': 'no-store' }],
    ['no-store of the caller', { headers: { 'cache-control': 'no-store' } }, {}],
    ['Vary: *', {}, { vary: 'accept, *' }],
  ])('%s', async (_, init, headers) => {
    expect(await visits(init, headers)).toBe('bypass bypass')
  })

  test('a 304 to a condition of the caller reaches the caller', async () => {
    const site = await TestSite.open()
    site.page('/a', { etag: '"1"' })
    const fetch = site.fetch(site.cache())
    await (await fetch('/a')).text()
    expect((await fetch('/a', { headers: { 'if-none-match': '"1"' } })).status).toBe(304)
  })

  test.each([
    ['breaks off', 'Content-Length: 10\r\n\r\nhalf'],
    ['breaks off between chunks', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
  ])('a body that %s', async (_, rest) => {
    const site = await TestSite.open()
    site.pages.set('/a', ({ socket }) => socket.end(`HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n${rest}`))
    const cache = site.cache()
    await expect(
      site
        .fetch(cache)('/a')
        .then((response) => response.text()),
    ).rejects.toThrow()
    expect(await listOf(cache.pages())).toEqual([])
  })

  test('a body that the caller cancels, or that is too long', async () => {
    const site = await TestSite.open()
    const headers = { 'cache-control': 'max-age=600' }
    site.pages.set('/long', (_, response) => response.writeHead(200, headers).end('x'.repeat(2_000_000)))
    const cache = site.cache({ maxEntryBytes: 1_000_000 })
    const fetch = site.fetch(cache)
    const reader = (await fetch('/long')).body?.getReader()
    await reader?.read()
    await reader?.cancel()
    expect(await (await fetch('/long')).text()).toHaveLength(2_000_000)
    expect(await listOf(cache.pages())).toEqual([])
  })
})

describe('which page answers', () => {
  test('Vary: each variant is kept', async () => {
    const site = await TestSite.open()
    site.pages.set('/a', ({ headers }, response) =>
      response
        .writeHead(200, { vary: 'Accept-Language', 'cache-control': 'max-age=60' })
        .end(headers['accept-language']),
    )
    const fetch = site.fetch(site.cache())
    const visit = async (language: string) => read(await fetch('/a', { headers: { 'accept-language': language } }))
    expect(await visit('de')).toBe('200 de (stored)')
    expect(await visit('fr')).toBe('200 fr (stored)')
    expect(await visit('de')).toBe('200 de (hit)')
    expect(await visit('fr')).toBe('200 fr (hit)')
  })

  test('the page of one user answers no other user', async () => {
    const site = await TestSite.open()
    site.pages.set('/a', ({ headers: { authorization, cookie } }, response) =>
      response.writeHead(200, { 'cache-control': 'max-age=60' }).end(authorization ?? cookie ?? 'nobody'),
    )
    const fetch = site.fetch(site.cache())
    const visit = async (headers: Record<string, string>) => read(await fetch('/a', { headers }))
    expect(await visit({ authorization: 'Bearer a' })).toBe('200 Bearer a (stored)')
    expect(await visit({ authorization: 'Bearer b' })).toBe('200 Bearer b (stored)')
    expect(await visit({ cookie: 'id=c' })).toBe('200 id=c (stored)')
    expect(await visit({})).toBe('200 nobody (stored)')
    expect(await visit({ authorization: 'Bearer a' })).toBe('200 Bearer a (hit)')
    expect(await visit({ cookie: 'id=d' })).toBe('200 id=d (stored)')
  })

  test('a stored redirect is an error for `redirect: error`, and `integrity` is checked', async () => {
    const site = await TestSite.open()
    site.pages.set('/old', (_, response) =>
      response.writeHead(301, { location: '/a', 'cache-control': 'max-age=60' }).end(),
    )
    site.page('/a', { 'cache-control': 'max-age=60' })
    const fetch = site.fetch(site.cache())
    await (await fetch('/old')).text()
    await expect(fetch('/old', { redirect: 'error' })).rejects.toThrow('fetch failed')
    await expect(fetch('/a', { integrity: `sha256-${'A'.repeat(43)}=` })).rejects.toThrow('fetch failed')
  })

  test('HEAD is answered by a stored GET, and not the other way round', async () => {
    const site = await TestSite.open()
    site.page('/a', { 'cache-control': 'max-age=60' })
    const fetch = site.fetch(site.cache())
    expect(cacheOf(await fetch('/a', { method: 'HEAD' }))?.state).toBe('bypass')
    await (await fetch('/a')).text()
    expect(await read(await fetch('/a', { method: 'HEAD' }))).toBe('200  (hit)')
    expect(site.lines).toEqual(['HEAD /a', 'GET /a'])
  })

  test('an unsafe method makes the page invalid, and what it names', async () => {
    const site = await TestSite.open()
    for (const path of ['/a', '/b', '/c']) site.page(path, { 'cache-control': 'max-age=60' })
    const fetch = site.fetch(site.cache())
    for (const path of ['/a', '/b', '/c']) await (await fetch(path)).text()
    site.pages.set('/a', (_, response) =>
      response.writeHead(201, { location: '/b', 'content-location': 'http://other.test/c' }).end(),
    )
    await fetch('/a', { method: 'POST', body: 'x' })
    site.page('/a', {})
    const states: (string | undefined)[] = []
    for (const path of ['/a', '/b', '/c']) states.push(cacheOf(await fetch(path))?.state)
    expect(states).toEqual(['stored', 'stored', 'hit'])
  })

  test('each hop of a redirect is stored by itself', async () => {
    const site = await TestSite.open()
    site.pages.set('/old', (_, response) => response.writeHead(301, { location: '/a' }).end('moved'))
    site.pages.set('/soon', (_, response) => response.writeHead(302, { location: '/a' }).end())
    site.page('/a', { 'cache-control': 'max-age=60' })
    const cache = site.cache({ heuristic: true })
    const fetch = site.fetch(cache)
    for (let visit = 0; visit < 2; visit++) {
      for (const path of ['/old', '/soon']) {
        const response = await fetch(path)
        expect([response.redirected, response.url, await response.text()]).toEqual([true, `${site.origin}/a`, '/a 1'])
      }
    }
    expect(site.lines).toEqual(['GET /old', 'GET /a', 'GET /soon', 'GET /old', 'GET /soon'])
    expect((await listOf(cache.pages())).map(({ record }) => record.status).toSorted()).toEqual([200, 301])
  })

  test('a redirect is followed at once, however slow its body is, or if its body breaks off', async () => {
    const site = await TestSite.open()
    site.pages.set('/slow', (_, response) => {
      response.writeHead(301, { location: '/a', 'cache-control': 'max-age=60' }).write('moved') // and never ends
    })
    site.pages.set('/broken', ({ socket }) =>
      socket.end('HTTP/1.1 301 Moved\r\nLocation: /a\r\nContent-Length: 10\r\n\r\nhalf'),
    )
    site.page('/a', { 'cache-control': 'max-age=60' })
    const fetch = site.fetch(site.cache())
    for (const path of ['/slow', '/slow', '/broken']) expect(await (await fetch(path)).text()).toBe('/a 1')
    const stored = await fetch('/slow', { redirect: 'manual' })
    expect([stored.status, stored.headers.get('location'), cacheOf(stored)?.state]).toEqual([301, '/a', 'hit'])
    expect(site.lines).toEqual(['GET /slow', 'GET /a', 'GET /broken'])
  })

  test('a variant by a secret is kept without the secret', async () => {
    const site = await TestSite.open()
    site.page('/a', { 'cache-control': 'max-age=60', vary: 'cookie, accept' })
    const cache = site.cache()
    const fetch = site.fetch(cache)
    const visit = async (cookie: string) => read(await fetch('/a', { headers: { cookie, accept: 'text/html' } }))
    expect([await visit('id=1'), await visit('id=2'), await visit('id=1')]).toEqual([
      '200 /a 1 (stored)',
      '200 /a 2 (stored)',
      '200 /a 1 (hit)',
    ])
    const [page] = await listOf(cache.pages())
    expect(page?.record.varied).toEqual([
      ['accept', 'text/html'],
      ['cookie', expect.stringMatching(/^[\w-]{43}$/)],
    ])
  })

  test('pages() says how fresh each response is, of one URL or of all', async () => {
    const site = await TestSite.open()
    site.page('/a', { 'cache-control': 'max-age=60' })
    site.page('/b', { etag: '"1"' })
    const cache = site.cache()
    const fetch = site.fetch(cache)
    for (const path of ['/a', '/b']) await (await fetch(path)).text()
    const lifetimes: unknown[] = []
    for await (const { record, ageMs, lifetimeMs } of cache.pages())
      lifetimes.push([new URL(record.url).pathname, ageMs >= 0, lifetimeMs])
    expect(lifetimes.toSorted()).toEqual([
      ['/a', true, 60_000],
      ['/b', true, 0],
    ])
    for await (const { record } of cache.pages(`${site.origin}/b#part`)) expect(record.url).toBe(`${site.origin}/b`)
    expect((await cache.pages(`${site.origin}/c`).next()).done).toBe(true)
  })

  test('a hit has the use of the page, line by line', async () => {
    const site = await TestSite.open()
    site.page('/a', { 'cache-control': 'max-age=60', 'x-robots-tag': ['otherbot: noindex', 'nofollow'] })
    const fetch = site.fetch(site.cache())
    const usages = [await fetch('/a')]
    const { purposes, page } = await usageOf(usages[0] as Response, { tdmrep: 'ignore' })
    await usages[0]?.text()
    const hit = await fetch('/a')
    expect(cacheOf(hit)?.state).toBe('hit')
    expect(await usageOf(hit, { tdmrep: 'ignore' })).toMatchObject({ purposes, page })
  })
})

describe('a site that fails', () => {
  const failing = async (cacheControl: string, options: PageCacheOptions) => {
    const site = await TestSite.open()
    site.page('/a', { 'cache-control': cacheControl })
    const fetch = site.fetch(site.cache(options))
    await (await fetch('/a')).text()
    site.now += HOUR
    site.page('/a', {}, 503)
    return { site, fetch }
  }

  test.each<[string, PageCacheOptions, string]>([
    ['max-age=60', {}, '503 /a 1 (bypass)'],
    ['max-age=60', { stale: 'if-error' }, '200 /a 1 (stale)'],
    ['max-age=60, stale-if-error=7200', {}, '200 /a 1 (stale)'],
    ['max-age=60, stale-if-error=600', {}, '503 /a 1 (bypass)'],
    ['max-age=60, must-revalidate', { stale: 'if-error' }, '503 /a 1 (bypass)'],
  ])('%s, %o: %s', async (cacheControl, options, expected) => {
    const { fetch } = await failing(cacheControl, options)
    expect(await read(await fetch('/a'))).toBe(expected)
  })

  test('a lost connection and an open circuit are failures too; a refusal and an abort are not', {
    tags: 'full',
  }, async () => {
    const site = await TestSite.open()
    site.page('/a', { 'cache-control': 'max-age=1' })
    const cache = site.cache({ stale: 'if-error' })
    const fetch = site.fetch(cache, { maxWaitMs: 5_000, circuit: { failures: 1, outcomes: ['server-error'] } })
    await (await fetch('/a')).text()
    site.now += HOUR
    site.pages.set('/a', ({ socket }) => socket.destroy())
    site.page('/b', {}, 500)
    expect(await read(await fetch('/a'))).toBe('200 /a 1 (stale)')
    expect(await read(await fetch('/b'))).toBe('500 /b 1 (bypass)')
    await expect(fetch('/b')).rejects.toThrow(WaitTooLongError) // the probe is due in half a minute
    expect(await read(await fetch('/a'))).toBe('200 /a 1 (stale)')
    expect(site.lines).toEqual(['GET /a', 'GET /a', 'GET /b'])
    await expect(fetch('/a', { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
  })

  test('`offline` answers from what is stored, with rules of any age, and sends nothing', async () => {
    const site = await TestSite.open()
    site.robots = 'User-agent: *\nDisallow: /private\n'
    site.page('/a', { 'cache-control': 'max-age=1' })
    site.page('/private', { 'cache-control': 'max-age=1' })
    const pages = new MemoryPageStore({ maxBytes: 1_000_000 })
    const store = new MemoryStore()
    await (await site.fetch(site.cache({ store: pages }), { store })('/a')).text()
    site.now += 1_000 * HOUR
    const now = () => Date.now() + 1_000 * HOUR
    const fetch = site.fetch(site.cache({ store: pages, offline: true }), { store, now })
    expect(await read(await fetch('/a'))).toBe('200 /a 1 (stale)')
    await expect(fetch('/private')).rejects.toThrow(RobotsDisallowedError)
    const missOf = async (path: string, init: RequestInit, from = fetch) => {
      const miss = await from(path, init).catch((error: unknown) => error)
      expect(miss).toBeInstanceOf(CacheMissError)
      expect(miss).toMatchObject({ code: 'ERR_POLITELY_CACHE_MISS', url: site.origin + path })
      return (miss as CacheMissError).because
    }
    expect(await missOf('/b', {})).toBe('page')
    expect(await missOf('/a', { method: 'POST', body: 'a' })).toBe('request')
    expect(await missOf('/a', { headers: { range: 'bytes=0-1' } })).toBe('request')
    expect(await missOf('/a', {}, site.fetch(site.cache({ store: pages, offline: true })))).toBe('rules')
    expect(site.lines).toEqual(['GET /a'])
    expect(site.robotsRequests).toBe(1)
  })
})

describe('the store', () => {
  test('requests go on if it fails, with one warning', async () => {
    const site = await TestSite.open()
    site.page('/a', { 'cache-control': 'max-age=60' })
    const fail = (): never => {
      throw new Error('database or disk is full')
    }
    const store: PageStore = {
      find: fail,
      begin: () => ({ write: fail, commit: fail, abort: fail }),
      update: fail,
      body: fail,
      delete: fail,
      forget: fail,
      pages: fail,
      visits: fail,
      setVisits: fail,
      due: fail,
      close: () => undefined,
    }
    const warnings: Error[] = []
    const listen = (warning: Error) => void warnings.push(warning)
    process.on('warning', listen)
    const fetch = site.fetch(site.cache({ store }))
    for (let visit = 1; visit <= 2; visit++) expect(await (await fetch('/a')).text()).toBe(`/a ${visit}`)
    await new Promise(setImmediate)
    process.off('warning', listen)
    expect(warnings).toMatchObject([{ code: 'POLITELY_PAGE_STORE', message: expect.stringContaining('disk is full') }])
  })
})

describe('what is stored', () => {
  test('is called once for each thing: six times for a new page, and twice for a hit', async () => {
    const site = await TestSite.open()
    site.page('/a', { 'cache-control': 'max-age=60' })
    const pages = new MemoryPageStore({ maxBytes: 1_000_000 })
    const calls: string[] = []
    const counted = <T extends object>(target: T): T =>
      new Proxy(target, {
        get: (_, name: keyof T & string) => {
          const method = target[name]
          if (typeof method !== 'function') return method
          return (...given: unknown[]) => {
            calls.push(name)
            const result = method.apply(target, given)
            return name === 'begin' ? counted(result) : result
          }
        },
      })
    const fetch = site.fetch(site.cache({ store: counted(pages) }))
    expect(await read(await fetch('/a'))).toBe('200 /a 1 (stored)')
    expect(calls).toEqual(['find', 'begin', 'write', 'commit', 'visits', 'setVisits'])
    calls.length = 0
    expect(await read(await fetch('/a'))).toBe('200 /a 1 (hit)')
    expect(calls).toEqual(['find', 'body'])
  })

  test('stays as it is when readers change what they get, also of a fetch whose chunks are Buffers', async () => {
    await using cache = new PageCache()
    const stream = new ReadableStream({
      start: (controller) => {
        controller.enqueue(Buffer.alloc(10_000, 'a'))
        controller.close()
      },
    })
    const exchange = exchangeOf(new Response(stream, { headers: { 'cache-control': 'max-age=60' } }))
    for (let n = 0; n < 3; n++) {
      const { body } = (await cache.respond(requestOf('https://a.test/'), exchange)) as Response
      for await (const chunk of body ?? []) {
        expect([chunk.length, Buffer.from([...new Set<number>(chunk)]).toString()]).toEqual([10_000, 'a'])
        chunk.fill(0)
      }
    }
  })

  test('takes as much memory as it may, with many short headers too', async () => {
    const store = new MemoryPageStore({ maxBytes: 1_000_000 })
    const headers = Array.from({ length: 1_000 }, (_, n) => [`x-${n}`, '1'] as const)
    for (let n = 0; n < 50; n++) {
      const writer = store.begin()
      await writer.commit({ ...recordOf(`https://a.test/${n}`, new Uint8Array(0)), headers })
    }
    expect([...store.pages()]).toHaveLength(12)
  })

  test('may answer with promises, and reject some', async () => {
    const site = await TestSite.open()
    site.page('/a', { 'cache-control': 'max-age=60' })
    const pages: PageStore = new MemoryPageStore({ maxBytes: 1_000_000 })
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    for (const broken of [[], ['find'], ['begin'], ['visits', 'setVisits']]) {
      const store = new Proxy<PageStore>(pages, {
        get: (_, name: keyof PageStore) => {
          return async (...given: []) => {
            if (broken.includes(name)) throw new Error('the disk is gone')
            return (pages[name] as () => unknown).apply(pages, given)
          }
        },
      })
      expect(await read(await site.fetch(site.cache({ store }))('/a'))).toMatch(/^200 \/a \d \(stored\)$/)
      expect(await pages.delete(`${site.origin}/a`)).toBe(broken.includes('begin') ? 0 : 1)
    }
    expect(warned).toHaveBeenCalledTimes(3)
  })

  test('in a file survives a restart', async () => {
    const site = await TestSite.open()
    const folder = await mkdtemp(join(tmpdir(), 'politely-cache-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'pages.sqlite')
    site.page('/a', { 'cache-control': 'max-age=60', 'x-robots-tag': 'noarchive' })
    const states: string[] = []
    for (let run = 0; run < 3; run++, site.now += 40 * SECOND) {
      await using cache = new PageCache({ file, now: () => site.now })
      states.push(await read(await site.fetch(cache)('/a')))
    }
    expect(states).toEqual(['200 /a 1 (stored)', '200 /a 1 (hit)', '200 /a 2 (stored)'])
  })

  test('`get` returns a page without a request; `delete` and `prune` delete pages', async () => {
    const site = await TestSite.open()
    for (const path of ['/a', '/b', '/c']) site.page(path, { 'content-type': 'text/html' })
    const cache = site.cache()
    const fetch = site.fetch(cache)
    for (const path of ['/a', '/b']) await (await fetch(path)).text()
    site.now += HOUR
    const page = await cache.get(`${site.origin}/a#top`)
    expect([page?.url, page?.headers.get('age'), await page?.text()]).toEqual([`${site.origin}/a`, '3600', '/a 1'])
    expect(await cache.get(`${site.origin}/c`)).toBeUndefined()
    await (await fetch('/c')).text()
    expect(await cache.delete(`${site.origin}/a`)).toBe(1)
    expect(await cache.prune({ olderThanMs: HOUR - 1 })).toEqual({ pages: 1, bytes: 4 })
    expect((await listOf(cache.pages())).map(({ record }) => record.url)).toEqual([`${site.origin}/c`])
    expect(await cache.visits(`${site.origin}/b`)).toBeDefined()
    site.now += HOUR
    expect(await cache.prune({ olderThanMs: 1, forget: true })).toEqual({ pages: 1, bytes: 4 })
    expect(await cache.visits(`${site.origin}/c`)).toBeUndefined()
    expect(site.lines).toHaveLength(3)
  })
})

test('PageCache refuses options that it does not have', () => {
  const problemOf = (options: object) => {
    try {
      new PageCache(options).close()
    } catch (error) {
      return error instanceof OptionError ? error.message : error
    }
    return undefined
  }
  expect(problemOf({ ttl: 1 })).toContain('ttl: is an unknown option')
  expect(problemOf({ maxBytes: 1 })).toContain('maxBytes')
  expect(problemOf({ offline: true, refresh: true })).toBe('refresh: contradicts `offline`; leave one out')
  expect(problemOf({ heuristic: 0.1 })).toBe('heuristic: 0.1 is invalid; expected true or false')
})

test('cacheOf warns once of a promise, and never throws', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  onTestFinished(() => warn.mockRestore())
  for (const value of [Promise.resolve(), Promise.resolve(), undefined, {}])
    expect(cacheOf(value as object)).toBeUndefined()
  expect(warn.mock.calls.map(([text]) => text)).toEqual([
    'cacheOf: a promise is not a response, so the result is undefined; write cacheOf(await response)',
  ])
})
