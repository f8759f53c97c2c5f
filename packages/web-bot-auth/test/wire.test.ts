// @module-tag nodes
// Signed requests as a site receives them: robots.txt, pages and redirect hops, over each HTTP
// client.
import { Agent as HttpsAgent } from 'node:https'
import { setImmediate } from 'node:timers/promises'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate, politeHttpAgent, politely } from '@politely/gate'
import { politeAgent, politeInterceptor } from '@politely/gate/undici'
import { readSitemaps } from '@politely/sitemaps'
import { lookupIn } from '@politely/testkit/servers/lookup'
import type { SeenRequest } from '@politely/testkit/servers/sites'
import {
  Agent,
  Client,
  type Dispatcher,
  interceptors,
  request,
  Request as UndiciRequest,
  fetch as undiciFetch,
} from 'undici'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type RequestToSign, type Signer, signed, signedInterceptor, type Verification, verify } from '../src/index.ts'
import { type KeyServer, startKeyServer } from './key-server.ts'

const userAgent = 'ExampleBot/1.0 (+https://bot.test)'
const ASKS = { 'accept-signature': 'site=("@method" "@target-uri");tag="web-bot-auth"' }

let server: KeyServer
let verifies: (seen: SeenRequest) => Promise<Verification>

beforeEach(async () => {
  server = await startKeyServer()
  const directories = server.directories()
  verifies = ({ method, url, headers }) => verify({ method, url: server.sites.withPort(url), headers }, { directories })
})

/**
 * The requests that the server has received, apart from those for keys, with the result of
 * `verify`.
 */
async function seen(): Promise<readonly string[]> {
  const requests = server.sites.requests.filter(({ url }) => !url.startsWith('https://bot.test'))
  return Promise.all(
    requests.map(async (one) => {
      const verification = await verifies(one)
      return `${one.method} ${one.url.replace(':PORT', '')} ${'reason' in verification ? verification.reason : verification.kind}`
    }),
  )
}

function pageFetch(): typeof globalThis.fetch {
  const dispatcher = new Agent({ connect: { lookup: lookupIn() } })
  onTestFinished(() => dispatcher.close())
  return ((url: string, init: object) =>
    undiciFetch(url, { ...init, dispatcher })) as unknown as typeof globalThis.fetch
}

const options = { userAgent, network: 'any', lookup: lookupIn(), minDelayMs: 0, retries: 0 } as const

const SIGNED_FETCH = 'politely(signed(fetch, signer))'

/**
 * Returns a function that requests a page and resolves with the status, by each way to send
 * requests.
 */
type Open = (sign: Signer) => (url: string) => Promise<number>

function openGate(sign: Signer): PoliteGate {
  const { minDelayMs, ...ofClient } = options
  const robots = new RobotsClient({ ...ofClient, sign })
  const gate = new PoliteGate({ robots, minDelayMs })
  onTestFinished(async () => {
    gate.close()
    await robots.close()
  })
  return gate
}

const byRequest = (dispatcher: Dispatcher) => async (url: string) => {
  const { statusCode, body } = await request(url, { dispatcher, headersTimeout: 5_000 })
  await body.dump()
  return statusCode
}

const clients: Readonly<Record<string, Open>> = {
  'politely(fetch, { sign })': (sign) => {
    const fetch = politely(pageFetch(), { ...options, sign, robotsVia: 'own' })
    onTestFinished(() => fetch.close())
    return async (url) => (await fetch(url)).status
  },
  [SIGNED_FETCH]: (sign) => {
    const fetch = politely(signed(pageFetch(), sign), options)
    onTestFinished(() => fetch.close())
    return async (url) => (await fetch(url)).status
  },
  'politeAgent({ sign })': (sign) => {
    const agent = politeAgent({ ...options, sign, maxRedirections: 5 })
    onTestFinished(() => agent.close())
    return byRequest(agent)
  },
  politeInterceptor: (sign) => {
    const agent = new Agent({ connect: { lookup: lookupIn() } })
    onTestFinished(() => agent.close())
    return byRequest(agent.compose(politeInterceptor(openGate(sign)), interceptors.redirect({ maxRedirections: 5 })))
  },
}

