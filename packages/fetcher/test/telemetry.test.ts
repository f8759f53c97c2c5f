// Events, counters, traces and logs of a client. All of it is our choice.
import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { type Dialect, type DialectName, dialects } from '@politely/core'
import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { startClock } from '@politely/testkit/clock'
import { expectTables } from '@politely/testkit/doc-page'
import { pick, randomPath, randomRobots, seededRandom } from '@politely/testkit/random-robots'
import { firstInShortRun } from '@politely/testkit/scope'
import type { Reply } from '@politely/testkit/servers/sites'
import { describe, expect, onTestFinished } from 'vitest'
import {
  type CheckTrace,
  type Counters,
  counterMeanings,
  type FetchEvent,
  type FetchTrace,
  gaugeMeanings,
  type Logger,
  type RobotsClient,
  type RobotsClientOptions,
  type Store,
  type VerdictEvent,
} from '../src/index.ts'
import { test } from './with-sites.ts'

const DAY = 86_400_000
const ROBOTS = 'http://a.test:PORT/robots.txt'
const ELSEWHERE = 'http://b.test:PORT/robots.txt'
const rules: Reply = { status: 200, body: disallowsPage }

/** Creates a store that is always empty. Its `set` does nothing by default. */
const emptyStore = (set: Store['set'] = async () => undefined): Store => ({
  get: async () => undefined,
  set,
  delete: async () => undefined,
})

/** Creates a `lease` for `emptyStore`. Every second call succeeds. */
const heldEverySecondTime = (): NonNullable<Store['lease']> => {
  let calls = 0
  return async () => (calls++ % 2 === 0 ? undefined : { release: async () => undefined })
}

