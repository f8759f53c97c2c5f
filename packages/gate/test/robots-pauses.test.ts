// Pauses that come from requests for robots.txt: after a 429, a 503 or a Retry-After, and with the
// option `countRobots`. The clock of the client and of the gate is simulated; the server is real.
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { MemoryStore, RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import * as undici from 'undici'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  LocalPacer,
  PoliteGate,
  type PoliteGateOptions,
  politeHttpAgent,
  politely,
  type RobotsDisallowedError,
} from '../src/index.ts'
import { politeAgent } from '../src/undici/index.ts'
import { lookup, type Page, Site, until } from './site.ts'

const START = Date.UTC(2026, 0, 1)
const DAY = 86_400_000

type Options = Omit<PoliteGateOptions, 'robots'> & { readonly client?: Partial<RobotsClientOptions> }

const answer =
  (status: number, headers: Record<string, string> = {}): Page =>
  (_, response) =>
    void response.writeHead(status, headers).end()

/** Time is simulated from START on. a.test has a robots.txt. */
async function setUp(lines = '') {
  const site = await Site.open({ 'a.test': `User-agent: *\n${lines}\n` })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: START })
  onTestFinished(async () => {
    vi.useRealTimers()
    await site.close()
  })
  const newGate = ({ client, ...options }: Options = {}) => {
    const now = () => Date.now()
    const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any', now, retries: 0, ...client })
    const gate = new PoliteGate({ robots, now, lookup, ...options })
    onTestFinished(async () => {
      gate.close()
      await robots.close()
    })
    return { robots, gate }
  }
  const page = site.at('a.test', '/page')
  /** When requests for pages start. Milliseconds after START. */
  const starts: number[] = []
  const enter = async (gate: PoliteGate, url = page) => {
    const permit = await gate.enter(url)
    starts.push(Date.now() - START)
    permit.release()
    return permit
  }
  const advance = async (ms: number) => void (await vi.advanceTimersByTimeAsync(ms))
  return { site, page, newGate, starts, enter, advance }
}

