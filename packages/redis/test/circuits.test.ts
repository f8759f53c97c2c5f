// The circuits that the workers of a fleet share, on a real Redis.
import { randomUUID } from 'node:crypto'
import type { CircuitLimits } from '@politely/core/engine'
import { RobotsClient } from '@politely/fetcher'
import { type CircuitResult, LocalPacer, type Pacer, politely, type Ticket } from '@politely/gate'
import { startClock } from '@politely/testkit/clock'
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { deepSampled } from '@politely/testkit/scope'
import { noRedis, useRedis } from '@politely/testkit/servers/redis'
import { startSites } from '@politely/testkit/servers/sites'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { IoredisClient } from '../src/client.ts'
import { RedisPacer } from '../src/index.ts'
import { connectIoredis, openPacer } from './clients.ts'
import { knowLongAgo } from './epoch.ts'

const LIMITS: CircuitLimits = { failures: 3, coolMs: 60_000, maxMs: 200_000, factor: 2 }
const SITE = 'https://a.test'
const FAILURE: CircuitResult = { kind: 'failure', failure: { kind: 'connection', because: 'refused' } }
const SUCCESS: CircuitResult = { kind: 'success' }

const failed = (probe?: Ticket): CircuitResult => ({ ...FAILURE, probe })

/** Two workers of a fleet, each with a pacer, by one clock. `link.isAway`: the first cannot reach Redis. */
async function startFleet(onFailure: 'wait' | 'local' = 'wait') {
  const { url, keyPrefix: base } = await useRedis()
  const client = await connectIoredis(url)
  const clock = startClock()
  const link = { isAway: false, replies: Promise.resolve() }
  const unsteady: IoredisClient = {
    callBuffer: async (...args: [string, ...Buffer[]]) => {
      if (link.isAway) throw new Error('away')
      const { replies } = link
      const reply = await client.callBuffer(...args)
      await replies
      return reply
    },
  }
  const keyPrefix = `${base}${randomUUID()}:`
  const open = (own: IoredisClient) => {
    const options = { client: own, keyPrefix, now: clock.now }
    const pacer = openPacer(onFailure === 'local' ? { ...options, onFailure, fleetSize: 2 } : options)
    return {
      pacer,
      admit: (origin = SITE) => pacer.admit(origin, LIMITS),
      settle: (result: CircuitResult, origin = SITE) => pacer.settle(origin, LIMITS, result),
    }
  }
  const keys = () => client.keys(`${keyPrefix}*:circuit:*`)
  return { one: open(unsteady), other: open(client), ...clock, link, client, keys }
}