describe.each(Object.entries(clients))('%s', (name, open) => {
  test('signs robots.txt, the page and each redirect hop for itself', async () => {
    server.sites.respond('https://a.test:PORT/old', { status: 302, headers: { location: '/new' } })
    server.sites.respond('https://a.test:PORT/new', {
      status: 301,
      headers: { location: 'https://b.test:PORT/page?x=1' },
    })
    server.sites.respond('https://b.test:PORT/page?x=1', { status: 200, body: 'page' })
    server.sites.respond('https://b.test:PORT/robots.txt', {
      status: 302,
      headers: { location: 'https://c.test:PORT/robots' },
    })
    expect(await open(server.signer())(server.sites.withPort('https://a.test:PORT/old'))).toBe(200)
    expect(await seen()).toEqual([
      'GET https://a.test/robots.txt verified',
      'GET https://a.test/old verified',
      'GET https://a.test/new verified',
      'GET https://b.test/robots.txt verified',
      'GET https://c.test/robots verified',
      'GET https://b.test/page?x=1 verified',
    ])
    const signatures = server.sites.requests
      .map(({ headers }) => headers.signature)
      .filter((text) => text !== undefined)
    expect(new Set(signatures).size).toBe(6)
  })

  test('sends what a site gave its visitor to this site only', async () => {
    const headers = { signature: 'sig1=:YQ==:', 'signature-input': 'sig1=()', 'x-visitor': 'secret' }
    const shop = server.sites.withPort('a.test:PORT')
    server.sites.respond('https://a.test:PORT/', { status: 302, headers: { location: 'https://b.test:PORT/' } })
    await open(server.signer({ siteHeaders: { [shop]: headers } }))(`https://${shop}/`)
    const given = server.sites.requests.filter((one) => one.headers['x-visitor'] === 'secret').map(({ url }) => url)
    expect(given).toEqual(['https://a.test:PORT/robots.txt', 'https://a.test:PORT/'])
    expect(JSON.stringify(server.sites.requests.filter(({ url }) => url.includes('b.test')))).not.toMatch(
      /secret|:YQ==:/,
    )
    expect((await seen()).slice(2)).toEqual(['GET https://b.test/robots.txt verified', 'GET https://b.test/ verified'])
  })

  test('does not send a request that cannot be signed', async () => {
    const key = () => {
      throw new Error('no KMS')
    }
    const { publicKey } = server.key
    const fetchPage = open(server.signer({ key, publicKey, when: 'challenged' }))
    server.sites.respond('https://a.test:PORT/first', { status: 403, headers: ASKS })
    server.sites.respond('https://a.test:PORT/robots.txt', { status: 200, body: '' })
    const again = name === SIGNED_FETCH ? ['/first', '/second'] : ['/first']
    const last = server.sites.withPort(`https://a.test:PORT${again.at(-1)}`)
    if (again.length > 1) expect(await fetchPage(server.sites.withPort('https://a.test:PORT/first'))).toBe(403)
    await expect(fetchPage(last)).rejects.toThrow(/the request was not signed, and not sent/)
    expect(await seen()).toEqual(['GET https://a.test/robots.txt unsigned', 'GET https://a.test/first unsigned'])
  })

  test('signs for an authority that asks for it, and sends the first request again through the gate', async () => {
    server.sites.respond(
      'https://a.test:PORT/first',
      { status: 403, headers: ASKS, body: 'no' },
      { status: 200, body: 'page' },
    )
    server.sites.respond('https://a.test:PORT/second', { status: 403, headers: ASKS })
    const isRepeated = name !== SIGNED_FETCH // which knows no gate
    const fetchPage = open(server.signer({ when: 'challenged' }))
    expect(await fetchPage(server.sites.withPort('https://a.test:PORT/first'))).toBe(isRepeated ? 200 : 403)
    expect(await fetchPage(server.sites.withPort('https://a.test:PORT/second'))).toBe(403)
    expect(await seen()).toEqual([
      'GET https://a.test/robots.txt unsigned',
      'GET https://a.test/first unsigned',
      ...(isRepeated ? ['GET https://a.test/first verified'] : []),
      'GET https://a.test/second verified',
    ])
  })

  test('asks for robots.txt again, signed, if the site asks for it there', async () => {
    server.sites.respond(
      'https://a.test:PORT/robots.txt',
      { status: 403, headers: ASKS },
      { status: 200, body: 'User-agent: *\nDisallow: /' },
    )
    const failed = open(server.signer({ when: 'challenged' }))(server.sites.withPort('https://a.test:PORT/page'))
    if (name === SIGNED_FETCH) return expect(await failed).toBe(404)
    await expect(failed).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED' })
    expect(await seen()).toEqual(['GET https://a.test/robots.txt unsigned', 'GET https://a.test/robots.txt verified'])
  })
})