describe('counters', () => {
  type Row = readonly [
    name: string,
    answers: Readonly<Record<string, Reply>>,
    urls: readonly string[],
    moved: Partial<Counters>,
    options?: Partial<RobotsClientOptions>,
  ]
  const asked = { questions: 1, waits: 1, fetches: 1, requests: 1 }
  const rows: readonly Row[] = [
    [
      'a file',
      { [ROBOTS]: rules },
      [checkedPage],
      { ...asked, disallowed: 1, successes: 1, bytes: disallowsPage.length },
    ],
    ['a 404', { [ROBOTS]: { status: 404 } }, [checkedPage], { ...asked, allowed: 1, unavailable: 1 }],
    ['a failure', { [ROBOTS]: { status: 500 } }, [checkedPage], { ...asked, disallowed: 1, unreachable: 1 }],
    [
      '401 in a dialect in which it restricts',
      { [ROBOTS]: { status: 401 } },
      [checkedPage],
      { ...asked, disallowed: 1, restricted: 1 },
      { dialect: 'koster-1996' },
    ],
    [
      'retries',
      { [ROBOTS]: { status: 500 } },
      [checkedPage],
      { ...asked, requests: 2, disallowed: 1, unreachable: 1 },
      { retries: 1 },
    ],
    [
      'a redirect to another origin, for which the response is also saved',
      { [ROBOTS]: { status: 301, headers: { location: ELSEWHERE } }, [ELSEWHERE]: rules },
      [checkedPage, ELSEWHERE.replace('robots.txt', 'page')],
      {
        ...asked,
        questions: 2,
        requests: 2,
        disallowed: 2,
        successes: 1,
        bytes: disallowsPage.length,
        reusedRedirects: 1,
      },
    ],
    [
      'a redirect to a site that asked for a pause',
      {
        [ROBOTS]: { status: 301, headers: { location: ELSEWHERE } },
        [ELSEWHERE]: { status: 503, headers: { 'retry-after': '60' } },
      },
      [ELSEWHERE.replace('robots.txt', 'page'), checkedPage],
      { questions: 2, waits: 2, fetches: 2, requests: 2, disallowed: 2, unreachable: 2, busyTargets: 1 },
    ],
    ['invalid URLs', {}, ['mailto:a@b.test', ''], { questions: 2, disallowed: 2 }],
    [
      'cached origins',
      { [ROBOTS]: rules },
      [checkedPage, checkedPage, checkedPage.replace('page', 'x')],
      { ...asked, questions: 3, disallowed: 2, allowed: 1, successes: 1, bytes: disallowsPage.length },
    ],
    [
      'an empty store',
      { [ROBOTS]: { status: 404 } },
      [checkedPage],
      { ...asked, allowed: 1, unavailable: 1, storeMisses: 1 },
      { store: emptyStore() },
    ],
    [
      'a store that fails',
      { [ROBOTS]: { status: 404 } },
      [checkedPage],
      { ...asked, allowed: 1, unavailable: 1, storeMisses: 1, storeFailures: 1 },
      { store: emptyStore(() => Promise.reject(new Error('full'))) },
    ],
    [
      'a lease that another client held',
      { [ROBOTS]: { status: 404 } },
      [checkedPage],
      { ...asked, allowed: 1, unavailable: 1, storeMisses: 1, leaseWaits: 1 },
      { store: { ...emptyStore(), lease: heldEverySecondTime() } },
    ],
  ]
  const zero = Object.fromEntries(Object.keys(counterMeanings).map((name) => [name, 0]))

  for (const how of ['check', 'isAllowed'] as const) {
    test.for(rows)(`%s, by ${how}`, async ([, answers, urls, moved, options], { sites, newClient }) => {
      for (const [url, answer] of Object.entries(answers)) sites.respond(url, answer)
      const client = newClient(options)
      expect(client.counters).toEqual(zero)
      for (const url of urls) await client[how](sites.withPort(url))
      expect(client.counters).toEqual({ ...zero, ...moved })
    })
  }

  test('store hits, a 304, and a refresh ahead', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, { ...rules, headers: { etag: '"1"' } }, { status: 304 })
    const texts = new Map<string, string>()
    const store: Store = {
      get: async (origin) => texts.get(origin),
      set: async (origin, text) => void texts.set(origin, text),
      delete: async () => undefined,
    }
    const clock = startClock()
    await newClient({ store, now: clock.now }).check(sites.withPort(checkedPage))
    const client = newClient({ store, now: clock.now, refreshAheadMs: DAY })
    clock.advance(DAY - 1)
    await client.check(sites.withPort(checkedPage))
    const fetched = once(client.events, 'fetch')
    await client.check(sites.withPort(checkedPage))
    await fetched
    expect(client.counters).toEqual({
      ...zero,
      questions: 2,
      disallowed: 2,
      waits: 1,
      storeHits: 2,
      refreshesAhead: 1,
      fetches: 1,
      requests: 1,
      successes: 1,
    })
  })

  test('redirects that wait', async ({ sites, newClient }) => {
    const held = Promise.withResolvers<Reply>()
    sites.respond(ROBOTS, { status: 301, headers: { location: ELSEWHERE } })
    sites.respond(ELSEWHERE, held.promise)
    const client = newClient({ maxFlightsPerDomain: 1 })
    const asked = [ELSEWHERE, ROBOTS].map((url) => client.check(sites.withPort(url.replace('robots.txt', 'page'))))
    await expect.poll(() => client.counters).toMatchObject({ redirectWaits: 1 })
    held.resolve(rules)
    await Promise.all(asked)
  })

  test('each counter is covered by one of these tests', () => {
    const moved = new Set(rows.flatMap(([, , , counters]) => Object.keys(counters)))
    const elsewhere = ['storeHits', 'refreshesAhead', 'redirectWaits', 'tdmrepFetches', 'tdmrepRequests']
    expect([...moved, ...elsewhere].sort()).toEqual(Object.keys(counterMeanings).sort())
  })

  test('a rejected check does not count as answered', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, () => undefined)
    const client = newClient()
    const leaver = new AbortController()
    const asked = client.check(sites.withPort(checkedPage), { signal: leaver.signal })
    await sites.requested(1)
    leaver.abort()
    await expect(asked).rejects.toThrow()
    expect(client.counters).toEqual({ ...zero, waits: 1 })
  })

  test('docs/observing.md lists all counters', { tags: 'page' }, async () => {
    const rows = Object.entries(counterMeanings).map(([name, meaning]) => [`\`${name}\``, meaning])
    await expectTables('docs/observing.md', { head: ['counter', 'what it counts'], rows })
  })
})

