// @module-tag nodes
// A gate and a client on a fake web, with fake timers.
import { mock } from 'node:test'
import { RobotsClient } from '@politely/fetcher'
import { politely } from '@politely/gate'
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { fakeWeb } from '../src/index.ts'

const userAgent = 'ExampleBot/1.0'
const sites = {
  'https://site.example': { robots: 'User-agent: *\nCrawl-delay: 2\nDisallow: /cart', pages: { '/': 'a page' } },
}

afterEach(() => {
  vi.useRealTimers()
  mock.timers.reset()
})

/** Sends three requests, advances the time, and returns when the pages were requested. */
async function startsAfter(
  web: ReturnType<typeof fakeWeb>,
  advance: () => Promise<unknown>,
  options: { readonly now?: () => number } = {},
): Promise<readonly number[]> {
  const fetch = politely(web.fetch, { userAgent, ...options })
  const begin = web.clock.now()
  const responses = Promise.all(['/', '/', '/'].map((path) => fetch(`https://site.example${path}`)))
  responses.catch(() => undefined)
  await advance()
  await fetch.close()
  return web.requests.filter(({ isRobotsTxt }) => !isRobotsTxt).map(({ at }) => at - begin)
}

describe('a gate on a fake web', () => {
  it.each([{}, { now: true }])('waits for the fake timers of Vitest, with %j', async ({ now }) => {
    for (const isOwn of [true, false]) {
      vi.useFakeTimers()
      const web = fakeWeb(sites)
      const advance = isOwn ? () => web.clock.advance(4_000) : () => vi.advanceTimersByTimeAsync(4_000)
      expect(await startsAfter(web, advance, now ? { now: web.clock.now } : {})).toEqual([0, 2_000, 4_000])
      vi.useRealTimers()
    }
  })

  it('waits for the fake timers of node:test', async () => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'] })
    const web = fakeWeb(sites, { timers: mock.timers })
    expect(await startsAfter(web, () => web.clock.advance(3_000), { now: web.clock.now })).toEqual([0, 2_000])
  })

  it('says what to call if the timers or Date are real', async () => {
    const { clock } = fakeWeb(sites)
    await expect(clock.advance(1_000)).rejects.toThrow('timers: setTimeout is not faked; call vi.useFakeTimers()')
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    await expect(clock.advance(1_000)).rejects.toThrow('timers: Date is not faked; call vi.useFakeTimers()')
  })
})

describe('the built-in fetch', () => {
  it('of a gate reaches a fake web that is the global dispatcher, also for robots.txt', async () => {
    const before = getGlobalDispatcher()
    onTestFinished(() => setGlobalDispatcher(before))
    vi.useFakeTimers()
    const web = fakeWeb(sites)
    setGlobalDispatcher(web.dispatcher)
    const politeFetch = politely(globalThis.fetch, { userAgent })
    const responses = Promise.all([politeFetch('https://site.example/'), politeFetch('https://site.example/')])
    await web.clock.advance(2_000)
    expect((await responses).map(({ status }) => status)).toEqual([200, 200])
    const page = 'https://site.example/'
    expect(web.requests.map(({ url }) => url)).toEqual([`${page}robots.txt`, page, page])
    await politeFetch.close()
  })
})

describe('a RobotsClient on a fake web', () => {
  it('fetches a stale robots.txt again', async () => {
    vi.useFakeTimers()
    const web = fakeWeb(sites)
    const client = new RobotsClient({ userAgent, fetch: web.fetch })
    await client.isAllowed('https://site.example/')
    await web.clock.advance(24 * 60 * 60 * 1_000)
    await client.isAllowed('https://site.example/')
    expect(web.requests).toHaveLength(2)
    await client.close()
  })
})
