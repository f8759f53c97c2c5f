// Gates of several processes whose requests under way Redis counts, by its own clock.
import { setTimeout as sleep } from 'node:timers/promises'
import type { PaceLimits } from '@politely/core/engine'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { gatePort } from '@politely/gate/internal'
import { noRedis } from '@politely/testkit/servers/redis'
import type { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { RedisPacerOptions } from '../src/index.ts'
import { connectIoredis, openPacer, redisForAll } from './clients.ts'
import { knowLongAgo } from './epoch.ts'

const LEASE_MS = 60_000
const ORIGIN = 'https://a.test'
const limits: PaceLimits = { ownDelayMs: 0, maxDelayMs: undefined, crawlDelayMs: undefined }

async function robotsClient(): Promise<RobotsClient> {
  const fetch = async () => new Response('')
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'any', fetch })
  onTestFinished(() => robots.close())
  await robots.check(ORIGIN)
  return robots
}

describe.skipIf(noRedis())('Redis', () => {
  const redis = redisForAll()

  async function knownKeys(): Promise<{ client: Redis; keyPrefix: string }> {
    const options = { client: await connectIoredis(redis.url), keyPrefix: redis.newPrefix() }
    await knowLongAgo(options, [ORIGIN, 'k'])
    return options
  }

  const newGate = async (options: RedisPacerOptions, maxConcurrentPerKey: number, minDelayMs = 0) =>
    new PoliteGate({ robots: await robotsClient(), pacer: openPacer(options), minDelayMs, maxConcurrentPerKey })

  test('never lets two gates together make more requests at a time than the limit', async () => {
    const options = await knownKeys()
    const gates = await Promise.all([1, 2, 3].map(() => newGate({ ...options, leaseMs: LEASE_MS }, 2)))
    let underWay = 0
    const most: number[] = []
    const visit = async (gate: PoliteGate) => {
      const permit = await gate.enter(`${ORIGIN}/page`)
      most.push(++underWay)
      await sleep(20)
      underWay--
      permit.release()
    }
    await Promise.all(gates.flatMap((gate) => Array.from({ length: 6 }, () => visit(gate))))
    expect(most).toHaveLength(18)
    expect(Math.max(...most)).toBeLessThanOrEqual(2)
  })

  test('is called twice for a page: for the permit, and for all that a report says', async () => {
    const options = await knownKeys()
    let calls = 0
    const client = {
      callBuffer: (command: string, args: never) => {
        calls++
        return options.client.callBuffer(command, args)
      },
    }
    const gate = await newGate({ ...options, client, leaseMs: LEASE_MS }, 1, 20)
    const entrance = await gatePort(gate).entranceOf(`${ORIGIN}/page`, [], true)
    if (!('lane' in entrance)) throw new Error('its robots.txt is known')
    const page = async (status: number): Promise<number> => {
      calls = 0
      const permit = await entrance.tryEnter({ allowanceMs: 100, leaseMs: LEASE_MS })
      if ('allowed' in permit) return page(status)
      permit.sentAfter(1)
      permit.report({ status, headers: {} })
      permit.tookMs = 5
      permit.release()
      await sleep(50)
      return calls
    }
    await page(200) // also loads the script, and asks for the circuit
    expect(await page(200)).toBe(2)
    expect(await page(429)).toBe(2)
  })

  test('renews the lease of a request that lasts, until it ends', async () => {
    const options = await knownKeys()
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const pacer = openPacer({ ...options, leaseMs: LEASE_MS })
    const reserved = async (leaseMs: number | undefined): Promise<string> => {
      const reply = await pacer.reserve('k', limits, undefined, 0, false, 0, { max: 9, leaseMs, open: [] })
      return reply.kind === 'slot' ? `${reply.ticket}` : reserved(leaseMs)
    }
    const [own, ofServer] = [await reserved(undefined), await reserved(LEASE_MS)]
    const [key = ''] = await options.client.keys(`${options.keyPrefix}*:leases:k`)
    const ends = () => options.client.zrange(key, '0', '-1', 'WITHSCORES')
    const [first, firstEnd, second, secondEnd] = await ends()
    await vi.advanceTimersByTimeAsync((LEASE_MS / 3) * 2 + 2)
    await expect.poll(async () => (await ends()).indexOf(`${first}`)).toBe(2)
    const renewed = await ends()
    expect(renewed.slice(0, 3)).toEqual([second, secondEnd, first])
    expect(Number(renewed[3])).toBeGreaterThan(Number(firstEnd))
    for (const ticket of [own, ofServer]) await pacer.release('k', ticket)
    const { calls } = pacer.counters
    await vi.advanceTimersByTimeAsync(LEASE_MS)
    expect(pacer.counters.calls).toBe(calls)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('a gate learns of the end that another one has told, and of the end of a lease', async () => {
    const options = await knownKeys()
    const one = await newGate({ ...options, leaseMs: LEASE_MS }, 1)
    const other = openPacer({ ...options, leaseMs: LEASE_MS })
    const entrance = await gatePort(one).entranceOf(`${ORIGIN}/page`, [], true)
    if (!('lane' in entrance)) throw new Error('its robots.txt is known')
    const enter = async (leaseMs: number) => {
      const permit = await entrance.tryEnter({ leaseMs })
      return 'allowed' in permit ? permit.allowed && permit.because : permit
    }
    const ended: string[] = []
    const first = await enter(LEASE_MS)
    if (typeof first !== 'object') throw new Error('the first slot is free')
    first.onEndedElsewhere = () => ended.push('told')
    await expect.poll(() => enter(LEASE_MS)).toBe('concurrency')
    const [key = ''] = await options.client.keys(`${options.keyPrefix}*:leases:${ORIGIN}`)
    const [slot = ''] = await options.client.zrange(key, '0', '-1')
    await other.release(ORIGIN, slot)
    await expect.poll(() => enter(100)).toHaveProperty('url')
    expect(ended).toEqual(['told'])
    await expect.poll(() => enter(LEASE_MS)).toHaveProperty('url')
  })
})
