// What a fetch of robots.txt may connect to. All of it is our choice. Names on the ICANN list stand for public hosts; they
// are found on loopback, so that nothing leaves this machine whatever the guard does.
import { forbidsPage, lookupIn } from '@politely/testkit'
import { Agent, buildConnector } from 'undici'
import { describe, expect } from 'vitest'
import { type NetworkPolicy, reachOf, refuseLiteral } from '../src/network-guard.ts'
import { watchOwnSockets } from './own-sockets.ts'
import { test } from './with-sites.ts'

const lookup = lookupIn({
  'example.com': '127.0.0.1',
  'example.co.uk': '127.0.0.1',
  'xn--bcher-kva.example.com': '127.0.0.1',
  localhost: '127.0.0.1',
})
const rules = { status: 200, body: forbidsPage }
const movedTo = (location: string) => ({ status: 302, headers: { location } })
const refused = {
  allowed: false,
  because: 'unreachable',
  access: { outcome: 'unreachable', reason: 'blocked-address' },
}
const obeyed = { allowed: false, because: 'rule', access: { outcome: 'success' } }

describe('a public name that is on a private address', () => {
  test.for([
    'http://example.com:PORT',
    'http://EXAMPLE.com:PORT',
    'http://example.co.uk:PORT',
    'http://bücher.example.com:PORT',
    'https://example.com:PORT',
  ])('is refused before an octet is sent, and once is enough: %s', async (origin, { sites, newClient }) => {
    const client = newClient({ lookup, retries: 2 })
    expect(await client.check(sites.withPort(`${origin}/page`))).toMatchObject(refused)
    await sites.connected(1)
    await sites.deserted()
    expect(sites.connections).toHaveLength(1)
    expect(sites.octetsReceived).toBe(0)
  })

  test('is asked where no guard is wanted', async ({ sites, newClient }) => {
    sites.answer('http://example.com:PORT/robots.txt', rules)
    const client = newClient({ lookup, network: 'any' })
    expect(await client.check(sites.withPort('http://example.com:PORT/page'))).toMatchObject(obeyed)
  })

  test('is refused as the target of a redirect too', async ({ sites, newClient }) => {
    sites.answer('http://a.test:PORT/robots.txt', movedTo('http://example.com:PORT/robots.txt'))
    const verdict = await newClient({ lookup }).check(sites.withPort('http://a.test:PORT/page'))
    expect(verdict).toMatchObject({ ...refused, access: { ...refused.access, hops: [{ status: 302 }] } })
    expect(sites.asked).toEqual(['http://a.test:PORT/robots.txt'])
  })
})

describe('what the caller asks for itself is its own business', () => {
  test.for([
    ['http://127.0.0.1:PORT', 'http://127.0.0.1:PORT'],
    ['http://2130706433:PORT', 'http://127.0.0.1:PORT'],
    ['http://localhost:PORT', 'http://localhost:PORT'],
    ['http://a.test:PORT', 'http://a.test:PORT'],
  ] as const)('%s', async ([origin, asked], { sites, newClient }) => {
    sites.answer(`${asked}/robots.txt`, rules)
    expect(await newClient({ lookup }).check(sites.withPort(`${origin}/page`))).toMatchObject(obeyed)
  })

  test('and it may redirect to another such host', async ({ sites, newClient }) => {
    sites.answer('http://a.test:PORT/robots.txt', movedTo('http://127.0.0.1:PORT/rules'))
    sites.answer('http://127.0.0.1:PORT/rules', rules)
    expect(await newClient({ lookup }).check(sites.withPort('http://a.test:PORT/page'))).toMatchObject(obeyed)
  })
})

describe('public-only refuses that too', () => {
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
    expect(await client.check(sites.withPort(`http://${host}:PORT/page`))).toMatchObject(refused)
    await sites.deserted()
    expect(sites.octetsReceived).toBe(0)
  })
})