describe('events', () => {
  test('verdict carries the verdict of check, and fetch the result of the attempt', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, { status: 301, headers: { location: ELSEWHERE } })
    sites.respond(ELSEWHERE, rules)
    const clock = startClock()
    const client = newClient({ now: clock.now })
    const fetches: FetchEvent[] = []
    const verdicts: VerdictEvent[] = []
    client.events.on('fetch', (event) => void fetches.push(event))
    client.events.on('verdict', (event) => void verdicts.push(event))
    const verdict = await client.check(sites.withPort(checkedPage))
    expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(false)
    expect(verdicts).toEqual([{ verdict }, { verdict }])
    expect(fetches).toEqual([
      {
        origin: sites.withPort('http://a.test:PORT'),
        from: 'unknown',
        to: 'rules',
        entry: expect.objectContaining({
          latest: expect.objectContaining({ kind: 'success', hops: [expect.anything()] }),
        }),
        headers: expect.objectContaining({ 'content-length': expect.any(String) }),
        requests: 2,
        tookMs: 0,
      },
    ])
    sites.respond(ROBOTS, { status: 500 })
    clock.advance(DAY)
    await client.check(sites.withPort(checkedPage))
    expect(fetches[1]).toMatchObject({ from: 'rules', to: 'lost-with-copy', requests: 1 })
  })

  /** Returns the uncaught errors during `work`. */
  async function uncaughtDuring(count: number, work: () => Promise<unknown>): Promise<unknown[]> {
    const before = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    const caught: unknown[] = []
    const all = Promise.withResolvers<void>()
    process.on('uncaughtException', (error) => {
      if (caught.push(error) === count) all.resolve()
    })
    try {
      await work()
      await all.promise
    } finally {
      process.removeAllListeners('uncaughtException')
      for (const listener of before) process.on('uncaughtException', listener)
    }
    return caught
  }

  test('an error of a listener or logger is uncaught, and the check still resolves', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const broken = (what: string) => () => {
      throw new Error(what)
    }
    const client = newClient({
      store: emptyStore(() => Promise.reject(new Error('full'))),
      logger: { debug: broken('debug'), info: broken('info'), warn: broken('warn') },
    })
    for (const name of ['verdict', 'fetch', 'store-failed'] as const) client.events.on(name, broken(name))
    const caught = await uncaughtDuring(6, async () => {
      expect(await client.isAllowed(sites.withPort(checkedPage))).toBe(false)
    })
    expect(caught.map((error) => (error as Error).message).sort()).toEqual(
      ['verdict', 'fetch', 'store-failed', 'debug', 'info', 'info', 'warn'].sort(),
    )
  })
})

