// The states of an origin over time, with a fake clock and a real server.
// core/test/access-states.test.ts tests every transition; these tests check that the client follows
// them.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { startClock } from '@politely/testkit/clock'
import { lookupIn } from '@politely/testkit/servers/lookup'
import type { Reply } from '@politely/testkit/servers/sites'
import { Agent } from 'undici'
import { describe, expect, onTestFinished } from 'vitest'
import type { Inspection, RobotsClientOptions } from '../src/index.ts'
import { test } from './with-sites.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const ROBOTS = 'http://a.test:PORT/robots.txt'
const ELSEWHERE = 'http://b.test:PORT/robots.txt'

const rules: Reply = { status: 200, body: disallowsPage, headers: { etag: '"1"' } }
const others: Reply = { status: 200, body: 'User-agent: *\nDisallow: /other\n', headers: { etag: '"2"' } }
const unchanged: Reply = { status: 304 }
const gone: Reply = { status: 404 }
const down: Reply = { status: 500 }
const busy: Reply = { status: 503 }
const busyFor = (retryAfter: string): Reply => ({ status: 503, headers: { 'retry-after': retryAfter } })
const movedTo = (location: string): Reply => ({ status: 301, headers: { location } })

/**
 * Milliseconds after the previous step, the server's response from then on, the expected state and
 * verdict, and the requests of this step: two if a 4xx repeats a conditional one.
 */
type Step = readonly [afterMs: number, answer: Reply, state: string, allowed: boolean, requests?: 0 | 1 | 2]
type StateCase = readonly [name: string, steps: readonly Step[], options?: Partial<RobotsClientOptions>]

