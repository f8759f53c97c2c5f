// The URL that is checked is the URL that is sent. Tests every known way to make an adapter check
// one URL and send another, and the requests that are refused because they cannot be checked.
import { Agent as HttpAgent, request as httpRequest, type OutgoingHttpHeaders, type RequestOptions } from 'node:http'
import { RobotsClient } from '@politely/fetcher'
import { Agent, type Dispatcher } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { PoliteGate, politeHttpAgent, politely } from '../src/index.ts'
import { politeAgent, politeInterceptor } from '../src/undici/index.ts'
import { kits } from './kits.ts'
import { Site } from './site.ts'

let site: Site
let robots: RobotsClient
let gate: PoliteGate
let agent: Dispatcher
let httpAgent: HttpAgent
let host: string

beforeAll(async () => {
  site = await Site.open({ '*': 'User-agent: *\nDisallow: /private\n' })
  robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
  gate = new PoliteGate({ robots, minDelayMs: 0, maxConcurrent: 1 })
  agent = new Agent().compose(politeInterceptor(gate))
  httpAgent = politeHttpAgent(new HttpAgent(), gate)
  host = new URL(site.origin).host
})
afterEach(async () => {
  site.seen.length = 0
  // Every permit was released, also the permits of refused requests.
  await gate.drain()
  expect(gate.queues()).toEqual([])
})
afterAll(async () => {
  await agent.close()
  gate.close()
  await robots.close()
  await site.close()
})

const refusal = { code: 'ERR_POLITELY_REQUEST' }

/** Returns the request that the server got, or the code of the error. */
async function outcomeOf(act: () => Promise<unknown>): Promise<string> {
  try {
    await act()
    return site.lines.join(', ')
  } catch (error) {
    return String((error as { code?: unknown }).code ?? error)
  }
}

async function dispatch(options: Record<string, unknown>): Promise<void> {
  const { body } = await agent.request({ origin: site.origin, method: 'GET', ...options } as never)
  await body.dump()
}

function http(options: RequestOptions, change?: (request: ReturnType<typeof httpRequest>) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(site.origin)
    const sent = httpRequest({ agent: httpAgent, host: hostname, port, ...options }, (response) => {
      response.resume().on('end', resolve)
    })
    sent.on('error', reject)
    try {
      change?.(sent)
    } catch (error) {
      sent.on('error', () => undefined).destroy()
      reject(error)
    }
    sent.end()
  })
}

const REFUSED = 'ERR_POLITELY_REQUEST'
const DISALLOWED = 'ERR_POLITELY_DISALLOWED'

/** Paths as the caller gives them, and the paths that each adapter sends. */
const paths: readonly { readonly path: string; readonly undici: string; readonly http?: string }[] = [
  { path: '/private/../pub', undici: 'GET /pub' },
  { path: '/pub/../private', undici: DISALLOWED },
  { path: '/pub/%2e%2e/private', undici: DISALLOWED },
  { path: '/private/%2E%2E/pub', undici: 'GET /pub' },
  { path: '/./pub', undici: 'GET /pub' },
  { path: '\\private', undici: REFUSED },
  { path: '/pub\\..\\private', undici: DISALLOWED },
  { path: '/pub#/private', undici: 'GET /pub' },
  { path: '/pub?q=1#x', undici: 'GET /pub?q=1' },
  { path: '//evil.example/private', undici: 'GET //evil.example/private' },
  { path: '*', undici: REFUSED },
  { path: '@evil.example/pub', undici: REFUSED },
  { path: 'pub', undici: REFUSED },
  { path: ':80/pub', undici: REFUSED },
  { path: '', undici: REFUSED, http: 'GET /' },
  { path: 'ftp://evil.example/pub', undici: REFUSED },
  { path: 'http://[/pub', undici: REFUSED },
  { path: '/caf\u00e9', undici: 'GET /caf%C3%A9' },
  { path: '/pri\tvate', undici: DISALLOWED, http: 'ERR_UNESCAPED_CHARACTERS' },
]

describe.each(paths)('the path $path', ({ path, undici, http: sent = undici }) => {
  test(`undici sends ${undici}`, async () => {
    expect(await outcomeOf(() => dispatch({ path }))).toBe(undici)
  })

  test(`node:http sends ${sent}`, async () => {
    expect(await outcomeOf(() => http({ path }))).toBe(sent)
  })
})