test('a failed signature of robots.txt is not held against the site', async () => {
  let [isDown, calls, now] = [true, 0, 1_800_000_000_000]
  const works = server.signer()
  const sign: Signer = Object.assign(Object.create(works) as Signer, {
    sign: (request: RequestToSign) => {
      calls++
      if (isDown) throw new Error('no KMS')
      return works.sign(request)
    },
    challenged: () => false,
  })
  const robots = new RobotsClient({
    userAgent,
    network: 'any',
    lookup: lookupIn(),
    sign,
    refreshAheadMs: 60_000,
    now: () => now,
  })
  onTestFinished(() => robots.close())
  const url = server.sites.withPort('https://a.test:PORT/')
  await expect(robots.check(url)).rejects.toThrow('no KMS')
  await expect(robots.usage(url)).rejects.toThrow('no KMS')
  isDown = false
  expect((await robots.check(url)).because).toBe('unavailable')
  isDown = true
  now += 24 * 3_600_000 - 1_000
  expect((await robots.check(url)).because).toBe('unavailable')
  await vi.waitFor(() => expect(calls, 'a refresh that no caller waits for').toBe(4))
  await setImmediate()
})

test('a signature of robots.txt that takes too long is not held against the site', async () => {
  let isHung = true
  const sign = { sign: () => (isHung ? new Promise<undefined>(() => undefined) : undefined), challenged: () => false }
  const robots = new RobotsClient({ userAgent, network: 'any', lookup: lookupIn(), sign, timeoutMs: 1_500 })
  onTestFinished(() => robots.close())
  const url = server.sites.withPort('https://a.test:PORT/')
  await expect(robots.check(url)).rejects.toMatchObject({ name: 'TimeoutError', message: /`sign` has not settled/ })
  isHung = false
  expect((await robots.check(url)).allowed).toBe(true)
})

