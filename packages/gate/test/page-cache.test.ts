// The option `cache` of politely: what a cache is asked, and what it may do. PageCache, which decides
// by HTTP's rules, has tests of its own.
import { OptionError } from '@politely/core'
import { MemoryStore } from '@politely/fetcher'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  type CachedRequest,
  type CacheExchange,
  type FetchResponse,
  type PolitelyOptions,
  politely,
  type ResponseCache,
  RobotsDisallowedError,
  usageOf,
} from '../src/index.ts'
import { kits } from './kits.ts'
import { Site } from './site.ts'

interface Stored {
  readonly status: number
  readonly headers: [string, string][]
  readonly body: Uint8Array
  readonly robotsTags: readonly string[]
}

/** Stores each response for a URL for ever. Returns copies, as a cache that streams bodies does. */
class EternalCache implements ResponseCache {
  readonly requests: CachedRequest[] = []
  readonly stored: Map<string, Stored> = new Map()

  async respond(request: CachedRequest, exchange: CacheExchange): Promise<FetchResponse> {
    this.requests.push(request)
    const old = this.stored.get(request.url)
    if (old !== undefined) {
      await exchange.check()
      return exchange.adopt(this.#copy(old), old.robotsTags)
    }
    const sent = (await exchange.send(request.headers)) as Response
    const { status } = sent
    const body = new Uint8Array(await sent.arrayBuffer())
    const stored = { status, headers: [...sent.headers], body, robotsTags: exchange.robotsTagsOf(sent) }
    this.stored.set(request.url, stored)
    return exchange.adopt(this.#copy(stored), sent)
  }

  #copy({ status, headers, body }: Stored): Response {
    return new Response(body.length === 0 ? null : body, { status, headers })
  }
}

async function openSite(rules = ''): Promise<Site> {
  const site = await Site.open({ '*': `User-agent: *\nDisallow: /private\n${rules}` })
  onTestFinished(() => site.close())
  return site
}

const withCache = (cache: ResponseCache): PolitelyOptions => ({
  userAgent: 'ExampleBot/1.0',
  minDelayMs: 0,
  cache,
})

describe.each(kits)('politely($name, { cache })', ({ fetch, Request }) => {
  test('answers from the cache without a slot', async () => {
    const site = await openSite()
    const cache = new EternalCache()
    await using polite = politely(fetch, { ...withCache(cache), minDelayMs: 3_600_000, maxWaitMs: 1_000, budget: 1 })
    for (let visit = 0; visit < 3; visit++)
      expect(await (await polite(`${site.origin}/page#part`)).text()).toBe('page /page')
    expect(site.lines).toEqual(['GET /page'])
    expect(polite.gate.counters.started).toBe(1)
    expect(cache.requests[0]).toEqual({
      url: `${site.origin}/page`,
      method: 'GET',
      headers: { 'user-agent': 'ExampleBot/1.0' },
      hasBody: false,
      signal: undefined,
    })
  })

  test('does not answer with a page that robots.txt no longer allows', async () => {
    const site = await openSite()
    const cache = new EternalCache()
    cache.stored.set(`${site.origin}/private`, { status: 200, headers: [], body: Buffer.from('old'), robotsTags: [] })
    await using polite = politely(fetch, withCache(cache))
    await expect(polite(`${site.origin}/private`)).rejects.toThrow(RobotsDisallowedError)
    await using answering = politely(fetch, { ...withCache(cache), onDisallowed: 'response' })
    expect((await answering(`${site.origin}/private`)).status).toBe(403)
    expect(site.lines).toEqual([])
  })

  test('checks a page against the stored robots.txt, however old, without a request', async () => {
    const site = await openSite()
    const cache = new EternalCache()
    const answers: unknown[] = []
    const asking: ResponseCache = {
      respond: async (request, exchange) => {
        answers.push(await exchange.checkStored().catch((error: Error) => error.name))
        return request.url.endsWith('/page') ? cache.respond(request, exchange) : new Response()
      },
    }
    const store = new MemoryStore()
    let now = Date.now()
    const visit = async (path: string) => {
      await using polite = politely(fetch, { ...withCache(asking), store, now: () => now })
      await polite(`${site.origin}${path}`)
    }
    await visit('/page')
    now += 10 * 24 * 3_600_000
    await visit('/other')
    await visit('/private')
    expect(answers).toEqual([false, true, 'RobotsDisallowedError'])
    expect(site.robotsFetches).toBe(1)
  })

  test('asks the cache for each hop of a redirect', async () => {
    const site = await openSite()
    site.pages.set('/go', (_, response) => response.writeHead(301, { location: '/page' }).end())
    const cache = new EternalCache()
    await using polite = politely(fetch, withCache(cache))
    for (let visit = 0; visit < 2; visit++) {
      const response = await polite(`${site.origin}/go`)
      expect(response.redirected).toBe(true)
      expect(await response.text()).toBe('page /page')
    }
    expect(site.lines).toEqual(['GET /go', 'GET /page'])
    expect([...cache.stored.keys()]).toEqual([`${site.origin}/go`, `${site.origin}/page`])
  })

  test('knows the use of a copy and of a stored page, line by line', async () => {
    const site = await openSite()
    site.pages.set('/tagged', (_, response) =>
      response
        .writeHead(200, { 'x-robots-tag': ['otherbot: noindex', 'unavailable_after: 1 Jan 2020 00:00:00 GMT'] })
        .end('a'),
    )
    await using polite = politely(fetch, withCache(new EternalCache()))
    const visits = [await polite(`${site.origin}/tagged`), await polite(`${site.origin}/tagged`)]
    const [first, second] = await Promise.all(visits.map((response) => usageOf(response, { tdmrep: 'ignore' })))
    expect(first?.purposes.index.answer).toBe('disallowed')
    expect([second?.purposes, second?.page]).toEqual([first?.purposes, first?.page])
    expect(site.lines).toEqual(['GET /tagged'])
  })

  test('passes on what a request is: its method, headers, body, and the cache mode of fetch', async () => {
    const site = await openSite()
    const cache = new EternalCache()
    await using polite = politely(fetch, withCache(cache))
    const { signal } = new AbortController()
    await polite(`${site.origin}/form`, { method: 'post', body: 'a=1', headers: { Accept: 'text/html' }, signal })
    await polite(new Request(`${site.origin}/again`, { headers: { 'If-None-Match': '"1"' } }), {
      cache: 'reload',
    } as RequestInit)
    expect(cache.requests).toMatchObject([
      { method: 'POST', hasBody: true, headers: { accept: 'text/html' }, signal },
      { method: 'GET', hasBody: false, headers: { 'if-none-match': '"1"', 'cache-control': 'no-cache' } },
    ])
    expect(site.seen[1]?.headers['if-none-match']).toBe('"1"')
  })

  test('does not ask the cache for robots.txt, nor for what needs no network', async () => {
    const site = await openSite()
    const cache = new EternalCache()
    await using polite = politely(fetch, { ...withCache(cache), robotsVia: 'pages' } as PolitelyOptions)
    expect(await (await polite('data:,text')).text()).toBe('text')
    await polite(`${site.origin}/page`)
    await expect(polite('ftp://127.0.0.1/')).rejects.toThrow()
    expect(cache.requests.map(({ url }) => url)).toEqual([`${site.origin}/page`])
    expect(site.robotsFetches).toBe(1)
  })
})

test('politely refuses what is not a cache of pages', () => {
  const problemOf = (cache: unknown) => {
    try {
      politely(fetch, withCache(cache as ResponseCache))
    } catch (error) {
      return error instanceof OptionError ? error.message : error
    }
    return undefined
  }
  expect(problemOf(true)).toBe('cache: true is not a cache of pages; write new PageCache() of @politely/cache')
  expect(problemOf(new Map())).toBe(
    'cache: is not a cache of pages; write a store of robots.txt as `store`, and as `cache` new PageCache() of @politely/cache',
  )
})