describe('tracing channels', () => {
  function listen(name: string): unknown[] {
    const messages: unknown[] = []
    for (const event of ['start', 'end', 'asyncStart', 'asyncEnd', 'error']) {
      const hear: ChannelListener = (message) => {
        const { client: _, counters: __, ...fields } = message as CheckTrace | FetchTrace
        messages.push([event, fields])
      }
      subscribe(`tracing:${name}:${event}`, hear)
      onTestFinished(() => void unsubscribe(`tracing:${name}:${event}`, hear))
    }
    return messages
  }

  test('politely:check and politely:fetch: start, end and result', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const checks = listen('politely:check')
    const fetches = listen('politely:fetch')
    const client = newClient()
    const events: FetchEvent[] = []
    client.events.on('fetch', (event) => void events.push(event))
    const url = sites.withPort(checkedPage)
    const verdict = await client.check(url)
    const known = await client.check(url)
    await client.isAllowed(url)
    expect(checks.slice(0, 4)).toEqual([
      ['start', { url }],
      ['end', { url }],
      ['asyncStart', { url, result: verdict }],
      ['asyncEnd', { url, result: verdict }],
    ])
    expect(checks).toHaveLength(12)
    expect(checks[7]).toEqual(['asyncEnd', { url, result: known }])
    const trace = { origin: sites.withPort('http://a.test:PORT'), robotsUrl: sites.withPort(ROBOTS) }
    expect(fetches).toEqual([
      ['start', trace],
      ['end', trace],
      ['asyncStart', { ...trace, result: events[0] }],
      ['asyncEnd', { ...trace, result: events[0] }],
    ])
  })

  test('name the client and its counters, and run the work in functions of subscribers', async ({
    sites,
    newClient,
  }) => {
    sites.respond(ROBOTS, rules)
    const heard: unknown[] = []
    const wrap = (name: string) => (message: CheckTrace | FetchTrace) => {
      heard.push([message.client === client, message.counters.snapshot().questions])
      const inner = message.run ?? ((work) => work())
      message.run = (work) => {
        heard.push(name)
        return inner(work)
      }
    }
    for (const [channel, name] of [
      ['tracing:politely:check:start', 'first'],
      ['tracing:politely:check:start', 'second'],
      ['tracing:politely:fetch:start', 'fetch'],
    ] as const) {
      const hear = wrap(name) as ChannelListener
      subscribe(channel, hear)
      onTestFinished(() => void unsubscribe(channel, hear))
    }
    const client = newClient()
    expect((await client.check(sites.withPort(checkedPage))).because).toBe('rule')
    const known = [true, 0]
    expect(heard).toEqual([known, known, 'second', 'first', known, 'fetch'])
    expect(Object.keys(gaugeMeanings).sort()).toEqual(Object.keys(client.gauges).sort())
  })

  test('a rejected check has an error', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, () => undefined)
    const checks = listen('politely:check')
    const fetches = listen('politely:fetch')
    const client = newClient()
    const asked = expect(client.check(sites.withPort(checkedPage))).rejects.toThrow('closed')
    await sites.requested(1)
    await client.close()
    await asked
    for (const messages of [checks, fetches]) {
      expect(messages.map((message) => (message as unknown[])[0])).toEqual([
        'start',
        'end',
        'error',
        'asyncStart',
        'asyncEnd',
      ])
      expect(messages.at(-1)).toMatchObject(['asyncEnd', { error: { code: 'ERR_POLITELY_CLIENT_CLOSED' } }])
    }
  })
})

describe('checkNow', () => {
  test('returns the verdict of check, counts and publishes it the same way, and sends no request', async ({
    sites,
    newClient,
  }) => {
    sites.respond(ROBOTS, rules)
    const clock = startClock()
    const lines: string[] = []
    const client = newClient({ now: clock.now, logger: { debug: (line) => void lines.push(line) } })
    const url = sites.withPort(checkedPage)
    expect(client.checkNow(url)).toBeUndefined() // not cached yet
    expect(sites.requestedUrls).toEqual([])
    const verdict = await client.check(url)
    const events: VerdictEvent[] = []
    client.events.on('verdict', (event) => void events.push(event))
    const checks: unknown[] = []
    const hear: ChannelListener = (message) => void checks.push(message)
    subscribe('tracing:politely:check:asyncEnd', hear)
    onTestFinished(() => void unsubscribe('tracing:politely:check:asyncEnd', hear))
    expect(client.checkNow(new URL(url))).toEqual(verdict)
    expect(client.checkNow('no URL')).toEqual(await client.check('no URL'))
    await Promise.resolve()
    expect(client.counters).toMatchObject({ questions: 4, disallowed: 4, waits: 1 })
    expect(events.map((event) => event.verdict.url)).toEqual([url, 'no URL', 'no URL'])
    expect(checks).toHaveLength(3)
    expect(lines.filter((line) => line.startsWith(`${url}: `))).toHaveLength(2)
    clock.advance(30 * DAY)
    expect(client.checkNow(url)).toBeUndefined() // stale
    expect(sites.requestedUrls).toHaveLength(1)
    await client.close()
    expect(() => client.checkNow(url)).toThrow('closed')
  })
})

