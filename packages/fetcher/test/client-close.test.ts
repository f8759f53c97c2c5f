// @module-tag nodes
// @module-tag sockets
// Ending a check early: one caller by its signal, all callers when the client closes. All of it is
// our choice.
import { getEventListeners } from 'node:events'
import type { LookupFunction } from 'node:net'
import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { startRawServer } from '@politely/testkit/servers/raw-server'
import type { Behaviour } from '@politely/testkit/servers/sites'
import { Agent } from 'undici'
import { describe, expect } from 'vitest'
import { ClientClosedError, type Store } from '../src/index.ts'
import { watchOwnSockets } from './own-sockets.ts'
import { test } from './with-sites.ts'

const ROBOTS = 'http://a.test:PORT/robots.txt'
const rules = { status: 200, body: disallowsPage }
const closed = {
  name: 'ClientClosedError',
  code: 'ERR_POLITELY_CLIENT_CLOSED',
  message: expect.stringContaining('closed; await the calls that still run before close(), or create a new client'),
}

describe('an abort', () => {
  test('rejects its own caller with its reason, and no other caller', async ({ sites, newClient }) => {
    const held = Promise.withResolvers<typeof rules>()
    sites.respond(ROBOTS, held.promise)
    const client = newClient()
    const leaver = new AbortController()
    const first = client.isAllowed(sites.withPort(checkedPage), { signal: leaver.signal }) // starts the flight
    const second = client.isAllowed(sites.withPort(checkedPage), { signal: new AbortController().signal })
    const third = client.isAllowed(sites.withPort(checkedPage))
    await sites.requested(1)

    const reason = new Error('no longer needed')
    leaver.abort(reason)
    await expect(first).rejects.toBe(reason)
    held.resolve(rules)
    expect(await Promise.all([second, third])).toEqual([false, false])
    expect(sites.requestedUrls).toEqual([ROBOTS])
  })

  test('of all callers does not end the flight, whose result is cached for later checks', async ({
    sites,
    newClient,
  }) => {
    const held = Promise.withResolvers<typeof rules>()
    sites.respond(ROBOTS, held.promise)
    const client = newClient()
    const leaver = new AbortController()
    const leaving = [1, 2, 3].map(() => client.check(sites.withPort(checkedPage), { signal: leaver.signal }))
    await sites.requested(1)
    leaver.abort()
    const results = await Promise.allSettled(leaving)
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])

    held.resolve(rules)
    expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(false)
    expect(sites.requestedUrls).toEqual([ROBOTS])
  })

  test('before the check prevents all requests', async ({ sites, newClient }) => {
    const reason = new Error('not needed')
    const client = newClient()
    await expect(client.check(sites.withPort(checkedPage), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(sites.connections).toEqual([])
  })

  test('also rejects a check whose result is cached', async ({ sites, newClient }) => {
    const reason = new Error('not needed')
    const client = newClient()
    await client.check(sites.withPort(checkedPage))
    const options = { signal: AbortSignal.abort(reason) }
    await expect(client.isAllowed(sites.withPort(checkedPage), options)).rejects.toBe(reason)
  })

  test('after the check has no effect', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const client = newClient()
    const late = new AbortController()
    expect(await client.isAllowed(sites.withPort(checkedPage), { signal: late.signal })).toBe(false)
    late.abort()
    expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(false)
  })
})

