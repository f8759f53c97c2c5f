// @module-tag timers
// The concurrency limits: which requests count towards them, the limit for each registrable domain,
// and the cost of many abort signals.
import { getEventListeners } from 'node:events'
import type { ServerResponse } from 'node:http'
import { RobotsClient } from '@politely/fetcher'
import { firstInShortRun } from '@politely/testkit/scope'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { PoliteGate, type PoliteGateOptions, politely } from '../src/index.ts'
import { ConcurrencyLimit, type WaitingLane } from '../src/lane/concurrency-limit.ts'
import { simulate } from './simulation.ts'
import { lookup, Site, until } from './site.ts'

const DAYS = 24 * 3_600_000

let site: Site
let robots: RobotsClient
/** The clock of the RobotsClient. */
let now: number

beforeEach(async () => {
  site = await Site.open({ '*': 'User-agent: *\nDisallow: /private\n' })
  now = Date.now()
  robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any', retries: 0, now: () => now })
})
afterEach(async () => {
  await robots.close()
  await site.close()
})

const gateWith = (options: Partial<PoliteGateOptions>) => new PoliteGate({ robots, minDelayMs: 0, ...options })
const eventLoopTurns = async (count: number) => {
  for (let n = 0; n < count; n++) await new Promise((turn) => setImmediate(turn))
}

test('requests that wait for the first robots.txt count towards none of the limits', async () => {
  const gate = gateWith({ maxConcurrent: 1, maxConcurrentPerKey: 1, maxConcurrentPerDomain: 1 })
  const hosts = Array.from({ length: 5 }, (_, n) => `h${n}.drip.test`)
  for (const host of hosts) site.robots.set(host, () => undefined) // never responds
  const dripping = Promise.allSettled(hosts.map((host) => gate.enter(site.at(host))))
  await until(() => site.robotsFetches === hosts.length)
  expect((await gate.enter(site.at('fine.drip.test'))).waitedFor).toBe('none')
  gate.close()
  await dripping
})

describe('the first request of a queue, whose robots.txt has expired', () => {
  test('does not count towards maxConcurrent while robots.txt is fetched', async () => {
    const gate = gateWith({ maxConcurrent: 1 })
    for (const host of ['drip.test', 'a.test', 'b.test']) await robots.check(site.at(host))
    const held = await gate.enter(site.at('drip.test', '/1'))
    const dripping = gate.enter(site.at('drip.test', '/2'))
    const others = ['a.test', 'b.test'].map((host) => gate.enter(site.at(host)))
    await until(() => gate.queues().filter(({ heldBy }) => heldBy === 'concurrency').length === 3)
    now += 30 * DAYS
    let drip: ServerResponse | undefined
    site.robots.set('drip.test', (_, response) => {
      response.write('User-agent')
      drip = response
    })
    held.release()
    for (const entering of others) (await entering).release() // with maxConcurrent: 1, one after the other
    expect(gate.queues()).toMatchObject([{ waiting: 1, underWay: 0 }])
    await until(() => drip !== undefined)
    drip?.end(': *\n')
    ;(await dripping).release()
    expect(gate.queues()).toEqual([])
    await gate.drain()
  })

  test('is rejected if the new rules disallow it, and does not delay the next request', async () => {
    const gate = gateWith({ maxConcurrent: 1 })
    const held = await gate.enter(site.at('a.test', '/1'))
    const refused = expect(gate.enter(site.at('a.test', '/new'))).rejects.toMatchObject({
      code: 'ERR_POLITELY_DISALLOWED',
    })
    const next = gate.enter(site.at('a.test', '/2'))
    await until(() => gate.queues()[0]?.waiting === 2)
    now += 30 * DAYS
    site.robots.set('a.test', 'User-agent: *\nDisallow: /new\n')
    held.release()
    await refused
    ;(await next).release()
    expect(gate.counters).toMatchObject({ started: 2, done: 2, refusals: { rule: 1 } })
  })

  test('can be aborted during the fetch, and rejected by close', async () => {
    const gate = gateWith({ maxConcurrent: 1 })
    const held = await gate.enter(site.at('a.test', '/1'))
    const controller = new AbortController()
    const aborted = expect(gate.enter(site.at('a.test', '/2'), { signal: controller.signal })).rejects.toThrow('enough')
    await until(() => gate.queues()[0]?.waiting === 1)
    now += 30 * DAYS
    site.robots.set('a.test', () => undefined) // never responds
    held.release()
    await until(() => site.robotsFetches === 2)
    controller.abort(new Error('enough'))
    await aborted
    await eventLoopTurns(1)
    expect(gate.queues()).toEqual([])
    const closed = expect(gate.enter(site.at('a.test', '/3'))).rejects.toMatchObject({
      code: 'ERR_POLITELY_GATE_CLOSED',
    })
    gate.close()
    await closed
    await gate.drain()
  })
})