describe.skipIf(noRedis())('two workers', () => {
  test('count failures together, and stop together', async () => {
    const { one, other, advance } = await startFleet()
    expect(await one.settle(FAILURE)).toMatchObject({ state: 'closed', failures: 1 })
    expect(await other.settle(FAILURE)).toMatchObject({ state: 'closed', failures: 2 })
    expect(await one.admit()).toMatchObject({ state: 'closed', failures: 2 })
    const opened = { state: 'open', failures: 3, periods: 1, waitMs: 60_000, failure: FAILURE.failure }
    expect(await one.settle(FAILURE)).toEqual(opened)
    expect(await other.admit()).toEqual(opened)
    advance(20_000)
    expect(await other.admit()).toEqual({ ...opened, waitMs: 40_000 })
    expect(await other.settle(FAILURE)).toEqual({ ...opened, waitMs: 40_000 }) // started before it opened
    expect(await other.admit('https://b.test')).toMatchObject({ state: 'closed' })
  })

  async function startOpen(onFailure?: 'local') {
    const fleet = await startFleet(onFailure)
    for (let n = 0; n < LIMITS.failures; n++) await fleet.one.settle(FAILURE)
    return fleet
  }

  test('send one probe, and a failed one doubles the cooling period for both', async () => {
    const { one, other, advance } = await startOpen()
    advance(60_000)
    const replies = await Promise.all([one, other, one, other].map(({ admit }) => admit()))
    const [probe, ...more] = replies.flatMap((reply) => reply.probe ?? [])
    expect(probe).toBeDefined()
    expect(more).toEqual([])
    for (const reply of replies)
      if (reply.probe === undefined) expect(reply).toMatchObject({ state: 'half-open', waitMs: 1_000 })
    expect(await one.settle(failed(probe))).toMatchObject({ state: 'open', periods: 2, waitMs: 120_000 })
    expect(await other.admit()).toMatchObject({ state: 'open', periods: 2, waitMs: 120_000 })
  })

  test('find a site again by the probe of one of them, and keep nothing in Redis', async () => {
    const { one, other, advance, keys, client } = await startOpen()
    expect(await keys()).toHaveLength(1)
    advance(60_000)
    const { probe } = await one.admit()
    expect(await one.settle({ ...SUCCESS, probe })).toMatchObject({ state: 'closed', failures: 0 })
    expect(await other.admit()).toMatchObject({ state: 'closed', failures: 0 })
    for (const key of await keys()) expect(await client.pttl(key)).toBeLessThanOrEqual(1)
  })

  test('replace the probe of a worker that has died after two minutes, and an aborted one at once', async () => {
    const { one, other, advance } = await startOpen()
    advance(60_000)
    const lost = await one.admit()
    expect(lost.probe).toBeDefined()
    advance(119_999)
    expect((await other.admit()).probe).toBeUndefined()
    advance(1)
    const aborted = await other.admit()
    expect(aborted.probe).toBeDefined()
    await one.settle(failed(lost.probe)) // too late: it is not the probe any more
    expect(await one.admit()).toMatchObject({ state: 'half-open', periods: 1 })
    await other.settle({ kind: 'unknown', probe: aborted.probe })
    const next = await one.admit()
    expect(next.probe).toBeDefined()
    expect(await one.settle(failed(next.probe))).toMatchObject({ state: 'open', periods: 2 })
  })

  test('ignore a late failure of a probe if the circuit has closed and opened again since', async () => {
    const { one, other, advance } = await startOpen()
    advance(60_000)
    const late = await one.admit()
    await other.settle(SUCCESS) // of a request that had started before the circuit opened
    for (let n = 0; n < LIMITS.failures; n++) await other.settle(FAILURE)
    advance(60_000)
    const { probe } = await other.admit()
    await one.settle(failed(late.probe))
    expect(await one.admit()).toMatchObject({ state: 'half-open', periods: 1 })
    expect(await other.settle(failed(probe))).toMatchObject({ state: 'open', periods: 2 })
  })

  test('call Redis for a healthy site once a second, and notice failures of each other after that', async () => {
    const { one, other, advance } = await startFleet()
    expect(await one.admit()).toMatchObject({ state: 'closed' })
    for (let n = 0; n < 10; n++) expect(one.admit()).toEqual({ state: 'closed', failures: 0, periods: 0, waitMs: 0 })
    expect(one.pacer.counters.calls).toBe(1)
    for (let n = 0; n < LIMITS.failures; n++) await other.settle(FAILURE)
    advance(999)
    expect(one.admit()).toMatchObject({ state: 'closed' })
    advance(1)
    expect(await one.admit()).toMatchObject({ state: 'open' })
  })

  test('make no call for a healthy origin that is the key of the pace, and get no slot once another one has failed', async () => {
    const { one, other, advance } = await startFleet()
    const limits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined }
    const admit = (worker: typeof one) => worker.pacer.admit(SITE, LIMITS, SITE)
    expect(await one.pacer.reserve(SITE, limits)).toMatchObject({ kind: 'wait' }) // Redis is empty
    await admit(one)
    advance(3_600_000)
    const { calls } = one.pacer.counters
    expect(admit(one)).toMatchObject({ state: 'closed', failures: 0 })
    expect(await one.pacer.reserve(SITE, limits)).toMatchObject({ kind: 'slot' })
    expect(one.pacer.counters.calls).toBe(calls + 1)
    expect(one.pacer.admit(SITE, LIMITS, 'all my sites')).toBeInstanceOf(Promise)

    const held = await one.pacer.reserve(SITE, limits)
    expect(held).toMatchObject({ kind: 'wait', waitMs: 1_000 })
    for (let n = 0; n < LIMITS.failures; n++) await other.settle(FAILURE)
    advance(1_000)
    expect(admit(one)).toMatchObject({ state: 'closed' })
    const refused = await one.pacer.reserve(SITE, limits, held.ticket)
    expect(refused).toEqual({ kind: 'wait', ticket: held.ticket, waitMs: 0, because: 'own-delay' })
    expect(await admit(one)).toMatchObject({ state: 'open' })
    expect(await one.pacer.reserve(SITE, limits, held.ticket)).toMatchObject({ kind: 'slot' }) // of a gate without circuits
  })

  test('get no slot if a request of their own fails between admit and reserve, and the circuit is open', async () => {
    const { one, other, advance } = await startFleet()
    const limits = { ownDelayMs: 0, maxDelayMs: undefined, crawlDelayMs: undefined }
    await one.admit()
    for (let n = 0; n < LIMITS.failures; n++) await other.settle(FAILURE)
    advance(5_000)
    expect(one.pacer.admit(SITE, LIMITS, SITE)).toMatchObject({ state: 'closed' })
    await one.settle(FAILURE)
    expect(await one.pacer.reserve(SITE, limits)).toMatchObject({ kind: 'wait' })
    expect(await one.pacer.admit(SITE, LIMITS, SITE)).toMatchObject({ state: 'open' })
  })

  test('a reply that is older than a failure of the worker is not remembered', async () => {
    const { one, link } = await startFleet()
    const reply = Promise.withResolvers<void>()
    link.replies = reply.promise
    const asked = one.admit()
    link.replies = Promise.resolve()
    await one.settle(FAILURE)
    reply.resolve()
    expect(await asked).toMatchObject({ state: 'closed', failures: 0 })
    expect(await one.admit()).toMatchObject({ state: 'closed', failures: 1 })
  })

  test('a request asks Redis from the moment on at which another one of the worker has failed', async () => {
    const { one } = await startFleet()
    await one.admit()
    const settled = one.settle(FAILURE)
    const asked = one.admit()
    expect(asked).toBeInstanceOf(Promise)
    await Promise.all([settled, asked])
  })

  test('all failures count that many workers tell at the same time', async () => {
    const { one, other } = await startFleet()
    const limits = { ...LIMITS, failures: 9 }
    const tell = ({ pacer }: typeof one) => pacer.settle(SITE, limits, FAILURE)
    await Promise.all([one, other, one, other, one, other].map(tell))
    expect(await one.admit()).toMatchObject({ state: 'closed', failures: 6 })
  })

  test('start anew if another program has written the key', async () => {
    const { one, keys, client } = await startOpen()
    for (const key of await keys()) await client.set(key, '{"failures":"many"}')
    expect(await one.admit()).toMatchObject({ state: 'closed', failures: 0 })
    expect(await one.settle(FAILURE)).toMatchObject({ failures: 1 })
  })

  test.for(['wait', 'local'] as const)(
    'while Redis is away, with onFailure: %s, an open circuit stays open for its cooling period',
    async (onFailure) => {
      const { one, advance, link } = await startFleet(onFailure)
      for (let n = 0; n < LIMITS.failures; n++) await one.settle(FAILURE)
      link.isAway = true
      advance(20_000)
      expect(await one.admit()).toMatchObject({ state: 'open', waitMs: 40_000 })
      expect(await one.settle(FAILURE)).toMatchObject({ state: 'open', waitMs: 40_000 })
      advance(40_000)
      expect(await one.admit()).toMatchObject({ state: 'closed' })
      expect(one.pacer.counters.failures).toBeGreaterThan(0)
      expect(await one.settle(SUCCESS)).toMatchObject({ state: 'closed' })
    },
  )

  test('a Redis that does not reply delays a request by no more than timeoutMs', async () => {
    const client = { callBuffer: () => new Promise<never>(() => undefined) }
    const pacer = openPacer({ client, timeoutMs: 20 })
    expect(await pacer.admit(SITE, LIMITS)).toMatchObject({ state: 'closed' })
    const { calls } = pacer.counters
    const limits = { ownDelayMs: 0, maxDelayMs: undefined, crawlDelayMs: undefined }
    expect(await pacer.reserve(SITE, limits)).toMatchObject({ kind: 'wait', because: 'pacer-failure' })
    expect(await pacer.settle(SITE, LIMITS, FAILURE)).toMatchObject({ state: 'closed' })
    expect(pacer.counters).toMatchObject({ calls, failures: 1 }) // the same attempt
  })

  test('with onFailure: wait, no failure counts while Redis is away', async () => {
    const { one, link } = await startFleet()
    link.isAway = true
    for (let n = 0; n < 10; n++) expect(await one.settle(FAILURE)).toMatchObject({ state: 'closed', failures: 0 })
    expect(await one.admit()).toMatchObject({ state: 'closed' })
  })

  test('with onFailure: local, the worker keeps its own circuits while Redis is away', async () => {
    const { one, other, advance, link } = await startFleet('local')
    await one.admit()
    link.isAway = true
    for (let n = 0; n < LIMITS.failures; n++) await one.settle(FAILURE)
    expect(await one.pacer.admit(SITE, LIMITS, SITE)).toMatchObject({ state: 'open', waitMs: 60_000 })
    await one.settle({ ...FAILURE, probe: 'robots', retryAfterMs: 70_000 })
    expect(await one.admit()).toMatchObject({ state: 'open', waitMs: 70_000 })
    advance(70_000)
    const { probe } = await one.admit()
    expect(probe).toMatch(/^local:/)
    link.isAway = false
    expect(await other.admit()).toMatchObject({ state: 'closed', failures: 0 })
    advance(5_000)
    expect(await one.settle(failed(probe))).toMatchObject({ state: 'open', periods: 2 })
    expect(await one.admit()).toMatchObject({ state: 'closed' }) // Redis knows nothing of it
  })
})

