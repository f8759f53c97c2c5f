// @module-tag timers
// Single flight per origin, and limits on concurrent flights. All of it is our choice.
import { getEventListeners } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { startClock } from '@politely/testkit/clock'
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { firstInShortRun, sampled } from '@politely/testkit/scope'
import { lookupIn } from '@politely/testkit/servers/lookup'
import type { Reply } from '@politely/testkit/servers/sites'
import { describe, expect, onTestFinished, vi } from 'vitest'
import { Flights, type FlightWork } from '../src/cache/flights.ts'
import { RedirectLimits } from '../src/cache/redirect-limits.ts'
import { test } from './with-sites.ts'

const DAY = 86_400_000
const ROBOTS = 'http://a.test:PORT/robots.txt'
const rules: Reply = { status: 200, body: disallowsPage }
const closed = { code: 'ERR_POLITELY_CLIENT_CLOSED' }

/** Creates flights without a pace for redirects. */
function newFlights<T>(limits: ConstructorParameters<typeof Flights>[0]): Flights<T> {
  const redirectLimits = new RedirectLimits({ rulesOf: () => undefined, now: Date.now })
  redirectLimits.waitMs = () => 0
  return new Flights<T>(limits, redirectLimits)
}

/**
 * A server that responds only when the test calls `answer`. Counts the requests that wait, in all
 * and by registrable domain.
 * @param targetOf The host to which a host redirects its robots.txt at once, if it does.
 */
async function startSlowServer(targetOf: (host: string) => string | undefined = () => undefined) {
  const waiting: { readonly host: string; readonly response: ServerResponse }[] = []
  const order: string[] = []
  /** The hosts that redirected a request. */
  const redirects: string[] = []
  const most = { all: 0, domain: 0 }
  let arrived = Promise.withResolvers<void>()
  const domainOf = (host: string) => host.split('.').slice(-2).join('.')
  const server = createServer((request, response) => {
    const host = (request.headers.host ?? '').replace(/:\d+$/, '')
    const target = targetOf(host)
    if (target !== undefined) {
      redirects.push(host)
      response.writeHead(302, { location: `http://${target}:${request.socket.localPort}/of-${host}` }).end()
      return
    }
    waiting.push({ host, response })
    order.push(host)
    const counts = Map.groupBy(waiting, (one) => domainOf(one.host))
    most.all = Math.max(most.all, waiting.length)
    most.domain = Math.max(most.domain, ...[...counts.values()].map(({ length }) => length))
    arrived.resolve()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return {
    most,
    order,
    redirects,
    waiting,
    page: (host: string) => `http://${host}:${port}/page`,
    /** Resolves when `count` requests wait. */
    async received(count: number) {
      while (waiting.length < count) {
        await arrived.promise
        arrived = Promise.withResolvers()
      }
    },
    /** Responds to `count` requests, in order of arrival. */
    async answer(count: number) {
      for (let answered = 0; answered < count; ) {
        await this.received(1)
        const [first] = waiting.splice(0, 1)
        first?.response.end(disallowsPage)
        answered++
      }
    },
  }
}

// The first test: connections of other tests would leave timers, which it counts.
test('flights that take longer than 5 seconds do not keep other sites from starting theirs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const flights = newFlights<void>({ maxFlights: 4, maxFlightsPerDomain: 2 })
  const begun: string[] = []
  const ends: (() => void)[] = []
  const join = (host: string) =>
    flights.join(`http://${host}`, () => {
      begun.push(host)
      return new Promise<void>((end) => ends.push(end))
    })
  const hosts = ['1.a.test', '2.a.test', '3.a.test', '1.b.test', '2.b.test', 'honest.test', 'fine.test']
  const joined = hosts.map(join)
  expect(begun).toEqual(['1.a.test', '2.a.test', '1.b.test', '2.b.test'])
  await vi.advanceTimersByTimeAsync(4_999)
  expect(begun).toHaveLength(4)
  await vi.advanceTimersByTimeAsync(1)
  expect(begun.slice(4)).toEqual(['honest.test', 'fine.test'])
  expect([flights.underWay, flights.waiting]).toEqual([6, 1])
  for (const end of ends.splice(0)) end()
  await vi.advanceTimersByTimeAsync(0)
  expect(begun.at(-1)).toBe('3.a.test')
  ends[0]?.()
  await Promise.all(joined)
  expect([flights.underWay, flights.waiting, vi.getTimerCount()]).toEqual([0, 0, 0])
})

describe('one flight per origin', () => {
  test('a thousand simultaneous checks make one request', async ({ sites, newClient }) => {
    const held = Promise.withResolvers<Reply>()
    sites.respond(ROBOTS, held.promise)
    const client = newClient()
    const asked = Array.from({ length: 1_000 }, (_, i) =>
      client.isAllowed(sites.withPort(i % 2 ? checkedPage : `${checkedPage}/${i}/../../other`)),
    )
    await sites.requested(1)
    held.resolve(rules)
    const allowed = await Promise.all(asked)
    expect(allowed.filter((one) => !one)).toHaveLength(500)
    expect(sites.requestedUrls).toEqual([ROBOTS])
  })

  test('a thousand simultaneous checks of a stale origin make one request', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const clock = startClock()
    const client = newClient({ now: clock.now })
    await client.check(sites.withPort(checkedPage))
    clock.advance(DAY)
    await Promise.all(Array.from({ length: 100 }, () => client.check(sites.withPort(checkedPage))))
    expect(sites.requestedUrls).toEqual([ROBOTS, ROBOTS])
  })

  test('checks of other origins do not wait for it', async ({ sites, newClient }) => {
    const held = Promise.withResolvers<Reply>()
    sites.respond(ROBOTS, held.promise)
    const client = newClient()
    const waiting = client.isAllowed(sites.withPort(checkedPage))
    await sites.requested(1)
    expect(await client.isAllowed(sites.withPort('http://b.test:PORT/page'))).toBe(true)
    held.resolve(rules)
    expect(await waiting).toBe(false)
  })
})