describe('5,000 requests that wait for the same moment', () => {
  const many = 5_000

  test.each(
    firstInShortRun([
      { rules: 'User-agent: *\nDisallow: /old\n', status: 'fulfilled' },
      { rules: 'User-agent: *\nDisallow: /new\n', status: 'rejected' },
    ]),
  )('are $status without recursion', async ({ rules, status }) => {
    await robots.check(site.at('a.test'))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const gate = gateWith({ maxConcurrent: many, maxConcurrentPerKey: many, now: () => Date.now() })
    ;(await gate.enter(site.at('a.test'))).release({ status: 429, headers: { 'retry-after': '60' } })
    const waiting = Promise.allSettled(Array.from({ length: many }, () => gate.enter(site.at('a.test', '/new'))))
    await until(() => gate.queues()[0]?.waiting === many)
    now += 30 * DAYS
    site.robots.set('a.test', rules)
    await vi.advanceTimersByTimeAsync(60_000)
    expect((await waiting).filter((outcome) => outcome.status === status).length).toBe(many)
  })
})

describe('maxConcurrentPerDomain', () => {
  test('keeps a domain with many hosts from using up maxConcurrent', async () => {
    const gate = gateWith({ maxConcurrent: 4, maxConcurrentPerDomain: 2 })
    const hosts = ['a.evil.test', 'b.evil.test', 'c.evil.test', 'd.evil.test']
    for (const host of [...hosts, 'honest.test']) await robots.check(site.at(host))
    const [a, b, ...rest] = hosts.map((host) => gate.enter(site.at(host)))
    const slow = [await a, await b]
    await eventLoopTurns(2)
    expect(gate.queues().map(({ heldBy }) => heldBy)).toEqual([undefined, undefined, 'concurrency', 'concurrency'])
    expect(await gate.when(site.at('e.evil.test'))).toMatchObject({ because: 'concurrency', waitMs: 0 })
    expect(await gate.when(site.at('honest.test'))).toMatchObject({ because: 'none' })
    expect((await gate.enter(site.at('honest.test'))).waitedFor).toBe('none')
    for (const permit of slow) permit?.release()
    for (const permit of await Promise.all(rest)) {
      expect(permit.waitedFor).toBe('concurrency')
      permit.release()
    }
    expect(gate.queues()).toMatchObject([{ underWay: 1 }])
  })

  test.each([
    { given: {}, most: 8 },
    { given: { maxConcurrentPerKey: 10 }, most: 10 },
    { given: { maxConcurrentPerDomain: 3 }, most: 3 },
    { given: { maxConcurrentPerDomain: 12 }, most: 12 },
  ])('defaults to 8, or to maxConcurrentPerKey if that is larger: $given', async ({ given, most }) => {
    const gate = gateWith(given)
    const entering = Array.from({ length: 14 }, (_, n) => gate.enter(site.at(`h${n}.many.test`)))
    for (const [n, one] of entering.entries()) if (n < most) await one
    await until(() => gate.queues().filter(({ underWay }) => underWay > 0).length === most)
    await eventLoopTurns(3)
    expect(gate.queues().filter(({ underWay }) => underWay > 0).length).toBe(most)
    gate.close()
    await Promise.allSettled(entering)
  })

  test('does not delay a request to another domain once the request before it in the queue is aborted', async () => {
    const gate = gateWith({ maxConcurrentPerDomain: 1, paceBy: 'address', lookup })
    const held = await gate.enter(site.at('a.full.test'))
    const controller = new AbortController()
    const gone = expect(gate.enter(site.at('b.full.test'), { signal: controller.signal })).rejects.toThrow()
    await until(() => gate.queues()[0]?.waiting === 1)
    const other = gate.enter(site.at('other.test'))
    await until(() => gate.queues()[0]?.waiting === 2)
    controller.abort()
    await gone
    ;(await other).release()
    held.release()
  })
})