/**
 * Makes random calls of both pacers. Returns the first pair of replies that differ, or how often the
 * circuit was open.
 */
async function compare(seed: number, redis: Pacer, local: Pacer, advance: (ms: number) => void) {
  const random = seededRandom(seed)
  const maxMs = pick(random, [1, 60_000, 100_000 * random()])
  const limits: CircuitLimits = {
    failures: pick(random, [1, 2, 3]),
    coolMs: pick(random, [0.25, maxMs * random(), maxMs]),
    maxMs,
    factor: pick(random, [1, 2, 10 * random() + 1]),
  }
  const probes: (readonly [redis: Ticket | undefined, local: Ticket | undefined])[] = []
  let opened = 0
  let lastWaitMs = 0
  for (let n = 0; n < 20; n++) {
    const roll = random()
    if (roll < 0.25) {
      advance(pick(random, [lastWaitMs, lastWaitMs * random(), 1_000 * random(), 0.25, 130_000, 300_000 * random()]))
      continue
    }
    let replies: readonly unknown[]
    if (roll < 0.6) {
      const [one, other] = await Promise.all([redis.admit?.(SITE, limits), local.admit?.(SITE, limits)])
      if (one?.probe !== undefined || other?.probe !== undefined) probes.push([one?.probe, other?.probe])
      if (other?.state === 'open') opened++
      lastWaitMs = other?.waitMs ?? 0
      const isOfOther = other?.state === 'half-open' && other.probe === undefined
      replies = [one, isOfOther ? { ...other, waitMs: Math.min(other.waitMs, 1_000) } : other]
    } else {
      const [probe, localProbe] = random() < 0.7 ? (probes.at(-1) ?? []) : random() < 0.3 ? ['robots', 'robots'] : []
      const kind = pick(random, ['failure', 'failure', 'failure', 'success', 'unknown'] as const)
      const failure = { kind: 'connection', because: pick(random, ['refused', 'timeout'] as const) } as const
      const retryAfterMs = pick(random, [undefined, undefined, 5_000 * random(), Number.POSITIVE_INFINITY])
      const result = kind === 'failure' ? { kind, failure, retryAfterMs } : { kind }
      const tell = (pacer: Pacer, own: Ticket | undefined) => pacer.settle?.(SITE, limits, { ...result, probe: own })
      replies = await Promise.all([tell(redis, probe), tell(local, localProbe)])
    }
    if (JSON.stringify(replies[0]) !== JSON.stringify(replies[1])) return { seed, n, limits, replies }
  }
  return { opened }
}