test('checks and sends a whole URL as the path, for a proxy', async () => {
  const path = `${site.origin}/private/../pub#x`
  expect(await outcomeOf(() => dispatch({ path }))).toBe(`GET ${site.origin}/pub`)
  site.seen.length = 0
  expect(await outcomeOf(() => http({ path }))).toBe(`GET ${site.origin}/pub`)
  site.seen.length = 0
  for (const send of [dispatch, http]) {
    expect(await outcomeOf(() => send({ path: `${site.origin}/private` }))).toBe(DISALLOWED)
  }
})

test.each([
  { given: { path: '/pub', query: { secret: '1' } }, expected: 'GET /pub?secret=1' },
  { given: { path: '/pub?a=b', query: { c: 'd' } }, expected: REFUSED },
  { given: { path: '/pub#a', query: { c: 'd' } }, expected: REFUSED },
  { given: { path: { toString: () => '/pub' } }, expected: REFUSED },
])('undici, $given', async ({ given, expected }) => {
  expect(await outcomeOf(() => dispatch(given))).toBe(expected)
})

test.each([
  { name: 'a URL', origin: () => new URL(site.origin), expected: 'GET /pub' },
  { name: 'with a slash', origin: () => `${site.origin}/`, expected: 'GET /pub' },
  { name: 'with a path', origin: () => `${site.origin}/private`, expected: REFUSED },
  { name: 'a URL with a path', origin: () => new URL('/x', site.origin), expected: REFUSED },
  { name: 'with userinfo', origin: () => `http://a:b@${host}`, expected: REFUSED },
  { name: 'with a query', origin: () => `${site.origin}/?x`, expected: REFUSED },
  { name: 'of ftp', origin: () => `ftp://${host}`, expected: REFUSED },
  { name: 'missing', origin: () => undefined, expected: REFUSED },
  { name: 'an object', origin: () => ({ toString: () => site.origin }), expected: REFUSED },
])('undici, an origin $name: $expected', async ({ origin, expected }) => {
  expect(await outcomeOf(() => dispatch({ origin: origin(), path: '/pub' }))).toBe(expected)
})

