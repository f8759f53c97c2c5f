// The pace limits of a site (request-rate, visit-time, 429) and the option `paceBy`. The fields are
// extensions (RFC 9309 section 2.2.4). How the gate applies them is our choice.
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { PoliteGateOptions } from '../src/index.ts'
import type { PaceBy } from '../src/pace/pacing-options.ts'
import { simulate } from './simulation.ts'

const HOUR = 3_600_000
const noon = Date.UTC(2026, 0, 1, 12)

describe('request-rate', () => {
  test('spreads requests over the period', async () => {
    const { starts, enter, advance } = await simulate({ 'a.test': 'Request-rate: 5/10s' }, { minDelayMs: 0 })
    for (const name of 'abc') void enter(name, 'a.test').then((one) => one.release())
    await advance(10_000)
    expect(starts).toEqual([
      ['a', 0],
      ['b', 2_000],
      ['c', 4_000],
    ])
  })

  test('applies only at its time of day', async () => {
    const { starts, enter, advance } = await simulate(
      { 'a.test': 'Crawl-delay: 1\nRequest-rate: 1/1m 1200-1300' },
      { at: noon + HOUR - 30_000 },
    )
    const permits = [...'abc'].map(async (name) => {
      const one = await enter(name, 'a.test')
      one.release()
      return one.delay
    })
    await advance(60_000)
    // The delay of a minute ends with the hours of the request-rate.
    expect(starts).toEqual([
      ['a', 0],
      ['b', 30_000],
      ['c', 31_000],
    ])
    expect(await Promise.all(permits)).toEqual([
      { delayMs: 30_000, because: 'request-rate' },
      { delayMs: 1_000, because: 'own-delay' },
      { delayMs: 1_000, because: 'own-delay' },
    ])
  })

  test('is shortened by maxDelayMs, like a crawl-delay', async () => {
    const { enter } = await simulate({ 'a.test': 'Request-rate: 1/1h' }, { maxDelayMs: 5_000 })
    expect((await enter('a', 'a.test')).delay).toEqual({ delayMs: 5_000, because: 'cap' })
  })
})

describe('visit-time', () => {
  test('delays requests until the hours begin, and `when` says so', async () => {
    const { gate, site, starts, enter, advance } = await simulate({ 'a.test': 'Visit-time: 0600-0845' }, { at: noon })
    expect(await gate.when(site.at('a.test', '/page'))).toMatchObject({
      allowed: true,
      at: noon + 18 * HOUR,
      waitMs: 18 * HOUR,
      because: 'visit-time',
    })
    const waiting = enter('a', 'a.test')
    await advance(18 * HOUR - 1)
    expect(starts).toEqual([])
    await advance(1)
    expect(starts).toEqual([['a', 18 * HOUR]])
    expect((await waiting).waitedFor).toBe('visit-time')
  })

  test('is not shortened by maxDelayMs, and its waiting requests do not count towards maxConcurrent', async () => {
    const { starts, enter, advance } = await simulate(
      { 'a.test': 'Visit-time: 0600-0845', 'b.test': '' },
      { at: noon, maxDelayMs: 10, maxConcurrent: 1 },
    )
    void enter('a', 'a.test')
    await advance(5)
    void enter('b', 'b.test')
    await advance(5)
    expect(starts).toEqual([['b', 5]])
  })

  test('delays the rest of the queue until the next day when the hours end', async () => {
    const { starts, enter, advance } = await simulate(
      { 'a.test': 'Crawl-delay: 60\nVisit-time: 1200-1202' },
      { at: noon },
    )
    for (const name of 'abc') void enter(name, 'a.test').then((one) => one.release())
    await advance(24 * HOUR)
    expect(starts).toEqual([
      ['a', 0],
      ['b', 60_000],
      ['c', 24 * HOUR],
    ])
  })
})

describe('a burst of 429', () => {
  test('from requests that were under way together counts as one step of the backoff', async () => {
    const { starts, enter, advance } = await simulate({ 'a.test': '' }, { minDelayMs: 0, maxConcurrentPerKey: 10 })
    const busy = { status: 429, headers: {} }
    const permits = await Promise.all([...'abcdef'].map((name) => enter(name, 'a.test')))
    for (const one of permits) {
      one.release(busy)
      await advance(10)
      if (one === permits[0]) void enter('next', 'a.test')
    }
    await advance(4_939)
    expect(starts.length).toBe(6)
    await advance(1)
    expect(starts.at(-1)).toEqual(['next', 5_000])
  })

  test('changes the pace when the headers are reported, not only at the end', async () => {
    const { starts, enter, advance } = await simulate({ 'a.test': '' }, { minDelayMs: 100 })
    const first = await enter('a', 'a.test')
    void enter('b', 'a.test')
    await advance(50)
    first.report({ status: 429, headers: { 'retry-after': '10' } })
    await advance(10_000)
    first.release({ status: 429, headers: { 'retry-after': '10' } }) // has no further effect
    expect(starts.at(-1)).toEqual(['b', 10_050])
  })
})

