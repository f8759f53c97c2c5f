// What the desk answers, by a clock that the test sets.
import { describe, expect, test, vi } from 'vitest'
import { applyReport, renew } from '../src/permits/reports.ts'
import type { Tenant } from '../src/tenants.ts'
import { deskKit, permitOf, shown, ticketOf } from './kit.ts'

const HOUR = 3_600_000
const SLOW = 'User-agent: *\nDisallow: /private\nCrawl-delay: 2'

describe('a batch of URLs', () => {
  test('gets permits, waits and refusals', async () => {
    const { ask } = await deskKit(SLOW)
    const results = await ask(['/a', '/b', '/private', 'bad:'])
    expect(results.map(shown)).toEqual(['go', 'wait 2100 crawl-delay', 'refused rule', 'refused invalid-url'])
  })

  test('waits for a robots.txt that is not known, and for no other URL', async () => {
    const { ask, gate, site } = await deskKit(SLOW)
    await gate.robots.forget(site.origin)
    expect((await ask(['/a'])).map(shown)).toEqual(['wait 202 robots-txt'])
    await vi.waitFor(async () => expect((await ask(['/a'])).map(shown)).toEqual(['go']))
    expect(site.requests).toEqual(['/robots.txt', '/robots.txt'])
  })

  test('gets no more permits than the concurrency of a site', async () => {
    const { ask, desk, tenant } = await deskKit('', { minDelayMs: 0, maxConcurrentPerKey: 2 })
    const someone = tenant('a')
    const results = await ask(['/a', '/b', '/c'], { tenant: someone })
    expect(results.map(shown)).toEqual(['go', 'go', 'wait 100 concurrency'])
    expect(applyReport(desk, someone, { permit: permitOf(results[0]) }, HOUR)).toBe('done')
    expect((await ask([`/c ${ticketOf(results[2])}`], { tenant: someone })).map(shown)).toEqual(['go'])
  })
})

