// Streams of checks, and the export and import of entries. All of it is our choice.
import { getEventListeners } from 'node:events'
import { Readable } from 'node:stream'
import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { startClock } from '@politely/testkit/clock'
import { sampled } from '@politely/testkit/scope'
import type { Reply } from '@politely/testkit/servers/sites'
import { describe, expect } from 'vitest'
import type { CheckManyOptions, ClientVerdict, Inspection, Store } from '../src/index.ts'
import { test } from './with-sites.ts'

const DAY = 86_400_000
const ROBOTS = 'http://a.test:PORT/robots.txt'
const rules: Reply = { status: 200, body: disallowsPage }
const hosts = Array.from('abcdefghij', (name) => `http://${name}.test:PORT/page`)

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const value of values) list.push(value)
  return list
}

describe('checkMany', () => {
  test.for(['input', 'ready'] as const)(
    'yields the same verdicts as check, in order %s',
    async (order, { sites, newClient }) => {
      sites.respond(ROBOTS, rules)
      const { now } = startClock()
      const client = newClient({ now })
      const urls = [...hosts, checkedPage, 'mailto:a@b.test', '', ROBOTS].map((url) => sites.withPort(url))
      const verdicts = await all(client.checkMany(urls, { order, concurrency: 3 }))
      const expected = await Promise.all(urls.map((url) => client.check(url)))
      const sorted = (list: ClientVerdict[]) =>
        order === 'input' ? list : list.toSorted((a, b) => (a.url < b.url ? -1 : 1))
      expect(sorted(verdicts)).toEqual(sorted(expected))
      expect(sites.requests).toHaveLength(hosts.length)
    },
  )

  test('ready: a slow site does not delay the others', async ({ sites, newClient }) => {
    const slow = Promise.withResolvers<Reply>()
    sites.respond(ROBOTS, slow.promise)
    const verdicts = newClient().checkMany(hosts.map(sites.withPort, sites), { order: 'ready' })
    const first = []
    for (let i = 1; i < hosts.length; i++) first.push((await verdicts.next()).value as ClientVerdict)
    expect(first.map(({ because }) => because)).toEqual(Array.from({ length: 9 }, () => 'unavailable'))
    slow.resolve(rules)
    expect(await all(verdicts)).toMatchObject([{ url: sites.withPort(checkedPage), because: 'rule' }])
  })

  test('never has more checks under way than its concurrency', async ({ sites, newClient }) => {
    const slow = Promise.withResolvers<Reply>()
    for (const host of hosts) sites.respond(host.replace('page', 'robots.txt'), slow.promise)
    const client = newClient()
    const first = client.checkMany(hosts.map(sites.withPort, sites), { concurrency: 4 })
    const verdicts = all(first)
    await sites.requested(4)
    await new Promise((resolve) => setImmediate(resolve))
    expect(client.gauges).toMatchObject({ flightsUnderWay: 4, flightsWaiting: 0 })
    slow.resolve(rules)
    expect(await verdicts).toHaveLength(hosts.length)
  })

  test('leaving the loop starts no more fetches, and those under way are cached', async ({ sites, newClient }) => {
    const slow = Promise.withResolvers<Reply>()
    sites.respond('http://b.test:PORT/robots.txt', slow.promise)
    const client = newClient()
    for await (const _ of client.checkMany(hosts.map(sites.withPort, sites), { concurrency: 2, order: 'ready' })) break
    slow.resolve(rules)
    expect(await client.isAllowed(sites.withPort('http://b.test:PORT/page'))).toBe(false)
    expect(sites.requests.length).toBeLessThanOrEqual(3)
  })

  test('checks a long list of URLs of cached origins', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const client = newClient()
    const count = sampled(200_000)
    const base = sites.withPort('http://a.test:PORT/')
    function* urls() {
      for (let i = 0; i < count; i++) yield `${base}${i % 2 ? 'page' : 'other'}/${i}`
    }
    let allowed = 0
    for await (const verdict of client.checkMany(urls())) allowed += verdict.allowed ? 1 : 0
    expect(allowed).toBe(count / 2)
    expect(client.counters).toMatchObject({ questions: count, allowed: count / 2, disallowed: count / 2, requests: 1 })
  })

  test('ends when its signal is aborted, and leaves no listener on it', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, () => undefined)
    const client = newClient()
    const aborting = new AbortController()
    const { signal } = aborting
    await all(client.checkMany(hosts.slice(1).map(sites.withPort, sites), { signal }))
    expect(getEventListeners(signal, 'abort')).toEqual([])
    const verdicts = all(client.checkMany([sites.withPort(checkedPage)], { signal }))
    await sites.requested(hosts.length)
    aborting.abort(new Error('enough'))
    await expect(verdicts).rejects.toThrow('enough')
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('rejects when the client closes', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, () => undefined)
    const client = newClient()
    const verdicts = all(client.checkMany([sites.withPort(checkedPage)]))
    const rejected = expect(verdicts).rejects.toMatchObject({ code: 'ERR_POLITELY_CLIENT_CLOSED' })
    await sites.requested(1)
    await client.close()
    await rejected
    await expect(all(client.checkMany([sites.withPort(checkedPage)]))).rejects.toMatchObject({
      code: 'ERR_POLITELY_CLIENT_CLOSED',
    })
    expect(await all(client.checkMany([]))).toEqual([])
  })

  test.for([
    ['concurrency', { concurrency: 0 }],
    ['concurrency', { concurrency: 1.5 }],
    ['concurrency', { concurrency: Number.POSITIVE_INFINITY }],
    ['order', { order: 'fast' }],
    ['signal', { signal: true }],
  ] as const)('rejects an invalid option at once: %s', ([option, options], { newClient }) => {
    const client = newClient()
    expect(() => client.checkMany([], options as unknown as CheckManyOptions)).toThrow(
      expect.objectContaining({ code: 'ERR_POLITELY_OPTION', option }),
    )
  })
})