describe('paceBy', () => {
  const names = [
    'a.example.com',
    'b.example.com',
    'a.example.co.uk',
    'b.example.co.uk',
    'x.github.io',
    'y.github.io',
    'lone',
  ]
  const addresses: Record<string, string[]> = {
    'a.example.com': ['127.0.0.9', '127.0.0.1'],
    'b.example.co.uk': ['127.0.0.1', '127.0.0.9'],
    'x.github.io': ['127.0.0.2'],
  }
  const resolve: NonNullable<PoliteGateOptions['lookup']> = (host, _, done) => {
    const found = addresses[host]
    if (found)
      done(
        null,
        found.map((address) => ({ address, family: 4 })),
      )
    else done(new Error('ENOTFOUND'), [])
  }

  /** Returns the pace keys of requests for these URLs. robots.txt allows all of them. */
  async function keysOf(paceBy: PaceBy, urls: readonly string[]): Promise<string[]> {
    const { gate, robots, advance } = await simulate(
      {},
      { paceBy, lookup: resolve, minDelayMs: 0, maxConcurrentPerKey: 10 },
    )
    vi.spyOn(robots, 'check').mockImplementation(async (url) => {
      const { href, origin } = new URL(String(url))
      return { url: href, origin, allowed: true, because: 'no-rule', crawlDelayMs: undefined } as never
    })
    const keys: string[] = []
    for (const url of urls) {
      const one = await gate.enter(url)
      keys.push(gate.queues()[0]?.key ?? '')
      one.release()
    }
    await advance()
    return keys
  }
  afterEach(() => {
    vi.restoreAllMocks()
  })

  test('origin: scheme, host and port; host: the host alone', async () => {
    const urls = ['http://a.test/1', 'https://a.test/2', 'http://a.test:8080/3', 'http://[::1]:8080/']
    expect(await keysOf('origin', urls)).toEqual([
      'http://a.test',
      'https://a.test',
      'http://a.test:8080',
      'http://[::1]:8080',
    ])
    expect(await keysOf('host', urls)).toEqual(['a.test', 'a.test', 'a.test', '[::1]'])
  })

  test('domain: uses only the ICANN section of the Public Suffix List', async () => {
    const urls = [...names, '127.0.0.1'].map((name) => `http://${name}/`)
    expect(await keysOf('domain', urls)).toEqual([
      'example.com',
      'example.com',
      'example.co.uk',
      'example.co.uk',
      'github.io',
      'github.io',
      'lone',
      '127.0.0.1',
    ])
  })

  test('address: uses the first in alphabetical order; a host without an address is its own key', async () => {
    const urls = ['a.example.com', 'b.example.co.uk', 'x.github.io', 'lone', '127.0.0.2', '[::1]'].map(
      (name) => `http://${name}/`,
    )
    expect(await keysOf('address', urls)).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.2', 'lone', '127.0.0.2', '::1'])
  })

  test('address: a lookup can be aborted and closed; a failed lookup is not cached', async () => {
    const pendingLookups: (() => void)[] = []
    const slow: NonNullable<PoliteGateOptions['lookup']> = (_host, _, done) => {
      pendingLookups.push(() => done(new Error('ENOTFOUND'), []))
    }
    const { gate, site, advance } = await simulate({ 'a.test': '' }, { paceBy: 'address', lookup: slow })
    const reason = new Error('enough')
    const controller = new AbortController()
    const gone = expect(gate.enter(site.at('a.test'), { signal: controller.signal })).rejects.toBe(reason)
    await advance()
    controller.abort(reason)
    await gone
    pendingLookups.pop()?.()
    await advance()
    const second = gate.enter(site.at('a.test'))
    await advance()
    expect(pendingLookups.length).toBe(1) // looked up once more
    pendingLookups.pop()?.()
    ;(await second).release()
    const waiting = [gate.enter(site.at('a.test')), gate.when(site.at('a.test'))].map((one) =>
      expect(one).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' }),
    )
    await advance()
    gate.close()
    await Promise.all(waiting)
    await gate.drain()
  })

  test('domain: hosts of one domain share a pace, and each has the delay that it asks for', async () => {
    const { gate, starts, enter, advance } = await simulate(
      { 'slow.one.test': 'Crawl-delay: 5', 'fast.one.test': '', 'fast.two.test': '' },
      { paceBy: 'domain', minDelayMs: 1_000 },
    )
    expect(gate.queues()).toEqual([])
    for (const host of ['slow.one.test', 'fast.one.test', 'slow.one.test', 'fast.two.test'])
      void enter(host, host).then((one) => one.release())
    await advance(10_000)
    expect(starts).toEqual([
      ['slow.one.test', 0],
      ['fast.two.test', 0],
      ['fast.one.test', 5_000],
      ['slow.one.test', 6_000],
    ])
  })
})
