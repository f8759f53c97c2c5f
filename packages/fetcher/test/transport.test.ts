// @module-tag nodes
// @module-tag sockets
// Fetches robots.txt with the caller's fetch or undici dispatcher. Our choice: redirects, limits,
// the deadline and the reasons for `unreachable` are the same for every transport.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, get, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { createSecureServer, type Http2SecureServer } from 'node:http2'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { bodyCases, bodyLimit, SLOW_BODIES } from '@politely/testkit/cases/body-cases'
import { misbehavingServerCases } from '@politely/testkit/cases/misbehaving-server-cases'
import { checkedPage, disallowsPage, replyCases } from '@politely/testkit/cases/response-cases'
import { withHeldTimer } from '@politely/testkit/held-timer'
import { isFullRun, withoutSlow } from '@politely/testkit/scope'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { holdRefusingPort } from '@politely/testkit/servers/refusing-port'
import { type Certificate, selfSigned } from '@politely/testkit/servers/self-signed'
import { type Answer, type Behaviour, startSites } from '@politely/testkit/servers/sites'
import {
  Agent,
  type Dispatcher,
  Dispatcher1Wrapper,
  interceptors,
  MockAgent,
  ProxyAgent,
  RedirectHandler,
  RetryAgent,
  request,
  fetch as undiciFetch,
} from 'undici'
import { afterAll, describe, expect, onTestFinished } from 'vitest'
import { NetworkGuard, type RobotsClient, type RobotsClientOptions } from '../src/index.ts'
import { watchOwnSockets } from './own-sockets.ts'
import { test } from './with-sites.ts'

const ROBOTS = 'http://a.test:PORT/robots.txt'
const rules = { status: 200, body: disallowsPage }
const obeyed = { allowed: false, because: 'rule', access: { outcome: 'success', status: 200 } }

type Fetch = typeof globalThis.fetch

/** The limit of the client's own connections. */
const MAX_HEADERS = { maxHeaderSize: 16_384 }

/**
 * Destroyed after the last test. In concurrent tests, `onTestFinished` cannot know which test calls
 * it.
 */
const agents: Agent[] = []
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.destroy()))
})

/** Resolves `*.test` to loopback. */
function loopbackAgent(connect: object = {}, options: object = {}): Agent {
  const agent = new Agent({ ...options, connect: { lookup: lookupIn(), ...connect } })
  agents.push(agent)
  return agent
}

/** The fetch of the installed undici, whose types differ from the types of Node's fetch. */
function fetchOfUndici(agent: Agent = loopbackAgent()): Fetch {
  return ((url: string, init: object) => undiciFetch(url, { ...init, dispatcher: agent })) as unknown as Fetch
}

/** The fetch of Node. Node 22 and 24 accept dispatchers of undici 8 only in a wrapper. */
function fetchOfNode(agent: Agent = loopbackAgent()): Fetch {
  const dispatcher = new Dispatcher1Wrapper(agent)
  return (url, init) => fetch(url, { ...init, dispatcher } as unknown as RequestInit)
}

// The cases in which a fetch gives another result than the client's own connections, and why. A
// fetch passes all other cases.
const DIFFERENT_WITH_FETCH: readonly (readonly [name: RegExp, why: string])[] = [
  [/two equal Locations count as one/, 'a fetch joins several Locations by a comma, which gives another URL'],
  [/a redirect with an unusable Location is unavailable: "\/one,\/other"/, 'the same'],
  [/its body is not read as rules: 421/, 'a fetch repeats a request after a 421 (WHATWG Fetch)'],
  [/gzip as an unrequested transfer coding/, 'no fetch decodes a transfer coding'],
  [/205 with a body/, 'a fetch drops the body'],
  [
    /gzip, (gzip|br)|gzip twice$|last coding is removed first|two Content-Encoding headers/,
    'the client accepts one coding',
  ],
  [/an unknown coding beside a known one|an unknown coding of plain text: "utf-8, none"/, 'the same'],
  [/that decodes to nothing/, 'the same'],
  [/zstd/, 'the client does not request it, and only some versions of fetch decode it'],
]
const isSameWithFetch = ({ name }: { readonly name: string }) =>
  !DIFFERENT_WITH_FETCH.some(([pattern]) => pattern.test(name))

const timedOut = { because: 'unreachable', access: { reason: 'timeout' } }

/** Checks a URL with this fetch. The deadline passes a moment after the fetch was called. */
async function checkUntilDeadline(newClient: (options: Partial<RobotsClientOptions>) => RobotsClient, fetch: Fetch) {
  const called = Promise.withResolvers<void>()
  const noted: Fetch = (input, init) => {
    called.resolve()
    return fetch(input, init)
  }
  const check = (timeoutMs: number) => newClient({ fetch: noted, timeoutMs }).check('http://a.test/page')
  return await withHeldTimer(check, () => called.promise)
}