describe("with the caller's own dispatcher, of which the guard sees nothing but the URLs", () => {
  /** Takes every request to loopback, as a proxy would; so a public name can answer, and redirect. */
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
  ])(
    'a redirect from a public name to a literal private address is refused: %s',
    async (location, { sites, newClient, onTestFinished }) => {
      const dispatcher = proxyTo(sites.port)
      onTestFinished(() => dispatcher.destroy())
      sites.answer('http://example.com:PORT/robots.txt', movedTo(location))
      const verdict = await newClient({ dispatcher }).check(sites.withPort('http://example.com:PORT/page'))
      expect(verdict).toMatchObject({
        ...refused,
        access: {
          ...refused.access,
          url: sites.withPort(location).replace('2130706433', '127.0.0.1').replace('::ffff:127.0.0.1', '::ffff:7f00:1'),
        },
      })
      expect(sites.asked).toEqual(['http://example.com:PORT/robots.txt'])
    },
  )

  test('a redirect from a public name to another is followed', async ({ sites, newClient, onTestFinished }) => {
    const dispatcher = proxyTo(sites.port)
    onTestFinished(() => dispatcher.destroy())
    sites.answer('http://example.com:PORT/robots.txt', movedTo('http://example.co.uk:PORT/rules'))
    sites.answer('http://example.co.uk:PORT/rules', rules)
    const verdict = await newClient({ dispatcher }).check(sites.withPort('http://example.com:PORT/page'))
    expect(verdict).toMatchObject(obeyed)
  })
})

// The guard connects before it looks, so it must know itself where a scheme's default port is. The guard refuses whatever
// may listen there on this machine.
test.for([
  ['http://example.com/page', 80],
  ['https://example.com/page', 443],
] as const)('RFC 9110 §4.2, a public name without a port: %s', async ([url, port], { newClient }) => {
  const { ports } = watchOwnSockets()
  expect(await newClient({ lookup }).check(url)).toMatchObject({ allowed: false, because: 'unreachable' })
  expect(ports).toEqual([port])
})

describe('where a request may lead', () => {
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
  ])('%s: %j to %s addresses', ([policy, chain, expected]) => {
    expect(reachOf(policy, chain)).toBe(expected)
  })
})

describe('which literal addresses are public', () => {
  test.for([
    'http://127.0.0.1/',
    'http://127.255.255.254/',
    'http://0x7f.1/',
    'http://017700000001/',
    'http://0.0.0.0/',
    'http://10.255.255.255/',
    'http://172.16.0.1/',
    'http://172.31.255.255/',
    'http://192.168.0.1/',
    'http://169.254.169.254/',
    'http://100.64.0.1/',
    'http://100.100.100.200/',
    'http://192.0.0.192/',
    'http://192.0.2.1/',
    'http://198.18.0.1/',
    'http://198.51.100.1/',
    'http://203.0.113.1/',
    'http://224.0.0.1/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
    'http://[::]/',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://[64:ff9b::10.0.0.1]/',
    'http://[64:ff9b:1::10.0.0.1]/',
    'http://[2002:a00:1::]/',
    'http://[2001::1]/',
    'http://[2001:db8::1]/',
    'http://[fc00::1]/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'http://[fec0::1]/',
    'http://[ff02::1]/',
  ])('%s is not', (url) => {
    expect(refuseLiteral(url)).toMatchObject({ code: 'ERR_POLITELY_BLOCKED_ADDRESS' })
  })

  // Of IPv6 only 2000::/3 is public (RFC 4291 §2.4). The first one is 10.0.0.1 in the form that IPv4-compatible addresses had.
  test.for(['http://[::10.0.0.1]/', 'http://[::2]/', 'http://[4000::1]/', 'http://[e000::1]/'])('%s is not', (url) => {
    expect(refuseLiteral(url)).toMatchObject({ code: 'ERR_POLITELY_BLOCKED_ADDRESS' })
  })

  test.for([
    'http://8.8.8.8/',
    'http://172.32.0.1/',
    'http://100.128.0.1/',
    'http://[2606:4700::1111]/',
    'http://[::ffff:8.8.8.8]/',
  ])('%s is', (url) => {
    expect(refuseLiteral(url)).toBeUndefined()
  })

  test.for(['http://example.com/', 'http://localhost/', 'http://10.0.0.1.example.com/'])(
    '%s is no literal address',
    (url) => {
      expect(refuseLiteral(url)).toBeUndefined()
    },
  )
})
