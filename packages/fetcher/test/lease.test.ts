// The lease of a store: of the clients that share it, one fetches each robots.txt.

import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { startClock } from '@politely/testkit/clock'
import type { Reply } from '@politely/testkit/servers/sites'
import { describe, expect, vi } from 'vitest'
import { type Lease, MemoryStore, type RobotsClient, type Store } from '../src/index.ts'
import { test } from './with-sites.ts'

const ROBOTS = 'http://a.test:PORT/robots.txt'
const rules: Reply = { status: 200, body: disallowsPage }
const others: Reply = { status: 200, body: 'User-agent: *\nDisallow: /other\n' }
const DAY = 24 * 3_600_000

interface LeasingStore extends Required<Pick<Store, 'get' | 'set' | 'delete' | 'lease'>> {
  /** The origins with a lease, and how long each was to be held, in milliseconds. */
  readonly held: Map<string, number>
}

/** A store whose leases expire when the test removes them from `held`. */
function leasingStore(now?: () => number): LeasingStore {
  const texts = new MemoryStore({ now })
  const held = new Map<string, number>()
  return {
    held,
    get: (origin) => texts.get(origin),
    set: (...args) => texts.set(...args),
    delete: (origin) => texts.delete(origin),
    lease: async (origin, leaseMs) => {
      if (held.has(origin)) return undefined
      held.set(origin, leaseMs)
      return { release: async () => void held.delete(origin) }
    },
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 1))
}

const waitsOf = (clients: readonly RobotsClient[]) => clients.map(({ counters }) => counters.leaseWaits)

describe('a lease', () => {
  test('lets one of many clients fetch, and the others take what it stored', async ({ sites, newClient }) => {
    const response = Promise.withResolvers<Reply>()
    sites.respond(ROBOTS, response.promise)
    const store = leasingStore()
    const clients = Array.from({ length: 10 }, () => newClient({ store, timeoutMs: 5_000 }))
    const verdicts = Promise.all(clients.map((client) => client.check(sites.withPort(checkedPage))))
    await until(() => waitsOf(clients).filter((waits) => waits === 1).length === 9)
    await until(() => sites.requests.length > 0)
    expect([...store.held]).toEqual([[sites.withPort('http://a.test:PORT'), 15_000]]) // longer than an attempt
    response.resolve(rules)
    for (const { allowed, because } of await verdicts) expect([allowed, because]).toEqual([false, 'rule'])
    expect(sites.requests).toHaveLength(1)
    expect(store.held.size).toBe(0)
    expect(clients.map(({ counters }) => counters.fetches).sort()).toEqual([...Array(9).fill(0), 1])
    for (const { counters } of clients) expect(counters).toMatchObject({ storeMisses: 1, storeHits: 0 })
  })

  test('is not taken for an entry that another client has stored', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const store = leasingStore()
    await newClient({ store }).check(sites.withPort(checkedPage))
    const lease = vi.fn(store.lease)
    expect(await newClient({ store: { ...store, lease } }).isAllowed(sites.withPort(checkedPage))).toBe(false)
    expect(lease).not.toHaveBeenCalled()
  })

  test('is released after an entry that was stored just before it was taken', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const store = leasingStore()
    const first = newClient({ store })
    const second = newClient({
      store: {
        ...store,
        lease: async (...args) => {
          await first.check(sites.withPort(checkedPage))
          return store.lease(...args)
        },
      },
    })
    expect(await second.isAllowed(sites.withPort(checkedPage))).toBe(false)
    expect(sites.requests).toHaveLength(1)
    expect(second.counters).toMatchObject({ fetches: 0, leaseWaits: 0 })
    expect(store.held.size).toBe(0)
  })

  test('of a dead holder expires, and one of the waiting clients fetches', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const store = leasingStore()
    const origin = sites.withPort('http://a.test:PORT')
    await store.lease(origin, 1_000)
    const clients = [1, 2, 3].map(() => newClient({ store }))
    const verdicts = Promise.all(clients.map((client) => client.isAllowed(sites.withPort(checkedPage))))
    await until(() => waitsOf(clients).every((waits) => waits === 1))
    expect(sites.requests).toEqual([])
    store.held.delete(origin)
    expect(await verdicts).toEqual([false, false, false])
    expect(sites.requests).toHaveLength(1)
  })

  test('is released if the attempt fails because the client is closed', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, new Promise<Reply>(() => undefined))
    const store = leasingStore()
    const client = newClient({ store })
    const pending = Promise.allSettled([client.check(sites.withPort(checkedPage))])
    await until(() => sites.requests.length === 1)
    await client.close()
    expect(await pending).toMatchObject([{ status: 'rejected', reason: { code: 'ERR_POLITELY_CLIENT_CLOSED' } }])
    expect(store.held.size).toBe(0)
  })

  test('that never ends: after two times its duration, the client fetches without it', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const lease = vi.fn(async () => undefined)
    const client = newClient({ store: { ...leasingStore(), lease }, timeoutMs: 1_000 })
    const failures: unknown[] = []
    client.events.on('store-failed', (failure) => void failures.push(failure))
    const real = performance.now.bind(performance)
    let skippedMs = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => real() + skippedMs)
    try {
      const verdict = client.isAllowed(sites.withPort(checkedPage))
      await until(() => lease.mock.calls.length === 3)
      expect(sites.requests).toEqual([])
      skippedMs = 2 * 11_000
      expect(await verdict).toBe(false)
      const error = { code: 'ERR_POLITELY_LEASE_TIMEOUT', message: expect.stringContaining('for 22000 ms') }
      expect(failures).toEqual([
        { operation: 'lease', origin: sites.withPort('http://a.test:PORT'), error: expect.objectContaining(error) },
      ])
    } finally {
      clock.mockRestore()
    }
  })

  test('that arrives after two seconds is not used, and is released', { tags: 'full' }, async ({
    sites,
    newClient,
  }) => {
    sites.respond(ROBOTS, rules)
    const late = Promise.withResolvers<Lease>()
    const client = newClient({ store: { ...leasingStore(), lease: () => late.promise } })
    const failed = Promise.withResolvers<object>()
    client.events.on('store-failed', failed.resolve)
    expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(false)
    expect(await failed.promise).toMatchObject({ operation: 'lease', error: { code: 'ERR_POLITELY_STORE_TIMEOUT' } })
    const released = Promise.withResolvers<void>()
    late.resolve({ release: async () => released.resolve() })
    await released.promise
  })
})

