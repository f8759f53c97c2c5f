// @module-tag timers
// Limits of the requests that redirects of robots.txt lead to another site. All of it is our
// choice.
import { describeVerdict } from '@politely/core'
import { disallowsPage } from '@politely/testkit/cases/response-cases'
import { startClock } from '@politely/testkit/clock'
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import type { Answer, Reply, Sites } from '@politely/testkit/servers/sites'
import { afterEach, beforeEach, describe, expect, vi } from 'vitest'
import { Flights, type FlightWork } from '../src/cache/flights.ts'
import { RedirectLimits } from '../src/cache/redirect-limits.ts'
import type { RobotsClient } from '../src/index.ts'
import { registrableDomainOf } from '../src/network/host-name.ts'
import { test } from './with-sites.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const rules: Reply = { status: 200, body: disallowsPage }
const TARGET = 'http://target.test:PORT'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** Hosts of one domain with a wildcard in its DNS. */
const wildcard = (count: number) => Array.from({ length: count }, (_, i) => `h${i}.wild.test`)
/** Hosts of as many domains. */
const domains = (count: number) => Array.from({ length: count }, (_, i) => `d${i}.test`)

/** Redirects the robots.txt of each host to a URL of its own. Checks a page of each host. */
function checkRedirected(
  sites: Sites,
  client: RobotsClient,
  hosts: readonly string[],
  { origin = TARGET, answer = rules as Answer } = {},
) {
  return hosts.map((host) => {
    const location = `${origin}/expensive?${host}`
    sites.respond(`http://${host}:PORT/robots.txt`, { status: 302, headers: { location } })
    sites.respond(location, answer)
    return client.check(sites.withPort(`http://${host}:PORT/page`))
  })
}

/** Waits until no request is under way. */
async function idle(client: RobotsClient): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve))
  while (client.gauges.flightsUnderWay > 0)
}

const atTarget = (sites: Sites) => sites.requestedUrls.filter((url) => url.startsWith(`${TARGET}/expensive`)).length

