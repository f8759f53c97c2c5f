import { entryFrom } from '@politely/core/engine'
// A store behind the memory cache: the client uses its entries, and survives its failures. All of
// it is our choice.

import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { startClock } from '@politely/testkit/clock'
import { firstInShortRun } from '@politely/testkit/scope'
import { lookupIn } from '@politely/testkit/servers/lookup'
import type { Reply } from '@politely/testkit/servers/sites'
import { describe, expect } from 'vitest'
import type { RobotsClient, Store, StoreFailure } from '../src/index.ts'
import { test } from './with-sites.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const ROBOTS = 'http://a.test:PORT/robots.txt'
const rules: Reply = { status: 200, body: disallowsPage, headers: { etag: '"1"' } }
const others: Reply = { status: 200, body: 'User-agent: *\nDisallow: /other\n' }

interface MapStore extends Store {
  readonly texts: Map<string, string>
  readonly keptUntil: Map<string, number>
}

function mapStore(): MapStore {
  const texts = new Map<string, string>()
  const keptUntil = new Map<string, number>()
  return {
    texts,
    keptUntil,
    get: async (origin) => texts.get(origin),
    set: async (origin, text, until) => {
      texts.set(origin, text)
      keptUntil.set(origin, until)
    },
    delete: async (origin) => void texts.delete(origin),
  }
}

function failuresOf(client: RobotsClient): StoreFailure[] {
  const failures: StoreFailure[] = []
  client.events.on('store-failed', (failure) => void failures.push(failure))
  return failures
}

describe('an entry in the store', () => {
  test('is saved after a fetch, with an expiry time', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const store = mapStore()
    const clock = startClock()
    await newClient({ store, now: clock.now }).check(sites.withPort(checkedPage))
    const origin = sites.withPort('http://a.test:PORT')
    expect([...store.texts.keys()]).toEqual([origin])
    expect(entryFrom(store.texts.get(origin) ?? '', origin)).toMatchObject({
      copy: { bytes: disallowsPage, etag: '"1"' },
    })
    expect(store.keptUntil.get(origin)).toBe(clock.now() + 31 * DAY)
  })

  test('saves a second client the request, which inspect shows', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const store = mapStore()
    const { now } = startClock()
    const [first, second] = [newClient({ store, now }), newClient({ store, now })]
    const expected = await first.check(sites.withPort(checkedPage))
    expect(await second.inspect(sites.withPort(checkedPage))).toMatchObject({ source: 'store', state: 'rules' })
    expect(await second.check(sites.withPort(checkedPage))).toEqual(expected)
    expect(await second.inspect(sites.withPort(checkedPage))).toMatchObject({ source: 'memory', state: 'rules' })
    expect(sites.requests).toHaveLength(1)
    expect(first.counters).toMatchObject({ storeMisses: 1, storeHits: 0, fetches: 1 })
    expect(second.counters).toMatchObject({ storeMisses: 0, storeHits: 2, fetches: 0, waits: 1 })
  })

  test('is refreshed by one client when stale, and the other client uses the result', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules, others)
    const store = mapStore()
    const clock = startClock()
    const clients = [1, 2, 3].map(() => newClient({ store, now: clock.now }))
    const ask = async () => {
      const allowed = []
      for (const client of clients) allowed.push(await client.isAllowed(sites.withPort(checkedPage)))
      return allowed
    }
    expect(await ask()).toEqual([false, false, false])
    clock.advance(DAY)
    expect(await ask()).toEqual([true, true, true])
    expect(sites.requests).toHaveLength(2)
  })

  test('saves a refresh ahead that another client has just made', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules, others)
    const store = mapStore()
    const clock = startClock()
    const clients = [1, 2].map(() => newClient({ store, now: clock.now, refreshAheadMs: DAY }))
    for (const client of clients) await client.check(sites.withPort(checkedPage))
    clock.advance(DAY - 1)
    for (const client of clients) {
      await client.check(sites.withPort(checkedPage))
      while (client.gauges.flightsUnderWay > 0) await new Promise((resolve) => setImmediate(resolve))
      expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(true)
    }
    expect(sites.requests).toHaveLength(2)
  })

  test('applies after a restart, even while the server is down', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules, (socket) => socket.resetAndDestroy())
    const store = mapStore()
    const clock = startClock()
    await newClient({ store, now: clock.now }).check(sites.withPort(checkedPage))
    clock.advance(2 * DAY)
    expect(await newClient({ store, now: clock.now }).check(sites.withPort(checkedPage))).toMatchObject({
      allowed: false,
      because: 'rule',
      access: { outcome: 'unreachable', reason: 'reset', copy: { freshness: 'stale', ageMs: 2 * DAY } },
    })
    expect(sites.requests[1]?.headers).toMatchObject({ 'if-none-match': '"1"' })
    // The growing wait continues after one more attempt.
    clock.advance(MINUTE - 1)
    const third = newClient({ store, now: clock.now })
    await third.check(sites.withPort(checkedPage))
    expect(sites.requests).toHaveLength(2)
    clock.advance(1)
    expect(await third.check(sites.withPort(checkedPage))).toMatchObject({
      access: { nextAttemptAt: clock.now() + 2 * MINUTE },
    })
  })

  test('is not used if the entry in memory is newer', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules, { status: 304 })
    const store = mapStore()
    const clock = startClock()
    const client = newClient({ store, now: clock.now })
    await client.check(sites.withPort(checkedPage))
    const [[origin, old] = ['', '']] = store.texts
    clock.advance(DAY)
    await client.check(sites.withPort(checkedPage))
    store.texts.set(origin, old)
    clock.advance(DAY)
    const verdict = await client.check(sites.withPort(checkedPage))
    expect(verdict).toMatchObject({ access: { copy: { ageMs: 0 } } })
    expect(await client.inspect(sites.withPort(checkedPage))).toMatchObject({
      attempts: [{}, { at: clock.now() - DAY }, {}],
    })
  })

  test('is also saved for the target of a redirect', async ({ sites, newClient }) => {
    const elsewhere = 'http://b.test:PORT/robots.txt'
    sites.respond(ROBOTS, { status: 301, headers: { location: elsewhere } })
    sites.respond(elsewhere, rules)
    const store = mapStore()
    await newClient({ store }).check(sites.withPort(checkedPage))
    expect([...store.texts.keys()].sort()).toEqual(
      ['http://a.test:PORT', 'http://b.test:PORT'].map((one) => sites.withPort(one)),
    )
    expect(await newClient({ store }).isAllowed(sites.withPort('http://b.test:PORT/page'))).toBe(false)
    expect(sites.requests).toHaveLength(2)
  })
})