test('prefetch fetches what is not cached, and counts the outcomes', async ({ sites, newClient }) => {
  sites.respond(ROBOTS, rules)
  sites.respond('http://b.test:PORT/robots.txt', { status: 500 })
  const client = newClient()
  const urls = [...hosts, checkedPage, 'mailto:a@b.test'].map((url) => sites.withPort(url))
  expect(await client.prefetch(urls)).toEqual({
    success: 2,
    unavailable: 8,
    restricted: 0,
    unreachable: 1,
    'invalid-url': 1,
  })
  expect(sites.requests).toHaveLength(hosts.length)
  await all(client.checkMany(urls))
  expect(sites.requests).toHaveLength(hosts.length)
  const koster = newClient({ dialect: 'koster-1996' })
  sites.respond(ROBOTS, { status: 401 })
  expect(await koster.prefetch([sites.withPort(checkedPage)])).toMatchObject({ restricted: 1 })
})

describe('export and import', () => {
  const answers: Readonly<Record<string, Reply>> = {
    a: { ...rules, headers: { etag: '"1"' } },
    b: { status: 404 },
    c: { status: 500 },
    d: { status: 200, body: Buffer.from('User-agent: *\nDisallow: /caf\u00e9 \u{1f916}\nDisallow: /page\u0001\n') },
    e: { status: 200, body: '' },
  }
  /** By origin, without checksums, which depend on the order of the fields. */
  const entriesIn = (lines: Iterable<string>) =>
    Object.fromEntries(Array.from(lines, (line) => [JSON.parse(line).origin, { ...JSON.parse(line), checksum: 0 }]))
  const urls = Object.keys(answers).map((name) => `http://${name}.test:PORT/page`)

  test('give another client the same verdicts without a request, and another crawler its own', async ({
    sites,
    newClient,
  }) => {
    const body = 'User-agent: ExampleBot\nDisallow: /page\n\nUser-agent: Other\nDisallow: /other\n'
    for (const [name, answer] of Object.entries(answers)) sites.respond(`http://${name}.test:PORT/robots.txt`, answer)
    sites.respond(ROBOTS, { status: 200, body })
    const { now } = startClock()
    const [first, second] = [newClient({ now }), newClient({ now })]
    const other = newClient({ now, userAgent: 'Other/1.0' })
    const asked = urls.map((url) => sites.withPort(url))
    const verdicts = await all(first.checkMany(asked))
    const lines = [...first.export()]
    expect(lines).toHaveLength(urls.length)
    for (const line of lines) expect(line).toMatch(/^\{.*\}\n$/)
    expect(await second.import(lines)).toEqual({ taken: 5, older: 0, unreadable: 0 })
    expect(await all(second.checkMany(asked))).toEqual(verdicts)
    expect(entriesIn(second.export())).toEqual(entriesIn(lines))
    await other.import(first.export())
    expect(await other.isAllowed(sites.withPort(checkedPage))).toBe(true)
    expect(await other.isAllowed(sites.withPort('http://a.test:PORT/other'))).toBe(false)
    expect(sites.requests).toHaveLength(urls.length)
  })

  test('work on a stream of bytes in chunks of any size', async ({ sites, newClient }) => {
    for (const [name, answer] of Object.entries(answers)) sites.respond(`http://${name}.test:PORT/robots.txt`, answer)
    const { now } = startClock()
    const client = newClient({ now })
    await client.prefetch(urls.map((url) => sites.withPort(url)))
    const bytes = Buffer.concat(await all(Readable.from(client.export()).map((line: string) => Buffer.from(line))))
    expect(bytes.some((byte) => byte >= 0x80)).toBe(true) // so pieces cut characters in half
    for (const [size, text] of [
      [1, bytes],
      [7, bytes],
      [bytes.length, bytes],
      [3, Buffer.from(bytes.toString().replaceAll('\n', '\r\n'))],
      [5, Buffer.from(`\ufeff${bytes}`.trimEnd())],
    ] as const) {
      const pieces = function* () {
        for (let at = 0; at < text.length; at += size) yield text.subarray(at, at + size)
      }
      const copy = newClient({ now })
      expect(await copy.import(pieces())).toEqual({ taken: 5, older: 0, unreadable: 0 })
      expect(entriesIn(copy.export())).toEqual(entriesIn(client.export()))
    }
  })

  test('count invalid lines, and take the valid lines between them', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const first = newClient()
    await first.check(sites.withPort(checkedPage))
    const [line = ''] = first.export()
    const long = `"${'x'.repeat(10_000_000)}"\n`
    const rows: readonly (readonly [text: string | Uint8Array, unreadable: number])[] = [
      ['not JSON\n', 1],
      ['null\n42\n{}\n[]\n', 4],
      ['\n \n\r\n', 0],
      [line.slice(0, -20), 1],
      [line.replace(/"version":\d+/, '"version":1'), 1],
      [line.replace('/page', '/rage'), 1],
      [long, 1],
      [`${long}${long}`, 2],
      [Uint8Array.of(0xff, 0xfe, 0x0a), 1],
      [Uint8Array.of(0xe2, 0x82), 1],
    ]
    for (const [text, unreadable] of rows) {
      const before = await newClient().import([line, text])
      expect(before).toEqual({ taken: 1, older: 0, unreadable })
      if (typeof text !== 'string' || !text.endsWith('\n')) continue
      const pieces = function* () {
        for (let at = 0; at < text.length; at += 65_536) yield text.slice(at, at + 65_536)
        yield line
      }
      expect(await newClient().import(pieces())).toEqual({ taken: 1, older: 0, unreadable })
    }
  })

  test('keep the newer of two entries about one origin, even if only the store has it', async ({
    sites,
    newClient,
  }) => {
    sites.respond(ROBOTS, rules, { status: 404 })
    const clock = startClock()
    const first = newClient({ now: clock.now })
    await first.check(sites.withPort(checkedPage))
    const older = [...first.export()]
    clock.advance(DAY)
    await first.check(sites.withPort(checkedPage))
    const newer = [...first.export()]

    const texts = new Map<string, string>()
    const store: Store = {
      get: async (origin) => texts.get(origin),
      set: async (origin, text) => void texts.set(origin, text),
      delete: async (origin) => void texts.delete(origin),
    }
    expect(await first.import(older)).toEqual({ taken: 0, older: 1, unreadable: 0 })
    expect(await first.import(newer)).toEqual({ taken: 0, older: 1, unreadable: 0 })
    const second = newClient({ now: clock.now, store })
    expect(await second.import([...older, ...newer, ...older])).toEqual({ taken: 2, older: 1, unreadable: 0 })
    expect(entriesIn(texts.values())).toEqual(entriesIn(newer))
    const third = newClient({ now: clock.now, store })
    expect(await third.import(older)).toEqual({ taken: 0, older: 1, unreadable: 0 })
    expect(entriesIn(texts.values())).toEqual(entriesIn(newer))
    expect(await third.isAllowed(sites.withPort(checkedPage))).toBe(true)
    expect(sites.requests).toHaveLength(2)
  })

  test('end with an error of the source, and import nothing into a closed client', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, rules)
    const client = newClient()
    await client.check(sites.withPort(checkedPage))
    const lines = [...client.export()]
    async function* broken() {
      yield* lines
      throw new Error('the file ended')
    }
    const second = newClient()
    await expect(second.import(broken())).rejects.toThrow('the file ended')
    expect(await second.isAllowed(sites.withPort(checkedPage))).toBe(false)
    await client.close()
    await expect(client.import(lines)).rejects.toMatchObject({ code: 'ERR_POLITELY_CLIENT_CLOSED' })
    expect([...client.export()]).toEqual([])
  })
})