describe('a thousand callers on one signal', () => {
  test('leave no listener, and cause no warning', async ({ sites, newClient }) => {
    const warnings: string[] = []
    const warn = ({ name }: Error) => void warnings.push(name)
    process.on('warning', warn)
    onTestFinished(() => void process.off('warning', warn))
    const held = Promise.withResolvers<Reply>()
    sites.respond(ROBOTS, held.promise)
    const client = newClient()
    const { signal } = new AbortController()
    const asked = Array.from({ length: 1_000 }, () => client.check(sites.withPort(checkedPage), { signal }))
    await sites.requested(1)
    held.resolve(rules)
    await Promise.all(asked)
    expect(getEventListeners(signal, 'abort')).toEqual([])
    await client.check(sites.withPort(checkedPage), { signal })
    expect(getEventListeners(signal, 'abort')).toEqual([])
    await new Promise((resolve) => setImmediate(resolve)) // warnings are emitted later
    expect(warnings).toEqual([])
  })

  test('can all abort at once, and leave no listener', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, () => undefined)
    const client = newClient()
    const controller = new AbortController()
    const asked = Array.from({ length: 1_000 }, () =>
      client.check(sites.withPort(checkedPage), { signal: controller.signal }),
    )
    await sites.requested(1)
    controller.abort()
    expect(new Set((await Promise.allSettled(asked)).map(({ status }) => status))).toEqual(new Set(['rejected']))
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })
})