describe('politely(fetch, { sign })', () => {
  function open(sign: Signer, more: object = {}) {
    const fetch = politely(pageFetch(), { ...options, sign, robotsVia: 'own', ...more })
    onTestFinished(() => fetch.close())
    return fetch
  }

  test('sends a request again through the gate, whose budget counts', async () => {
    server.sites.respond('https://a.test:PORT/', { status: 403, headers: ASKS, body: 'no' })
    const fetch = open(server.signer({ when: 'challenged' }), { budget: 1 })
    const response = await fetch(server.sites.withPort('https://a.test:PORT/'))
    expect([response.status, await response.text()]).toEqual([403, 'no'])
    expect(await seen()).toEqual(['GET https://a.test/robots.txt unsigned', 'GET https://a.test/ unsigned'])
  })

  test('sends nothing but GET and HEAD again', async () => {
    server.sites.respond('https://a.test:PORT/', { status: 403, headers: ASKS })
    const fetch = open(server.signer({ when: 'challenged' }))
    for (const method of ['POST', 'HEAD']) await fetch(server.sites.withPort('https://a.test:PORT/'), { method })
    expect(await seen()).toEqual([
      'GET https://a.test/robots.txt unsigned',
      'POST https://a.test/ unsigned',
      'HEAD https://a.test/ unsigned',
      'HEAD https://a.test/ verified',
    ])
  })

  test('signs sitemaps', async () => {
    server.sites.respond('https://a.test:PORT/sitemap.xml', { status: 200, body: '<urlset></urlset>' })
    const reading = readSitemaps([server.sites.withPort('https://a.test:PORT/sitemap.xml')], {
      fetch: open(server.signer()),
    })
    for await (const _ of reading);
    expect(await seen()).toEqual(['GET https://a.test/robots.txt verified', 'GET https://a.test/sitemap.xml verified'])
  })

  test('signs a Request with its method, and keeps its headers', async () => {
    const url = server.sites.withPort('https://a.test:PORT/x')
    await open(server.signer())(new UndiciRequest(url, { method: 'DELETE', headers: { 'x-own': '1' } }) as never)
    expect(server.sites.requests.find(({ method }) => method === 'DELETE')?.headers).toMatchObject({
      'x-own': '1',
      'user-agent': userAgent,
    })
    expect((await seen())[1]).toBe('DELETE https://a.test/x verified')
  })

  test('signs each attempt of `retry` anew', { tags: 'full' }, async () => {
    server.sites.respond('https://a.test:PORT/', { status: 500 }, { status: 200 })
    const fetch = open(server.signer(), { retry: { attempts: 2 }, backoff: { firstMs: 1 } })
    expect((await fetch(server.sites.withPort('https://a.test:PORT/'))).status).toBe(200)
    expect(await seen()).toEqual([
      'GET https://a.test/robots.txt verified',
      'GET https://a.test/ verified',
      'GET https://a.test/ verified',
    ])
  })

  test.each([{ sign: 5 }, { sign: {} }, { sign: () => ({}) }])('rejects %o', (given) => {
    expect(() => politely(fetch, { userAgent, ...given } as never)).toThrow(
      /sign: .* is not a signer; write signer\(\{ key, agent, profile \}\)/,
    )
  })
})

test('politeHttpAgent, which cannot sign, says so', () => {
  expect(() => politeHttpAgent(new HttpsAgent(), openGate(server.signer()))).toThrow(
    /gate: its RobotsClient has the option `sign`/,
  )
})