describe.for([
  ["the caller's fetch: Node's", () => ({ fetch: fetchOfNode() }), isSameWithFetch, 0],
  ["the caller's fetch: undici's", () => ({ fetch: fetchOfUndici() }), isSameWithFetch, 1],
  ["the caller's dispatcher", () => ({ dispatcher: loopbackAgent({}, MAX_HEADERS) }), () => true, 2],
] as const)('%s', ([, transport, isSameWithFetch, turn]) => {
  /** In the short run, a third of the cases, each with one of the three transports. */
  const casesOf = <T extends { readonly name: string }>(rows: readonly T[]) =>
    rows
      .filter((row, i) => isSameWithFetch(row) && (isFullRun || i % 9 === turn))
      .map((row) => [row.name, row] as const)

  test.for(casesOf(replyCases))(
    '%s',
    async ([, { replies, notFoundPages, foreignBodies, expected }], { sites, newClient }) => {
      for (const [url, reply] of Object.entries(replies)) sites.respond(url, reply)
      const verdict = await newClient({ ...transport(), notFoundPages, foreignBodies }).check(
        sites.withPort(checkedPage),
      )
      const { requestedUrls: asked, allowed, because, ...access } = expected
      expect(verdict).toMatchObject({ allowed, because, access })
      expect(sites.requestedUrls).toEqual(asked)
    },
  )

  test.concurrent.for(casesOf(misbehavingServerCases))('%s', async ([, row], { sites, newClient }) => {
    sites.respond(ROBOTS, row.behave)
    const check = (timeoutMs: number) => newClient({ ...transport(), timeoutMs }).check(sites.withPort(checkedPage))
    const verdict = await withHeldTimer(check, row.lastsUntilDeadline ? () => sites.requested(1) : undefined)
    const { allowed, because, ...access } = row.expected
    expect(verdict).toMatchObject({ allowed, because, access })
  })

  test.for(casesOf(withoutSlow(bodyCases, SLOW_BODIES)))('%s', async ([, row], { sites, newClient }) => {
    const { contentEncoding, body, expected } = row
    const headers = contentEncoding === undefined ? {} : { 'content-encoding': contentEncoding }
    sites.respond(ROBOTS, { status: 200, headers, body: body() })
    const verdict = await newClient(transport()).check(sites.withPort(checkedPage))
    const { allowed, because, truncated, ...access } = expected
    expect(verdict).toMatchObject({ allowed, because, access })
    expect(verdict.access?.copy?.truncated).toBe(truncated)
  })
})

test('every pattern of the differences matches a case', () => {
  const names = [...replyCases, ...misbehavingServerCases, ...bodyCases].map(({ name }) => name)
  for (const [pattern] of DIFFERENT_WITH_FETCH) expect(names.some((name) => pattern.test(name))).toBe(true)
})

describe("how the client calls the caller's fetch", () => {
  test('with these options, and sends these headers', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, { status: 302, headers: { location: '/rules', 'set-cookie': 'session=1' } })
    sites.respond('http://a.test:PORT/rules', { ...rules, headers: { etag: '"1"' } })
    const calls: (readonly [input: unknown, init: RequestInit | undefined])[] = []
    const real = fetchOfNode()
    const fetch: Fetch = (input, init) => {
      calls.push([input, init])
      return real(input, init)
    }
    const client = newClient({ fetch, minTtlMs: 0, ttlMs: 0 })
    expect(await client.check(sites.withPort('http://me:secret@a.test:PORT/page'))).toMatchObject(obeyed)
    expect(await client.check(sites.withPort(checkedPage))).toMatchObject({ because: 'rule' })

    const common = {
      method: 'GET',
      redirect: 'manual',
      credentials: 'omit',
      referrer: '',
      referrerPolicy: 'no-referrer',
    }
    const headers = {
      'user-agent': 'ExampleBot/1.0',
      accept: 'text/plain, */*;q=0.5',
      'accept-encoding': 'identity',
      'cache-control': 'no-store',
    }
    const call = (url: string, conditions = {}) => [
      sites.withPort(url),
      { ...common, headers: { ...headers, ...conditions }, signal: expect.any(AbortSignal) },
    ]
    const second = { 'if-none-match': '"1"' }
    expect(calls).toEqual([
      call(ROBOTS),
      call('http://a.test:PORT/rules'),
      call(ROBOTS),
      call('http://a.test:PORT/rules', second),
    ])
    for (const { headers: seen } of sites.requests) {
      expect(seen).toMatchObject(headers)
      for (const name of ['cookie', 'authorization', 'referer']) expect(seen).not.toHaveProperty(name)
    }
  })

  test('a 304 renews the copy', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, { ...rules, headers: { etag: '"1"' } }, { status: 304 })
    const client = newClient({ fetch: fetchOfNode(), minTtlMs: 0, ttlMs: 0 })
    await client.check(sites.withPort(checkedPage))
    expect(await client.check(sites.withPort(checkedPage))).toMatchObject({ because: 'rule', access: { status: 304 } })
  })

  test('allows a fetch that signs requests', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const real = fetchOfUndici()
    const fetch: Fetch = (input, init) => {
      const headers = new Headers(init?.headers)
      headers.set('signature-agent', '"https://example.com"')
      headers.set('signature', `sig1=:${btoa(`${init?.method} ${String(input)}`)}:`)
      return real(input, { ...init, headers: Object.fromEntries(headers) })
    }
    expect(await newClient({ fetch }).check(sites.withPort(checkedPage))).toMatchObject(obeyed)
    expect(sites.requests[0]?.headers).toMatchObject({
      'user-agent': 'ExampleBot/1.0',
      signature: `sig1=:${btoa(`GET ${sites.withPort(ROBOTS)}`)}:`,
    })
  })
})

