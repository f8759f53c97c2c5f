// @module-tag nodes
// politeInterceptor and politeAgent: what they leave unchanged, what they refuse, and the release
// of permits.
import { EventEmitter, once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { OptionError } from '@politely/core'
import { type RequestSigner, RobotsClient } from '@politely/fetcher'
import { lookupIn } from '@politely/testkit/servers/lookup'
import * as undici from 'undici'
import * as undici6 from 'undici6'
import * as undici7 from 'undici7'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { PoliteGate, politely, RobotsDisallowedError } from '../src/index.ts'
import { type PoliteAgent, type PoliteAgentOptions, politeAgent, politeInterceptor } from '../src/undici/index.ts'
import { Site, until } from './site.ts'

const USER_AGENT = 'ExampleBot/1.0 (+https://example.com/bot)'
const { Agent, interceptors, request } = undici

let site: Site
let robots: RobotsClient
let gate: PoliteGate
let ends: (() => Promise<void>)[]

beforeEach(async () => {
  site = await Site.open({ '*': 'User-agent: ExampleBot\nDisallow: /private\nDisallow: /*?secret=\n' })
  robots = new RobotsClient({ userAgent: USER_AGENT })
  gate = new PoliteGate({ robots, minDelayMs: 0, maxConcurrent: 1 })
  ends = []
})
afterEach(async () => {
  for (const end of ends) await end()
  await robots.close()
  await site.close()
})

/**
 * An agent that admits one request at a time. After each test every permit must have been released.
 */
function gated(...others: undici.Dispatcher.DispatcherComposeInterceptor[]): undici.Dispatcher {
  const agent = new Agent()
  ends.push(() => agent.destroy())
  return agent.compose(politeInterceptor(gate), ...others)
}

async function isFree(): Promise<void> {
  await gate.drain()
  const { started, done } = gate.counters
  expect(done).toBe(started)
  ;(await gate.enter(`${site.origin}/`)).release()
}

describe('the permit of a redirect is released when its headers arrive', () => {
  const fetches = [
    { name: 'undici.fetch', fetch: undici.fetch as unknown as typeof globalThis.fetch },
    { name: 'globalThis.fetch', fetch: globalThis.fetch },
  ]

  // fetch does not read the body of a redirect. A body that is larger than its buffer never ends.
  test.each(fetches)('for a long body: $name', async ({ fetch }) => {
    site.pages.set('/moved', (_, response) => response.writeHead(302, { location: '/page' }).end('x'.repeat(1_000_000)))
    const dispatcher = politeAgent({ gate })
    ends.push(() => dispatcher.destroy())
    const response = await fetch(`${site.origin}/moved`, { dispatcher } as unknown as RequestInit)
    expect(await response.text()).toBe('page /page')
    await isFree()
  })

  test.each(fetches)('for a body that never ends: $name', async ({ fetch }) => {
    site.pages.set('/moved', (_, response) => response.writeHead(302, { location: '/page' }).write('x'))
    const dispatcher = politeAgent({ gate })
    ends.push(() => dispatcher.destroy())
    const visits = [1, 2, 3].map(async (i) => {
      const response = await fetch(`${site.origin}/moved?${i}`, { dispatcher } as unknown as RequestInit)
      return response.text()
    })
    expect(await Promise.all(visits)).toEqual(['page /page', 'page /page', 'page /page'])
    await isFree()
  })

  test.each(fetches)(
    'and `drain` waits for the next hop of $name, and not for a body that never ends',
    async ({ fetch }) => {
      site.pages.set('/moved', (_, response) => response.writeHead(302, { location: '/page' }).write('x'))
      const dispatcher = politeAgent({ gate })
      ends.push(() => dispatcher.destroy())
      const following = fetch(`${site.origin}/moved`, { dispatcher } as unknown as RequestInit)
      const text = following.then((response) => response.text())
      await until(() => site.lines.includes('GET /moved'))
      await gate.drain()
      expect(gate.counters).toMatchObject({ started: 2, done: 2 })
      expect(await text).toBe('page /page')
    },
  )

  test.each(fetches)('and `drain` does not wait for a redirect that $name does not follow', async ({ fetch }) => {
    site.pages.set('/moved', (_, response) => response.writeHead(302, { location: '/page' }).write('x'))
    const dispatcher = politeAgent({ gate })
    ends.push(() => dispatcher.destroy())
    const options = { dispatcher, redirect: 'error' } as unknown as RequestInit
    await expect(fetch(`${site.origin}/moved`, options)).rejects.toThrow('fetch failed')
    await gate.drain()
  })

  test('for a body that the caller reads', async () => {
    site.pages.set('/moved', (_, response) => response.writeHead(302, { location: '/page' }).end('x'.repeat(1_000_000)))
    const { body } = await request(`${site.origin}/moved`, { dispatcher: gated() })
    expect(gate.queues()).toEqual([])
    let bytes = 0
    for await (const chunk of body) bytes += chunk.length
    expect(bytes).toBe(1_000_000)
    await isFree()
  })

  test('and `drain` does not wait for the body of a request that sets maxRedirections: 0', async () => {
    site.pages.set('/moved', (_, response) => response.writeHead(302, { location: '/page' }).write('x'))
    const options = { dispatcher: gated(), maxRedirections: 0 }
    const { body } = await request(`${site.origin}/moved`, options)
    await isFree()
    body.on('error', () => undefined).destroy()
  })

  test('and `drain` waits for the next hop, which starts when the body ends', async () => {
    let end = () => {}
    site.pages.set('/moved', (_, response) => {
      response.writeHead(302, { location: '/page' }).write('x')
      end = () => void response.end()
    })
    const following = gated(interceptors.redirect({ maxRedirections: 1 }))
    const responding = request(`${site.origin}/moved`, { dispatcher: following })
    await until(() => site.lines.includes('GET /moved') && gate.queues().length === 0)
    let isDrained = false
    const drained = gate.drain().then(() => (isDrained = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(isDrained).toBe(false)
    end()
    expect(await (await responding).body.text()).toBe('page /page')
    await drained
    expect(gate.counters).toMatchObject({ started: 2, done: 2 })
  })
})

describe('leaves unchanged', () => {
  test('status, headers, and the body chunk by chunk', async () => {
    let more = () => {}
    site.pages.set('/drip', (_, response) => {
      response.writeHead(201, { 'x-own': 'yes' }).write('one')
      more = () => void response.end('two')
    })
    const { statusCode, headers, body } = await request(`${site.origin}/drip`, { dispatcher: gated() })
    expect([statusCode, headers['x-own']]).toEqual([201, 'yes'])
    const chunks = body[Symbol.asyncIterator]()
    expect(String((await chunks.next()).value)).toBe('one')
    expect(gate.queues()).toMatchObject([{ underWay: 1 }]) // until the response ends
    more()
    expect(String((await chunks.next()).value)).toBe('two')
    expect((await chunks.next()).done).toBe(true)
    await isFree()
  })

  test('a large body with a slow reader', async () => {
    const bytes = Buffer.alloc(3_000_000)
    for (const n of bytes.keys()) bytes[n] = (n * 31 + (n >> 8)) & 255
    site.pages.set('/bytes', (_, response) => response.end(bytes))
    const { body } = await request(`${site.origin}/bytes`, { dispatcher: gated(), highWaterMark: 1_000 })
    const chunks: Buffer[] = []
    for await (const chunk of body) {
      chunks.push(chunk)
      if (chunks.length % 10 === 0) await new Promise((turn) => setImmediate(turn))
    }
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true)
    await isFree()
  })

  test('the request: method, headers, a body that is a stream', async () => {
    const body = Readable.from(['some ', 'text'])
    const headers = { 'x-mine': 'z' }
    await (await request(`${site.origin}/page`, { method: 'POST', headers, body, dispatcher: gated() })).body.dump()
    expect(site.seen).toMatchObject([{ method: 'POST', url: '/page', body: 'some text', headers }])
    await isFree()
  })

  test('an upgrade, whose permit is released at once', async () => {
    const server = createServer((_, response) => response.end()).on('upgrade', (_, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n')
      socket.pipe(socket)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { socket } = await undici.upgrade(origin, { protocol: 'echo', dispatcher: gated() })
    socket.write('hello')
    const [echo] = await once(socket, 'data')
    expect(String(echo)).toBe('hello')
    await isFree()
    socket.destroy()
    server.close()
  })

  test('a request with `upgrade` that cannot take over the socket, which fails as without a gate', async () => {
    const requesting = undici.request(`${site.origin}/page`, { upgrade: 'echo', dispatcher: gated() })
    await expect(requesting).rejects.toMatchObject({ code: 'ERR_POLITELY_REQUEST' })
    expect(site.seen).toEqual([])
    await isFree()
  })

  test('CONNECT requests', async () => {
    const server = createServer().on('connect', (request, socket) => {
      socket.end(`HTTP/1.1 200 Connected\r\n\r\n${request.url}`)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { socket } = await undici.connect(origin, { path: 'far.test:443', dispatcher: gated() } as never)
    const [data] = await once(socket, 'data')
    expect(String(data)).toContain('far.test:443')
    expect(gate.counters.started).toBe(0)
    socket.destroy()
    server.close()
  })

  test('errors: of a connection, of a response that breaks off, of options', async () => {
    site.pages.set('/reset', (request) => request.socket.resetAndDestroy())
    site.pages.set('/broken', (request, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('begun')
      setImmediate(() => request.socket.destroy())
    })
    const dispatcher = gated()
    await expect(request(`${site.origin}/reset`, { dispatcher })).rejects.toMatchObject({ code: /RESET|SOCKET/ })
    const { body } = await request(`${site.origin}/broken`, { dispatcher })
    await expect(body.text()).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' })
    const unsendable = { method: 'GET IT' as 'GET', dispatcher }
    await expect(request(`${site.origin}/page`, unsendable)).rejects.toMatchObject({ code: 'UND_ERR_INVALID_ARG' })
    await isFree()
  })
})

describe('refuses', () => {
  test('a disallowed URL, with the gate’s error', async () => {
    const error = await request(`${site.origin}/private`, { dispatcher: gated() }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(RobotsDisallowedError)
    expect(site.seen).toEqual([])
    await isFree()
  })

  test('a disallowed URL in fetch, with the gate’s error as cause', async () => {
    const error = await undici
      .fetch(`${site.origin}/private`, { dispatcher: gated() })
      .catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(TypeError)
    expect((error as Error).cause).toMatchObject({ code: 'ERR_POLITELY_DISALLOWED', verdict: { because: 'rule' } })
  })

  test.each([
    ['a disallowed query that undici adds', '/page', { secret: '1' }, 'refused'],
    ['a query in the path', '/page?a=b', undefined, 'GET /page?a=b'],
    ['a query with several values', '/page', { a: ['b', 'c'], d: 'e f' }, 'GET /page?a=b&a=c&d=e%20f'],
    ['an empty query', '/page', {}, 'GET /page'],
  ])('%s', async (_, path, query, expected) => {
    const dispatcher = gated()
    const outcome = await request(`${site.origin}${path}`, { dispatcher, ...(query && { query }) }).then(
      async ({ body }) => {
        await body.dump()
        return site.lines[0]
      },
      (error: unknown) => (error instanceof RobotsDisallowedError ? 'refused' : error),
    )
    expect(outcome).toBe(expected)
  })

  test('an interceptor that follows redirects in the wrong order, before anything is sent', async () => {
    const agent = new Agent()
    ends.push(() => agent.destroy())
    const wrong = agent.compose(interceptors.redirect({ maxRedirections: 5 }), politeInterceptor(gate))
    const error = await request(`${site.origin}/page`, { dispatcher: wrong }).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(OptionError)
    expect((error as Error).message).toContain('compose(politeInterceptor(gate), interceptors.redirect(')
    expect(site.seen).toEqual([])
    await isFree()
    // `fetch` follows redirects itself, and dispatches each hop. So the order does not matter for
    // it.
    expect((await undici.fetch(`${site.origin}/page`, { dispatcher: wrong })).status).toBe(200)
  })
})

test('refuses a request to another origin than that of the Client or Pool below it', async () => {
  const other = await Site.open({})
  ends.push(() => other.close())
  for (const own of [new undici.Client(site.origin), new undici.Pool(site.origin)]) {
    ends.push(() => own.destroy())
    const dispatcher = own.compose(interceptors.dump(), politeInterceptor(gate), interceptors.retry())
    const get = (options: { origin?: string; path: string }) => dispatcher.request({ method: 'GET', ...options })
    const refused = {
      code: 'ERR_POLITELY_REQUEST',
      message: expect.stringContaining(`send the request to ${site.origin}`),
    }
    await expect(get({ origin: other.origin, path: '/page' })).rejects.toMatchObject(refused)
    await expect(request(`${other.origin}/page`, { dispatcher })).rejects.toMatchObject(refused)
    expect([...site.lines, ...other.lines]).toEqual([])
    for (const origin of [{ origin: site.origin }, { origin: `${site.origin}/` }, {}])
      await (await get({ ...origin, path: '/page' })).body.dump()
    // To a proxy, a request has the whole URL.
    await (await get({ path: `${other.origin}/page` })).body.dump()
    await isFree()
    site.seen.length = 0
  }
  expect(other.lines).toEqual([])
})

test('says where interceptors.dns belongs', async () => {
  const agent = new Agent()
  const polite = politeAgent({ gate })
  ends.push(() => Promise.all([agent.destroy(), polite.destroy()]).then(() => undefined))
  const url = site.at('a.test', '/page')
  const dns = interceptors.dns({
    lookup: (_, __, done) => done(null, [{ address: '127.0.0.1', family: 4, ttl: 1000 }]),
  })
  const named = new RobotsClient({
    userAgent: USER_AGENT,
    network: 'any',
    lookup: lookupIn({ 'a.test': ['127.0.0.1'] }),
  })
  ends.push(() => named.close())
  const ordered = agent.compose(dns, politeInterceptor(new PoliteGate({ robots: named, minDelayMs: 0 })))
  expect((await request(url, { dispatcher: ordered })).statusCode).toBe(200)
  for (const dispatcher of [agent.compose(politeInterceptor(gate), dns), polite.compose(dns)])
    await expect(request(url, { dispatcher })).rejects.toMatchObject({
      code: 'ERR_POLITELY_REQUEST',
      message: expect.stringContaining('write .compose(interceptors.dns(), politeInterceptor(gate))'),
    })
})

describe('a composed politeAgent', () => {
  const ways: readonly (readonly [name: string, end: (agent: undici.Dispatcher) => Promise<void>])[] = [
    ['close()', (agent) => agent.close()],
    ['close(callback)', (agent) => new Promise((resolve) => agent.close(resolve))],
    ['destroy()', (agent) => agent.destroy()],
    ['destroy(error)', (agent) => agent.destroy(new Error('enough'))],
    ['destroy(callback)', (agent) => new Promise((resolve) => agent.destroy(resolve))],
    ['destroy(error, callback)', (agent) => new Promise((resolve) => agent.destroy(null, resolve))],
    ['[Symbol.asyncDispose]()', (agent) => (agent as PoliteAgent)[Symbol.asyncDispose]()],
  ]
  test.each(ways)('ends by %s, as the agent does', async (_, end) => {
    const agent = politeAgent({ userAgent: USER_AGENT, minDelayMs: 0 })
    const composed = agent.compose(interceptors.retry()).compose(interceptors.dump())
    expect((await request(`${site.origin}/page`, { dispatcher: composed })).statusCode).toBe(200)
    await end(composed)
    for (const dispatcher of [agent, composed])
      await expect(request(`${site.origin}/page`, { dispatcher })).rejects.toMatchObject({
        code: 'ERR_POLITELY_GATE_CLOSED',
      })
    await agent.close().catch(() => undefined) // as of an Agent, it rejects after destroy
  })
})

describe('undici 6 and 7', () => {
  const versions = { 6: undici6, 7: undici7, 8: undici } as unknown as Record<6 | 7 | 8, typeof undici>
  const opened = (agent: undici.Dispatcher) => {
    ends.push(() => agent.destroy())
    return agent
  }
  /** An agent of this version, with and without the gate's interceptor. */
  const plain = (version: 6 | 7 | 8) => opened(new versions[version].Agent())
  const composed = (version: 6 | 7 | 8) => plain(version).compose(politeInterceptor(gate))
  const requestBy = async (version: 6 | 7 | 8, dispatcher: undici.Dispatcher) => {
    const { body } = await versions[version].request(`${site.origin}/page`, { dispatcher })
    return body.text()
  }
  const fetchBy = async (version: 6 | 7 | 8, dispatcher: undici.Dispatcher) =>
    (await versions[version].fetch(`${site.origin}/page`, { dispatcher })).text()
  const politelyBy = async (version: 6 | 7 | 8, dispatcher: undici.Dispatcher) =>
    (await politely(versions[version].fetch, { gate })(`${site.origin}/page`, { dispatcher })).text()

  test.each<[name: string, send: () => Promise<string>]>([
    ['request of undici 6 through politeAgent', () => requestBy(6, opened(politeAgent({ gate })))],
    ['request of undici 7 through politeAgent', () => requestBy(7, opened(politeAgent({ gate })))],
    [
      'request of undici 7 through a composed politeAgent',
      () => requestBy(7, opened(politeAgent({ gate })).compose([])),
    ],
    ['fetch of undici 6 through a composed politeAgent', () => fetchBy(6, opened(politeAgent({ gate })).compose([]))],
    ['fetch of undici 6 through politeAgent', () => fetchBy(6, opened(politeAgent({ gate })))],
    ['fetch of undici 7 through politeAgent', () => fetchBy(7, opened(politeAgent({ gate })))],
    ['undici 7, politeInterceptor on its own agent', () => requestBy(7, composed(7))],
    ['undici 6, politeInterceptor on an agent of undici 7', () => requestBy(6, composed(7))],
    ['undici 6, Dispatcher1Wrapper around undici 8', () => fetchBy(6, new undici.Dispatcher1Wrapper(composed(8)))],
    ['politely(fetch of undici 8), an agent of undici 7', () => politelyBy(8, plain(7))],
  ])('work: %s', async (_, send) => {
    expect(await send()).toBe('page /page')
    expect(gate.counters).toMatchObject({ started: 1, done: 1 })
  })

  test.each<[name: string, send: () => Promise<string>, code: string, message: RegExp]>([
    [
      'request of undici 7, politeInterceptor on undici 8',
      () => requestBy(7, composed(8)),
      'ERR_POLITELY_OPTION',
      /^dispatcher: the request comes from undici 6 or 7.* write new Dispatcher1Wrapper\(.* or use politeAgent$/,
    ],
    [
      'politeInterceptor on an agent of undici 6',
      () => requestBy(8, composed(6)),
      'ERR_POLITELY_REQUEST',
      /^the dispatcher is of undici 6.* use an Agent of undici 8$/,
    ],
    [
      'politely(fetch of undici 7), an agent of undici 8',
      () => politelyBy(7, plain(8)),
      'ERR_POLITELY_REQUEST',
      /^the dispatcher is of undici 8.* write `dispatcher: new Dispatcher1Wrapper\(dispatcher\)`/,
    ],
    [
      'politely(fetch of undici 8), an agent of undici 6',
      () => politelyBy(8, plain(6)),
      'ERR_POLITELY_REQUEST',
      /^the dispatcher is of undici 6/,
    ],
  ])('rejected, with what to write: %s', async (_, send, code, message) => {
    const error = await send().catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
    await isFree()
  })
})

describe('with retry after the gate, each attempt', () => {
  test('waits for its slot, and for the Retry-After of the first response', async () => {
    let attempts = 0
    site.pages.set('/busy', (_, response) => {
      response.writeHead(attempts++ === 0 ? 503 : 200, attempts === 1 ? { 'retry-after': '1' } : {}).end('x')
    })
    const dispatcher = gated(interceptors.retry({ maxRetries: 1, minTimeout: 1 }))
    const { statusCode, body } = await request(`${site.origin}/busy`, { dispatcher })
    expect([statusCode, await body.text()]).toEqual([200, 'x'])
    expect(gate.counters).toMatchObject({ started: 2, pushbacks: 1 })
    const [first, second] = site.seen
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1_000 - 2)
    await isFree()
  })
})

describe('an abort', () => {
  const reason = new Error('enough')

  /** Every request but the first has to wait for the concurrency limit. */
  async function hold(dispatcher: undici.Dispatcher): Promise<() => Promise<void>> {
    site.pages.set('/hold', () => {})
    const controller = new AbortController()
    const held = expect(request(`${site.origin}/hold`, { dispatcher, signal: controller.signal })).rejects.toThrow()
    await until(() => site.seen.length === 1)
    return async () => {
      controller.abort(new Error('aborted by the test'))
      await held
    }
  }
  const ways: [string, (url: string, dispatcher: undici.Dispatcher, signal: AbortSignal) => Promise<unknown>][] = [
    ['undici.request', (url, dispatcher, signal) => request(url, { dispatcher, signal })],
    ['undici.fetch', (url, dispatcher, signal) => undici.fetch(url, { dispatcher, signal })],
    [
      'undici.stream',
      (url, dispatcher, signal) => undici.stream(url, { dispatcher, signal, method: 'GET' }, () => process.stdout),
    ],
  ]

  test.each(ways)('of %s during the wait takes effect at once, and the next request starts', async (_, get) => {
    const dispatcher = gated()
    const letGo = await hold(dispatcher)
    const controller = new AbortController()
    const second = expect(get(`${site.origin}/2`, dispatcher, controller.signal)).rejects.toBe(reason)
    const third = request(`${site.origin}/3`, { dispatcher })
    await until(() => gate.queues()[0]?.waiting === 2)
    controller.abort(reason)
    await second
    await until(() => gate.queues()[0]?.waiting === 1)
    await letGo()
    await (await third).body.dump()
    expect(site.lines).toEqual(['GET /hold', 'GET /3'])
    await isFree()
  })

  test.each(ways)('of %s before the call sends nothing', async (_, get) => {
    await expect(get(`${site.origin}/2`, gated(), AbortSignal.abort(reason))).rejects.toThrow(/enough|aborted/)
    await isFree()
    expect(site.seen).toEqual([])
  })

  test('works with an EventEmitter as signal, as in undici', async () => {
    const dispatcher = gated()
    const letGo = await hold(dispatcher)
    const emitter = new EventEmitter()
    const second = expect(request(`${site.origin}/2`, { dispatcher, signal: emitter })).rejects.toThrow()
    await until(() => gate.queues()[0]?.waiting === 1)
    emitter.emit('abort')
    await second
    expect(gate.counters.abandoned).toBe(1)
    await letGo()
    await isFree()
  })

  test('during the body', async () => {
    site.pages.set('/long', (_, response) => void response.writeHead(200).write('begun'))
    const controller = new AbortController()
    const { body } = await request(`${site.origin}/long`, { dispatcher: gated(), signal: controller.signal })
    const rest = expect(body.text()).rejects.toBe(reason)
    controller.abort(reason)
    await rest
    await isFree()
  })

  test('of a POST whose stream was never read ends the stream', async () => {
    const dispatcher = gated()
    const letGo = await hold(dispatcher)
    const controller = new AbortController()
    let isCancelled = false
    const body = new ReadableStream({
      cancel: () => {
        isCancelled = true
      },
    })
    const init = { method: 'POST', body, duplex: 'half' as const, dispatcher, signal: controller.signal }
    const second = expect(undici.fetch(`${site.origin}/2`, init)).rejects.toBe(reason)
    await until(() => gate.queues()[0]?.waiting === 1)
    controller.abort(reason)
    await second
    await until(() => isCancelled)
    await letGo()
    await isFree()
  })
})

test('close rejects waiting requests with the gate’s error', async () => {
  const dispatcher = gated()
  site.pages.set('/hold', () => {})
  const held = request(`${site.origin}/hold`, { dispatcher }).catch((error: unknown) => error)
  await until(() => site.seen.length === 1)
  const waiting = expect(request(`${site.origin}/2`, { dispatcher })).rejects.toMatchObject({
    code: 'ERR_POLITELY_GATE_CLOSED',
  })
  await until(() => gate.queues()[0]?.waiting === 1)
  gate.close()
  await waiting
  for (const end of ends) await end()
  expect(await held).toBeInstanceOf(Error)
})

describe('User-Agent', () => {
  const own = 'ExampleBot/2.0 (mine)'
  test.each<[string, undici.Dispatcher.RequestOptions['headers'], string]>([
    ['no headers', undefined, USER_AGENT],
    ['null', null, USER_AGENT],
    ['an object without it', { accept: '*/*' }, USER_AGENT],
    ['an object with it', { 'User-Agent': own }, own],
    ['a list without it', ['accept', '*/*'], USER_AGENT],
    ['an empty list', [], USER_AGENT],
    ['a list with it', ['accept', '*/*', 'USER-AGENT', own], own],
    ['a value user-agent of another header', ['x-mine', 'user-agent'], USER_AGENT],
    ['Headers without it', new Headers({ accept: '*/*' }), USER_AGENT],
    ['Headers with it', new Headers({ 'user-agent': own }), own],
    ['a Map', new Map([['user-agent', own]]), own],
    ['the default of undici', { 'user-agent': 'undici' }, USER_AGENT],
    ['the default of Node, in a list', ['user-agent', 'node'], USER_AGENT],
  ])('%s', async (_, headers, expected) => {
    const { body } = await request(`${site.origin}/page`, {
      dispatcher: gated(),
      ...(headers !== undefined && { headers }),
    })
    await body.dump()
    expect(site.seen[0]?.headers['user-agent']).toBe(expected)
    if (JSON.stringify(headers)?.includes('accept')) expect(site.seen[0]?.headers.accept).toBe('*/*')
  })
})

describe('politeAgent', () => {
  function agentOf(options: Partial<PoliteAgentOptions> = {}): PoliteAgent {
    const agent = politeAgent({ userAgent: USER_AGENT, minDelayMs: 0, ...options } as PoliteAgentOptions)
    ends.push(() => agent.destroy())
    return agent
  }

  const fetches = [
    ['the built-in fetch', globalThis.fetch],
    ['undici.fetch', undici.fetch as unknown as typeof globalThis.fetch],
  ] as const

  test.each(fetches)('%s accepts it as dispatcher', async (_, fetch) => {
    const dispatcher = agentOf()
    const response = await fetch(`${site.origin}/page`, { dispatcher } as unknown as RequestInit)
    expect(await response.text()).toBe('page /page')
    expect(site.seen[0]?.headers['user-agent']).toBe(USER_AGENT)
    const refused = fetch(`${site.origin}/private`, { dispatcher } as unknown as RequestInit)
    await expect(refused).rejects.toMatchObject({ cause: { code: 'ERR_POLITELY_DISALLOWED' } })
    await dispatcher.gate.drain()
  })

  test.each(fetches)('%s: an abort during the wait lets the next request start', async (_, fetch) => {
    site.pages.set('/hold', () => {})
    const dispatcher = agentOf({ maxConcurrent: 1 })
    const [one, two] = [new AbortController(), new AbortController()]
    const first = expect(
      fetch(`${site.origin}/hold`, { dispatcher, signal: one.signal } as unknown as RequestInit),
    ).rejects.toThrow()
    await until(() => site.seen.length === 1)
    const second = expect(
      fetch(`${site.origin}/2`, { dispatcher, signal: two.signal } as unknown as RequestInit),
    ).rejects.toThrow()
    await until(() => dispatcher.gate.queues()[0]?.waiting === 1)
    two.abort()
    await second
    await until(() => dispatcher.gate.queues()[0]?.waiting === 0)
    one.abort()
    await first
    await dispatcher.gate.drain()
    expect(site.lines).toEqual(['GET /hold'])
  })

  test('works as the global dispatcher of the process', async () => {
    const before = undici.getGlobalDispatcher()
    undici.setGlobalDispatcher(agentOf())
    try {
      for (const [, fetch] of fetches) {
        expect(await (await fetch(`${site.origin}/page`)).text()).toBe('page /page')
        await expect(fetch(`${site.origin}/private`)).rejects.toMatchObject({
          cause: { code: 'ERR_POLITELY_DISALLOWED' },
        })
      }
      await expect(request(`${site.origin}/private`)).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED' })
    } finally {
      undici.setGlobalDispatcher(before)
    }
    expect(site.lines).toEqual(['GET /page', 'GET /page'])
  })

  test('close rejects waiting requests, and waits for those under way', async () => {
    let respond = () => {}
    site.pages.set('/slow', (_, response) => {
      respond = () => void response.end('done')
    })
    const agent = agentOf({ maxConcurrent: 1 })
    const first = request(`${site.origin}/slow`, { dispatcher: agent })
    await until(() => site.seen.length === 1)
    const second = expect(request(`${site.origin}/2`, { dispatcher: agent })).rejects.toMatchObject({
      code: 'ERR_POLITELY_GATE_CLOSED',
    })
    await until(() => agent.gate.queues()[0]?.waiting === 1)
    const closed = agent.close()
    await second
    respond()
    expect(await (await first).body.text()).toBe('done')
    await closed
    await new Promise<void>((done) => agent.close(done))
  })

  test('destroy aborts the requests under way', async () => {
    site.pages.set('/hold', () => {})
    const agent = agentOf()
    const first = expect(request(`${site.origin}/hold`, { dispatcher: agent })).rejects.toThrow('over')
    await until(() => site.seen.length === 1)
    await agent.destroy(new Error('over'))
    await first
    await new Promise<void>((done) => agent.destroy(null, done))
  })

  test('`await using` closes it', async () => {
    const agent = agentOf()
    await agent[Symbol.asyncDispose]()
    await expect(request(`${site.origin}/page`, { dispatcher: agent })).rejects.toMatchObject({
      code: 'ERR_POLITELY_GATE_CLOSED',
    })
  })

  describe('network', () => {
    const lookup = lookupIn({ 'inside.example.com': '127.0.0.1', 'inside.internal': '127.0.0.1' })
    /** robots.txt is fetched without a network guard, so that a refusal is one of the page. */
    const open = () => {
      const own = new RobotsClient({ userAgent: USER_AGENT, network: 'any', lookup })
      ends.push(() => own.close())
      return new PoliteGate({ robots: own, minDelayMs: 0 })
    }
    const blocked = { code: 'ERR_POLITELY_BLOCKED_ADDRESS' }
    const inside = () => site.at('inside.example.com', '/page')
    const get = async (agent: PoliteAgent, url: string) => {
      const { body } = await request(url, { dispatcher: agent })
      return body.text()
    }

    test.each([
      ['guarded', 'a public name at a private address', inside, blocked],
      ['guarded', 'an address of your own choice', () => `${site.origin}/page`, 'page /page'],
      ['public-only', 'a public name at a private address', inside, blocked],
      ['public-only', 'an address of your own choice', () => `${site.origin}/page`, blocked],
      ['any', 'a public name at a private address', inside, 'page /page'],
      ['any', 'an address of your own choice', () => `${site.origin}/page`, 'page /page'],
    ] as const)('%s: %s', async (network, _, url, expected) => {
      const agent = politeAgent({ gate: open(), network, lookup })
      ends.push(() => agent.destroy())
      if (typeof expected === 'string') expect(await get(agent, url())).toBe(expected)
      else await expect(get(agent, url())).rejects.toMatchObject(expected)
      expect(site.seen.length).toBe(typeof expected === 'string' ? 1 : 0)
      await agent.gate.drain()
    })

    test('is guarded by default', async () => {
      const agent = politeAgent({ gate: open(), lookup })
      ends.push(() => agent.destroy())
      await expect(get(agent, inside())).rejects.toMatchObject(blocked)
    })

    test('lets a redirect from a public host lead only to public addresses, if the agent follows it', async () => {
      // 127.0.0.1 counts as public in this test; 127.0.0.2 is private.
      const seen: (string | undefined)[] = []
      const neighbour = createServer((request, response) => {
        seen.push(request.url)
        response.end('neighbour')
      }).listen(0, '127.0.0.2')
      await once(neighbour, 'listening')
      ends.push(async () => void neighbour.close())
      const secluded = `http://127.0.0.2:${(neighbour.address() as AddressInfo).port}/page`
      const redirectTo = (to: string) => (_: unknown, response: ServerResponse) =>
        void response.writeHead(302, { location: to }).end()
      site.pages.set('/to-public', redirectTo(inside()))
      site.pages.set('/to-private', redirectTo(secluded))
      const agent = politeAgent({ gate: open(), lookup, allowAddresses: ['127.0.0.1'], maxRedirections: 5 })
      ends.push(() => agent.destroy())

      expect(await get(agent, site.at('inside.example.com', '/to-public'))).toBe('page /page')
      const refused = { code: 'ERR_POLITELY_DISALLOWED', verdict: { access: { reason: 'blocked-address' } } }
      await expect(get(agent, site.at('inside.example.com', '/to-private'))).rejects.toMatchObject(refused)
      expect(seen).toEqual([])
      expect(await get(agent, `${secluded}/other`)).toBe('neighbour') // the same address in a direct request
      await expect(get(agent, secluded)).rejects.toMatchObject(refused) // still known as the target of a redirect
      await agent.gate.drain()
    })

    test('`drain` waits for the DNS lookup of a redirect hop', async () => {
      const answer = Promise.withResolvers<void>()
      const asked = Promise.withResolvers<void>()
      const slow: LookupFunction = (host, options, callback) => {
        if (host !== 'inside.internal') return lookup(host, options, callback)
        asked.resolve()
        void answer.promise.then(() => lookup(host, options, callback))
      }
      site.pages.set('/moved', (_, response) => {
        response.writeHead(302, { location: site.at('inside.internal', '/page') }).end()
      })
      const agent = politeAgent({ gate: open(), lookup: slow, allowAddresses: ['127.0.0.1'], maxRedirections: 1 })
      ends.push(() => agent.destroy())
      const text = get(agent, site.at('inside.example.com', '/moved'))
      await asked.promise
      let isDrained = false
      const drained = agent.gate.drain().then(() => (isDrained = true))
      await new Promise((resolve) => setImmediate(resolve))
      expect(isDrained).toBe(false)
      answer.resolve()
      expect(await text).toBe('page /page')
      await drained
      expect(agent.gate.counters).toMatchObject({ started: 2, done: 2 })
    })
  })

  test.each<[string, unknown, string]>([
    ['missing options', undefined, 'options'],
    ['an unknown network', { userAgent: USER_AGENT, network: 'private' }, 'network'],
    ['an invalid maxRedirections', { userAgent: USER_AGENT, maxRedirections: -1 }, 'maxRedirections'],
    ['a missing userAgent', {}, 'userAgent'],
    ['an invalid gate', { gate: {} }, 'gate'],
    ['minDelayMs beside gate', { gate: 0, minDelayMs: 5 }, 'gate'],
    ['an unknown option', { userAgent: USER_AGENT, maxRedirects2: 5 }, 'maxRedirects2'],
  ])('rejects %s', (_, options, option) => {
    expect(() => politeAgent(options as PoliteAgentOptions)).toThrow(expect.objectContaining({ option }))
  })
})

test('a handler gets a refusal after `dispatch` has returned, even if robots.txt is known', async () => {
  await gate.check(`${site.origin}/`)
  const dispatcher = gated()
  const events: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  dispatcher.dispatch(
    { origin: site.origin, path: '/private', method: 'GET' },
    {
      onRequestStart: () => undefined,
      onResponseError(_, { name }) {
        events.push(name)
        resolve()
      },
    },
  )
  events.push('returned')
  await promise
  expect(events).toEqual(['returned', 'RobotsDisallowedError'])
})

describe('a gate whose RobotsClient signs', () => {
  function signing(sign: RequestSigner): undici.Dispatcher.DispatcherComposeInterceptor {
    const client = new RobotsClient({ userAgent: USER_AGENT, sign })
    ends.push(() => client.close())
    return politeInterceptor(new PoliteGate({ robots: client, minDelayMs: 0 }))
  }

  test('makes its second try through the interceptor of another gate, which does not sign', async () => {
    site.pages.set('/signed', ({ headers }, response) => {
      if (headers.signature === undefined) response.writeHead(403, { 'accept-signature': 'sig1=("@authority")' })
      response.end()
    })
    let signature: { signature: string } | undefined
    const challenged = () => {
      signature = { signature: 'sig1=:AA==:' }
      return true
    }
    const dispatcher = gated(signing({ sign: () => signature, challenged }))
    const { statusCode, body } = await request(`${site.origin}/signed`, { dispatcher })
    await body.dump()
    expect(statusCode).toBe(200)
    await isFree()
  })

  test('limits the time of a signature to the default of undici for headersTimeout: null', async () => {
    const setTimer = vi.spyOn(globalThis, 'setTimeout')
    onTestFinished(() => setTimer.mockRestore())
    const hangs = Promise.withResolvers<undefined>()
    const sign = ({ url }: { url: string }) => (url.endsWith('/robots.txt') ? undefined : hangs.promise)
    const agent = new Agent()
    ends.push(() => agent.destroy())
    const dispatcher = agent.compose(signing({ sign, challenged: () => false }))
    const page = request(`${site.origin}/`, { dispatcher, headersTimeout: null })
    await until(() => setTimer.mock.calls.some(([, ms]) => ms === 300_000 / 20)) // 20 timers, one after the other
    hangs.resolve(undefined)
    await (await page).body.dump()
  })
})
