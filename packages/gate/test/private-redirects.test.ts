// A redirect from a public site to a private address is refused before anything is sent to the
// private host, whichever client follows the redirect. This is our choice. 127.0.0.1 counts as
// public here, and 127.0.0.2 is private.
import { createServer, Agent as HttpAgent, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { RobotsClient, type RobotsClientOptions } from '@politely/fetcher'
import { lookupIn } from '@politely/testkit/servers/lookup'
import * as undici from 'undici'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PoliteGate, politeHttpAgent, politely } from '../src/index.ts'
import { politeAgent, politeInterceptor } from '../src/undici/index.ts'

const lookup = lookupIn({ 'example.com': '127.0.0.1', 'wiki.corp': '127.0.0.2', localhost: '127.0.0.2' })

let port: number
/** The requests that the private host got. */
let received: string[]
let servers: Server[]
let ends: (() => Promise<unknown>)[]

beforeEach(async () => {
  received = []
  ends = []
  const inside = createServer(({ url = '' }, response) => {
    received.push(url)
    response.writeHead(url === '/robots.txt' ? 404 : 200).end('secret')
  })
  const outside = createServer(({ url = '' }, response) => {
    if (url === '/robots.txt') return void response.writeHead(404).end()
    if (url === '/again')
      return void response.writeHead(302, { location: `http://example.com:${port}/go?127.0.0.2` }).end()
    const target = url.slice('/go?'.length)
    response.writeHead(302, { location: `http://${target}:${port}/page` }).end()
  })
  await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve))
  port = (outside.address() as AddressInfo).port
  await new Promise<void>((resolve) => inside.listen(port, '127.0.0.2', resolve))
  servers = [inside, outside]
})
afterEach(async () => {
  for (const end of ends) await end()
  for (const server of servers) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

function newGate(options: Partial<RobotsClientOptions> = {}): PoliteGate {
  const robots = new RobotsClient({
    userAgent: 'ExampleBot/1.0',
    lookup,
    allowAddresses: ['127.0.0.1'],
    retries: 0,
    ...options,
  })
  ends.push(() => robots.close())
  return new PoliteGate({ robots, minDelayMs: 0 })
}

/** Gets a URL, and follows redirects. */
type Get = (url: string) => Promise<{ status: number }>

function ending<T extends { close(): Promise<unknown> }>(one: T): T {
  ends.push(() => one.close())
  return one
}

const ways: Readonly<Record<string, (gate: PoliteGate) => Get>> = {
  'politely(fetch)': (gate) => {
    const dispatcher = ending(new undici.Agent({ connect: { lookup } }))
    const fetch = politely(undici.fetch, { gate })
    return (url) => fetch(url, { dispatcher })
  },
  'fetch through politeAgent': (gate) => {
    const dispatcher = ending(politeAgent({ gate, lookup, allowAddresses: ['127.0.0.1'] }))
    return (url) => undici.fetch(url, { dispatcher })
  },
  'undici.request through politeAgent': (gate) => {
    const dispatcher = ending(politeAgent({ gate, lookup, allowAddresses: ['127.0.0.1'], maxRedirections: 5 }))
    return async (url) => {
      const { statusCode, body } = await undici.request(url, { dispatcher })
      await body.dump()
      return { status: statusCode }
    }
  },
  'politeInterceptor inside redirect': (gate) => {
    const agent = ending(new undici.Agent({ connect: { lookup } }))
    const dispatcher = agent.compose(politeInterceptor(gate), undici.interceptors.redirect({ maxRedirections: 5 }))
    return async (url) => {
      const { statusCode, body } = await undici.request(url, { dispatcher })
      await body.dump()
      return { status: statusCode }
    }
  },
  'node:http through politeHttpAgent': (gate) => {
    const agent = politeHttpAgent(new HttpAgent({ lookup } as object), gate)
    const get: Get = async (url) => {
      const response = await new Promise<IncomingMessage>((resolve, reject) =>
        httpRequest(url, { agent }, resolve).once('error', reject).end(),
      )
      response.resume()
      const { location } = response.headers
      return location === undefined ? { status: response.statusCode ?? 0 } : get(location)
    }
    return get
  },
}

/** Returns the error itself, or the first of its causes with a code. */
function codeOf(error: unknown): unknown {
  for (let at = error; at instanceof Error; at = at.cause) if ('code' in at) return at.code
  return error
}

describe.for(Object.keys(ways))('%s', (name) => {
  const wayOf = (gate: PoliteGate) => (ways[name] as (gate: PoliteGate) => Get)(gate)

  test.for(['127.0.0.2', '2130706434', 'localhost', 'wiki.corp'])('refuses a redirect to %s', async (target) => {
    const gate = newGate()
    const refusal = await wayOf(gate)(`http://example.com:${port}/go?${target}`).catch(codeOf)
    expect(refusal).toBe('ERR_POLITELY_DISALLOWED')
    expect(gate.counters.refusals).toEqual({ unreachable: 1 })
    expect(received).toEqual([])
  })

  test('refuses a redirect after a hop on the same host', async () => {
    const gate = newGate()
    const get = wayOf(gate)
    expect(await get(`http://example.com:${port}/again`).catch(codeOf)).toBe('ERR_POLITELY_DISALLOWED')
    expect(received).toEqual([])
  })

  test('refuses it also with network: any in the RobotsClient', async () => {
    const get = wayOf(newGate({ network: 'any' }))
    if (name.endsWith('through politeAgent')) {
      // The agent has its own network guard.
      expect(await get(`http://example.com:${port}/go?wiki.corp`).catch(codeOf)).toBe('ERR_POLITELY_DISALLOWED')
      expect(received).toEqual([])
    } else {
      expect(await get(`http://example.com:${port}/go?wiki.corp`)).toMatchObject({ status: 200 })
      expect(received).toEqual(['/robots.txt', '/page'])
    }
  })

  test('does not fetch /robots.txt of a private host as a page with public-only', async () => {
    const gate = newGate({ network: 'public-only' })
    for (const path of ['/robots.txt', '/page']) {
      expect(await wayOf(gate)(`http://wiki.corp:${port}${path}`).catch(codeOf)).toBe('ERR_POLITELY_DISALLOWED')
    }
    expect(await wayOf(gate)(`http://example.com:${port}/go?wiki.corp`).catch(codeOf)).toBe('ERR_POLITELY_DISALLOWED')
    expect(received).toEqual([])
  })

  test('allows a direct request to a private name', async () => {
    expect(await wayOf(newGate())(`http://wiki.corp:${port}/page`)).toMatchObject({ status: 200 })
  })
})

test('with politeAgent, an abort ends the lookup of a redirect’s target, and `drain` does not wait for the lookup', async () => {
  const gate = newGate()
  const asked = Promise.withResolvers<void>()
  const silentLookup: LookupFunction = (host, ...args) => {
    if (host === 'printer.internal') asked.resolve()
    else lookup(host, ...args)
  }
  const dispatcher = politeAgent({ gate, lookup: silentLookup, allowAddresses: ['127.0.0.1'], maxRedirections: 1 })
  ending(dispatcher)
  const controller = new AbortController()
  const request = undici.request(`http://example.com:${port}/go?printer.internal`, {
    dispatcher,
    signal: controller.signal,
  })
  await asked.promise
  controller.abort(new Error('enough'))
  await expect(request).rejects.toThrow('enough')
  await gate.drain()
})

describe('gate.check', () => {
  test('refuses a private address that the given redirects led to', async () => {
    const gate = newGate()
    const redirectedFrom = ['http://example.com/']
    expect(await gate.check(`http://127.0.0.2:${port}/page`, { redirectedFrom })).toMatchObject({
      allowed: false,
      access: { reason: 'blocked-address' },
    })
    expect(received).toEqual([])
  })

  test('rejects redirects that are not a list', async () => {
    const redirectedFrom = 'http://example.com/' as never
    const rejection = { code: 'ERR_POLITELY_OPTION', option: 'redirectedFrom' }
    await expect(newGate().check('http://127.0.0.2/', { redirectedFrom })).rejects.toMatchObject(rejection)
  })
})

describe('redirectedFrom of a permit', () => {
  const redirectedFrom = ['http://example.com/']
  const refused = { code: 'ERR_POLITELY_DISALLOWED', verdict: { access: { reason: 'blocked-address' } } }

  test('is checked for a request that has a permit already', async () => {
    const gate = newGate()
    const fetch = politely(undici.fetch, { gate })
    const url = `http://127.0.0.2:${port}/page`
    const permit = await gate.enter(url) // the caller forgets it here
    const response = permit.run(() => fetch(url, { redirectedFrom }))
    await expect(response).rejects.toMatchObject(refused)
    permit.release()
    expect(received).toEqual(['/robots.txt'])
  })

  test('holds for redirects of a private page that a public page has named', async () => {
    // The name has a public address at first, so the page itself is allowed.
    const addresses = ['127.0.0.1', '127.0.0.1']
    const gate = newGate({
      lookup: (host, options, callback) =>
        lookupIn({ 'wiki.corp': addresses.shift() ?? '127.0.0.2' })(host, options, callback),
    })
    const permit = await gate.enter(`http://wiki.corp:${port}/go`, { redirectedFrom })
    permit.release({ status: 302, headers: { location: `http://127.0.0.2:${port}/page` } })
    await expect(gate.enter(`http://127.0.0.2:${port}/page`)).rejects.toMatchObject(refused)
    expect(received).toEqual([])
  })

  test('does not hold for another request that is made while the first one is sent', async () => {
    const gate = newGate()
    const dispatcher = ending(politeAgent({ gate, lookup, allowAddresses: ['127.0.0.1'] }))
    const permit = await gate.enter(`http://example.com:${port}/page`, { redirectedFrom })
    const { status } = await permit.run(() => undici.fetch(`http://127.0.0.2:${port}/token`, { dispatcher }))
    permit.release()
    expect(status).toBe(200)
  })

  test.for(['enter', 'when', 'check'] as const)('%s rejects a value that is not a list of URLs', async (method) => {
    const call = newGate()[method]('http://example.com/', { redirectedFrom: ['/page'] })
    await expect(call).rejects.toMatchObject({ code: 'ERR_POLITELY_OPTION', option: 'redirectedFrom[0]' })
  })

  test('is checked by a fetch and by a dispatcher', async () => {
    const gate = newGate()
    const rejection = { code: 'ERR_POLITELY_OPTION', option: 'redirectedFrom' }
    const url = `http://example.com:${port}/page`
    await expect(politely(undici.fetch, { gate })(url, { redirectedFrom: 'x' as never })).rejects.toMatchObject(
      rejection,
    )
    const dispatcher = ending(politeAgent({ gate, lookup, allowAddresses: ['127.0.0.1'] }))
    const options = { dispatcher, redirectedFrom: 'x' }
    await expect(undici.request(url, options)).rejects.toMatchObject(rejection)
  })
})
