// @module-tag nodes
// politeHttpAgent: the URL that it checks, and the release of permits, also of requests that are
// never sent and responses that are never read.
import { once } from 'node:events'
import { Agent, type ClientRequest, createServer, type RequestOptions, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RobotsClient } from '@politely/fetcher'
import { type Sites, startSites } from '@politely/testkit/servers/sites'
import { expect, onTestFinished, test, vi } from 'vitest'
import { PoliteGate, politeHttpAgent, RobotsDisallowedError, resolveGate } from '../src/index.ts'

const HOME = 'http://localhost:PORT'

interface NarrowWeb {
  readonly sites: Sites
  readonly gate: PoliteGate
  readonly agent: Agent
}

/**
 * Serves a site that disallows `/private`, with a gate that admits one request at a time: a permit
 * that is never released blocks it.
 */
async function openAgent({ maxConcurrentPerKey = 1, inner = new Agent() } = {}): Promise<NarrowWeb> {
  const sites = await startSites()
  sites.respond(`${HOME}/robots.txt`, { status: 200, body: 'User-agent: *\nDisallow: /private\n' })
  sites.respond(`${HOME}/open`, { status: 200, body: 'a page' })
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', retries: 0 })
  const gate = new PoliteGate({ robots, minDelayMs: 0, maxConcurrentPerKey })
  onTestFinished(async () => {
    gate.close()
    await robots.close()
    await sites.close()
  })
  return { sites, gate, agent: politeHttpAgent(inner, gate) }
}

async function errorOf(one: ClientRequest): Promise<unknown> {
  const [error] = await once(one, 'error')
  return error
}

const urls: readonly { readonly name: string; readonly options: RequestOptions; readonly url: string }[] = [
  { name: 'a host, a port, a path', options: { host: 'localhost', path: '/private?q=1' }, url: `${HOME}/private?q=1` },
  { name: 'an IPv6 address', options: { host: '::1', path: '/private' }, url: 'http://[::1]:PORT/private' },
  {
    name: 'a whole URL, for a proxy',
    options: { host: '127.0.0.1', path: `${HOME}/private` },
    url: `${HOME}/private`,
  },
]

test.each(urls)('checks the URL of $name', async ({ options, url }) => {
  const { agent, sites } = await openAgent()
  const { path = '' } = options
  const sent = request({ ...options, path: sites.withPort(path ?? ''), port: sites.port, agent }).end()
  const error = await errorOf(sent)
  expect(error).toBeInstanceOf(RobotsDisallowedError)
  expect((error as RobotsDisallowedError).verdict.url).toBe(sites.withPort(url))
})

test('releases the permit if the response has no listener', async () => {
  const { agent, sites, gate } = await openAgent()
  sites.respond(`${HOME}/large`, { status: 200, body: 'x'.repeat(1_000_000) })
  const sent = request(sites.withPort(`${HOME}/large`), { agent }).end()
  await once(sent, 'close')
  await gate.drain()
  expect(gate.counters).toMatchObject({ started: 1, done: 1 })
})

test('releases the permit of a redirect when its headers arrive', async () => {
  const { agent, sites, gate } = await openAgent()
  sites.respond(`${HOME}/moved`, (socket) => {
    socket.write('HTTP/1.1 302 Found\r\nLocation: /open\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n')
  })
  const sent = request(sites.withPort(`${HOME}/moved`), { agent }).on('error', () => undefined)
  const [response] = await once(sent.end(), 'response')
  response.resume()
  expect(gate.queues()).toEqual([])
  await gate.drain()
  const open = request(sites.withPort(`${HOME}/open`), { agent }).end()
  await once(open, 'close')
  sent.destroy()
  await gate.drain()
  expect(gate.counters).toMatchObject({ started: 2, done: 2 })
})

test('does not enter the gate for a request whose signal was aborted before', async () => {
  const { agent, sites, gate } = await openAgent()
  const sent = request(sites.withPort(`${HOME}/open`), { agent, signal: AbortSignal.abort() }).end()
  await expect(errorOf(sent)).resolves.toMatchObject({ code: 'ABORT_ERR' })
  await gate.drain()
  expect(gate.counters.started).toBe(0)
  expect(sites.requestedUrls).toEqual([])
})