describe('tickets', () => {
  test('keep the order of arrival, once they have come back', async () => {
    const { ask, advance } = await deskKit(SLOW, { maxConcurrentPerKey: 9 })
    const [, b, c] = await ask(['/a', '/b', '/c'])
    expect([b, c].map(shown)).toEqual(['wait 2100 crawl-delay', 'wait 4100 crawl-delay'])
    await advance(1_000)
    const again = await ask([`/b ${ticketOf(b)}`, `/c ${ticketOf(c)}`])
    expect(again.map(shown)).toEqual(['wait 1100 crawl-delay', 'wait 3100 crawl-delay'])
    await advance(1_100)
    expect((await ask(['/d'])).map(shown)).toEqual(['wait 4000 queue'])
    expect((await ask([`/c ${ticketOf(c)}`])).map(shown)).toEqual(['wait 2000 queue'])
    expect((await ask([`/b ${ticketOf(b)}`])).map(shown)).toEqual(['go'])
    await advance(2_100)
    expect((await ask([`/c ${ticketOf(c)}`])).map(shown)).toEqual(['go'])
  })

  test('that are late lose their turn, and keep their place', async () => {
    const { ask, advance } = await deskKit(SLOW, { maxConcurrentPerKey: 9 })
    const [, b] = await ask(['/a', '/b'])
    await advance(2_100 + 101)
    expect((await ask(['/d'])).map(shown)).toEqual(['go'])
    await advance(2_100)
    expect((await ask([`/b ${ticketOf(b)}`])).map(shown)).toEqual(['go'])
  })

  test('that nobody brings back hold up nothing', async () => {
    const { ask, advance } = await deskKit(SLOW, { maxConcurrentPerKey: 99 })
    const starts: number[] = []
    for (let ms = 0; ms < 20_000; ms += 50, await advance(50)) {
      const [result] = await ask(['/a']) // a client that knows no tickets
      if (shown(result) === 'go') starts.push(ms)
    }
    const gaps = starts.slice(1).map((at, n) => at - (starts[n] as number))
    expect([gaps.length >= 8, Math.min(...gaps), Math.max(...gaps)]).toEqual([true, 2_100, 2_100])
  })

  test('that do not come back are dropped', async () => {
    const { ask, advance, desk } = await deskKit(SLOW)
    await ask(['/a', '/b', '/c'])
    expect(desk.waiting).toBe(2)
    await advance(70_000)
    expect(desk.waiting).toBe(0)
  })

  test('of another tenant, forged or of another kind are unknown, and change nothing', async () => {
    const { ask, tenant } = await deskKit(SLOW)
    const [go, wait] = await ask(['/a', '/b'])
    const forged = ticketOf(wait).replace(/^t2\./, 't2.x')
    const foreign = await ask([`/b ${ticketOf(wait)}`], { tenant: tenant('other') })
    expect([...foreign, ...(await ask([`/b ${forged}`, `/b ${permitOf(go)}`, '/b t.1.2.3.4']))].map(shown)).toEqual(
      Array(4).fill('unknown ticket'),
    )
  })

  test('of a client that has died hold up others for 5 s at most', async () => {
    const { ask, advance } = await deskKit(SLOW, { maxConcurrentPerKey: 99 })
    const many = await ask(Array(100).fill('/a'))
    await advance(1_000)
    await ask(many.slice(1).map((result) => `/a ${ticketOf(result)}`)) // its last call
    await advance(10_000)
    const [newcomer] = await ask(['/b'])
    expect(shown(newcomer)).toBe('go')
  })

  test('of another site are no tickets', async () => {
    const { ask, site } = await deskKit(SLOW)
    const [, b] = await ask(['/a', '/b'])
    const other = site.origin.replace('127.0.0.1', 'localhost')
    const requests = [{ url: `${other}/b`, ticket: ticketOf(b) }]
    const [unknown] = await ask([], { requests })
    expect(shown(unknown)).toMatch(/robots-txt/)
    const found = await vi.waitFor(async () => {
      const [result] = await ask([], { requests })
      if (shown(result).includes('robots-txt')) throw new Error('not yet')
      return result
    })
    expect(shown(found)).toBe('go')
  })

  test('used twice give one permit', async () => {
    const { ask, advance, desk } = await deskKit(SLOW, { maxConcurrentPerKey: 9 })
    const [, b] = await ask(['/a', '/b'])
    await advance(2_100)
    const both = await ask([`/b ${ticketOf(b)}`, `/b ${ticketOf(b)}`])
    expect(both.map(shown)).toEqual(['go', 'wait 2100 crawl-delay'])
    expect(desk.waiting).toBe(1)
    await advance(40_000)
    expect(desk.waiting).toBe(0)
  })

  test.each(['tenants', 'clients'])('let %s take turns, however many URLs one of them has', async (kind) => {
    const { ask, advance, tenant } = await deskKit(SLOW, { maxConcurrentPerKey: 99 })
    const [large, small] =
      kind === 'tenants'
        ? [{ tenant: tenant('large') }, { tenant: tenant('small') }]
        : [{ client: 'large' }, { client: 'small' }]
    const many = await ask(Array(50).fill('/a'), large)
    const asks = (n: number) => ask([`/a ${ticketOf(many[n])}`], large)
    expect(shown(many[0])).toBe('go')
    const [own] = await ask(['/b'], small)
    await advance(1_000)
    const again = await ask([`/b ${ticketOf(own)}`], small)
    for (const n of [1, 2]) await asks(n)
    expect(again.map(shown)).toEqual(['wait 3100 crawl-delay'])
    await advance(1_100)
    expect((await asks(1)).map(shown)).toEqual(['go'])
    await advance(2_000)
    expect((await asks(2)).map(shown)).toEqual(['wait 2100 crawl-delay'])
    await advance(100)
    expect((await asks(2)).map(shown)).toEqual(['wait 2000 queue'])
    expect((await ask([`/b ${ticketOf(own)}`], small)).map(shown)).toEqual(['go'])
    await advance(2_100)
    expect((await asks(2)).map(shown)).toEqual(['go'])
  })
})

test('many names of clients give a tenant no more turns', async () => {
  const { ask, advance, tenant } = await deskKit('', { minDelayMs: 1_000, maxConcurrentPerKey: 99 })
  const [many, one] = [tenant('many'), tenant('one')]
  let calls = 0
  /** Asks for one URL after another, and comes back when it shall. Returns how many have started. */
  const crawl = (owner: Tenant) => {
    let [go, askAt, ticket, client] = [0, 0, '', '']
    return async (now: number) => {
      if (now < askAt) return go
      if (ticket === '') client = owner === many ? `client-${++calls}` : 'client'
      const [result] = await ask([`/a${ticket && ` ${ticket}`}`], { tenant: owner, client })
      if (result?.state === 'go') go++
      askAt = result?.state === 'wait' ? now + result.waitMs : now
      ticket = result?.state === 'wait' ? ticketOf(result) : ''
      return go
    }
  }
  const crawls = [...Array.from({ length: 10 }, () => crawl(many)), crawl(one)]
  let started: number[] = []
  for (let now = 0; now < 40_000; now += 50) {
    started = []
    for (const step of crawls) started.push(await step(now))
    await advance(50)
  }
  expect(started.at(-1)).toBeGreaterThanOrEqual(15) // of about 38
})