describe('inspect', () => {
  test('shows all that is known about an origin, and sends no requests', async ({ sites, newClient }) => {
    sites.respond(ROBOTS, { ...rules, headers: { etag: '"1"' } }, { status: 503 })
    const clock = startClock()
    const client = newClient({ now: clock.now })
    const url = sites.withPort('http://a.test:PORT/x?y')
    expect(await client.inspect(url)).toMatchObject({
      origin: sites.withPort('http://a.test:PORT'),
      robotsUrl: sites.withPort(ROBOTS),
      state: 'unknown',
      source: 'nowhere',
      flight: 'none',
      attempts: [],
      copy: undefined,
    })
    expect(sites.connections).toEqual([])
    await client.check(url)
    clock.advance(DAY)
    await client.check(url)
    const shown = (await client.inspect(url)) as Inspection
    expect(shown).toMatchObject({
      state: 'lost-with-copy',
      why: 'robots.txt has been unreachable since 2026-01-02T00:00:00Z (status 503): the copy from 2026-01-01T00:00:00Z is obeyed; the next attempt is due at 2026-01-02T00:00:30Z',
      source: 'memory',
      failures: 1,
      unreachableSince: clock.now(),
      nextAttemptAt: clock.now() + 30_000,
      attempts: [
        { kind: 'unreachable', status: 503 },
        { kind: 'success', status: 200 },
      ],
      copy: { bytes: disallowsPage.length, etag: '"1"', confirmedAt: clock.now() - DAY, records: [] },
    })
    expect(JSON.parse(JSON.stringify(shown))).toEqual(shown)
    expect(sites.requests).toHaveLength(2)
    clock.advance(30 * DAY)
    expect(await client.inspect(url)).toMatchObject({ state: 'lost-with-copy' })
    expect(sites.requests).toHaveLength(2)
    expect(client.counters).toMatchObject({ questions: 2 })
  })

  test('shows an internationalised name in Unicode, and a reason for an invalid URL', async ({ newClient }) => {
    const client = newClient()
    expect(await client.inspect('https://b\u00fccher.test/')).toMatchObject({
      origin: 'https://xn--bcher-kva.test',
      displayOrigin: 'https://b\u00fccher.test',
    })
    expect(await client.inspect('mailto:a@b.test')).toEqual({
      allowed: false,
      because: 'invalid-url',
      url: 'mailto:a@b.test',
      problem: 'scheme',
    })
    await client.close()
    await expect(client.inspect('https://a.test/')).rejects.toMatchObject({ code: 'ERR_POLITELY_CLIENT_CLOSED' })
  })
})

test('gauges show the current size of a client', async ({ sites, newClient }) => {
  sites.respond(ROBOTS, rules)
  const client = newClient()
  expect(client.gauges).toEqual({ origins: 0, memoryBytes: 0, flightsUnderWay: 0, flightsWaiting: 0 })
  await client.prefetch(hosts.map(sites.withPort, sites))
  const { origins, memoryBytes } = client.gauges
  expect(origins).toBe(hosts.length)
  expect(memoryBytes).toBeGreaterThan(hosts.length * 700)
  expect(memoryBytes).toBeGreaterThanOrEqual(
    [...client.export()].reduce((sum, line) => sum + (JSON.parse(line).copy?.bytes.length ?? 0), 0),
  )
})
