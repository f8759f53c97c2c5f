// @module-tag nodes
// A lookup that never ends or ends late must delay only its own site. Our choice.
import { createSocket } from 'node:dgram'
import type { AddressInfo, LookupFunction } from 'node:net'
import { describe, expect, onTestFinished } from 'vitest'
import { boundedLookup, dnsLookup } from '../src/network/lookup.ts'
import { test } from './with-sites.ts'

type Answer = Parameters<LookupFunction>[2]

/**
 * A resolver with as many threads as libuv's pool. A lookup under `evil.com` or `evil1.eu.org`
 * blocks a thread until the test releases it.
 */
function startThreadedLookup(threads = 4) {
  const running: { readonly host: string; readonly callback: Answer }[] = []
  const waiting: { readonly host: string; readonly callback: Answer }[] = []
  const started: string[] = []
  const next = () => {
    while (running.length < threads) {
      const one = waiting.shift()
      if (one === undefined) return
      started.push(one.host)
      if (/evil\d*\.(com|eu\.org)$/.test(one.host)) running.push(one)
      else queueMicrotask(() => one.callback(null, [{ address: '127.0.0.1', family: 4 }]))
    }
  }
  const lookup: LookupFunction = (host, _options, callback) => {
    waiting.push({ host, callback })
    next()
  }
  const release = () => {
    const one = running.shift()
    one?.callback(Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' }), [])
    next()
  }
  return { lookup, started, release, running: () => running.length }
}

describe('one lookup at a time for each site', () => {
  test('200 hosts of a domain with a silent name server block one thread, and other sites resolve', async ({
    newClient,
    sites,
  }) => {
    sites.respond('http://honest.test:PORT/robots.txt', { status: 404 })
    const threaded = startThreadedLookup()
    const client = newClient({ lookup: threaded.lookup, timeoutMs: 100 })
    const patient = newClient({ lookup: threaded.lookup })
    const evil = Array.from({ length: 200 }, (_, i) =>
      client.check(`http://${i % 2 ? `h${i}` : `h${i}-`}.evil.com/page`),
    )
    const ended = Promise.allSettled(evil)
    const honest = await patient.check(sites.withPort('http://honest.test:PORT/page'))
    expect(honest).toMatchObject({ because: 'unavailable' })
    const [first] = await Promise.all(evil.slice(0, 8))
    expect(first).toMatchObject({ access: { reason: 'timeout' } })
    // The deadlines have passed, but the lookup has not ended and still counts.
    expect(threaded.running()).toBe(1)
    expect(threaded.started).toEqual(['h0-.evil.com', 'honest.test'])
    threaded.release()
    await new Promise((resolve) => setImmediate(resolve))
    expect(threaded.running()).toBe(1)
    expect(threaded.started).toHaveLength(3)
    await client.close()
    await ended
  })

  test('silent name servers of tenants of a platform block two threads', async () => {
    const { lookup, started, running, release } = startThreadedLookup()
    const bounded = boundedLookup(lookup)
    const ask = (host: string) => new Promise((resolve) => bounded(host, {}, resolve))
    const evil = ['evil1', 'evil1', 'evil2', 'evil3'].map((tenant) => ask(`www.${tenant}.eu.org`))
    const honest = ask('honest.eu.org')
    await ask('honest.test')
    expect(started).toEqual(['www.evil1.eu.org', 'www.evil2.eu.org', 'honest.test'])
    for (let n = 0; n < evil.length; n++) {
      release()
      await new Promise((resolve) => setImmediate(resolve))
      expect(running()).toBeLessThanOrEqual(2)
    }
    await Promise.all([...evil, honest])
    // The tenants take turns.
    expect(started.slice(3)).toEqual(['www.evil3.eu.org', 'honest.eu.org', 'www.evil1.eu.org'])
  })

  test('all users of one resolver share the limit', () => {
    const { lookup, started } = startThreadedLookup()
    for (const one of [boundedLookup(lookup), boundedLookup(lookup)]) one('a.evil.com', {}, () => undefined)
    expect(started).toEqual(['a.evil.com'])
  })

  test('lookups over the queue limit fail at once', async () => {
    const { lookup, started } = startThreadedLookup()
    const bounded = boundedLookup(lookup)
    const codes: (string | undefined)[] = []
    for (let i = 0; i < 300; i++) bounded(`h${i}.evil.com`, {}, (error) => void codes.push(error?.code))
    await new Promise((resolve) => setImmediate(resolve))
    expect(codes).toEqual(Array.from({ length: 43 }, () => 'EAI_AGAIN'))
    expect(started).toEqual(['h0.evil.com'])
  })

  test('a resolver that throws or calls back twice does not block the next lookup', async () => {
    let calls = 0
    const bounded = boundedLookup((_host, _options, callback) => {
      if (++calls === 1) throw new Error('broken')
      callback(null, '127.0.0.1', 4)
      callback(null, '127.0.0.1', 4)
    })
    const ask = () =>
      new Promise((resolve) => bounded('a.example.com', {}, (...answer) => resolve(answer[0]?.message ?? answer[1])))
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(['broken', '127.0.0.1', '127.0.0.1'])
    expect(calls).toBe(3)
  })
})

test.for([[undefined], [null], [5], [[null]], [[{}]], [[{ address: 5 }]], [['127.0.0.1']]] as const)(
  'an invalid result is a failure of the lookup: %j',
  async ([answer], { newClient }) => {
    const lookup: LookupFunction = (_host, _options, callback) => callback(null, answer as never, 4)
    const client = newClient({ lookup })
    expect(await client.check('http://a.test/page')).toMatchObject({ access: { reason: 'dns-unavailable' } })
    expect(await client.check('http://a.example.com/page')).toMatchObject({ access: { reason: 'dns-unavailable' } })
  },
)

describe('dnsLookup queries name servers directly', () => {
  /**
   * A DNS server on loopback: `good.example.com` is 127.0.0.1, `evil.com` gets no response, all
   * other names do not exist.
   */
  async function startNameServer(): Promise<string> {
    const socket = createSocket('udp4')
    socket.on('message', (query, { port, address }) => {
      const labels: string[] = []
      let at = 12
      while (query[at]) {
        labels.push(query.toString('latin1', at + 1, at + 1 + (query[at] as number)))
        at += 1 + (query[at] as number)
      }
      const name = labels.join('.').toLowerCase()
      if (name.endsWith('evil.com')) return
      const question = query.subarray(12, at + 5)
      const isA = query.readUInt16BE(at + 1) === 1
      const isKnown = name === 'good.example.com'
      const answers = isKnown && isA ? 1 : 0
      const head = Buffer.from([
        query[0] ?? 0,
        query[1] ?? 0,
        0x81,
        isKnown ? 0x80 : 0x83,
        0,
        1,
        0,
        answers,
        0,
        0,
        0,
        0,
      ])
      const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1])
      socket.send(Buffer.concat([head, question, ...(answers ? [record] : [])]), port, address)
    })
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    onTestFinished(() => void socket.close())
    return `127.0.0.1:${(socket.address() as AddressInfo).port}`
  }

  const ask = (lookup: LookupFunction, host: string, options = {}) =>
    new Promise((resolve) =>
      lookup(host, options, (error, address, family) => resolve(error?.code ?? [address, family])),
    )

  test('resolves names, and handles missing names and silent servers', async () => {
    const lookup = dnsLookup({ servers: [await startNameServer()], timeoutMs: 50, tries: 1 })
    expect(await ask(lookup, 'good.example.com')).toEqual(['127.0.0.1', 4])
    expect(await ask(lookup, 'good.example.com', { all: true })).toEqual([
      [{ address: '127.0.0.1', family: 4 }],
      undefined,
    ])
    expect(await ask(lookup, 'good.example.com', { family: 6 })).toBe('ENOTFOUND')
    expect(await ask(lookup, 'missing.example.com')).toBe('ENOTFOUND')
    expect(await ask(lookup, 'a.evil.com')).toBe('EAI_AGAIN')
    expect(await ask(lookup, 'localhost', { family: 4 })).toEqual(['127.0.0.1', 4])
  })

  test('its queries are cancelled when all clients that wait for them are closed, and not before', async () => {
    const lookup = dnsLookup({ servers: [await startNameServer()], timeoutMs: 60_000 })
    const [one, other] = [new AbortController(), new AbortController()]
    const ended: string[] = []
    const start = async (closing: AbortController, host: string) => {
      expect(await ask(boundedLookup(lookup, closing.signal), host)).toBe('EAI_AGAIN')
      ended.push(host)
    }
    // The second one waits for the first one, whose domain it shares.
    const pending = [start(one, 'a.evil.com'), start(one, 'b.evil.com'), start(other, 'c.not-evil.com')]
    one.abort()
    expect(await ask(boundedLookup(lookup, other.signal), 'good.example.com')).toEqual(['127.0.0.1', 4])
    expect(ended).toEqual([])
    other.abort()
    await Promise.all(pending)
    expect(await ask(lookup, 'good.example.com')).toEqual(['127.0.0.1', 4])
  })

  test('the network guard checks its results', async ({ newClient }) => {
    const lookup = dnsLookup({ servers: [await startNameServer()] })
    const verdict = await newClient({ lookup }).check('http://good.example.com/page')
    expect(verdict).toMatchObject({ access: { reason: 'blocked-address' } })
  })

  test.for([
    [{ timeoutMs: 0 }, 'timeoutMs'],
    [{ tries: 1.5 }, 'tries'],
    [{ severs: [] }, 'severs'],
    [{ servers: ['not an address'] }, 'servers'],
    [{ servers: '127.0.0.1' }, 'servers'],
  ] as const)('refuses an invalid option: %j', ([options, option]) => {
    expect(() => dnsLookup(options as never)).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option }))
  })
})
