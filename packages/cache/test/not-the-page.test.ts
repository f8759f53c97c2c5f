// @module-tag nodes
// What must not get into the cache, or must not come out of it for another request: cut bodies,
// challenges, pages of other users, pages that the site has replaced.
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { politely } from '@politely/gate'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { cacheOf, MemoryPageStore, type PageRecord } from '../src/index.ts'
import { HOUR, listOf, SECOND, TestSite } from './site.ts'

const FRESH = { 'cache-control': 'max-age=600' }
const PAGE = `<p>${Array.from({ length: 2_000 }, (_, n) => (n * n).toString(36)).join(' ')}</p>`
const CHALLENGE =
  '<!DOCTYPE html><html><head><title>Just a moment...</title><script>window._cf_chl_opt = { cRay: "9" }</script></head></html>'

const CODINGS = {
  gzip: gzipSync(PAGE),
  deflate: deflateSync(PAGE),
  br: brotliCompressSync(PAGE),
} as const

async function opened(options: Parameters<TestSite['cache']>[0] = {}) {
  const site = await TestSite.open()
  const cache = site.cache(options)
  const fetch = site.fetch(cache, { backoff: { firstMs: 1, maxMs: 1 }, circuit: false })
  const read = async (path: string, init?: RequestInit & { readonly cache?: string }) => {
    const response = await fetch(path, init)
    const text = await response.text()
    return { text, status: response.status, state: cacheOf(response)?.state, because: cacheOf(response)?.because }
  }
  /** For long texts, of which a failed test would print each character. */
  const isRead = async (path: string, text: string) => {
    const page = await read(path)
    return `${page.text === text ? 'the text' : `another text of ${page.text.length} characters`} (${page.state}: ${page.because})`
  }
  return { site, cache, fetch, read, isRead }
}

/** Node 22 has undici 6, whose fetch shows no coded bytes, unless another undici in the process is its dispatcher. */
const isShown = Number.parseInt(process.versions.undici ?? '0', 10) >= 7