describe('the pace of redirects to one site', () => {
  /**
   * Advances the time step by step. Returns how many requests the target has had before and after
   * each step.
   */
  async function countAfter(sites: Sites, client: RobotsClient, steps: readonly number[]) {
    await idle(client)
    const counts = [atTarget(sites)]
    for (const ms of steps) {
      vi.advanceTimersByTime(ms)
      await idle(client)
      counts.push(atTarget(sites))
    }
    return counts
  }

  test('is a burst, then one a second, from a domain with any number of hosts', async ({ sites, newClient }) => {
    const client = newClient()
    const results = Promise.allSettled(checkRedirected(sites, client, wildcard(40)))
    expect(await countAfter(sites, client, [999, 1, 999, 1, 1_000])).toEqual([10, 10, 11, 11, 12, 13])
    expect(client.gauges).toMatchObject({ flightsUnderWay: 0, flightsWaiting: 27 })
    expect(client.counters.redirectWaits).toBeGreaterThan(0)
    expect(await client.inspect(sites.withPort('http://h20.wild.test:PORT/'))).toMatchObject({ flight: 'waiting' })
    await client.close()
    await results
  })

  test('is the same from any number of domains', async ({ sites, newClient }) => {
    const client = newClient()
    const results = Promise.allSettled(checkRedirected(sites, client, domains(40)))
    expect(await countAfter(sites, client, [1_000, 1_000, 500, 500])).toEqual([10, 11, 12, 12, 13])
    await client.close()
    await results
  })

  test('makes no honest host unreachable, although the waits are longer than the deadline', async ({
    sites,
    newClient,
  }) => {
    const client = newClient({ timeoutMs: 20_000 })
    const verdicts = Promise.all(checkRedirected(sites, client, domains(60)))
    expect((await countAfter(sites, client, Array(50).fill(1_000))).at(-1)).toBe(60)
    for (const verdict of await verdicts) expect(verdict).toMatchObject({ because: 'rule' })
    expect(client.counters).toMatchObject({ successes: 60, unreachable: 0 })
  })

  test('does not apply to redirects to other sites, nor to the robots.txt of the target itself', async ({
    sites,
    newClient,
  }) => {
    const client = newClient()
    const results = Promise.allSettled(checkRedirected(sites, client, domains(40)))
    await idle(client)
    sites.respond(`${TARGET}/robots.txt`, rules)
    expect(await client.isAllowed(sites.withPort(`${TARGET}/page`))).toBe(false)
    const [other] = checkRedirected(sites, client, ['other.example.test'], { origin: 'http://elsewhere.test:PORT' })
    expect(await other).toMatchObject({ because: 'rule' })
    await client.close()
    await results
  })

  test('does not apply within a registrable domain, nor to a redirect that leads back to it', async ({
    sites,
    newClient,
  }) => {
    const client = newClient()
    const within = checkRedirected(sites, client, wildcard(40), { origin: 'http://www.wild.test:PORT' })
    const back = domains(40).map((host) => {
      const hops = [`http://${host}:PORT/robots.txt`, `http://consent-${host}:PORT/`, `http://www.${host}:PORT/`]
      for (const [i, url] of hops.entries())
        sites.respond(
          url,
          hops[i + 1] === undefined ? rules : { status: 302, headers: { location: hops[i + 1] ?? '' } },
        )
      return client.check(sites.withPort(`http://${host}:PORT/page`))
    })
    for (const verdict of await Promise.all([...within, ...back])) expect(verdict).toMatchObject({ because: 'rule' })
    expect(client.counters).toMatchObject({ successes: 80 })
  })

  test('counts the redirects that the target itself adds', async ({ sites, newClient }) => {
    const client = newClient()
    sites.respond(`${TARGET}/expensive-too`, rules)
    const answer = { status: 302, headers: { location: `${TARGET}/expensive-too` } }
    const results = Promise.allSettled(checkRedirected(sites, client, wildcard(40), { answer }))
    // Eight flights of a domain may be away at once, with two requests each. That is seven seconds
    // over the burst.
    expect(await countAfter(sites, client, [6_999, 1, 1_999, 1])).toEqual([16, 16, 18, 18, 20])
    await client.close()
    await results
  })

  test.for([
    ['Crawl-delay: 10', 10_000],
    ['Crawl-delay: 3', 3_000],
    ['Crawl-delay: 3600', 10_000],
    ['Crawl-delay: 0.1', 1_000],
    ['Request-rate: 1/5', 5_000],
  ] as const)(
    'is slower if the robots.txt of the target is in memory and asks for it: %s',
    async ([line, ms], { sites, newClient }) => {
      const client = newClient()
      sites.respond(`${TARGET}/robots.txt`, { status: 200, body: `User-agent: *\nDisallow: /expensive\n${line}\n` })
      await client.check(sites.withPort(`${TARGET}/page`))
      const results = Promise.allSettled(checkRedirected(sites, client, wildcard(40)))
      const first = ms > 1_000 ? 1 : 10
      const counts = await countAfter(sites, client, [ms - 1, 1, ms - 1, 1])
      expect(counts).toEqual([first, first, first + 1, first + 1, first + 2])
      await client.close()
      await results
    },
  )
})

