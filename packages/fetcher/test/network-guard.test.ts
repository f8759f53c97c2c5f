// @module-tag nodes
// @module-tag sockets
// Which addresses a fetch of robots.txt may connect to. All of it is our choice. Names with ICANN
// suffixes serve as public hosts. They resolve to loopback, so that no test connects to another
// machine.
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, isIP, type LookupFunction } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeReason } from '@politely/core'
import { disallowsPage } from '@politely/testkit/cases/response-cases'
import { startClock } from '@politely/testkit/clock'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { Agent, buildConnector, interceptors, request } from 'undici'
import { describe, expect } from 'vitest'
import { MemoryStore, NetworkGuard, type RobotsClient } from '../src/index.ts'
import { connectorsOf, type NetworkPolicy } from '../src/network/network-guard.ts'
import { watchOwnSockets } from './own-sockets.ts'
import { test } from './with-sites.ts'

const lookup = lookupIn({
  'example.com': '127.0.0.1',
  'example.co.uk': '127.0.0.1',
  'xn--bcher-kva.example.com': '127.0.0.1',
  localhost: '127.0.0.1',
})
const rules = { status: 200, body: disallowsPage }
const movedTo = (location: string) => ({ status: 302, headers: { location } })
const refused = {
  allowed: false,
  because: 'unreachable',
  access: { outcome: 'unreachable', reason: 'blocked-address' },
}
const obeyed = { allowed: false, because: 'rule', access: { outcome: 'success' } }

describe('a public name with a private address', () => {
  test.for([
    'http://example.com:PORT',
    'http://EXAMPLE.com:PORT',
    'http://example.co.uk:PORT',
    'http://bücher.example.com:PORT',
    'https://example.com:PORT',
    'ftp://example.com:PORT',
  ])('is refused without a connection: %s', async (origin, { sites, newClient }) => {
    const { ports } = watchOwnSockets()
    const client = newClient({ lookup, retries: 2 })
    const verdict = await client.check(sites.withPort(`${origin}/page`))
    expect(verdict).toMatchObject(refused)
    expect(verdict).toMatchObject({
      access: { detail: expect.stringMatching(/ is at 127\.0\.0\.1, which is not a public/) },
    })
    expect(ports).toEqual([])
  })

  test('is refused for /robots.txt itself too: in check, isAllowed and inspect', async ({ sites, newClient }) => {
    const client = newClient({ lookup })
    const url = sites.withPort('http://example.com:PORT/robots.txt')
    for (let i = 0; i < 2; i++) {
      expect(await client.isAllowed(url)).toBe(false)
      expect(await client.check(url)).toMatchObject(refused)
      expect(await client.inspect(url)).toMatchObject({ state: 'lost', attempts: [{ reason: 'blocked-address' }] })
    }
  })

  test('is refused although there is a copy from a public address', async ({ sites, newClient }) => {
    sites.respond('http://example.com:PORT/robots.txt', rules)
    const clock = startClock()
    const stored = new MemoryStore({ now: clock.now })
    const pages = ['page', 'other', 'robots.txt'].map((path) => sites.withPort(`http://example.com:PORT/${path}`))
    const before = newClient({ lookup, network: 'any', now: clock.now, store: stored })
    expect(await Promise.all(pages.map((url) => before.isAllowed(url)))).toEqual([false, true, true])
    clock.advance(86_400_000)
    const client = newClient({ lookup, now: clock.now, store: stored })
    for (const url of pages) expect(await client.check(url)).toMatchObject(refused)
    expect(await Promise.all(pages.map((url) => client.isAllowed(url)))).toEqual([false, false, false])
    expect(await client.inspect(pages[0] ?? '')).toMatchObject({ state: 'lost', copy: { bytes: disallowsPage.length } })
  })

  test('is fetched with network: any', async ({ sites, newClient }) => {
    sites.respond('http://example.com:PORT/robots.txt', rules)
    const client = newClient({ lookup, network: 'any' })
    expect(await client.check(sites.withPort('http://example.com:PORT/page'))).toMatchObject(obeyed)
  })

  test('is also refused as the target of a redirect', async ({ sites, newClient }) => {
    sites.respond('http://a.test:PORT/robots.txt', movedTo('http://example.com:PORT/robots.txt'))
    const verdict = await newClient({ lookup }).check(sites.withPort('http://a.test:PORT/page'))
    expect(verdict).toMatchObject({ ...refused, access: { ...refused.access, hops: [{ status: 302 }] } })
    expect(sites.requestedUrls).toEqual(['http://a.test:PORT/robots.txt'])
  })
})

describe('private hosts that the caller itself requests are allowed', () => {
  test.for([
    ['http://127.0.0.1:PORT', 'http://127.0.0.1:PORT'],
    ['http://2130706433:PORT', 'http://127.0.0.1:PORT'],
    ['http://localhost:PORT', 'http://localhost:PORT'],
    ['http://a.test:PORT', 'http://a.test:PORT'],
  ] as const)('%s', async ([origin, asked], { sites, newClient }) => {
    sites.respond(`${asked}/robots.txt`, rules)
    expect(await newClient({ lookup }).check(sites.withPort(`${origin}/page`))).toMatchObject(obeyed)
  })

  test('and may redirect to other private hosts', async ({ sites, newClient }) => {
    sites.respond('http://a.test:PORT/robots.txt', movedTo('http://127.0.0.1:PORT/rules'))
    sites.respond('http://127.0.0.1:PORT/rules', rules)
    expect(await newClient({ lookup }).check(sites.withPort('http://a.test:PORT/page'))).toMatchObject(obeyed)
  })
})