describe('an invalid entry in the store is a miss', () => {
  const changes: readonly (readonly [name: string, change: (text: string) => unknown])[] = [
    ['garbage', () => '\u0000\ufffd{'],
    ['an empty text', () => ''],
    ['null', () => null],
    ['a number', () => 42],
    ['an object', (text) => JSON.parse(text)],
    ['bytes', (text) => Buffer.from(text)],
    ['a truncated text', (text) => text.slice(0, -1)],
    ['one letter of the robots.txt changed', (text) => text.replace('Disallow: /page', 'Disallow: /rage')],
    ['another version', (text) => text.replace(/"version":\d+/, '"version":99')],
    ["another origin's entry", (text) => text.replaceAll('a.test', 'b.test')],
    ['a huge text', (text) => text.replace(/"bytes":"/, `$&${'#'.repeat(6_000_000)}`)],
  ]
  test.for(changes)('%s', async ([, change], { sites, newClient }) => {
    sites.respond(ROBOTS, rules, others)
    const store = mapStore()
    await newClient({ store }).check(sites.withPort(checkedPage))
    const client = newClient({
      store: { ...store, get: async (origin) => change(store.texts.get(origin) ?? '') as string },
    })
    const failures = failuresOf(client)
    expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(true)
    expect(sites.requests).toHaveLength(2)
    expect(client.counters).toMatchObject({ storeHits: 0, storeMisses: 1, storeFailures: 0 })
    expect(failures).toEqual([])
  })
})

describe('an entry of a client with other options', () => {
  test.for([
    ['a private address', 'http://127.0.0.1:PORT', 'public-only'],
    ['a private name', 'http://a.test:PORT', 'public-only'],
    ['a redirect from a public host to a private address', 'http://a.example.com:PORT', 'guarded'],
  ] as const)('is a miss if this client’s guard refuses it: %s', async ([, site, network], { sites, newClient }) => {
    sites.respond('http://a.example.com:PORT/robots.txt', {
      status: 301,
      headers: { location: 'http://127.0.0.1:PORT/robots.txt' },
    })
    const store = mapStore()
    const lookup = lookupIn({ 'a.example.com': '127.0.0.1' })
    const url = sites.withPort(`${site}/page`)
    const writer = newClient({ store, lookup, network: 'any' })
    expect(await writer.check(url)).toMatchObject({ allowed: true, because: 'unavailable' })
    const lines = [...writer.export()]

    const blocked = { allowed: false, because: 'unreachable', access: { reason: 'blocked-address' } }
    const importing = newClient({ lookup, network })
    expect(await importing.import(lines)).toMatchObject({ unreadable: 1 })
    expect(await importing.check(url)).toMatchObject(blocked)
    const reader = newClient({ store, lookup, network })
    expect(await reader.check(url)).toMatchObject(blocked)
    expect(reader.counters).toMatchObject({ storeHits: 0, storeMisses: 1 })
  })

  test('is kept, and used by others, while this client’s guard refuses it', async ({ sites, newClient }) => {
    const page = sites.withPort('http://127.0.0.1:PORT/page')
    sites.respond('http://127.0.0.1:PORT/robots.txt', rules)
    const store = mapStore()
    const clock = startClock()
    const writer = newClient({ store, now: clock.now })
    expect(await writer.isAllowed(page)).toBe(false)
    clock.advance(DAY)
    const texts = [...store.texts]
    const blocked = { because: 'unreachable', access: { reason: 'blocked-address' } }
    const guarded = newClient({ store, now: clock.now, network: 'public-only' })
    expect(await guarded.check(page)).toMatchObject(blocked)
    expect([...store.texts]).toEqual(texts)
    expect(await writer.check(page)).toMatchObject({ because: 'rule', access: { copy: { freshness: 'fresh' } } })
    expect(await guarded.check(page)).toMatchObject(blocked)
    expect(sites.requests).toHaveLength(2)
  })

  test('is a miss if it failed because of its client: a blocked address', async ({ sites, newClient }) => {
    const page = sites.withPort('http://127.0.0.1:PORT/page')
    sites.respond('http://127.0.0.1:PORT/robots.txt', rules)
    const guarded = newClient({ network: 'public-only' })
    expect(await guarded.check(page)).toMatchObject({ access: { reason: 'blocked-address' } })
    const lines = [...guarded.export()]
    const importing = newClient()
    expect(await importing.import(lines)).toMatchObject({ unreadable: 1 })
    expect(await importing.check(page)).toMatchObject({ because: 'rule' })
    const store = mapStore()
    store.texts.set(sites.withPort('http://127.0.0.1:PORT'), lines.join('').trimEnd())
    const reader = newClient({ store })
    expect(await reader.check(page)).toMatchObject({ because: 'rule' })
    expect(reader.counters).toMatchObject({ storeHits: 0, storeMisses: 1 })
  })

  test('is a miss if this client’s dialect gives the response another meaning', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, { status: 403 })
    const store = mapStore()
    const url = sites.withPort(checkedPage)
    expect(await newClient({ store }).check(url)).toMatchObject({ because: 'unavailable' })
    expect(await newClient({ store, dialect: 'koster-1996' }).check(url)).toMatchObject({ because: 'restricted' })
    expect(await newClient({ store }).check(url)).toMatchObject({ because: 'unavailable' })
    expect(sites.requests).toHaveLength(3)
  })

  test('is fetched in full when due, if a size limit cut it', async ({ sites, newClient }) => {
    const body = `User-agent: *\n${`${'#'.repeat(99)}\n`.repeat(6_000)}${disallowsPage}`
    sites.respond(ROBOTS, { ...rules, body })
    const store = mapStore()
    const clock = startClock()
    const url = sites.withPort(checkedPage)
    expect(await newClient({ store, now: clock.now }).isAllowed(url)).toBe(true)
    clock.advance(DAY)
    expect(await newClient({ store, now: clock.now, maxBodyBytes: 2_000_000 }).isAllowed(url)).toBe(false)
    for (const { headers } of sites.requests) expect(headers).not.toHaveProperty('if-none-match')
  })
})

