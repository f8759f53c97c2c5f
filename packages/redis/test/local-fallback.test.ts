// RedisPacer with `onFailure: 'local'`, by a clock that the test sets, with a Redis that is away at
// times.
import type { PaceLimits } from '@politely/core/engine'
import { startClock } from '@politely/testkit/clock'
import { noRedis, useRedis } from '@politely/testkit/servers/redis'
import { describe, expect, test } from 'vitest'
import type { IoredisClient } from '../src/client.ts'
import { connectIoredis, openPacer } from './clients.ts'
import { knowLongAgo } from './epoch.ts'

const FLEET_SIZE = 3
const limits: PaceLimits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined }

function startPacer(connected?: { readonly client: IoredisClient; readonly keyPrefix: string }) {
  const clock = startClock()
  const link = { isAway: true }
  const client = {
    callBuffer: async (...args: never) => {
      if (link.isAway) throw new Error('away')
      return connected?.client.callBuffer(...args)
    },
  }
  const options = { client, keyPrefix: connected?.keyPrefix, now: clock.now }
  return { clock, link, pacer: openPacer({ ...options, onFailure: 'local', fleetSize: FLEET_SIZE }) }
}

test.for<[string, Partial<PaceLimits>, number, string]>([
  ['the own delay', {}, 3_000, 'own-delay'],
  ['the crawl-delay', { crawlDelayMs: 7_000 }, 21_000, 'crawl-delay'],
  ['the limit of the crawl-delay', { crawlDelayMs: 7_000, maxDelayMs: 2_000 }, 6_000, 'cap'],
  ['a request-rate', { requestRates: [{ requests: 2, periodMs: 8_000, between: undefined }] }, 12_000, 'request-rate'],
  [
    'a request-rate of other hours',
    { requestRates: [{ requests: 2, periodMs: 8_000, between: { from: 600, to: 660 } }] },
    12_000,
    'request-rate',
  ],
])('multiplies by the size of the fleet: %s', async ([, more, delayMs, because]) => {
  const { clock, pacer } = startPacer()
  const asked = { ...limits, ...more }
  expect(await pacer.reserve('k', asked)).toMatchObject({ kind: 'wait', waitMs: delayMs, because })
  clock.advance(delayMs)
  expect(await pacer.reserve('k', asked)).toMatchObject({ kind: 'slot', delay: { delayMs, because } })
  expect(await pacer.reserve('k', asked)).toMatchObject({ kind: 'wait', waitMs: delayMs })
  expect(await pacer.estimate('k', asked, 1)).toEqual({ waitMs: 2 * delayMs, because })
  expect(pacer.counters.localSlots).toBe(1)
})

test('multiplies the delay that delayFactor causes, and its limit', async () => {
  const { clock, pacer } = startPacer()
  const asked = { ...limits, delayFactor: 2 }
  expect(await pacer.reserve('k', asked)).toMatchObject({ waitMs: FLEET_SIZE * 30_000 })
  clock.advance(FLEET_SIZE * 30_000)
  const slot = await pacer.reserve('k', asked)
  await pacer.end('k', slot.ticket ?? '', asked, 20_000)
  expect(await pacer.reserve('k', asked)).toMatchObject({ waitMs: FLEET_SIZE * 30_000 - 20_000, because: 'slow-site' })
})

test('obeys a pushback, and frees a cancelled slot', async () => {
  const { clock, pacer } = startPacer()
  await pacer.reserve('k', limits)
  clock.advance(3_000)
  const cancelled = await pacer.reserve('k', limits)
  await pacer.cancel('k', cancelled.ticket ?? '')
  const slot = await pacer.reserve('k', limits)
  expect(slot.kind).toBe('slot')
  await pacer.report('k', slot.ticket ?? '', { status: 429, retryAfter: '60' })
  expect(await pacer.reserve('k', limits)).toMatchObject({ waitMs: 60_000, because: 'retry-after' })
})