describe('public-only refuses private hosts in direct requests too', () => {
  test.for([
    'localhost',
    'a.test',
    '127.0.0.1',
    '2130706433',
    '127.1',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::1]',
    '0.0.0.0',
  ])('%s', async (host, { sites, newClient }) => {
    const client = newClient({ lookup, network: 'public-only' })
    const { ports } = watchOwnSockets()
    expect(await client.check(sites.withPort(`http://${host}:PORT/page`))).toMatchObject(refused)
    expect(await client.check(sites.withPort(`ftp://${host}:PORT/page`))).toMatchObject(refused)
    expect(ports).toEqual([])
  })
})

describe("with the caller's dispatcher, the guard sees only URLs", () => {
  /**
   * Sends every request to loopback, like a proxy, so that a public name can respond and redirect.
   */
  function proxyTo(port: number): Agent {
    const connect = buildConnector({ allowH2: false })
    return new Agent({
      connect: (options, callback) => connect({ ...options, hostname: '127.0.0.1', port: String(port) }, callback),
    })
  }

  test.for([
    'http://127.0.0.1:PORT/rules',
    'http://2130706433:PORT/rules',
    'http://[::ffff:127.0.0.1]:PORT/rules',
    'http://169.254.169.254/latest/meta-data/',
    'http://10.0.0.1/',
    'http://[fd00::1]/',
    'http://localhost:PORT/rules',
    'http://wiki.corp/rules',
    'http://printer/rules',
  ])(
    'a redirect from a public name to a private address or name is refused: %s',
    async (location, { sites, newClient, onTestFinished }) => {
      const dispatcher = proxyTo(sites.port)
      onTestFinished(() => dispatcher.destroy())
      sites.respond('http://example.com:PORT/robots.txt', movedTo(location))
      const verdict = await newClient({ dispatcher }).check(sites.withPort('http://example.com:PORT/page'))
      expect(verdict).toMatchObject({
        ...refused,
        access: {
          ...refused.access,
          url: sites.withPort(location).replace('2130706433', '127.0.0.1').replace('::ffff:127.0.0.1', '::ffff:7f00:1'),
        },
      })
      expect(sites.requestedUrls).toEqual(['http://example.com:PORT/robots.txt'])
    },
  )

  test('a redirect from a public name to another is followed', async ({ sites, newClient, onTestFinished }) => {
    const dispatcher = proxyTo(sites.port)
    onTestFinished(() => dispatcher.destroy())
    sites.respond('http://example.com:PORT/robots.txt', movedTo('http://example.co.uk:PORT/rules'))
    sites.respond('http://example.co.uk:PORT/rules', rules)
    const verdict = await newClient({ dispatcher }).check(sites.withPort('http://example.com:PORT/page'))
    expect(verdict).toMatchObject(obeyed)
  })
})

// The guard connects without TLS first, so it must know the default port of a scheme. The test does
// not depend on what listens on these ports of 127.0.0.1.
test.for([
  ['http://example.com/page', 80],
  ['https://example.com/page', 443],
  ['ftp://example.com/page', 21],
] as const)('RFC 9110 §4.2, RFC 959 §8, a public name without a port: %s', async ([url, port], { newClient }) => {
  const { ports } = watchOwnSockets()
  await newClient({ lookup, allowAddresses: ['127.0.0.1'] }).check(url)
  expect(ports).toEqual([port])
})

