// @module-tag slow
// @module-tag full
// The option `jitter` of a gate with a RedisPacer: the workers of a fleet keep their turns.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, type StartMessage } from '@politely/gate'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { noRedis } from '@politely/testkit/servers/redis'
import { startSites } from '@politely/testkit/servers/sites'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectIoredis, openPacer, redisForAll } from './clients.ts'

const DELAY_MS = 60
const JITTER = 0.5
const WORKERS = 4

// In the full run only: it takes long. The tests of the gate have the same for a LocalPacer.
describe.skipIf(noRedis())('jitter with a RedisPacer', () => {
  const redis = redisForAll()

  test('no gap is shorter than the delay, and every worker gets its turns', async () => {
    const sites = await startSites()
    const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', network: 'any', lookup: lookupIn() })
    const keyPrefix = redis.newPrefix()
    const client = await connectIoredis(redis.url)
    const gates = Array.from(
      { length: WORKERS },
      () => new PoliteGate({ robots, minDelayMs: DELAY_MS, jitter: JITTER, pacer: openPacer({ client, keyPrefix }) }),
    )
    const starts: { worker: number; at: number }[] = []
    const listener = (message: unknown) => {
      const { gate, at } = message as StartMessage
      starts.push({ worker: gates.indexOf(gate as PoliteGate), at })
    }
    subscribe('politely:gate:start', listener)
    onTestFinished(async () => {
      unsubscribe('politely:gate:start', listener)
      await robots.close()
      await sites.close()
    })
    const each = 40
    await Promise.all(
      gates.flatMap((gate) =>
        Array.from({ length: each }, async () => (await gate.enter(sites.withPort('http://one.test:PORT/'))).release()),
      ),
    )
    const gaps = starts.slice(1).map(({ at }, n) => at - (starts[n]?.at ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(DELAY_MS)
    const first = starts.slice(0, (WORKERS * each) / 2)
    for (let worker = 0; worker < WORKERS; worker++)
      expect(first.filter((start) => start.worker === worker).length).toBeGreaterThanOrEqual(each / 4)
  })
})