describe('a fetch that violates its contract', () => {
  const page = 'http://a.test/page'
  const head = { status: 200, url: '', redirected: false, type: 'default', headers: new Headers() }
  test.for<readonly [name: string, fetch: Fetch, reason: string, detail: RegExp]>([
    [
      'hides redirects, as a browser does',
      async () => ({ ...head, type: 'opaqueredirect', status: 0, body: null }) as Response,
      'unusable-transport',
      /hides redirects/,
    ],
    [
      'returns a stream of Node as body',
      async () => ({ ...head, body: Readable.from(['User-agent: *']) }) as never,
      'unusable-transport',
      /must return a Response/,
    ],
    [
      'returns a body that was read',
      async () => {
        const response = new Response('User-agent: *')
        response.body?.getReader()
        return response
      },
      'unusable-transport',
      /was not read/,
    ],
    ['returns an error response', async () => Response.error(), 'unusable-transport', /hides redirects/],
    [
      'follows redirects',
      async () => Object.defineProperty(new Response(disallowsPage), 'redirected', { value: true }),
      'unusable-transport',
      /follows redirects itself/,
    ],
    [
      'follows redirects without `redirected`, but with the new URL',
      async () => Object.defineProperty(new Response(disallowsPage), 'url', { value: 'http://10.0.0.1/rules' }),
      'unusable-transport',
      /response from http:\/\/10\.0\.0\.1\/rules.*request for http:\/\/a\.test\/robots\.txt/,
    ],
    [
      'returns less than its Content-Length',
      async () => new Response(disallowsPage, { headers: { 'content-length': '31' } }),
      'truncated',
      /30 bytes of a body with Content-Length 31/,
    ],
    [
      'returns no body, but a Content-Length',
      async () => new Response(null, { headers: { 'content-length': '31' } }),
      'unusable-transport',
      /no body with status 200 and Content-Length 31/,
    ],
    [
      'returns no body, but the Content-Length of a coded one',
      async () => new Response(null, { headers: { 'content-encoding': 'gzip', 'content-length': '31' } }),
      'unusable-transport',
      /no body with status 200 and Content-Length 31/,
    ],
    [
      'returns no body, but a coding that no fetch decodes',
      async () => new Response(null, { headers: { 'content-encoding': 'zstd' } }),
      'undecodable',
      /not every fetch decodes Content-Encoding "zstd"/,
    ],
    [
      'throws synchronously',
      () => {
        throw new Error('no, thanks')
      },
      'network',
      /no, thanks/,
    ],
    [
      'throws a value that is not an error',
      async () => {
        throw 'no, thanks'
      },
      'network',
      /no, thanks/,
    ],
    ['returns undefined', (async () => undefined) as unknown as Fetch, 'unusable-transport', /must return a Response/],
    [
      'has its own timeout',
      async () => {
        throw new DOMException('too late', 'TimeoutError')
      },
      'timeout',
      /too late/,
    ],
    [
      'throws an error whose cause is itself',
      async () => {
        const error = new TypeError('fetch failed')
        error.cause = error
        throw error
      },
      'network',
      /fetch failed/,
    ],
    [
      'throws for a status',
      async () => {
        throw new Error('HTTP 404')
      },
      'network',
      /HTTP 404; the fetch threw this itself: it must return responses of every status/,
    ],
    [
      'throws an error with nested causes',
      async () => {
        throw new TypeError('fetch failed', {
          cause: new Error('proxy', { cause: Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }) }),
        })
      },
      'dns',
      /no such name/,
    ],
  ])('%s', async ([, fetch, reason, detail], { newClient }) => {
    const verdict = await newClient({ fetch }).check(page)
    expect(verdict).toMatchObject({ because: 'unreachable', access: { reason, detail: expect.stringMatching(detail) } })
  })

  test('ignores the signal: the deadline applies, and a late response is cancelled', async ({ newClient }) => {
    const late = Promise.withResolvers<Response>()
    const cancelled = Promise.withResolvers<unknown>()
    expect(await checkUntilDeadline(newClient, () => late.promise)).toMatchObject(timedOut)
    late.resolve(new Response(new ReadableStream({ cancel: cancelled.resolve })))
    await cancelled.promise
  })

  test('ignores the signal: a late response whose body cannot be cancelled does no harm', async ({ newClient }) => {
    const late = Promise.withResolvers<Response>()
    expect(await checkUntilDeadline(newClient, () => late.promise)).toMatchObject(timedOut)
    late.resolve({ ...head, body: Readable.from(['User-agent: *']) } as never)
    await nextTurn() // an unhandled rejection would fail the run
  })

  test.for(['close', 'destroy'] as const)('a dispatcher after %s is unusable', async (end, { newClient }) => {
    const dispatcher = new Agent()
    await dispatcher[end]()
    const verdict = await newClient({ dispatcher }).check(page)
    expect(verdict).toMatchObject({ because: 'unreachable', access: { reason: 'unusable-transport' } })
  })

  test('ignores the signal in the body', async ({ newClient }) => {
    const cancelled = Promise.withResolvers<unknown>()
    const body = new ReadableStream({
      start: (stream) => stream.enqueue(new TextEncoder().encode(disallowsPage)),
      cancel: cancelled.resolve,
    })
    expect(await checkUntilDeadline(newClient, async () => new Response(body))).toMatchObject(timedOut)
    await cancelled.promise
  })

  test.for([200, 404, 302])('cancels an endless body, status %s', async (status, { newClient }) => {
    const cancelled = Promise.withResolvers<unknown>()
    const body = new ReadableStream({
      pull: (stream) => stream.enqueue(Buffer.from('User-agent: *\nDisallow: /page\n'.repeat(1_000))),
      cancel: cancelled.resolve,
    })
    const client = newClient({ fetch: async () => new Response(body, { status }) })
    const verdict = await client.check(page)
    if (status === 200) expect(verdict).toMatchObject({ because: 'rule', access: { copy: { truncated: true } } })
    else expect(verdict).toMatchObject({ because: 'unavailable', access: { status } })
    await cancelled.promise
  })
})