describe('a coded body', () => {
  test.each(Object.entries(CODINGS))('%s: is stored only if its coding ends with it', async (coding, bytes) => {
    const { site, cache, read, isRead } = await opened()
    const headers = { ...FRESH, 'content-encoding': coding, etag: '"1"' }
    for (const [path, end] of [
      ['/cut', Math.floor(bytes.length / 2)],
      ['/without-its-last-byte', bytes.length - 1],
      ['/whole', bytes.length],
    ] as const)
      site.pages.set(path, (_, response) => {
        response.writeHead(200, headers)
        response.write(bytes.subarray(0, 100))
        response.end(bytes.subarray(100, end))
      })
    for (const path of ['/cut', '/without-its-last-byte']) {
      const { state, because } = await read(path)
      expect([path, state]).toEqual([path, 'bypass'])
      expect(because).toMatch(isShown ? /^its body is not whole: / : /^its body is not whole: |coded bytes/)
    }
    expect(await listOf(cache.pages())).toEqual([])
    expect(await isRead('/whole', PAGE)).toMatch(isShown ? /^the text \(stored/ : /^the text \((?:stored|bypass)/)
    expect(isShown ? ['hit'] : ['hit', 'bypass']).toContain((await read('/whole')).state)
  })

  test.runIf(isShown)('of gzip may have several members, zeros after them, or a megabyte', async () => {
    const { site, isRead } = await opened()
    const long = Array.from({ length: 300_000 }, (_, n) => ((n * 7_919) % 1_000_003).toString(36)).join(' ')
    const answers: Readonly<Record<string, readonly [Buffer, string]>> = {
      '/members': [Buffer.concat([gzipSync('one '), gzipSync('two')]), 'one two'],
      '/zeros': [Buffer.concat([gzipSync('one'), Buffer.alloc(512)]), 'one'],
      '/long': [gzipSync(long), long],
    }
    for (const [path, [bytes]] of Object.entries(answers))
      site.pages.set(path, (_, response) =>
        response.writeHead(200, { ...FRESH, 'content-encoding': 'gzip' }).end(bytes),
      )
    for (const state of ['stored', 'hit'])
      for (const [path, [, text]] of Object.entries(answers))
        expect(`${path}: ${await isRead(path, text)}`).toContain(`: the text (${state}`)
    const [bytes] = answers['/long'] as readonly [Buffer, string]
    expect(bytes.length).toBeGreaterThan(500_000)
    site.pages.set('/cut', (_, response) =>
      response.writeHead(200, { ...FRESH, 'content-encoding': 'gzip' }).end(bytes.subarray(0, 500_000)),
    )
    expect(await isRead('/cut', long)).toContain('(bypass: its body is not whole')
    site.pages.set('/three', (_, response) =>
      response
        .writeHead(200, { ...FRESH, 'content-encoding': 'gzip, gzip, gzip' })
        .end(gzipSync(gzipSync(gzipSync('one')))),
    )
    expect(await isRead('/three', 'one')).toBe(
      'the text (bypass: its body is not whole: it has too many codings to check)',
    )
  })

  test('that is not to be stored does not count as one of a fetch that shows no coded bytes', async () => {
    const { site, read } = await opened()
    const answer = (path: string, headers: Record<string, string>) =>
      site.pages.set(path, (_, response) => {
        response.writeHead(200, { ...headers, 'content-encoding': 'gzip' }).flushHeaders()
        setTimeout(() => response.end(CODINGS.gzip), 20) // its chunks come after the decision
      })
    answer('/private', { 'cache-control': 'no-store' })
    answer('/page', FRESH)
    expect(await read('/private')).toMatchObject({ state: 'bypass', text: PAGE })
    expect(await read('/page')).toMatchObject({ state: isShown ? 'stored' : expect.any(String), text: PAGE })
  })

  test('may end with the connection', async () => {
    const { site, cache, read } = await opened()
    const answer = (bytes: Uint8Array) =>
      site.pages.set('/a', ({ socket }) => {
        socket.write('HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Encoding: gzip\r\n\r\n')
        socket.end(bytes)
      })
    answer(CODINGS.gzip.subarray(0, 3_000))
    expect((await read('/a')).state).toBe('bypass')
    expect(await listOf(cache.pages())).toEqual([])
    answer(CODINGS.gzip)
    expect((await read('/a')).text === PAGE).toBe(true)
    expect(isShown ? [1] : [0, 1]).toContain((await listOf(cache.pages())).length)
  })

  test.runIf(isShown).each([
    ['deflate without the header of zlib', 'deflate', deflateRawSync(PAGE), PAGE],
    ['two members of gzip', 'gzip', Buffer.concat([gzipSync('one, '), gzipSync('two')]), 'one, two'],
    ['nothing, for nothing', 'gzip', Buffer.alloc(0), ''],
    ['a coding that fetch does not know', 'utf-8', Buffer.from('plain'), 'plain'],
    ['two codings', 'gzip, br', brotliCompressSync(gzipSync(PAGE)), PAGE],
  ])('%s is stored', async (_, coding, bytes, text) => {
    const { site, isRead } = await opened()
    site.pages.set('/a', (_, response) => response.writeHead(200, { ...FRESH, 'content-encoding': coding }).end(bytes))
    expect(await isRead('/a', text)).toBe('the text (stored: the site sent it)')
    expect(await isRead('/a', text)).toBe('the text (hit: it is fresh)')
  })

  test.runIf(isShown)('a cut one leaves the old copy, and does not confirm itself by a 304', async () => {
    const { site, read } = await opened()
    site.page('/a', { etag: '"old"' })
    expect(await read('/a')).toMatchObject({ text: '/a 1', state: 'stored' })
    const coded = { etag: '"new"', 'content-encoding': 'br' }
    site.pages.set('/a', ({ headers }, response) => {
      if (headers['if-none-match'] === '"new"') response.writeHead(304, coded).end()
      else response.writeHead(200, coded).end(CODINGS.br.subarray(0, 2_000))
    })
    expect((await read('/a')).state).toBe('bypass')
    expect((await read('/a')).state).toBe('bypass')
    expect(site.seen.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"old"', '"old"'])
  })

  test('is not stored if the fetch shows no coded bytes, and `cacheOf` says so at once', async () => {
    const { cache } = await opened()
    const decoding = async (_url: string) =>
      new Response('decoded', { headers: { ...FRESH, 'content-encoding': 'gzip' } })
    const polite = politely(decoding, {
      userAgent: 'CacheBot/1.0',
      minDelayMs: 0,
      cache,
      fetch: async () => new Response(''),
    })
    onTestFinished(() => polite.close())
    const response = await polite('http://site.test/a')
    expect(cacheOf(response)).toMatchObject({
      state: 'bypass',
      because: 'it may be cut off: this fetch does not show the coded bytes of a body',
    })
    expect(await response.text()).toBe('decoded')
    expect(await listOf(cache.pages())).toEqual([])
  })

  test.runIf(isShown)('is also checked if `retry` has read it before', async () => {
    const { site, cache } = await opened()
    const fetch = site.fetch(cache, { retry: { attempts: 2, bufferBytes: 1_000_000 } })
    for (const [path, bytes] of [
      ['/cut', CODINGS.gzip.subarray(0, 3_000)],
      ['/whole', CODINGS.gzip],
    ] as const)
      site.pages.set(path, (_, response) =>
        response.writeHead(200, { ...FRESH, 'content-encoding': 'gzip' }).end(bytes),
      )
    for (const path of ['/cut', '/whole']) await (await fetch(path)).text()
    expect((await listOf(cache.pages())).map(({ record }) => record.url)).toEqual([`${site.origin}/whole`])
  })
})

test('a body that ends with its connection is stored only if the site has ended the connection', async () => {
  const { site, cache, read } = await opened()
  const answer = (end: 'end' | 'resetAndDestroy') =>
    site.pages.set('/a', ({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n\r\nthe page', () => socket[end]())
    })
  answer('resetAndDestroy')
  const { state, because } = await read('/a')
  expect([state, because]).toEqual(['bypass', expect.stringMatching(/^its body is not whole: the connection broke/)])
  expect(await listOf(cache.pages())).toEqual([])
  answer('end')
  expect(await read('/a')).toMatchObject({ text: 'the page', state: 'stored' })
  expect((await read('/a')).state).toBe('hit')
})

describe('what a site sends in place of a page', () => {
  test.each<[string, number, Record<string, string>, string]>([
    ['a challenge by its header', 200, { 'cf-mitigated': 'challenge' }, '<p>x</p>'],
    ['a challenge of AWS', 405, { 'x-amzn-waf-action': 'captcha' }, '<p>x</p>'],
    ['a challenge by its page', 200, { 'content-type': 'text/html' }, CHALLENGE],
    ['a login page', 200, { 'content-type': 'text/html' }, '<form><input type="password"></form>'],
    ['a refusal', 403, {}, 'no'],
    ['a server error', 503, {}, 'later'],
    ['a status above 599', 999, {}, 'no'],
    ['too many requests', 429, {}, 'slow down'],
  ])('%s is not stored, and leaves the old copy and its visits', async (_, status, headers, body) => {
    const { site, cache, read } = await opened()
    site.page('/a', { 'cache-control': 'max-age=60', etag: '"1"' })
    expect((await read('/a')).text).toBe('/a 1')
    const before = await cache.visits(`${site.origin}/a`)
    site.now += 61 * SECOND
    site.pages.set('/a', (_, response) => response.writeHead(status, { ...FRESH, etag: '"2"', ...headers }).end(body))
    const refused = await read('/a')
    expect(refused).toMatchObject({ status, text: body, state: 'bypass' })
    expect(refused.because).toMatch(/^its outcome is `[a-z-]+`; only pages, redirects and missing pages are stored$/)
    expect((await read('/a')).text).toBe(body)
    expect(await (await cache.get(`${site.origin}/a`))?.text()).toBe('/a 1')
    const after = await cache.visits(`${site.origin}/a`)
    expect(after?.fingerprint).toBe(before?.fingerprint)
    expect(after?.visits.filter(({ changed }) => changed)).toEqual(before?.visits.filter(({ changed }) => changed))
    site.page('/a', { 'cache-control': 'max-age=60', etag: '"1"' })
    expect((await read('/a')).state).toBe('revalidated')
  })

  test('is not stored if `isRateLimited` names it', async () => {
    const { site, cache } = await opened()
    const fetch = site.fetch(cache, {
      isRateLimited: async (response) => (await response.text()).includes('too fast') && { retryAfterMs: 1 },
    })
    site.pages.set('/a', (_, response) => response.writeHead(200, FRESH).end('you are too fast'))
    const response = await fetch('/a')
    expect(cacheOf(response)?.because).toBe('isRateLimited says that it asks for fewer requests')
    await response.text()
    expect(await listOf(cache.pages())).toEqual([])
    expect((await cache.visits(`${site.origin}/a`))?.visits ?? []).toEqual([])
  })

  test('ends the wait of requests for the same page', async () => {
    const { site, read } = await opened()
    const headers = { ...FRESH, 'content-type': 'text/html' }
    site.pages.set('/a', (_, response) => response.writeHead(200, headers).end(CHALLENGE))
    const both = await Promise.all([read('/a'), read('/a')])
    expect(both.map(({ text, state }) => [text === CHALLENGE, state])).toEqual([
      [true, 'bypass'],
      [true, 'bypass'],
    ])
  })

  test('a redirect to a login page is not stored', async () => {
    const { site, cache, fetch } = await opened()
    site.pages.set('/a', (_, response) => response.writeHead(301, { ...FRESH, location: '/login?next=/a' }).end())
    await (await fetch('/a', { redirect: 'manual' })).text()
    expect(await listOf(cache.pages())).toEqual([])
  })
})

describe('cache: "reload"', () => {
  test('asks without validators, and replaces what is stored', async () => {
    const { site, read } = await opened({ stale: 'if-error' })
    site.page('/a', { ...FRESH, etag: '"1"', 'last-modified': new Date(0).toUTCString() })
    await read('/a')
    expect(await read('/a', { cache: 'reload' })).toMatchObject({ text: '/a 2', state: 'stored' })
    const headers = Object.keys(site.seen.at(-1)?.headers ?? {})
    expect(headers).toContain('user-agent')
    expect(headers.filter((name) => name.startsWith('if-'))).toEqual([])
    expect(await read('/a')).toMatchObject({ text: '/a 2', state: 'hit' })
  })

  test('with `Cache-Control: no-store` stores nothing (RFC 9111 §5.2.1.5)', async () => {
    const { site, cache, read } = await opened()
    site.page('/a', FRESH)
    const init = { cache: 'reload', headers: { 'cache-control': 'no-store' } }
    expect(await read('/a', init)).toMatchObject({ state: 'bypass', because: 'the request says no-store' })
    expect(await listOf(cache.pages())).toEqual([])
  })

  test('gives no stale copy, and keeps it for other requests', async () => {
    const { site, read } = await opened({ stale: 'if-error' })
    site.page('/a', { etag: '"1"' })
    await read('/a')
    site.pages.set('/a', (_, response) => response.writeHead(503).end('down'))
    expect(await read('/a', { cache: 'reload' })).toMatchObject({ status: 503, state: 'bypass' })
    expect(await read('/a')).toMatchObject({ status: 200, state: 'stale' })
  })
})

describe('cache: "reload"', () => {
  test('that says no-store stores nothing, and one that says only-if-cached sends nothing', async () => {
    const { site, cache, read } = await opened()
    site.page('/a', FRESH)
    const reload = (directive: string) => read('/a', { cache: 'reload', headers: { 'cache-control': directive } })
    expect((await reload('no-store')).state).toBe('bypass')
    expect(await listOf(cache.pages())).toEqual([])
    expect((await reload('only-if-cached')).status).toBe(504)
  })

  test('whose page cannot be stored lets the old copy be asked for', async () => {
    const { site, read } = await opened()
    site.page('/a', { ...FRESH, etag: '"1"' })
    await read('/a')
    site.pages.set('/a', (_, response) => response.writeHead(200, { 'cache-control': 'no-store' }).end('new'))
    expect(await read('/a', { cache: 'reload' })).toMatchObject({ text: 'new', state: 'bypass' })
    expect(await read('/a')).toMatchObject({ text: 'new', state: 'bypass' })
  })

  test('of a Request holds after a redirect', async () => {
    const { site, cache: pages } = await opened()
    const fetch = politely(globalThis.fetch, { userAgent: 'CacheBot/1.0', minDelayMs: 0, cache: pages })
    onTestFinished(() => fetch.close())
    site.page('/a', FRESH)
    site.pages.set('/from', (_, response) => response.writeHead(302, { location: '/a' }).end())
    const texts: string[] = []
    for (const cache of ['reload', 'reload', 'no-store'] as const)
      texts.push(await (await fetch(new Request(`${site.origin}/from`, { cache } as RequestInit))).text())
    expect(texts).toEqual(['/a 1', '/a 2', '/a 3'])
  })
})

describe('a site that fails', () => {
  test.each(['no-cache', 'reload'] as const)('`%s` gives no old page', async (mode) => {
    const { site, read } = await opened({ stale: 'if-error' })
    site.page('/a', { etag: '"1"' })
    await read('/a')
    site.pages.set('/a', ({ socket }) => socket.destroy())
    await expect(read('/a', { cache: mode })).rejects.toThrow()
    await expect(
      read('/a', { headers: { 'cache-control': mode === 'reload' ? 'no-cache' : 'max-age=0' } }),
    ).rejects.toThrow()
    expect((await read('/a')).state).toBe('stale')
  })

  test('a page whose stale-if-error passes while the site is silent is not given', async () => {
    const { site, read } = await opened()
    site.page('/a', { 'cache-control': 'max-age=60, stale-if-error=60', etag: '"1"' })
    await read('/a')
    site.now += 119 * SECOND
    site.pages.set('/a', (_, response) => {
      site.now += SECOND
      response.writeHead(503).end()
    })
    expect(await read('/a')).toMatchObject({ status: 503, state: 'bypass' })
  })

  test.each<[string, (request: { socket: { destroy(): void; end(text: string): void } }) => void]>([
    ['a lost connection', ({ socket }) => socket.destroy()],
    ['a malformed response', ({ socket }) => socket.end('no http\r\n\r\n')],
    ['a status above 599', ({ socket }) => socket.end('HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n')],
    ['status 500', ({ socket }) => socket.end('HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n')],
  ])('%s gives the old page within stale-if-error', async (_, fail) => {
    const { site, read } = await opened()
    site.page('/a', { 'cache-control': 'max-age=60, stale-if-error=600', etag: '"1"' })
    await read('/a')
    site.now += 500 * SECOND
    site.pages.set('/a', fail as never)
    expect((await read('/a')).state).toBe('stale')
    site.now += HOUR
    await read('/a').then(
      ({ state }) => expect(state).toBe('bypass'),
      (error) => expect(error).toBeInstanceOf(TypeError),
    )
  })
})

describe('a 304', () => {
  /** A page in the language that is asked for. Its first response lacks Vary. */
  function languages(site: TestSite, vary: string): void {
    let isFirst = true
    site.pages.set('/a', ({ headers }, response) => {
      const language = headers['accept-language'] ?? ''
      const etag = `"${language}"`
      if (headers['if-none-match'] === etag) response.writeHead(304, { ...FRESH, etag, vary }).end()
      else response.writeHead(200, { 'cache-control': 'no-cache', etag, ...(!isFirst && { vary }) }).end(language)
      isFirst = false
    })
  }

  test('that adds Vary makes the page one for requests with the same field (RFC 9111 §4.1)', async () => {
    const { site, cache, read } = await opened()
    languages(site, 'accept-language')
    const [de, fr] = ['de', 'fr'].map((language) => ({ headers: { 'accept-language': language } }))
    await read('/a', de)
    expect(await read('/a', de)).toMatchObject({ text: 'de', state: 'revalidated' })
    expect(await read('/a', fr)).toMatchObject({ text: 'fr', state: 'stored' })
    expect(await read('/a', de)).toMatchObject({ text: 'de', state: 'hit' })
    expect(await read('/a', fr)).toMatchObject({ text: 'fr', state: 'revalidated' })
    expect(await listOf(cache.pages())).toHaveLength(2)
  })

  test('whose Vary the store does not keep gives the page to no other request', async () => {
    const store = new MemoryPageStore({ maxBytes: 1_000_000 })
    const { update } = store
    vi.spyOn(store, 'update').mockImplementation((id, record: PageRecord) => {
      const [page] = store.find(record.url)
      update.call(store, id, { ...record, varied: page?.record.varied ?? [] })
    })
    const { site, read } = await opened({ store })
    languages(site, 'accept-language')
    await read('/a', { headers: { 'accept-language': 'de' } })
    await read('/a', { headers: { 'accept-language': 'de' } })
    expect(await read('/a', { headers: { 'accept-language': 'fr' } })).not.toMatchObject({ state: 'hit' })
  })

  test('that says no-store, or Vary: *, gives the page once more and deletes it', async () => {
    const { site, cache, read } = await opened()
    languages(site, '*')
    const { text } = await read('/a')
    expect(await read('/a')).toMatchObject({ text, state: 'revalidated' })
    expect(await listOf(cache.pages())).toEqual([])
  })

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['a strong ETag that is not stored', { 'last-modified': new Date(0).toUTCString() }, { etag: '"B"' }],
    ['another ETag', { etag: '"A"' }, { etag: '"B"' }],
    ['another weak ETag', { etag: 'W/"A"' }, { etag: 'W/"B"' }],
    ['a weak ETag that is not stored', { 'last-modified': new Date(0).toUTCString() }, { etag: 'W/"B"' }],
    [
      'a later Last-Modified',
      { 'last-modified': new Date(0).toUTCString() },
      { 'last-modified': new Date(9e9).toUTCString() },
    ],
  ])('with %s updates nothing: the page is requested again', async (_, stored, confirmed) => {
    const { site, read } = await opened()
    let text = 'A'
    site.pages.set('/a', ({ headers }, response) => {
      const isConditional = headers['if-none-match'] !== undefined || headers['if-modified-since'] !== undefined
      if (isConditional) response.writeHead(304, { ...FRESH, ...confirmed }).end()
      else response.writeHead(200, { ...(text === 'A' ? stored : confirmed), 'cache-control': 'no-cache' }).end(text)
    })
    await read('/a')
    text = 'B'
    expect(await read('/a')).toMatchObject({ text: 'B', state: 'stored' })
    expect(site.lines).toHaveLength(3)
  })
})

describe('a HEAD', () => {
  test.each([
    ['another ETag', { etag: '"2"' }],
    ['another length', { etag: '"1"', 'content-length': '999' }],
  ])('with %s makes the stored page outdated (RFC 9111 §4.3.5)', async (_, changed) => {
    const { site, cache, read } = await opened()
    site.page('/a', { ...FRESH, etag: '"1"', 'content-length': '4' })
    await read('/a')
    site.pages.set('/a', ({ headers }, response) => {
      if (headers['if-none-match'] === changed.etag) response.writeHead(304, changed).end()
      else response.writeHead(200, { ...FRESH, ...changed }).end()
    })
    await read('/a', { method: 'HEAD', cache: 'reload' })
    const [page] = await listOf(cache.pages())
    expect([page?.record.isOutdated, page?.lifetimeMs]).toEqual([true, 0])
    expect((await read('/a')).state).not.toBe('hit')
  })

  test('that is sent again, after a 304 about another page, makes the stored page outdated too', async () => {
    const { site, cache, read } = await opened()
    site.page('/a', { ...FRESH, etag: '"1"' })
    await read('/a')
    site.pages.set('/a', ({ headers }, response) => {
      response.writeHead(headers['if-none-match'] === undefined ? 200 : 304, { etag: '"2"' }).end()
    })
    await read('/a', { method: 'HEAD', cache: 'no-cache' })
    expect((await listOf(cache.pages()))[0]?.record.isOutdated).toBe(true)
  })

  test('with the same ETag changes nothing', async () => {
    const { site, read } = await opened()
    site.page('/a', { ...FRESH, etag: '"1"' })
    await read('/a')
    await read('/a', { method: 'HEAD', cache: 'no-cache' })
    expect((await read('/a')).state).toBe('hit')
  })
})

describe('a page of one user', () => {
  test.each([
    'authorization',
    'cookie',
    'x-api-key',
    'api-key',
    'x-auth-token',
    'private-token',
    'x-amz-security-token',
    'ocp-apim-subscription-key',
    'x-datadog-api-key',
    'sec-session-id',
    'x-something-of-ours',
  ])('is not given for another value of %s, nor without it', async (name) => {
    const { site, cache, read } = await opened()
    site.pages.set('/a', ({ headers }, response) => response.writeHead(200, FRESH).end(`for ${headers[name]}`))
    const as = (value: string) => read('/a', { headers: { [name]: value } })
    expect((await as('one')).text).toBe('for one')
    expect((await as('two')).text).toBe('for two')
    expect((await read('/a')).text).toBe('for undefined')
    expect(await as('one')).toMatchObject({ text: 'for one', state: 'hit' })
    expect(await as('three')).toMatchObject({ text: 'for three', state: 'stored' })
    expect(JSON.stringify(await listOf(cache.pages()))).not.toContain('"one"')
  })

  test.each(['traceparent', 'x-request-id', 'accept-language', 'x-b3-traceid', 'sec-fetch-mode'])(
    '%s is harmless',
    async (name) => {
      const { site, read } = await opened()
      site.page('/a', FRESH)
      await read('/a', { headers: { [name]: 'one' } })
      expect((await read('/a', { headers: { [name]: 'two' } })).state).toBe('hit')
      expect((await read('/a')).state).toBe('hit')
    },
  )

  test('`requestHeaders` says what your own headers are', async () => {
    const { site, read } = await opened({ requestHeaders: { 'X-Run': 'harmless', 'x-tenant': 'credential' } })
    site.page('/a', FRESH)
    await read('/a', { headers: { 'x-run': '1' } })
    expect((await read('/a', { headers: { 'x-run': '2' } })).state).toBe('hit')
    expect((await read('/a', { headers: { 'x-tenant': '2' } })).state).toBe('stored')
  })

  test('a new cookie for each request keeps at most 20 pages of a URL', async () => {
    const { site, cache, read } = await opened()
    site.page('/a', FRESH)
    for (let n = 0; n < 30; n++) await read('/a', { headers: { cookie: `id=${n}` } })
    expect(await listOf(cache.pages())).toHaveLength(20)
  })
})

describe('what a request asks of the cache', () => {
  type Asked = RequestInit & { readonly cache?: string }
  test.each<[string, Asked, string]>([
    [
      'a mode counts next to a Cache-Control',
      { cache: 'no-cache', headers: { 'cache-control': 'max-stale' } },
      'revalidated',
    ],
    ['`no-store` too', { cache: 'no-store', headers: { 'cache-control': 'stale-if-error=600' } }, 'bypass'],
    ['an old page is told as old', { cache: 'force-cache' }, 'stale'],
    ['`only-if-cached` takes an old page', { cache: 'only-if-cached' }, 'stale'],
    ['an invalid max-stale allows nothing', { headers: { 'cache-control': 'max-stale=x' } }, 'revalidated'],
  ])('%s', async (_, init, state) => {
    const { site, read } = await opened()
    site.page('/a', { 'cache-control': 'max-age=60', etag: '"1"' })
    await read('/a')
    site.now += 61 * SECOND
    expect((await read('/a', init)).state).toBe(state)
  })

  test('an invalid max-stale allows nothing at the very end of the lifetime either', async () => {
    const { site, read } = await opened()
    site.page('/a', { etag: '"1"' })
    await read('/a')
    expect((await read('/a', { headers: { 'cache-control': 'max-stale=x' } })).state).toBe('revalidated')
  })

  test('`only-if-cached` never sends: what is missing is a 504', async () => {
    const { site, read } = await opened()
    expect(await read('/a', { cache: 'only-if-cached' })).toMatchObject({ status: 504, state: 'bypass' })
    expect(site.lines).toEqual([])
  })
})

test.each(['6 0', '60;x', '-60', 'x', '60.5'])('max-age=%s is no lifetime (RFC 9111 §4.2.1)', async (value) => {
  const { site, read } = await opened()
  site.page('/a', { 'cache-control': `max-age=${value}`, etag: '"1"' })
  await read('/a')
  expect((await read('/a')).state).toBe('revalidated')
})

test('a clone of a page that a redirect led to is redirected too', async () => {
  const { site, fetch } = await opened()
  site.page('/a', FRESH)
  site.pages.set('/from', (_, response) => response.writeHead(301, { location: '/a' }).end())
  for (const state of ['stored', 'hit']) {
    const response = await fetch('/from')
    const copy = response.clone()
    expect([cacheOf(response)?.state, copy.redirected, copy.url]).toEqual([state, true, `${site.origin}/a`])
    expect(await Promise.all([response.text(), copy.text()])).toEqual(['/a 1', '/a 1'])
  }
})

describe('a head that Response refuses', () => {
  test.each(['Успешно', '成功', ''])('a page with the reason phrase "%s" is stored and returned', async (phrase) => {
    const warn = vi.spyOn(process, 'emitWarning')
    onTestFinished(() => warn.mockRestore())
    const { site, cache, read, fetch } = await opened()
    site.pages.set('/a', ({ socket }) => {
      socket.end(Buffer.from(`HTTP/1.1 200 ${phrase}\r\nCache-Control: max-age=600\r\nContent-Length: 2\r\n\r\nok`))
    })
    const sent = await fetch('/a')
    await sent.text()
    const hit = await fetch('/a')
    const copy = hit.clone()
    for (const response of [hit, copy]) {
      const { status, ok, statusText, url } = response
      expect({ status, ok, statusText, url }).toEqual({
        status: 200,
        ok: true,
        statusText: sent.statusText,
        url: `${site.origin}/a`,
      })
      expect(await response.text()).toBe('ok')
    }
    expect((await read('/a')).state).toBe('hit')
    expect(await (await cache.get(`${site.origin}/a`))?.text()).toBe('ok')
    expect(warn).not.toHaveBeenCalled()
  })

  test('a lifetime beyond 2^31 seconds counts as that, and its visit is noted (RFC 9111 §1.2.2)', async () => {
    const warn = vi.spyOn(process, 'emitWarning')
    onTestFinished(() => warn.mockRestore())
    const { site, cache, read } = await opened()
    for (const [path, seconds] of [
      ['/a', '99999999999999'],
      ['/b', '9'.repeat(400)],
    ] as const) {
      site.page(path, { 'cache-control': `max-age=${seconds}` })
      await read(path)
      expect((await read(path)).state).toBe('hit')
      expect((await cache.visits(site.origin + path))?.visits).toHaveLength(1)
    }
    expect(warn).not.toHaveBeenCalled()
  })

  test('a `fingerprint` that throws is told as what it is', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined)
    onTestFinished(() => warn.mockRestore())
    const { site, read } = await opened({
      fingerprint() {
        throw new Error('no text')
      },
    })
    site.page('/a', FRESH)
    await read('/a')
    expect((await read('/a')).state).toBe('hit')
    expect(warn.mock.calls.map(([message, options]) => [message, (options as { code: string }).code])).toEqual([
      [expect.stringMatching(/^the option `fingerprint` has thrown for http.*no text/), 'POLITELY_FINGERPRINT'],
    ])
  })
})

test.each<[number, Record<string, string>, string]>([
  [200, { 'cache-control': 'no-store' }, 'its Cache-Control says no-store'],
  [200, { vary: '*' }, 'its Vary is *'],
  [206, FRESH, 'it is a part of a page'],
  [302, {}, 'a response with status 302 and without a lifetime is not stored'],
  [418, FRESH, 'a response with status 418 is not stored'],
])('status %i with %o: `cacheOf` says why it is not stored', async (status, headers, because) => {
  const { site, fetch } = await opened()
  site.page('/a', headers, status)
  expect(cacheOf(await fetch('/a'))).toMatchObject({ state: 'bypass', because })
})