describe('a Host header', () => {
  const foreign: readonly [name: string, headers: unknown][] = [
    ['in an object', { Host: 'other.example' }],
    ['in a flat list', ['accept', '*/*', 'hOST', 'other.example']],
    ['in a Map', new Map([['host', 'other.example']])],
    ['in Headers', new Headers({ host: 'other.example' })],
    ['with a name that is a Buffer', [Buffer.from('host'), 'other.example']],
    ['several', { host: ['127.0.0.1', 'other.example'] }],
    ['twice', ['host', '127.0.0.1', 'Host', '127.0.0.1']],
    ['without the port', { host: '127.0.0.1' }],
    ['empty', { host: '' }],
    ['with a path', { host: '127.0.0.1:1/x' }],
  ]

  test.each(foreign)('of another site is refused by undici: %s', async (_, headers) => {
    expect(await outcomeOf(() => dispatch({ path: '/pub', headers }))).toBe(REFUSED)
  })

  test('is refused by undici in the form of an HTTP/2 pseudo-header', async () => {
    const headers = { ':authority': 'other.example' }
    expect(await outcomeOf(() => dispatch({ path: '/pub', headers }))).toBe(REFUSED)
  })

  const forHttp: readonly [name: string, headers: unknown][] = [
    ['in an object', { Host: 'other.example' }],
    ['in a flat list', ['accept', '*/*', 'hOST', 'other.example']],
    ['in a flat list after an array of values', ['X-A', ['1', '2'], 'Host', 'other.example']],
    ['in a flat list as an array of values', ['Host', ['other.example']]],
    ['in pairs', [['Host', 'other.example']]],
    [
      'in pairs after an array of values',
      [
        ['X-A', ['1', '2']],
        ['Host', 'other.example'],
      ],
    ],
    [
      'in pairs after one with a third item, which Node ignores',
      [
        ['X-A', '1', '2'],
        ['Host', 'other.example'],
      ],
    ],
    ['several', { host: ['127.0.0.1', 'other.example'] }],
  ]

  test.each(forHttp)('of another site is refused by node:http: %s', async (_, headers) => {
    expect(await outcomeOf(() => http({ path: '/pub', headers: headers as OutgoingHttpHeaders }))).toBe(REFUSED)
  })

  test('cannot be changed after the check, nor the path or the method (node:http)', async () => {
    const changes: ((sent: ReturnType<typeof httpRequest>) => void)[] = [
      (sent) => sent.setHeader('HOST', 'other.example'),
      (sent) => sent.appendHeader('host', 'other.example'),
      (sent) => sent.setHeaders(new Headers({ host: 'other.example' })),
      (sent) => {
        sent.path = '/private'
      },
      (sent) => {
        sent.method = 'GET /private HTTP/1.1\r\nHost: other.example\r\n\r\nGET'
      },
    ]
    for (const change of changes) expect(await outcomeOf(() => http({ path: '/pub' }, change))).toBe(REFUSED)
    const toGet = (sent: ReturnType<typeof httpRequest>) => {
      sent.method = 'GET'
    }
    expect(await outcomeOf(() => http({ path: '/private', method: 'CONNECT' }, toGet))).toBe(REFUSED)
    expect(await outcomeOf(() => http({ path: '/pub' }, (sent) => sent.setHeader('host', host)))).toBe('GET /pub')
  })

  test('of the same site is accepted in any spelling', async () => {
    for (const headers of [{ host }, ['HOST', host]]) {
      for (const send of [dispatch, http]) {
        site.seen.length = 0
        expect(await outcomeOf(() => send({ path: '/pub', headers: headers as never }))).toBe('GET /pub')
      }
    }
  })

  test.each<[name: string, headers: (own: string) => unknown]>([
    ['a flat list', (own) => ['X-A', ['1', '2'], 'Host', own, 'X-B', 'host', 'X-C', 'other.example']],
    ['a flat list with an array of one host', (own) => ['Host', [own]]],
    [
      'pairs',
      (own) => [
        ['X-A', ['Host', 'other.example']],
        ['Host', own, 'other.example'],
      ],
    ],
  ])('of the same site is accepted by node:http in %s', async (_, headers) => {
    expect(await outcomeOf(() => http({ path: '/pub', headers: headers(host) as OutgoingHttpHeaders }))).toBe(
      'GET /pub',
    )
    expect(site.seen[0]?.headers.host).toBe(host)
  })

  test.each(kits)('of another site is refused by politely($name)', async ({ fetch, Request }) => {
    const polite = politely(fetch, { gate })
    for (const headers of [
      { Host: 'other.example' },
      [['host', 'other.example']],
      new Headers({ host: 'other.example' }),
    ]) {
      await expect(polite(`${site.origin}/pub`, { headers } as RequestInit)).rejects.toMatchObject(refusal)
    }
    const request = new Request(`${site.origin}/pub`, { headers: { host: 'other.example' } })
    await expect(polite(request)).rejects.toMatchObject(refusal)
    expect(site.lines).toEqual([])
  })

  test('causes an error that says what to write', async () => {
    await expect(dispatch({ path: '/pub', headers: { host: 'other.example' } })).rejects.toThrow(
      `the Host header is "other.example"; expected ${host}, the host of the URL. Leave the header out, and write the site's name in the URL`,
    )
  })
})

describe('node:http', () => {
  test('refuses a socketPath, which chooses the server', async () => {
    expect(await outcomeOf(() => http({ path: '/pub', socketPath: '/tmp/some.sock' }))).toBe(REFUSED)
    const own = politeHttpAgent(new HttpAgent({ socketPath: '/tmp/some.sock' } as never), gate)
    expect(await outcomeOf(() => http({ path: '/pub', agent: own }))).toBe(REFUSED)
  })

  test('checks the host in the options of the agent', async () => {
    const own = politeHttpAgent(new HttpAgent({ host: 'other.example' } as never), gate)
    expect(await outcomeOf(() => http({ path: '/pub', agent: own }))).toBe(REFUSED)
  })

  test('refuses headers as an array if the path is not in normal form', async () => {
    const headers = ['host', host, 'user-agent', 'ExampleBot/1.0'] as never
    expect(await outcomeOf(() => http({ path: '/private/../pub', headers }))).toBe(REFUSED)
    expect(await outcomeOf(() => http({ path: '/pub', headers }))).toBe('GET /pub')
  })

  test('refuses a host with more than a host name', async () => {
    for (const bad of ['127.0.0.1/x?', 'a@127.0.0.1']) {
      expect(await outcomeOf(() => http({ path: '/pub', host: bad }))).toBe(REFUSED)
    }
  })
})

