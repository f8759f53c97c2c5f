// The option `dispatcher` of RobotsClient and politeAgent: one dispatcher, or a function of the origin.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type DispatcherByOrigin, RobotsClient } from '@politely/fetcher'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { type Sites, startSites } from '@politely/testkit/servers/sites'
import { Agent, type Dispatcher, request } from 'undici'
import { Agent as Agent7 } from 'undici7'
import { expect, onTestFinished, test, vi } from 'vitest'
import { politely } from '../src/index.ts'
import { type PoliteAgentOptions, politeAgent } from '../src/undici/index.ts'

const userAgent = 'ExampleBot/1.0'
const connect = { lookup: lookupIn() }

/** `a.test/moved` leads to `b.test/page`. */
async function open(): Promise<Sites> {
  const sites = await startSites()
  onTestFinished(() => sites.close())
  sites.respond('http://a.test:PORT/moved', { status: 302, headers: { location: 'http://b.test:PORT/page' } })
  sites.respond('http://b.test:PORT/page', { status: 200, body: 'b' })
  return sites
}

/** A dispatcher that records the URLs that it sends. */
function recording(agent: Agent): { readonly dispatcher: Dispatcher; readonly urls: string[] } {
  onTestFinished(() => agent.destroy())
  const urls: string[] = []
  const dispatcher = agent.compose((dispatch) => (options, handler) => {
    urls.push(`${options.origin}${options.path}`)
    return dispatch(options, handler)
  })
  return { dispatcher, urls }
}

function newAgent(options: Partial<PoliteAgentOptions>): Dispatcher {
  const agent = politeAgent({
    userAgent,
    minDelayMs: 0,
    lookup: lookupIn(),
    maxRedirections: 5,
    retries: 0,
    ...options,
  })
  onTestFinished(() => agent.close())
  return agent
}

async function textOf(url: string, dispatcher: Dispatcher): Promise<string> {
  return (await request(url, { dispatcher })).body.text()
}

test('politeAgent: a function chooses for each hop, for pages and robots.txt', async () => {
  const sites = await open()
  const { dispatcher, urls } = recording(new Agent({ connect }))
  const origins: string[] = []
  const choose: DispatcherByOrigin = (origin) => {
    origins.push(origin)
    return origin.includes('//a.') ? dispatcher : undefined
  }
  expect(await textOf(sites.withPort('http://a.test:PORT/moved'), newAgent({ dispatcher: choose }))).toBe('b')
  const [a, b] = ['http://a.test:PORT', 'http://b.test:PORT'].map((origin) => sites.withPort(origin))
  expect(origins.sort()).toEqual([a, a, b, b])
  expect(urls).toEqual([`${a}/robots.txt`, `${a}/moved`])
})

test('RobotsClient: a function chooses for each hop, and inspect says the way', async () => {
  const sites = await open()
  sites.respond('http://a.test:PORT/robots.txt', {
    status: 301,
    headers: { location: 'http://b.test:PORT/robots.txt' },
  })
  const [fromA, fromB] = [recording(new Agent({ connect })), recording(new Agent({ connect }))]
  const robots = new RobotsClient({
    userAgent,
    lookup: lookupIn(),
    dispatcher: (origin) => ({ a: fromA, b: fromB })[/\/\/(.)\.test/.exec(origin)?.[1] ?? '']?.dispatcher,
  })
  onTestFinished(() => robots.close())
  for (const name of ['a', 'c']) await robots.check(sites.withPort(`http://${name}.test:PORT/`))
  expect([...fromA.urls, ...fromB.urls]).toEqual(
    ['http://a.test:PORT/robots.txt', 'http://b.test:PORT/robots.txt'].map((url) => sites.withPort(url)),
  )
  const vias = ['a', 'c'].map((name) => robots.inspect(sites.withPort(`http://${name}.test:PORT/`)))
  expect(await Promise.all(vias)).toMatchObject([{ via: 'dispatcher' }, { via: 'own' }])
})

test('dispatchers of undici 7 and 8 have the type, and work until the caller closes them', async () => {
  const sites = await open()
  for (const given of [new Agent7({ connect }), new Agent({ connect })]) {
    onTestFinished(() => given.destroy())
    for (const dispatcher of [given, (_origin: string) => given]) {
      const agent = politeAgent({ userAgent, minDelayMs: 0, dispatcher })
      expect(await textOf(sites.withPort('http://b.test:PORT/page'), agent)).toBe('b')
      await agent.close()
    }
    expect(given.closed).toBe(false)
  }
})

test('close waits for the requests of the dispatcher, and destroy aborts them', async () => {
  const held: ServerResponse[] = []
  const server = createServer(({ url }, response) => {
    if (url === '/robots.txt') response.end()
    else held.push(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const given = new Agent()
  onTestFinished(async () => {
    await given.destroy()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/held`
  const newOne = () => politeAgent({ userAgent, minDelayMs: 0, network: 'any', dispatcher: given })
  const [closing, destroyed] = [newOne(), newOne()]
  const calls = [closing, destroyed].map((agent) => textOf(url, agent).catch(({ message }: Error) => message))
  await vi.waitFor(() => expect(held).toHaveLength(2))
  let hasClosed = false
  const closed = closing.close().then(() => {
    hasClosed = true
  })
  await destroyed.destroy(new Error('no more'))
  expect(await calls[1]).toBe('no more')
  expect(hasClosed).toBe(false)
  for (const response of held) response.end('page')
  expect(await calls[0]).toBe('page')
  await closed
})

test('the function must return a dispatcher; what it throws reaches the caller', async () => {
  const sites = await open()
  const url = sites.withPort('http://b.test:PORT/page')
  const [wrong, throwing] = [() => 'proxy', () => JSON.parse('no')].map(
    (choose) => ((_origin: string) => choose()) as unknown as DispatcherByOrigin,
  )
  const messages = await Promise.all(
    [wrong, throwing].flatMap((dispatcher) => {
      const robots = new RobotsClient({ userAgent, dispatcher })
      onTestFinished(() => robots.close())
      return [robots.check(url), textOf(url, newAgent({ dispatcher }))].map((result) =>
        result.then(
          () => 'nothing',
          ({ message }: Error) => message,
        ),
      )
    }),
  )
  const isWrong = `dispatcher: the function returned "proxy" for ${new URL(url).origin}; return an undici dispatcher, or undefined for the default way`
  expect(messages).toEqual([isWrong, isWrong, expect.stringContaining('JSON'), expect.stringContaining('JSON')])
  expect(sites.requestedUrls).toEqual([])
})

test('the guard checks the URLs of the dispatcher', async () => {
  const sites = await open()
  const { dispatcher, urls } = recording(new Agent({ connect }))
  const robots = new RobotsClient({ userAgent, network: 'any', dispatcher })
  onTestFinished(() => robots.close())
  const { port } = new URL(sites.withPort('http://a.test:PORT/'))
  const agent = politeAgent({ robots, dispatcher, network: 'public-only' })
  onTestFinished(() => agent.close())
  await expect(textOf(`http://127.0.0.1:${port}/`, agent)).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED' })
  expect(urls).toEqual([])
})

test('politely(fetch) says where to write the function', () => {
  expect(() => politely(fetch, { userAgent, dispatcher: (_origin) => undefined })).toThrow(
    /^dispatcher: a function .*politely\(\(url, init\) => fetch\(url, \{ \.\.\.init, dispatcher: .* or politeAgent\(\{ dispatcher \}\)$/,
  )
})
