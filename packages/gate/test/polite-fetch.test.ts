// @module-tag nodes
// What politely(fetch) adds to fetch: every request is checked and waits for its slot. What stays
// the same as in fetch: see same-fetch.test.ts.
import { getEventListeners } from 'node:events'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { RobotsClient, withoutCredentials } from '@politely/fetcher'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PoliteGate, type PolitelyOptions, politely, RobotsDisallowedError } from '../src/index.ts'
import { kits } from './kits.ts'
import { lookup, Site, until } from './site.ts'

const USER_AGENT = 'ExampleBot/1.0 (+https://example.com/bot)'
const RULES = 'User-agent: ExampleBot\nDisallow: /private\n'

describe.each(kits)('politely($name)', ({ fetch, Request, Headers, FormData }) => {
  let site: Site
  let other: Site
  let ends: (() => Promise<void>)[]

  beforeEach(async () => {
    site = await Site.open({ '*': RULES })
    other = await Site.open({ '*': RULES })
    ends = []
    for (const each of [site, other]) {
      each.pages.set('/go', (request, response) => {
        const query = new URL(request.url ?? '', 'http://x').searchParams
        response.writeHead(Number(query.get('s') ?? 302), { location: query.get('to') ?? '' }).end('moved')
      })
    }
  })
  afterEach(async () => {
    for (const end of ends) await end()
    await site.close()
    await other.close()
  })

  function polite(options: Partial<PolitelyOptions> = {}) {
    const politeFetch = politely(fetch, { userAgent: USER_AGENT, minDelayMs: 0, ...options } as PolitelyOptions)
    ends.push(politeFetch.close)
    return politeFetch
  }
  const go = (to: string, status = 302) => `${site.origin}/go?s=${status}&to=${encodeURIComponent(to)}`
  const refusal = { name: 'RobotsDisallowedError', code: 'ERR_POLITELY_DISALLOWED' }

  test.each([
    ['the target of a redirect', 'ftp://user:secret@localhost/', 'ftp://localhost/'],
    ['the last redirect of too many', 'LOOP', 'more than 20 redirects, the last from http://127.0.0.1'],
  ])('keeps the credentials of %s out of its error', async (_, to, message) => {
    const location = to === 'LOOP' ? `${site.origin.replace('//', '//user:secret@')}/loop` : to
    site.pages.set('/loop', (_, response) => response.writeHead(302, { location }).end())
    // A fetch that accepts URLs with credentials, such as node-fetch.
    const withCredentials = ((url: string, init: RequestInit) => fetch(withoutCredentials(url), init)) as typeof fetch
    const politeFetch = politely(withCredentials, { userAgent: USER_AGENT, minDelayMs: 0 })
    ends.push(politeFetch.close)
    const error = await politeFetch(`${site.origin}/loop`).catch((reason: Error) => reason)
    expect(error).toMatchObject({ message: expect.stringContaining(message) })
    expect(String(error)).not.toContain('secret')
  })

  test('follows redirects of a fetch whose bodies are streams of Node, such as node-fetch', async () => {
    const ofNode = async (url: string, init?: object) => {
      const { status, headers, body } = await fetch(url, init)
      return { status, headers, body: body && Readable.fromWeb(body as ReadableStream) }
    }
    const { gate } = polite() // fetches robots.txt with another fetch: a RobotsClient needs streams of the web
    const politeFetch = politely(ofNode, { gate })
    expect(await politeFetch(go('/open'))).toMatchObject({ status: 200, redirected: true })
    await expect(politeFetch(go('/private'))).rejects.toMatchObject(refusal)
    expect(gate.gauges.underWay).toBe(0)
  })

  test('returns responses that `usage` reads, and that hold their slot until the caller has read them', async () => {
    const page = `<meta name="robots" content="noindex"><body>${'text '.repeat(100_000)}`
    const type = { 'content-type': 'text/html' }
    site.pages.set('/page', (_, response) => response.writeHead(200, type).end(page))
    const politeFetch = polite({ maxConcurrentPerKey: 1, onDisallowed: 'response' })
    const { robots } = politeFetch.gate
    const [first, second] = [politeFetch(`${site.origin}/page`), politeFetch(`${site.origin}/page`)]
    const usage = await robots.usage(`${site.origin}/page`, await first)
    expect(usage).toMatchObject({ page: { reading: 'read' }, purposes: { index: { answer: 'disallowed' } } })
    expect(await (await first).text()).toBe(page)
    await robots.usage(`${site.origin}/page`, await second)
    await (await second).body?.cancel()
    const refused = await politeFetch(`${site.origin}/private`)
    const { page: report } = await robots.usage(refused.url, refused)
    expect(report).toEqual({ reading: 'not-the-page', why: 'the response has the status 403' })
  })

  describe('refuses', () => {
    test('a disallowed URL, before it is requested', async () => {
      const error = await polite()(`${site.origin}/private/page`).catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(RobotsDisallowedError)
      expect(error).toMatchObject({ ...refusal, verdict: { because: 'rule', rule: { line: 2 } } })
      expect(site.lines).toEqual([])
    })

    test.each([
      ['a URL object', (path: string) => new URL(path)],
      ['a Request', (path: string) => new Request(path)],
      ['a Request with a body', (path: string) => new Request(path, { method: 'POST', body: 'x' })],
      ['a fragment', (path: string) => `${path}#part`],
      ['surrounding white space', (path: string) => ` \t${path}\n`],
      ['leading control characters', (path: string) => `\u0000\u0001${path}`],
      ['a line break in the scheme', (path: string) => path.replace('http', 'ht\ntp')],
      ['a tab in the path', (path: string) => path.replace('private', 'pri\tvate')],
      ['capitals', (path: string) => path.replace('http', 'HTTP')],
      ['dot segments', (path: string) => path.replace('/private', '/open/../private')],
      ['backslashes', (path: string) => path.replaceAll('/', '\\')],
      ['no slashes', (path: string) => path.replace('://', ':')],
      ['percent-encoded letters', (path: string) => path.replace('private', '%70rivate')],
    ])('a disallowed URL in any spelling: %s', async (_, spell) => {
      const url = `${site.origin}/private`
      await expect(polite()(spell(url))).rejects.toMatchObject(refusal)
      expect(site.lines).toEqual([])
      // The plain fetch requests it.
      await fetch(spell(url))
      expect(site.seen.length).toBe(1)
    })

    test('a URL object that changes after the check', async () => {
      const url = new URL(`${site.origin}/open`)
      const response = polite()(url)
      url.pathname = '/private'
      expect((await response).url).toBe(`${site.origin}/open`)
      expect(site.lines).toEqual(['GET /open'])
    })

    test.each([
      ['on the same origin', () => '/private'],
      ['on another', () => `${other.origin}/private`],
      ['two hops away', () => `${other.origin}/go?to=${encodeURIComponent(`${site.origin}/private`)}`],
    ])('a redirect to a disallowed path %s, before it is requested', async (_, to) => {
      await expect(polite()(go(to()))).rejects.toMatchObject(refusal)
      expect([...site.lines, ...other.lines].filter((line) => line.includes('GET /private'))).toEqual([])
      expect(site.seen.length).toBe(1)
    })

    test('a redirect to an origin whose robots.txt is unreachable', async () => {
      other.robots.set('*', (_, response) => void response.writeHead(500).end())
      const outcome = polite({ retries: 0 })(go(`${other.origin}/page`))
      await expect(outcome).rejects.toMatchObject({ ...refusal, verdict: { because: 'unreachable' } })
      expect(other.lines).toEqual([])
    })

    test('a Request without reading its body', async () => {
      const request = new Request(`${site.origin}/private`, { method: 'POST', body: 'precious' })
      await expect(polite()(request)).rejects.toMatchObject(refusal)
      expect(await request.text()).toBe('precious')
    })
  })

  describe('redirects', () => {
    test('fetch the robots.txt of each origin once', async () => {
      const fetch = polite()
      for (let n = 0; n < 3; n++) expect(await (await fetch(go(`${other.origin}/page`))).text()).toBe('page /page')
      expect([site.robotsFetches, other.robotsFetches]).toEqual([1, 1])
      expect([site.seen.length, other.lines]).toEqual([3, ['GET /page', 'GET /page', 'GET /page']])
    })

    test('wait for a slot of the origin of the hop', async () => {
      other.robots.set('*', 'User-agent: *\nCrawl-delay: 3600\n')
      const fetch = polite()
      await fetch(go(`${other.origin}/page`))
      const controller = new AbortController()
      const waiting = expect(fetch(go(`${other.origin}/page`), { signal: controller.signal })).rejects.toThrow()
      await until(() => site.seen.length === 2)
      await fetch(`${site.origin}/open`) // it does not delay the first origin
      expect(other.lines).toEqual(['GET /page'])
      controller.abort()
      await waiting
      expect(other.lines).toEqual(['GET /page'])
    })

    test('wait for a slot also on the same origin', async () => {
      site.robots.set('*', 'User-agent: *\nCrawl-delay: 3600\n')
      const controller = new AbortController()
      const waiting = expect(polite()(go('/end'), { signal: controller.signal })).rejects.toThrow()
      await until(() => site.seen.length === 1)
      controller.abort(new Error('enough'))
      await waiting
      expect(site.seen.length).toBe(1)
    })

    test('work with maxConcurrent: 1', async () => {
      const fetch = polite({ maxConcurrent: 1, maxConcurrentPerKey: 1 })
      expect((await fetch(go(go('/end')))).url).toBe(`${site.origin}/end`)
    })

    test('are awaited by `drain`, also between two hops', async () => {
      const fetch = polite()
      const done = fetch(go(go(`${other.origin}/page`)))
      await until(() => site.seen.length === 1)
      await fetch.gate.drain()
      expect(other.lines).toEqual(['GET /page'])
      await done
    })

    test('send the crawler’s User-Agent with every hop', async () => {
      await polite()(go(`${other.origin}/page`))
      expect([...site.seen, ...other.seen].map(({ headers }) => headers['user-agent'])).toEqual([
        USER_AGENT,
        USER_AGENT,
      ])
    })

    test('send a form again with the boundary in its header', async () => {
      const form = new FormData()
      form.append('a', 'b')
      await polite()(go('/end', 307), { method: 'POST', body: form })
      for (const { headers, body } of site.seen) {
        const boundary = /boundary=(.*)/.exec(headers['content-type'] ?? '')?.[1]
        expect(body.split('\r\n')[0]).toBe(`--${boundary}`)
      }
      expect(site.seen.length).toBe(2)
    })

    test('send the stream of a Request again, which fetch cannot', async () => {
      const body = new Blob(['once']).stream()
      await polite()(new Request(go('/end', 307), { method: 'POST', body, duplex: 'half' } as RequestInit))
      expect(site.seen.map(({ body }) => body)).toEqual(['once', 'once'])
    })

    test('set `redirected` and `url` of the response', async () => {
      const response = await polite()(`${go(`${other.origin}/page`)}#part`)
      expect([response.redirected, response.url]).toEqual([true, `${other.origin}/page`])
    })

    test('do not wait for a body that never ends, and close its connection', async () => {
      let isClosed = false
      site.pages.set('/endless', (_, response) => {
        response.once('close', () => {
          isClosed = true
        })
        response.writeHead(302, { location: '/end' }).write('and')
      })
      expect((await polite()(`${site.origin}/endless`)).url).toBe(`${site.origin}/end`)
      await until(() => isClosed)
    })

    test('follow a redirect whose body breaks off', async () => {
      site.pages.set('/broken', (request, response) => {
        response.writeHead(302, { location: '/end', 'content-length': '1000' }).flushHeaders()
        setImmediate(() => request.socket.destroy())
      })
      /** The body has failed before it is read. */
      const late = async (url: string, init?: RequestInit) => {
        const response = await fetch(url, init)
        if (response.status === 302)
          await response
            .clone()
            .text()
            .catch(() => undefined)
        return response
      }
      const politeLate = politely(late, { userAgent: USER_AGENT, minDelayMs: 0 })
      ends.push(politeLate.close)
      expect((await politeLate(`${site.origin}/broken`)).url).toBe(`${site.origin}/end`)
    })
  })

  describe('User-Agent', () => {
    const own = { 'User-Agent': 'ExampleBot/2.0 (mine)' }

    test.each([
      ['no headers', (url: string) => polite()(url)],
      ['other headers', (url: string) => polite()(url, { headers: { accept: 'text/html' } })],
      ['a Request', (url: string) => polite()(new Request(url))],
    ])('is the crawler’s: %s', async (_, get) => {
      await get(`${site.origin}/page`)
      expect(site.seen[0]?.headers['user-agent']).toBe(USER_AGENT)
    })

    test.each([
      ['an object', (url: string) => polite()(url, { headers: own })],
      ['pairs', (url: string) => polite()(url, { headers: Object.entries(own) })],
      ['Headers', (url: string) => polite()(url, { headers: new Headers(own) })],
      ['a Request', (url: string) => polite()(new Request(url, { headers: own }))],
    ])('is the one of the request if it has one: %s', async (_, get) => {
      await get(go('/end'))
      expect(site.seen.map(({ headers }) => headers['user-agent'])).toEqual([
        'ExampleBot/2.0 (mine)',
        'ExampleBot/2.0 (mine)',
      ])
    })
  })

  describe('pace', () => {
    test('keeps the delay between requests at the server', async () => {
      site.robots.set('*', 'User-agent: *\nCrawl-delay: 0.06\n')
      const fetch = polite()
      await fetch.gate.robots.check(site.origin)
      const start = performance.now()
      const paths = ['/1', '/2', '/3', '/4', '/5', '/6']
      await Promise.all(paths.map((path) => fetch(site.origin + path)))
      expect(site.lines).toEqual(paths.map((path) => `GET ${path}`))
      // The first request may reach the server late, since it waits for a connection. So the delay
      // counts from its start.
      for (const [n, { at }] of site.seen.entries()) expect(at - start).toBeGreaterThanOrEqual(60 * n - 2)
    })

    test('delays the next request by the Retry-After of a 429', async () => {
      site.pages.set('/busy', (_, response) => void response.writeHead(429, { 'retry-after': '3600' }).end())
      const fetch = polite()
      expect((await fetch(`${site.origin}/busy`)).status).toBe(429)
      const controller = new AbortController()
      const waiting = expect(fetch(`${site.origin}/page`, { signal: controller.signal })).rejects.toThrow()
      expect((await fetch(`${other.origin}/page`)).status).toBe(200) // other origins are not delayed
      controller.abort()
      await waiting
      expect(site.lines).toEqual(['GET /busy'])
    })

    test('releases the permit of a request that fails', async () => {
      site.pages.set('/reset', (request) => request.socket.resetAndDestroy())
      const fetch = polite({ maxConcurrent: 1, maxConcurrentPerKey: 1 })
      for (let n = 0; n < 3; n++) await expect(fetch(`${site.origin}/reset`)).rejects.toThrow(TypeError)
      expect((await fetch(`${site.origin}/page`)).status).toBe(200)
    })

    test('releases the permit if the body is never read', async () => {
      site.pages.set('/long', (_, response) => void response.writeHead(200).write('for ever'))
      const fetch = polite({ maxConcurrent: 1, maxConcurrentPerKey: 1 })
      const responses = []
      for (let n = 0; n < 4; n++) responses.push(await fetch(`${site.origin}/long`))
      for (const response of responses) await response.body?.cancel()
    })
  })

  describe('abort', () => {
    const reason = new Error('enough')
    type Args = [input: string | Request, init?: RequestInit]
    const asInit = (url: string, signal: AbortSignal): Args => [url, { signal }]
    const asRequest = (url: string, signal: AbortSignal): Args => [new Request(url, { signal })]

    describe.each([
      ['by init', asInit],
      ['by a Request', asRequest],
    ])('%s', (_, args) => {
      test('before the call: sends nothing', async () => {
        const aborted = polite()(...args(`${site.origin}/page`, AbortSignal.abort(reason)))
        await expect(aborted).rejects.toBe(reason)
        expect([site.robotsFetches, site.seen.length]).toEqual([0, 0])
      })

      test('during the wait: the next request starts', async () => {
        site.pages.set('/hold', () => {}) // never responds, so its permit is not released
        const fetch = polite({ maxConcurrentPerKey: 1 })
        const [holding, waiting] = [new AbortController(), new AbortController()]
        const first = expect(fetch(...args(`${site.origin}/hold`, holding.signal))).rejects.toBe(reason)
        await until(() => site.seen.length === 1)
        const second = expect(fetch(...args(`${site.origin}/2`, waiting.signal))).rejects.toBe(reason)
        const third = fetch(`${site.origin}/3`)
        waiting.abort(reason)
        await second
        holding.abort(reason)
        await first
        expect((await third).status).toBe(200)
        expect(site.lines).toEqual(['GET /hold', 'GET /3'])
      })

      test('between two hops', async () => {
        const controller = new AbortController()
        other.pages.set('/hold', () => {})
        const outcome = expect(polite()(...args(go(`${other.origin}/hold`), controller.signal))).rejects.toBe(reason)
        await until(() => other.seen.length === 1)
        controller.abort(reason)
        await outcome
      })

      test('during the body, after a redirect', async () => {
        other.pages.set('/long', (_, response) => void response.writeHead(200).write('begun'))
        const controller = new AbortController()
        const response = await polite()(...args(go(`${other.origin}/long`), controller.signal))
        const reader = response.body?.getReader()
        expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('begun')
        const rest = expect(reader?.read()).rejects.toThrow()
        controller.abort(reason)
        await rest
      })
    })
  })

  describe('response bodies', () => {
    test('arrive as they are sent, chunk by chunk', async () => {
      let more = () => {}
      site.pages.set('/drip', (_, response) => {
        response.writeHead(200).write('one')
        more = () => void response.end('two')
      })
      const response = await polite()(`${site.origin}/drip`)
      const reader = response.body?.getReader()
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('one')
      more() // only now does the server continue
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('two')
      expect((await reader?.read())?.done).toBe(true)
    })

    test('arrive byte for byte', async () => {
      const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, n) => (n * 31 + (n >> 8)) & 255))
      site.pages.set('/bytes', (_, response) => response.end(bytes))
      const response = await polite()(go('/bytes'))
      expect(bytes.equals(Buffer.from(await response.arrayBuffer()))).toBe(true)
    })
  })

  describe('close', () => {
    test('rejects waiting requests and later ones, and closes the RobotsClient', async () => {
      site.robots.set('*', 'User-agent: *\nCrawl-delay: 3600\n')
      const fetch = polite()
      await fetch(`${site.origin}/1`)
      const waiting = expect(fetch(`${site.origin}/2`)).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
      await new Promise((turn) => setImmediate(turn))
      await fetch.close()
      await waiting
      await expect(fetch(`${site.origin}/3`)).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
      await expect(fetch.gate.robots.check(site.origin)).rejects.toMatchObject({ code: 'ERR_POLITELY_CLIENT_CLOSED' })
      expect(site.lines).toEqual(['GET /1'])
      await fetch.close() // a second call has no effect
    })

    test('ends a redirect: the next hop is rejected', async () => {
      let redirect = () => {}
      site.pages.set('/late', (_, response) => {
        redirect = () => void response.writeHead(302, { location: '/end' }).end()
      })
      const fetch = polite()
      const outcome = expect(fetch(`${site.origin}/late`)).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
      await until(() => site.seen.length === 1)
      await fetch.close()
      redirect()
      await outcome
      expect(site.lines).toEqual(['GET /late'])
    })

    test('is called at the end of `await using`', async () => {
      const fetch = polite()
      await fetch[Symbol.asyncDispose]()
      await expect(fetch(site.origin)).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
    })

    test('is called when the signal of the RobotsClient is aborted', async () => {
      site.robots.set('*', 'User-agent: *\nCrawl-delay: 3600\n')
      const controller = new AbortController()
      const fetch = polite({ signal: controller.signal })
      await fetch(`${site.origin}/1`)
      const waiting = expect(fetch(`${site.origin}/2`)).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
      await new Promise((turn) => setImmediate(turn))
      controller.abort()
      await waiting
    })

    test('removes its listeners from the signal', async () => {
      const { signal } = new AbortController()
      const fetch = polite({ signal })
      await fetch(`${site.origin}/1`)
      await fetch.close()
      expect(getEventListeners(signal, 'abort')).toEqual([])
    })

    test('does not close a gate of your own, nor its RobotsClient', async () => {
      const robots = new RobotsClient({ userAgent: USER_AGENT })
      const gate = new PoliteGate({ robots, minDelayMs: 0 })
      const fetch = politely(globalThis.fetch, { gate })
      expect(fetch.gate).toBe(gate)
      await fetch(`${site.origin}/1`)
      await fetch.close()
      await fetch[Symbol.asyncDispose]()
      expect((await fetch(`${site.origin}/2`)).status).toBe(200)
      ;(await gate.enter(site.origin)).release()
      await robots.close()
    })

    test('keeps one pace for two fetches with one gate', async () => {
      const robots = new RobotsClient({ userAgent: USER_AGENT })
      const gate = new PoliteGate({ robots, minDelayMs: 3_600_000 })
      const [one, two] = [politely(globalThis.fetch, { gate }), politely(fetch, { gate })]
      await one(`${site.origin}/1`)
      const waiting = expect(two(`${site.origin}/2`)).rejects.toMatchObject({ code: 'ERR_POLITELY_GATE_CLOSED' })
      await new Promise((turn) => setImmediate(turn))
      gate.close()
      await waiting
      expect(site.lines).toEqual(['GET /1'])
      await robots.close()
    })
  })

  test('causes no unhandled rejection', async () => {
    const unseen: unknown[] = []
    const note = (error: unknown) => void unseen.push(error)
    process.on('unhandledRejection', note).on('warning', note)
    site.pages.set('/reset', (request) => request.socket.resetAndDestroy())
    const polited = polite({ minDelayMs: 1 })
    const { signal } = new AbortController()
    const body = () => new Blob(['x'.repeat(100_000)]).stream()
    const post = { method: 'POST', duplex: 'half', signal } as RequestInit
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: 30 }, (_, n) => polited(`${site.origin}/${n}`, { signal })),
      polited(new Request(`${site.origin}/private`, { ...post, body: body() })),
      polited(new Request(`${site.origin}/reset`, { ...post, body: body() })),
      polited(new Request(go('/private', 307), { ...post, body: body() })),
      polited(go('/end', 307), { ...post, body: body() }),
      polited(go('ftp://127.0.0.1/')),
      polited(`${site.origin}/page`, { signal: AbortSignal.abort() }),
    ])
    expect(outcomes.map(({ status }) => status[0]).join('')).toBe(`${'f'.repeat(30)}rrrrrr`)
    await polited.close()
    for (let turns = 0; turns < 10; turns++) await new Promise((turn) => setImmediate(turn))
    process.off('unhandledRejection', note).off('warning', note)
    expect(unseen).toEqual([])
  })
})