describe('logger', () => {
  test('gets one warning for an origin whose robots.txt is a login page', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, { status: 302, headers: { location: '/login' } })
    sites.respond('http://a.test:PORT/login', { status: 200, body: '<!DOCTYPE html><title>Log in</title>' })
    const lines: string[] = []
    const clock = startClock()
    const client = newClient({ now: clock.now, logger: { warn: (line) => lines.push(line) } })
    for (let day = 0; day < 3; day++) {
      await client.check(sites.withPort(checkedPage))
      clock.advance(DAY)
    }
    expect(lines).toEqual([
      sites.withPort(
        "http://a.test:PORT/robots.txt: the response is not a robots.txt: it is an HTML page (redirected to http://a.test:PORT/login), so the rules in it, if any, are obeyed; write foreignBodies: 'unreachable' if nothing should be allowed then",
      ),
    ])
  })

  const recorder = () => {
    const lines: (readonly [level: string, ...args: unknown[]])[] = []
    const say =
      (level: string) =>
      (...args: unknown[]) =>
        void lines.push([level, ...args])
    return { lines, logger: { debug: say('debug'), info: say('info'), warn: say('warn') } satisfies Logger }
  }

  test('says how long robots.txt asks to wait, like `inspect`', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, { status: 429, headers: { 'retry-after': '30' } })
    const { lines, logger } = recorder()
    const client = newClient({ logger: { warn: logger.warn }, now: startClock().now })
    const page = sites.withPort(checkedPage)
    await client.check(page)
    const wait = 'the server asked to wait 30 s, until 2026-01-01T00:00:30Z'
    const line = `${ROBOTS}: unreachable (status 429); unknown -> lost; ${wait}; next attempt in 60 s`
    expect(lines).toEqual([['warn', sites.withPort(line)]])
    expect(await client.inspect(page)).toMatchObject({
      why: expect.stringContaining(`: everything is disallowed; ${wait}; the next attempt is due at`),
      attempts: [{ status: 429, retryAfterMs: 30_000 }],
    })
  })

  test('gets one line for each attempt, verdict and outage of the store, and no further arguments', async ({
    sites,
    newClient,
  }) => {
    sites.respond(ROBOTS, rules, { status: 503 })
    const { lines, logger } = recorder()
    const clock = startClock()
    const client = newClient({ logger, now: clock.now, store: emptyStore(() => Promise.reject(new Error('full'))) })
    await client.isAllowed(sites.withPort(checkedPage))
    clock.advance(DAY)
    await client.check(sites.withPort(checkedPage))
    const effect = 'until it works again, robots.txt is fetched without it'
    const full = ['warn', `the store failed to set http://a.test:PORT: Error: full; ${effect}`]
    expect(lines).toEqual(
      [
        ['info', 'robots.txt is read for ExampleBot (the name comes from the option userAgent)'],
        full,
        ['info', `${ROBOTS}: success (status 200); unknown -> rules`],
        ['debug', `${checkedPage}: disallowed: line 2 of robots.txt says "Disallow: /page" to *`],
        ['warn', `${ROBOTS}: unreachable (status 503); rules -> lost-with-copy; next attempt in 30 s`],
        [
          'debug',
          `${checkedPage}: disallowed: line 2 of robots.txt says "Disallow: /page" to *; according to the last good copy, because robots.txt is unreachable (status 503)`,
        ],
      ].map(([level = '', line = '']) => [level, sites.withPort(line)]),
    )
  })

  test('does not get the credentials of a URL', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const { lines, logger } = recorder()
    const client = newClient({ logger })
    await client.check(sites.withPort('http://me:secret@a.test:PORT/page'))
    for (const url of [
      'https://me:secret@',
      '//me:secret@a.test/',
      '\u00a0//me:secret@a.test/',
      'wss://me:secret@a.test/',
    ])
      await client.check(url)
    expect(lines).toHaveLength(7)
    expect(JSON.stringify(lines)).not.toContain('secret')
  })

  test('escapes control characters from sites, callers and stores', async ({ sites, newClient }) => {
    const nasty = '\u001b[2J\u009b\u202e\u2028\r\n\u0007\u0000'
    const body = Buffer.from(`User-agent: *\u001b[31m\nDisallow: /page\u001b[2J\u202e\u0007\n`)
    sites.respond(ROBOTS, { status: 200, body })
    const { lines, logger } = recorder()
    const client = newClient({ logger, store: emptyStore(() => Promise.reject(new Error(nasty))) })
    await client.check(sites.withPort(`http://a.test:PORT/page%1B[2J\u202e\u0007${nasty}`))
    await client.check(nasty)
    const strange = newClient({ logger, store: emptyStore(() => Promise.reject(Object.create(null))) })
    await strange.check(sites.withPort(checkedPage))
    expect(lines.length).toBeGreaterThan(5)
    for (const [, line] of lines) expect(line).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+$/u)
  })

  test('may have some of the methods only, and may be console', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, { status: 500 })
    const lines: string[] = []
    await newClient({ logger: { warn: (line) => void lines.push(line) } }).check(sites.withPort(checkedPage))
    await newClient({ logger: {} }).check(sites.withPort(checkedPage))
    expect(lines).toEqual([
      sites.withPort(`${ROBOTS}: unreachable (status 500); unknown -> lost; next attempt in 60 s`),
    ])
    const options = { userAgent: 'ExampleBot/1.0', logger: console } satisfies RobotsClientOptions
    expect(options.logger).toBe(console)
  })
})

