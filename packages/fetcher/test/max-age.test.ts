// The option `maxAgeMs` of a check. All of it is our choice.
import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { startClock } from '@politely/testkit/clock'
import type { Reply } from '@politely/testkit/servers/sites'
import { describe, expect } from 'vitest'
import { type Lease, MemoryStore, type RobotsClient, type Store } from '../src/index.ts'
import { all, test } from './with-sites.ts'

const ROBOTS = 'http://a.test:PORT/robots.txt'
const MINUTE = 60_000
const disallows: Reply = { status: 200, headers: { etag: '"1"' }, body: disallowsPage }
const allows: Reply = { status: 200, body: '' }

function methodsOf(store: Store): Store {
  return {
    get: (origin) => store.get(origin),
    set: (...args) => store.set(...args),
    delete: (origin) => store.delete(origin),
  }
}

function readLater(store: Store, mayRead: Promise<void>): Store['get'] {
  return async (origin) => {
    await mayRead
    return store.get(origin)
  }
}

describe('maxAgeMs', () => {
  test('fetches a robots.txt again that is older, with its validators, and no other one', async ({
    sites,
    newClient,
  }) => {
    const clock = startClock()
    sites.respond(ROBOTS, disallows, { status: 304 }, allows)
    const client = newClient({ now: clock.now })
    const url = sites.withPort(checkedPage)
    await client.check(url)
    clock.advance(MINUTE)
    expect(await client.isAllowed(url, { maxAgeMs: MINUTE })).toBe(false)
    expect(sites.requests).toHaveLength(1)
    clock.advance(1)
    expect(await client.isAllowed(url, { maxAgeMs: MINUTE })).toBe(false)
    expect(sites.requests).toHaveLength(2)
    expect(sites.requests[1]?.headers).toMatchObject({ 'if-none-match': '"1"' })
    expect(await client.check(url, { maxAgeMs: MINUTE })).toMatchObject({ allowed: false }) // the 304 confirmed it
    clock.advance(1)
    expect(await client.check(url, { maxAgeMs: 0 })).toMatchObject({ allowed: true })
    expect(sites.requests).toHaveLength(3)
  })

  const calls: Readonly<Record<string, (client: RobotsClient, url: string) => Promise<unknown>>> = {
    isAllowed: (client, url) => client.isAllowed(url, { maxAgeMs: MINUTE }),
    check: (client, url) => client.check(url, { maxAgeMs: MINUTE }),
    explain: (client, url) => client.explain(url, { maxAgeMs: MINUTE }),
    robots: (client, url) => client.robots(url, { maxAgeMs: MINUTE }),
    sitemaps: (client, url) => client.sitemaps(url, { maxAgeMs: MINUTE }),
    checkMany: (client, url) => all(client.checkMany([url, url], { maxAgeMs: MINUTE })),
    prefetch: (client, url) => client.prefetch([url, url], { maxAgeMs: MINUTE }),
  }
  for (const [name, call] of Object.entries(calls)) {
    test(`is an option of ${name}`, async ({ sites, newClient }) => {
      const clock = startClock()
      const client = newClient({ now: clock.now })
      const url = sites.withPort(checkedPage)
      await client.check(url)
      clock.advance(2 * MINUTE)
      await call(client, url)
      expect(sites.requests).toHaveLength(2)
    })
  }

  test.for([
    { whenUnreachable: 'use-copy', expected: { because: 'rule', access: { copy: { freshness: 'stale' } } } },
    { whenUnreachable: 'disallow', expected: { because: 'unreachable' } },
  ] as const)(
    'if the fetch fails, whenUnreachable decides for this call ($whenUnreachable), and the fresh copy for others',
    async ({ whenUnreachable, expected }, { sites, newClient }) => {
      const clock = startClock()
      sites.respond(ROBOTS, disallows, { status: 500 }, { status: 500 })
      const client = newClient({ now: clock.now, whenUnreachable })
      const url = sites.withPort(checkedPage)
      await client.check(url)
      clock.advance(2 * MINUTE)
      expect(await client.check(url, { maxAgeMs: MINUTE })).toMatchObject(expected)
      expect(await client.check(url)).toMatchObject({ because: 'rule', access: { copy: { freshness: 'fresh' } } })
      // Until the next attempt is due, a call with maxAgeMs does not try again.
      expect(await client.check(url, { maxAgeMs: 0 })).toMatchObject(expected)
      expect(sites.requests).toHaveLength(2)
      clock.advance(MINUTE)
      expect(await client.check(url, { maxAgeMs: MINUTE })).toMatchObject(expected)
      expect(sites.requests).toHaveLength(3)
    },
  )

  test('takes what another process has stored meanwhile, if it is young enough', async ({ sites, newClient }) => {
    const clock = startClock()
    const store = new MemoryStore({ now: clock.now })
    const [client, other] = [newClient({ store, now: clock.now }), newClient({ store, now: clock.now })]
    const url = sites.withPort(checkedPage)
    await client.check(url)
    clock.advance(2 * MINUTE)
    await other.check(url, { maxAgeMs: MINUTE }) // finds an entry in the store that is too old
    expect(sites.requests).toHaveLength(2)
    await client.check(url, { maxAgeMs: MINUTE })
    expect(sites.requests).toHaveLength(2)
  })

  test('lets one client of a fleet fetch, and the others wait for its lease', async ({ sites, newClient }) => {
    const clock = startClock()
    const texts = new MemoryStore({ now: clock.now })
    const held = new Set<string>()
    const store: Store = {
      ...methodsOf(texts),
      lease: async (origin): Promise<Lease | undefined> => {
        if (held.has(origin)) return undefined
        held.add(origin)
        return { release: async () => void held.delete(origin) }
      },
    }
    const response = Promise.withResolvers<Reply>()
    sites.respond(ROBOTS, disallows, response.promise)
    const clients = [1, 2, 3].map(() => newClient({ store, now: clock.now }))
    const url = sites.withPort(checkedPage)
    for (const client of clients) await client.check(url)
    clock.advance(2 * MINUTE)
    const verdicts = Promise.all(clients.map((client) => client.isAllowed(url, { maxAgeMs: MINUTE })))
    await sites.requested(2)
    while (clients.filter(({ counters }) => counters.leaseWaits === 1).length < 2)
      await new Promise((resolve) => setTimeout(resolve, 1))
    response.resolve(allows)
    expect(await verdicts).toEqual([true, true, true])
    expect(sites.requests).toHaveLength(2)
  })

  test('joins the flight of another check, which then fetches too', async ({ sites, newClient }) => {
    const clock = startClock()
    const texts = new MemoryStore({ now: clock.now })
    const url = sites.withPort(checkedPage)
    await newClient({ store: texts, now: clock.now }).check(url)
    clock.advance(2 * MINUTE)
    const mayRead = Promise.withResolvers<void>()
    const client = newClient({ now: clock.now, store: { ...methodsOf(texts), get: readLater(texts, mayRead.promise) } })
    const verdicts = Promise.all([client.check(url), client.check(url, { maxAgeMs: MINUTE })])
    mayRead.resolve()
    await verdicts
    expect(sites.requests).toHaveLength(2)
    expect(client.counters).toMatchObject({ fetches: 1, storeHits: 1 })
  })

  test('fetches after a flight that ends with an older entry', async ({ sites, newClient }) => {
    const clock = startClock()
    const texts = new MemoryStore({ now: clock.now })
    const url = sites.withPort(checkedPage)
    await newClient({ store: texts, now: clock.now }).check(url)
    clock.advance(2 * MINUTE)
    const [releasing, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let reads = 0
    const client = newClient({
      now: clock.now,
      store: {
        ...methodsOf(texts),
        get: async (origin) => (reads++ === 0 ? undefined : texts.get(origin)),
        lease: async () => ({
          release: () => {
            releasing.resolve()
            return mayEnd.promise
          },
        }),
      },
    })
    const first = client.check(url)
    await releasing.promise // the flight has chosen the entry that another process stored
    const second = client.check(url, { maxAgeMs: MINUTE })
    mayEnd.resolve()
    await Promise.all([first, second])
    expect(sites.requests).toHaveLength(2)
  })

  test.for([-1, Number.NaN, '1 minute'])(
    'an OptionError names an invalid value: %s',
    async (maxAgeMs, { newClient }) => {
      const client = newClient()
      const error = { code: 'ERR_POLITELY_OPTION', option: 'maxAgeMs' }
      await expect(client.check('https://a.test/', { maxAgeMs: maxAgeMs as number })).rejects.toMatchObject(error)
      await expect(client.isAllowed('https://a.test/', { maxAgeMs: maxAgeMs as number })).rejects.toMatchObject(error)
    },
  )
})