describe('a held call', () => {
  test('returns when its URL may start, and says how long it was held', async () => {
    const { ask, advance, desk, tenant, site } = await deskKit(SLOW, { maxConcurrentPerKey: 9 })
    await ask(['/a'])
    const held = desk.grant({
      tenant: tenant('a'),
      mayReachPrivate: true,
      startWithinMs: 100,
      holdMs: 20_000,
      leaseMs: 60_000,
      signal: new AbortController().signal,
      requests: [{ url: `${site.origin}/b` }],
    })
    await advance(2_101)
    const { heldMs, results } = await held
    expect([heldMs >= 2_100 && heldMs <= 2_101, ...results.map(shown)]).toEqual([true, 'go'])
  })

  test('returns a wait when its time is over', async () => {
    const { ask, advance } = await deskKit(SLOW)
    await ask(['/a'])
    const held = ask(['/b'], { holdMs: 500 })
    await advance(500)
    expect((await held).map(shown)).toEqual(['wait 1600 crawl-delay'])
  })

  test('returns when another request has ended, if it waits for that', async () => {
    const { ask, advance, desk, tenant } = await deskKit('', { minDelayMs: 0, maxConcurrentPerKey: 1 })
    const someone = tenant('a')
    const [first] = await ask(['/a'], { tenant: someone })
    const held = ask(['/b'], { tenant: someone, holdMs: 20_000 })
    await advance(10)
    applyReport(desk, someone, { permit: permitOf(first) }, HOUR)
    await advance(0)
    expect((await held).map(shown)).toEqual(['go'])
  })

  test('ends when its connection is closed, without a permit', async () => {
    const { ask, advance } = await deskKit(SLOW, { maxConcurrentPerKey: 9 })
    await ask(['/a'])
    const gone = new AbortController()
    const held = ask(['/b'], { holdMs: 20_000, signal: gone.signal })
    await advance(1_000)
    gone.abort()
    expect((await held).map(({ state }) => state)).toEqual(['wait'])
  })
})

describe('the pace', () => {
  test('gives up what is left of the allowance when the client says when it has sent the request', async () => {
    const { ask, advance, desk, tenant } = await deskKit(SLOW, { maxConcurrentPerKey: 9 })
    const someone = tenant('a')
    const [go] = await ask(['/a'], { tenant: someone })
    await advance(30)
    applyReport(desk, someone, { permit: permitOf(go), sent_after_ms: 20, end: false }, HOUR)
    expect((await ask(['/b'], { tenant: someone })).map(shown)).toEqual(['wait 1990 crawl-delay'])
  })

  test('frees the slot of a request that was not sent', async () => {
    const { ask, desk, tenant } = await deskKit(SLOW)
    const someone = tenant('a')
    const [go] = await ask(['/a'], { tenant: someone })
    expect(applyReport(desk, someone, { permit: permitOf(go), outcome: 'not-sent' }, HOUR)).toBe('done')
    expect((await ask(['/b'], { tenant: someone })).map(shown)).toEqual(['go'])
  })

  test('keeps the time of Retry-After, up to a limit', async () => {
    const { ask, desk, tenant } = await deskKit(SLOW)
    const someone = tenant('a')
    const [go] = await ask(['/a'], { tenant: someone })
    applyReport(desk, someone, { permit: permitOf(go), status: 429, retry_after: '86400' }, HOUR)
    expect((await ask(['/b'], { tenant: someone })).map(shown)).toEqual([`wait ${HOUR} retry-after`])
  })

  test('tells URLs that wait already of a pause', async () => {
    const { ask, desk, tenant } = await deskKit(SLOW, { maxConcurrentPerKey: 9 })
    const someone = tenant('a')
    const [go, wait] = await ask(['/a', '/b'], { tenant: someone })
    applyReport(desk, someone, { permit: permitOf(go), status: 429, retry_after: 60 }, HOUR)
    expect((await ask([`/b ${ticketOf(wait)}`, '/c'], { tenant: someone })).map(shown)).toEqual([
      'wait 60000 retry-after',
      'wait 60000 retry-after',
    ])
  })

  test('keeps RateLimit headers and a page that asks for fewer requests', async () => {
    const { ask, desk, tenant } = await deskKit('', { minDelayMs: 0, rateLimitHeaders: true, maxConcurrentPerKey: 9 })
    const someone = tenant('a')
    const [go] = await ask(['/a'], { tenant: someone })
    const ratelimit = { 'ratelimit-remaining': '0', 'ratelimit-reset': '30', 'set-cookie': 'x' }
    applyReport(desk, someone, { permit: permitOf(go), status: 200, ratelimit }, HOUR)
    expect((await ask(['/b'], { tenant: someone })).map(shown)).toEqual(['wait 30000 rate-limit'])
  })
})

