// @module-tag full
// @module-tag slow
// Gaps between the requests of a fleet that paces by a RedisPacer: never shorter than the delay,
// whatever Redis and the workers do.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PaceLimits } from '@politely/core/engine'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, politely } from '@politely/gate'
import { crawlDuring, gapsOf, startPacedWorker, startsOf } from '@politely/testkit/paced-crawl'
import { crawlKey } from '@politely/testkit/paced-worker'
import { seededRandom } from '@politely/testkit/random-robots'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { noRedis, noRedisServer, type RedisServer, startRedis, useRedis } from '@politely/testkit/servers/redis'
import { startSites } from '@politely/testkit/servers/sites'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RedisPacer, RedisPacerOptions } from '../src/index.ts'
import { connectIoredis, openPacer } from './clients.ts'
import { knowLongAgo } from './epoch.ts'
import { startRedisProxy } from './redis-proxy.ts'

const DELAY_MS = 60
/** The delay while Redis restarts. */
const LONGER_MS = 150
/** The Redis libraries of the workers of the fleet. */
const LIBRARIES = ['ioredis', 'node-redis', 'ioredis', 'node-redis']
/** How long a call takes while Redis is slow. Milliseconds. */
const SLOW_MS = 200
const limits: PaceLimits = { ownDelayMs: DELAY_MS, maxDelayMs: undefined, crawlDelayMs: undefined }

/** A pacer with a connection of its own, which comes back soon after a loss. */
function pacerOn(url: string, options: Partial<RedisPacerOptions> = {}): RedisPacer {
  const client = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null })
  client.on('error', () => undefined)
  onTestFinished(() => client.disconnect())
  return openPacer({ client, ...options })
}

/**
 * Crawls one key with a worker for each URL while `disturb` runs, and checks the gaps. `disturb`
 * can wait until so many requests more have started.
 */
async function checkGapsDuring(
  urls: readonly string[],
  disturb: (startsMore: (count: number) => Promise<void>) => Promise<void>,
): Promise<void> {
  const pacers = urls.map((url) => pacerOn(url, { timeoutMs: 300 }))
  const starts = await crawlDuring(pacers, LONGER_MS, disturb)
  expect(Math.min(...gapsOf(starts))).toBeGreaterThanOrEqual(LONGER_MS)
}

async function startServer(args: readonly string[] = []): Promise<RedisServer> {
  const redis = await startRedis({ args })
  onTestFinished(redis.stop)
  return redis
}

const startPacingWorker = (...args: readonly string[]) =>
  startPacedWorker(join(import.meta.dirname, 'pacing-worker.ts'), args)

/** How Redis restarts, and what it still knows then. */
const restarts: readonly (readonly [string, readonly string[], (redis: RedisServer) => Promise<void>])[] = [
  ['without its data', [], (redis) => redis.restart({ keepData: false })],
  ['with its data', [], (redis) => redis.restart({ keepData: true })],
  [
    'with data that lacks the last second',
    ['--appendonly', 'yes', '--appendfsync', 'everysec'],
    async (redis) => {
      await redis.kill()
      await redis.restart({ keepData: true })
    },
  ],
  [
    'with data of a snapshot before the last slots',
    ['--dbfilename', 'old.rdb'],
    async (redis) => {
      await redis.kill()
      await redis.restart({ keepData: true })
    },
  ],
]

describe.skipIf(noRedis())('a fleet of processes', () => {
  test('keeps the delay of each key', async () => {
    const redis = await useRedis()
    const keys = Array.from({ length: 5 }, (_, i) => `k${i}`)
    await knowLongAgo({ client: await connectIoredis(redis.url), keyPrefix: redis.keyPrefix }, keys)
    const requests = 50
    const workers = await Promise.all(
      LIBRARIES.map((library) =>
        startPacingWorker(redis.url, redis.keyPrefix, library, `${DELAY_MS}`, `${requests}`, ...keys),
      ),
    )
    for (const { start } of workers) start()
    await Promise.all(workers.map(({ ended }) => ended))
    const starts = startsOf(workers)
    const counters = workers.map((worker) => JSON.parse(worker.output().trim().split('\n').at(-1) ?? ''))
    for (const key of keys) {
      const ofKey = starts.get(key) ?? []
      expect(ofKey).toHaveLength(workers.length * requests)
      expect(Math.min(...gapsOf(ofKey))).toBeGreaterThanOrEqual(DELAY_MS)
    }
    expect(counters.reduce((sum, { failures }) => sum + failures, 0)).toBe(0)
    // Two for each request, and a few whose turn came too early. Without turns it would be one for
    // each worker and slot.
    const calls = counters.reduce((sum, counter) => sum + counter.calls, 0)
    expect(calls / (workers.length * keys.length * requests)).toBeLessThan(4)
  })

  test('keeps the delay and goes on when a worker is killed after it took a slot', async () => {
    const redis = await useRedis()
    await knowLongAgo({ client: await connectIoredis(redis.url), keyPrefix: redis.keyPrefix }, ['k'])
    const args = [redis.url, redis.keyPrefix, 'ioredis', '500', '2', 'k']
    const [killed, other] = await Promise.all([startPacingWorker(...args), startPacingWorker(...args)])
    killed.start()
    while (startsOf([killed]).size === 0) await sleep(1)
    killed.process.kill('SIGKILL')
    other.start()
    await other.ended
    const [lost = Number.NaN, next = Number.NaN] = [killed, other].map((worker) => startsOf([worker]).get('k')?.[0])
    expect(next - lost).toBeGreaterThanOrEqual(500)
  })
})