describe('robots.txt asks for fewer requests', () => {
  test.each<[status: number, retryAfter: string | undefined, waitMs: number, because: string]>([
    [429, '30', 30_000, 'retry-after'],
    [503, '30', 30_000, 'retry-after'],
    [500, '30', 30_000, 'retry-after'],
    [404, '30', 30_000, 'retry-after'],
    [200, '30', 30_000, 'retry-after'],
    [429, '99999999', DAY, 'retry-after'],
    [429, undefined, 5_000, 'backoff'],
    [503, undefined, 5_000, 'backoff'],
    [429, '0', 5_000, 'backoff'],
    [500, undefined, 0, 'none'],
    [404, undefined, 0, 'none'],
  ])('status %i with Retry-After %s: pages wait %i ms', async (status, retryAfter, waitMs, because) => {
    const { site, page, newGate } = await setUp()
    const { robots, gate } = newGate()
    await robots.check(page)
    expect(await gate.when(page)).toMatchObject({ waitMs: 0 })
    site.robots.set('a.test', answer(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }))
    vi.setSystemTime(START + DAY)
    expect(await gate.when(page)).toMatchObject({ allowed: true, waitMs, because })
    expect(site.robotsFetches).toBe(2)
  })

  test.each<[status: number, options: Options, waitMs: number]>([
    [429, { backoff: { firstMs: 20_000 } }, 20_000],
    [403, { backoff: { statuses: [403] } }, 5_000],
    [429, { backoff: { statuses: [503] } }, 0],
  ])('status %i with %o: pages wait %i ms', async (status, options, waitMs) => {
    const { site, page, newGate } = await setUp()
    const { robots, gate } = newGate(options)
    await robots.check(page)
    site.robots.set('a.test', answer(status))
    vi.setSystemTime(START + DAY)
    expect(await gate.when(page)).toMatchObject({ allowed: true, waitMs })
  })

  test('each pace key of a function of `paceBy` waits', async () => {
    const { site, page, newGate } = await setUp()
    const { robots, gate } = newGate({ paceBy: (url) => new URL(url).pathname })
    await robots.check(page)
    site.robots.set('a.test', answer(429, { 'retry-after': '30' }))
    vi.setSystemTime(START + DAY)
    for (const path of ['/page', '/other']) {
      expect(await gate.when(site.at('a.test', path))).toMatchObject({ waitMs: 30_000, because: 'retry-after' })
    }
  })

  test('the request that caused the fetch waits too, and the log says why', async () => {
    const lines: string[] = []
    const { site, page, newGate, starts, enter, advance } = await setUp()
    const { robots, gate } = newGate({ logger: { warn: (line) => void lines.push(line) } })
    await robots.check(page)
    site.robots.set('a.test', answer(429, { 'retry-after': '30' }))
    vi.setSystemTime(START + DAY)
    const entering = enter(gate)
    await until(() => gate.gauges.waiting === 1)
    expect(gate.queues()).toMatchObject([{ heldBy: 'retry-after', level: 'origin' }])
    await advance(30_000)
    expect(await entering).toMatchObject({ waitedFor: 'retry-after', waitedMs: 30_000 })
    expect(starts).toEqual([DAY + 30_000])
    expect(lines).toEqual([
      `${site.at('a.test', '')}: robots.txt answered 429 and asked to wait 30 s; pages wait until about 2026-01-02T00:00:30Z`,
    ])
  })

  test('a request that waits in its queue waits longer', async () => {
    const { site, page, newGate, starts, enter, advance } = await setUp('Crawl-delay: 40')
    const { robots, gate } = newGate({ client: { ttlMs: 30_000, minTtlMs: 0 } })
    await robots.check(page)
    await enter(gate)
    site.robots.set('a.test', answer(429, { 'retry-after': '25' }))
    const second = enter(gate)
    await advance(0)
    await advance(40_000)
    await until(() => gate.queues().some(({ heldBy }) => heldBy === 'retry-after'))
    await advance(24_000)
    site.robots.set('a.test', 'User-agent: *\nCrawl-delay: 40\n')
    await advance(1_000)
    await second
    expect(starts).toEqual([0, 65_000])
  })

  test('an early refresh in the background counts', async () => {
    const { site, page, newGate } = await setUp()
    const { robots, gate } = newGate({ client: { refreshAheadMs: DAY / 4 } })
    await robots.check(page)
    site.robots.set('a.test', answer(429, { 'retry-after': '30' }))
    vi.setSystemTime(START + 0.9 * DAY)
    const fetched = once(robots.events, 'fetch')
    expect(await gate.when(page)).toMatchObject({ waitMs: 0 })
    await fetched
    expect(await gate.when(page)).toMatchObject({ waitMs: 30_000, because: 'retry-after' })
    expect(await robots.check(page)).toMatchObject({ access: { outcome: 'success', failedRefresh: { status: 429 } } })
  })

  test('an attempt of another process with the same store counts', async () => {
    const { site, page, newGate } = await setUp()
    const store = new MemoryStore()
    const one = newGate({ client: { store } })
    await one.robots.check(page)
    site.robots.set('a.test', answer(429, { 'retry-after': '30' }))
    vi.setSystemTime(START + DAY)
    await one.robots.check(page)
    const { gate } = newGate({ client: { store } })
    vi.setSystemTime(START + DAY + 10_000)
    expect(await gate.when(page)).toMatchObject({ waitMs: 20_000, because: 'retry-after' })
    expect(site.robotsFetches).toBe(2)
  })

  test('the pacer is told once for each attempt', async () => {
    const { site, page, newGate, enter, advance } = await setUp()
    const pacer = new LocalPacer(() => Date.now())
    const pause = vi.spyOn(pacer, 'pause')
    const { robots, gate } = newGate({ pacer, minDelayMs: 0 })
    await robots.check(page)
    site.robots.set('a.test', answer(429, { 'retry-after': '60' }))
    for (const day of [1, 2]) {
      vi.setSystemTime(START + 2 * day * DAY)
      await robots.check(page)
      const all = Array.from({ length: 5 }, () => enter(gate))
      await gate.when(page)
      site.robots.set('a.test', '')
      await advance(60_000)
      await Promise.all(all)
      expect(pause).toHaveBeenCalledTimes(day)
      site.robots.set('a.test', answer(429, { 'retry-after': '60' }))
    }
    const key = site.at('a.test', '')
    expect(pause.mock.calls).toEqual(Array(2).fill([key, 60_000, 'retry-after']))
  })

  test.each([
    ['the same site', 'www.a.test', 30_000],
    ['another site', 'b.test', 0],
  ])('a redirect of robots.txt to %s', async (_, target, waitMs) => {
    const { site, page, newGate } = await setUp()
    const { robots, gate } = newGate()
    await robots.check(page)
    site.robots.set('a.test', answer(301, { location: site.at(target, '/robots.txt') }))
    site.robots.set(target, answer(429, { 'retry-after': '30' }))
    vi.setSystemTime(START + DAY)
    expect(await gate.when(page)).toMatchObject({ allowed: true, waitMs, verdict: { access: { status: 429 } } })
    site.robots.set(target, '')
    expect(await gate.when(site.at(target))).toMatchObject({ allowed: true, waitMs: 0 })
  })

  test.each(['domain', 'address'] as const)(
    'without a copy the request is refused, and others with the same %s wait',
    async (paceBy) => {
      const { site, page, newGate } = await setUp()
      const { gate } = newGate({ paceBy })
      site.robots.set('www.a.test', answer(429, { 'retry-after': '30' }))
      const refused = gate.enter(site.at('www.a.test', '/page'))
      await expect(refused).rejects.toMatchObject({
        message: expect.stringContaining(
          'robots.txt is unreachable (status 429); the server asked to wait 30 s, until 2026-01-01T00:00:30Z',
        ),
        verdict: { because: 'unreachable' },
        retryAt: START + 60_000,
      } satisfies Partial<Record<keyof RobotsDisallowedError, unknown>>)
      expect(await gate.when(page)).toMatchObject({ waitMs: 30_000, because: 'retry-after' })
    },
  )

  test('the pause holds if robots.txt is back earlier', async () => {
    const { site, page, newGate } = await setUp()
    const { gate } = newGate({ client: { maxTtlMs: 60_000 } })
    site.robots.set('a.test', answer(429, { 'retry-after': '300' }))
    await expect(gate.enter(page)).rejects.toMatchObject({ retryAt: START + 60_000 })
    site.robots.set('a.test', '')
    vi.setSystemTime(START + 60_000)
    expect(await gate.when(page)).toMatchObject({ allowed: true, waitMs: 240_000, because: 'retry-after' })
  })

  test('a pacer without `pause` is not asked, and the log does not promise a pause', async () => {
    const lines: string[] = []
    const { site, page, newGate } = await setUp()
    const pacer = Object.assign(new LocalPacer(() => Date.now()), { pause: undefined })
    const { robots, gate } = newGate({ pacer: pacer as never, logger: { warn: (line) => void lines.push(line) } })
    await robots.check(page)
    site.robots.set('a.test', answer(429, { 'retry-after': '30' }))
    vi.setSystemTime(START + DAY)
    expect(await gate.when(page)).toMatchObject({ allowed: true, waitMs: 0 })
    expect(lines).toEqual([])
  })
})