describe('a page that was reached by a redirect', () => {
  const privateNames = lookupIn({ 'wiki.corp': '127.0.0.1', 'example.com': '127.0.0.1' })
  test.for<readonly [from: string, target: string, network: NetworkPolicy, expected: 'asked' | 'refused']>([
    ['http://example.com/', 'http://127.0.0.1:PORT', 'guarded', 'refused'],
    ['http://example.com/', 'http://2130706433:PORT', 'guarded', 'refused'],
    ['http://example.com/', 'http://wiki.corp:PORT', 'guarded', 'refused'],
    ['http://example.com/', 'http://example.com:PORT', 'guarded', 'refused'],
    ['http://8.8.8.8/', 'http://127.0.0.1:PORT', 'guarded', 'refused'],
    ['http://a.test/', 'http://127.0.0.1:PORT', 'guarded', 'asked'],
    ['http://a.test/', 'http://wiki.corp:PORT', 'guarded', 'asked'],
    ['http://a.test/', 'http://wiki.corp:PORT', 'public-only', 'refused'],
    ['http://example.com/', 'http://127.0.0.1:PORT', 'any', 'asked'],
  ])('from %s to %s, %s: %s', async ([from, target, network, expected], { sites, newClient }) => {
    sites.respond(`${target}/robots.txt`.replace('2130706433', '127.0.0.1'), rules)
    const client = newClient({ lookup: privateNames, network })
    const redirectedFrom = [from, from]
    const verdict = await client.check(sites.withPort(`${target}/page`), { redirectedFrom })
    expect(verdict).toMatchObject(expected === 'asked' ? obeyed : refused)
    expect(sites.requests).toHaveLength(expected === 'asked' ? 1 : 0)
    if (expected === 'asked') return
    // The refusal also covers robots.txt itself, and says nothing about direct requests.
    expect(await client.check(sites.withPort(`${target}/robots.txt`), { redirectedFrom })).toMatchObject(refused)
    expect(sites.requests).toEqual([])
  })

  test('a refused redirect is not remembered for direct requests', async ({ sites, newClient }) => {
    sites.respond('http://127.0.0.1:PORT/robots.txt', rules)
    const client = newClient()
    const page = sites.withPort('http://127.0.0.1:PORT/page')
    const redirectedFrom = ['http://8.8.8.8/']
    expect(await client.check(page, { redirectedFrom })).toMatchObject(refused)
    expect(await client.check(page)).toMatchObject(obeyed)
    expect(await client.check(page, { redirectedFrom })).toMatchObject(refused)
  })

  describe('every method takes the URLs that led to a page', () => {
    type Call = (client: RobotsClient, url: string, redirectedFrom: readonly string[]) => Promise<unknown>
    const blocked = { outcome: 'unreachable', reason: 'blocked-address' }
    test.for<readonly [name: string, call: Call, result: unknown]>([
      ['isAllowed', (client, url, redirectedFrom) => client.isAllowed(url, { redirectedFrom }), false],
      ['check', (client, url, redirectedFrom) => client.check(url, { redirectedFrom }), refused],
      ['checkNow', async (client, url, redirectedFrom) => client.checkNow(url, { redirectedFrom }), undefined],
      [
        'checkMany',
        async (client, url, redirectedFrom) => (await client.checkMany([url], { redirectedFrom }).next()).value,
        refused,
      ],
      ['prefetch', (client, url, redirectedFrom) => client.prefetch([url], { redirectedFrom }), { unreachable: 1 }],
      [
        'explain',
        (client, url, redirectedFrom) => client.explain(url, { redirectedFrom }),
        { verdict: refused, records: [] },
      ],
      [
        'sitemaps',
        async (client, url, redirectedFrom) => (await client.sitemaps(url, { redirectedFrom })).access,
        blocked,
      ],
      ['robots', (client, url, redirectedFrom) => client.robots(url, { redirectedFrom }), undefined],
      [
        'usage',
        (client, url, redirectedFrom) => client.usage(url, undefined, { redirectedFrom }),
        { verdict: refused, tdmrep: { reading: 'disallowed' } },
      ],
      [
        'usage with a response that a fetch was redirected to',
        (client, url, [page = '']) => client.usage(page, redirectedResponse(url)),
        { verdict: { ...refused, url: expect.stringContaining('127.0.0.1') } },
      ],
    ])('%s', async ([, call, result], { sites, newClient }) => {
      const url = sites.withPort('http://127.0.0.1:PORT/page')
      const client = newClient({ lookup })
      const found = await call(client, url, ['http://8.8.8.8/'])
      if (typeof result === 'object') expect(found).toMatchObject(result as object)
      else expect(found).toBe(result)
      expect(sites.requests).toEqual([])
    })

    function redirectedResponse(url: string): Response {
      const response = new Response('<title>Page</title>', { headers: { 'content-type': 'text/html' } })
      return Object.defineProperties(response, { url: { value: url }, redirected: { value: true } })
    }

    test('and the robots.txt of a private name connects only to public addresses too', async ({ sites, newClient }) => {
      sites.respond('http://wiki.corp:PORT/robots.txt', rules)
      const addresses = ['127.0.0.2'] // public, at the check
      const changing: LookupFunction = (host, options, callback) =>
        lookupIn({ [host]: addresses.shift() ?? '127.0.0.1' })(host, options, callback)
      const client = newClient({ lookup: changing, allowAddresses: ['127.0.0.2'] })
      const redirectedFrom = ['http://8.8.8.8/']
      expect(await client.check(sites.withPort('http://wiki.corp:PORT/page'), { redirectedFrom })).toMatchObject(
        refused,
      )
      expect(sites.connections).toEqual([])
    })

    test('and checkNow returns the verdict on a public one that memory has', async ({ sites, newClient }) => {
      sites.respond('http://example.com:PORT/robots.txt', rules)
      const client = newClient({ lookup, allowAddresses: ['127.0.0.1'] })
      const url = sites.withPort('http://example.com:PORT/page')
      await client.check(url)
      expect(client.checkNow(url, { redirectedFrom: ['http://8.8.8.8/'] })).toMatchObject(obeyed)
    })
  })

  test('a private name that cannot be looked up is unreachable', async ({ newClient }) => {
    const client = newClient({ lookup: lookupIn({ 'wiki.corp': 'EAI_AGAIN' }) })
    const verdict = await client.check('http://wiki.corp/page', { redirectedFrom: ['http://example.com/'] })
    expect(verdict).toMatchObject({ because: 'unreachable', access: { reason: 'dns-unavailable' } })
  })
})

