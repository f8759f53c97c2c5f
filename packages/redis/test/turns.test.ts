// How many calls a page takes if several workers crawl the same site, by a clock that the test sets.
import type { PaceLimits } from '@politely/core/engine'
import type { Ticket } from '@politely/gate'
import { startClock } from '@politely/testkit/clock'
import { noRedis } from '@politely/testkit/servers/redis'
import { describe, expect, test } from 'vitest'
import type { RedisPacer } from '../src/index.ts'
import { connectIoredis, openPacer, redisForAll } from './clients.ts'
import { knowLongAgo } from './epoch.ts'

const DELAY_MS = 1_000
const limits: PaceLimits = { ownDelayMs: DELAY_MS, maxDelayMs: undefined, crawlDelayMs: undefined }
const WORKERS = 4
const PAGES = 20

interface Worker {
  readonly pacer: RedisPacer
  /** When it calls `reserve`. */
  at: number
  ticket: Ticket | undefined
  left: number
}

describe.skipIf(noRedis())('workers that crawl one site', () => {
  const redis = redisForAll()

  async function openWorkers(pages = PAGES) {
    const client = await connectIoredis(redis.url)
    const clock = startClock()
    const options = { client, keyPrefix: redis.newPrefix(), now: clock.now }
    await knowLongAgo(options, ['k'])
    const workers = Array.from({ length: WORKERS }, (): Worker => {
      return { pacer: openPacer(options), at: clock.now(), ticket: undefined, left: pages }
    })
    return { workers, clock }
  }

  /**
   * Crawls as gates do. @param waitingOf How many requests wait behind the first. @param pageMs How long
   * after a slot the next request comes, if none waits.
   */
  async function crawl(waitingOf: (worker: Worker) => number, pageMs: number, pages = PAGES) {
    const { workers, clock } = await openWorkers(pages)
    const starts: number[] = []
    for (;;) {
      const worker = workers.filter(({ left }) => left > 0).sort((a, b) => a.at - b.at)[0]
      if (worker === undefined) break
      clock.advance(worker.at - clock.now())
      const waiting = waitingOf(worker)
      const { pacer, ticket } = worker
      const reply = await pacer.reserve('k', limits, ticket, 0, false, 0, undefined, waiting)
      if (reply.kind === 'wait') {
        worker.at += reply.waitMs
        worker.ticket = reply.ticket
        continue
      }
      starts.push(worker.at)
      worker.left--
      worker.ticket = reply.nextTicket
      worker.at += waiting > 0 ? (reply.nextAfterMs ?? DELAY_MS) : pageMs
    }
    const gaps = starts.slice(1).map((at, n) => at - (starts[n] as number))
    return { gaps, calls: workers.reduce((sum, { pacer }) => sum + pacer.counters.calls, 0) }
  }

  test('take one call for a page, and one more for the first page that waits', async () => {
    const { gaps, calls } = await crawl(({ left }) => left - 1, 0)
    expect(gaps).toEqual(gaps.map(() => DELAY_MS))
    expect(calls).toBe(WORKERS * (PAGES + 1))
  })

  test('take one call for a page later, if each requests the next page when one is done', async () => {
    const few = await crawl(() => 0, 100)
    expect(few.gaps).toEqual(few.gaps.map(() => DELAY_MS))
    expect(few.calls).toBeLessThanOrEqual(WORKERS * 2 * PAGES)
    const { gaps, calls } = await crawl(() => 0, 100, 5 * PAGES)
    expect(Math.min(...gaps)).toBe(DELAY_MS)
    expect(gaps.filter((gap) => gap > DELAY_MS).length).toBeLessThan(WORKERS) // turns that passed unused
    expect(calls).toBeLessThanOrEqual(WORKERS * (5 * PAGES + 25))
  })

  test('leave the next turn to others if the request that waits is aborted', async () => {
    const { workers, clock } = await openWorkers()
    const [one, two, three] = workers.map(({ pacer }) => pacer) as [RedisPacer, RedisPacer, RedisPacer]
    expect(await one.reserve('k', limits)).toMatchObject({ kind: 'slot' })
    const wait = await two.reserve('k', limits)
    expect(await three.reserve('k', limits)).toMatchObject({ kind: 'wait', waitMs: 2 * DELAY_MS })
    clock.advance(DELAY_MS)
    const slot = await two.reserve('k', limits, wait.ticket, 0, false, 0, undefined, 1)
    expect(slot).toMatchObject({ kind: 'slot', nextAfterMs: 2 * DELAY_MS, nextTicket: expect.any(String) })
    await two.cancel('k', ('nextTicket' in slot && slot.nextTicket) || '')
    expect(await one.reserve('k', limits)).toMatchObject({ kind: 'wait', waitMs: 2 * DELAY_MS })
  })
})
