// What the memory cache keeps, for how long, and within which size. The clock is a fake, the server
// is real.
import { type Entry, entryText } from '@politely/core/engine'

import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { type Clock, startClock } from '@politely/testkit/clock'
import type { Sites } from '@politely/testkit/servers/sites'
import { describe, expect } from 'vitest'
import { test } from './with-sites.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const ROBOTS = 'http://a.test:PORT/robots.txt'
const rules = { status: 200, body: disallowsPage }
const noRules = { status: 200, body: '' }

/** Returns the number of requests since the last call. */
function counter(sites: Sites): () => number {
  let before = 0
  return () => {
    const count = sites.requests.length - before
    before = sites.requests.length
    return count
  }
}

describe('RFC 9309 §2.4, how long a response is fresh', () => {
  test.for([
    ['a success is fresh for 24 hours', rules, DAY],
    ['a 404 is fresh for 24 hours', { status: 404 }, DAY],
    ['a success is fresh for its max-age', { ...rules, headers: { 'cache-control': 'max-age=7200' } }, 2 * HOUR],
    ['a 404 is fresh for its max-age', { status: 404, headers: { 'cache-control': 'max-age=7200' } }, 2 * HOUR],
    ['our choice, tries again a minute after a failure', { status: 500 }, MINUTE],
    ['our choice, tries again half a minute after a 503', { status: 503 }, MINUTE / 2],
    ['our choice, tries again after Retry-After', { status: 503, headers: { 'retry-after': '7200' } }, 2 * HOUR],
  ] as const)('%s', async ([, answer, due], { sites, newClient }) => {
    sites.respond(ROBOTS, answer)
    const clock = startClock()
    const client = newClient({ now: clock.now })
    const requests = counter(sites)

    const first = await client.check(sites.withPort(checkedPage))
    expect(requests()).toBe(1)
    expect(first).toMatchObject({ access: { checkedAt: clock.now(), nextAttemptAt: clock.now() + due } })
    clock.advance(due - 1)
    const second = await client.check(sites.withPort(checkedPage))
    expect(requests()).toBe(0)
    expect(second).toMatchObject({ allowed: first.allowed, because: first.because })
    clock.advance(1)
    await client.check(sites.withPort(checkedPage))
    expect(requests()).toBe(1)
  })

  test.for([
    ['ttlMs', { ttlMs: HOUR }, undefined, HOUR],
    ['minTtlMs', { minTtlMs: HOUR }, 'max-age=60', HOUR],
    ['maxTtlMs', { maxTtlMs: HOUR }, 'max-age=7200', HOUR],
    ['minTtlMs of 0', { minTtlMs: 0 }, 'no-store', 0],
  ] as const)('our choice, %s', async ([, options, cacheControl, due], { sites, newClient }) => {
    sites.respond(ROBOTS, { ...rules, headers: cacheControl === undefined ? {} : { 'cache-control': cacheControl } })
    const clock = startClock()
    const verdict = await newClient({ ...options, now: clock.now }).check(sites.withPort(checkedPage))
    expect(verdict).toMatchObject({ access: { nextAttemptAt: clock.now() + due } })
  })
})

describe('RFC 9110 §13.1, conditional requests', () => {
  const validators = { etag: '"1"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' }

  test('a 304 renews the copy, any number of times', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, { ...rules, headers: validators }, { status: 304, headers: { etag: '"2"' } })
    const clock = startClock()
    const client = newClient({ now: clock.now })
    await client.check(sites.withPort(checkedPage))
    for (const etag of ['"1"', '"2"']) {
      clock.advance(DAY)
      expect(await client.check(sites.withPort(checkedPage))).toMatchObject({
        allowed: false,
        because: 'rule',
        access: { outcome: 'success', status: 304, checkedAt: clock.now(), copy: { freshness: 'fresh', ageMs: 0 } },
      })
      expect(sites.requests.at(-1)?.headers).toMatchObject({
        'if-none-match': etag,
        'if-modified-since': validators['last-modified'],
      })
    }
    expect(sites.requests).toHaveLength(3)
  })

  test('a 200 replaces the copy', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, { ...rules, headers: validators }, noRules)
    const clock = startClock()
    const client = newClient({ now: clock.now })
    expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(false)
    clock.advance(DAY)
    expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(true)
  })

  test('the condition is sent only to the URL of the copy', async ({ sites, newClient }) => {
    const elsewhere = 'http://b.test:PORT/robots.txt'
    sites.respond(ROBOTS, { status: 301, headers: { location: elsewhere, etag: '"redirect"' } })
    sites.respond(elsewhere, { ...rules, headers: validators }, { status: 304 })
    const clock = startClock()
    const client = newClient({ now: clock.now })
    await client.check(sites.withPort(checkedPage))
    clock.advance(DAY)
    expect(await client.check(sites.withPort(checkedPage))).toMatchObject({ because: 'rule', access: { status: 304 } })
    expect(sites.requests.map(({ url, headers }) => [url, headers['if-none-match']])).toEqual([
      [ROBOTS, undefined],
      [elsewhere, undefined],
      [ROBOTS, undefined],
      [elsewhere, '"1"'],
    ])
  })
})

