// One request through two wrappers of a gate, and other requests that are made while one is being
// sent. With `maxConcurrent: 1`, none of them may wait for itself.
import { Agent as HttpAgent, get as httpGet } from 'node:http'
import { RobotsClient } from '@politely/fetcher'
import * as undici from 'undici'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { LocalPacer, PoliteGate, politeHttpAgent, politely } from '../src/index.ts'
import { politeAgent, politeInterceptor } from '../src/undici/index.ts'
import { type Page, Site, until } from './site.ts'

let site: Site
let robots: RobotsClient
let gate: PoliteGate
let ends: (() => unknown)[]

beforeEach(async () => {
  site = await Site.open({ '*': 'User-agent: *\nDisallow: /private\n' })
  site.pages.set('/moved', (_, response) => response.writeHead(302, { location: '/page' }).end('x'.repeat(100_000)))
  site.pages.set('/busy', (_, response) => response.writeHead(429, { 'retry-after': '0' }).end())
  robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
  gate = new PoliteGate({
    robots,
    minDelayMs: 0,
    maxConcurrent: 1,
    maxConcurrentPerKey: 1,
    maxConcurrentPerDomain: 1,
  })
  ends = []
})
afterEach(async () => {
  await gate.drain()
  expect(gate.queues()).toEqual([])
  const { started, done } = gate.counters
  expect(done).toBe(started)
  for (const end of ends) await end()
  gate.close()
  await robots.close()
  await site.close()
})

type Fetch = typeof globalThis.fetch
type Send = (url: string) => Promise<string>

const polite = (fetch: unknown) => politely(fetch as Fetch, { gate })
const through = (dispatcher: undici.Dispatcher, fetch: unknown = globalThis.fetch): Fetch =>
  ((url: string, init?: object) => (fetch as Fetch)(url, { ...init, dispatcher } as never)) as Fetch

function closing<D extends undici.Dispatcher>(dispatcher: D): D {
  ends.push(() => dispatcher.destroy())
  return dispatcher
}
const agentOf = (options: object = {}) => closing(politeAgent({ gate, ...options }))
const gated = (dispatcher: undici.Dispatcher = closing(new undici.Agent())) =>
  dispatcher.compose(politeInterceptor(gate))

const textBy =
  (fetch: Fetch): Send =>
  async (url) =>
    (await fetch(url)).text()
const requestBy =
  (dispatcher: undici.Dispatcher): Send =>
  async (url) =>
    (await undici.request(url, { dispatcher })).body.text()
const getBy =
  (agent: HttpAgent): Send =>
  (url) =>
    new Promise((resolve, reject) => {
      httpGet(url, { agent }, async (response) => resolve((await response.toArray()).join(''))).on('error', reject)
    })
/** A fetch that is built on node:http, like node-fetch. */
const httpFetch = (agent: HttpAgent) => async (url: string) =>
  new Promise((resolve, reject) => {
    setImmediate(() => {
      httpGet(url, { agent }, async (response) => {
        const { statusCode = 0, headers } = response
        resolve(new Response((await response.toArray()).join(''), { status: statusCode, headers: headers as never }))
      }).on('error', reject)
    })
  })

const httpAgent = (inner = new HttpAgent()) => politeHttpAgent(inner, gate)

const combinations: readonly [name: string, send: () => Send][] = [
  ['politely twice', () => textBy(polite(polite(fetch)))],
  ['politely three times', () => textBy(polite(polite(polite(undici.fetch))))],
  ['politely and politeAgent', () => textBy(polite(through(agentOf())))],
  ['politely and politeAgent, undici.fetch', () => textBy(polite(through(agentOf(), undici.fetch)))],
  ['politely twice and politeAgent', () => textBy(polite(polite(through(agentOf()))))],
  ['politely and an interceptor', () => textBy(polite(through(gated(), undici.fetch)))],
  ['an interceptor twice', () => requestBy(gated(gated()))],
  ['an interceptor three times', () => requestBy(gated(gated(gated())))],
  ['an interceptor and politeAgent', () => requestBy(gated(agentOf()))],
  ['politely and an interceptor twice', () => textBy(polite(through(gated(gated()), undici.fetch)))],
  ['politeHttpAgent twice', () => getBy(httpAgent(httpAgent()))],
  ['politely and politeHttpAgent', () => textBy(polite(httpFetch(httpAgent())))],
  ['politely and politeHttpAgent twice', () => textBy(polite(httpFetch(httpAgent(httpAgent()))))],
]

