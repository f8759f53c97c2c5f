// @module-tag timers
// When the gate starts a request: delays, order, concurrency limits, pushbacks, aborts. RFC 9309
// does not regulate any of this.
//
// robots.txt comes from a real server. After that no socket is needed. Timers and clock are
// simulated, so delays are exact: by the gate's own clock, no request starts a millisecond early or
// late.
import { getEventListeners } from 'node:events'
import { RobotsClient } from '@politely/fetcher'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Permit, PoliteGate, type PoliteGateOptions } from '../src/index.ts'
import type { ResponseLike } from '../src/permit/request-report.ts'
import { listenTo } from './listen.ts'
import { lookup, type Page, Site, until } from './site.ts'

const USER_AGENT = 'ExampleBot/1.0 (+https://example.com/bot)'
const DELAYS: Readonly<Record<string, string>> = {
  'none.test': '',
  'other.test': '',
  'third.test': '',
  'twentieth.test': 'Crawl-delay: 0.05',
  'half.test': 'Crawl-delay: 0.5',
  'two.test': 'Crawl-delay: 2',
  'minute.test': 'Crawl-delay: 60',
  'month.test': `Crawl-delay: ${30 * 24 * 3600}`,
  'never.test': `Crawl-delay: ${'9'.repeat(400)}`,
}

let site: Site
let robots: RobotsClient
const url = (host: string) => site.at(host, '/page')