describe('a flight that waits for others to end', () => {
  test('is dropped when all its callers have aborted, and never starts', async ({ newClient }) => {
    const server = await startSlowServer()
    const client = newClient({ maxFlights: 1 })
    const first = client.check(server.page('a.test'))
    const controller = new AbortController()
    const aborted = [1, 2].map(() => client.check(server.page('b.test'), { signal: controller.signal }))
    const other = client.check(server.page('c.test'))
    await server.received(1)
    expect(client.gauges).toMatchObject({ flightsUnderWay: 1, flightsWaiting: 2 })
    expect(await client.inspect(server.page('b.test'))).toMatchObject({ flight: 'waiting' })
    expect(await client.inspect(server.page('a.test'))).toMatchObject({ flight: 'under-way' })
    controller.abort(new Error('no longer needed'))
    for (const one of aborted) await expect(one).rejects.toThrow('no longer needed')
    expect(client.gauges).toMatchObject({ flightsUnderWay: 1, flightsWaiting: 1 })
    await server.answer(2)
    await Promise.all([first, other])
    expect(server.order).toEqual(['a.test', 'c.test'])
    expect(client.gauges).toMatchObject({ flightsUnderWay: 0, flightsWaiting: 0 })
  })

  test('continues for a caller that has not aborted, and for one that comes later', async ({ newClient }) => {
    const server = await startSlowServer()
    const client = newClient({ maxFlights: 1 })
    const first = client.check(server.page('a.test'))
    const controller = new AbortController()
    const aborted = client.check(server.page('b.test'), { signal: controller.signal })
    const staying = client.check(server.page('b.test'), { signal: new AbortController().signal })
    const gone = client.check(server.page('c.test'), { signal: controller.signal })
    const results = Promise.allSettled([aborted, gone])
    controller.abort()
    await results
    const back = client.check(server.page('c.test'))
    await server.answer(3)
    expect((await Promise.all([first, staying, back])).map(({ because }) => because)).toEqual(['rule', 'rule', 'rule'])
    expect(server.order).toEqual(['a.test', 'b.test', 'c.test'])
  })
})

describe('a flight that has made no request', () => {
  test('is dropped with its callers, and those that abort together start no other one', async ({ newClient }) => {
    const asked: string[] = []
    const get = (origin: string) => {
      asked.push(origin)
      return new Promise<undefined>(() => undefined)
    }
    const client = newClient({
      maxFlights: 1,
      store: { get, set: async () => undefined, delete: async () => undefined },
    })
    const controller = new AbortController()
    const { signal } = controller
    const aborted = Array.from({ length: 100 }, (_, i) => client.check(`http://h${i}.test/`, { signal }))
    const other = client.check('http://other.test/')
    const results = Promise.allSettled([...aborted, other])
    while (asked.length < 1) await new Promise((resolve) => setImmediate(resolve))
    controller.abort()
    while (asked.length < 2) await new Promise((resolve) => setImmediate(resolve))
    expect(asked).toEqual(['http://h0.test', 'http://other.test'])
    expect(client.gauges).toMatchObject({ flightsUnderWay: 1, flightsWaiting: 0 })
    await client.close()
    await results
  })
})

describe('flights ahead of time', () => {
  function startFlights(limits: { readonly maxFlights: number; readonly maxFlightsPerDomain: number }) {
    const flights = newFlights<void>(limits)
    const begun: string[] = []
    const ends: (() => void)[] = []
    const start = (origin: string) => () => {
      begun.push(origin)
      return new Promise<void>((end) => ends.push(end))
    }
    return {
      flights,
      begun,
      ahead: (origin: string) => void flights.startAhead(origin, start(origin)),
      join: (origin: string, signal?: AbortSignal) => flights.join(origin, start(origin), { signal }),
      async endFirst() {
        ends.shift()?.()
        await new Promise((resolve) => setImmediate(resolve))
      },
    }
  }

  test('start after all that a caller waits for; one that a caller joins is one of these', async () => {
    const { begun, ahead, join, endFirst } = startFlights({ maxFlights: 1, maxFlightsPerDomain: 1 })
    for (const name of ['a', 'b', 'c', 'd']) ahead(`http://${name}.test`)
    void join('http://e.test')
    void join('http://c.test')
    void join('http://f.test')
    for (let n = 0; n < 6; n++) await endFirst()
    expect(begun.map((origin) => origin.slice(7, 8)).join('')).toBe('aecfbd')
  })

  test('use the slots that no other flight may use, and count towards both limits', async () => {
    const { flights, begun, ahead, join, endFirst } = startFlights({ maxFlights: 3, maxFlightsPerDomain: 1 })
    ahead('http://x.a.test')
    void join('http://y.a.test')
    ahead('http://z.a.test')
    ahead('http://x.b.test')
    expect(begun).toEqual(['http://x.a.test', 'http://x.b.test'])
    expect([flights.underWay, flights.waiting]).toEqual([2, 2])
    await endFirst()
    expect(begun.slice(2)).toEqual(['http://y.a.test'])
  })

  test('are not dropped when a caller that joined one aborts', async () => {
    const { flights, begun, ahead, join, endFirst } = startFlights({ maxFlights: 1, maxFlightsPerDomain: 1 })
    ahead('http://a.test')
    ahead('http://b.test')
    const controller = new AbortController()
    const joined = ['http://a.test', 'http://b.test'].map((origin) => join(origin, controller.signal))
    const results = Promise.allSettled(joined)
    controller.abort()
    await results
    expect([flights.underWay, flights.waiting]).toEqual([1, 1])
    await endFirst()
    expect(begun).toEqual(['http://a.test', 'http://b.test'])
  })
})

