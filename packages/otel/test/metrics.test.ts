// @module-tag sockets
// The instruments: each count once, whatever becomes of the client or gate.
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { collectGarbage } from '@politely/testkit/heap'
import { expect, onTestFinished, test } from 'vitest'
import { observe, startSite } from './observed.ts'

const userAgent = 'ExampleBot/1.0'

/** Checks a page that robots.txt allows and one that it disallows, and starts two requests. */
async function crawl(origin: string, minDelayMs = 500): Promise<{ robots: RobotsClient; gate: PoliteGate }> {
  const robots = new RobotsClient({ userAgent })
  const gate = new PoliteGate({ robots, minDelayMs })
  onTestFinished(async () => {
    gate.close()
    await robots.close()
  })
  await gate.check(`${origin}/private`)
  for (const status of [200, 429]) (await gate.enter(`${origin}/page`)).release({ status, headers: {} })
  return { robots, gate }
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

test.for([true, false])('counters and gauges have the values of the client and the gate (spans: %s)', async (spans) => {
  const { metrics } = observe({ spans })
  const atFirst = await metrics()
  expect(Object.values(atFirst).every((value) => value === 0)).toBe(true)
  expect(atFirst).toHaveProperty('politely_gate_started_total')
  expect(atFirst).not.toHaveProperty('politely_gate_refusals_total')
  const { robots, gate } = await crawl(await startSite())
  const found = await metrics()
  for (const [name, value] of Object.entries(robots.counters))
    expect([name, found[`politely_client_${snakeCase(name)}_total`]]).toEqual([name, value])
  const { waits, waitedMs, waitHistogram: _, refusals, ...counters } = gate.counters
  for (const [name, value] of Object.entries(counters))
    expect([name, found[`politely_gate_${snakeCase(name)}_total`]]).toEqual([name, value])
  expect(found['politely_gate_refusals_total{politely_because="rule"}']).toBe(refusals.rule)
  expect(found['politely_gate_wait_duration_count{politely_because="own-delay"}']).toBe(waits['own-delay'])
  expect(found['politely_gate_wait_duration_sum{politely_because="own-delay"}']).toBeCloseTo(
    waitedMs['own-delay'] / 1_000,
  )
  expect(found['politely_gate_wait_duration_count{politely_because="none"}']).toBe(1)
  expect(found['politely_robots_fetch_duration_count{politely_outcome="success"}']).toBe(1)
  expect(found).toMatchObject({
    politely_client_origins: 1,
    politely_client_memory: robots.gauges.memoryBytes,
    politely_client_flights_under_way: 0,
    politely_gate_waiting: 0,
    politely_gate_oldest_wait: 0,
  })
  expect(counters.pushbacks).toBe(1)
})

test('a client of two gates counts once, and clients add up', { tags: 'full' }, async () => {
  const { metrics } = observe()
  const origin = await startSite()
  const { robots } = await crawl(origin)
  const second = new PoliteGate({ robots, minDelayMs: 0 })
  onTestFinished(() => second.close())
  ;(await second.enter(`${origin}/other`)).release()
  const other = await crawl(origin)
  expect(await metrics()).toMatchObject({
    politely_client_questions_total: robots.counters.questions + other.robots.counters.questions,
    politely_client_fetches_total: 2,
    politely_client_origins: 2,
    politely_gate_started_total: 5,
  })
})

test('ages are the largest of all gates, in seconds', { tags: 'full' }, async () => {
  const { metrics } = observe()
  const origin = await startSite()
  for (const minDelayMs of [10, 20]) {
    const { gate } = await crawl(origin, minDelayMs)
    const permit = await gate.enter(origin)
    onTestFinished(() => permit.release())
    await expect.poll(() => gate.gauges.oldestPermitMs).toBeGreaterThan(minDelayMs)
  }
  const { politely_gate_oldest_permit: oldest = 0, politely_gate_under_way: underWay } = await metrics()
  expect(oldest).toBeGreaterThan(0.02)
  expect(oldest).toBeLessThan(60)
  expect(underWay).toBe(2)
})

test('clients and gates that were garbage collected keep their counts, and only these', { tags: 'full' }, async () => {
  const { metrics } = observe()
  const origin = await startSite()
  const gone = await (async () => {
    const robots = new RobotsClient({ userAgent })
    await using gate = new PoliteGate({ robots, minDelayMs: 0 })
    for (const path of ['/1', '/2', '/3']) (await gate.enter(origin + path)).release()
    await robots.close()
    return new WeakRef(robots)
  })()
  const before = await metrics()
  expect(before).toMatchObject({ politely_client_allowed_total: 3, politely_gate_started_total: 3 })
  await expect
    .poll(() => {
      collectGarbage()
      return gone.deref()
    })
    .toBeUndefined()
  await crawl(origin) // adds a client, which drops the collected client
  expect(await metrics()).toMatchObject({
    politely_client_fetches_total: 2,
    politely_gate_started_total: 5,
    politely_client_origins: 1,
  })
})

test('origins are no labels, unless the option says how many', { tags: 'full' }, async () => {
  const sites = [await startSite(), await startSite(), await startSite()]
  const { metrics, instrumentation } = observe()
  for (const site of sites) await crawl(site)
  expect(Object.keys(await metrics()).filter((name) => name.includes('127.0.0.1'))).toEqual([])
  instrumentation.setConfig({ origins: { max: 2 } })
  for (const site of sites) await crawl(site)
  const labelled = await metrics()
  const fetches = (origin: string) =>
    labelled[`politely_robots_fetch_duration_count{politely_outcome="success",politely_origin="${origin}"}`]
  expect([...sites, 'other'].map(fetches)).toEqual([1, 1, undefined, 1])
  expect(
    Object.keys(labelled).some((name) =>
      name.includes(`_gate_wait_duration_count{politely_because="none",politely_origin="other"`),
    ),
  ).toBe(true)
})