const stateCases: readonly StateCase[] = [
  [
    'RFC 9309 §2.4, fresh until the last moment, then fetched again',
    [
      [0, rules, 'rules', false],
      [DAY - 1, gone, 'rules', false, 0],
      [1, gone, 'unavailable', true, 2],
    ],
  ],
  [
    'RFC 9111 §4.3.3, a revalidation renews the freshness',
    [
      [0, rules, 'rules', false],
      [DAY, unchanged, 'rules', false],
      [DAY - 1, down, 'rules', false, 0],
      [1, down, 'lost-with-copy', false],
    ],
  ],
  [
    'RFC 9309 §2.3.1.4, unreachable, and then reachable again',
    [
      [0, down, 'lost', false],
      [MINUTE - 1, others, 'lost', false, 0],
      [1, others, 'rules', true],
    ],
  ],
  [
    'RFC 9309 §2.4, unreachable with a copy, which is then revalidated',
    [
      [0, rules, 'rules', false],
      [DAY, down, 'lost-with-copy', false],
      [MINUTE, down, 'lost-with-copy', false],
      [2 * MINUTE - 1, unchanged, 'lost-with-copy', false, 0],
      [1, unchanged, 'rules', false],
      [DAY - 1, gone, 'rules', false, 0],
    ],
  ],
  [
    'RFC 9309 §2.3.1.4, 30 days without a copy, and unreachable again after a response',
    [
      [0, down, 'lost', false],
      ...Array.from({ length: 5 }, (): Step => [5 * DAY, down, 'lost', false]),
      [5 * DAY, down, 'long-lost', true],
      [HOUR, gone, 'unavailable', true],
      [DAY, down, 'lost', false],
    ],
  ],
  [
    'RFC 9309 §2.3.1.4, 30 days with a copy',
    [
      [0, rules, 'rules', false],
      [DAY, down, 'lost-with-copy', false],
      ...Array.from({ length: 5 }, (): Step => [5 * DAY, down, 'lost-with-copy', false]),
      [5 * DAY, down, 'long-lost-with-copy', false],
      [HOUR, others, 'rules', true],
    ],
  ],
  [
    'our choice, two failures a year apart do not count as a year',
    [
      [0, down, 'lost', false],
      [365 * DAY, down, 'lost', false],
    ],
  ],
  [
    'our choice, two failures before and after a jump of the clock do not count either',
    [
      [0, down, 'lost', false],
      [31 * DAY, down, 'lost', false],
      [-31 * DAY, down, 'lost', false],
      [31 * DAY, down, 'lost', false],
    ],
  ],
  [
    'our choice, each failure doubles the wait, up to an hour, and a response resets it',
    [
      [0, down, 'lost', false],
      ...[1, 2, 4, 8, 16, 32, 60, 60].flatMap((minutes): Step[] => [
        [minutes * MINUTE - 1, down, 'lost', false, 0],
        [1, down, 'lost', false],
      ]),
      [HOUR, gone, 'unavailable', true],
      [DAY, down, 'lost', false],
      [MINUTE, gone, 'unavailable', true],
    ],
  ],
  [
    'Google, half the wait after a 503',
    [
      [0, busy, 'lost', false],
      [30 * SECOND - 1, busy, 'lost', false, 0],
      [1, busy, 'lost', false],
      [MINUTE, gone, 'unavailable', true],
    ],
  ],
  [
    'RFC 9110 §10.2.3, Retry-After in seconds',
    [
      [0, busyFor('600'), 'lost', false],
      [10 * MINUTE - 1, gone, 'lost', false, 0],
      [1, gone, 'unavailable', true],
    ],
  ],
  [
    'RFC 9110 §10.2.3, Retry-After as a date',
    [
      [0, busyFor('Thu, 01 Jan 2026 02:00:00 GMT'), 'lost', false],
      [2 * HOUR - 1, gone, 'lost', false, 0],
      [1, gone, 'unavailable', true],
    ],
  ],
  [
    'our choice, Retry-After in the past means a minute',
    [
      [0, busyFor('Thu, 01 Jan 1970 00:00:00 GMT'), 'lost', false],
      [MINUTE - 1, gone, 'lost', false, 0],
      [1, gone, 'unavailable', true],
    ],
  ],
  [
    'our choice, a huge Retry-After means a week, in which the copy applies',
    [
      [0, rules, 'rules', false],
      [DAY, busyFor('9'.repeat(300)), 'lost-with-copy', false],
      [7 * DAY - 1, gone, 'lost-with-copy', false, 0],
      [1, gone, 'unavailable', true, 2],
    ],
  ],
  [
    'RFC 9309 §2.3.1.3, a 4xx removes the rules, and a success brings new ones',
    [
      [0, rules, 'rules', false],
      [DAY, gone, 'unavailable', true, 2],
      [DAY, rules, 'rules', false],
      [DAY, others, 'rules', true],
    ],
  ],
  [
    'RFC 9309 §2.3.1.4, removed rules do not return when the site goes down',
    [
      [0, rules, 'rules', false],
      [DAY, gone, 'unavailable', true, 2],
      [DAY, busy, 'lost', false],
    ],
  ],
  [
    'draft of 2019, §2.3.1.3, after a 4xx the copy applies until it is a day old',
    [
      [0, rules, 'rules', false],
      [HOUR, gone, 'unavailable-with-copy', false, 2],
      [23 * HOUR - 1, gone, 'unavailable-with-copy', false, 2],
      [1, gone, 'unavailable', true, 0],
    ],
    { dialect: 'draft-koster-rep-00', ttlMs: HOUR },
  ],
  [
    'draft of 1996, §3.1, 401 restricts the site, and a later failure disallows everything',
    [
      [0, { status: 401 }, 'restricted', false],
      [7 * DAY, down, 'lost', false],
      [400 * DAY, down, 'lost', false],
      [HOUR, gone, 'unavailable', true],
    ],
    { dialect: 'koster-1996' },
  ],
  [
    'our choice, a clock set back: the client fetches again, and the response applies',
    [
      [0, rules, 'rules', false],
      [-HOUR, others, 'rules', true],
      [DAY - 1, gone, 'rules', true, 0],
      [1, gone, 'unavailable', true, 2],
    ],
  ],
  [
    'our choice, a clock set back without a response: the age of the copy is unknown',
    [
      [0, rules, 'rules', false],
      [-HOUR, down, 'lost-with-copy', false],
      [MINUTE, others, 'rules', true],
    ],
  ],
]