describe('maxFlights and maxFlightsPerDomain', () => {
  test.for([
    ['evil.test', 1, 8],
    ['netlify.app', 20, 32],
    ['test', 200, 200],
  ] as const)(
    'by default, under %s with %i sites, the flights under way are %i',
    async ([suffix, count, most], { newClient }) => {
      const client = newClient({ network: 'any', lookup: () => undefined }) // never resolves
      const hosts = Array.from({ length: 10 * count }, (_, n) => `h${n}.s${n % count}.${suffix}`)
      const checks = Promise.allSettled(hosts.map((host) => client.check(`http://${host}/`)))
      await expect.poll(() => client.gauges.flightsUnderWay).toBe(most)
      expect(client.gauges.flightsWaiting).toBe(hosts.length - most)
      await client.close()
      await checks
    },
  )

  test.each(
    firstInShortRun([
      [25, { held: 200, waitMs: 0 }],
      [100, { held: 800, waitMs: 0 }],
      [125, { held: 800 + 200, waitMs: Number.POSITIVE_INFINITY }],
    ] as const),
  )(
    'with the default limits, what %i sites whose responses never end hold, and how long another one then waits',
    async (count, expected) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      onTestFinished(() => void vi.useRealTimers())
      const flights = newFlights<void>({ maxFlights: 200, maxFlightsPerDomain: 8 })
      const begun = new Map<string, number>()
      const join = (host: string) =>
        void flights.join(`http://${host}`, () => {
          begun.set(host, performance.now())
          return new Promise<void>(() => undefined)
        })
      // Every 5 seconds, as many sites as fill the limit have eight hosts each.
      for (let n = 0; n < count; n += 25) {
        for (let site = n; site < n + 25; site++) for (let host = 0; host < 8; host++) join(`h${host}.s${site}.test`)
        await vi.advanceTimersByTimeAsync(5_000)
      }
      const joined = performance.now()
      join('honest.test')
      await vi.advanceTimersByTimeAsync(3_600_000)
      const waitMs = (begun.get('honest.test') ?? Number.POSITIVE_INFINITY) - joined
      begun.delete('honest.test')
      expect({ held: begun.size, waitMs }).toEqual(expected)
    },
  )

  test('a domain keeps its turn while more of its origins are added', async () => {
    const flights = newFlights<void>({ maxFlights: 1, maxFlightsPerDomain: 1 })
    const begun: string[] = []
    const ends: (() => void)[] = []
    const join = (host: string) =>
      flights.join(`http://${host}`, () => {
        begun.push(host)
        return new Promise<void>((end) => ends.push(end))
      })
    for (const host of ['held.test', 'a1.a.test', 'b1.b.test', 'a2.a.test', 'a3.a.test']) void join(host)
    for (let n = 0; n < 4; n++) {
      ends[n]?.()
      await Promise.resolve().then(() => undefined)
    }
    expect(begun).toEqual(['held.test', 'a1.a.test', 'b1.b.test', 'a2.a.test', 'a3.a.test'])
  })

  test('are used up but not exceeded with hundreds of origins', { tags: 'full' }, async ({ newClient }) => {
    const server = await startSlowServer()
    const client = newClient({ maxFlights: 20, maxFlightsPerDomain: 3 })
    const hosts = Array.from({ length: 300 }, (_, i) => `h${i}.d${i % 15}.test`)
    const asked = hosts.map((host) => client.isAllowed(server.page(host)))
    await server.received(20)
    expect(client.gauges).toMatchObject({ flightsUnderWay: 20, flightsWaiting: 280 })
    await server.answer(300)
    expect(new Set(await Promise.all(asked))).toEqual(new Set([false]))
    expect(server.most).toEqual({ all: 20, domain: expect.any(Number) })
    expect(server.most.domain).toBeLessThanOrEqual(3)
    expect(server.order).toHaveLength(300)
    expect(client.gauges).toMatchObject({ flightsUnderWay: 0, flightsWaiting: 0 })
  })

  test('hosts of one registrable domain share a limit, and no other domain waits for them', async ({ newClient }) => {
    const server = await startSlowServer()
    const client = newClient({ maxFlights: 5, maxFlightsPerDomain: 2 })
    const trap = Array.from({ length: 100 }, (_, i) => client.check(server.page(`x${i}${i % 2 ? '-' : ''}.trap.test`)))
    const others = ['a.test', 'b.test', 'c.test'].map((host) => client.check(server.page(host)))
    await server.received(5)
    expect(server.order.filter((host) => host.endsWith('.trap.test'))).toHaveLength(2)
    expect(server.order).toHaveLength(5)
    await server.answer(103)
    await Promise.all([...trap, ...others])
    expect(server.most).toEqual({ all: 5, domain: 2 })
  })

  test('each tenant of a platform has a limit, and all of them together have a larger one', async ({ newClient }) => {
    const server = await startSlowServer()
    const tenants = Array.from({ length: 10 }, (_, i) => `t${i}.netlify.app`)
    const hosts = tenants.flatMap((tenant) => [`a.${tenant}`, `b.${tenant}`])
    const lookup = lookupIn(Object.fromEntries(hosts.map((host) => [host, '127.0.0.1'])))
    const client = newClient({ maxFlights: 12, maxFlightsPerDomain: 1, network: 'any', lookup })
    const asked = hosts.map((host) => client.check(server.page(host)))
    await server.received(4)
    expect(server.order).toEqual(['a.t0.netlify.app', 'a.t1.netlify.app', 'a.t2.netlify.app', 'a.t3.netlify.app'])
    expect(client.gauges).toMatchObject({ flightsUnderWay: 4, flightsWaiting: 16 })
    const other = client.check(server.page('honest.test'))
    await server.received(5)
    expect(server.order.at(-1)).toBe('honest.test')
    await server.answer(21)
    await Promise.all([...asked, other])
    expect(server.most.all).toBe(5)
  })

  test('domains take turns, so a later domain does not wait for all flights of an earlier one', async ({
    newClient,
  }) => {
    const server = await startSlowServer()
    const client = newClient({ maxFlights: 1 })
    const many = Array.from({ length: 50 }, (_, i) => client.check(server.page(`x${i}.big.test`)))
    const one = client.check(server.page('small.test'))
    await server.answer(3)
    await one
    expect(server.order.indexOf('small.test')).toBeLessThan(3)
    await server.answer(48)
    await Promise.all(many)
  })

  test('a flight that fails frees its slot', async ({ sites, newClient }) => {
    const hosts = Array.from({ length: 20 }, (_, i) => `http://h${i}.test:PORT/`)
    for (const host of hosts) sites.respond(`${host}robots.txt`, (socket) => socket.resetAndDestroy())
    const client = newClient({ maxFlights: 2 })
    const verdicts = await Promise.all(hosts.map((host) => client.check(sites.withPort(host))))
    expect(new Set(verdicts.map(({ because }) => because))).toEqual(new Set(['unreachable']))
    expect(client.gauges).toMatchObject({ flightsUnderWay: 0, flightsWaiting: 0 })
  })
})

