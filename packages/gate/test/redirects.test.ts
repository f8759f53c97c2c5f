// @module-tag nodes
// Every redirect hop enters the gate, whether it is followed by `politely`, by fetch through
// `politeAgent`, or by undici's interceptor. Methods and bodies follow WHATWG Fetch, "HTTP-redirect
// fetch".
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { RobotsClient } from '@politely/fetcher'
import { expectTables } from '@politely/testkit/doc-page'
import { lookupIn } from '@politely/testkit/servers/lookup'
import * as undici from 'undici'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PoliteGate, politely, RobotsDisallowedError, type StartMessage } from '../src/index.ts'
import { politeAgent } from '../src/undici/index.ts'
import { listenTo } from './listen.ts'
import { cellOf, type Mode, outcomeOf, type RedirectRow, redirectRows, requestsOf } from './redirect-cases.ts'
import { Site } from './site.ts'

const RULES = 'User-agent: ExampleBot\nDisallow: /private\n'
const MODES: readonly Mode[] = ['follow', 'manual', 'error']
const lookup = lookupIn({ 'inside.example.com': '127.0.0.1' })

type Get = (url: string, row: RedirectRow, mode: Mode) => Promise<{ readonly status: number }>

interface Way {
  readonly name: string
  readonly get: (gate: PoliteGate, ends: (() => Promise<void>)[]) => Get
}

const initOf = ({ method }: RedirectRow, mode: Mode) => ({
  redirect: mode,
  ...(method && { method, body: 'x' }),
})

const ways: readonly Way[] = [
  {
    name: 'politely(globalThis.fetch)',
    get: (gate) => (url, row, mode) => politely(globalThis.fetch, { gate })(url, initOf(row, mode)),
  },
  {
    name: 'politely(undici.fetch)',
    get: (gate) => (url, row, mode) => politely(undici.fetch, { gate })(url, initOf(row, mode)),
  },
  {
    name: 'undici.fetch through politeAgent',
    get: (gate, ends) => {
      const dispatcher = politeAgent({ gate })
      ends.push(() => dispatcher.destroy())
      return (url, row, mode) => undici.fetch(url, { ...initOf(row, mode), dispatcher })
    },
  },
  {
    name: 'globalThis.fetch through politeAgent',
    get: (gate, ends) => {
      const dispatcher = politeAgent({ gate })
      ends.push(() => dispatcher.destroy())
      return (url, row, mode) => globalThis.fetch(url, { ...initOf(row, mode), dispatcher } as unknown as RequestInit)
    },
  },
]

let site: Site
let other: Site
let robots: RobotsClient
let gate: PoliteGate
let ends: (() => Promise<void>)[]

beforeEach(async () => {
  site = await Site.open({ '*': RULES })
  other = await Site.open({ '*': RULES })
  robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup })
  gate = new PoliteGate({ robots, minDelayMs: 0, maxConcurrent: 1 })
  ends = []
})
afterEach(async () => {
  for (const end of ends) await end()
  await robots.close()
  await site.close()
  await other.close()
})

function serve(row: RedirectRow): void {
  const location = row.to
    .replace('OTHER', other.origin)
    .replace('INSIDE', site.at('inside.example.com', ''))
    .replace(/^GO$/, '/go')
  site.pages.set('/go', (_, response) => void response.writeHead(row.status, { location }).end('moved'))
}

/**
 * Returns the requests that the servers got, in order: `POST /go x`, with the body;
 * `GET OTHER/end`.
 */
function receivedRequests(): string[] {
  return [...site.seen, ...other.seen]
    .toSorted((one, two) => one.at - two.at)
    .map((seen) => `${seen.method} ${other.seen.includes(seen) ? 'OTHER' : ''}${seen.url} ${seen.body}`.trim())
}

function errorOutcome(error: unknown): string {
  const { cause } = error as Error
  if (error instanceof RobotsDisallowedError || cause instanceof RobotsDisallowedError) return 'refused'
  return error instanceof TypeError ? 'fails' : `something else: ${error}`
}