describe('a store that fails', () => {
  const error = new Error('the disk is on fire')
  const fail: Record<string, () => Promise<never>> = {
    throws: () => {
      throw error
    },
    rejects: () => Promise.reject(error),
    'rejects later': () => new Promise((_, reject) => setImmediate(() => reject(error))),
  }
  const rows = Object.keys(fail).flatMap((how) =>
    (['get', 'set', 'both', 'lease', 'release'] as const).map((method) => [how, method] as const),
  )

  test.for(rows)('%s: %s', async ([how, method], { sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const failing = fail[how] as () => Promise<never>
    const store = mapStore()
    const client = newClient({
      store: {
        ...store,
        ...((method === 'get' || method === 'both') && { get: failing }),
        ...((method === 'set' || method === 'both') && { set: failing }),
        ...(method === 'lease' && { lease: failing }),
        ...(method === 'release' && { lease: async () => ({ release: failing }) }),
      },
    })
    const failures = failuresOf(client)
    expect(await client.check(sites.withPort(checkedPage))).toMatchObject({ allowed: false, because: 'rule' })
    expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(false)
    const origin = sites.withPort('http://a.test:PORT')
    const operations = method === 'both' ? (['get', 'set'] as const) : [method]
    expect(failures).toEqual(operations.map((operation) => ({ operation, origin, error })))
    expect(client.counters).toMatchObject({ storeFailures: operations.length, storeHits: 0, storeMisses: 1 })
    expect(sites.requests).toHaveLength(1)
    expect(await client.inspect(sites.withPort('http://b.test:PORT'))).toMatchObject({
      state: 'unknown',
      source: 'nowhere',
    })
  })

  test('a store that returns values instead of promises works', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const { texts } = mapStore()
    const store = {
      get: (origin: string) => texts.get(origin),
      set: (origin: string, text: string) => void texts.set(origin, text),
      delete: (origin: string) => texts.delete(origin),
    } as unknown as Store
    await newClient({ store }).check(sites.withPort(checkedPage))
    expect(await newClient({ store }).isAllowed(sites.withPort(checkedPage))).toBe(false)
    expect(sites.requests).toHaveLength(1)
  })

  test.for(firstInShortRun(['get', 'set'] as const))(
    'the client continues without a store whose `%s` never answers',
    async (method, { sites, newClient }) => {
      sites.respond(ROBOTS, rules)
      sites.respond('http://b.test:PORT/robots.txt', rules)
      let calls = 0
      const never = () => {
        calls++
        return new Promise<never>(() => undefined)
      }
      const client = newClient({ maxFlights: 1, store: { ...mapStore(), [method]: never } })
      const failures = failuresOf(client)
      const verdicts = await Promise.all(
        ['a', 'b', 'c'].map((name) => client.check(sites.withPort(`http://${name}.test:PORT/page`))),
      )
      expect(verdicts.map(({ because }) => because)).toEqual(['rule', 'rule', 'unavailable'])
      const origin = sites.withPort('http://a.test:PORT')
      expect(failures).toMatchObject([{ operation: method, origin, error: { code: 'ERR_POLITELY_STORE_TIMEOUT' } }])
      expect(calls).toBe(1) // the store is not called for a second
    },
  )

  test('close during a call of the store: the client makes no request after it', async ({ sites, newClient }) => {
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<undefined>()
    const client = newClient({
      store: {
        ...mapStore(),
        get: () => {
          asked.resolve()
          return answer.promise
        },
      },
    })
    const pending = Promise.allSettled([client.check(sites.withPort(checkedPage))])
    await asked.promise
    const closing = client.close()
    answer.resolve(undefined)
    await closing
    expect(await pending).toMatchObject([{ status: 'rejected', reason: { code: 'ERR_POLITELY_CLIENT_CLOSED' } }])
    expect(sites.connections).toEqual([])
  })
})