describe.each(combinations)('%s', (_, open) => {
  test('gets one slot', async () => {
    const send = open()
    for (let n = 1; n <= 3; n++) {
      expect(await send(`${site.origin}/page?${n}#part`)).toBe(`page /page?${n}`)
      await gate.drain()
      expect(gate.counters).toMatchObject({ started: n, done: n })
    }
  })

  test('refuses a disallowed URL, and counts the refusal once', async () => {
    await expect(open()(`${site.origin}/private`)).rejects.toThrow()
    expect(gate.counters).toMatchObject({ started: 0, refusals: { rule: 1 } })
  })

  test('reports the response once', async () => {
    await open()(`${site.origin}/busy`)
    expect(gate.counters.pushbacks).toBe(1)
  })

  test('waits for the longest of several Retry-After headers', async () => {
    site.pages.set('/busy', (_, response) => response.setHeader('retry-after', ['60', '3600']).writeHead(429).end())
    await open()(`${site.origin}/busy`)
    const forecast = await gate.when(`${site.origin}/page`)
    expect(forecast).toMatchObject({ allowed: true, because: 'retry-after', level: 'origin' })
    expect('waitMs' in forecast && forecast.waitMs).toBeGreaterThan(60_000)
  })

  test('keeps the delay between requests of several callers', async () => {
    const send = open()
    const pages = await Promise.all([1, 2, 3].map((n) => send(`${site.origin}/page?${n}`)))
    expect(pages).toEqual(['page /page?1', 'page /page?2', 'page /page?3'])
    expect(gate.counters.started).toBe(3)
  })
})

describe('redirects', () => {
  test.each([
    ['followed by the outer politely', () => textBy(polite(polite(fetch)))],
    ['followed by the inner politeAgent', () => textBy(polite(through(agentOf({ maxRedirections: 3 }))))],
  ] as const)('%s: each hop waits for its slot', async (_, open) => {
    expect(await open()(`${site.origin}/moved`)).toBe('page /page')
    expect(site.lines).toEqual(['GET /moved', 'GET /page'])
    expect(gate.counters).toMatchObject({ started: 2, done: 2 })
  })
})

test('refuses an interceptor around a politeAgent that follows redirects, and says what to write', async () => {
  const wrong = requestBy(gated(agentOf({ maxRedirections: 3 })))
  await expect(wrong(`${site.origin}/moved`)).rejects.toThrow('write .compose(politeInterceptor(gate)')
})