describe.each(ways)('$name', ({ get }) => {
  describe.each(MODES)('redirect: %s', (mode) => {
    test.each(redirectRows)('to $name', async (row) => {
      serve(row)
      const starts: StartMessage[] = []
      const stop = listenTo('politely:gate:start', gate, (message) => starts.push(message))
      const outcome = await get(gate, ends)(`${site.origin}/go`, row, mode).then(
        ({ status }) => String(status),
        errorOutcome,
      )
      expect([outcome, receivedRequests()]).toEqual([outcomeOf(row, mode), requestsOf(row, mode)])
      // Each request that the servers got had its own permit, and each permit was released.
      expect(starts.length).toBe(requestsOf(row, mode).length)
      await gate.drain()
      expect(gate.counters).toMatchObject({ started: starts.length, done: starts.length })
      stop()
    })
  })

  test('makes each hop wait for its slot', async () => {
    site.robots.set('*', 'User-agent: *\nCrawl-delay: 0.2\n')
    serve({ name: '', status: 302, to: '/end', requests: [], follow: '200' })
    const starts: number[] = []
    ends.push(async () => stop())
    const stop = listenTo('politely:gate:start', gate, ({ at }) => starts.push(at))
    await get(gate, ends)(`${site.origin}/go`, redirectRows[0] as RedirectRow, 'follow')
    await gate.drain()
    const [first = 0, second = 0] = starts
    expect(second - first).toBeGreaterThanOrEqual(200)
    expect(starts).toHaveLength(2)
  })
})

test.each(ways)('$name: fetch repeats a request after a 421', async ({ name, get }) => {
  site.pages.set('/go', (_, response) => response.writeHead(site.seen.length === 1 ? 421 : 200).end('page'))
  const { status } = await get(gate, ends)(`${site.origin}/go`, redirectRows[0] as RedirectRow, 'follow')
  expect([status, site.lines]).toEqual([200, ['GET /go', 'GET /go']])
  // `politely` does not see the repeat. For `politeAgent` it is a request of its own.
  expect(gate.counters.started).toBe(name.includes('politeAgent') ? 2 : 1)
})

test.each(['abort', 'close'] as const)('a 307 to a Request whose body never ends, then %s', async (end) => {
  const server = createServer((request, response) => {
    if (request.url === '/robots.txt') response.writeHead(404).end()
    else response.writeHead(307, { location: '/end' }).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  ends.push(async () => void server.close().closeAllConnections())
  const politeFetch = politely(globalThis.fetch, { userAgent: 'ExampleBot/1.0', minDelayMs: 0 })
  ends.push(() => politeFetch.close())
  let chunks = 0
  const pull = async (body: ReadableStreamDefaultController) => {
    await setTimeout(5)
    body.enqueue(new Uint8Array(1_000))
    chunks++
  }
  const aborting = new AbortController()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/go`
  const init = { method: 'POST', body: new ReadableStream({ pull }), duplex: 'half' as const, signal: aborting.signal }
  const rejected = expect(politeFetch(new Request(url, init))).rejects.toThrow(end === 'abort' ? 'enough' : /closed/)
  await expect.poll(() => chunks).toBeGreaterThan(20)
  if (end === 'abort') aborting.abort(new Error('enough'))
  else await politeFetch.close()
  await rejected
})

describe('undici.request with the redirect interceptor', () => {
  test.each(redirectRows)('to $name', async (row) => {
    serve(row)
    const agent = politeAgent({ gate, maxRedirections: 20 })
    ends.push(() => agent.destroy())
    const { method = 'GET' } = row
    const outcome = await undici
      .request(`${site.origin}/go`, { method, ...(row.method && { body: 'x' }), dispatcher: agent })
      .then(async ({ statusCode, body }) => {
        await body.dump()
        return String(statusCode)
      }, errorOutcome)
    // Undici detects a loop at the first repetition.
    if (row.follow === 'fails') expect(outcome).toMatch(/Redirect loop detected/)
    else expect([outcome, receivedRequests()]).toEqual([row.follow, row.requests])
    await gate.drain()
    const requests = receivedRequests().length
    expect(gate.counters).toMatchObject({ started: requests, done: requests })
  })

  test('follows none by default', async () => {
    serve(redirectRows[0] as RedirectRow)
    const agent = politeAgent({ gate })
    ends.push(() => agent.destroy())
    const { statusCode, body } = await undici.request(`${site.origin}/go`, { dispatcher: agent })
    await body.dump()
    expect([statusCode, receivedRequests()]).toEqual([302, ['GET /go']])
  })
})

test('writes these cases as a table into docs/polite-fetch.md', { tags: 'page' }, async () => {
  const head = ['redirect', ...MODES.map((mode) => `\`${mode}\``)]
  const cellsOf = (row: RedirectRow) => MODES.map((mode) => cellOf(row, mode))
  const sameRows = Map.groupBy(redirectRows, (row) => cellsOf(row).join())
  const rows = Array.from(sameRows.values(), (same) => [
    same.map(({ name }) => name).join('; '),
    ...cellsOf(same[0] as RedirectRow),
  ])
  await expectTables('docs/polite-fetch.md', { head, rows })
})