describe('close', () => {
  test.for<readonly [name: string, behave: Behaviour]>([
    ['before the response', () => undefined],
    ['in the body', (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nUser-')],
  ])('rejects checks under way and closes their connections: %s', async ([, behave], { sites, newClient }) => {
    sites.respond(ROBOTS, behave)
    const client = newClient()
    const pending = Promise.allSettled([
      client.check(sites.withPort(checkedPage)),
      client.isAllowed(sites.withPort(checkedPage)),
    ])
    await sites.requested(1)
    await client.close()
    expect(await pending).toMatchObject([
      { status: 'rejected', reason: closed },
      { status: 'rejected', reason: closed },
    ])
    await sites.allConnectionsClosed()
    expect(sites.requestedUrls).toEqual([ROBOTS])
  })

  test.for([
    ['TLS handshake without a response', 'https'],
    ['DNS lookup without a result', 'http'],
  ] as const)(
    'does not wait for connections that are not yet established: %s',
    async ([, scheme], { newClient, onTestFinished }) => {
      const server = await startRawServer(() => undefined)
      onTestFinished(() => server.close())
      const asked = Promise.withResolvers<void>()
      const lookup: LookupFunction = (host, options, callback) => {
        asked.resolve()
        if (scheme === 'https') lookupIn()(host, options, callback)
      }
      const client = newClient({ lookup, timeoutMs: 60_000 }) // who waits for that outlasts the test
      const { opened } = watchOwnSockets()
      const pending = Promise.allSettled([client.check(`${scheme}://a.test:${server.port}/page`)])
      await asked.promise
      if (scheme === 'https') await server.connected
      await client.close()
      expect(await pending).toMatchObject([{ status: 'rejected', reason: closed }])
      expect(opened.map(({ destroyed }) => destroyed)).not.toContain(false)
    },
  )

  test('rejects checks that wait for a retry, and makes no retry', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, (socket) => socket.end('HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n'))
    const client = newClient({ retries: 20 })
    const pending = Promise.allSettled([client.check(sites.withPort(checkedPage))])
    await sites.requested(1)
    await sites.allConnectionsClosed() // so the answer has been read
    await client.close()
    expect(await pending).toMatchObject([{ status: 'rejected', reason: closed }])
    expect(sites.requestedUrls).toEqual([ROBOTS])
  })

  test('has no idle connections to close, since each closes with its request', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, { status: 302, headers: { location: '/rules' } })
    sites.respond('http://a.test:PORT/rules', rules)
    const client = newClient()
    const { opened } = watchOwnSockets()
    await client.check(sites.withPort(checkedPage))
    expect(opened.map(({ destroyed }) => destroyed)).toEqual([true, true])
    await sites.allConnectionsClosed()
  })

  test('rejects every later check, even of a cached origin or an invalid URL', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const client = newClient()
    await client.check(sites.withPort(checkedPage))
    const closing = client.close()
    await expect(client.isAllowed(sites.withPort(checkedPage))).rejects.toBeInstanceOf(ClientClosedError)
    await closing
    for (const url of [sites.withPort(checkedPage), sites.withPort('http://b.test:PORT/page'), '']) {
      await expect(client.check(url)).rejects.toMatchObject(closed)
      await expect(client.isAllowed(url)).rejects.toBeInstanceOf(ClientClosedError)
    }
    expect(sites.requestedUrls).toEqual([ROBOTS])
  })

  test('may be called twice, concurrently, and before any check', async ({ newClient }) => {
    const client = newClient()
    await Promise.all([client.close(), client.close()])
    await client.close()
    await expect(client.check('http://a.test/')).rejects.toMatchObject(closed)
  })

  test('is called by `await using`', async ({ newClient }) => {
    const client = newClient()
    await client[Symbol.asyncDispose]()
    await expect(client.check('http://a.test/')).rejects.toMatchObject(closed)
  })

  test("leaves the caller's own dispatcher open", async ({ sites, newClient, onTestFinished }) => {
    sites.respond(ROBOTS, rules)
    const dispatcher = new Agent({ connect: { lookup: lookupIn() } })
    onTestFinished(() => dispatcher.destroy())
    const first = newClient({ dispatcher })
    await first.check(sites.withPort(checkedPage))
    await first.close()
    expect(await newClient({ dispatcher }).isAllowed(sites.withPort(checkedPage))).toBe(false)
    expect(sites.requests).toHaveLength(2)
  })
})