describe('without a gate', () => {
  test('signed(fetch) signs each hop, and its body too arrives', async () => {
    server.sites.respond('https://a.test:PORT/', { status: 307, headers: { location: 'https://b.test:PORT/' } })
    server.sites.respond('https://b.test:PORT/', { status: 303, headers: { location: '/end' } })
    const headers = { authorization: 'secret', 'x-own': '1' }
    const url = server.sites.withPort('https://a.test:PORT/')
    const response = await signed(pageFetch(), server.signer())(url, { method: 'POST', body: 'text', headers })
    expect(response.redirected).toBe(true)
    expect(await seen()).toEqual([
      'POST https://a.test/ verified',
      'POST https://b.test/ verified',
      'GET https://b.test/end verified',
    ])
    const sent = server.sites.requests.filter(({ url: one }) => !one.startsWith('https://bot.test'))
    expect(sent.map((one) => [one.headers.authorization, one.headers['x-own'], one.headers['content-length']])).toEqual(
      [
        ['secret', '1', '4'],
        [undefined, '1', '4'],
        [undefined, '1', undefined],
      ],
    )
  })

  test('signed(fetch) signs the method that fetch sends', async () => {
    const fetch = signed(pageFetch(), server.signer())
    for (const method of ['patch', 'PATCH', 'put', 'head'])
      await fetch(server.sites.withPort('https://a.test:PORT/'), { method }).catch(() => undefined)
    // Node's server answers the unknown method with 400.
    expect(await seen()).toEqual(['PATCH', 'PUT', 'HEAD'].map((method) => `${method} https://a.test/ verified`))
    const methods: string[] = []
    const sign = { challenged: () => false, sign: ({ method }: RequestToSign) => void methods.push(method) }
    await signed((async () => new Response()) as typeof globalThis.fetch, sign)('https://a.test/', { method: 'patch' })
    expect(methods).toEqual(['patch'])
  })

  test.each([307, 303])('signed(fetch) follows a %i with the body of a Request', async (status) => {
    server.sites.respond('https://a.test:PORT/', { status, headers: { location: '/a' } })
    server.sites.respond('https://a.test:PORT/a', { status: 307, headers: { location: '/b' } })
    const given = new UndiciRequest(server.sites.withPort('https://a.test:PORT/'), { method: 'POST', body: 'text' })
    await signed(pageFetch(), server.signer())(given as never)
    const method = status === 307 ? 'POST' : 'GET'
    const paths = ['/a', '/b'].map((path) => `${method} https://a.test${path} verified`)
    expect(await seen()).toEqual(['POST https://a.test/ verified', ...paths])
    const sent = server.sites.requests.filter(({ url }) => /a.test:PORT.[ab]/.test(url))
    const length = status === 307 ? '4' : undefined
    expect(sent.map(({ headers }) => headers['content-length'])).toEqual([length, length])
  })

  test('signed(fetch) leaves redirects to the caller who asks for it', async () => {
    server.sites.respond('https://a.test:PORT/', { status: 302, headers: { location: '/b' } })
    const fetch = signed(pageFetch(), server.signer())
    const url = server.sites.withPort('https://a.test:PORT/')
    expect((await fetch(url, { redirect: 'manual' })).status).toBe(302)
    await expect(fetch(url, { redirect: 'error' })).rejects.toThrow('fetch failed')
    server.sites.respond('https://a.test:PORT/', { status: 302, headers: { location: '/' } })
    await expect(fetch(url)).rejects.toThrow('more than 20 redirects')
  })

  test('signed rejects a fetch that enters a gate, and what is no signer', () => {
    const polite = politely(fetch, { userAgent })
    onTestFinished(() => polite.close())
    expect(() => signed(polite, server.signer())).toThrow(/write politely\(signed\(fetch, signer\), …\)/)
    expect(() => signed(5 as never, server.signer())).toThrow(/5 is not a function/)
    expect(() => signed(fetch, undefined as never)).toThrow(/is missing; write signed/)
    expect(() => signedInterceptor({} as never)).toThrow(/is not a signer/)
  })

  test('signedInterceptor signs each hop in any form of headers', async () => {
    const agent = new Agent({ connect: { lookup: lookupIn() } })
    onTestFinished(() => agent.close())
    const dispatcher = agent.compose(signedInterceptor(server.signer()), interceptors.redirect({ maxRedirections: 3 }))
    server.sites.respond('https://a.test:PORT/', { status: 302, headers: { location: 'https://b.test:PORT/' } })
    const url = server.sites.withPort('https://a.test:PORT/')
    for (const headers of [
      undefined,
      { 'X-Own': '1', Signature: 'old' },
      ['x-own', '1', 'Signature', 'old'],
      new Headers({ 'x-own': '1' }),
    ])
      await (await request(url, { dispatcher, ...(headers && { headers }) })).body.dump()
    expect(await seen()).toEqual(
      Array.from({ length: 4 }, () => ['GET https://a.test/ verified', 'GET https://b.test/ verified']).flat(),
    )
    expect(server.sites.requests.filter((one) => one.headers['x-own'] === '1')).toHaveLength(6)
  })

  test('signedInterceptor remembers who asks, and fails without sending', async () => {
    const agent = new Agent({ connect: { lookup: lookupIn() } })
    onTestFinished(() => agent.close())
    const by = (sign: Signer) => byRequest(agent.compose(signedInterceptor(sign)))
    const url = server.sites.withPort('https://a.test:PORT/')
    server.sites.respond('https://a.test:PORT/', { status: 403, headers: ASKS })
    const fetchPage = by(server.signer({ when: 'challenged' }))
    await fetchPage(url)
    await fetchPage(url)
    expect(await seen()).toEqual(['GET https://a.test/ unsigned', 'GET https://a.test/ verified'])
    const broken = by(server.signer({ key: () => new Uint8Array(1), publicKey: server.key.publicKey }))
    await expect(broken(url)).rejects.toMatchObject({ code: 'ERR_POLITELY_SIGNING' })
    expect(await seen()).toHaveLength(2)
  })

  test('signedInterceptor signs the URL that is sent', async () => {
    const origin = server.sites.withPort('https://a.test:PORT')
    const connect = { lookup: lookupIn() }
    const [agent, client] = [new Agent({ connect }), new Client(origin, { connect })]
    onTestFinished(async () => void (await Promise.all([agent.close(), client.close()])))
    const signing = signedInterceptor(server.signer())
    const ofAgent = agent.compose(signing)
    const bodies = [
      request(`${origin}/x`, { dispatcher: ofAgent, query: { a: 1, b: 'ü ' } }),
      ofAgent.request({ origin: origin.replace('https', 'HTTPS'), path: '/a/../x', method: 'GET' }),
      client.compose(signing).request({ path: '/client', method: 'GET' } as never),
    ]
    for (const { body } of await Promise.all(bodies)) await body.dump()
    expect((await seen()).toSorted()).toEqual([
      'GET https://a.test/client verified',
      'GET https://a.test/x verified',
      'GET https://a.test/x?a=1&b=%C3%BC%20 verified',
    ])
    const elsewhere = { origin: server.sites.withPort('https://b.test:PORT'), path: '/', method: 'GET' } as const
    await expect(client.compose(signing).request(elsewhere)).rejects.toThrow(/is not the origin of the Client or Pool/)
    await expect(ofAgent.request({ path: '/', method: 'GET' } as never)).rejects.toThrow(/origin undefined is invalid/)
    expect(await seen()).toHaveLength(3)
  })

  test('signedInterceptor sends nothing where a redirect would get the headers of another request', async () => {
    const agent = new Agent({ connect: { lookup: lookupIn() } })
    onTestFinished(() => agent.close())
    const redirect = interceptors.redirect({ maxRedirections: 3 })
    const siteHeaders = { [server.sites.withPort('a.test:PORT')]: { cookie: 'secret=1' } }
    const url = server.sites.withPort('https://a.test:PORT/')
    for (const sign of [server.signer(), server.signer({ siteHeaders })]) {
      const dispatcher = agent.compose(redirect, signedInterceptor(sign))
      await expect(request(url, { dispatcher })).rejects.toThrow(/write .compose\(signedInterceptor\(signer\), inter/)
    }
    const dispatch = signedInterceptor(server.signer())((() => true) as (options: object, handler: object) => boolean)
    const options = { origin: new URL(url).origin, path: '/', method: 'GET' }
    const onRequestStart = () => undefined
    expect(() => dispatch({ ...options, maxRedirections: 1 }, { onRequestStart })).toThrow(/maxRedirections: redirect/)
    expect(() => dispatch(options, { onConnect: onRequestStart })).toThrow(/the request comes from undici 6/)
    expect(await seen()).toEqual([])
  })
})

/** Signs pages, and leaves robots.txt unsigned. */
const onlyPages = (sign: () => Promise<undefined>) => (one: RequestToSign) =>
  one.url.endsWith('robots.txt') ? undefined : sign()

describe('an abort ends the wait for a signature that never comes', () => {
  const hung = { sign: () => new Promise<undefined>(() => undefined), challenged: () => false }
  const url = 'https://a.test:PORT/'

  test('signedInterceptor, by request and by fetch', async () => {
    const agent = new Agent({ connect: { lookup: lookupIn() } })
    onTestFinished(() => agent.close())
    const dispatcher = agent.compose(signedInterceptor(hung))
    for (const send of [request, undiciFetch]) {
      const ending = new AbortController()
      const sending = send(server.sites.withPort(url), { dispatcher, signal: ending.signal })
      setTimeout(() => ending.abort(), 10)
      await expect(sending).rejects.toMatchObject({ name: 'AbortError' })
    }
  })

  test('signed(fetch)', async () => {
    const ending = new AbortController()
    const sending = signed(pageFetch(), hung)(server.sites.withPort(url), { signal: ending.signal })
    ending.abort()
    await expect(sending).rejects.toMatchObject({ name: 'AbortError' })
  })

  test.each(['signal', 'requestTimeoutMs', 'close'])('politely(fetch): %s', async (by) => {
    const sign = { ...hung, sign: onlyPages(hung.sign) }
    const limit = by === 'requestTimeoutMs' && { requestTimeoutMs: 500 }
    const fetch = politely(pageFetch(), { ...options, sign, robotsVia: 'own', maxConcurrentPerKey: 1, ...limit })
    onTestFinished(() => fetch.close())
    const ending = new AbortController()
    sign.sign = onlyPages(() => {
      if (by === 'signal') ending.abort()
      if (by === 'close') void fetch.close()
      return hung.sign()
    })
    const names = { signal: 'AbortError', requestTimeoutMs: 'TimeoutError', close: 'GateClosedError' }
    const sending = fetch(server.sites.withPort(url), { signal: ending.signal })
    await expect(sending).rejects.toMatchObject({ name: names[by as keyof typeof names] })
    sign.sign = () => undefined
    if (by === 'close') return
    const response = await fetch(server.sites.withPort(url))
    expect([response.status, await response.text()], 'its permit is free').toEqual([404, ''])
  })

  test.each(['signal', 'headersTimeout'])('politeAgent: %s', async (by) => {
    const ending = new AbortController()
    const sign = { ...hung, sign: onlyPages(hung.sign) }
    if (by === 'signal') setTimeout(() => ending.abort(), 20)
    const dispatcher = politeAgent({ ...options, sign, maxConcurrentPerKey: 1 })
    onTestFinished(() => dispatcher.close())
    const limit = by === 'signal' ? { signal: ending.signal } : { headersTimeout: 20 }
    const name = by === 'signal' ? 'AbortError' : 'TimeoutError'
    await expect(request(server.sites.withPort(url), { dispatcher, ...limit })).rejects.toMatchObject({ name })
    sign.sign = () => undefined
    expect(await byRequest(dispatcher)(server.sites.withPort(url)), 'its permit is free').toBe(404)
  })
})

test('a signature that the caller set by hand does not follow a redirect to another site', async () => {
  server.sites.respond('https://a.test:PORT/', { status: 302, headers: { location: 'https://b.test:PORT/' } })
  const fetch = politely(pageFetch(), { ...options, robotsVia: 'own' })
  onTestFinished(() => fetch.close())
  const headers = { signature: 'a=:YQ==:', 'signature-input': 'a=()', 'signature-agent': '"https://x.example"' }
  await fetch(server.sites.withPort('https://a.test:PORT/'), { headers })
  const last = server.sites.requests.at(-1)
  expect(last?.url).toBe('https://b.test:PORT/')
  expect(Object.keys(last?.headers ?? {}).filter((name) => name.startsWith('signature'))).toEqual([])
})