describe('a lease', () => {
  test('that is over frees its concurrency; a late report still counts', async () => {
    const { ask, advance, desk, tenant, expired } = await deskKit('', { minDelayMs: 0, maxConcurrentPerKey: 1 })
    const someone = tenant('a')
    const [go] = await ask(['/a'], { tenant: someone, leaseMs: 5_000 })
    await advance(4_990)
    expect((await ask(['/b'], { tenant: someone })).map(shown)).toEqual(['wait 100 concurrency'])
    await advance(20)
    expect(expired).toEqual(['expired'])
    const permit = permitOf(go)
    expect(await renew(desk, someone, permit, 5_000)).toBe('gone')
    expect(applyReport(desk, someone, { permit, status: 429, retry_after: 60, end: false }, HOUR)).toBe('counted')
    expect(applyReport(desk, someone, { permit, status: 429, retry_after: 900 }, HOUR)).toBe('repeated')
    expect(applyReport(desk, someone, { permit }, HOUR)).toBe('gone')
    expect((await ask(['/c'], { tenant: someone })).map(shown)).toEqual(['wait 60000 retry-after'])
  })

  test('can be renewed', async () => {
    const { ask, advance, desk, tenant, expired } = await deskKit('')
    const someone = tenant('a')
    const [go] = await ask(['/a'], { tenant: someone, leaseMs: 5_000 })
    await advance(4_000)
    expect(await renew(desk, someone, permitOf(go), 5_000)).toBe('done')
    await advance(4_000)
    expect(expired).toEqual([])
    await advance(2_000)
    expect(expired).toEqual(['expired'])
  })

  test('of another tenant is unknown', async () => {
    const { ask, desk, tenant } = await deskKit('')
    const [go] = await ask(['/a'], { tenant: tenant('a') })
    const other = tenant('b')
    const permit = permitOf(go)
    expect([applyReport(desk, other, { permit, status: 429 }, HOUR), await renew(desk, other, permit, 1_000)]).toEqual([
      'unknown',
      'unknown',
    ])
    expect(desk.leases.open).toBe(1)
  })
})

describe('a quota', () => {
  test('of permits, of permits a second, of a share and of waiting URLs', async () => {
    const { ask, tenant, advance } = await deskKit('', { minDelayMs: 0, maxConcurrentPerKey: 10 })
    const few = await ask(['/a', '/b', '/c'], { tenant: tenant('a', { permits: 2 }) })
    expect(few.map(shown)).toEqual(['go', 'go', 'full 1000 permits'])
    const rated = tenant('b', { perSecond: 0.5 })
    expect((await ask(['/a', '/b', '/c', '/d'], { tenant: rated })).map(shown)).toEqual([
      'go',
      'go',
      'go',
      'full 2000 rate',
    ])
    await advance(2_000)
    expect((await ask(['/d'], { tenant: rated })).map(shown)).toEqual(['go'])
    const shared = await ask(['/a', '/b'], { tenant: tenant('c', { share: 0.1 }) })
    expect(shared.map(shown)).toEqual(['go', 'full 1000 share'])
  })

  test('of waiting URLs', async () => {
    const { ask, tenant } = await deskKit(SLOW)
    const results = await ask(['/a', '/b', '/c'], { tenant: tenant('a', { waiting: 1 }) })
    expect(results.map(shown)).toEqual(['go', 'wait 2100 crawl-delay', 'full 1000 waiting'])
  })

  test('that is used up does not hold up other tenants', async () => {
    const { ask, advance, tenant } = await deskKit(SLOW, { maxConcurrentPerKey: 9 })
    const poor = tenant('poor', { permits: 1 })
    const [, wait] = await ask(['/a', '/b'], { tenant: poor })
    await advance(2_100)
    const [full] = await ask([`/b ${ticketOf(wait)}`], { tenant: poor })
    expect(shown(full)).toBe('full 1000 permits')
    expect((await ask(['/c'], { tenant: tenant('other') })).map(shown)).toEqual(['go'])
  })
})

test('a desk that drains grants nothing, and takes reports', async () => {
  const { ask, desk, tenant } = await deskKit('')
  const someone = tenant('a')
  const [go] = await ask(['/a'], { tenant: someone })
  desk.drain()
  expect((await ask(['/b'], { tenant: someone, holdMs: 20_000 })).map(shown)).toEqual(['wait 5000 draining'])
  expect(applyReport(desk, someone, { permit: permitOf(go), status: 200 }, HOUR)).toBe('done')
  expect(desk.leases.open).toBe(0)
})