describe('redirects of many domains to one', () => {
  const toShared = (host: string) => (/^d\d+\./.test(host) ? 'shared.test' : undefined)
  /** As many as may start without a delay at most. */
  const origins = (count: number) => Array.from({ length: count }, (_, i) => `d${i}.test`)

  test('count towards its limit, and no other domain waits for them', async ({ newClient }) => {
    const server = await startSlowServer(toShared)
    const client = newClient({ maxFlights: 12 })
    const redirected = origins(10).map((host) => client.isAllowed(server.page(host)))
    const others = ['a.test', 'b.test', 'c.test', 'd.test'].map((host) => client.isAllowed(server.page(host)))
    await server.received(12)
    expect(server.order.filter((host) => host === 'shared.test')).toHaveLength(8)
    expect(client.gauges).toMatchObject({ flightsUnderWay: 12, flightsWaiting: 2 })
    await server.answer(14)
    expect(new Set(await Promise.all([...redirected, ...others]))).toEqual(new Set([false]))
    expect(server.most).toEqual({ all: 12, domain: 8 })
    expect(client.gauges).toMatchObject({ flightsUnderWay: 0, flightsWaiting: 0 })
  })

  test('do not hold back the origins of that domain: the two kinds take turns', async ({ newClient }) => {
    const server = await startSlowServer(toShared)
    const client = newClient({ maxFlightsPerDomain: 2 })
    const redirected = origins(10).map((host) => client.isAllowed(server.page(host)))
    await server.received(2)
    await expect.poll(() => client.gauges).toMatchObject({ flightsUnderWay: 2, flightsWaiting: 8 })
    const own = ['a.shared.test', 'b.shared.test'].map((host) => client.isAllowed(server.page(host)))
    await server.answer(4)
    await server.received(2)
    expect(server.order.filter((host) => host !== 'shared.test')).toEqual(['a.shared.test', 'b.shared.test'])
    await server.answer(8)
    expect(new Set(await Promise.all([...redirected, ...own]))).toEqual(new Set([false]))
  })

  test('also count towards the domain that redirects, so it sends no more flights to another one than it may have itself', async ({
    newClient,
  }) => {
    const server = await startSlowServer((host) => (host.endsWith('.many.test') ? 'shared.test' : undefined))
    const client = newClient({ maxFlightsPerDomain: 3 })
    const hosts = Array.from({ length: 10 }, (_, i) => `h${i}.many.test`)
    const redirected = hosts.map((host) => client.isAllowed(server.page(host)))
    const other = client.isAllowed(server.page('other.test'))
    await server.received(4)
    expect(server.redirects).toHaveLength(3)
    await server.answer(11)
    expect(new Set(await Promise.all([...redirected, other]))).toEqual(new Set([false]))
    expect(server.most.domain).toBe(3)
  })

  test('do not block each other when two domains redirect to one another', async ({ newClient }) => {
    const server = await startSlowServer((host) => ({ 'x.a.test': 'y.b.test', 'x.b.test': 'y.a.test' })[host])
    const client = newClient({ maxFlightsPerDomain: 1 })
    const asked = ['x.a.test', 'x.b.test', 'z.a.test', 'z.b.test'].map((host) => client.isAllowed(server.page(host)))
    await server.answer(4)
    expect(await Promise.all(asked)).toEqual([false, false, false, false])
    expect(server.most.domain).toBe(1)
  })

  test('are dropped while they wait when their last caller aborts, and are not when a caller stays', async ({
    newClient,
  }) => {
    const server = await startSlowServer(toShared)
    const client = newClient({ maxFlightsPerDomain: 1 })
    const first = client.check(server.page('shared.test'))
    await server.received(1)
    const controller = new AbortController()
    const { signal } = controller
    const aborted = client.check(server.page('d1.test'), { signal })
    const left = client.check(server.page('d2.test'), { signal })
    const staying = client.check(server.page('d2.test'))
    const rejected = Promise.all([aborted, left].map((one) => expect(one).rejects.toThrow('no longer needed')))
    await expect.poll(() => client.gauges).toMatchObject({ flightsUnderWay: 1, flightsWaiting: 2 })
    expect(await client.inspect(server.page('d1.test'))).toMatchObject({ flight: 'waiting' })
    controller.abort(new Error('no longer needed'))
    await rejected
    expect(client.gauges).toMatchObject({ flightsUnderWay: 1, flightsWaiting: 1 })
    await server.answer(2)
    await Promise.all([first, staying])
    expect(server.order).toEqual(['shared.test', 'shared.test'])
    expect(client.gauges).toMatchObject({ flightsUnderWay: 0, flightsWaiting: 0 })
  })

  test('are rejected by close while they wait', async ({ newClient }) => {
    const server = await startSlowServer(toShared)
    const client = newClient({ maxFlightsPerDomain: 1 })
    const results = Promise.allSettled(origins(5).map((host) => client.check(server.page(host))))
    await expect.poll(() => client.gauges).toMatchObject({ flightsUnderWay: 1, flightsWaiting: 4 })
    await server.received(1)
    await client.close()
    for (const result of await results) expect(result).toMatchObject({ status: 'rejected', reason: closed })
    expect(server.order).toEqual(['shared.test'])
    expect(client.gauges).toMatchObject({ flightsUnderWay: 0, flightsWaiting: 0 })
  })
})

