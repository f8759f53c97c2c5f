// Limits on the resources that a hostile site with many hosts can use up. All of them are our
// choice.
import {
  createServer,
  Agent as HttpAgent,
  get as httpGet,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, LookupFunction, Socket } from 'node:net'
import { RobotsClient } from '@politely/fetcher'
import { startClock } from '@politely/testkit/clock'
import { firstInShortRun } from '@politely/testkit/scope'
import { lookupIn } from '@politely/testkit/servers/lookup'
import * as undici from 'undici'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { gatePort } from '../src/gate.ts'
import { PoliteGate, politeHttpAgent } from '../src/index.ts'
import { politeAgent } from '../src/undici/index.ts'

const HOSTS = 50
/** Long enough for a busy machine. */
const PATIENCE = { timeout: 20_000 }
const lookup = lookupIn()

let server: Server
let port: number
let ends: (() => unknown)[]
/** Connections that are open at the server. */
let sockets: Set<Socket>
/** Responses that have begun and not ended. */
let open: Set<ServerResponse>
let respond: (url: string, response: ServerResponse) => void

beforeEach(async () => {
  ends = []
  sockets = new Set()
  open = new Set()
  server = createServer(({ url = '' }, response) => {
    if (url === '/robots.txt') return void response.end()
    open.add(response)
    response.once('close', () => open.delete(response))
    respond(url, response)
  })
  server.keepAliveTimeout = 60_000
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterEach(async () => {
  for (const end of ends) await end()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function newGate(): PoliteGate {
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup })
  ends.push(() => robots.close())
  return new PoliteGate({ robots, minDelayMs: 0 })
}

const urls = () => Array.from({ length: HOSTS }, (_, i) => `http://h${i}.evil.test:${port}/${i}`)

describe('redirects whose bodies never end', () => {
  beforeEach(() => {
    respond = (url, response) => {
      if (url === '/end') return void response.end('page')
      response.writeHead(302, { location: '/end', 'content-length': '100' }).write('x')
    }
  })

  test.for(firstInShortRun([0, 5]))(
    'undici.request through politeAgent, maxRedirections: %i',
    async (maxRedirections) => {
      const gate = newGate()
      const dispatcher = politeAgent({ gate, lookup, maxRedirections })
      ends.push(() => dispatcher.destroy())
      const failed: unknown[] = []
      for (const url of urls()) {
        const body = undici.request(url, { dispatcher }).then(({ body }) => body.text())
        body.catch((error) => failed.push(error.code))
      }
      await vi.waitFor(() => expect(failed).toHaveLength(HOSTS - 8), PATIENCE)
      expect(new Set(failed)).toEqual(new Set(['ERR_POLITELY_OPEN_REDIRECT']))
      await vi.waitFor(() => expect(open.size).toBe(8), PATIENCE)
      expect(gate.counters.started).toBe(HOSTS)
    },
  )

  test('node:http through politeHttpAgent', async () => {
    const gate = newGate()
    const agent = politeHttpAgent(new HttpAgent({ lookup } as object), gate)
    let closed = 0
    for (const url of urls()) {
      // Connections that are still open are reset when the server closes.
      httpGet(url, { agent }, (response) => response.once('close', () => closed++)).on('error', () => undefined)
    }
    await vi.waitFor(() => expect(closed).toBe(HOSTS - 8), PATIENCE)
    await vi.waitFor(() => expect(open.size).toBe(8), PATIENCE)
    agent.destroy()
  })

  test('the built-in fetch through politeAgent makes each hop, and `drain` does not wait for the bodies', async () => {
    const gate = newGate()
    const dispatcher = politeAgent({ gate, lookup })
    ends.push(() => dispatcher.destroy())
    const options = { dispatcher } as unknown as RequestInit
    for (const url of urls()) expect(await (await fetch(url, options)).text()).toBe('page')
    await gate.drain()
    await vi.waitFor(() => expect(open.size).toBe(8), PATIENCE)
  })

  test('politely(fetch) closes their connections at once, and makes each hop', async () => {
    const gate = newGate()
    const dispatcher = politeAgent({ gate, lookup })
    ends.push(() => dispatcher.destroy())
    const texts = await Promise.all(urls().map(async (url) => (await undici.fetch(url, { dispatcher })).text()))
    expect(texts).toEqual(Array(HOSTS).fill('page'))
  })
})

test('the connection of a redirect whose body does not end is closed after 30 seconds', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const gate = newGate()
  const closed: string[] = []
  const open = (url: string) => gatePort(gate).openRedirects.add(url, (error) => closed.push(error.message))
  open('http://evil.test/')
  const ended = open('http://honest.test/')
  vi.advanceTimersByTime(29_000)
  ended()
  expect(closed).toEqual([])
  vi.advanceTimersByTime(1_000)
  expect(closed).toEqual([expect.stringContaining('http://evil.test/ did not end within 30 s')])
})

test('at most 8 redirects of a site, 32 of a platform and 64 in all may have a body that has not ended', () => {
  const gate = newGate()
  const closed: string[] = []
  const ends: (() => void)[] = []
  const open = (hosts: readonly string[]) => {
    for (const host of hosts)
      ends.push(gatePort(gate).openRedirects.add(`http://${host}/`, ({ message }) => closed.push(message)))
    return closed.splice(0).map((message) => /http:\/\/([^/]+)/.exec(message)?.[1])
  }
  const tenants = (first: number, count: number) => Array.from({ length: count }, (_, n) => `t${first + n}.netlify.app`)
  expect(open(['honest.netlify.app', ...Array<string>(8).fill('a.evil.netlify.app')])).toEqual([])
  expect(open(['b.evil.netlify.app'])).toEqual(['a.evil.netlify.app'])
  expect(open(tenants(0, 23))).toEqual([])
  expect(open(tenants(23, 1))).toEqual(['honest.netlify.app'])
  expect(open(Array.from({ length: 32 }, (_, n) => `site${n}.test`))).toEqual([])
  expect(open(['site32.test'])).toEqual(['a.evil.netlify.app'])
  for (const end of ends) end()
})

describe('idle connections of politeAgent', () => {
  const KEPT = 32
  /** Less than ten seconds, after which every idle connection is closed. */
  const patience = { timeout: 8_000 }
  let held: ServerResponse[]

  /** Returns a function that gets a page. A response to `/held` ends when the test ends it. */
  function open() {
    held = []
    respond = (url, response) => {
      response.setHeader('keep-alive', 'timeout=600')
      if (url === '/held') held.push(response)
      else response.end('page')
    }
    const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup: onLoopback, network: 'any' })
    const gate = new PoliteGate({ robots, minDelayMs: 0 })
    const dispatcher = politeAgent({ gate, lookup: onLoopback, network: 'any' })
    ends.push(
      () => dispatcher.destroy(),
      () => robots.close(),
    )
    return async (host: string, path = '/') =>
      (await undici.request(`http://${host}:${port}${path}`, { dispatcher })).body.text()
  }
  const hosts = (suffix: string) => Array.from({ length: HOSTS }, (_, i) => `h${i}.${suffix}`)
  const onLoopback = lookupIn(Object.fromEntries(hosts('netlify.app').map((host) => [host, '127.0.0.1'])))

  test.for(['evil.test', 'netlify.app'])(
    'are kept to 32 hosts of %s, and to hosts of other domains',
    async (suffix) => {
      const get = open()
      for (const host of hosts(suffix)) await get(host)
      await vi.waitFor(() => expect(sockets.size).toBe(KEPT), patience)
      await get('honest.test')
      expect(sockets.size).toBe(KEPT + 1)
    },
  )

  test('include those to hosts whose responses took longer than ten seconds', async () => {
    const get = open()
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const slow = Array.from({ length: 8 }, (_, i) => get(`slow${i}.evil.test`, '/held'))
    await vi.waitFor(() => expect(held).toHaveLength(8), patience)
    vi.advanceTimersByTime(11_000)
    for (const response of held) response.end('page')
    await Promise.all(slow)
    for (const host of hosts('evil.test')) await get(host)
    await vi.waitFor(() => expect(sockets.size).toBe(KEPT), patience)
  })

  test('make room for further hosts ten seconds after the last request to their host', async () => {
    const get = open()
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    for (let n = 0; n < KEPT; n++) await get(`old${n}.evil.test`)
    vi.advanceTimersByTime(9_000)
    await get('old0.evil.test')
    vi.advanceTimersByTime(2_000)
    for (let n = 0; n < KEPT; n++) await get(`new${n}.evil.test`)
    await vi.waitFor(() => expect(sockets.size).toBe(KEPT + KEPT - 1), patience)
  })

  test('are closed after ten seconds, although the site asks for ten minutes', { tags: 'full' }, async () => {
    const get = open()
    await get('evil.test')
    expect(sockets.size).toBe(1)
    await vi.waitFor(() => expect(sockets.size).toBe(0), PATIENCE)
  })
})