describe('timelines', () => {
  test.for(stateCases)('%s', async ([, steps, options], { sites, newClient }) => {
    const clock = startClock()
    const client = newClient({ ...options, now: clock.now })
    const url = sites.withPort(checkedPage)
    for (const [i, [afterMs, answer, state, allowed, requests = 1]] of steps.entries()) {
      clock.advance(afterMs)
      sites.respond(ROBOTS, answer)
      const before = sites.requests.length
      const verdict = await client.check(url)
      const { state: now, why } = (await client.inspect(url)) as Inspection
      const seen = { step: i, allowed: verdict.allowed, state: now, requests: sites.requests.length - before }
      expect(seen, why).toEqual({ step: i, allowed, state, requests })
      expect(await client.isAllowed(url)).toBe(allowed)
    }
  })

  test('our choice, isAllowed after the clock was set back', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules, others)
    const clock = startClock()
    const client = newClient({ now: clock.now })
    const allowed = []
    for (let hour = 0; hour < 3; hour++) {
      allowed.push(await client.isAllowed(sites.withPort(checkedPage)))
      clock.advance(-HOUR)
    }
    expect(allowed).toEqual([false, true, true])
    expect(sites.requestedUrls).toEqual([ROBOTS, ROBOTS, ROBOTS])
  })

  test('RFC 9110 §13.1, a redirect whose target changes: the condition is not sent to another URL', async ({
    sites,
    newClient,
  }) => {
    const third = 'http://c.test:PORT/robots.txt'
    sites.respond(ROBOTS, movedTo(ELSEWHERE), movedTo(third), others)
    sites.respond(ELSEWHERE, rules)
    sites.respond(third, { ...rules, headers: { etag: '"3"' } })
    const clock = startClock()
    const client = newClient({ now: clock.now })
    const allowed = []
    for (let day = 0; day < 3; day++) {
      allowed.push(await client.isAllowed(sites.withPort(checkedPage)))
      clock.advance(DAY)
    }
    expect(allowed).toEqual([false, false, true])
    expect(sites.requestedUrls).toEqual([ROBOTS, ELSEWHERE, ROBOTS, third, ROBOTS])
    for (const { headers } of sites.requests) expect(headers).not.toHaveProperty('if-none-match')
  })

  test('our choice, inspect lists the attempts, the latest first', async ({ sites, newClient }) => {
    const clock = startClock()
    const client = newClient({ now: clock.now })
    const url = sites.withPort(checkedPage)
    const answers = [rules, gone, down, busy, (socket) => socket.destroy(), rules] satisfies Parameters<
      typeof sites.respond
    >[1][]
    for (const answer of answers) {
      sites.respond(ROBOTS, answer)
      await client.check(url)
      clock.advance(DAY)
    }
    const { attempts } = (await client.inspect(url)) as Inspection
    expect(attempts.map(({ kind, status }) => [kind, status])).toEqual([
      ['success', 200],
      ['unreachable', undefined],
      ['unreachable', 503],
      ['unreachable', 500],
      ['unavailable', 404],
    ])
    expect(attempts.map(({ at }) => (clock.now() - at) / DAY)).toEqual([1, 2, 3, 4, 5])
  })
})