describe("the caller's fetch: codings that it does not decode", () => {
  const gzipped = gzipSync(disallowsPage)
  const undecodable = { because: 'unreachable', access: { reason: 'undecodable' } }

  /** Decodes nothing and returns all headers of the site. */
  const rawFetch: Fetch = (url) =>
    new Promise((resolve, reject) => {
      const { hostname: host, port, pathname: path } = new URL(String(url))
      get({ host, port, path, lookup: lookupIn() }, (answer) => {
        const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as [string, string])
        resolve(new Response(Readable.toWeb(answer) as ReadableStream, { headers, status: answer.statusCode ?? 0 }))
      }).on('error', reject)
    })

  const fetches = [
    ["the platform's", () => fetchOfNode()],
    ["undici's", () => fetchOfUndici()],
    ['a fetch on node:http, which decodes nothing', () => rawFetch],
  ] as const

  test.for(
    fetches.flatMap(([name, fetchOf]) =>
      [
        'gzip, identity',
        'identity, gzip',
        'identity, identity, gzip',
        'gzip,',
        ',gzip',
        'gzip, , gzip',
        'x-unknown, gzip',
        'gzip, x-unknown',
        'gzip;q=1',
        '"gzip"',
        'zstd',
        'gzip, gzip, gzip',
        'gzip, gzip, gzip, gzip, gzip, gzip',
      ].map((coding) => [name, coding, fetchOf] as const),
    ),
  )('%s: Content-Encoding: %s', async ([, coding, fetchOf], { sites, newClient }) => {
    sites.respond(ROBOTS, { status: 200, headers: { 'content-encoding': coding }, body: gzipped })
    expect(await newClient({ fetch: fetchOf() }).check(sites.withPort(checkedPage))).toMatchObject(undecodable)
  })

  test.for(
    fetches.flatMap(([name, fetchOf]) =>
      ['gzip', 'gzip, chunked', 'identity, chunked', 'chunked, gzip'].map((coding) => [name, coding, fetchOf] as const),
    ),
  )('%s: Transfer-Encoding: %s', async ([, coding, fetchOf], { sites, newClient }) => {
    sites.respond(ROBOTS, (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: ${coding}\r\n\r\n`)
      if (coding.endsWith('chunked')) socket.write(`${gzipped.length.toString(16)}\r\n`)
      socket.write(gzipped)
      socket.end(coding.endsWith('chunked') ? '\r\n0\r\n\r\n' : '')
    })
    expect(await newClient({ fetch: fetchOf() }).check(sites.withPort(checkedPage))).toMatchObject({
      because: 'unreachable',
      access: { reason: expect.stringMatching(/^(undecodable|malformed)$/) }, // node:http rejects some of these as invalid HTTP
    })
  })

  const long = `${disallowsPage}${'# padding\n'.repeat(60_000)}`
  test.for([
    ['gzip', gzipSync(disallowsPage)],
    ['x-gzip', gzipSync(disallowsPage)],
    ['GZIP', gzipSync(disallowsPage)],
    ['deflate', deflateSync(disallowsPage)],
    ['deflate', deflateRawSync(disallowsPage)],
    ['br', brotliCompressSync(disallowsPage)],
    ['gzip, br', brotliCompressSync(gzipSync(disallowsPage))],
    ['br, gzip', gzipSync(brotliCompressSync(disallowsPage))],
    ['br over the size limit', brotliCompressSync(randomBytes(600_000))],
    ['br of a body that compresses well', brotliCompressSync(long)],
  ] as const)('a body that is still coded: %s', async ([name, body], { sites, newClient }) => {
    const coding = name.replace(/, of.*/, '')
    sites.respond(ROBOTS, { status: 200, headers: { 'content-encoding': coding }, body })
    expect(await newClient({ fetch: rawFetch }).check(sites.withPort(checkedPage))).toMatchObject(undecodable)
  })

  test.for(['', 'identity', 'Identity'])('an uncoded body: "%s"', async (coding, { sites, newClient }) => {
    for (const [, fetchOf] of fetches) {
      sites.respond(ROBOTS, { ...rules, headers: { 'content-encoding': coding } })
      expect(await newClient({ fetch: fetchOf() }).check(sites.withPort(checkedPage))).toMatchObject(obeyed)
    }
  })

  test('a fetch that has decoded the body and kept the Content-Encoding header', async ({ newClient }) => {
    for (const coding of ['gzip', 'deflate', 'br']) {
      const headers = { 'content-encoding': coding, 'content-length': '55' }
      const client = newClient({ fetch: async () => new Response(disallowsPage, { headers }) })
      expect(await client.check('http://a.test/page')).toMatchObject(obeyed)
    }
  })

  test('gzip that is truncated after more empty members than are kept', async ({ sites, newClient }) => {
    const member = gzipSync('')
    const members = Buffer.concat(Array.from({ length: (2 * bodyLimit) / member.length }, () => member))
    const body = Buffer.concat([members, gzipped.subarray(0, -9)])
    sites.respond(ROBOTS, { status: 200, headers: { 'content-encoding': 'gzip' }, body })
    expect(await newClient({ fetch: fetchOfUndici() }).check(sites.withPort(checkedPage))).toMatchObject({
      because: 'unreachable',
      access: { reason: 'too-large', detail: `the coded body is longer than ${2 * bodyLimit} bytes` },
    })
  })

  test('two codings, also if the fetch decodes both, since it limits neither', async ({ sites, newClient }) => {
    for (const fetchOf of [fetchOfNode, fetchOfUndici]) {
      const body = brotliCompressSync(gzipSync(disallowsPage))
      sites.respond(ROBOTS, { status: 200, headers: { 'content-encoding': 'gzip, br' }, body })
      expect(await newClient({ fetch: fetchOf() }).check(sites.withPort(checkedPage))).toMatchObject(undecodable)
    }
  })
})

describe("the caller's fetch: failures", () => {
  test('a body that never ends and ignores the signal ends with the deadline', async ({ newClient }) => {
    const never = () => new Promise<void>(() => undefined)
    const endless = async () => new Response(new ReadableStream({ pull: never, cancel: never }))
    expect(await checkUntilDeadline(newClient, endless)).toMatchObject(timedOut)
  })

  test.for([
    ["the platform's", fetchOfNode],
    ["undici's", fetchOfUndici],
  ] as const)('%s: refused, not found, blocked, TLS', async ([, fetchOf], { newClient }) => {
    const refusing = await holdRefusingPort()
    onTestFinished(() => refusing.close())
    const secure = await startSites({ certificate: selfSigned('a.test') })
    onTestFinished(() => secure.close())
    const reasonOf = async (url: string, agent?: Agent) => {
      const verdict = await newClient({ fetch: fetchOf(agent) }).check(url)
      return verdict.access?.reason ?? verdict.because
    }
    const guard = new NetworkGuard({ lookup: lookupIn({ 'example.com': '127.0.0.1' }) })
    const guarded = new Agent({ connect: guard.connector() })
    onTestFinished(() => guarded.destroy())
    expect(await reasonOf(`http://a.test:${refusing.port}/page`)).toBe('refused')
    expect(await reasonOf('http://gone.invalid/page')).toBe('dns')
    expect(
      await reasonOf('http://away.test/page', loopbackAgent({ lookup: lookupIn({ 'away.test': 'EAI_AGAIN' }) })),
    ).toBe('dns-unavailable')
    expect(await reasonOf(secure.withPort('https://a.test:PORT/page'))).toBe('tls')
    expect(await reasonOf('http://example.com/page', guarded)).toBe('blocked-address')
  })

  test('detects a fetch that follows redirects silently, by its requests', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, { status: 302, headers: { location: '/rules' } })
    sites.respond('http://a.test:PORT/rules', rules)
    const hides =
      (real: Fetch): Fetch =>
      async (url, init) => {
        const { body, headers, status } = await real(url, { ...init, redirect: 'follow' })
        return new Response(body, { headers, status })
      }
    const byHandler = loopbackAgent().compose(
      (dispatch) => (options, handler) =>
        dispatch(options, new RedirectHandler(dispatch, 5, options, handler as never)),
    )
    for (const fetch of [hides(fetchOfNode()), hides(fetchOfUndici()), fetchOfUndici(byHandler as Agent)]) {
      const verdict = await newClient({ fetch }).check(sites.withPort(checkedPage))
      expect(verdict).toMatchObject({
        access: { reason: 'unusable-transport', detail: expect.stringMatching(/follows redirects itself/) },
      })
    }
  })

  test('detects a fetch whose dispatcher drops the body', async ({ sites, newClient }) => {
    const chunks = `1e\r\n${disallowsPage}\r\n0\r\n\r\n`
    sites.respond(
      ROBOTS,
      (socket) => void socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`),
    )
    const verdict = await newClient({
      fetch: fetchOfUndici(loopbackAgent().compose(interceptors.dump()) as Agent),
    }).check(sites.withPort(checkedPage))
    expect(verdict).toMatchObject({
      access: { reason: 'unusable-transport', detail: expect.stringMatching(/interceptors\.dump/) },
    })
  })

  test.for([
    ['complete', `Content-Length: ${disallowsPage.length}\r\n\r\n${disallowsPage}`],
    ['truncated', `Content-Length: 900\r\n\r\n${disallowsPage}`],
    ['in chunks', `Transfer-Encoding: chunked\r\n\r\n1e\r\n${disallowsPage}\r\n0\r\n\r\n`],
    ['that ends with the connection', `\r\n${disallowsPage}`],
  ] as const)('drops the body of a 205: %s', async ([, message], { sites, newClient }) => {
    sites.respond(ROBOTS, (socket) => void socket.end(`HTTP/1.1 205 Reset Content\r\n${message}`))
    for (const fetch of [fetchOfNode(), fetchOfUndici()]) {
      const verdict = await newClient({ fetch }).check(sites.withPort(checkedPage))
      expect(verdict).toMatchObject({
        because: 'unreachable',
        access: { reason: 'unusable-transport', detail: expect.stringMatching(/no body with status 205/) },
      })
    }
  })

  test('detects a fetch that returns no body although one was received', async ({ sites, newClient }) => {
    const chunks = `1e\r\n${disallowsPage}\r\n0\r\n\r\n`
    sites.respond(ROBOTS, (socket) => void socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`))
    const real = fetchOfUndici()
    const fetch: Fetch = async (url, init) => {
      const response = await real(url, init)
      await response.text()
      return new Response(null, { headers: response.headers })
    }
    expect(await newClient({ fetch }).check(sites.withPort(checkedPage))).toMatchObject({
      because: 'unreachable',
      access: {
        reason: 'unusable-transport',
        detail: expect.stringMatching(/did not return the body that was received/),
      },
    })
  })

  test('the guard checks URLs: literal addresses, and names if there is a lookup', async ({ sites, newClient }) => {
    const fetch = fetchOfNode(loopbackAgent({ lookup: lookupIn({ 'example.com': '127.0.0.1' }) }))
    sites.respond('http://example.com:PORT/robots.txt', {
      status: 302,
      headers: { location: 'http://127.0.0.1:PORT/rules' },
    })
    const blocked = { because: 'unreachable', access: { reason: 'blocked-address' } }
    const page = sites.withPort('http://example.com:PORT/page')
    expect(await newClient({ fetch }).check(page)).toMatchObject({
      ...blocked,
      access: { ...blocked.access, hops: [{ status: 302 }] },
    })
    expect(sites.requestedUrls).toEqual(['http://example.com:PORT/robots.txt'])
    const lookup = lookupIn({ 'example.com': '127.0.0.1' })
    expect(await newClient({ fetch, lookup }).check(page)).toMatchObject(blocked)
    expect(sites.requests).toHaveLength(1)
  })

  test("ftp: URLs do not bypass the caller's transport", async ({ newClient }) => {
    const { ports } = watchOwnSockets()
    for (const client of [newClient({ fetch: fetchOfNode() }), newClient({ dispatcher: loopbackAgent() })]) {
      const verdict = await client.check('ftp://a.test/page')
      expect(verdict).toMatchObject({
        access: { reason: 'no-transport', detail: expect.stringMatching(/your own dispatcher or fetch/) },
      })
    }
    expect(ports).toEqual([])
  })
})