describe('another request while one is being sent', () => {
  test('admits a request for a token that the wrapped fetch makes through the same gate', async () => {
    const plain = polite(fetch)
    const withToken = polite(async (url: string, init: RequestInit) => {
      const token = await (await plain(`${site.origin}/token`)).text()
      return fetch(url, { ...init, headers: { authorization: token } })
    })
    expect(await (await withToken(`${site.origin}/page`)).text()).toBe('page /page')
    expect(site.lines).toEqual(['GET /token', 'GET /page'])
    expect(gate.counters).toMatchObject({ started: 2, done: 2 })
  })

  test('makes a retry by the wrapped fetch wait for its own slot', async () => {
    const plain = polite(fetch)
    const retrying = polite(async (url: string, init: RequestInit) => {
      await (await plain(url, init)).text()
      return plain(url, init)
    })
    expect(await (await retrying(`${site.origin}/page`)).text()).toBe('page /page')
    expect(gate.counters).toMatchObject({ started: 2, done: 2 })
  })

  describe('makes a second request wait for its own slot, if the first one had a connection', () => {
    /** Fails the first request to the page in this way. */
    const failFirst = (path: string, fail: Page) => {
      site.pages.set(path, (request, response) => {
        if (site.seen.length === 1) fail(request, response)
        else response.end('again')
      })
    }
    const misdirected: Page = (_, response) => response.writeHead(421).end('misdirected')
    const endless: Page = (_, response) => void response.writeHead(421).write('misdirected')
    const broken: Page = (_, response) => response.writeHead(500).end('broken')
    const silent: Page = () => undefined
    const closed: Page = (request) => request.socket.destroy()
    const retry = undici.interceptors.retry({ minTimeout: 1, maxTimeout: 1, maxRetries: 1 })
    const retried = () => gated().compose(retry)
    /** Aborts the first request when the site has got it, and repeats it. */
    const impatient = (send: (url: string, signal: AbortSignal) => Promise<unknown>) => async (url: string) => {
      const abort = new AbortController()
      const first = send(url, abort.signal)
      await until(() => site.seen.length === 1)
      abort.abort()
      return first.catch(() => send(url, new AbortController().signal))
    }
    const getWithSignal = (url: string, signal: AbortSignal) =>
      new Promise<Response>((resolve, reject) => {
        httpGet(url, { agent: httpAgent(), signal }, async (response) =>
          resolve(new Response((await response.toArray()).join(''))),
        ).on('error', reject)
      })

    test.each<[name: string, fail: Page, open: () => Fetch]>([
      ['fetch repeats it after a 421', misdirected, () => polite(through(agentOf()))],
      ['undici.fetch repeats it after a 421', misdirected, () => polite(through(agentOf(), undici.fetch))],
      ['fetch repeats it after a 421 whose body does not end', endless, () => polite(through(agentOf()))],
      ['undici.fetch repeats it after such a 421', endless, () => polite(through(agentOf(), undici.fetch))],
      ['politely is applied twice, and fetch repeats it', misdirected, () => polite(polite(through(agentOf())))],
      ['undici’s retry interceptor repeats it after a 500', broken, () => polite(through(retried(), undici.fetch))],
      ['the retry interceptor repeats it after a reset', closed, () => polite(through(retried(), undici.fetch))],
      [
        'an interceptor is applied twice around the retry interceptor',
        broken,
        () => polite(through(gated(retried()), undici.fetch)),
      ],
      [
        'undici.fetch is aborted and repeated',
        silent,
        () => {
          const fetch = through(agentOf(), undici.fetch)
          return polite(impatient((url, signal) => fetch(url, { signal })))
        },
      ],
      ['a request of node:http is aborted and repeated', silent, () => polite(impatient(getWithSignal))],
    ])('%s', async (_, fail, open) => {
      failFirst('/page', fail)
      expect(await (await open()(`${site.origin}/page`)).text()).toBe('again')
      expect(site.lines).toEqual(['GET /page', 'GET /page'])
      expect(gate.counters).toMatchObject({ started: 2 })
    })
  })

  describe("with pauseFrom: 'end', the second request does not wait until the first one has ended", () => {
    const withToken = (plain: Fetch) => async (url: string, init: RequestInit) => {
      await (await plain(`${site.origin}/token`)).text()
      return fetch(url, init)
    }
    const withRetry = (_: Fetch, dispatcher: undici.Dispatcher) =>
      through(dispatcher.compose(undici.interceptors.retry({ minTimeout: 1, maxRetries: 1 })), undici.fetch)

    test.each([
      ['a request for a token', withToken, '/token'],
      ['a retry', withRetry, '/page'],
    ])('%s', async (_, open, first) => {
      site.pages.set('/page', (_, response) => response.writeHead(site.seen.length === 1 ? 500 : 200).end('page'))
      const pacer = new LocalPacer(() => performance.now())
      const end = vi.spyOn(pacer, 'end')
      const gate = new PoliteGate({ robots, pacer, pauseFrom: 'end', minDelayMs: 0 })
      const dispatcher = new undici.Agent().compose(politeInterceptor(gate))
      const polite = politely(open(politely(fetch, { gate }), dispatcher) as Fetch, { gate })
      expect(await (await polite(`${site.origin}/page`)).text()).toBe('page')
      expect(site.lines).toEqual([`GET ${first}`, 'GET /page'])
      await gate.drain()
      expect(new Set(end.mock.calls.map(([, ticket]) => ticket)).size).toBe(2)
      expect(end).toHaveBeenCalledTimes(2)
      await dispatcher.destroy()
    })
  })

  test('admits a request that an interceptor makes', async () => {
    const plain = agentOf()
    const asking: undici.Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
      undici.request(`${site.origin}/token`, { dispatcher: plain }).then(async ({ body }) => {
        await body.text()
        dispatch(options, handler)
      })
      return true
    }
    const dispatcher = closing(new undici.Agent()).compose(asking, politeInterceptor(gate))
    expect(await requestBy(dispatcher)(`${site.origin}/page`)).toBe('page /page')
    expect(site.lines).toEqual(['GET /token', 'GET /page'])
  })

  test('makes a request of the caller’s code after the headers wait for its own slot', async () => {
    const agent = httpAgent()
    const seen: string[] = []
    await new Promise<void>((resolve, reject) => {
      httpGet(`${site.origin}/page?1`, { agent }, (first) => {
        httpGet(`${site.origin}/page?2`, { agent }, (second) => {
          second.resume().on('end', resolve)
          seen.push('second')
        }).on('error', reject)
        first.resume().on('end', () => seen.push('first is read'))
      }).on('error', reject)
    })
    expect(seen).toEqual(['first is read', 'second']) // the second waited for the end of the first
  })

  test('makes a request from an async context that outlives the first one wait for its own slot', async () => {
    let late: Promise<Response> | undefined
    let start = () => {}
    const plain = polite(fetch)
    const starting = polite(async (url: string, init: RequestInit) => {
      const begun = new Promise<void>((resolve) => {
        start = resolve
      })
      late = begun.then(() => plain(url))
      return fetch(url, init)
    })
    await (await starting(`${site.origin}/page`)).text()
    const held = await gate.enter(`${site.origin}/held`)
    start()
    await until(() => gate.queues()[0]?.waiting === 1) // it waits, although it has the URL of the request in whose context it was started
    held.release()
    await (await late)?.text()
    expect(gate.counters).toMatchObject({ started: 3, done: 3 })
  })
})