describe('our choice, refreshAheadMs', () => {
  const options = { refreshAheadMs: HOUR }

  test('no check waits for it, it runs once, and its response applies', async ({ sites, newClient }) => {
    const held = Promise.withResolvers<Reply>()
    sites.respond(ROBOTS, rules, held.promise)
    const clock = startClock()
    const client = newClient({ ...options, now: clock.now })
    const url = sites.withPort(checkedPage)
    await client.check(url)
    clock.advance(23 * HOUR - 1)
    await client.check(url)
    expect(client.counters.refreshesAhead).toBe(0)
    clock.advance(1)
    const answers = await Promise.all(Array.from({ length: 100 }, () => client.isAllowed(url)))
    expect(new Set(answers)).toEqual(new Set([false]))
    expect(await client.inspect(url)).toMatchObject({ flight: 'under-way', state: 'rules' })
    await sites.requested(2)
    expect(await client.isAllowed(url)).toBe(false) // the response has not arrived
    const fetched = new Promise((resolve) => client.events.once('fetch', resolve))
    held.resolve(others)
    await fetched
    expect(await client.isAllowed(url)).toBe(true)
    expect(sites.requests).toHaveLength(2)
    expect(client.counters).toMatchObject({ refreshesAhead: 1, fetches: 2, waits: 1, questions: 104 })
  })

  test('if the entry becomes stale before the new response, a check waits for the same flight', async ({
    sites,
    newClient,
  }) => {
    const held = Promise.withResolvers<Reply>()
    sites.respond(ROBOTS, rules, held.promise)
    const clock = startClock()
    const client = newClient({ ...options, now: clock.now })
    const url = sites.withPort(checkedPage)
    await client.check(url)
    clock.advance(DAY - 1)
    expect(await client.isAllowed(url)).toBe(false)
    clock.advance(1)
    const late = client.isAllowed(url)
    await sites.requested(2)
    held.resolve(others)
    expect(await late).toBe(true)
    expect(sites.requests).toHaveLength(2)
  })

  test('a failure leaves the entry valid to its end, and is repeated after growing waits', async ({
    sites,
    newClient,
  }) => {
    sites.respond(ROBOTS, rules, down)
    const clock = startClock()
    const client = newClient({ ...options, now: clock.now })
    const url = sites.withPort(checkedPage)
    await client.check(url)
    clock.advance(23 * HOUR)
    const failed = async (waitMs: number) => {
      const event = new Promise((resolve) => client.events.once('fetch', resolve))
      expect(await client.check(url)).toMatchObject({
        allowed: false,
        access: { outcome: 'success', copy: { freshness: 'fresh' } },
      })
      expect(await event).toMatchObject({ from: 'rules', to: 'rules', entry: { latest: { kind: 'unreachable' } } })
      await nextTurn() // the flight ends after its event
      const count = sites.requests.length
      clock.advance(waitMs - 1)
      expect(await client.check(url)).toMatchObject({ access: { outcome: 'success', nextAttemptAt: clock.now() + 1 } })
      expect(await client.inspect(url)).toMatchObject({ state: 'rules', flight: 'none' })
      expect(sites.requests).toHaveLength(count)
      clock.advance(1)
    }
    for (const minutes of [1, 2, 4, 8, 16]) await failed(minutes * MINUTE)
    // The next attempt fails too, and its wait extends beyond the freshness of the entry.
    const last = new Promise((resolve) => client.events.once('fetch', resolve))
    await client.check(url)
    await last
    await nextTurn()
    clock.advance(29 * MINUTE)
    expect(await client.check(url)).toMatchObject({
      allowed: false,
      access: { outcome: 'unreachable', status: 500, copy: { freshness: 'stale', ageMs: DAY } },
    })
    expect(await client.inspect(url)).toMatchObject({ state: 'lost-with-copy', failures: 6, flight: 'none' })
    expect(client.counters).toMatchObject({ refreshesAhead: 6, unreachable: 6, waits: 1 })
  })
})

