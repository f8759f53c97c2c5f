// What the server refuses to read in a report, and how long a permit may be renewed.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { LocalPacer, type Pacer } from '@politely/gate'
import { expect, test, vi } from 'vitest'
import { RecentIds } from '../src/permits/recent-ids.ts'
import { applyReport, renew } from '../src/permits/reports.ts'
import { type Answer, deskKit, httpKit, permitOf, shown, startSite } from './kit.ts'

const HOUR = 3_600_000

test('a request that was not sent has no status, and no report of the call is applied', async () => {
  const { origin } = await startSite('')
  const { call } = await httpKit({ allowPrivate: true })
  const take = async () =>
    vi.waitFor(async () => {
      const { results } = (await call('/v1/permits', { requests: [{ url: `${origin}/a` }] })).body
      expect(results[0].state).toBe('go')
      return results[0] as Answer
    })
  const { permit } = await take()
  const reports = [
    { permit, status: 200 },
    { permit: 'p', outcome: 'not-sent', status: 200 },
  ]
  const detail =
    'body.reports[1] has "outcome": "not-sent" and status, which contradict each other; leave out one of them'
  expect(await call('/v1/reports', { reports })).toMatchObject({ status: 400, body: { detail } })
  const [report] = reports
  expect((await call('/v1/reports', { reports: [report] })).body.results).toMatchObject([{ state: 'done' }])
  // Some clients say how late it would have been.
  const late = { permit: (await take()).permit, outcome: 'not-sent', sent_after_ms: 300 }
  expect((await call('/v1/reports', { reports: [late] })).body.results).toMatchObject([{ state: 'done' }])
})

test('a lease is renewed up to the longest lease, and then no more', async () => {
  const { ask, advance, desk, tenant, expired } = await deskKit('')
  const someone = tenant('a')
  const permit = permitOf((await ask(['/a'], { tenant: someone, leaseMs: 300_000 }))[0])
  await advance(299_000)
  expect(await renew(desk, someone, permit, 600_000)).toBe('done')
  await advance(300_000)
  expect([await renew(desk, someone, permit, 60_000), desk.leases.open]).toEqual(['done', 1])
  await advance(1_000)
  expect([await renew(desk, someone, permit, 60_000), desk.leases.open, ...expired]).toEqual(['gone', 0, 'expired'])
})

test('a permit is never granted for longer than the longest lease', async () => {
  const { origin } = await startSite('')
  const { call } = await httpKit({ allowPrivate: true, maxLeaseMs: 5_000, secret: [randomBytes(32), randomBytes(40)] })
  await vi.waitFor(async () => {
    const { results } = (await call('/v1/permits', { requests: [{ url: `${origin}/a` }] })).body
    expect(results).toMatchObject([{ state: 'go', lease_ms: 5_000 }])
  })
})

test.each([[[]], [[randomBytes(32), randomBytes(16)]], [randomBytes(31)]])(
  'a short key is refused: %#',
  async (secret) => {
    await expect(httpKit({ secret })).rejects.toThrow(/^secret: is not 32 bytes or more/)
  },
)

test('a report is answered when the pacer knows of the pause', async () => {
  const { origin } = await startSite('')
  const local = new LocalPacer()
  const events: string[] = []
  const pacer: Pacer = {
    reserve: (...args) => local.reserve(...args),
    estimate: (...args) => local.estimate(...args),
    cancel: (...args) => local.cancel(...args),
    end: (...args) => local.end(...args),
    report: async (...args) => {
      await sleep(20)
      local.report(...args)
      events.push('told')
    },
  }
  const { call } = await httpKit({ allowPrivate: true }, { minDelayMs: 0, pacer })
  const { permit } = await vi.waitFor(async () => {
    const { results } = (await call('/v1/permits', { requests: [{ url: `${origin}/a` }] })).body
    expect(results[0].state).toBe('go')
    return results[0] as Answer
  })
  await call('/v1/reports', { reports: [{ permit, status: 429 }] })
  events.push('answered')
  expect(events).toEqual(['told', 'answered'])
})

test('a page may ask for fewer requests after its response was reported, once', async () => {
  const { ask, desk, tenant } = await deskKit('')
  const someone = tenant('a')
  const permit = permitOf((await ask(['/a'], { tenant: someone }))[0])
  const report = (more: object) => applyReport(desk, someone, { permit, ...more }, HOUR)
  expect(report({ status: 200, end: false })).toBe('done')
  const limited = { outcome: 'rate-limited', retry_after: 40, end: false } as const
  expect([report(limited), report(limited), report({ status: 200 })]).toEqual(['done', 'repeated', 'repeated'])
  expect((await ask(['/b'], { tenant: someone })).map(shown)).toEqual(['wait 40000 retry-after'])
})

test('the latest 100,000 ids are known, and older ones are dropped', () => {
  const ids = new RecentIds()
  for (let n = 0; n < 200_001; n++) ids.add(`${n}`)
  expect([ids.add('100001'), ids.add('200000'), ids.add('0')]).toEqual([false, false, true])
})