test('passes every hop to a fetch of your own, with the remaining headers', async () => {
  const site = await Site.open({ '*': RULES })
  const elsewhere = site.at('elsewhere.test', '')
  const given: [url: string, headers: Record<string, string>, redirect: unknown][] = []
  const own = async (url: string, init?: { headers?: unknown; redirect?: string }) => {
    given.push([url, Object.fromEntries(new Headers(init?.headers as [string, string][])), init?.redirect])
    const location = [`${site.origin}/2`, `${elsewhere}/3#there`, `/4`][given.length - 1]
    return new Response(null, location === undefined ? {} : { status: 302, headers: { location } })
  }
  const fetch = politely(own, { userAgent: USER_AGENT, minDelayMs: 0, lookup, robotsVia: 'own' })
  const { host } = new URL(site.origin)
  await fetch(`${site.origin}/1#here`, { headers: { host, cookie: 'a=b', accept: '*/*' } })
  const [kept, left] = [
    { host, cookie: 'a=b' },
    { accept: '*/*', 'user-agent': USER_AGENT },
  ]
  expect(given).toEqual([
    [`${site.origin}/1#here`, { ...kept, ...left }, 'manual'],
    [`${site.origin}/2#here`, { ...kept, ...left }, 'manual'],
    [`${elsewhere}/3#there`, left, 'manual'],
    [`${elsewhere}/4#there`, left, 'manual'],
  ])
  await fetch.close()
  await site.close()
})