describe('the wait for a redirect to another site', () => {
  test('is limited to ten minutes: hosts for which it would be longer are refused at once', { tags: 'full' }, async ({
    sites,
    newClient,
  }) => {
    const client = newClient()
    const asked = checkRedirected(sites, client, domains(700))
    const results = Promise.allSettled(asked)
    await idle(client)
    expect(client.counters).toMatchObject({ successes: 10, unreachable: 90, busyTargets: 90 })
    expect(client.gauges).toMatchObject({ flightsUnderWay: 0, flightsWaiting: 600 })
    await client.close()
    const refused = (await results).flatMap((result) =>
      result.status === 'fulfilled' && !result.value.allowed && result.value.because === 'unreachable'
        ? [result.value]
        : [],
    )
    expect(refused).toHaveLength(90)
    expect(describeVerdict(refused[0] as (typeof refused)[0])).toBe(
      'disallowed: robots.txt is unreachable (busy-target: too many hosts redirect their robots.txt to target.test: the wait would be longer than 10 minutes)',
    )
  })

  test('also ends then if the target holds up the others', async ({ sites, newClient }) => {
    const client = newClient({ maxFlightsPerDomain: 1, timeoutMs: HOUR })
    const held = Promise.withResolvers<Reply>()
    const asked = checkRedirected(sites, client, domains(3), { answer: held.promise })
    await sites.requested(4)
    vi.advanceTimersByTime(10 * MINUTE + 1)
    held.resolve(rules)
    const reasons = (await Promise.all(asked)).map(({ access }) => access?.reason)
    expect(reasons.sort()).toEqual(['busy-target', 'busy-target', 'status'])
    expect(atTarget(sites)).toBe(1)
  })

  test('leaves no timer when the callers abort', async ({ sites, newClient }) => {
    const client = newClient()
    const controller = new AbortController()
    const check = client.check.bind(client)
    client.check = (url) => check(url, { signal: controller.signal })
    const results = Promise.allSettled(checkRedirected(sites, client, domains(30)))
    await idle(client)
    expect(vi.getTimerCount()).toBe(1)
    controller.abort()
    await results
    expect(vi.getTimerCount()).toBe(0)
    expect(client.gauges).toMatchObject({ flightsUnderWay: 0, flightsWaiting: 0 })
  })
})

describe('Retry-After of the target of a redirect', () => {
  const busy = (status: number): Reply => ({ status, headers: { 'retry-after': '3600' } })
  const paused = { allowed: false, because: 'unreachable', access: { outcome: 'unreachable', reason: 'busy-target' } }

  test.for([429, 503, 500])('is kept for redirects of other hosts after a %i', async (status, { sites, newClient }) => {
    const clock = startClock()
    const client = newClient({ now: clock.now })
    const [first] = checkRedirected(sites, client, ['first.test'], { answer: busy(status) })
    expect(await first).toMatchObject({ access: { reason: 'status', status } })
    const ends = clock.now() + HOUR
    clock.advance(HOUR - 90_000)
    const [second, third] = await Promise.all(checkRedirected(sites, client, ['second.test', 'h.third.test']))
    expect([second, third]).toMatchObject([paused, paused])
    expect(second).toMatchObject({
      access: {
        nextAttemptAt: ends,
        detail: expect.stringMatching(
          /^http:\/\/target\.test:\d+ asked for a pause \(Retry-After\), of which 90 s are left$/,
        ),
      },
    })
    expect(atTarget(sites)).toBe(1)
    clock.advance(90_000)
    expect(await client.check(sites.withPort('http://second.test:PORT/page'))).toMatchObject({ because: 'rule' })
    expect(atTarget(sites)).toBe(2)
  })

  test('also ends the waits of those that a redirect has led there already', async ({ sites, newClient }) => {
    const client = newClient()
    const verdicts = await Promise.all(checkRedirected(sites, client, domains(30), { answer: busy(503) }))
    const reasons = Map.groupBy(verdicts, ({ access }) => access?.reason)
    expect([reasons.get('status')?.length, reasons.get('busy-target')?.length]).toEqual([8, 22])
    expect(atTarget(sites)).toBe(8)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is also kept if the robots.txt of the target itself got it', async ({ sites, newClient }) => {
    const client = newClient()
    sites.respond(`${TARGET}/robots.txt`, busy(503))
    await client.check(sites.withPort(`${TARGET}/page`))
    expect(await checkRedirected(sites, client, ['a.test'])[0]).toMatchObject(paused)
    expect(atTarget(sites)).toBe(0)
  })

  test('of a redirect does not hold back the robots.txt of the target itself', async ({ sites, newClient }) => {
    const client = newClient()
    sites.respond(`${TARGET}/robots.txt`, rules)
    await checkRedirected(sites, client, ['a.test'], { answer: busy(503) })[0]
    expect(await client.check(sites.withPort(`${TARGET}/page`))).toMatchObject({ because: 'rule' })
  })

  test('is kept for one origin, so that one tenant of a provider does not stop the others', async ({
    sites,
    newClient,
  }) => {
    const client = newClient()
    await checkRedirected(sites, client, ['a.test'], { answer: busy(503) })[0]
    const [other] = checkRedirected(sites, client, ['b.test'], { origin: 'http://other.target.test:PORT' })
    expect(await other).toMatchObject({ because: 'rule' })
  })

  test('is needed: a 503 without it stops no other host', async ({ sites, newClient }) => {
    const client = newClient()
    await checkRedirected(sites, client, ['a.test'], { answer: { status: 503 } })[0]
    expect(await checkRedirected(sites, client, ['b.test'])[0]).toMatchObject({ because: 'rule' })
  })

  test('leaves the last copy of a redirecting origin in use', async ({ sites, newClient }) => {
    const clock = startClock()
    const client = newClient({ now: clock.now })
    await checkRedirected(sites, client, ['a.test'])[0]
    clock.advance(24 * HOUR)
    await checkRedirected(sites, client, ['b.test'], { answer: busy(503) })[0]
    expect(await client.check(sites.withPort('http://a.test:PORT/page'))).toMatchObject({
      because: 'rule',
      access: { reason: 'busy-target', copy: { freshness: 'stale' } },
    })
  })

  test('is forgotten for the oldest of more than ten thousand origins', () => {
    const limits = new RedirectLimits({ rulesOf: () => undefined, now: () => 0 })
    for (let n = 0; n < 10_001; n++) limits.pause(`https://h${n}.test/`, HOUR)
    const isPaused = (n: number) => limits.refusal(`https://h${n}.test/`, 0) !== undefined
    expect([0, 1, 10_000].map(isPaused)).toEqual([false, true, true])
  })
})