describe('a client that waits for a lease', () => {
  test('makes no request after close', async ({ sites, newClient }) => {
    const store = leasingStore()
    await store.lease(sites.withPort('http://a.test:PORT'), DAY)
    const client = newClient({ store })
    const pending = Promise.allSettled([client.check(sites.withPort(checkedPage))])
    await until(() => client.counters.leaseWaits === 1)
    await client.close()
    expect(await pending).toMatchObject([{ status: 'rejected', reason: { code: 'ERR_POLITELY_CLIENT_CLOSED' } }])
    expect(sites.connections).toEqual([])
  })

  test('does not keep a caller that aborts', async ({ sites, newClient }) => {
    const store = leasingStore()
    await store.lease(sites.withPort('http://a.test:PORT'), DAY)
    const client = newClient({ store })
    const controller = new AbortController()
    const pending = client.check(sites.withPort(checkedPage), { signal: controller.signal })
    await until(() => client.counters.leaseWaits === 1)
    controller.abort(new Error('no longer needed'))
    await expect(pending).rejects.toThrow('no longer needed')
  })

  test('is dropped when its last caller aborts, and does not fetch later', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const store = leasingStore()
    const origin = sites.withPort('http://a.test:PORT')
    await store.lease(origin, DAY)
    const client = newClient({ store, maxFlights: 1 })
    const controllers = [new AbortController(), new AbortController()]
    const pending = controllers.map(({ signal }) => client.check(sites.withPort(checkedPage), { signal }))
    const results = Promise.allSettled(pending)
    const other = client.isAllowed(sites.withPort('http://b.test:PORT/page'))
    await until(() => client.counters.leaseWaits === 1)
    controllers[0]?.abort()
    expect(client.gauges).toMatchObject({ flightsUnderWay: 1, flightsWaiting: 1 })
    controllers[1]?.abort()
    expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await other).toBe(true)
    expect(client.gauges).toMatchObject({ flightsUnderWay: 0, flightsWaiting: 0 })
    store.held.delete(origin)
    expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(false)
    expect(sites.requestedUrls).toEqual(['http://b.test:PORT/robots.txt', ROBOTS])
    expect(store.held.size).toBe(0)
  })

  test('releases a lease that arrives after its last caller has aborted', async ({ sites, newClient }) => {
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<Lease>()
    const released = Promise.withResolvers<void>()
    const lease = () => {
      asked.resolve()
      return answer.promise
    }
    const client = newClient({ store: { ...leasingStore(), lease } })
    const controller = new AbortController()
    const pending = client.check(sites.withPort(checkedPage), { signal: controller.signal })
    await asked.promise
    controller.abort(new Error('no longer needed'))
    await expect(pending).rejects.toThrow('no longer needed')
    answer.resolve({ release: async () => released.resolve() })
    await released.promise
    expect(sites.connections).toEqual([])
    expect(client.counters.storeFailures).toBe(0)
  })

  test('ahead of time answers from memory meanwhile, and takes what the holder stores', async ({
    sites,
    newClient,
  }) => {
    const response = Promise.withResolvers<Reply>()
    sites.respond(ROBOTS, rules, response.promise)
    const clock = startClock()
    const store = leasingStore(clock.now)
    const clients = [1, 2].map(() => newClient({ store, now: clock.now, refreshAheadMs: DAY }))
    for (const client of clients) await client.check(sites.withPort(checkedPage))
    clock.advance(DAY - 1)
    for (const client of clients) expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(false)
    await until(() => sites.requests.length === 2 && waitsOf(clients).includes(1))
    for (const client of clients) expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(false)
    response.resolve(others)
    await until(() => clients.every((client) => client.gauges.flightsUnderWay === 0))
    for (const client of clients) expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(true)
    expect(sites.requests).toHaveLength(2)
  })
})
