// `forget` of a client. All of it is our choice.
import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { startClock } from '@politely/testkit/clock'
import type { Reply } from '@politely/testkit/servers/sites'
import { describe, expect } from 'vitest'
import { MemoryStore, type Store, type StoreFailure } from '../src/index.ts'
import { test } from './with-sites.ts'

const ROBOTS = 'http://a.test:PORT/robots.txt'
const disallows: Reply = { status: 200, headers: { etag: '"1"' }, body: disallowsPage }
const allows: Reply = { status: 200, body: '' }

describe('forget', () => {
  test('makes the next check fetch robots.txt without conditions, also for another URL of the origin', async ({
    sites,
    newClient,
  }) => {
    sites.respond(ROBOTS, disallows, allows)
    const client = newClient()
    const url = sites.withPort(checkedPage)
    expect(await client.isAllowed(url)).toBe(false)
    expect(await client.forget(new URL(sites.withPort('http://a.test:PORT/another?x')))).toBe(true)
    expect(client.checkNow(url)).toBeUndefined()
    expect(await client.inspect(url)).toMatchObject({ state: 'unknown', source: 'nowhere', attempts: [] })
    expect(await client.isAllowed(url)).toBe(true)
    expect(sites.requests).toHaveLength(2)
    expect(sites.requests[1]?.headers).not.toHaveProperty('if-none-match')
  })

  test('keeps the entries of other origins, and may be called for an unknown one', async ({ sites, newClient }) => {
    const client = newClient()
    await client.check(sites.withPort(checkedPage))
    expect(await client.forget('https://b.test/')).toBe(true)
    expect(client.checkNow(sites.withPort(checkedPage))).toBeDefined()
  })

  test('ends the wait after a failure: the next check tries at once', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, { status: 503, headers: { 'retry-after': '86400' } }, allows)
    const client = newClient()
    const url = sites.withPort(checkedPage)
    expect(await client.check(url)).toMatchObject({ because: 'unreachable' })
    expect(await client.check(url)).toMatchObject({ because: 'unreachable' })
    expect(sites.requests).toHaveLength(1)
    await client.forget(url)
    expect(await client.isAllowed(url)).toBe(true)
  })

  test('removes the entry in the store; a client of another process keeps its own until it is stale', async ({
    sites,
    newClient,
  }) => {
    const clock = startClock()
    sites.respond(ROBOTS, disallows, allows)
    const store = new MemoryStore({ now: clock.now })
    const [client, other] = [newClient({ store, now: clock.now }), newClient({ store, now: clock.now })]
    const url = sites.withPort(checkedPage)
    expect([await client.isAllowed(url), await other.isAllowed(url)]).toEqual([false, false])
    expect(await client.forget(url)).toBe(true)
    expect(await client.isAllowed(url)).toBe(true)
    expect(await other.isAllowed(url)).toBe(false)
    clock.advance(23 * 3_600_000)
    await client.check(url, { maxAgeMs: 1_000 })
    clock.advance(3_600_000) // the entry of the other client is stale, and the one in the store is not
    expect(await other.isAllowed(url)).toBe(true)
    expect(sites.requests).toHaveLength(3)
  })

  test('ignores an entry that a check was reading from the store', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, disallows, allows)
    const texts = new MemoryStore()
    await newClient({ store: texts }).check(sites.withPort(checkedPage))
    const reading = Promise.withResolvers<void>()
    const mayEnd = Promise.withResolvers<void>()
    const store: Store = {
      get: async (origin) => {
        const text = await texts.get(origin)
        reading.resolve()
        await mayEnd.promise
        return text
      },
      set: (...args) => texts.set(...args),
      delete: (origin) => texts.delete(origin),
    }
    const client = newClient({ store })
    const allowed = client.isAllowed(sites.withPort(checkedPage))
    await reading.promise
    await client.forget(sites.withPort(checkedPage))
    mayEnd.resolve()
    expect(await allowed).toBe(true)
    expect(sites.requests).toHaveLength(2)
  })

  test('during a fetch: the result counts, and nothing that was known before', async ({ sites, newClient }) => {
    const clock = startClock()
    const response = Promise.withResolvers<Reply>()
    sites.respond(ROBOTS, disallows, response.promise)
    const client = newClient({ now: clock.now })
    const url = sites.withPort(checkedPage)
    await client.check(url)
    clock.advance(25 * 3_600_000)
    const verdict = client.check(url)
    await sites.requested(2)
    await client.forget(url)
    response.resolve({ status: 503 })
    expect(await verdict).toMatchObject({ because: 'unreachable', access: { copy: undefined } })
    expect(await client.inspect(url)).toMatchObject({ state: 'lost', attempts: [{ status: 503 }] })
    expect(sites.requests).toHaveLength(2)
  })

  test('returns false if the store failed to delete its entry, and reports the failure', async ({
    sites,
    newClient,
  }) => {
    const error = new Error('the disk is full')
    const store: Store = { get: async () => undefined, set: async () => undefined, delete: () => Promise.reject(error) }
    const client = newClient({ store })
    const failures: StoreFailure[] = []
    client.events.on('store-failed', (failure) => failures.push(failure))
    await client.check(sites.withPort(checkedPage))
    expect(await client.forget(sites.withPort(checkedPage))).toBe(false)
    expect(failures).toEqual([{ operation: 'delete', origin: sites.withPort('http://a.test:PORT'), error }])
    expect(client.checkNow(sites.withPort(checkedPage))).toBeUndefined()
  })

  test('rejects an invalid URL, and every URL after `close`', async ({ newClient }) => {
    const client = newClient()
    await expect(client.forget('example.com/page')).rejects.toMatchObject({ code: 'ERR_POLITELY_OPTION' })
    await client.close()
    await expect(client.forget('https://a.test/')).rejects.toMatchObject({ code: 'ERR_POLITELY_CLIENT_CLOSED' })
  })
})