describe('countRobots', () => {
  test.each<[lines: string, options: Options, waitMs: number, because: string]>([
    ['', {}, 0, 'none'],
    ['', { countRobots: false }, 0, 'none'],
    ['', { countRobots: true }, 1_000, 'own-delay'],
    ['Crawl-delay: 7', { countRobots: true }, 7_000, 'crawl-delay'],
    ['Crawl-delay: 7', { countRobots: true, maxDelayMs: 3_000 }, 3_000, 'cap'],
    ['', { countRobots: true, minDelayMs: 0 }, 0, 'none'],
    // Otherwise robots.txt would be fetched again after each delay, and no page would ever start.
    ['Crawl-delay: 7', { countRobots: true, client: { ttlMs: 7_000, minTtlMs: 0 } }, 0, 'none'],
  ])('%j with %j: the first page waits %i ms', async (lines, options, waitMs, because) => {
    const { page, newGate } = await setUp(lines)
    expect(await newGate(options).gate.when(page)).toMatchObject({ waitMs, because })
  })

  test('counts the delay from the fetch, and each fetch once', async () => {
    const { page, newGate, starts, enter, advance } = await setUp('Crawl-delay: 7')
    const { robots, gate } = newGate({ countRobots: true })
    await robots.check(page)
    vi.setSystemTime(START + 2_000)
    const all = [enter(gate), enter(gate)]
    await advance(12_000)
    await Promise.all(all)
    expect(starts).toEqual([7_000, 14_000])
  })
})

test('real time: a page of any client arrives after the Retry-After of robots.txt', async () => {
  const clients: readonly ((gate: PoliteGate) => (url: string) => Promise<unknown>)[] = [
    (gate) => politely(globalThis.fetch, { gate }),
    (gate) => (url) => undici.fetch(url, { dispatcher: politeAgent({ gate }) }),
    (gate) => async (url) => {
      const agent = politeHttpAgent(new Agent(), gate)
      const [response] = (await once(get(url, { agent }), 'response')) as [IncomingMessage]
      response.resume()
    },
  ]
  const gaps = await Promise.all(
    clients.map(async (clientOf) => {
      const site = await Site.open()
      const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'any', ttlMs: 0, minTtlMs: 0 })
      const gate = new PoliteGate({ robots, minDelayMs: 0 })
      onTestFinished(async () => {
        gate.close()
        await robots.close()
        await site.close()
      })
      const request = clientOf(gate)
      await request(`${site.origin}/first`)
      let busyAt = Number.NaN
      site.robots.set('*', (_, response) => {
        busyAt = performance.now()
        site.robots.set('*', '')
        response.writeHead(429, { 'retry-after': '1' }).end()
      })
      await request(`${site.origin}/second`)
      expect(site.lines).toEqual(['GET /first', 'GET /second'])
      return (site.seen[1]?.at ?? 0) - busyAt
    }),
  )
  expect(gaps).toHaveLength(3)
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000)
})