describe('a check with `redirectedFrom`', () => {
  test('ends with the client, and with its signal', async ({ newClient }) => {
    const asked = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let lookups = 0
    const lookup: LookupFunction = () => asked[lookups++]?.resolve()
    const client = newClient({ lookup, timeoutMs: 60_000 })
    const reason = new Error('no longer needed')
    const leaver = new AbortController()
    const redirectedFrom = ['http://example.com/']
    const first = client.check('http://printer/', { redirectedFrom, signal: leaver.signal })
    const second = client.check('http://scanner/', { redirectedFrom, signal: new AbortController().signal })
    const results = Promise.allSettled([first, second])
    await Promise.all(asked.map(({ promise }) => promise))
    leaver.abort(reason)
    await expect(first).rejects.toBe(reason)
    await client.close()
    expect(await results).toMatchObject([{ reason }, { reason: closed }])
    expect(getEventListeners(leaver.signal, 'abort')).toEqual([])
  })
})

describe('close with a store that does not respond', () => {
  const never = new Promise<never>(() => undefined)

  test.for<readonly [operation: string, store: Partial<Store>]>([
    ['get', { get: () => never }],
    ['set', { set: () => never }],
    ['lease', { lease: () => never }],
    ['release', { lease: async () => ({ release: () => never }) }],
  ])('does not wait for its time limit: %s', async ([operation, methods], { sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const called = Promise.withResolvers<void>()
    const nothing = async () => undefined
    const store: Store = { get: nothing, set: nothing, delete: nothing, ...methods }
    const watch = <A extends unknown[], R>(name: string, method: (...args: A) => R) => {
      return (...args: A) => {
        if (name === operation) called.resolve()
        return method(...args)
      }
    }
    const client = newClient({
      store: {
        get: watch('get', store.get),
        set: watch('set', store.set),
        delete: store.delete,
        lease: watch('lease', async (...args) => {
          const lease = await store.lease?.(...args)
          return { release: watch('release', lease?.release ?? nothing) }
        }),
      },
    })
    const pending = Promise.allSettled([client.check(sites.withPort(checkedPage))])
    await called.promise
    await client.close()
    expect(await pending).toMatchObject([{ status: 'rejected', reason: closed }])
    expect(client.counters.storeFailures).toBe(0) // after its time limit, it would be one
  })

  test('rejects `inspect` and `import`, which save nothing after it', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const source = newClient()
    await source.check(sites.withPort(checkedPage))
    const answer = Promise.withResolvers<undefined>()
    const asked: string[] = []
    const saved: string[] = []
    const get = (origin: string) => {
      asked.push(origin)
      return answer.promise
    }
    const set = async (origin: string) => void saved.push(origin)
    const client = newClient({ store: { get, set, delete: async () => undefined } })
    const pending = Promise.allSettled([client.import(source.export()), client.inspect('http://b.test/')])
    while (asked.length < 2) await new Promise((resolve) => setImmediate(resolve))
    await client.close()
    expect(await pending).toMatchObject([{ reason: closed }, { reason: closed }])
    answer.resolve(undefined)
    await new Promise((resolve) => setImmediate(resolve))
    expect(saved).toEqual([])
    expect(client.gauges.origins).toBe(0)
  })
})

describe('the option `signal`', () => {
  test('closes the client when it aborts', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, () => undefined)
    const ending = new AbortController()
    const client = newClient({ signal: ending.signal })
    const pending = client.check(sites.withPort(checkedPage))
    await sites.requested(1)
    ending.abort(new Error('the program ends'))
    await expect(pending).rejects.toMatchObject(closed)
    await expect(client.check(sites.withPort(checkedPage))).rejects.toMatchObject(closed)
    await sites.allConnectionsClosed()
  })

  test('leaves no listener on the signal when the client is closed', async ({ newClient }) => {
    const { signal } = new AbortController()
    const client = newClient({ signal })
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await client.close()
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('closes the client at once if it is already aborted', async ({ sites, newClient }) => {
    const client = newClient({ signal: AbortSignal.abort() })
    await expect(client.check(sites.withPort(checkedPage))).rejects.toMatchObject(closed)
    expect(sites.connections).toEqual([])
  })
})
