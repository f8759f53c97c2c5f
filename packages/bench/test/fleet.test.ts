import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import {
  applyResponse,
  type Delay,
  delayOf,
  nextSlot,
  type Pace,
  type PaceResponse,
  startPace,
  takeSlot,
} from '@politely/core/engine'
import { expectPage, readPage } from '@politely/testkit/doc-page'
import { expect, it } from 'vitest'
import { lifetimeOf } from '../src/fleet/lifetimes.ts'
import { crawler, web } from '../src/fleet/parameters.ts'
import { readRecord, simulateFleet } from '../src/fleet/record.ts'
import { scalePage } from '../src/fleet/scale-page.ts'
import { type Event, type Plan, simulate } from '../src/fleet/simulate.ts'
import { generateSites, ROBOTS, type Sites } from '../src/fleet/sites.ts'

const plans: Plan[] = ['partition', 'shared']
const WORKERS = 5
const DAY = 24 * 3_600_000
const size = { origins: 2_000, urls: 20_000, workers: WORKERS, seed: 7 }
const sites = withLargeSite(generateSites(size))

it('docs/scale.md contains the figures of the record', { tags: 'page' }, async () => {
  await expectPage('docs/scale.md', scalePage(readPage('docs/scale.md'), readRecord()))
})

it('gives the same figures for the same seed, and others for another', () => {
  const figures = (seed: number) => ({ ...simulateFleet({ ...size, urls: 8_000, seed }, () => {}), program: undefined })
  const first = figures(7)
  expect(figures(7)).toEqual(first)
  expect(figures(8).plans).not.toEqual(first.plans)
})

it('generates as many URLs as asked for, with sizes that follow the power law', () => {
  const { urls, urlsOf } = generateSites({ origins: 100_000, urls: 1_000_000, seed: 1 })
  expect(Math.abs(urls / 1_000_000 - 1)).toBeLessThan(0.01)
  const above = (bound: number) => urlsOf.filter((count) => count > bound).length
  expect(above(100) / above(10)).toBeCloseTo(10 ** -web.tailExponent, 1)
  expect(Math.min(...urlsOf)).toBe(1)
})

it.each(plans)('%s: fetches every URL once, unless robots.txt stays unreachable', (plan) => {
  const { run, events } = crawl(plan)
  const fetched = new Int32Array(sites.count)
  for (const { kind, id } of events) if (kind === 'fetched') fetched[id] = (fetched[id] as number) + 1
  const expected = sites.urlsOf.map((urls, id) => (sites.robotsOf[id] === ROBOTS.unreachable ? 0 : urls))
  expect(fetched).toEqual(expected)
  expect(run.fetched + run.refused).toBe(sites.urls)
})

it.each(plans)("%s: starts no request before the slot that core's pace functions give", (plan) => {
  const { run, events } = crawl(plan)
  const paces = new Map<number, Pace>()
  const early: Event[] = []
  for (const event of events) {
    const { kind, id, at, retryAfter } = event
    const pace = paces.get(id) ?? startPace
    if (kind === 'page') {
      if (nextSlot(pace, at).at > at) early.push(event)
      paces.set(id, takeSlot(pace, at, delayAfter(id, at)))
    } else if (kind !== 'robots') {
      const response: PaceResponse = { status: kind === 'pushback' ? 503 : 200, retryAfter }
      paces.set(id, applyResponse(pace, response, pace.slots, at))
    }
  }
  expect(early).toEqual([])
  expect(events.filter(({ kind }) => kind === 'pushback').length).toBeGreaterThan(0)
  expect(run.pace.short).toBe(0)
  expect(run.pace.smallest).toBeGreaterThanOrEqual(1)
})

it.each(plans)('%s: fetches each robots.txt exactly once in 24 hours, and never uses an older one', (plan) => {
  expect(lifetimeOf(200)).toBe(DAY)
  const { run, events } = crawl(plan)
  const fetchedAt = new Map<number, number>()
  const wrong: Event[] = []
  let refetches = 0
  for (const event of events) {
    const { kind, id, at } = event
    const last = fetchedAt.get(id)
    if (kind === 'page' && at - (last ?? Number.NEGATIVE_INFINITY) > DAY + web.responseMs.max) wrong.push(event)
    if (kind !== 'robots') continue
    if (last !== undefined && isReachable(id)) {
      if (at - last < DAY) wrong.push(event)
      refetches++
    }
    fetchedAt.set(id, at)
  }
  expect(wrong).toEqual([])
  expect(refetches).toBeGreaterThan(0)
  expect(run.robots.refetches).toBe(refetches)
})

