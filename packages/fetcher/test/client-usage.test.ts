// `usage`: what may be done with a page, with the tdmrep.json of its origin and the head of the page.
// What core makes of them is tested there; here, what is fetched and read. All of it is our choice,
// except what RFC 9309 and TDMRep say.
import { getEventListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { startClock } from '@politely/testkit/clock'
import { isFullRun } from '@politely/testkit/scope'
import type { Answer, Reply } from '@politely/testkit/servers/sites'
import { describe, expect } from 'vitest'
import {
  MemoryStore,
  type PageResponse,
  type RobotsClientOptions,
  type TdmrepFetchEvent,
  type UsageOptions,
} from '../src/index.ts'
import { test } from './with-sites.ts'

const DAY = 86_400_000
const ROBOTS = 'http://a.test:PORT/robots.txt'
const FILE = 'http://a.test:PORT/.well-known/tdmrep.json'
const PAGE = 'http://a.test:PORT/page'
const RULE = '[{"location":"/","tdm-reservation":1,"tdm-policy":"https://a.test/policy"}]'
const RESERVED: Reply = { status: 200, body: RULE, headers: { 'content-type': 'application/json' } }

const redirectTo = (location: string): Reply => ({ status: 302, headers: { location } })
const robotsOf = (url: string): string => url.replace(/(?<=PORT).*/, '/robots.txt')
const disallow = (path: string): Reply => ({ status: 200, body: `User-agent: *\nDisallow: ${path}\n` })

describe('tdmrep.json', () => {
  test('is fetched once after robots.txt, and its rules are in the answer', async ({ sites, newClient }) => {
    sites.respond(FILE, RESERVED)
    const client = newClient({ now: () => 0 })
    const [first, second] = await Promise.all([client.usage(sites.withPort(PAGE)), client.usage(sites.withPort(PAGE))])
    const third = await client.usage(new URL(sites.withPort(PAGE)))
    expect(third).toMatchObject({
      tdmrep: {
        reading: 'read',
        why: 'the file was fetched (status 200)',
        url: sites.withPort(FILE),
        freshness: 'fresh',
        attempt: { kind: 'success', status: 200, at: 0 },
      },
      page: { reading: 'not-given', why: 'no response was given' },
      verdict: { allowed: true, because: 'unavailable' },
      tdmPolicy: 'https://a.test/policy',
    })
    expect(third.purposes['text-and-data-mining'].answer).toBe('disallowed')
    expect([first, second]).toEqual([third, third])
    expect(structuredClone(third)).toEqual(third)
    expect(sites.requestedUrls).toEqual([ROBOTS, FILE])
  })

  const LOGIN = 'http://a.test:PORT/login'
  const OTHER = 'http://b.test:PORT/files/tdmrep.json'
  const THIRD = 'http://c.test:PORT/tdmrep.json'
  const LOOP = Object.fromEntries([0, 1, 2, 3, 4, 5, 6].map((n) => [`/${n}`, redirectTo(`/${n + 1}`)]))

  interface Row {
    readonly answers: Readonly<Record<string, Answer>>
    readonly options?: Partial<RobotsClientOptions>
    readonly reading: string
    readonly why: string
    /** The requests after robots.txt. Default: for the file. */
    readonly requests?: readonly string[]
    /** The lines of the log about the file. */
    readonly log?: readonly string[]
  }

  const rows: Readonly<Record<string, Row>> = {
    'a 404: the site has none': { answers: {}, reading: 'none', why: 'the site has no such file (status 404)' },
    'a 403: the site has none': { answers: { [FILE]: { status: 403 } }, reading: 'none', why: 'status 403' },
    'a 401 in a dialect where it restricts robots.txt': {
      answers: { [FILE]: { status: 401 } },
      options: { dialect: 'koster-1996' },
      reading: 'none',
      why: 'status 401',
    },
    'a 500: unknown, and nothing is disallowed': {
      answers: { [FILE]: { status: 500 } },
      reading: 'unreachable',
      why: 'the file is unreachable (status 500)',
    },
    'a 429': { answers: { [FILE]: { status: 429 } }, reading: 'unreachable', why: 'status 429' },
    'a connection that breaks': {
      answers: { [FILE]: (socket) => socket.destroy() },
      reading: 'unreachable',
      why: 'the file is unreachable (',
    },
    'a challenge for browsers': {
      answers: { [FILE]: { status: 403, headers: { 'cf-mitigated': 'challenge' } } },
      reading: 'unreachable',
      why: 'the response is a challenge for browsers (status 403)',
    },
    'a challenge for browsers with a 202': {
      answers: { [FILE]: { status: 202, body: RULE, headers: { 'x-amzn-waf-action': 'challenge' } } },
      reading: 'unreachable',
      why: 'the response is a challenge for browsers (status 202)',
    },
    'a page in place of the file, logged once as info': {
      answers: { [FILE]: { status: 200, body: '<!doctype html><title>Home</title>' } },
      reading: 'unreadable',
      why: 'the server sent a web page instead of the file, so it is ignored (status 200)',
      log: [`info ${FILE}: the server sent a web page instead of the file, so it is ignored`],
    },
    'an object in place of the array, logged once as a warning': {
      answers: { [FILE]: { status: 200, body: RULE.slice(1, -1) } },
      reading: 'unreadable',
      why: 'not an array of rules',
      log: [`warn ${FILE}: the file is not an array of rules, so it is ignored`],
    },
    'a file of more than 500 KiB': {
      answers: { [FILE]: { status: 200, body: `${' \n'.repeat(300_000)}${RULE}` } },
      reading: 'unreadable',
      why: 'larger than 500 KiB',
      log: [`warn ${FILE}: the file is larger than 500 KiB, so it is ignored`],
    },
    'a redirect to another path': {
      answers: { [FILE]: redirectTo('/0'), [`${PAGE.replace('/page', '/0')}`]: RESERVED },
      reading: 'read',
      why: 'the file was fetched',
      requests: [FILE, 'http://a.test:PORT/0'],
    },
    'a redirect to another site': {
      answers: { [FILE]: redirectTo(OTHER), [OTHER]: RESERVED },
      reading: 'read',
      why: 'the file was fetched',
      requests: [FILE, robotsOf(OTHER), OTHER],
    },
    'a redirect to another site whose robots.txt disallows it': {
      answers: { [FILE]: redirectTo(OTHER), [robotsOf(OTHER)]: disallow('/'), [OTHER]: RESERVED },
      reading: 'unreachable',
      why: `disallowed-target: robots.txt disallows ${OTHER}`,
      requests: [FILE, robotsOf(OTHER)],
    },
    'a redirect to another site whose robots.txt is unreachable': {
      answers: { [FILE]: redirectTo(OTHER), [robotsOf(OTHER)]: { status: 500 }, [OTHER]: RESERVED },
      reading: 'unreachable',
      why: `disallowed-target: the crawler may not fetch ${OTHER}, to which the file is redirected: robots.txt is unreachable (status 500)`,
      requests: [FILE, robotsOf(OTHER)],
    },
    'two redirects to other sites': {
      answers: { [FILE]: redirectTo(OTHER), [OTHER]: redirectTo(THIRD), [THIRD]: RESERVED },
      reading: 'read',
      why: 'the file was fetched',
      requests: [FILE, robotsOf(OTHER), OTHER, robotsOf(THIRD), THIRD],
    },
    'a sixth redirect is not followed': {
      answers: {
        [FILE]: redirectTo('/0'),
        ...Object.fromEntries(Object.entries(LOOP).map(([path, reply]) => [`http://a.test:PORT${path}`, reply])),
      },
      reading: 'none',
      why: 'redirects',
      requests: [FILE, ...[0, 1, 2, 3, 4].map((n) => `http://a.test:PORT/${n}`)],
    },
    'a redirect to a path that robots.txt disallows is not followed': {
      answers: { [ROBOTS]: disallow('/login'), [FILE]: redirectTo('/login'), [LOGIN]: RESERVED },
      reading: 'unreachable',
      why: 'disallowed-target: robots.txt disallows http://a.test:PORT/login',
    },
    'robots.txt disallows the file': {
      answers: { [ROBOTS]: disallow('/.well-known/'), [FILE]: RESERVED },
      reading: 'disallowed',
      why: 'the crawler may not fetch it: line 2 of robots.txt says "Disallow: /.well-known/" to *',
      requests: [],
    },
    'robots.txt disallows everything but the file': {
      answers: {
        [ROBOTS]: { status: 200, body: 'User-agent: *\nDisallow: /\nAllow: /.well-known/tdmrep.json$\n' },
        [FILE]: RESERVED,
      },
      reading: 'read',
      why: 'the file was fetched',
    },
    'robots.txt is unreachable': {
      answers: { [ROBOTS]: { status: 500 }, [FILE]: RESERVED },
      reading: 'disallowed',
      why: 'the crawler may not fetch it: robots.txt is unreachable (status 500)',
      requests: [],
    },
    "JSON is no foreign body here, with foreignBodies: 'unreachable'": {
      answers: { [FILE]: RESERVED },
      options: { foreignBodies: 'unreachable' },
      reading: 'read',
      why: 'the file was fetched',
    },
  }

  test.for(Object.entries(rows))('%s', async ([, row], { sites, newClient }) => {
    const { answers, options, reading, why, requests = [FILE], log = [] } = row
    for (const [url, answer] of Object.entries(answers)) sites.respond(url, answer)
    const lines: string[] = []
    const tell = (level: string) => (line: string) => {
      if (line.startsWith(sites.withPort(FILE))) lines.push(`${level} ${line}`)
    }
    const client = newClient({ now: () => 0, logger: { info: tell('info'), warn: tell('warn') }, ...options })
    const usage = await client.usage(sites.withPort(PAGE))
    expect(usage.tdmrep.reading).toBe(reading)
    expect(usage.tdmrep.why).toContain(sites.withPort(why))
    expect(usage.purposes['text-and-data-mining'].answer).toBe(reading === 'read' ? 'disallowed' : 'unstated')
    expect(await client.usage(sites.withPort(PAGE))).toEqual(usage)
    expect(sites.requestedUrls).toEqual([ROBOTS, ...requests])
    expect(lines).toEqual(log.map((line) => sites.withPort(line)))
  })

  test('is not all that is unknown if robots.txt disallows the page', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, disallow('/page'))
    const { page, tdmrep } = await newClient().usage(sites.withPort(PAGE))
    expect(tdmrep.reading).toBe('none')
    expect(page.why).toBe('no response was given; a noindex there cannot be seen, so its URL may still be in an index')
  })

  test("is not fetched with tdmrep: 'ignore'", async ({ sites, newClient }) => {
    sites.respond(FILE, RESERVED)
    const { tdmrep } = await newClient().usage(sites.withPort(PAGE), undefined, { tdmrep: 'ignore' })
    expect(tdmrep).toMatchObject({ reading: 'ignored', attempt: undefined })
    expect(sites.requestedUrls).toEqual([ROBOTS])
  })

  test('is fresh for 24 hours, is asked for again after a failure, and the last good copy is used', async ({
    sites,
    newClient,
  }) => {
    sites.respond(ROBOTS, { status: 404, headers: { 'cache-control': 'max-age=604800' } })
    const headers = { etag: '"1"' }
    sites.respond(FILE, { ...RESERVED, headers }, { status: 304 }, { status: 503 }, { status: 404 })
    const clock = startClock()
    const client = newClient({ now: clock.now })
    const readings: string[] = []
    for (const ms of [0, DAY - 1, 1, DAY, 29_000, 1_000]) {
      clock.advance(ms)
      const { tdmrep } = await client.usage(sites.withPort(PAGE))
      readings.push([tdmrep.reading, tdmrep.freshness, tdmrep.attempt?.status].join(' '))
    }
    expect(readings).toEqual([
      'read fresh 200',
      'read fresh 200',
      'read fresh 304',
      'read stale 503',
      'read stale 503',
      'none  404',
    ])
    const conditions = sites.requests.slice(1).map((request) => request.headers['if-none-match'])
    expect(conditions).toEqual([undefined, '"1"', '"1"', '"1"', undefined])
  })

  test('is asked for again after a temporary failure, and no answer waits for that', async ({ sites, newClient }) => {
    const failures = isFullRun ? [503, 500] : [503]
    sites.respond(FILE, ...failures.map((status) => ({ status })), RESERVED)
    const client = newClient({ retries: 2 })
    const attempts: TdmrepFetchEvent[] = []
    const last = new Promise<void>((resolve) => {
      client.events.on('tdmrep-fetch', (event) => void (attempts.push(event) > failures.length && resolve()))
    })
    const { tdmrep } = await client.usage(sites.withPort(PAGE))
    expect(tdmrep.why).toBe('the file is unreachable (status 503)')
    await last
    const retried = failures.map(() => ({ requests: 1, entry: { failures: 1 } })) // one attempt with its retries
    expect(attempts).toMatchObject([...retried, { requests: 1, entry: { failures: 0 } }])
    expect((await client.usage(sites.withPort(PAGE))).tdmrep.reading).toBe('read')
    expect(sites.requestedUrls).toEqual([ROBOTS, ...attempts.map(() => FILE)])
  })

  test('is not asked for again after close, nor where the site asked to wait', { tags: 'full' }, async ({
    sites,
    newClient,
  }) => {
    sites.respond(FILE, { status: 503 }, { status: 503, headers: { 'retry-after': '60' } })
    const clients = [newClient({ retries: 5 }), newClient({ retries: 5 })]
    for (const client of clients) await client.usage(sites.withPort(PAGE))
    await clients[0]?.close()
    await setTimeout(700)
    expect(sites.requestedUrls).toEqual([ROBOTS, FILE, ROBOTS, FILE])
  })

  test('is fetched again with maxAgeMs, and after forget', async ({ sites, newClient }) => {
    sites.respond(FILE, RESERVED)
    const clock = startClock()
    const client = newClient({ now: clock.now })
    await client.usage(sites.withPort(PAGE))
    clock.advance(1_000)
    await client.usage(sites.withPort(PAGE), undefined, { maxAgeMs: 1_000 })
    expect(sites.requests).toHaveLength(2)
    await client.usage(sites.withPort(PAGE), undefined, { maxAgeMs: 999 })
    expect(sites.requests).toHaveLength(4)
    await client.forget(sites.withPort(PAGE))
    await client.usage(sites.withPort(PAGE))
    expect(sites.requests).toHaveLength(6)
  })

  test('is forgotten by a fetch that begins while the store deletes the origin', async ({ sites, newClient }) => {
    sites.respond(FILE, RESERVED)
    const clock = startClock()
    const [deleted, held] = [Promise.withResolvers<void>(), Promise.withResolvers<Reply>()]
    const store = Object.assign(new MemoryStore(), { delete: () => deleted.promise })
    const client = newClient({ now: clock.now, store })
    await client.usage(sites.withPort(PAGE))
    clock.advance(1_000)
    sites.respond(FILE, held.promise)
    const forgotten = client.forget(sites.withPort(PAGE))
    const usage = client.usage(sites.withPort(PAGE), undefined, { maxAgeMs: 999 })
    await sites.requested(4)
    deleted.resolve()
    await forgotten
    held.resolve({ status: 500 })
    expect(await usage).toMatchObject({ tdmrep: { reading: 'unreachable' } })
  })

  test('has counters and an event of its own, and no part in those of robots.txt', async ({ sites, newClient }) => {
    sites.respond(FILE, redirectTo('/0'))
    sites.respond('http://a.test:PORT/0', RESERVED)
    const client = newClient({ now: () => 0 })
    const fetches: unknown[] = []
    const events: TdmrepFetchEvent[] = []
    client.events.on('fetch', (event) => void fetches.push(event))
    client.events.on('tdmrep-fetch', (event) => void events.push(event))
    await client.usage(sites.withPort(PAGE))
    expect(client.counters).toMatchObject({
      questions: 0,
      waits: 1,
      fetches: 1,
      requests: 1,
      unavailable: 1,
      bytes: 0,
      tdmrepFetches: 1,
      tdmrepRequests: 2,
    })
    expect(fetches).toHaveLength(1)
    expect(events).toMatchObject([
      { origin: sites.withPort('http://a.test:PORT'), url: sites.withPort(FILE), requests: 2, tookMs: 0, entry: {} },
    ])
    expect(client.gauges).toMatchObject({ origins: 1, flightsUnderWay: 0 })
    expect(await client.inspect(sites.withPort(PAGE))).toMatchObject({ state: 'unavailable', attempts: [{}] })
  })

  test('stays out of the store and of export', async ({ sites, newClient }) => {
    sites.respond(FILE, RESERVED)
    const store = new MemoryStore()
    const keys: string[] = []
    const watched = {
      get: async (origin: string) => store.get(origin),
      set: async (origin: string, text: string, until: number) => {
        keys.push(origin)
        await store.set(origin, text, until)
      },
      delete: async (origin: string) => store.delete(origin),
    }
    const client = newClient({ store: watched })
    await client.usage(sites.withPort(PAGE))
    expect(keys).toEqual([sites.withPort('http://a.test:PORT')])
    expect([...client.export()]).toHaveLength(1)
    expect(await newClient({ store: watched }).check(sites.withPort(PAGE))).toMatchObject({ allowed: true })
    expect(sites.requestedUrls).toEqual([ROBOTS, FILE])
  })

  test('counts towards maxCacheBytes, and is evicted with the robots.txt of its origin', async ({
    sites,
    newClient,
  }) => {
    sites.respond(FILE, { ...RESERVED, body: RULE + ' '.repeat(100_000) })
    sites.respond(FILE.replace('a.test', 'b.test'), RESERVED)
    const client = newClient({ maxCacheBytes: 100_000 })
    const usageOf = (host: string) => client.usage(sites.withPort(PAGE.replace('a.test', host)))
    for (const host of ['a.test', 'a.test', 'b.test']) await usageOf(host)
    expect(sites.requestedUrls.filter((url) => url === FILE)).toHaveLength(1)
    expect(client.gauges).toMatchObject({ origins: 1 })
    await usageOf('a.test')
    expect(sites.requestedUrls.filter((url) => url === FILE)).toHaveLength(2)
    expect(sites.requestedUrls.filter((url) => url === ROBOTS)).toHaveLength(2)
  })

  test('shares the limits of concurrent fetches with robots.txt', async ({ sites, newClient }) => {
    const held = Promise.withResolvers<Reply>()
    sites.respond(FILE, held.promise)
    const client = newClient({ maxFlights: 1 })
    const usage = client.usage(sites.withPort(PAGE))
    await sites.requested(2)
    const check = client.check(sites.withPort('http://b.test:PORT/'))
    expect(client.gauges).toMatchObject({ flightsUnderWay: 1, flightsWaiting: 1 })
    held.resolve(RESERVED)
    await Promise.all([usage, check])
    expect(sites.requestedUrls).toEqual([ROBOTS, FILE, ROBOTS.replace('a.test', 'b.test')])
  })

  test('redirects of many hosts to hosts of the same site do not block the robots.txt of these hosts', async ({
    sites,
    newClient,
  }) => {
    const hosts = Array.from({ length: 12 }, (_, n) => `h${n}.a.test`)
    for (const host of hosts) {
      sites.respond(FILE.replace('a.test', host), redirectTo(OTHER.replace('b.test', `files.${host}`)))
      sites.respond(OTHER.replace('b.test', `files.${host}`), RESERVED)
    }
    const client = newClient({ maxFlightsPerDomain: 2 })
    const usages = await Promise.all(hosts.map((host) => client.usage(sites.withPort(PAGE.replace('a.test', host)))))
    expect(usages.map(({ tdmrep }) => tdmrep.reading)).toEqual(hosts.map(() => 'read'))
    expect(client.gauges).toMatchObject({ flightsUnderWay: 0, flightsWaiting: 0 })
  })

  test('an abort while the robots.txt of a redirect arrives leaves no flight', async ({ sites, newClient }) => {
    const held = Promise.withResolvers<Reply>()
    sites.respond(FILE, redirectTo(OTHER))
    sites.respond(robotsOf(OTHER), held.promise)
    const client = newClient({ maxFlights: 2 })
    const leaver = new AbortController()
    const usage = client.usage(sites.withPort(PAGE), undefined, { signal: leaver.signal })
    await sites.requested(3)
    expect(client.gauges).toMatchObject({ flightsUnderWay: 1, flightsWaiting: 1 })
    leaver.abort(new Error('enough'))
    await expect(usage).rejects.toThrow('enough')
    held.resolve({ status: 404 })
    await client.check(sites.withPort(OTHER))
    expect(client.gauges).toMatchObject({ flightsUnderWay: 0, flightsWaiting: 0 })
    expect(sites.requestedUrls).toEqual([ROBOTS, FILE, robotsOf(OTHER)])
  })

  test('`close` while the robots.txt of a redirect arrives rejects the call', async ({ sites, newClient }) => {
    sites.respond(FILE, redirectTo(OTHER))
    sites.respond(robotsOf(OTHER), Promise.withResolvers<Reply>().promise)
    const client = newClient()
    const usage = client.usage(sites.withPort(PAGE))
    await sites.requested(3)
    await Promise.all([client.close(), expect(usage).rejects.toMatchObject({ code: 'ERR_POLITELY_CLIENT_CLOSED' })])
  })

  test('a fetch that asks the client for the file that it fetches fails', async ({ newClient }) => {
    const client = newClient({
      fetch: async (url) => {
        if (!String(url).endsWith('tdmrep.json')) return new Response('', { status: 404 })
        await client.usage('http://a.test/')
        return new Response('')
      },
    })
    await expect(client.usage('http://a.test/')).rejects.toMatchObject({ code: 'ERR_POLITELY_REENTRY' })
  })

  test('an abort ends its own call, and no other', async ({ sites, newClient }) => {
    const held = Promise.withResolvers<Reply>()
    sites.respond(FILE, held.promise)
    const client = newClient()
    const leaver = new AbortController()
    const first = client.usage(sites.withPort(PAGE), undefined, { signal: leaver.signal })
    const second = client.usage(sites.withPort(PAGE))
    await sites.requested(2)
    const reason = new Error('no longer needed')
    leaver.abort(reason)
    await expect(first).rejects.toBe(reason)
    held.resolve(RESERVED)
    expect((await second).tdmrep.reading).toBe('read')
    expect(sites.requests).toHaveLength(2)
    expect(getEventListeners(leaver.signal, 'abort')).toEqual([])
  })

  test('close ends its fetch, and all later calls', async ({ sites, newClient }) => {
    sites.respond(FILE, () => undefined)
    const client = newClient()
    const usage = client.usage(sites.withPort(PAGE))
    const closed = expect(usage).rejects.toMatchObject({ code: 'ERR_POLITELY_CLIENT_CLOSED' })
    await sites.requested(2)
    await client.close()
    await closed
    await sites.allConnectionsClosed()
    await expect(client.usage(sites.withPort(PAGE))).rejects.toMatchObject({ code: 'ERR_POLITELY_CLIENT_CLOSED' })
  })
})