describe('isAllowed has a fast path with the same results as check', () => {
  const names = Object.keys(dialects) as DialectName[]
  const own: Dialect = { ...dialects.google, name: 'own' }

  test.for(firstInShortRun([own, ...names]))('in dialect %s', async (dialect, { sites, newClient }) => {
    const roll = seededRandom(20_260_101)
    const client = newClient({ dialect })
    const counts = { true: 0, false: 0 }
    for (let i = 0; i < 60; i++) {
      const file = randomRobots(roll)
      const host = `http://h${i}.test:PORT`
      sites.respond(`${host}/robots.txt`, { status: 200, body: Buffer.from(file, 'latin1') })
      const paths = Array.from({ length: 20 }, () => randomPath(roll, file))
      const odd = [
        '/robots.txt',
        '/robots.txt?x',
        '/a/../page',
        '/%2e%2e/x',
        '/a b',
        '/\u00fc',
        '//x',
        '/?',
        '/#f',
        '\\x',
        '',
      ]
      const urls = [...paths, ...odd].map((path) =>
        sites.withPort(`${pick(roll, [host, host, host.toUpperCase()])}${path}`),
      )
      await client.prefetch(urls.slice(0, 1))
      for (const url of urls) {
        const { allowed } = await client.check(url)
        counts[`${allowed}`]++
        expect(await client.isAllowed(url), `${url} of ${JSON.stringify(file)}`).toBe(allowed)
        expect(await client.isAllowed({ href: url })).toBe(allowed)
      }
    }
    expect(Math.min(counts.true, counts.false)).toBeGreaterThan(60)
  })

  test('also while everything is allowed or disallowed', async ({ sites, newClient }) => {
    const answers: readonly Reply[] = [{ status: 404 }, { status: 500 }, { status: 401 }]
    for (const [i, answer] of answers.entries()) sites.respond(`http://h${i}.test:PORT/robots.txt`, answer)
    const same = async (client: RobotsClient) => {
      for (const i of answers.keys()) {
        for (const path of ['/page', '/robots.txt']) {
          const url = sites.withPort(`http://h${i}.test:PORT${path}`)
          const { allowed } = await client.check(url)
          expect(await client.isAllowed(url)).toBe(allowed)
        }
      }
    }
    for (const dialect of names) await same(newClient({ dialect }))
  })
})