test('in random order of redirects, aborts and results, the pace holds, every call settles, and no timer is left', async () => {
  const seen = { started: 0, waited: 0, removed: 0 }
  for (let round = 0; round < sampled(40); round++) {
    const roll = seededRandom(round)
    const redirectLimits = new RedirectLimits({ rulesOf: () => undefined, now: Date.now })
    const flights = new Flights<void>({ maxFlights: 6, maxFlightsPerDomain: 2 }, redirectLimits)
    /** The times at which requests that another site caused have started, by domain. */
    const starts = new Map<string, number[]>()
    const ends: (() => void)[] = []
    const controller = new AbortController()
    const follow = (own: string) => async (work: FlightWork) => {
      work.isDroppable = false
      let last = own
      for (let hop = 0; hop < 3; hop++) {
        await new Promise<void>((end) => ends.push(end))
        const url = `https://h${hop}.${pick(roll, ['x.test', 'y.test', own])}/`
        const turn = work.moveTo(url)
        if (turn instanceof Promise) seen.waited++
        if ((await turn) !== undefined) return
        const domain = registrableDomainOf(url)
        if (domain !== own && domain !== last) starts.set(domain, [...(starts.get(domain) ?? []), performance.now()])
        last = domain
      }
    }
    const results = Promise.allSettled(
      Array.from({ length: 60 }, (_, i) => {
        const own = `d${i % 7}.test`
        const signal = roll() < 0.3 ? controller.signal : undefined
        return flights.join(`https://h${i}.${own}`, follow(own), { signal })
      }),
    )
    for (let step = 0; flights.underWay + flights.waiting > 0; step++) {
      if (step === 50) controller.abort(new Error('aborted'))
      if (roll() < 0.3 || ends.length === 0) vi.advanceTimersByTime(roll() * 2_000)
      else ends.splice(Math.floor(roll() * ends.length), 1)[0]?.()
      await new Promise((resolve) => setImmediate(resolve))
      expect(step).toBeLessThan(10_000)
    }
    seen.removed += (await results).filter(({ status }) => status === 'rejected').length
    for (const times of starts.values()) {
      seen.started += times.length
      for (const [i, from] of times.entries())
        for (const [n, at] of times.slice(i + 10).entries())
          expect(at - from).toBeGreaterThanOrEqual((n + 1) * 1_000 - 1)
    }
    expect(vi.getTimerCount()).toBe(0)
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(sampled(40))
})