describe('Permit.run', () => {
  test('admits a wrapped fetch of the same URL without a second slot', async () => {
    const fetch = polite(globalThis.fetch)
    const permit = await gate.enter(`${site.origin}/page`)
    const response = await permit.run(() => fetch(`${site.origin}/page`))
    expect(gate.queues()).toMatchObject([{ underWay: 1 }]) // releasing the nested permit does not release the outer one
    permit.release(response)
    expect(await response.text()).toBe('page /page')
    expect(gate.counters).toMatchObject({ started: 1, done: 1 })
  })

  test.each([
    ['a wrapped fetch', () => polite(globalThis.fetch)],
    ['a wrapped fetch of another URL', () => () => polite(globalThis.fetch)(`${site.origin}/moved?again`)],
  ])('accepts a response after a redirect of %s, which was checked', async (_, open) => {
    const permit = await gate.enter(`${site.origin}/moved`)
    const response = await permit.run(() => open()(permit.url))
    expect(response).toMatchObject({ status: 200, redirected: true, url: `${site.origin}/page` })
    permit.release(response)
    await response.text()
  })

  test('accepts a response after redirects that politeAgent has checked', async () => {
    const permit = await gate.enter(`${site.origin}/moved`)
    const response = await permit.run(() => through(agentOf())(permit.url))
    expect(response).toMatchObject({ status: 200, redirected: true, url: `${site.origin}/page` })
    permit.release(response)
    await response.text()
  })

  test.each([
    ['a plain fetch', (url: string) => fetch(url)],
    [
      'a plain fetch in a nested permit',
      async (url: string) => {
        using inner = await gate.enter(url)
        const response = await fetch(url)
        inner.report(response)
        return response
      },
    ],
  ])('rejects a response after a redirect of %s, and the permit is released', async (_, send) => {
    const permit = await gate.enter(`${site.origin}/moved`)
    const message = `redirected to ${site.origin}/page, which was not checked; write redirect: 'manual'`
    await expect((async () => permit.release(await permit.run(() => send(permit.url))))()).rejects.toThrow(message)
    permit.release()
  })

  test('gives the nested permit the properties of the outer one, and respects an abort', async () => {
    const url = `${site.origin}/page`
    const outer = await gate.enter(url)
    await outer.run(async () => {
      const inner = await gate.enter(url)
      expect(inner).toMatchObject({ url, verdict: outer.verdict, delay: outer.delay, waitedMs: 0, waitedFor: 'none' })
      inner[Symbol.dispose]()
    })
    outer.release()
    const second = await gate.enter(url)
    const entering = second.run(() => gate.enter(url, { signal: AbortSignal.abort(new Error('enough')) }))
    await expect(entering).rejects.toThrow('enough')
    second.release()
  })

  test('makes the request wait for its own slot at another gate', async () => {
    const other = new PoliteGate({ robots, minDelayMs: 0, maxConcurrent: 1 })
    const nested = politely(politely(politely(fetch, { gate }), { gate: other }), { gate })
    expect(await (await nested(`${site.origin}/page`)).text()).toBe('page /page')
    expect([gate.counters.started, other.counters.started]).toEqual([1, 1])
    await other.drain()
    other.close()
  })
})