beforeAll(async () => {
  site = await Site.open(
    Object.fromEntries(Object.entries(DELAYS).map(([host, line]) => [host, `User-agent: *\n${line}\n`])),
  )
  robots = new RobotsClient({ userAgent: USER_AGENT, lookup, network: 'any' })
  await Promise.all(Object.keys(DELAYS).map((host) => robots.check(url(host))))
})
afterAll(async () => {
  await robots.close()
  await site.close()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Creates a gate on simulated time, and a log of the requests that start. */
function simulate(options: Omit<PoliteGateOptions, 'robots'> = {}) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  const gate = new PoliteGate({ robots, now: () => Date.now(), ...options })
  const start = Date.now()
  const starts: [name: string, atMs: number][] = []
  /** Enters the gate. Adds the request to `starts` when it starts. */
  const enter = async (name: string, host: string, signal?: AbortSignal): Promise<Permit> => {
    const permit = await gate.enter(url(host), signal && { signal })
    starts.push([name, Date.now() - start])
    return permit
  }
  /** Enters the gate, and releases the permit at once. */
  const visit = async (name: string, host: string, response?: ResponseLike): Promise<Permit> => {
    const permit = await enter(name, host)
    permit.release(response)
    return permit
  }
  /** Advances the simulated time. Without a number, only runs what can run now. */
  const advance = (ms = 0) => vi.advanceTimersByTimeAsync(ms)
  return { gate, starts, enter, visit, advance }
}

const saying = (status: number, retryAfter?: string): ResponseLike => ({
  status,
  headers: new Headers(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
})

describe('the delay between two requests to one origin', () => {
  test('is the crawl-delay; requests start in order of arrival', async () => {
    const { starts, visit, advance } = simulate({ minDelayMs: 0 })
    const all = ['a', 'b', 'c', 'd', 'e'].map((name) => visit(name, 'two.test'))
    await advance(7_999)
    expect(starts).toEqual([
      ['a', 0],
      ['b', 2_000],
      ['c', 4_000],
      ['d', 6_000],
    ])
    await advance(1)
    expect(starts.at(-1)).toEqual(['e', 8_000])
    const waited = (await Promise.all(all)).map(({ waitedMs }) => waitedMs)
    expect(waited).toEqual([0, 2_000, 4_000, 6_000, 8_000])
  })

  test('is not saved up if no request uses it', async () => {
    const { starts, visit, advance } = simulate({ minDelayMs: 0 })
    await visit('a', 'two.test')
    await advance(60_000)
    void visit('b', 'two.test')
    void visit('c', 'two.test')
    await advance(1_999)
    expect(starts).toEqual([
      ['a', 0],
      ['b', 60_000],
    ])
    await advance(1)
    expect(starts.at(-1)).toEqual(['c', 62_000])
  })

  test('counts from the start of a request, however long the request takes', async () => {
    const { starts, enter, advance } = simulate({ minDelayMs: 0 })
    const first = await enter('a', 'two.test')
    void enter('b', 'two.test')
    await advance(1_500)
    first.release()
    await advance(500)
    expect(starts).toEqual([
      ['a', 0],
      ['b', 2_000],
    ])
  })

  test('does not delay other origins', async () => {
    const { starts, visit, advance } = simulate({ minDelayMs: 0, maxConcurrent: 1 })
    for (const name of ['slow 1', 'slow 2']) void visit(name, 'minute.test')
    for (const name of ['fast 1', 'fast 2', 'fast 3']) void visit(name, 'half.test')
    await advance(1_000)
    expect(starts).toEqual([
      ['slow 1', 0],
      ['fast 1', 0],
      ['fast 2', 500],
      ['fast 3', 1_000],
    ])
    await advance(59_000)
    expect(starts.at(-1)).toEqual(['slow 2', 60_000])
  })

  test.each([
    ['is one second by default', {}, 'none.test', 1_000, 'own-delay'],
    ['is at least minDelayMs', { minDelayMs: 700 }, 'half.test', 700, 'own-delay'],
    ['is the crawl-delay if that is longer', { minDelayMs: 700 }, 'two.test', 2_000, 'crawl-delay'],
    ['is at most maxDelayMs', { minDelayMs: 0, maxDelayMs: 1_200 }, 'two.test', 1_200, 'cap'],
    [
      'is not changed by a maxDelayMs that is not reached',
      { minDelayMs: 0, maxDelayMs: 1_200 },
      'half.test',
      500,
      'crawl-delay',
    ],
    ['is not below the default of minDelayMs if maxDelayMs is smaller', { maxDelayMs: 500 }, 'two.test', 1_000, 'cap'],
    ['a cap is for the site, not for your own delay', { maxDelayMs: 500 }, 'none.test', 1_000, 'own-delay'],
    ['is at most maxDelayMs for an infinite crawl-delay', { maxDelayMs: 5_000 }, 'never.test', 5_000, 'cap'],
  ] as const)('%s', async (_, options, host, delayMs, because) => {
    const { starts, visit, advance } = simulate(options)
    const first = await visit('a', host)
    expect(first.delay).toEqual({ delayMs, because })
    void visit('b', host)
    await advance(delayMs - 1)
    expect(starts).toEqual([['a', 0]])
    await advance(1)
    expect(starts).toEqual([
      ['a', 0],
      ['b', delayMs],
    ])
  })

  test('is 0 if neither the caller nor the site asks for one', async () => {
    const { starts, visit, advance } = simulate({ minDelayMs: 0, maxConcurrentPerKey: 100 })
    for (let n = 0; n < 100; n++) void visit(String(n), 'none.test')
    await advance()
    expect(starts.map(([name]) => name)).toEqual([...Array(100).keys()].map(String))
  })

  test('may be longer than the maximum of a timer', async () => {
    const { starts, visit, advance } = simulate()
    const month = 30 * 24 * 3600 * 1000
    await visit('a', 'month.test')
    void visit('b', 'month.test')
    await advance(month - 1)
    expect(starts).toEqual([['a', 0]])
    await advance(1)
    expect(starts).toEqual([
      ['a', 0],
      ['b', month],
    ])
  })

  test('is measured by the clock, not by the timer', async () => {
    const { starts, gate, visit, advance } = simulate({ now: () => Date.now() / 2 })
    void visit('a', 'two.test')
    void visit('b', 'two.test')
    await advance(3_999)
    expect(starts).toEqual([['a', 0]])
    await advance(1)
    expect(starts).toEqual([
      ['a', 0],
      ['b', 4_000],
    ])
    gate.close()
  })

  test('is kept if the process is stopped between the slot of a request and its start', async () => {
    // The clock jumps at each reading until a request starts. It goes on at the next turn of the
    // event loop.
    let aheadMs = 0
    let isStopped = true
    const now = () => {
      if (isStopped) aheadMs += 100
      return Date.now() + aheadMs
    }
    const { visit, advance, gate } = simulate({ minDelayMs: 0, now })
    const starts: number[] = []
    const stop = listenTo('politely:gate:start', gate, ({ at }) => {
      starts.push(at)
      isStopped = false
      setTimeout(() => (isStopped = true), 0)
    })
    const visits = Array.from({ length: 5 }, (_, n) => visit(`${n}`, 'twentieth.test'))
    await advance(1_000)
    await Promise.all(visits)
    stop()
    gate.close()
    const gaps = starts.slice(1).map((at, n) => at - (starts[n] as number))
    expect(starts).toHaveLength(5)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(50)
  })

  test('is kept on the default clock', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const gate = new PoliteGate({ robots, minDelayMs: 0 })
    const start = performance.now()
    const starts: number[] = []
    for (let n = 0; n < 3; n++) {
      void gate.enter(url('half.test')).then((permit) => {
        starts.push(performance.now() - start)
        permit.release()
      })
    }
    await vi.advanceTimersByTimeAsync(1_001)
    expect(starts).toHaveLength(3)
    for (const [n, at] of starts.entries()) expect(at).toBeGreaterThanOrEqual(500 * n)
  })
})

describe('the concurrency limits', () => {
  test('default to two requests to one origin', async () => {
    const { starts, enter, advance } = simulate({ minDelayMs: 0 })
    const [first] = [enter('a', 'none.test'), enter('b', 'none.test'), enter('c', 'none.test'), enter('d', 'none.test')]
    await advance(60_000)
    expect(starts.map(([name]) => name)).toEqual(['a', 'b'])
    ;(await first)?.release()
    await advance()
    expect(starts.map(([name]) => name)).toEqual(['a', 'b', 'c'])
  })

  test('are never exceeded, for one origin and in all', async () => {
    const { gate, advance } = simulate({ minDelayMs: 0, maxConcurrentPerKey: 3, maxConcurrent: 5 })
    const hosts = ['none.test', 'other.test', 'third.test']
    const underWay = new Map(hosts.map((host) => [host, 0]))
    let most = 0
    let mostOfOne = 0
    let done = 0
    const visit = async (host: string, takesMs: number) => {
      const permit = await gate.enter(url(host))
      underWay.set(host, (underWay.get(host) ?? 0) + 1)
      most = Math.max(
        most,
        [...underWay.values()].reduce((sum, count) => sum + count),
      )
      mostOfOne = Math.max(mostOfOne, ...underWay.values())
      await new Promise((over) => setTimeout(over, takesMs))
      underWay.set(host, (underWay.get(host) ?? 0) - 1)
      permit.release(saying(200))
      done++
    }
    for (let n = 0; n < 300; n++) void visit(hosts[n % hosts.length] ?? '', 10 + ((n * 7) % 23))
    await advance(10_000)
    expect({ done, most, mostOfOne }).toEqual({ done: 300, most: 5, mostOfOne: 3 })
  })

  test('let origins take turns, so that one with many waiting requests does not block the others', async () => {
    const { starts, enter, advance } = simulate({ minDelayMs: 0, maxConcurrent: 1 })
    const visit = async (name: string, host: string) => {
      const ticket = await enter(name, host)
      await new Promise((over) => setTimeout(over, 10))
      ticket.release()
    }
    for (let n = 0; n < 5; n++) void visit('A', 'none.test')
    for (let n = 0; n < 3; n++) void visit('B', 'other.test')
    void visit('C', 'third.test')
    await advance(1_000)
    expect(starts.map(([name]) => name).join('')).toBe('AABCABABA')
  })

  test('do not count an origin that only waits for its delay', async () => {
    const { starts, enter, visit, advance } = simulate({ minDelayMs: 0, maxConcurrent: 1 })
    const first = await enter('two 1', 'two.test')
    void visit('two 2', 'two.test')
    void visit('half', 'half.test')
    await advance(100)
    first.release()
    await advance(1_900)
    expect(starts).toEqual([
      ['two 1', 0],
      ['half', 100],
      ['two 2', 2_000],
    ])
  })
})

describe('a pushback', () => {
  test.each([
    ['429 with seconds', saying(429, '30'), 30_000],
    ['503 with seconds', saying(503, '30'), 30_000],
    ['does not shorten the delay', saying(429, '1'), 2_000],
    ['without Retry-After lasts five seconds', saying(429), 5_000],
    ['with an invalid Retry-After lasts five seconds', saying(503, 'soon'), 5_000],
    ['with a Retry-After of zero lasts five seconds', saying(503, '0'), 5_000],
    ['with a Retry-After in the past lasts five seconds', saying(429, 'Sun, 06 Nov 1994 08:49:37 GMT'), 5_000],
    ['with headers as an object', { status: 429, headers: { 'retry-after': '30' } }, 30_000],
    ['with headers as in undici', { status: 429, headers: { 'retry-after': ['30'] } }, 30_000],
    ['as a Response of fetch', new Response(null, { status: 429, headers: { 'retry-after': '30' } }), 30_000],
    ['with any status lasts as long as Retry-After says', saying(500, '30'), 30_000],
    ['with status 430 lasts five seconds', saying(430), 5_000],
    ['with status 529 lasts five seconds', saying(529), 5_000],
    ['needs one of these statuses or Retry-After: 500 has no effect', saying(500), 2_000],
    ['needs one of these statuses or Retry-After: 200 has no effect', saying(200), 2_000],
    ['needs a response', undefined, 2_000],
  ] as const)('%s', async (_, response, pauseMs) => {
    const { starts, visit, advance } = simulate()
    await visit('a', 'two.test', response)
    void visit('b', 'two.test')
    await advance(pauseMs - 1)
    expect(starts).toEqual([['a', 0]])
    await advance(1)
    expect(starts).toEqual([
      ['a', 0],
      ['b', pauseMs],
    ])
  })

  test('with a date in Retry-After counts from now by the gate’s clock', async () => {
    const { starts, visit, advance } = simulate()
    vi.setSystemTime(Date.UTC(2026, 10, 20, 12, 0, 0))
    await visit('a', 'none.test', saying(503, 'Fri, 20 Nov 2026 12:01:30 GMT'))
    const since = Date.now()
    void visit('b', 'none.test')
    await advance(89_999)
    expect(starts).toHaveLength(1)
    await advance(1)
    expect(starts).toHaveLength(2)
    expect(Date.now() - since).toBe(90_000)
  })

  test('without Retry-After doubles the delay up to five minutes; another response resets it', async () => {
    const { starts, visit, advance } = simulate()
    const pushedBack = Array(8).fill(429)
    for (const status of [...pushedBack, 200, 429, 404, 503, 200]) void visit('', 'none.test', saying(status))
    await advance(2_000_000)
    const pauses = starts.slice(1).map(([, atMs], n) => (atMs - (starts[n]?.[1] ?? 0)) / 1_000)
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 1, 5, 1, 5])
  })

  test('applies to requests that wait already, and to that origin only', async () => {
    const { starts, enter, visit, advance } = simulate({ minDelayMs: 100 })
    const first = await enter('a', 'none.test')
    void visit('b', 'none.test')
    void visit('c', 'none.test')
    void visit('other', 'other.test')
    await advance(50)
    first.release(saying(429, '10'))
    await advance(10_099)
    expect(starts).toEqual([
      ['a', 0],
      ['other', 0],
      ['b', 10_050],
    ])
    await advance(51)
    expect(starts.at(-1)).toEqual(['c', 10_150])
  })

  test('does not shorten a longer one', async () => {
    const { starts, enter, visit, advance } = simulate({ minDelayMs: 0 })
    const [first, second] = [await enter('a', 'none.test'), await enter('b', 'none.test')]
    first.release(saying(429, '60'))
    second.release(saying(429, '10'))
    void visit('c', 'none.test')
    await advance(59_999)
    expect(starts).toHaveLength(2)
    await advance(1)
    expect(starts.at(-1)).toEqual(['c', 60_000])
  })
})