describe('allowAddresses', () => {
  test.for<readonly [allowAddresses: readonly string[], host: string, network: NetworkPolicy, expected: object]>([
    [['127.0.0.1'], 'example.com', 'guarded', obeyed],
    [['127.0.0.0/8'], 'example.com', 'guarded', obeyed],
    [['0.0.0.0/0'], 'example.com', 'guarded', obeyed],
    [['::ffff:127.0.0.1'], 'example.com', 'guarded', obeyed],
    [['::ffff:127.0.0.0/104'], 'example.com', 'guarded', obeyed],
    [['127.0.0.1'], '127.0.0.1', 'public-only', obeyed],
    [['127.0.0.1'], 'a.test', 'public-only', obeyed],
    [[], 'example.com', 'guarded', refused],
    [['127.0.0.2', '127.0.1.0/24', '10.0.0.0/8'], 'example.com', 'guarded', refused],
    [['::1', '::/0'], 'example.com', 'guarded', refused], // another family
    [['127.0.0.2'], 'a.test', 'public-only', refused],
  ])('%j, %s, %s', async ([allowAddresses, host, network, expected], { sites, newClient }) => {
    sites.respond(`http://${host}:PORT/robots.txt`, rules)
    const client = newClient({ lookup, allowAddresses, network })
    expect(await client.check(sites.withPort(`http://${host}:PORT/page`))).toMatchObject(expected)
  })

  test('an allowed address may not redirect to other private addresses', async ({ sites, newClient }) => {
    sites.respond('http://127.0.0.1:PORT/robots.txt', movedTo('http://localhost:PORT/rules'))
    sites.respond('http://localhost:PORT/rules', rules)
    const names = { localhost: '127.0.0.2' }
    const client = newClient({ lookup: lookupIn(names), allowAddresses: ['127.0.0.1'] })
    expect(await client.check(sites.withPort('http://127.0.0.1:PORT/page'))).toMatchObject(refused)
    expect(sites.requestedUrls).toEqual(['http://127.0.0.1:PORT/robots.txt'])
  })
})

// 127.0.0.2 serves as a public address. Servers listen only on 127.0.0.1, so the system refuses
// connections to it.
describe('a name with several addresses', () => {
  test.for<readonly [name: string, found: readonly string[], tried: readonly string[], reason: string]>([
    ['private addresses are removed', ['127.0.0.1', '127.0.0.2', '::1'], ['127.0.0.2'], 'refused'],
    ['private addresses are removed in any order', ['127.0.0.2', '::1', '127.0.0.1'], ['127.0.0.2'], 'refused'],
    [
      'all remaining addresses are tried',
      ['127.0.0.2', '127.0.0.1', '127.0.0.3'],
      ['127.0.0.2', '127.0.0.3'],
      'refused',
    ],
    ['without remaining addresses, there is no connection', ['127.0.0.1', '::1'], [], 'blocked-address'],
  ])('%s', async ([, found, tried, reason], { sites, newClient }) => {
    for (const scheme of ['http', 'https', 'ftp']) {
      const { addresses } = watchOwnSockets()
      const client = newClient({
        lookup: lookupIn({ 'example.com': found }),
        allowAddresses: ['127.0.0.2', '127.0.0.3'],
      })
      const verdict = await client.check(sites.withPort(`${scheme}://example.com:PORT/page`))
      expect(verdict).toMatchObject({ access: { outcome: 'unreachable', reason } })
      expect(addresses).toEqual(tried)
    }
    expect(sites.connections).toEqual([])
  })

  test('the remaining address responds', async ({ sites, newClient }) => {
    sites.respond('http://example.com:PORT/robots.txt', rules)
    const { addresses } = watchOwnSockets()
    const mixed = lookupIn({ 'example.com': ['::1', '127.0.0.2', '127.0.0.1'] })
    const client = newClient({ lookup: mixed, allowAddresses: ['127.0.0.1'] })
    expect(await client.check(sites.withPort('http://example.com:PORT/page'))).toMatchObject(obeyed)
    expect(addresses).toEqual(['127.0.0.1'])
  })
})