describe.skipIf(noRedis())('RedisPacer', () => {
  test('keeps circuits like LocalPacer in random sequences', { tags: 'full', timeout: 900_000 }, async () => {
    const { url, keyPrefix } = await useRedis()
    const client = await connectIoredis(url)
    let opened = 0
    const count = deepSampled(20_000, 100)
    for (let first = 0; first < count; first += 50) {
      const seeds = Array.from({ length: Math.min(50, count - first) }, (_, n) => first + n)
      const run = async (seed: number) => {
        const clock = startClock()
        // No test ends it: thousands of pacers would stay in memory.
        const pacer = new RedisPacer({ client, keyPrefix: `${keyPrefix}${seed}:`, now: clock.now, timeoutMs: 60_000 })
        return compare(seed, pacer, new LocalPacer(clock.now), clock.advance)
      }
      const results = await Promise.all(seeds.map(run))
      expect(results.filter((result) => result.opened === undefined)).toEqual([])
      opened += results.reduce((sum, result) => sum + (result.opened ?? 0), 0)
    }
    expect(opened).toBeGreaterThan(count / 4)
  })
})

test.skipIf(noRedis())('the cooling period replaces the pause after a 503, as with LocalPacer', async () => {
  const { url, keyPrefix } = await useRedis()
  const sites = await startSites()
  onTestFinished(() => sites.close())
  const page = 'http://127.0.0.1:PORT/page'
  sites.respond(page, ...Array(5).fill({ status: 503 }), { status: 200 })
  const client = await connectIoredis(url)
  await knowLongAgo({ client, keyPrefix }, [sites.withPort('http://127.0.0.1:PORT')])
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'any' })
  onTestFinished(() => robots.close())
  const politeFetch = politely(fetch, {
    robots,
    pacer: openPacer({ client, keyPrefix }),
    circuit: { failures: 1, coolMs: 10, whenOpen: 'wait', outcomes: ['server-error'] },
    backoff: { firstMs: 3_600_000, maxMs: 3_600_000 }, // with such a pause, the test would never end
    minDelayMs: 1,
  })
  onTestFinished(() => politeFetch.close())
  const statuses: number[] = []
  while (statuses.at(-1) !== 200) {
    statuses.push((await politeFetch(sites.withPort(page))).status)
    if (statuses.length === 1) await expect.poll(() => politeFetch.gate.gauges.openCircuits).toBe(1) // Redis has replied
  }
  expect(statuses).toEqual([503, 503, 503, 503, 503, 200])
})