describe('tenants of a platform', () => {
  const tenants = (count: number) => Array.from({ length: count }, (_, n) => `t${n}.netlify.app`)
  const enterEach = (gate: PoliteGate, hosts: readonly string[], page: string) =>
    Promise.all(hosts.map((host) => gate.enter(site.at(host, page))))

  test('have a limit each, so that slow tenants do not stop another one', async () => {
    const gate = gateWith({})
    const held = [...(await enterEach(gate, tenants(4), '/1')), ...(await enterEach(gate, tenants(4), '/2'))]
    expect((await gate.enter(site.at('other.netlify.app'))).waitedFor).toBe('none')
    expect(held.length).toBe(8)
  })

  test.each([
    { given: {}, most: 32 },
    { given: { maxConcurrent: 40 }, most: 20 },
    { given: { maxConcurrentPerDomain: 3 }, most: 12 },
    { given: { maxConcurrent: 8 }, most: 8 },
  ])('share a limit of four sites, at most half of all, at least one site: $given', async ({ given, most }) => {
    const gate = gateWith(given)
    await enterEach(gate, tenants(most), '/')
    const other = gate.enter(site.at('other.netlify.app'))
    await until(() => gate.queues().some(({ waiting }) => waiting === 1))
    const isGateFull = most === given.maxConcurrent
    expect(gate.queues().at(-1)).toMatchObject({ heldBy: 'concurrency', level: isGateFull ? 'gate' : 'domain' })
    if (!isGateFull) expect((await gate.enter(site.at('honest.test'))).waitedFor).toBe('none')
    gate.close()
    await expect(other).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
  })

  test('take turns within the turns of their platform', async () => {
    const gate = gateWith({ maxConcurrent: 1, maxConcurrentPerKey: 1 })
    const order: string[] = []
    const held = await gate.enter(site.at('first.test'))
    const hosts = ['a.netlify.app', 'b.netlify.app', 'c.netlify.app', 'x.test', 'y.test']
    const entering = hosts.map(async (host, n) => {
      const permit = await gate.enter(site.at(host))
      order.push(host)
      permit.release()
      return n
    })
    await until(() => gate.queues().filter(({ waiting }) => waiting === 1).length === hosts.length)
    held.release()
    await Promise.all(entering)
    expect(order).toEqual(['a.netlify.app', 'x.test', 'y.test', 'b.netlify.app', 'c.netlify.app'])
    expect(gate.queues()).toEqual([])
  })
})