describe('our choice, the response at the end of a redirect is also saved for the target’s origin', () => {
  const asked = (url: string) => url.replace('robots.txt', 'page')

  test.for<readonly [name: string, target: string, answer: Reply, requests: number]>([
    ['saves a file', ELSEWHERE, rules, 0],
    ['saves a 404', ELSEWHERE, gone, 0],
    ['does not save the response of a URL with a query', `${ELSEWHERE}?v=1`, rules, 1],
    ['does not save the response of a URL with an empty query', `${ELSEWHERE}?`, rules, 1],
    ['does not save the response of another path', 'http://b.test:PORT/x/robots.txt', rules, 1],
    ['does not save the response of a path in another case', 'http://b.test:PORT/Robots.txt', rules, 1],
    ['does not save a failure', ELSEWHERE, down, 1],
    ['does not save a redirect without a usable Location', ELSEWHERE, { status: 301 }, 1],
  ])('%s', async ([, target, answer, requests], { sites, newClient }) => {
    sites.respond(ROBOTS, movedTo(target))
    sites.respond(target, answer)
    const client = newClient()
    await client.check(sites.withPort(asked(ROBOTS)))
    const before = sites.requests.length
    const verdict = await client.check(sites.withPort(asked(ELSEWHERE)))
    expect(sites.requests.length - before).toBe(requests)
    expect(client.counters.reusedRedirects).toBe(1 - requests)
    if (requests === 0)
      expect(verdict).toMatchObject({ access: { hops: [], status: answer.status, url: sites.withPort(ELSEWHERE) } })
  })

  test('a caller that changes what it was given changes nothing in the cache', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, movedTo(ELSEWHERE))
    sites.respond(ELSEWHERE, rules)
    const client = newClient()
    const url = sites.withPort(asked(ROBOTS))
    await client.check(url)
    const before = JSON.stringify([(await client.check(url)).because, await client.inspect(url)])
    const verdict = await client.check(url)
    if ('access' in verdict && verdict.access) (verdict.access.hops as unknown[]).length = 0
    const inspection = await client.inspect(url)
    if ('attempts' in inspection) Object.assign(inspection.attempts[0] ?? {}, { kind: 'unavailable', hops: [] })
    expect(JSON.stringify([(await client.check(url)).because, await client.inspect(url)])).toBe(before)
  })

  test('saves the response only for the last origin of the chain', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, movedTo(ELSEWHERE))
    sites.respond(ELSEWHERE, movedTo('http://c.test:PORT/robots.txt'))
    sites.respond('http://c.test:PORT/robots.txt', rules)
    const client = newClient()
    await client.check(sites.withPort(asked(ROBOTS)))
    expect(await client.inspect(sites.withPort(asked(ELSEWHERE)))).toMatchObject({ state: 'unknown' })
    expect(await client.inspect(sites.withPort('http://c.test:PORT/'))).toMatchObject({ state: 'rules' })
  })

  test('the headers of the target decide how long the response is fresh', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, { status: 301, headers: { location: ELSEWHERE, 'cache-control': 'max-age=60' } })
    sites.respond(ELSEWHERE, { ...rules, headers: { 'cache-control': 'max-age=7200' } })
    const clock = startClock()
    const client = newClient({ now: clock.now })
    await client.check(sites.withPort(asked(ROBOTS)))
    expect(await client.inspect(sites.withPort(asked(ELSEWHERE)))).toMatchObject({
      nextAttemptAt: clock.now() + 2 * HOUR,
    })
  })

  test('does not replace a fresh entry, but a stale or failed one', async ({ sites, newClient }) => {
    const clock = startClock()
    const client = newClient({ now: clock.now })
    const redirectAfter = async (answer: Reply) => {
      sites.respond(ELSEWHERE, answer)
      sites.respond(ROBOTS, { ...movedTo(ELSEWHERE) })
      await client.check(sites.withPort(asked(ROBOTS)))
      return (await client.inspect(sites.withPort(asked(ELSEWHERE)))) as Inspection
    }
    sites.respond(ELSEWHERE, rules)
    await client.check(sites.withPort(asked(ELSEWHERE)))
    clock.advance(HOUR)
    expect(await redirectAfter(gone)).toMatchObject({ state: 'rules' })
    clock.advance(DAY)
    expect(await redirectAfter(gone)).toMatchObject({ state: 'unavailable', attempts: [{ at: clock.now() }, {}] })
    clock.advance(DAY)
    sites.respond(ELSEWHERE, down)
    await client.check(sites.withPort(asked(ELSEWHERE)))
    clock.advance(1)
    expect(await redirectAfter(rules)).toMatchObject({ state: 'rules', attempts: [{ at: clock.now() }, {}, {}, {}] })
    expect(client.counters.reusedRedirects).toBe(2)
  })

  test('a redirect from a public to a private address saves nothing and sends no request', async ({
    sites,
    newClient,
  }) => {
    const dispatcher = new Agent({ connect: { lookup: lookupIn({ 'www.example.com': '127.0.0.1' }) } })
    onTestFinished(() => dispatcher.destroy())
    const literal = 'http://127.0.0.1:PORT/robots.txt'
    sites.respond('http://www.example.com:PORT/robots.txt', movedTo(literal))
    sites.respond(literal, { status: 200, body: 'User-agent: *\nAllow: /\n' })
    const client = newClient({ dispatcher })
    expect(await client.check(sites.withPort('http://www.example.com:PORT/'))).toMatchObject({
      access: { outcome: 'unreachable', reason: 'blocked-address' },
    })
    expect(await client.inspect(sites.withPort('http://127.0.0.1:PORT/'))).toMatchObject({ state: 'unknown' })
    expect(client.gauges).toMatchObject({ origins: 1 })
    expect(sites.requestedUrls).toEqual(['http://www.example.com:PORT/robots.txt'])
  })

  test('does not save during a flight of the target’s origin, whose response is newer', async ({
    sites,
    newClient,
  }) => {
    const slow = Promise.withResolvers<Reply>()
    sites.respond(ROBOTS, movedTo(ELSEWHERE))
    sites.respond(ELSEWHERE, slow.promise, rules)
    const client = newClient()
    const own = client.check(sites.withPort(asked(ELSEWHERE)))
    await sites.requested(1)
    await client.check(sites.withPort(asked(ROBOTS)))
    expect(client.counters.reusedRedirects).toBe(0)
    slow.resolve(others)
    expect(await own).toMatchObject({ allowed: true })
    expect(await client.isAllowed(sites.withPort(asked(ELSEWHERE)))).toBe(true)
  })
})
