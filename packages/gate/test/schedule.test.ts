// @module-tag full
// A small crawl over real sockets. No delay between the starts of two requests is too short, and
// origins do not delay each other. How close the crawl comes to the ideal schedule depends on the
// machine; packages/bench measures it.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RobotsClient } from '@politely/fetcher'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { request } from 'undici'
import { afterEach, expect, test } from 'vitest'
import { PoliteGate } from '../src/index.ts'
import { politeAgent } from '../src/undici/index.ts'
import { listenTo } from './listen.ts'

/** Crawl-delays in milliseconds. Two origins have each of them. */
const DELAYS = [0, 5, 10, 15, 20, 25, 30, 40, 50, 70]
const REQUESTS_PER_ORIGIN = 12

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

test.each(['with 429 and Retry-After', 'without pushbacks'])('keeps the delays of twenty origins, %s', async (name) => {
  const isBusy = name !== 'without pushbacks'
  const hosts = DELAYS.flatMap((ms) => [`a${ms}.test`, `b${ms}.test`])
  const requestCounts = new Map<string, number>()
  server = createServer((incoming, response) => {
    const host = (incoming.headers.host ?? '').replace(/:\d+$/, '')
    if (incoming.url === '/robots.txt') {
      return void response.end(`User-agent: *\nCrawl-delay: ${Number(host.slice(1, -5)) / 1_000}\n`)
    }
    const n = (requestCounts.get(host) ?? 0) + 1
    requestCounts.set(host, n)
    // With a Retry-After of a second: one 429 in the middle, and one 503.
    if (isBusy && host.startsWith('b') && n === 6) response.writeHead(429, { 'retry-after': '1' }).end()
    else if (isBusy && n === 9) response.writeHead(503, { 'retry-after': '1' }).end()
    else response.end('page')
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const lookup = lookupIn()
  await using robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup })
  const gate = new PoliteGate({ robots, minDelayMs: 0 })
  /** When the requests of each origin started, and when the headers of its 429 were reported. */
  const visits = new Map<string, { readonly starts: number[]; pushbackAt?: number }>()
  const stopStarts = listenTo('politely:gate:start', gate, ({ at, origin }) => {
    if (!visits.has(origin)) visits.set(origin, { starts: [] })
    visits.get(origin)?.starts.push(at)
  })
  const stopEnds = listenTo('politely:gate:done', gate, ({ at, origin, status }) => {
    const visit = visits.get(origin)
    if (visit !== undefined && status === 429) visit.pushbackAt = at
  })
  await using agent = politeAgent({ gate, lookup })
  /** When the headers of a 429 arrived. Requests that start after that start a second later. */
  const pushedBackAt = new Map<string, number>()

  await Promise.all(
    hosts.flatMap((host) =>
      Array.from({ length: REQUESTS_PER_ORIGIN }, async (_, n) => {
        const { statusCode, body } = await request(`http://${host}:${port}/${n}`, { dispatcher: agent })
        if (statusCode === 429) pushedBackAt.set(host, performance.timeOrigin + performance.now())
        await body.dump()
      }),
    ),
  )
  await gate.drain()
  stopStarts()
  stopEnds()
  expect(gate.counters).toMatchObject({ started: 240, done: 240, abandoned: 0, pushbacks: isBusy ? 20 + 10 : 0 })
  expect(visits.size).toBe(20)
  for (const [origin, { starts, pushbackAt = 0 }] of visits) {
    const delayMs = Number(new URL(origin).hostname.slice(1, -5))
    const gaps = starts.slice(1).map((at, n) => at - (starts[n] ?? 0))
    expect(starts.length).toBe(REQUESTS_PER_ORIGIN)
    expect([origin, Math.min(...gaps) >= delayMs]).toEqual([origin, true])
    if (pushedBackAt.has(new URL(origin).hostname)) {
      const last = starts.findLast((at) => at <= pushbackAt)
      const next = starts.find((at) => at > pushbackAt)
      // Requests that started before the 429 arrived are not delayed. The next request starts a
      // second after it. The message comes a little later.
      expect((next ?? 0) - (last ?? 0)).toBeGreaterThanOrEqual(1_000)
    }
  }
})