describe('release', () => {
  test('has no effect the second time', async () => {
    const { starts, enter, advance } = simulate({ minDelayMs: 0, maxConcurrentPerKey: 1 })
    const first = await enter('a', 'none.test')
    void enter('b', 'none.test')
    void enter('c', 'none.test')
    first.release()
    first.release(saying(429, '60'))
    first[Symbol.dispose]()
    await advance()
    expect(starts).toEqual([
      ['a', 0],
      ['b', 0],
    ])
  })

  test('is called at the end of `using`', async () => {
    const { starts, enter, advance } = simulate({ minDelayMs: 0, maxConcurrentPerKey: 1 })
    const first = await enter('a', 'none.test')
    void enter('b', 'none.test')
    first[Symbol.dispose]()
    await advance()
    expect(starts).toEqual([
      ['a', 0],
      ['b', 0],
    ])
  })

  test('throws for an invalid response, and releases the permit all the same', async () => {
    const { starts, enter, advance } = simulate({ minDelayMs: 0, maxConcurrentPerKey: 1 })
    const first = await enter('a', 'none.test')
    void enter('b', 'none.test')
    expect(() => first.release({ status: 200 } as unknown as ResponseLike)).toThrow(TypeError)
    first.release()
    await advance()
    expect(starts).toEqual([
      ['a', 0],
      ['b', 0],
    ])
  })
})