describe.skipIf(noRedis())('a fleet of four gates', () => {
  test('sends one request to a dead site in each cooling period, and all find it again by the first that succeeds', {
    tags: 'full',
  }, async () => {
    const { url, keyPrefix } = await useRedis()
    const sites = await startSites()
    onTestFinished(() => sites.close())
    const page = 'http://127.0.0.1:PORT/page'
    const [served, failed, workers, failures, coolMs] = [12, 20, 4, 3, 100]
    const reset = (socket: { destroy(): void }) => socket.destroy()
    const repeat = <T>(count: number, value: T): T[] => Array(count).fill(value)
    const ok = { status: 200 }
    sites.respond(page, ...repeat(served, ok), ...repeat(failed, reset), ok)
    await knowLongAgo({ client: await connectIoredis(url), keyPrefix }, [sites.withPort('http://127.0.0.1:PORT')])
    const circuit = { failures, coolMs, factor: 1, whenOpen: 'wait' } as const
    const crawlers = await Promise.all(
      repeat(workers, 0).map(async () => {
        const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'any' })
        const pacer = openPacer({ client: await connectIoredis(url), keyPrefix })
        const politeFetch = politely(fetch, { robots, pacer, circuit, minDelayMs: 1 })
        onTestFinished(() => robots.close())
        onTestFinished(() => politeFetch.close())
        return politeFetch
      }),
    )
    /** Each worker makes requests until three of them have been served after the site was back. */
    const crawl = async (politeFetch: (typeof crawlers)[number]) => {
      const count = () => sites.requestedUrls.filter((seen) => seen === page).length
      for (let again = 0; again < 3; ) {
        const response = await politeFetch(sites.withPort(page)).catch(() => undefined)
        await response?.body?.cancel()
        if (response !== undefined && count() > served + failed) again++
      }
    }
    await Promise.all(crawlers.map(crawl))
    const times = sites.requests.filter((seen) => seen.url === page).map(({ at }) => at)
    const dead = times.slice(served, served + failed + 1) // the last is the first that is served again
    const gaps = dead.slice(1).map((at, n) => at - (dead[n] ?? 0))
    // Three failures open the circuit. For a second, each of the other workers may not know of it and
    // start one more request, which lies between two probes. The clocks of Redis and of the site differ.
    const short = gaps.filter((gap) => gap < coolMs - 5)
    expect(short.length).toBeLessThanOrEqual(failures - 1 + 2 * (workers - 1))
    expect(crawlers.map(({ gate }) => gate.gauges.openCircuits)).toEqual(repeat(workers, 0))
  })
})