describe.each(kits)('politely($name)', ({ fetch, Request }) => {
  const polite = () => politely(fetch, { gate })
  /** The arguments of the wrapped fetch. */
  const recording = () => {
    const send = vi.fn(async (..._: unknown[]) => new Response('page'))
    return { send, fetch: politely(send, { gate }) as unknown as (input: unknown, init?: unknown) => Promise<Response> }
  }

  test.each(['//me:secret@a.example/x', '\u3000//me:secret@a.example/x', 'wss://me:secret@a.example/'])(
    'does not quote the credentials of %j',
    async (url) => {
      const error = await polite()(url).catch(String)
      expect(error).toContain('a.example/')
      expect(error).not.toContain('secret')
    },
  )

  test.each(['data:text/plain,x', 'about:blank', 'blob:null/x'])('fetches %s without a permit', async (url) => {
    const { send, fetch: polite } = recording()
    const { started } = gate.counters
    await polite(url)
    expect(send).toHaveBeenCalledTimes(1)
    expect(gate.counters.started).toBe(started)
  })

  test('checks an ftp URL', async () => {
    const { send, fetch: polite } = recording()
    const url = 'ftp://127.0.0.1:1/file'
    await expect(polite(url)).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED', verdict: { url } })
    expect(send).not.toHaveBeenCalled()
  })

  const oddInits: readonly [name: string, init: () => unknown][] = [
    ['redirect: new String', () => ({ redirect: new String('follow') })],
    ['redirect: an object', () => ({ redirect: { toString: () => 'follow' } })],
    ['redirect: null', () => ({ redirect: null })],
    ['redirect: another word', () => ({ redirect: 'Follow' })],
    ['method: an object', () => ({ method: { toUpperCase: () => 'GET', toString: () => 'POST' } })],
    ['duplex: an object', () => ({ duplex: new String('half') })],
    ['options that are a string', () => 'follow'],
    [
      'options that look like a Request',
      () => ({ url: 'http://a.example/', clone: () => undefined, redirect: 'manual' }),
    ],
  ]
  test.each(oddInits)('refuses %s', async (_, init) => {
    const { send, fetch: polite } = recording()
    await expect(polite(`${site.origin}/pub`, init())).rejects.toMatchObject(refusal)
    expect(send).not.toHaveBeenCalled()
  })

  test('reads the input and the options once', async () => {
    const { send, fetch: polite } = recording()
    let reads = 0
    const input = { toString: () => `${site.origin}${reads++ === 0 ? '/pub' : '/private'}` }
    const init = {
      get redirect() {
        return reads++ === 1 ? 'manual' : 'follow'
      },
    }
    await polite(input, init)
    expect(send.mock.calls).toMatchObject([[`${site.origin}/pub`, { redirect: 'manual' }]])
    await polite(
      `${site.origin}/pub`,
      new (class {
        get method() {
          return 'PUT'
        }
      })(),
    )
    expect(send.mock.calls[1]).toMatchObject([`${site.origin}/pub`, { method: 'PUT' }])
  })

  test('checks the URL of a Request that fetch will use', async () => {
    class Lying extends Request {}
    Object.defineProperty(Lying.prototype, 'url', { get: () => `${site.origin}/pub` })
    const code = { code: DISALLOWED }
    await expect(polite()(new Lying(`${site.origin}/private`))).rejects.toMatchObject(code)
    const url = `${site.origin}/pub`
    const shadowed = Object.defineProperty(new Request(`${site.origin}/private`), 'url', { value: url })
    await expect(polite()(shadowed)).rejects.toMatchObject(refusal)
    const lookalikes = [
      { url, clone: () => undefined, toString: () => `${site.origin}/private` },
      Object.assign(new Request(url), { toString: () => `${site.origin}/private` }),
      Object.assign(new Request(url), { [Symbol.toPrimitive]: () => `${site.origin}/private` }),
    ]
    for (const one of lookalikes) await expect(polite()(one as never)).rejects.toMatchObject(refusal)
    expect(site.lines).toEqual([])
  })

  test('does not let a subclass of Request follow redirects outside the gate', async () => {
    site.pages.set('/moved', (_, response) => response.writeHead(302, { location: '/private' }).end())
    class Lying extends Request {}
    Object.defineProperty(Lying.prototype, 'redirect', { get: () => 'manual' })
    const response = await polite()(new Lying(`${site.origin}/moved`))
    expect(response.status).toBe(302)
    expect(site.lines).toEqual(['GET /moved'])
  })
})

test('politeAgent refuses these too', async () => {
  const own = politeAgent({ gate })
  const foreign = own.request({ origin: site.origin, path: '/pub', method: 'GET', headers: { host: 'other.example' } })
  await expect(foreign).rejects.toMatchObject(refusal)
  await own.close()
})