describe('RFC 9309 §2.3.1.4, while it is unreachable', () => {
  /** Checks once, and then every day until robots.txt has been unreachable for `days` days. */
  async function unreachableFor(days: number, clock: Clock, ask: () => Promise<unknown>): Promise<void> {
    clock.advance(DAY)
    await ask()
    const gaps = Math.max(days, 6)
    for (let gap = 1; gap <= gaps; gap++) {
      clock.advance((days * DAY) / gaps)
      await ask()
    }
  }

  test('the last good copy applies, marked as stale, until there is a new one', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules, { status: 503 }, (socket) => socket.resetAndDestroy(), noRules)
    const clock = startClock()
    const client = newClient({ now: clock.now })
    const ask = () => client.check(sites.withPort(checkedPage))
    await ask()
    clock.advance(DAY)
    expect(await ask()).toMatchObject({
      allowed: false,
      because: 'rule',
      access: { outcome: 'unreachable', status: 503, copy: { freshness: 'stale', ageMs: DAY } },
    })
    clock.advance(MINUTE / 2)
    expect(await ask()).toMatchObject({
      allowed: false,
      because: 'rule',
      access: { outcome: 'unreachable', reason: 'reset', copy: { freshness: 'stale', ageMs: DAY + MINUTE / 2 } },
    })
    clock.advance(2 * MINUTE)
    expect(await ask()).toMatchObject({
      allowed: true,
      because: 'no-group',
      access: { outcome: 'success', copy: { freshness: 'fresh', ageMs: 0 } },
    })
    expect(sites.requests).toHaveLength(4)
  })

  test('with whenUnreachable: disallow, everything is disallowed in spite of a copy', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, noRules, { status: 503 })
    const clock = startClock()
    const client = newClient({ now: clock.now, whenUnreachable: 'disallow' })
    expect(await client.check(sites.withPort(checkedPage))).toMatchObject({ allowed: true })
    clock.advance(DAY)
    expect(await client.check(sites.withPort(checkedPage))).toMatchObject({
      allowed: false,
      because: 'unreachable',
      access: { copy: undefined },
    })
  })

  test.for([
    ['29 days without a copy: disallowed', {}, undefined, 29, { allowed: false, because: 'unreachable' }],
    ['30 days without a copy: allowed', {}, undefined, 30, { allowed: true, because: 'unreachable-too-long' }],
    ['30 days with a copy: the copy', {}, rules, 30, { allowed: false, because: 'rule' }],
    [
      '30 days with a copy, or unavailable',
      { thenAssume: 'unavailable' },
      rules,
      30,
      { allowed: true, because: 'unreachable-too-long' },
    ],
    ['our choice, afterDays: 3', { afterDays: 3 }, undefined, 3, { allowed: true, because: 'unreachable-too-long' }],
    [
      'our choice, afterDays: Infinity',
      { afterDays: Number.POSITIVE_INFINITY },
      undefined,
      40,
      { allowed: false, because: 'unreachable' },
    ],
  ] as const)('%s', async ([, options, first, days, expected], { sites, newClient }) => {
    sites.respond(ROBOTS, ...(first === undefined ? [] : [first]), { status: 500 })
    const clock = startClock()
    const client = newClient({ ...options, now: clock.now })
    const ask = () => client.check(sites.withPort(checkedPage))
    if (first !== undefined) await ask()
    await unreachableFor(days, clock, ask)
    expect(await ask()).toMatchObject({ ...expected, access: { outcome: 'unreachable' } })
  })
})