describe('slowAfterMs', () => {
  /** A gate on simulated time whose limit is used up by hostile sites that hold their permits. */
  async function startFull(options: Partial<PoliteGateOptions> = {}) {
    const hosts = ['a.test', 'x.a.test', 'b.test', 'honest.test', 'fine.test']
    const simulation = await simulate(Object.fromEntries(hosts.map((host) => [host, ''])), {
      minDelayMs: 0,
      maxConcurrent: 4,
      maxConcurrentPerDomain: 2,
      ...options,
    })
    const { enter } = simulation
    const held = [
      await enter('a1', 'a.test'),
      await enter('a2', 'a.test'),
      await enter('b1', 'b.test'),
      await enter('b2', 'b.test'),
    ]
    return { ...simulation, held, names: () => simulation.starts.slice(4).map(([name, at]) => `${name} ${at}`) }
  }

  test('lets others start once the requests under way are slow, one for each that waits', async () => {
    const { gate, site, enter, advance, names, held } = await startFull()
    const entering = [enter('h', 'honest.test'), enter('f', 'fine.test'), enter('a3', 'x.a.test')]
    await advance(9_999)
    expect(names()).toEqual([])
    await advance(1)
    expect(names()).toEqual(['h 10000', 'f 10000'])
    expect(gate.queues()).toMatchObject([
      { underWay: 2 }, // exempt requests are still under way,
      { underWay: 2 },
      { underWay: 1 },
      { underWay: 1 },
      { waiting: 1, level: 'gate' },
    ])
    for (const permit of held.slice(2)) permit.release()
    await advance()
    expect(gate.queues().at(-1)).toMatchObject({ waiting: 1 })
    expect(await gate.when(site.at('x.a.test'))).toMatchObject({ level: 'domain' }) // and count towards the limit of their site
    expect(vi.getTimerCount()).toBe(0)
    for (const permit of held) permit.release()
    for (const permit of held) permit.release() // has no effect
    for (const permit of await Promise.all(entering)) permit.release()
    expect(gate.queues()).toEqual([])
    expect(gate.counters).toMatchObject({ started: 7, done: 7 })
    await gate.drain()
    expect(
      await Promise.all(Array.from({ length: 4 }, (_, n) => enter(`x${n}`, ['a.test', 'b.test'][n % 2] ?? ''))),
    ).toHaveLength(4)
  })

  test('has no effect while no request waits for the limit of the gate', async () => {
    const { gate, enter, advance, names } = await startFull({ maxConcurrent: 5 })
    void enter('a3', 'a.test')
    await advance(60_000)
    expect(names()).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
    void enter('h', 'honest.test')
    await advance()
    void enter('f', 'fine.test')
    await advance()
    expect(names()).toEqual(['h 60000', 'f 60000']) // a request has been slow for long
    expect(gate.queues().at(0)).toMatchObject({ underWay: 2, waiting: 1 })
  })

  test('gives a slow site one further request at a time, until one ends in time', async () => {
    const { enter, advance, names, held } = await startFull()
    void enter('h', 'honest.test')
    void enter('f', 'fine.test')
    const entering = ['a3', 'a4', 'a5', 'a6'].map((name) => enter(name, 'a.test'))
    await advance(10_000)
    for (const permit of held) permit.release()
    await advance()
    expect(names().slice(2)).toEqual(['a3 10000'])
    await advance(10_000)
    ;(await entering[0])?.release() // slow, though not exempt
    await advance()
    expect(names().slice(3)).toEqual(['a4 20000'])
    ;(await entering[1])?.release()
    await advance()
    expect(names().slice(4)).toEqual(['a5 20000', 'a6 20000'])
  })

  test('exempts four times maxConcurrent at most, and goes on when one of them ends', async () => {
    const hosts = Array.from({ length: 12 }, (_, n) => `h${n}.test`)
    const { gate, enter, advance, starts } = await simulate(Object.fromEntries(hosts.map((host) => [host, ''])), {
      minDelayMs: 0,
      maxConcurrent: 2,
      slowAfterMs: 1_000,
    })
    const entering = hosts.map((host) => enter(host, host))
    await advance(60_000)
    expect(starts.map(([, at]) => Math.floor(at / 1_000))).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    ;(await entering[0])?.release()
    await advance(1_000)
    expect(starts.length).toBe(11)
    expect(vi.getTimerCount()).toBe(1)
    gate.close()
    await Promise.allSettled(entering.slice(11))
    expect(vi.getTimerCount()).toBe(0)
  })

  test('lets a tenant start beside slow tenants of its platform', async () => {
    const hosts = ['a.netlify.app', 'b.netlify.app', 'c.netlify.app']
    const { enter, advance, starts } = await simulate(Object.fromEntries(hosts.map((host) => [host, ''])), {
      minDelayMs: 0,
      maxConcurrent: 4,
      maxConcurrentPerDomain: 1,
      slowAfterMs: 1_000,
    })
    for (const host of hosts) void enter(host, host)
    await advance(1_000)
    expect(starts.map(([, at]) => at)).toEqual([0, 0, 1_000])
  })

  describe('by default, sites whose responses never end', () => {
    const EIGHT = Array.from({ length: 8 })

    /**
     * Every ten seconds, as many sites as fill the limit get eight requests each, which are never
     * released. So each site has all of its requests under way before it is slow. Returns how many
     * of them have started, and how long a request to an honest host then waits, in milliseconds.
     * Infinity: more than an hour.
     */
    async function waitAfter(suffix: string, count: number, honest: string) {
      const hosts = Array.from({ length: count }, (_, n) => `h${n}.${suffix}`)
      const { gate, enter, advance, starts, start } = await simulate(
        Object.fromEntries([...hosts, honest].map((host) => [host, ''])),
        { minDelayMs: 0, maxConcurrentPerKey: 8 },
      )
      onTestFinished(() => gate.close())
      const wave = suffix === 'test' ? 8 : 4
      for (let n = 0; n < count; n += wave) {
        for (const host of hosts.slice(n, n + wave))
          for (const _ of EIGHT) enter('hostile', host).catch(() => undefined)
        await advance(10_000)
      }
      const entered = Date.now() - start
      enter('honest', honest).catch(() => undefined)
      await advance(3_600_000)
      const started = starts.find(([name]) => name === 'honest')?.[1] ?? Number.POSITIVE_INFINITY
      return { held: starts.filter(([name]) => name === 'hostile').length, waitMs: started - entered }
    }

    test.each([
      ['test', 8, 'honest.test', { held: 64, waitMs: 0 }],
      ['test', 32, 'honest.test', { held: 256, waitMs: 0 }],
      ['test', 39, 'honest.test', { held: 256 + 56, waitMs: 0 }],
      ['test', 40, 'honest.test', { held: 256 + 64, waitMs: Number.POSITIVE_INFINITY }],
      ['netlify.app', 16, 'honest.netlify.app', { held: 128, waitMs: 0 }],
      ['netlify.app', 20, 'honest.netlify.app', { held: 128 + 32, waitMs: Number.POSITIVE_INFINITY }],
      ['netlify.app', 40, 'honest.test', { held: 128 + 32, waitMs: 0 }],
    ])('of %s, %i of them: what they hold, and how long %s then waits', async (suffix, count, honest, expected) => {
      expect(await waitAfter(suffix, count, honest)).toEqual(expected)
    })
  })

  test('Infinity keeps the limit', async () => {
    const { enter, advance, names } = await startFull({ slowAfterMs: Number.POSITIVE_INFINITY })
    void enter('h', 'honest.test').catch(() => undefined)
    await advance(3_600_000)
    expect(names()).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('ConcurrencyLimit', () => {
  const siteNamed = (name: string) => ({ name, platform: undefined })

  interface Queue extends WaitingLane {
    readonly name: string
  }

  /**
   * Returns a function that adds queues which acquire the limit as soon as they are called, and a
   * log of their names.
   */
  function open(maxConcurrent: number, maxConcurrentPerDomain: number) {
    const limits = { maxConcurrent, maxConcurrentPerDomain, slowAfterMs: Number.POSITIVE_INFINITY }
    const limit = new ConcurrencyLimit(limits, () => 0)
    const called: string[] = []
    const want = (name: string, domain: string): Queue => {
      const queue = {
        name,
        isFirstOfDomain: false,
        advance: () => {
          called.push(name)
          limit.acquireOrWait(queue, siteNamed(domain))
          return undefined
        },
      }
      limit.acquireOrWait(queue, siteNamed(domain))
      return queue
    }
    return { limit, called, want }
  }

  test('serves the registrable domains in turn, and the queues of a domain in order of arrival', () => {
    const { limit, called, want } = open(1, 1)
    want('held', 'x')
    for (const name of ['a1', 'a2', 'a3']) want(name, 'a')
    for (const name of ['b1', 'b2']) want(name, 'b')
    for (const domain of ['x', 'a', 'b', 'a', 'b']) limit.release(siteNamed(domain))
    expect(called).toEqual(['a1', 'b1', 'a2', 'b2', 'a3'])
  })

  test('calls one waiting queue for each release, and the next one only if it does not acquire the limit', () => {
    const { limit, called, want } = open(2, 2)
    want('held', 'x')
    want('held too', 'x')
    for (let n = 0; n < 1_000; n++) want(`${n}`, `${n}.test`)
    limit.release(siteNamed('x'))
    expect(called).toEqual(['0'])
    const acquireOrWait = limit.acquireOrWait.bind(limit)
    vi.spyOn(limit, 'acquireOrWait').mockImplementation((queue, site) =>
      site.name === '1.test' ? { because: 'concurrency', level: 'gate' } : acquireOrWait(queue, site),
    )
    limit.release(siteNamed('x'))
    expect(called).toEqual(['0', '1', '2'])
  })

  test('keeps the position of a queue that tries again', () => {
    const { limit, called, want } = open(1, 1)
    want('held', 'x')
    const a = want('a', 'x')
    want('b', 'x')
    expect(limit.acquireOrWait(a, siteNamed('x'))).toEqual({ because: 'concurrency', level: 'gate' })
    limit.release(siteNamed('x'))
    limit.forget(a)
    limit.release(siteNamed('x'))
    expect(called).toEqual(['a', 'b'])
  })
})

describe('1,000 requests that wait', () => {
  const many = 1_000

  test('add one listener to a signal that they share, and remove it', async () => {
    const gate = gateWith({ minDelayMs: 100_000 })
    const url = site.at('a.test')
    ;(await gate.enter(url)).release()
    const controller = new AbortController()
    const { signal } = controller
    const send = vi.fn(async () => new Response())
    const fetch = politely(send, { gate }) as unknown as typeof globalThis.fetch
    const entering = Array.from({ length: many }, () => gate.enter(url, { signal }))
    const fetching = Array.from({ length: many }, () => fetch(url, { signal }))
    const unknown = Array.from({ length: 10 }, (_, n) => gate.enter(site.at(`u${n}.test`), { signal }))
    const all = Promise.allSettled([...entering, ...fetching, ...unknown])
    expect(getEventListeners(signal, 'abort').length).toBe(1)
    await until(() => gate.queues().some(({ waiting }) => waiting === 2 * many))
    expect(getEventListeners(signal, 'abort').length).toBe(1)
    controller.abort()
    await all
    expect(getEventListeners(signal, 'abort')).toEqual([])
    expect(send).not.toHaveBeenCalled()
    gate.close()
  })

  test('add one listener to each of their signals, and one to that of the gate', async () => {
    const gate = gateWith({ minDelayMs: 100_000 })
    const url = site.at('a.test')
    ;(await gate.enter(url)).release()
    site.robots.set('silent.test', () => undefined)
    const added = vi.spyOn(EventTarget.prototype, 'addEventListener')
    const signals = Array.from({ length: many }, () => new AbortController().signal)
    const urls = [url, site.at('silent.test')] // one whose robots.txt is known, and one that waits for it
    const all = Promise.allSettled(signals.map((signal, n) => gate.enter(urls[n % 2] ?? '', { signal })))
    await until(() => gate.queues()[0]?.waiting === many / 2)
    const perTarget = new Map<unknown, number>()
    for (const target of added.mock.contexts) perTarget.set(target, (perTarget.get(target) ?? 0) + 1)
    added.mockRestore()
    expect(signals.filter((signal) => perTarget.get(signal) === 1).length).toBe(many)
    expect(Math.max(...perTarget.values())).toBe(1)
    gate.close()
    await all
    expect(signals.flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([])
  })
})