describe('an abort', () => {
  test('before the call rejects with the signal’s reason, without a fetch of robots.txt', async () => {
    const reason = new Error('not today')
    const fetches = site.robotsFetches
    const gate = new PoliteGate({ robots })
    await expect(gate.enter(url('unasked.test'), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(site.robotsFetches).toBe(fetches)
  })

  test.each([
    [
      'the first who waits',
      0,
      [
        ['a', 0],
        ['c', 2_000],
        ['d', 4_000],
      ],
    ],
    [
      'one in the middle',
      1,
      [
        ['a', 0],
        ['b', 2_000],
        ['d', 4_000],
      ],
    ],
    [
      'the last',
      2,
      [
        ['a', 0],
        ['b', 2_000],
        ['c', 4_000],
      ],
    ],
  ] as const)('of %s rejects with the reason, and the next request starts', async (_, which, expected) => {
    const { starts, enter, visit, advance } = simulate()
    await visit('a', 'two.test')
    const controllers = ['b', 'c', 'd'].map((name) => {
      const controller = new AbortController()
      return { controller, promise: enter(name, 'two.test', controller.signal) }
    })
    await advance(500)
    const reason = new Error('enough')
    const outcome = expect(controllers[which]?.promise).rejects.toBe(reason)
    controllers[which]?.controller.abort(reason)
    await outcome
    await advance(100_000)
    expect(starts).toEqual(expected)
  })

  test('without a reason rejects with an AbortError', async () => {
    const { enter, visit, advance } = simulate()
    await visit('a', 'two.test')
    const controller = new AbortController()
    const outcome = expect(enter('b', 'two.test', controller.signal)).rejects.toMatchObject({ name: 'AbortError' })
    await advance(1)
    controller.abort()
    await outcome
  })

  test('of all requests leaves no timer and no listener', async () => {
    const { gate, visit, enter, advance } = simulate()
    await visit('a', 'two.test')
    const controller = new AbortController()
    const { signal } = controller
    const outcomes = Promise.allSettled([1, 2, 3].map((n) => enter(String(n), 'two.test', signal)))
    await advance(1)
    expect(vi.getTimerCount()).toBe(1)
    controller.abort()
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(vi.getTimerCount()).toBe(0)
    expect(getEventListeners(signal, 'abort')).toEqual([])
    gate.close()
  })

  test('after the request has ended finds no listener', async () => {
    const { visit, gate, advance } = simulate({ minDelayMs: 0 })
    const { signal } = new AbortController()
    for (let n = 0; n < 20; n++) (await gate.enter(url('none.test'), { signal })).release()
    await visit('', 'none.test')
    await advance()
    expect(getEventListeners(signal, 'abort')).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('after the permit was granted, and before the caller gets it, cancels the permit', async () => {
    const { starts, enter, advance } = simulate({ minDelayMs: 0, maxConcurrentPerKey: 1 })
    const first = await enter('a', 'none.test')
    const controller = new AbortController()
    const second = expect(enter('b', 'none.test', controller.signal)).rejects.toMatchObject({ name: 'AbortError' })
    void enter('c', 'none.test')
    await advance()
    first.release() // starts b …
    controller.abort() // … which is aborted before its caller gets the permit
    await second
    await advance()
    expect(starts.map(([name]) => name)).toEqual(['a', 'c'])
  })
})

describe('close', () => {
  test('rejects waiting requests and later ones, and clears the timers', async () => {
    const { gate, visit, enter, advance } = simulate()
    await visit('a', 'two.test')
    const { signal } = new AbortController()
    const waiting = Promise.allSettled([enter('b', 'two.test'), enter('c', 'two.test', signal)])
    await advance(1)
    gate.close()
    for (const outcome of await waiting) {
      expect(outcome).toMatchObject({ reason: { name: 'GateClosedError', code: 'ERR_POLITELY_GATE_CLOSED' } })
      expect(outcome).toMatchObject({
        reason: { message: expect.stringContaining('await the requests that still run before close()') },
      })
    }
    await expect(gate.enter(url('two.test'))).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
    expect(vi.getTimerCount()).toBe(0)
    expect(getEventListeners(signal, 'abort')).toEqual([])
    gate.close()
  })

  test('rejects requests that wait for robots.txt, and does not close the RobotsClient', async () => {
    let requested = () => {}
    const asking = new Promise<void>((resolve) => {
      requested = resolve
    })
    site.robots.set('mute.test', () => requested())
    const own = new RobotsClient({ userAgent: USER_AGENT, lookup, network: 'any' })
    const gate = new PoliteGate({ robots: own })
    const outcome = expect(gate.enter(url('mute.test'))).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
    await asking
    gate.close()
    await outcome
    expect(await own.isAllowed(url('none.test'))).toBe(true)
    await own.close()
  })

  test('keeps granted permits valid: they can be released', async () => {
    const { gate, enter } = simulate()
    const first = await enter('a', 'none.test')
    gate.close()
    expect(() => first.release(saying(429))).not.toThrow()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('of the RobotsClient rejects later requests with its own code', async () => {
    const own = new RobotsClient({ userAgent: USER_AGENT, lookup, network: 'any' })
    const gate = new PoliteGate({ robots: own })
    await own.close()
    await expect(gate.enter(url('none.test'))).rejects.toMatchObject({ code: 'ERR_POLITELY_CLIENT_CLOSED' })
  })
})

describe('a change of robots.txt while requests wait', () => {
  /**
   * Serves a robots.txt that changes after an hour. The clock of the RobotsClient is set by the
   * test.
   */
  async function changing(name: string, before: string) {
    const host = `${name}.test`
    site.robots.set(host, before)
    let now = 0
    const own = new RobotsClient({ userAgent: USER_AGENT, lookup, network: 'any', ttlMs: 3_600_000, now: () => now })
    await own.check(url(host))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const gate = new PoliteGate({ robots: own, minDelayMs: 1_000, now: () => Date.now() })
    const start = Date.now()
    const change = (after: string | Page) => {
      site.robots.set(host, after)
      now += 3_600_000
    }
    const at = (path: string) => site.at(host, path)
    const visit = async (path: string) => {
      const permit = await gate.enter(at(path))
      permit.release()
      return [Date.now() - start, permit.delay.delayMs]
    }
    return { gate, at, change, visit, end: () => own.close() }
  }

  test('rejects a request that has become disallowed, and uses no slot for it', async () => {
    const { change, visit, end } = await changing('strict', '')
    await visit('/1')
    const second = expect(visit('/2')).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED' })
    const third = visit('/3')
    change('User-agent: *\nDisallow: /2\n')
    await vi.advanceTimersByTimeAsync(1_000)
    await second
    expect(await third).toEqual([1_000, 1_000])
    await end()
  })

  test('applies a new crawl-delay to requests that wait already', async () => {
    const { change, visit, end } = await changing('slower', '')
    const permits = [visit('/1'), visit('/2'), visit('/3')]
    expect(await permits[0]).toEqual([0, 1_000])
    change('User-agent: *\nCrawl-delay: 60\n')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await permits[1]).toEqual([1_000, 60_000])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await permits[2]).toEqual([61_000, 60_000])
    await end()
  })

  test('is fetched once, and the requests keep their delay', async () => {
    const { change, visit, end } = await changing('sleepy', '')
    await visit('/1')
    const permits = [visit('/2'), visit('/3')]
    let respond = () => {}
    change((_, response) => {
      respond = () => void response.end('')
    })
    const fetches = site.robotsFetches
    await vi.advanceTimersByTimeAsync(1_000)
    await until(() => site.robotsFetches > fetches)
    await vi.advanceTimersByTimeAsync(5_000)
    respond()
    expect(await permits[0]).toEqual([6_000, 1_000])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await permits[1]).toEqual([7_000, 1_000])
    expect(site.robotsFetches).toBe(fetches + 1)
    await end()
  })

  test('does not undo a pushback that arrives during the fetch', async () => {
    const { gate, change, visit, end, at } = await changing('strained', '')
    const first = await gate.enter(at('/1'))
    const permits = [visit('/2'), visit('/3')]
    let respond = () => {}
    change((_, response) => {
      respond = () => void response.end('')
    })
    const fetches = site.robotsFetches
    await vi.advanceTimersByTimeAsync(1_000)
    await until(() => site.robotsFetches > fetches)
    first.release(saying(429, '60'))
    respond()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await permits[0]).toEqual([61_000, 1_000])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await permits[1]).toEqual([62_000, 1_000])
    await end()
  })
})

describe('memory', () => {
  test('evicts origins without a request under way or a delay to keep', async () => {
    const many = new RobotsClient({ userAgent: USER_AGENT, lookup, network: 'any' })
    const manyUrls = [...Array(100).keys()].map((n) => url(`many${n}.test`))
    await Promise.all(manyUrls.map((each) => many.check(each)))
    for (const host of ['none.test', 'other.test', 'third.test']) await many.check(url(host))

    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const gate = new PoliteGate({ robots: many, now: () => Date.now(), maxConcurrentPerKey: 1 })
    const visit = async (each: string, response?: ResponseLike) => (await gate.enter(each)).release(response)
    const held = await gate.enter(url('third.test'))
    await visit(url('none.test'), saying(429)) // a delay of 5 s, then stored for 5 more minutes
    await vi.advanceTimersByTimeAsync(310_000)
    await visit(url('other.test'), saying(429))
    await vi.advanceTimersByTimeAsync(10_000)
    for (const each of manyUrls) await visit(each) // each reservation checks two keys for eviction

    /**
     * The delay after a 429 without Retry-After. It grows from one to the next as long as the
     * origin is stored.
     */
    const pauseOf = async (host: string) => {
      await visit(url(host), saying(429))
      const start = Date.now()
      let end = 0
      void visit(url(host)).then(() => {
        end = Date.now()
      })
      await vi.advanceTimersByTimeAsync(60_000)
      return end - start
    }
    const blocked = gate.enter(url('third.test'))
    await vi.advanceTimersByTimeAsync(60_000)
    held.release() // it still counted towards maxConcurrent
    expect((await blocked).waitedMs).toBe(60_000)
    expect(await pauseOf('other.test')).toBe(10_000) // the second 429 in a row
    expect(await pauseOf('none.test')).toBe(5_000) // evicted, so it counts as the first again
    await many.close()
  })
})