describe('our choice, maxCacheBytes', () => {
  test('counts everything that a site can make long, such as the URLs of redirects', async ({ sites, newClient }) => {
    const client = newClient({ maxCacheBytes: 100_000 })
    const urls = ['a', 'b', 'c'].map((name) => `http://${name}.test:PORT`)
    for (const url of urls) {
      const hops = ['robots.txt', 1, 2, 3, 4, 5].map((n) => (n === 'robots.txt' ? n : `${n}${'x'.repeat(10_000)}`))
      for (const [n, hop] of hops.entries()) {
        sites.respond(`${url}/${hop}`, n < 5 ? { status: 302, headers: { location: `/${hops[n + 1]}` } } : noRules)
      }
    }
    const requests = counter(sites)
    for (const url of urls) await client.check(sites.withPort(`${url}/page`))
    expect(requests()).toBe(18)
    await client.check(sites.withPort(checkedPage)) // the second and third took its place
    expect(requests()).toBe(6)
  })

  test.for([
    ['the file', (text: string) => ({ ...noRules, body: `#${text}` })],
    ['its rules', (text: string) => ({ ...noRules, body: `User-agent: *\nDisallow: /${text}` }), 2],
    ['ETag', (text: string) => ({ ...noRules, headers: { etag: `"${text}"` } })],
    ['Last-Modified', (text: string) => ({ ...noRules, headers: { 'last-modified': text } })],
  ] as const)('counts what a site can make long: %s', async ([, answer, times = 1], { sites, newClient }) => {
    const memoryOf = async (text: string) => {
      sites.respond(ROBOTS, answer(text))
      const client = newClient()
      await client.check(sites.withPort(checkedPage))
      return client.gauges.memoryBytes
    }
    expect((await memoryOf('x'.repeat(10_001))) - (await memoryOf('x'))).toBe(times * 10_000)
  })

  test('counts the valid response that an entry keeps after a failed early refresh', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, noRules)
    const client = newClient()
    await client.check(sites.withPort(checkedPage))
    const entry = JSON.parse([...client.export()].join('')) as Entry
    const { latest } = entry
    const failed = {
      ...entry,
      latest: { ...latest, kind: 'unreachable', at: latest.at + 1 } as const,
      unreachableSince: latest.at + 1,
      failures: 1,
    }
    const memoryOf = async (url: string) => {
      const other = newClient()
      const held = { attempt: { ...latest, url }, until: entry.nextAttemptAt }
      expect(await other.import([`${entryText({ ...failed, held })}\n`])).toMatchObject({ taken: 1 })
      return other.gauges.memoryBytes
    }
    expect((await memoryOf(`${latest.url}?${'x'.repeat(100_000)}`)) - (await memoryOf(latest.url))).toBe(100_001)
  })

  const hosts = Array.from('abcdefghij', (name) => `http://${name}.test:PORT/page`)

  test('an entry over the size limit is cached alone', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const client = newClient({ maxCacheBytes: 1 })
    const requests = counter(sites)
    for (let i = 0; i < 3; i++) expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(false)
    expect(requests()).toBe(1)
    await client.check(sites.withPort('http://b.test:PORT/page'))
    await client.check(sites.withPort(checkedPage))
    expect(requests()).toBe(2)
  })

  test('the least recently used origin is evicted first', async ({ sites, newClient }) => {
    const client = newClient({ maxCacheBytes: 5_000 })
    const requests = counter(sites)
    for (const url of hosts) await client.check(sites.withPort(url))
    expect(requests()).toBe(hosts.length)
    await client.check(sites.withPort(hosts.at(-1) ?? ''))
    expect(requests()).toBe(0)
    await client.check(sites.withPort(hosts[0] ?? ''))
    expect(requests()).toBe(1)
  })

  test('a large file evicts many small ones', async ({ sites, newClient }) => {
    sites.respond('http://j.test:PORT/robots.txt', { status: 200, body: `${'#'.repeat(99)}\n`.repeat(1_000) })
    const client = newClient({ maxCacheBytes: 500_000 })
    const requests = counter(sites)
    for (const url of [...hosts, ...hosts]) await client.check(sites.withPort(url))
    expect(requests()).toBe(hosts.length) // all of them fit

    const smaller = newClient({ maxCacheBytes: 50_000 })
    for (const url of [...hosts, ...hosts]) await smaller.check(sites.withPort(url))
    expect(requests()).toBe(2 * hosts.length) // the large one drove out all others, and the first of them drove it out
  })
})
