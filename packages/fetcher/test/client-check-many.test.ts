// `checkMany`, `prefetch` and `gauges` of a client. All of it is our choice.
import { getEventListeners } from 'node:events'
import { checkedPage, disallowsPage } from '@politely/testkit/cases/response-cases'
import { startClock } from '@politely/testkit/clock'
import { sampled } from '@politely/testkit/scope'
import type { Reply } from '@politely/testkit/servers/sites'
import { describe, expect } from 'vitest'
import type { CheckManyOptions, ClientVerdict } from '../src/index.ts'
import { all, test } from './with-sites.ts'

const ROBOTS = 'http://a.test:PORT/robots.txt'
const rules: Reply = { status: 200, body: disallowsPage }
const hosts = Array.from('abcdefghij', (name) => `http://${name}.test:PORT/page`)

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
    const count = sampled(240_000)
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

test('gauges show the current size of a client', async ({ sites, newClient }) => {
  sites.respond(ROBOTS, rules)
  const client = newClient()
  expect(client.gauges).toEqual({ origins: 0, memoryBytes: 0, flightsUnderWay: 0, flightsWaiting: 0, storeOutageMs: 0 })
  await client.prefetch(hosts.map(sites.withPort, sites))
  const { origins, memoryBytes } = client.gauges
  expect(origins).toBe(hosts.length)
  expect(memoryBytes).toBeGreaterThan(hosts.length * 700)
  expect(memoryBytes).toBeGreaterThanOrEqual(
    [...client.export()].reduce((sum, line) => sum + (JSON.parse(line).copy?.bytes.length ?? 0), 0),
  )
})