test('a truncated response that an interceptor shares between two clients is truncated for both', async ({
  sites,
  newClient,
}) => {
  sites.respond(
    ROBOTS,
    (socket) => void socket.write(`HTTP/1.1 200 OK\r\n\r\n${disallowsPage}`, () => socket.resetAndDestroy()),
  )
  const dispatcher = loopbackAgent().compose(interceptors.deduplicate())
  const clients = [newClient({ dispatcher }), newClient({ dispatcher })]
  const verdicts = await Promise.all(clients.map((client) => client.check(sites.withPort(checkedPage))))
  for (const verdict of verdicts) expect(verdict).toMatchObject({ access: { reason: 'truncated' } })
})

describe("the caller's dispatcher", () => {
  /** A proxy: absolute URLs for http, CONNECT for https. It resolves every name to loopback. */
  async function startProxy() {
    const seen: string[] = []
    const sockets = new Set<Socket>()
    const server = createServer((request: IncomingMessage, response) => {
      seen.push(`${request.method} ${request.url}`)
      response.writeHead(502).end()
    })
    server.on('connect', (request: IncomingMessage, socket: Socket) => {
      seen.push(`CONNECT ${request.url}`)
      const port = Number(request.url?.split(':').at(-1))
      if (request.url?.startsWith('forbidden.')) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      const far = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
        far.pipe(socket).pipe(far)
      })
      for (const one of [far, socket]) {
        sockets.add(one)
        one.on('error', () => undefined)
      }
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
      server.closeAllConnections()
    })
    return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }

  test('a proxy resolves the names itself', async ({ sites, newClient }) => {
    const certificate = selfSigned('example.com')
    const secure = await startSites({ certificate })
    onTestFinished(() => secure.close())
    sites.respond('http://example.org:PORT/robots.txt', rules)
    secure.respond('https://example.com:PORT/robots.txt', rules)
    const proxy = await startProxy()
    const dispatcher = new ProxyAgent({ uri: proxy.url, proxyTunnel: true, requestTls: { ca: certificate.cert } })
    onTestFinished(() => dispatcher.destroy())
    const client = newClient({ dispatcher })
    expect(await client.check(secure.withPort('https://example.com:PORT/page'))).toMatchObject(obeyed)
    expect(await client.check(sites.withPort('http://example.org:PORT/page'))).toMatchObject(obeyed)
    expect(await client.check('https://forbidden.example.com/page')).toMatchObject({
      because: 'unreachable',
      access: { reason: 'network', detail: expect.stringMatching(/403/) },
    })
    expect(proxy.seen).toEqual([
      secure.withPort('CONNECT example.com:PORT'),
      sites.withPort('CONNECT example.org:PORT'),
      'CONNECT forbidden.example.com:443',
    ])
  })

  const RULES = 'http://a.test:PORT/rules'
  const moved = { status: 302, headers: { location: '/rules' } }
  const coded = (coding: string, body: Buffer) => ({ status: 200, headers: { 'content-encoding': coding }, body })
  const failed = (reason: string, detail = /./) => ({
    because: 'unreachable',
    access: { reason, detail: expect.stringMatching(detail) },
  })
  const followed = failed('unusable-transport', /follows redirects itself.*give one that returns the 3xx response/)

  /** Responds without a connection. */
  function mockAgent(headers: Record<string, string>): Dispatcher {
    const agent = new MockAgent()
    agent.disableNetConnect()
    agent.get(/./).intercept({ path: '/robots.txt' }).reply(200, disallowsPage, { headers })
    agent.destroy = async () => undefined // it has no connections
    return agent
  }

  /** Follows redirects silently. */
  function followingAgent(): Dispatcher {
    const agent = loopbackAgent()
    const follow = (dispatch: Dispatcher['dispatch']): Dispatcher['dispatch'] => {
      const followed: Dispatcher['dispatch'] = (options, handler) => {
        let location: string | undefined
        return dispatch(options, {
          onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
          onResponseStart: (controller, status, headers, text) => {
            location = status === 302 ? String(headers.location) : undefined
            if (location === undefined) handler.onResponseStart?.(controller, status, headers, text)
          },
          onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
          onResponseEnd: (controller, trailers) => {
            if (location === undefined) handler.onResponseEnd?.(controller, trailers)
            else followed({ ...options, path: location }, handler)
          },
          onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
        })
      }
      return followed
    }
    return agent.compose(follow)
  }

  /** Always uses undici's redirect handler, whatever the options of a request are. */
  function handlerOfRedirects(): Dispatcher {
    const agent = loopbackAgent()
    return agent.compose(
      (dispatch) => (options, handler) =>
        dispatch(options, new RedirectHandler(dispatch, 5, options, handler as never)),
    )
  }

  const { redirect, retry, responseError, dump, decompress, deduplicate, cache, dns } = interceptors
  const quickly = { minTimeout: 1, maxRetries: 1 }
  const resets: Behaviour = (socket) =>
    void socket.write(`HTTP/1.1 200 OK\r\nETag: "1"\r\nContent-Length: 90\r\n\r\n${disallowsPage}`, () =>
      socket.resetAndDestroy(),
    )
  const rest = { status: 206, headers: { etag: '"1"', 'content-range': 'bytes 30-89/90' }, body: '#'.repeat(60) }
  const twoFrames = Buffer.concat([zstdCompressSync('User-agent: *\n'), zstdCompressSync('Disallow: /page\n')])

  test.for<
    readonly [name: string, dispatcher: () => Dispatcher, answers: readonly Answer[], verdict: object, asked: number]
  >([
    [
      'redirect: turned off by maxRedirections',
      () => loopbackAgent().compose(redirect({ maxRedirections: 5 })),
      [moved],
      obeyed,
      1,
    ],
    ['a RedirectHandler: refused before its request', handlerOfRedirects, [moved], followed, 0],
    ['redirects followed silently: refused', followingAgent, [moved], followed, 1],
    [
      'redirects followed silently to a 404: refused',
      followingAgent,
      [{ status: 302, headers: { location: '/none' } }],
      followed,
      1,
    ],
    [
      'retry: the last response counts',
      () => loopbackAgent().compose(retry(quickly)),
      [{ status: 503 }, rules],
      obeyed,
      2,
    ],
    [
      'RetryAgent: the last status counts',
      () => new RetryAgent(loopbackAgent(), quickly),
      [{ status: 503 }],
      { access: { reason: 'status', status: 503 } },
      2,
    ],
    [
      'retry: a reset before the response does not count',
      () => loopbackAgent().compose(retry(quickly)),
      [(socket) => socket.resetAndDestroy(), rules],
      obeyed,
      2,
    ],
    [
      'retry: a body assembled from two responses is refused',
      () => loopbackAgent().compose(retry(quickly)),
      [resets, rest],
      failed('truncated'),
      2,
    ],
    [
      'responseError: a 404 is unavailable',
      () => loopbackAgent().compose(responseError()),
      [{ status: 404 }],
      { because: 'unavailable', access: { status: 404 } },
      1,
    ],
    [
      'responseError: a 503 is unreachable',
      () => loopbackAgent().compose(responseError()),
      [{ status: 503 }],
      { access: { reason: 'status', status: 503 } },
      1,
    ],
    [
      'dump: refused',
      () => loopbackAgent().compose(dump()),
      [rules],
      failed('unusable-transport', /interceptors\.dump/),
      1,
    ],
    [
      'decompress: gzip',
      () => loopbackAgent().compose(decompress()),
      [coded('gzip', gzipSync(disallowsPage))],
      obeyed,
      1,
    ],
    [
      'decompress: truncated gzip',
      () => loopbackAgent().compose(decompress()),
      [coded('gzip', gzipSync(disallowsPage).subarray(0, -9))],
      failed('undecodable'),
      1,
    ],
    [
      'decompress: zstd',
      () => loopbackAgent().compose(decompress()),
      [coded('zstd', zstdCompressSync(disallowsPage))],
      obeyed,
      1,
    ],
    [
      'decompress: zstd in two frames, of which Node decodes one',
      () => loopbackAgent().compose(decompress()),
      [coded('zstd', twoFrames)],
      failed('undecodable'),
      1,
    ],
    [
      'decompress: gzip, identity',
      () => loopbackAgent().compose(decompress()),
      [coded('gzip, identity', gzipSync(disallowsPage))],
      obeyed,
      1,
    ],
    ['deduplicate', () => loopbackAgent().compose(deduplicate()), [rules], obeyed, 1],
    [
      'dns',
      () =>
        new Agent().compose(
          dns({ lookup: (_, __, done) => done(null, [{ address: '127.0.0.1', family: 4, ttl: 9 }]) }),
        ),
      [rules],
      obeyed,
      1,
    ],
    [
      'a MockAgent, whose responses undici does not report: refused',
      () => mockAgent({}),
      [],
      failed('truncated', /does not show/),
      0,
    ],
    ['a MockAgent with the correct Content-Length', () => mockAgent({ 'content-length': '30' }), [], obeyed, 0],
    [
      'a MockAgent with a wrong Content-Length',
      () => mockAgent({ 'content-length': '31' }),
      [],
      failed('truncated'),
      0,
    ],
  ])('with interceptors, %s', async ([, newDispatcher, answers, expected, asked], { sites, newClient }) => {
    sites.respond(ROBOTS, ...answers)
    sites.respond(RULES, rules)
    const dispatcher = newDispatcher()
    onTestFinished(() => dispatcher.destroy())
    const verdict = await newClient({ dispatcher }).check(sites.withPort(checkedPage))
    expect(verdict).toMatchObject(expected)
    expect(sites.requestedUrls.filter((url) => url === ROBOTS)).toHaveLength(asked)
  })

  test('with interceptors, a redirect into a private network is refused by the guard', async ({ sites, newClient }) => {
    const dispatcher = loopbackAgent({ lookup: lookupIn({ 'example.com': '127.0.0.1' }) }).compose(
      redirect({ maxRedirections: 5 }),
    )
    sites.respond('http://example.com:PORT/robots.txt', {
      status: 302,
      headers: { location: 'http://127.0.0.1:PORT/rules' },
    })
    const verdict = await newClient({ dispatcher }).check(sites.withPort('http://example.com:PORT/page'))
    expect(verdict).toMatchObject({ because: 'unreachable', access: { reason: 'blocked-address' } })
    expect(sites.requestedUrls).toEqual(['http://example.com:PORT/robots.txt'])
  })

  test('with interceptors, cache: robots.txt comes from the site and is not stored', async ({ sites, newClient }) => {
    const fresh = { ...rules, headers: { 'cache-control': 'max-age=3600', date: new Date().toUTCString() } }
    for (const [option, over] of [
      ['dispatcher', (agent: Dispatcher) => ({ dispatcher: agent })],
      ['fetch', (agent: Dispatcher) => ({ fetch: fetchOfUndici(agent as Agent) })],
    ] as const) {
      sites.clearRecords()
      sites.respond(ROBOTS, fresh)
      const agent = loopbackAgent().compose(cache())
      const client = newClient({ ...over(agent), ttlMs: 0, minTtlMs: 0, maxTtlMs: 0 })
      for (let i = 0; i < 2; i++) expect(await client.check(sites.withPort(checkedPage))).toMatchObject(obeyed)
      expect(sites.requestedUrls, option).toEqual([ROBOTS, ROBOTS])
    }
  })

  test.for(['my_service:tag', 'a b', 'a.test:80:80'])(
    'requests of other code may have an invalid Host header: %s',
    async (host, { sites, newClient }) => {
      const held = Promise.withResolvers<typeof rules>()
      sites.respond(ROBOTS, held.promise)
      const uncaught: unknown[] = []
      const listener = (error: unknown) => void uncaught.push(error)
      process.on('uncaughtException', listener)
      onTestFinished(() => void process.off('uncaughtException', listener))
      const dispatcher = loopbackAgent()
      const verdict = newClient({ dispatcher }).check(sites.withPort(checkedPage))
      await sites.requested(1)
      const other = await request(sites.withPort('http://a.test:PORT/other'), { dispatcher, headers: { host } })
      await other.body.dump()
      held.resolve(rules)
      expect(await verdict).toMatchObject(obeyed)
      expect(uncaught).toEqual([])
    },
  )

  interface Spoken {
    readonly version: string
    readonly headers: IncomingHttpHeaders
  }

  /** A server that supports only HTTP/2. */
  async function startHttp2(
    certificate: Certificate,
  ): Promise<{ port: number; spoken: Spoken[]; server: Http2SecureServer }> {
    const spoken: Spoken[] = []
    const server = createSecureServer({ ...certificate, allowHTTP1: false })
    const sessions = new Set<{ destroy(): void }>()
    server.on('session', (session) => void sessions.add(session))
    server.on('request', (request, response) => {
      spoken.push({ version: request.httpVersion, headers: request.headers })
      if (request.url === '/robots.txt' && request.headers[':authority']?.startsWith('moved.')) {
        response.writeHead(301, { location: 'https://a.test:PORT/robots.txt'.replace('PORT', String(port)) }).end()
      } else if (request.headers[':authority']?.startsWith('broken.')) {
        response.stream.respond({ ':status': 200 })
        response.stream.write('User-agent: *\n', () => response.stream.destroy(new Error('on purpose'))) // INTERNAL_ERROR, RFC 9113 §7
      } else response.end(disallowsPage)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    onTestFinished(() => {
      for (const session of sessions) session.destroy()
      server.close()
    })
    return { port, spoken, server }
  }

  test('HTTP/2, with a private certificate', async ({ newClient }) => {
    const certificate = selfSigned('a.test')
    const { port, spoken } = await startHttp2(certificate)
    const dispatcher = loopbackAgent({ ca: certificate.cert, allowH2: true, checkServerIdentity: () => undefined })
    const client = newClient({ dispatcher })
    expect(await client.check(`https://a.test:${port}/page`)).toMatchObject(obeyed)
    expect(await client.check(`https://moved.test:${port}/page`)).toMatchObject({
      ...obeyed,
      access: { hops: [{ status: 301 }] },
    })
    expect(await client.check(`https://broken.test:${port}/page`)).toMatchObject({
      because: 'unreachable',
      access: { reason: 'truncated' },
    })
    expect(spoken.map(({ version }) => version)).toEqual(['2.0', '2.0', '2.0', '2.0'])
    expect(spoken[0]?.headers).toMatchObject({ 'user-agent': 'ExampleBot/1.0', ':path': '/robots.txt' })
  })

  test('without HTTP/2, a server that supports nothing else is unreachable', async ({ newClient }) => {
    const certificate = selfSigned('a.test')
    const { port, spoken } = await startHttp2(certificate)
    const dispatcher = loopbackAgent({ ca: certificate.cert, allowH2: false })
    const verdict = await newClient({ dispatcher }).check(`https://a.test:${port}/page`)
    expect(verdict).toMatchObject({ because: 'unreachable', access: { reason: 'tls' } })
    expect(spoken).toEqual([])
  })
})

test.for([
  ['own connections', () => ({})],
  ["the caller's dispatcher", () => ({ dispatcher: loopbackAgent() })],
  ["the caller's fetch", () => ({ fetch: fetchOfNode() })],
] as const)(
  'httpCaches: revalidate asks caches on the way to revalidate, by %s',
  async ([, transport], { sites, newClient }) => {
    const headersOf = async (httpCaches?: 'allow' | 'revalidate') => {
      await newClient({ ...transport(), httpCaches }).check(sites.withPort(checkedPage))
      return sites.requests.at(-1)?.headers
    }
    expect(await headersOf()).not.toMatchObject({ pragma: 'no-cache' })
    expect(await headersOf('revalidate')).toMatchObject({ 'cache-control': 'no-cache', pragma: 'no-cache' })
  },
)

test('fetch and dispatcher cannot be combined', ({ newClient }) => {
  expect(() => newClient({ fetch: fetchOfNode(), dispatcher: loopbackAgent() })).toThrow(
    expect.objectContaining({
      code: 'ERR_POLITELY_OPTION',
      option: 'fetch',
      message: expect.stringMatching(/only one of them can make the request; pass the dispatcher to your fetch/),
    }),
  )
})