test('keeps the permit until the body has been read', async () => {
  const { agent, sites, gate } = await openAgent()
  sites.respond(`${HOME}/large`, { status: 200, body: 'x'.repeat(1_000_000) })
  const [response] = await once(request(sites.withPort(`${HOME}/large`), { agent }).end(), 'response')
  await vi.waitUntil(() => response.readableLength > 0) // the listener reads the body later
  expect(gate.queues()).toMatchObject([{ underWay: 1 }])
  let bytes = 0
  for await (const chunk of response) bytes += chunk.length
  await gate.drain()
  expect(bytes).toBe(1_000_000)
})

test.each([
  { given: new Error('enough'), expected: { message: 'enough' } },
  { given: undefined, expected: { code: 'ECONNRESET', message: 'socket hang up' } },
])(
  'a request that is destroyed while it waits leaves the queue, and emits "$expected.message"',
  async ({ given, expected }) => {
    const { agent, sites, gate } = await openAgent()
    const permit = await gate.enter(sites.withPort(`${HOME}/first`))
    const sent = request(sites.withPort(`${HOME}/open`), { agent }).end()
    await expect.poll(() => gate.queues()[0]?.waiting).toBe(1)
    const closed = new Promise<void>((resolve) => sent.once('close', resolve))
    const error = errorOf(sent)
    sent.destroy(given)
    await expect(error).resolves.toMatchObject(expected)
    await closed
    expect(gate.queues()).toMatchObject([{ waiting: 0, underWay: 1 }])
    permit.release()
    expect(sites.requestedUrls).toEqual([`${HOME}/robots.txt`])
  },
)

test('releases the permit of a request that is destroyed while it waits for a socket', async () => {
  const { sites, gate, agent } = await openAgent({ maxConcurrentPerKey: 2, inner: new Agent({ maxSockets: 1 }) })
  sites.respond(`${HOME}/slow`, new Promise(() => undefined))
  const first = request(sites.withPort(`${HOME}/slow`), { agent }).on('error', () => undefined)
  first.end()
  await sites.requested(2) // robots.txt and this request
  const second = request(sites.withPort(`${HOME}/open`), { agent }).on('error', () => undefined)
  second.end()
  await expect.poll(() => gate.queues()[0]?.underWay).toBe(2)
  second.destroy()
  expect(gate.queues()).toMatchObject([{ underWay: 1 }])
  first.destroy()
  await gate.drain()
})

test.each([
  { given: {}, sent: 'ExampleBot/1.0' },
  { given: { 'User-Agent': 'ExampleBot/2.0' }, sent: 'ExampleBot/2.0' },
])('sends the User-Agent of the request, or the crawler’s: $sent', async ({ given, sent }) => {
  const { agent, sites } = await openAgent()
  await once(request(sites.withPort(`${HOME}/open`), { agent, headers: given }).end(), 'close')
  expect(sites.requests.at(-1)?.headers['user-agent']).toBe(sent)
})

test.each([{ hasListener: true }, { hasListener: false }])(
  'an upgrade is a response, and no failure; with a listener: $hasListener',
  async ({ hasListener }) => {
    const server = createServer((_, response) => response.end()).on('upgrade', (_request, socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { gate, close } = resolveGate({ userAgent: 'ExampleBot/1.0', minDelayMs: 0, backoff: { failures: true } })
    onTestFinished(close)
    const { port } = server.address() as AddressInfo
    const headers = { connection: 'Upgrade', upgrade: 'x' }
    const sent = request({ host: '127.0.0.1', port, headers, agent: politeHttpAgent(new Agent(), gate) })
    if (hasListener) sent.on('upgrade', (_response, socket) => socket.destroy())
    await once(sent.end(), 'close')
    expect(gate.counters).toMatchObject({ done: 1, pushbacks: 0 })
  },
)

test('CONNECT requests skip the gate', async () => {
  const { agent, gate } = await openAgent()
  const proxy = createServer().on('connect', (_request, socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n'))
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void proxy.close())
  const { port } = proxy.address() as AddressInfo
  const options = { method: 'CONNECT', host: '127.0.0.1', port, path: 'site.test:443', agent }
  const [response, socket] = await once(request(options).end(), 'connect')
  socket.destroy()
  expect(response.statusCode).toBe(200)
  expect(gate.counters.started).toBe(0)
})

test.each([
  { agent: undefined, option: 'agent' },
  { agent: {}, option: 'agent' },
])('rejects an invalid agent: $agent', ({ agent, option }) => {
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
  const gate = new PoliteGate({ robots })
  expect(() => politeHttpAgent(agent as never, gate)).toThrow(
    expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option }),
  )
  expect(() => politeHttpAgent(new Agent(), {} as never)).toThrow(/is not a PoliteGate/)
})