test('close rejects all waiting flights and those under way, and leaves nothing behind', async ({ newClient }) => {
  const server = await startSlowServer()
  const client = newClient({ maxFlights: 4 })
  const { signal } = new AbortController()
  const asked = Array.from({ length: 200 }, (_, i) => client.check(server.page(`h${i}.test`), { signal }))
  const results = Promise.allSettled(asked)
  await server.received(4)
  await client.close()
  for (const result of await results) expect(result).toMatchObject({ status: 'rejected', reason: closed })
  expect(server.order).toHaveLength(4)
  expect(client.gauges).toEqual({ origins: 0, memoryBytes: 0, flightsUnderWay: 0, flightsWaiting: 0, storeOutageMs: 0 })
  expect(getEventListeners(signal, 'abort')).toEqual([])
  expect(client.counters).toMatchObject({ questions: 0, fetches: 0, waits: 200 })
})

test('close during a refresh ahead rejects no call and causes no unhandled rejection', async ({ newClient }) => {
  const server = await startSlowServer()
  let now = Date.UTC(2026, 0, 1)
  const client = newClient({ refreshAheadMs: 3_600_000, now: () => now })
  const first = client.check(server.page('a.test'))
  await server.answer(1)
  await first
  now += 86_400_000 - 1
  await client.check(server.page('a.test'))
  await server.received(1)
  await client.close()
  expect(client.counters).toMatchObject({ refreshesAhead: 1, fetches: 1 })
})