const HTML = '<!doctype html><html><head><meta name="robots" content="noindex"></head><body>text</body></html>'
const TYPE = { 'content-type': 'text/html; charset=utf-8' }
const htmlResponse = (body: ConstructorParameters<typeof Response>[0] = HTML, init?: ResponseInit) =>
  new Response(body, { headers: TYPE, ...init })

/** Calls `usage` without a fetch of tdmrep.json. */
const NO_FILE = { tdmrep: 'ignore' } as const

describe('the response', () => {
  test('of a fetch: its headers and its head are read, and the caller reads the whole body', async ({
    sites,
    newClient,
  }) => {
    const body = HTML.replace('text', 'text'.repeat(500_000))
    const url = `http://127.0.0.1:${sites.port}/page`
    const page = { status: 200, headers: { ...TYPE, 'x-robots-tag': 'noarchive' }, body }
    sites.respond(PAGE.replace('a.test', '127.0.0.1'), page)
    const response = await fetch(url)
    const usage = await newClient().usage(url, response, NO_FILE)
    expect(usage.page).toEqual({ reading: 'read', why: undefined })
    expect(usage.purposes.index.answer).toBe('disallowed')
    expect(usage.purposes.archive.answer).toBe('disallowed')
    expect(response.bodyUsed).toBe(false)
    expect(await response.text()).toBe(body)
  })

  test('of node:http: its raw lines are read', async ({ newClient }) => {
    const headers = { 'x-robots-tag': 'otherbot: nofollow, noindex' }
    const client = newClient()
    const usageWith = (rawHeaders?: readonly string[]) =>
      client.usage('http://127.0.0.1:9/page', { statusCode: 200, headers, rawHeaders }, NO_FILE)
    const oneLine = await usageWith(['X-Robots-Tag', 'otherbot: nofollow, noindex'])
    expect(oneLine.purposes.index.answer).toBe('unstated')
    const twoLines = await usageWith(['X-Robots-Tag', 'otherbot: nofollow', 'X-Robots-Tag', 'noindex'])
    expect([twoLines.purposes.index.answer, twoLines.directives.uncertain]).toEqual(['disallowed', []])
    for (const rawHeaders of [undefined, []]) {
      const { purposes, directives } = await usageWith(rawHeaders)
      expect([purposes.index.answer, directives.uncertain.length]).toEqual(['disallowed', 1])
    }
  })

  test('of a fetch that was redirected: the answer is about its URL', async ({ sites, newClient }) => {
    const [from, to] = ['http://localhost:PORT', 'http://127.0.0.1:PORT']
    sites.respond(`${to}/robots.txt`, { status: 200, body: 'User-agent: *\nContent-Signal: ai-train=no\nAllow: /\n' })
    sites.respond(`${from}/page`, redirectTo(sites.withPort(`${to}/page`)))
    sites.respond(`${to}/page`, { status: 200, headers: TYPE, body: HTML })
    const url = sites.withPort(`${from}/page`)
    const response = await fetch(url)
    const usage = await newClient().usage(url, response, NO_FILE)
    expect([usage.url, usage.verdict.url]).toEqual([response.url, response.url])
    expect(usage.purposes['train-ai'].answer).toBe('disallowed')
    expect(sites.requestedUrls).not.toContain(`${from}/robots.txt`)
  })

  test('its body may be read at the same time', async ({ newClient }) => {
    const response = htmlResponse()
    const usage = newClient().usage('http://127.0.0.1:9/page', response, NO_FILE)
    expect(await response.text()).toBe(HTML)
    expect((await usage).page.reading).toBe('read')
  })

  test('no more of its body is buffered than the head and one chunk', async ({ newClient }) => {
    const CHUNK = 4_096
    let pulled = 0
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        const text = pulled === 0 ? HTML : 'x'
        pulled++
        controller.enqueue(Buffer.from(text.padEnd(CHUNK, 'x')))
        if (pulled === 1_000) controller.close()
      },
    })
    const response = htmlResponse(stream)
    const usage = await newClient().usage('http://127.0.0.1:9/page', response, NO_FILE)
    expect(usage.page.reading).toBe('read')
    const pulledForHead = pulled
    expect(pulledForHead).toBeLessThan(5) // one chunk, and what the streams between read ahead
    await new Promise((resolve) => setImmediate(resolve))
    expect(pulled).toBe(pulledForHead)
    expect(await response.text()).toHaveLength(1_000 * CHUNK)
  })

  test('a head without an end is read up to 1 MiB, and the caller reads all of it', async ({ newClient }) => {
    const body = `<head><meta name="robots" content="noindex">${'<!-- x -->'.repeat(300_000)}`
    const response = htmlResponse(body)
    const usage = await newClient().usage('http://127.0.0.1:9/page', response, NO_FILE)
    expect(usage.page).toMatchObject({ reading: 'incomplete', why: expect.stringContaining('longer than 1 MiB') })
    expect(usage.purposes.index.answer).toBe('disallowed')
    expect(await response.text()).toBe(body)
  })

  test.for(['utf-16le', '"UTF-16LE"', 'unknown'])('in the encoding %s', async (charset, { newClient }) => {
    const body = Buffer.from(HTML, charset === 'unknown' ? 'utf-8' : 'utf-16le')
    const response = htmlResponse(body, { headers: { 'content-type': `text/html; charset=${charset}` } })
    const usage = await newClient().usage('http://127.0.0.1:9/page', response, NO_FILE)
    expect(usage.purposes.index.answer).toBe('disallowed')
  })

  test('that breaks off: what was read counts', async ({ newClient }) => {
    let pulls = 0
    const stream = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (pulls++ === 0) return controller.enqueue(Buffer.from('<html><head><meta name="robots" content="noindex">'))
        await setTimeout(50) // a stream that fails discards what was not read
        controller.error(new Error('the connection broke'))
      },
    })
    const response = htmlResponse(stream)
    const usage = await newClient().usage('http://127.0.0.1:9/page', response, NO_FILE)
    expect(usage.page).toEqual({ reading: 'incomplete', why: 'the connection broke' })
    expect(usage.purposes.index.answer).toBe('disallowed')
    await expect(response.text()).rejects.toThrow('the connection broke')
  })

  test('that is not compressed as it says: why its head was not read', async ({ sites, newClient }) => {
    const url = `http://127.0.0.1:${sites.port}/page`
    const headers = { ...TYPE, 'content-encoding': 'gzip', 'x-robots-tag': 'noindex' }
    sites.respond(PAGE.replace('a.test', '127.0.0.1'), { status: 200, headers, body: HTML })
    const usage = await newClient().usage(url, await fetch(url), NO_FILE)
    expect(usage.page).toEqual({ reading: 'incomplete', why: 'incorrect header check' })
    expect(usage.purposes.index.answer).toBe('disallowed')
  })

  const endless = () =>
    htmlResponse(
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(Buffer.from('<html><head><meta name="robots" content="noindex">')),
      }),
    )

  test('that does not go on: what arrived within timeoutMs counts', async ({ newClient }) => {
    const usage = await newClient({ timeoutMs: 100 }).usage('http://127.0.0.1:9/page', endless(), NO_FILE)
    expect(usage.page).toEqual({ reading: 'incomplete', why: 'the rest did not arrive within 100 ms' })
    expect(usage.purposes.index.answer).toBe('disallowed')
  })

  test('that does not go on: an abort and close end the call', async ({ newClient }) => {
    const client = newClient()
    const leaver = new AbortController()
    const [page, other] = [endless(), endless()]
    const first = client.usage('http://127.0.0.1:9/page', page, { ...NO_FILE, signal: leaver.signal })
    const second = client.usage('http://127.0.0.1:9/page', other, NO_FILE)
    const closed = expect(second).rejects.toMatchObject({ code: 'ERR_POLITELY_CLIENT_CLOSED' })
    const reason = new Error('no longer needed')
    leaver.abort(reason)
    await expect(first).rejects.toBe(reason)
    expect(getEventListeners(leaver.signal, 'abort')).toEqual([])
    await client.close()
    await closed
    const reader = page.body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toContain('noindex')
  })

  const json = { 'content-type': 'application/json' }
  test.for<readonly [name: string, page: () => PageResponse | undefined, reading: string, why?: string]>([
    ['undefined', () => undefined, 'not-given', 'no response was given'],
    ['XHTML', () => htmlResponse(HTML, { headers: { 'content-type': 'Application/XHTML+XML' } }), 'read'],
    ['JSON', () => htmlResponse('{}', { headers: json }), 'headers-only', 'the response is not HTML'],
    ['no Content-Type', () => new Response(new Uint8Array(1)), 'headers-only', 'the response is not HTML'],
    [
      'text/htmlx',
      () => htmlResponse(HTML, { headers: { 'content-type': 'text/htmlx' } }),
      'headers-only',
      'the response is not HTML',
    ],
    ['the response to a HEAD', () => htmlResponse(null), 'headers-only', 'the response has no body'],
    ['a 304', () => htmlResponse(null, { status: 304 }), 'headers-only', 'the response has no body'],
    ['a 404', () => htmlResponse(HTML, { status: 404 }), 'not-the-page', 'the response has the status 404'],
    ['a redirect', () => htmlResponse(null, { status: 302 }), 'not-the-page', 'the response has the status 302'],
    ['an error', () => Response.error(), 'not-the-page', 'the response has the status 0'],
    [
      'a challenge',
      () => htmlResponse(HTML, { headers: { ...TYPE, 'cf-mitigated': 'challenge' } }),
      'not-the-page',
      'the response is a challenge for browsers',
    ],
    [
      'a challenge with a 202',
      () => htmlResponse(HTML, { status: 202, headers: { ...TYPE, 'x-amzn-waf-action': 'captcha' } }),
      'not-the-page',
      'the response is a challenge for browsers',
    ],
    ['headers and HTML', () => ({ headers: { 'x-robots-tag': 'noindex' }, html: HTML }), 'read'],
    ['headers and bytes', () => ({ headers: new Headers(), html: Buffer.from(HTML) }), 'read'],
    [
      'headers and a part of a head',
      () => ({ headers: { 'x-robots-tag': 'noindex' }, html: { metas: [], licenses: [], isComplete: false } }),
      'incomplete',
      'the given head is not complete',
    ],
    [
      'headers of a 404',
      () => ({ status: 404, headers: { 'x-robots-tag': 'noindex' } }),
      'not-the-page',
      'the response has the status 404',
    ],
    [
      'a response of Node with a 404',
      () => ({ statusCode: 404, headers: { 'x-robots-tag': 'noindex' } }),
      'not-the-page',
      'the response has the status 404',
    ],
    [
      'headers and HTML of a challenge',
      () => ({ status: 202, headers: { 'X-Amzn-Waf-Action': 'challenge', 'x-robots-tag': 'noindex' }, html: HTML }),
      'not-the-page',
      'the response is a challenge for browsers',
    ],
    ['headers', () => ({ headers: { 'x-robots-tag': 'noindex' } }), 'headers-only', 'no HTML was given'],
    [
      'a JSON body that was read',
      () => {
        const response = htmlResponse('{}', { headers: json })
        void response.text()
        return response
      },
      'headers-only',
      'the response is not HTML',
    ],
  ])('%s', async ([, page, reading, why], { newClient }) => {
    const response = page()
    const usage = await newClient().usage('http://127.0.0.1:9/page', response, NO_FILE)
    expect(usage.page).toEqual({ reading, why })
    const isStated = reading === 'read' || reading === 'incomplete' || why === 'no HTML was given'
    expect(usage.purposes.index.answer).toBe(isStated ? 'disallowed' : 'unstated')
  })

  test.for<readonly [name: string, response: () => unknown, message: string]>([
    [
      'a body that was read',
      () => {
        const response = htmlResponse()
        void response.text()
        return response
      },
      'call usage before you read the body, or pass { headers, html }',
    ],
    [
      'a body with a reader',
      () => {
        const response = htmlResponse()
        response.body?.getReader()
        return response
      },
      'call usage before you read the body',
    ],
    ['a promise', () => Promise.resolve(htmlResponse()), 'expected a Response of fetch, or { headers, html }'],
    ['a text', () => HTML, 'expected a Response of fetch'],
    ['null', () => null, 'null is not a response'],
    ['options in its place', () => ({ tdmrep: 'ignore' }), 'an object is not a response'],
  ])('rejects %s', async ([, response, message], { sites, newClient }) => {
    const usage = newClient().usage(sites.withPort(PAGE), response() as never)
    await expect(usage).rejects.toMatchObject({
      code: 'ERR_POLITELY_OPTION',
      message: expect.stringContaining(message),
    })
    expect(sites.requests).toEqual([])
  })

  test('reads the groups of policy tokens as statements on the use, and by default as groups of crawlers', async ({
    sites,
    newClient,
  }) => {
    sites.respond(ROBOTS, { status: 200, body: 'User-agent: example-training\nDisallow: /\n' })
    const client = newClient()
    const answer = async (options: UsageOptions) =>
      (await client.usage(sites.withPort(PAGE), undefined, { tdmrep: 'ignore', ...options })).purposes['train-ai']
        .answer
    expect(await answer({})).toBe('unstated')
    const token = { token: 'example-training', purpose: 'train-ai', fallback: 'none' } as const
    expect(await answer({ policyTokens: [token] })).toBe('disallowed')
    expect((await client.check(sites.withPort(PAGE))).allowed).toBe(true)
  })

  test('rejects headers of another type', async ({ sites, newClient }) => {
    const usage = newClient().usage(sites.withPort(PAGE), { headers: new Headers().entries() })
    await expect(usage).rejects.toThrow('headers: an iterator is read only once; write [...headers]')
  })

  test.for<readonly [url: unknown, options: unknown, message: string]>([
    ['example.com/page', {}, 'url'],
    [undefined, {}, 'url'],
    ['http://a.test/', { tdmrep: 'no' }, '"no" is not known; expected one of fetch, ignore'],
    ['http://a.test/', { tdmRep: 'ignore' }, 'did you mean `tdmrep`?'],
    ['http://a.test/', { maxAgeMs: -1 }, 'maxAgeMs'],
    [PAGE, { policyTokens: [{ token: 'a', purpose: 'train-ai' }] }, 'fallback: undefined is neither'],
    [PAGE, { policyTokens: 'a' }, 'policyTokens: "a" is not a list'],
  ])('rejects the URL %s with the options %j', async ([url, options, message], { sites, newClient }) => {
    const given = typeof url === 'string' ? sites.withPort(url) : url
    const usage = newClient().usage(given as never, undefined, options as never)
    await expect(usage).rejects.toMatchObject({
      code: 'ERR_POLITELY_OPTION',
      message: expect.stringContaining(message),
    })
    expect(sites.requests).toEqual([])
  })
})