describe('a resolver whose results change', () => {
  /** Returns the lists in turn, as in DNS rebinding. */
  function rebinding(...answers: readonly (readonly string[])[]): LookupFunction {
    let asked = 0
    return (host, options, callback) =>
      lookupIn({ [host]: answers[Math.min(asked++, answers.length - 1)] ?? [] })(host, options, callback)
  }
  const PUBLIC = '127.0.0.1'
  const PRIVATE = '127.0.0.2'
  const allowAddresses = [PUBLIC]

  test('public first, then private: refuses the second request', async ({ sites, newClient }) => {
    sites.respond('http://example.com:PORT/robots.txt', (socket) => {
      socket.end('HTTP/1.1 302 Found\r\nLocation: /rules\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    })
    sites.respond('http://example.com:PORT/rules', rules)
    const { addresses } = watchOwnSockets()
    const client = newClient({ lookup: rebinding([PUBLIC], [PRIVATE]), allowAddresses })
    expect(await client.check(sites.withPort('http://example.com:PORT/page'))).toMatchObject(refused)
    expect(addresses).toEqual([PUBLIC])
  })

  test('private first, then public: refused without a retry', async ({ sites, newClient }) => {
    const client = newClient({ lookup: rebinding([PRIVATE], [PUBLIC]), allowAddresses, retries: 2 })
    expect(await client.check(sites.withPort('http://example.com:PORT/page'))).toMatchObject(refused)
    expect(sites.connections).toEqual([])
  })

  test.for([
    ['public at the check, private at the connection', [PUBLIC, PRIVATE, PRIVATE, PRIVATE], [PUBLIC], 'rule'],
    ['private at the check, public at the connection', [PRIVATE, PUBLIC, PUBLIC, PUBLIC], [], 'unreachable'],
  ] as const)(
    'a result object that changes between reads: %s',
    async ([, reads, connected, because], { sites, newClient }) => {
      sites.respond('http://example.com:PORT/robots.txt', rules)
      const { addresses } = watchOwnSockets()
      let read = 0
      const changing = {
        get address(): string {
          return reads[Math.min(read++, reads.length - 1)] ?? ''
        },
        family: 4,
      }
      const client = newClient({ lookup: (_host, _options, callback) => callback(null, [changing]), allowAddresses })
      expect(await client.check(sites.withPort('http://example.com:PORT/page'))).toMatchObject({ because })
      expect(addresses).toEqual(connected)
    },
  )

  test('a resolver that returns one address in spite of all: true', async ({ sites, newClient }) => {
    sites.respond('http://example.com:PORT/robots.txt', rules)
    const single =
      (address: string): LookupFunction =>
      (_host, _options, callback) =>
        callback(null, address, 4)
    const page = sites.withPort('http://example.com:PORT/page')
    expect(await newClient({ lookup: single(PUBLIC), allowAddresses }).check(page)).toMatchObject(obeyed)
    expect(await newClient({ lookup: single(PRIVATE), allowAddresses }).check(page)).toMatchObject(refused)
    expect(await newClient({ lookup: single('nowhere'), allowAddresses }).check(page)).toMatchObject(refused)
  })
})

test("with the caller's dispatcher, the guard resolves names by the given lookup", async ({
  sites,
  newClient,
  onTestFinished,
}) => {
  sites.respond('http://example.com:PORT/robots.txt', rules)
  const dispatcher = new Agent({ connect: { lookup: lookupIn({ 'example.com': '127.0.0.1' }) } })
  onTestFinished(() => dispatcher.destroy())
  const page = sites.withPort('http://example.com:PORT/page')
  const clientWith = (found: string | readonly string[]) =>
    newClient({ dispatcher, lookup: lookupIn({ 'example.com': found }), allowAddresses: ['127.0.0.1'] })

  expect(await clientWith('127.0.0.1').check(page)).toMatchObject(obeyed)
  // The dispatcher may connect to any of the addresses.
  expect(await clientWith(['127.0.0.1', '127.0.0.2']).check(page)).toMatchObject(refused)
  expect(await clientWith([]).check(page)).toMatchObject({ access: { reason: 'dns' } })
  expect(await clientWith('EAI_AGAIN').check(page)).toMatchObject({ access: { reason: 'dns-unavailable' } })
  const hangs = newClient({ dispatcher, lookup: () => undefined, timeoutMs: 100 })
  expect(await hangs.check(page)).toMatchObject({ access: { reason: 'timeout' } })
  expect(sites.requests).toHaveLength(1)
})

describe('a refusal says what to write', () => {
  const NOT_PUBLIC = 'which is not a public address'
  test.for<readonly [addresses: string | string[], remedy: string]>([
    [
      '198.18.0.7',
      `is at 198.18.0.7, ${NOT_PUBLIC}; if a VPN or proxy of this machine gives such addresses to all names, write allowAddresses: ['198.18.0.0/15']`,
    ],
    [
      '10.1.2.3',
      `is at 10.1.2.3, ${NOT_PUBLIC}; if this host is yours, write allowAddresses: ['10.1.2.3'], or network: 'any' if no host may be refused`,
    ],
    [
      ['192.168.0.2', 'fd00::2'],
      `is at 192.168.0.2, fd00::2, ${NOT_PUBLIC}; if this host is yours, write allowAddresses: ['192.168.0.2', 'fd00::2'], or network: 'any' if no host may be refused`,
    ],
    ['169.254.169.254', `is at 169.254.169.254, ${NOT_PUBLIC}`],
    ['fe80::1', `is at fe80::1, ${NOT_PUBLIC}`],
  ])('%s', async ([addresses, remedy], { newClient }) => {
    const lines: string[] = []
    const logger = { warn: (line: string) => void lines.push(line) }
    const found = [addresses].flat().map((address) => ({ address, family: isIP(address) }))
    const client = newClient({ logger, lookup: (_host, _options, callback) => callback(null, found) })
    const reason = `(blocked-address: example.com ${remedy})`
    expect(describeReason(await client.check('https://example.com/'))).toBe(`robots.txt is unreachable ${reason}`)
    expect(lines).toEqual([expect.stringContaining(reason)])
  })

  test('of an address, which it names once', () => {
    const guard = new NetworkGuard({ network: 'public-only' })
    expect(guard.refusalOfHost('10.0.0.7')?.message).toMatch(/^10\.0\.0\.7 is not a public address; if this host/)
    expect(guard.refusalOfHost('fd00::7')?.message).toMatch(/^fd00::7 is not a public address; if this host/)
  })

  test('of a private name without an address', async () => {
    const guard = new NetworkGuard({ network: 'public-only' })
    expect(await guard.refusalBeforehand('http://printer/')).toMatchObject({
      message: "printer has no known public address; if this host is yours, write network: 'any'",
    })
  })
})

describe('NetworkGuard, for other connections', () => {
  const names = lookupIn({
    'example.com': '127.0.0.1',
    'example.org': ['127.0.0.2', '127.0.0.1'],
    localhost: '127.0.0.1',
  })
  const blocked = { name: 'BlockedAddressError', code: 'ERR_POLITELY_BLOCKED_ADDRESS' }

  test.for<readonly [network: NetworkPolicy, url: string, expected: object | 200]>([
    ['guarded', 'http://example.com:PORT/', { ...blocked, host: 'example.com' }],
    ['guarded', 'http://localhost:PORT/', 200],
    ['guarded', 'http://127.0.0.1:PORT/', 200],
    ['public-only', 'http://localhost:PORT/', blocked],
    ['public-only', 'http://127.0.0.1:PORT/', blocked],
    ['public-only', 'http://[::1]:PORT/', blocked],
    ['any', 'http://example.com:PORT/', 200],
  ])(
    'its connector decides by the name of each host: %s, %s',
    async ([network, url, expected], { sites, onTestFinished }) => {
      sites.respond(url, { status: 200 })
      const guard = new NetworkGuard({ network, lookup: names })
      const dispatcher = new Agent({ connect: guard.connector({ allowH2: false }) })
      onTestFinished(() => dispatcher.destroy())
      const answer = request(sites.withPort(url), { dispatcher })
      if (expected === 200) expect(await (await answer).body.text()).toBe('')
      else await expect(answer).rejects.toMatchObject(expected)
      expect(sites.connections).toHaveLength(expected === 200 ? 1 : 0)
    },
  )

  test.for(['any', 'public-only'] as const)(
    'a TLS option that Node rejects fails the request and closes its connection: %s',
    async (network, { sites, onTestFinished }) => {
      const guard = new NetworkGuard({ network, allowAddresses: ['127.0.0.1'] })
      const options: object = { key: 'not a key', cert: 'not a certificate' }
      const dispatcher = new Agent({ connect: guard.connector(options) })
      onTestFinished(() => dispatcher.destroy())
      await expect(request(sites.withPort('https://127.0.0.1:PORT/'), { dispatcher })).rejects.toMatchObject({
        code: 'ERR_OSSL_PEM_NO_START_LINE',
      })
      await sites.allConnectionsClosed()
    },
  )

  test('a name that the `dns` interceptor of undici has replaced by a private address is refused', async ({
    sites,
    onTestFinished,
  }) => {
    const guard = new NetworkGuard()
    const answer = [{ address: '127.0.0.1', family: 4, ttl: 1_000 }] as const
    const dns = interceptors.dns({ lookup: (_origin, _options, callback) => callback(null, [...answer]) })
    const dispatcher = new Agent({ connect: guard.connector({ allowH2: false }) }).compose(dns)
    onTestFinished(() => dispatcher.destroy())
    await expect(request(sites.withPort('http://example.com:PORT/'), { dispatcher })).rejects.toMatchObject(blocked)
    expect(sites.connections).toHaveLength(0)
  })

  test('a socket with another address than the lookup found is refused before a byte is sent', async ({
    onTestFinished,
  }) => {
    const received: Buffer[] = []
    const ended = Promise.withResolvers<void>()
    const server = createServer((socket) => {
      socket.on('data', (chunk) => received.push(chunk))
      socket.once('close', ended.resolve)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const elsewhere: buildConnector.connector = (_target, callback) => {
      const socket = connect(port, '127.0.0.1', () => callback(null, socket))
    }
    const guarded = connectorsOf(new NetworkGuard({ lookup: names }), () => elsewhere, {}).public
    const error = await new Promise((resolve) =>
      guarded({ hostname: 'example.com', protocol: 'http:', port: '80' }, (refusal, socket) => {
        socket?.end('GET / HTTP/1.1\r\n\r\n')
        resolve(refusal)
      }),
    )
    expect(error).toMatchObject(blocked)
    await ended.promise
    expect(received).toEqual([])
  })

  test('a socket without an address is refused before a byte is sent', async ({ onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), 'guard-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'socket')
    const received: Buffer[] = []
    const server = createServer((socket) => void socket.on('data', (chunk) => received.push(chunk)))
    await new Promise<void>((resolve) => server.listen(path, resolve))
    onTestFinished(() => void server.close())
    const ended = new Promise((resolve) => server.once('connection', (socket) => socket.once('close', resolve)))
    const dispatcher = new Agent({ connect: new NetworkGuard({ lookup: names }).connector({ socketPath: path }) })
    onTestFinished(() => dispatcher.destroy())
    await expect(request('http://example.com/', { dispatcher })).rejects.toMatchObject(blocked)
    await ended
    expect(received).toEqual([])
  })

  test.for([
    [{ netwrok: 'public-only' }, 'netwrok'],
    [{ allowAdresses: [] }, 'allowAdresses'],
    [{ network: 'public' }, 'network'],
    [{ lookup: 'dns' }, 'lookup'],
    [null, 'options'],
  ] as const)('refuses an unknown or invalid option: %j', ([options, option]) => {
    expect(() => new NetworkGuard(options as never)).toThrow(
      expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option }),
    )
    expect(() => new NetworkGuard().connector({ reach: 'pubilc' as never })).toThrow(/reach/)
  })

  test.for([
    ['bogus'],
    ['10.0.0.0/33'],
    ['10.0.0.0/'],
    ['10.0.0.0/8/8'],
    ['10.1'],
    ['fe80::1%eth0'],
    ['::/129'],
    [5],
    [null],
  ] as const)('allowAddresses rejects %s', ([wrong]) => {
    const construction = () => new NetworkGuard({ allowAddresses: ['10.0.0.0/8', wrong as string] })
    expect(construction).toThrow(expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option: 'allowAddresses' }))
    expect(construction).toThrow(
      /expected addresses and blocks such as \["10\.1\.2\.3", "10\.0\.0\.0\/8", "fd00::\/8"\]/,
    )
  })
})

describe('reachOf', () => {
  const PUBLIC = 'http://example.com/robots.txt'
  const PRIVATE = 'http://10.0.0.1/robots.txt'
  test.for<readonly [policy: NetworkPolicy, chain: readonly string[], expected: 'public' | 'any']>([
    ['guarded', [PUBLIC], 'public'],
    ['guarded', ['http://example.com./robots.txt'], 'public'],
    ['guarded', ['http://www.example.co.uk/robots.txt'], 'public'],
    ['guarded', ['http://8.8.8.8/robots.txt'], 'public'],
    ['guarded', ['http://[2606:4700::1111]/robots.txt'], 'public'],
    ['guarded', [PRIVATE], 'any'],
    ['guarded', ['http://[::1]/robots.txt'], 'any'],
    ['guarded', ['http://localhost/robots.txt'], 'any'],
    ['guarded', ['http://printer/robots.txt'], 'any'],
    ['guarded', ['http://server.internal/robots.txt'], 'any'],
    ['guarded', [PUBLIC, PRIVATE], 'public'],
    ['guarded', [PRIVATE, PUBLIC], 'public'],
    ['guarded', [PRIVATE, PUBLIC, PRIVATE], 'public'],
    ['guarded', [PRIVATE, 'http://localhost/robots.txt'], 'any'],
    ['public-only', [PRIVATE], 'public'],
    ['public-only', ['http://localhost/robots.txt'], 'public'],
    ['any', [PUBLIC], 'any'],
    ['any', [PUBLIC, PRIVATE], 'any'],
  ])('%s: %j to %s addresses', ([network, chain, expected]) => {
    expect(new NetworkGuard({ network }).reachOf(chain)).toBe(expected)
  })
})

// Hosts in every spelling that a URL accepts, as direct requests and as targets of redirects from a
// public site. Every name is at 127.0.0.1.
describe('hosts in every spelling, under each policy', () => {
  type Verdict = 'asked' | 'refused'
  const LOCAL = ['asked', 'refused', 'refused'] as const
  const OPEN = ['asked', 'asked', 'asked'] as const
  const rows: readonly (readonly [
    host: string,
    verdicts: readonly [guarded: Verdict, publicOnly: Verdict, redirected: Verdict],
  ])[] = [
    ...[
      '127.0.0.1',
      '127.255.255.254',
      '127.1',
      '127.0.1',
      '2130706433',
      '017700000001',
      '0177.0.0.1',
      '0x7f000001',
      '0x7f.1',
      '0x7F.0x0.0x0.0x1',
      '127.0.0.1.',
      '%31%32%37.0.0.1',
      '１２７.0.0.1',
      '127。0。0。1',
      '0.0.0.0',
      '0',
      '00',
      '0x0',
      '0.0.0.0.',
      '10.0.0.1',
      '10.255.255.255',
      '10.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.0.1',
      '192.168.1',
      '0xc0a80001',
      '169.254.169.254',
      '2852039166',
      '0xa9fea9fe',
      '169.254.43518',
      '169.254.170.2',
      '100.64.0.1',
      '100.100.100.200',
      '100.127.255.255',
      '192.0.0.192',
      '192.0.2.1',
      '198.18.0.1',
      '198.19.255.255',
      '198.51.100.1',
      '203.0.113.1',
      '192.88.99.1',
      '224.0.0.1',
      '239.255.255.250',
      '240.0.0.1',
      '255.255.255.255',
      '4294967295',
      '168.63.129.16',
      '0xa83f8110',
      '34.118.224.1',
      '34.118.239.255',
      '161.26.0.10',
      '166.8.0.1',
      '166.11.255.255',
      '[::]',
      '[::1]',
      '[0:0:0:0:0:0:0:1]',
      '[::ffff:127.0.0.1]',
      '[::FFFF:7F00:1]',
      '[::ffff:0:127.0.0.1]',
      '[::127.0.0.1]',
      '[::2]',
      '[::ffff:10.0.0.1]',
      '[::ffff:a9fe:a9fe]',
      '[::ffff:169.254.169.254]',
      '[64:ff9b::7f00:1]',
      '[64:ff9b::10.0.0.1]',
      '[64:ff9b::169.254.169.254]',
      '[::ffff:168.63.129.16]',
      '[64:ff9b::168.63.129.16]',
      '[64:ff9b:1::10.0.0.1]',
      '[2002:7f00:1::]',
      '[2002:a00:1::]',
      '[2001::1]',
      '[2001:0:7f00:1::]',
      '[2001:db8::1]',
      '[3fff::1]',
      '[100::1]',
      '[fc00::1]',
      '[fd00:ec2::254]',
      '[fe80::1]',
      '[febf::1]',
      '[fec0::1]',
      '[ff02::1]',
      '[ff0e::1]',
      '[4000::1]',
      '[5f00::1]',
      '[e000::1]',
    ].map((host) => [host, LOCAL] as const),
    ...[
      'localhost',
      'LOCALHOST',
      'localhost.',
      'foo.localhost',
      'Foo.LocalHost.',
      'ｌocalhost',
      'printer',
      'a.test',
      'server.internal',
      'x.local',
      'wiki.corp',
      'nas.lan',
      'router.home.arpa',
      'a-.internal',
    ].map((host) => [host, LOCAL] as const),
    ...[
      'example.com',
      'EXAMPLE.COM.',
      'localtest.example.com',
      '127.0.0.1.example.com',
      '10.0.0.1.example.com.',
      'metadata.google.com',
      'bücher.example.com',
      'com',
      // Invalid host names that resolvers accept.
      'a-.example.com',
      '-a.example.com',
      'a~b.example.com',
      'a_b.example.com',
      "a!$&'()*+,;=b.example.com",
      'a..example.com',
      '.example.com',
      'example.com..',
      `${'a'.repeat(64)}.example.com`,
      `${'a.'.repeat(150)}example.com`,
      'ab--.example.com',
      // Suffixes that are not in the Public Suffix List may be delegated later.
      'a.nosuchtld',
      'a-.nosuchtld',
      '-.nosuchtld.',
    ].map((host) => [host, ['refused', 'refused', 'refused']] as const),
    ...[
      '8.8.8.8',
      '134744072',
      '0x08.8.8.8',
      '172.15.255.255',
      '172.32.0.1',
      '100.63.255.255',
      '100.128.0.1',
      '169.253.255.255',
      '198.17.255.255',
      '198.20.0.1',
      '168.63.129.15',
      '168.63.129.17',
      '34.118.223.255',
      '34.118.240.0',
      '161.25.255.255',
      '161.27.0.0',
      '166.7.255.255',
      '166.12.0.0',
      '[2606:4700::1111]',
      '[::ffff:8.8.8.8]',
      '[64:ff9b::8.8.8.8]',
    ].map((host) => [host, OPEN] as const),
  ]
  const columns = ['guarded', 'public-only', 'guarded, after a redirect'] as const

  test.for(
    rows.flatMap(([host, verdicts]) => verdicts.map((verdict, i) => [host, columns[i] ?? '', verdict] as const)),
  )('%s, %s: %s', async ([host, column, expected]) => {
    const network = column === 'public-only' ? 'public-only' : 'guarded'
    const guard = new NetworkGuard({
      network,
      lookup: (name, options, callback) => lookupIn({ [name]: '127.0.0.1' })(name, options, callback),
    })
    const url = `http://${host}/robots.txt`
    const chain = column.endsWith('redirect') ? ['http://example.com/robots.txt', url] : [url]
    const refusal = guard.reachOf(chain) === 'public' ? await guard.refusalBeforehand(url) : undefined
    expect(refusal === undefined ? 'asked' : 'refused').toBe(expected)
    if (refusal !== undefined) expect(refusal).toMatchObject({ code: 'ERR_POLITELY_BLOCKED_ADDRESS' })
  })

  test.for([
    '[fe80::1%25eth0]',
    '[::1%lo]',
    '1.2.3.4.5',
    '256.0.0.1',
    '0x100000000',
    '[::ffff:127.1]',
    '127.0.0.1%00',
    'local host',
  ])('a URL with an invalid host: %s', async (host, { newClient }) => {
    expect(await newClient().check(`http://${host}/page`)).toMatchObject({ because: 'invalid-url' })
  })
})