it('partition: gives all URLs of a registrable domain to one worker; shared: divides the requests evenly', () => {
  expect(workersPerDomain(crawl('partition').events)).toEqual(new Set([1]))
  const { requestsOf } = crawl('shared').run
  expect(Math.max(...requestsOf) / Math.min(...requestsOf)).toBeLessThan(1.1)
})

it.each(plans)('%s: when a worker dies, the others do its work and keep the pace', (plan) => {
  const deathAt = 1_000
  const { run, events } = record(plan, deathAt)
  expect(run.fetched + run.refused).toBe(sites.urls)
  expect(run.pace.short).toBe(0)
  expect(run.death.lostRequests).toBeGreaterThan(0)
  expect(run.death.delayedOrigins).toBeGreaterThanOrEqual(run.death.lostRequests)
  expect(run.death.delayedUrls).toBeLessThan(sites.urls)
  expect(events.filter(({ worker, at }) => worker === 0 && at > deathAt)).toEqual([])
  const later = events.filter(({ at }) => at > deathAt + crawler.deathNoticedAfterMs)
  if (plan === 'partition') expect(workersPerDomain(later)).toEqual(new Set([1]))
})

it('counts the calls of Redis: five for each fetch of robots.txt, and one slot for each request of the shared pacer', () => {
  const { calls, robots } = crawl('partition').run
  expect(calls).toEqual({
    get: robots.fetches,
    lease: robots.fetches,
    reread: robots.fetches,
    set: robots.fetches,
    release: robots.fetches,
    poll: 0,
    slot: 0,
    report: 0,
  })
  const shared = crawl('shared').run
  expect(shared.calls.slot).toBe(shared.pages)
  expect(shared.calls.set).toBe(shared.robots.fetches)
  expect(shared.calls.lease).toBe(shared.robots.fetches + shared.robots.avoidedByLease)
  expect(shared.calls.get).toBe(shared.calls.lease + shared.cache.redisHits)
})

it('the command prints a record as JSON, and rejects invalid sizes', { tags: 'full' }, () => {
  const command = (...args: string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, '../src/fleet/main.ts'), ...args], { encoding: 'utf8' })
  const { stdout } = command('--origins', '500', '--urls', '2000', '--workers', '2', '--seed', '3', '--json')
  expect(JSON.parse(stdout)).toMatchObject({ origins: 500, workers: 2, seed: 3 })
  const { status, stderr } = command('--workers', '1')
  expect(status).toBe(2)
  expect(stderr).toContain('--workers 1 is invalid; expected a whole number from 2 to 32767')
})

const crawls: Partial<Record<Plan, ReturnType<typeof record>>> = {}

/** Returns the run without a death, which several tests look at. */
function crawl(plan: Plan) {
  crawls[plan] ??= record(plan)
  return crawls[plan]
}

function record(plan: Plan, deathAt?: number) {
  const events: Event[] = []
  const run = simulate(sites, { plan, workers: WORKERS, seed: 7, deathAt, observe: (event) => events.push(event) })
  return { run, events }
}

/** Returns how many workers the domains have: `{1}` if each has one. */
function workersPerDomain(events: readonly Event[]): Set<number> {
  const workers = new Map<number, Set<number>>()
  for (const { id, worker } of events) {
    const domain = sites.domainOf[id] as number
    workers.set(domain, (workers.get(domain) ?? new Set()).add(worker))
  }
  return new Set(Array.from(workers.values(), ({ size }) => size))
}

/** Makes one site so large and slow that its crawl takes longer than its robots.txt is valid. */
function withLargeSite(generated: Sites): Sites {
  const id = generated.delayOf.findIndex(
    (delay, i) => delay === web.crawlDelays.length && generated.robotsOf[i] === ROBOTS.rules,
  )
  const urls = Math.ceil((1.1 * DAY) / crawler.maxDelayMs)
  const before = generated.urlsOf[id] as number
  generated.urlsOf[id] = urls
  return { ...generated, urls: generated.urls - before + urls }
}

function isReachable(id: number): boolean {
  return sites.robotsOf[id] === ROBOTS.rules || sites.robotsOf[id] === ROBOTS.missing
}

function delayAfter(id: number, at: number): Delay {
  const crawlDelayMs = web.crawlDelays[(sites.delayOf[id] as number) - 1]?.delayMs
  return delayOf({ ownDelayMs: crawler.ownDelayMs, maxDelayMs: crawler.maxDelayMs, crawlDelayMs }, at)
}