test('in random order of calls, redirects, aborts and results, the limits hold and every call settles', async () => {
  const seen = { joined: 0, ahead: 0, answered: 0, failed: 0, left: 0, begun: 0, dropped: 0, moved: 0, resumed: 0 }
  for (let seed = 1; seed <= sampled(400); seed++) {
    const roll = seededRandom(seed)
    const limits = { maxFlights: 1 + Math.floor(roll() * 4), maxFlightsPerDomain: 1 + Math.floor(roll() * 3) }
    const flights = newFlights<string>(limits)
    const flying = new Map<string, PromiseWithResolvers<string>>()
    const works = new Map<string, FlightWork>()
    /** The domain that each flight counts towards, by origin. */
    const domainOf = new Map<string, string | undefined>()
    const ownDomainOf = (origin: string) => origin.split('.')[1]
    /** The origins of flights that wait after `moveTo`. */
    const moved = new Set<string>()
    const controllers: AbortController[] = []
    const asked: Promise<unknown>[] = []
    let begun = 0
    const origins = new Set<string>()
    for (let step = 0; step < 100; step++) {
      const what = roll()
      if (what < 0.5) {
        const origin = `https://h${Math.floor(roll() * 4)}.d${Math.floor(roll() * 4)}.test`
        const controller = roll() < 0.5 ? new AbortController() : undefined
        const start = (work: FlightWork) => {
          begun++
          expect(flying.has(origin), 'one for each origin').toBe(false)
          const flight = Promise.withResolvers<string>()
          flying.set(origin, flight)
          work.isDroppable = roll() < 0.5
          works.set(origin, work)
          return flight.promise
        }
        if (controller !== undefined) controllers.push(controller)
        origins.add(origin)
        seen.joined++
        const isNew = flights.phaseOf(origin) === undefined
        if (isNew) domainOf.set(origin, ownDomainOf(origin))
        const isAhead = roll() < 0.2 && isNew
        if (isAhead) seen.ahead++
        asked.push(
          (isAhead
            ? flights.startAhead(origin, start)
            : flights.join(origin, start, { signal: controller?.signal })
          ).then(
            (answer) => {
              expect(answer).toBe(origin)
              seen.answered++
            },
            (error: Error) => void (error.message === 'broken' ? seen.failed++ : seen.left++),
          ),
        )
      } else if (what < 0.7 && controllers.length > 0) {
        pick(roll, controllers).abort(new Error('aborted'))
        for (const [origin, { isDropped }] of works) {
          if (!isDropped || !flying.delete(origin)) continue
          works.delete(origin)
          seen.dropped++
        }
        await new Promise((resolve) => setImmediate(resolve)) // the next flights start in a microtask
      } else if (what < 0.85 && flying.size > 0) {
        const [origin, flight] = pick(roll, [...flying])
        const domain = `d${Math.floor(roll() * 4)}`
        domainOf.set(origin, domain)
        const turn = works.get(origin)?.moveTo(`https://target.${domain}.test/robots.txt`)
        seen.moved++
        if (turn instanceof Promise) {
          flying.delete(origin)
          moved.add(origin)
          turn.then(
            () => {
              seen.resumed++
              moved.delete(origin)
              flying.set(origin, flight)
            },
            (error: Error) => {
              seen.dropped++
              moved.delete(origin)
              flight.reject(error)
            },
          )
        }
        await new Promise((resolve) => setImmediate(resolve))
      } else if (flying.size > 0) {
        const [origin, flight] = pick(roll, [...flying])
        flying.delete(origin)
        if (roll() < 0.2) flight.reject(new Error('broken'))
        else flight.resolve(origin)
        await new Promise((resolve) => setImmediate(resolve))
      }
      const domains = Map.groupBy(flying.keys(), (origin) => domainOf.get(origin))
      expect(flying.size).toBe(flights.underWay)
      expect(flying.size).toBeLessThanOrEqual(limits.maxFlights)
      for (const hosts of domains.values()) expect(hosts.length).toBeLessThanOrEqual(limits.maxFlightsPerDomain)
      const isFull = flights.underWay === limits.maxFlights || flights.waiting === 0
      const waiting = [...origins].filter((origin) => flights.phaseOf(origin) === 'waiting')
      expect(waiting).toHaveLength(flights.waiting)
      const begunOf = Map.groupBy([...flying.keys(), ...moved], ownDomainOf)
      const mayBegin = waiting.filter((origin) => {
        const domain = domainOf.get(origin)
        const underWay = domains.get(domain) ?? []
        const away = begunOf.get(ownDomainOf(origin))?.filter((one) => domainOf.get(one) !== domain) ?? []
        const returning = [...moved].filter((one) => domainOf.get(one) === domain && ownDomainOf(one) === domain)
        const counted = moved.has(origin) ? underWay : [...underWay, ...away, ...returning]
        return counted.length < limits.maxFlightsPerDomain
      })
      for (const begunThere of begunOf.values()) {
        const away = begunThere.filter((origin) => moved.has(origin) || domainOf.get(origin) !== ownDomainOf(origin))
        expect(away.length).toBeLessThanOrEqual(limits.maxFlightsPerDomain)
      }
      expect(isFull || mayBegin.length === 0, 'nobody waits while there is room').toBe(true)
    }
    while (flights.underWay > 0) {
      for (const [origin, flight] of flying) {
        flying.delete(origin)
        flight.resolve(origin)
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
    await Promise.all(asked) // all of them, or the test does not end
    expect(flights.waiting).toBe(0)
    seen.begun += begun
  }
  expect(seen.answered + seen.failed + seen.left).toBe(seen.joined) // including flights ahead of time
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(sampled(200))
})