/**
 * A gate with `paceBy: 'address'`, a site, and a DNS lookup that resolves when the test calls what
 * `lookingUp` resolves with.
 */
async function gateWithSlowLookup(onRequest: RequestListener, now?: () => number) {
  const site = createServer(onRequest)
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  ends.push(() => site.close())
  const waiting = Promise.withResolvers<() => void>()
  const slow: LookupFunction = (host, options, callback) => waiting.resolve(() => lookup(host, options, callback))
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, now })
  ends.push(() => robots.close())
  const gate = new PoliteGate({ robots, minDelayMs: 0, paceBy: 'address', lookup: slow })
  return { gate, port: (site.address() as AddressInfo).port, lookingUp: waiting.promise }
}

test('checks robots.txt again after a DNS lookup for paceBy: address', async () => {
  const clock = startClock()
  let rules = ''
  const { gate, port, lookingUp } = await gateWithSlowLookup(
    (_, response) => void response.setHeader('cache-control', 'max-age=60').end(rules),
    clock.now,
  )
  const entering = gate.enter(`http://a.test:${port}/page`)
  const answerNow = await lookingUp
  rules = 'User-agent: *\nDisallow: /\n'
  clock.advance(61_000)
  answerNow()
  await expect(entering).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED' })
})

test('checks and paces the URL that an object had when it was passed, also if it changes during a DNS lookup', async () => {
  const { gate, port, lookingUp } = await gateWithSlowLookup((_, response) => void response.end())
  const url = new URL(`http://a.test:${port}/page`)
  const entering = gate.enter(url)
  const answerNow = await lookingUp
  url.href = `http://b.test:${port}/other`
  answerNow()
  const permit = await entering
  expect(permit.verdict.url).toBe(`http://a.test:${port}/page`)
  permit.release()
})