test('keeps a pause that the site asked for, and estimates it', async () => {
  const { clock, pacer } = startPacer()
  await pacer.pause('k', 60_000, 'rate-limit')
  expect(await pacer.reserve('k', limits)).toMatchObject({ waitMs: 60_000, because: 'rate-limit' })
  expect(await pacer.estimate('k', limits, 0)).toEqual({ waitMs: 60_000, because: 'rate-limit' })
  clock.advance(59_000)
  expect(await pacer.reserve('k', limits)).toMatchObject({ waitMs: 1_000, because: 'rate-limit' })
})

describe.skipIf(noRedis())('when Redis is back', () => {
  async function startConnected() {
    const { url, keyPrefix } = await useRedis()
    const connected = { client: await connectIoredis(url), keyPrefix }
    await knowLongAgo(connected, ['k'])
    const rig = startPacer(connected)
    await rig.pacer.reserve('k', limits)
    rig.clock.advance(3_000)
    const slot = await rig.pacer.reserve('k', limits)
    expect(slot.kind).toBe('slot')
    return { ...rig, ...connected, slot, other: openPacer({ ...connected, now: rig.clock.now }) }
  }

  test('the delay after the last local slot stays', async () => {
    const { clock, link, pacer, other } = await startConnected()
    clock.advance(1_000)
    link.isAway = false
    expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'wait', waitMs: 2_000, because: 'own-delay' })
    expect(await other.estimate('k', limits, 0)).toEqual({ waitMs: 2_000, because: 'own-delay' })
    clock.advance(2_000)
    expect(await pacer.reserve('k', limits)).toMatchObject({ kind: 'slot', delay: { delayMs: 1_000 } })
    expect(pacer.counters.localSlots).toBe(1)
  })

  test('a pause that Redis told the worker is kept while Redis is away, and not told to Redis', async () => {
    const { clock, link, pacer, other, client, keyPrefix } = await startConnected()
    link.isAway = false
    clock.advance(3_000)
    const slot = await other.reserve('k', limits)
    await other.report('k', slot.ticket ?? '', { status: 429, retryAfter: '60' })
    expect(await pacer.reserve('k', limits)).toMatchObject({ waitMs: 60_000, because: 'retry-after' })
    link.isAway = true
    clock.advance(10_000)
    expect(await pacer.reserve('k', limits)).toMatchObject({ waitMs: 50_000, because: 'retry-after' })
    for (const key of await client.keys(`${keyPrefix}*`)) await client.del(key)
    link.isAway = false
    clock.advance(10_000)
    expect(await pacer.reserve('k', limits)).toMatchObject({ waitMs: 1_000, because: 'own-delay' })
  })

  test('the other workers learn of a pushback', async () => {
    const { clock, link, pacer, other, slot } = await startConnected()
    await pacer.report('k', slot.ticket ?? '', { status: 503, retryAfter: '60' })
    clock.advance(10_000)
    link.isAway = false
    await pacer.reserve('any', limits) // shows that Redis is back
    clock.advance(10_000)
    await pacer.reserve('k', limits)
    await expect.poll(() => other.estimate('k', limits, 0)).toEqual({ waitMs: 40_000, because: 'retry-after' })
  })

  test('the other workers learn of a pause, and only of its rest', async () => {
    const { clock, link, pacer, other } = await startConnected()
    await pacer.pause('k', 60_000, 'rate-limit')
    clock.advance(10_000)
    link.isAway = false
    await pacer.reserve('any', limits) // shows that Redis is back
    clock.advance(10_000)
    await pacer.reserve('k', limits)
    expect(await other.estimate('k', limits, 0)).toEqual({ waitMs: 40_000, because: 'rate-limit' })
    clock.advance(40_000)
    expect(await other.estimate('k', limits, 0)).toEqual({ waitMs: 0, because: 'none' })
  })
})