test('admits globalThis.fetch once, wrapped with the gate of the global politeAgent', async () => {
  const before = undici.getGlobalDispatcher()
  undici.setGlobalDispatcher(agentOf())
  try {
    expect(await textBy(polite(globalThis.fetch))(`${site.origin}/page`)).toBe('page /page')
    expect(gate.counters.started).toBe(1)
  } finally {
    undici.setGlobalDispatcher(before)
  }
})

describe('a RobotsClient whose own fetch goes through its gate', () => {
  const own = (fetch: typeof globalThis.fetch) => {
    const robots: RobotsClient = new RobotsClient({ userAgent: 'ExampleBot/1.0', fetch, timeoutMs: 5_000 })
    ends.push(() => robots.close())
    return robots
  }

  test('politely(fetch) sends the request for robots.txt at once, and checks pages', async () => {
    const robots: RobotsClient = own((url, init) => polite(url, init))
    const polite = politely(globalThis.fetch, { gate: new PoliteGate({ robots, minDelayMs: 0, maxConcurrent: 1 }) })
    expect(await polite(`${site.origin}/page`)).toMatchObject({ status: 200 })
    await expect(polite(`${site.origin}/private`)).rejects.toMatchObject({ code: 'ERR_POLITELY_DISALLOWED' })
    expect(site.robotsFetches).toBe(1)
  })

  test('politeAgent sends the request for robots.txt at once, and checks pages', async () => {
    const robots: RobotsClient = own(((url: string, init: undici.RequestInit) =>
      undici.fetch(url, { ...init, dispatcher: agent })) as unknown as typeof globalThis.fetch)
    const gate = new PoliteGate({ robots, minDelayMs: 0, maxConcurrent: 1 })
    const agent = politeAgent({ gate })
    ends.push(() => agent.destroy())
    const get = (path: string) => undici.fetch(`${site.origin}${path}`, { dispatcher: agent })
    expect(await get('/page')).toMatchObject({ status: 200 })
    await expect(get('/private')).rejects.toMatchObject({ cause: { code: 'ERR_POLITELY_DISALLOWED' } })
    expect(site.robotsFetches).toBe(1)
  })
})