describe.skipIf(noRedisServer())('no gap is shorter than the delay', () => {
  test.for([
    ['of uneven speed', (random: () => number) => 1.5 * SLOW_MS * random() ** 3],
    ['slow', () => SLOW_MS],
  ] as const)('while Redis is %s', async ([, delayMs]) => {
    const redis = await startServer()
    const random = seededRandom(1)
    await knowLongAgo({ client: await connectIoredis(redis.url), keyPrefix: 'politely:' }, ['k'])
    const proxies = await Promise.all([1, 2, 3].map(() => startRedisProxy(redis.port)))
    for (const proxy of proxies) proxy.delayMs = () => delayMs(random)
    const starts: number[] = []
    const pacers = proxies.map(({ url }) => pacerOn(url))
    const count = 20
    await Promise.all(
      pacers.map((pacer) =>
        crawlKey(
          pacer,
          'k',
          DELAY_MS,
          (at) => starts.push(at),
          () => starts.length >= count,
        ),
      ),
    )
    expect(Math.min(...gapsOf(starts))).toBeGreaterThanOrEqual(DELAY_MS)
  })

  test('when the slot of the domain is reserved quickly and that of the origin slowly', async () => {
    const redis = await startServer()
    const sites = await startSites()
    onTestFinished(() => sites.close())
    const lookup = lookupIn()
    const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any' })
    onTestFinished(() => robots.close())
    const [slowUrl, otherUrl] = ['a', 'b'].map((host) => sites.withPort(`http://${host}.example.test:PORT/page`))
    for (const url of [slowUrl, otherUrl]) await robots.check(url ?? '')
    const proxy = await startRedisProxy(redis.port)
    const [slow, other] = [pacerOn(proxy.url), pacerOn(redis.url)] as const
    const origins = [slowUrl, otherUrl].map((url) => new URL(url ?? '').origin)
    await knowLongAgo({ client: await connectIoredis(redis.url), keyPrefix: 'politely:' }, [
      'domain:example.test',
      ...origins,
    ])
    for (let n = 0; n < 2; n++) await slow.estimate('k', limits, 0) // connects, and lets the pacer ask for the policy
    let replies = 0
    // The slot of the origin is reserved twice, since the first reply takes too long. Then the
    // other worker has its slot of the domain already.
    proxy.delayMs = () => (++replies === 1 ? 0 : 50)
    const starts: number[] = []
    const visit = async (pacer: RedisPacer, url = '') => {
      const gate = new PoliteGate({ robots, pacer, lookup, minDelayMs: 0, minDelayPerDomainMs: DELAY_MS })
      onTestFinished(() => gate.close())
      const permit = await gate.enter(url)
      starts.push(performance.now())
      permit.release()
    }
    const late = visit(slow, slowUrl)
    while (slow.counters.calls < 4) await sleep(1) // until it has the slot of the domain
    await Promise.all([late, visit(other, otherUrl)])
    expect(Math.min(...gapsOf(starts))).toBeGreaterThanOrEqual(DELAY_MS)
  })

  test.for(restarts)('when Redis restarts %s', async ([name, args, restart]) => {
    const redis = await startServer(args)
    const rounds = 10
    await checkGapsDuring([redis.url, redis.url, redis.url], async (startsMore) => {
      for (let round = 0; round < rounds; round++) {
        await startsMore(3)
        if (name.includes('snapshot')) {
          const client = new Redis(redis.url)
          await client.save()
          client.disconnect()
          await startsMore(2)
        }
        await restart(redis)
      }
    })
  })

  test.for([
    ['that has all data', false],
    ['that lacks the last slots', true],
  ] as const)('when a replica takes over %s', async ([, isBehind]) => {
    const args = ['--repl-diskless-sync-delay', '0']
    let [primary, replica] = await Promise.all([startServer(args), startServer(args)])
    const proxies = await Promise.all([1, 2, 3].map(() => startRedisProxy(primary.port)))
    const urls = proxies.map(({ url }) => url)
    await checkGapsDuring(urls, async (startsMore) => {
      for (let round = 0; round < 10; round++) {
        const admin = new Redis(replica.url)
        await admin.replicaof(primary.host, primary.port)
        await expect.poll(() => admin.info('replication')).toContain('master_link_status:up')
        await startsMore(2)
        if (isBehind) {
          await admin.replicaof('NO', 'ONE')
          await startsMore(2)
        }
        await primary.kill()
        await admin.replicaof('NO', 'ONE')
        admin.disconnect()
        for (const proxy of proxies) {
          proxy.isCut = true
          proxy.port = replica.port
          proxy.isCut = false
        }
        await primary.restart({ keepData: false })
        ;[primary, replica] = [replica, primary]
      }
    })
  })

  test('when a worker is stopped between its slot and its request', async () => {
    const { url, keyPrefix } = await useRedis()
    const sites = await startSites()
    onTestFinished(() => sites.close())
    const page = (name: string) => sites.withPort(`http://127.0.0.1:PORT/${name}`)
    await knowLongAgo({ client: await connectIoredis(url), keyPrefix }, [new URL(page('')).origin])
    const script = join(import.meta.dirname, 'stopping-worker.ts')
    const child = spawn(process.execPath, [script, url, keyPrefix, `${DELAY_MS}`, page('stopped')])
    onTestFinished(() => void child.kill('SIGKILL'))
    const ended = once(child, 'close')
    await once(child.stdout, 'data')
    const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'any' })
    const politeFetch = politely(fetch, { robots, minDelayMs: DELAY_MS, pacer: pacerOn(url, { keyPrefix }) })
    onTestFinished(() => robots.close())
    onTestFinished(() => politeFetch.close())
    const visit = politeFetch(page('other'))
    await sleep(5 * DELAY_MS)
    child.kill('SIGCONT')
    await Promise.all([visit, ended])
    expect(sites.requestedUrls.filter((seen) => !seen.endsWith('/robots.txt'))).toEqual([
      'http://127.0.0.1:PORT/stopped',
      'http://127.0.0.1:PORT/other',
    ])
  })

  test('when robots.txt asks one worker to wait: the pages of all workers wait', async () => {
    const { url, keyPrefix } = await useRedis()
    const sites = await startSites()
    const page = sites.withPort('http://127.0.0.1:PORT/page')
    const rules = { status: 200, body: '' }
    sites.respond(
      'http://127.0.0.1:PORT/robots.txt',
      rules,
      rules,
      { status: 429, headers: { 'retry-after': '1' } },
      rules,
    )
    const newGate = (ttlMs: number) => {
      const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'any', minTtlMs: 0, ttlMs })
      onTestFinished(() => robots.close())
      return new PoliteGate({ robots, minDelayMs: 10, pacer: pacerOn(url, { keyPrefix, timeoutMs: 100 }) })
    }
    onTestFinished(() => sites.close())
    const [asked, other] = [newGate(0), newGate(60_000)]
    const visit = async (gate: PoliteGate) => {
      const permit = await gate.enter(page)
      permit.release()
      return { at: performance.now(), waitedFor: permit.waitedFor }
    }
    await other.robots.check(page)
    await asked.robots.check(page)
    const asking = visit(asked)
    await expect.poll(() => asked.queues()[0]?.heldBy).toBe('retry-after')
    const visits = await Promise.all([asking, visit(other)])
    const busyAt = sites.requests[2]?.at ?? Number.NaN
    for (const { at, waitedFor } of visits) {
      expect(waitedFor).toMatch(/retry-after|own-delay/)
      expect(at - busyAt).toBeGreaterThanOrEqual(1_000)
    }
  })

  test('when Redis loses a Retry-After: the worker that got it tells the others', async () => {
    const redis = await startServer()
    const [one, other] = [pacerOn(redis.url, { timeoutMs: 300 }), pacerOn(redis.url, { timeoutMs: 300 })] as const
    let reply = await one.reserve('k', limits)
    for (; reply.kind === 'wait'; reply = await one.reserve('k', limits)) await sleep(reply.waitMs)
    await one.report('k', reply.ticket, { status: 429, retryAfter: '3600' })
    expect(await other.reserve('k', limits)).toMatchObject({ kind: 'wait', because: 'retry-after' })
    await redis.restart({ keepData: false })
    // A call for any other key shows the loss.
    while ((await one.reserve('other', limits)).kind !== 'slot') await sleep(20)
    const because = async () => {
      const next = await other.reserve('k', limits)
      return next.kind === 'wait' && next.because !== 'pacer-failure' ? next.because : undefined
    }
    await expect.poll(because).toBe('retry-after')
  })
})
