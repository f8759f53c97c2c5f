// A crawl of generated sites on loopback, which change their robots.txt on the way, with a sink of
// evidence. The clock of the clients is faked, so that copies expire and retries are due.
//
//   node packages/evidence/test/many-sites.ts DIR [SITES] [DECISIONS]
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { type DialectName, RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { randomPath, randomRobots, seededRandom } from '@politely/testkit/random-robots'
import { evidenceFiles } from '../src/index.ts'

interface Site {
  readonly robots: string
  readonly answer: (response: ServerResponse) => void
}

const START = Date.UTC(2026, 10, 28, 16)
const HOUR = 3_600_000

const CLIENTS: readonly { userAgent: string; productToken?: string; dialect?: DialectName }[] = [
  { userAgent: 'ExampleBot/1.0 (+https://example.com/bot)' },
  { userAgent: 'OtherBot/2.1', dialect: 'google' },
  { userAgent: 'a1/1.0', dialect: 'koster-1996' },
]

export interface ManySites {
  readonly dir: string
  readonly sites: number
  /** At least so many decisions are made. */
  readonly decisions: number
}

/** Crawls until there are enough decisions. Returns what it has counted itself. */
export async function crawlManySites({ dir, sites, decisions }: ManySites): Promise<{
  readonly decisions: number
  readonly requests: number
  readonly robotsFetches: number
}> {
  const random = seededRandom(74)
  const below = (limit: number) => Math.floor(random() * limit)
  const web = Array.from({ length: sites }, () => randomSite(random))
  const counts = { decisions: 0, requests: 0, robotsFetches: 0 }
  const server = createServer((request, response) => {
    counts.robotsFetches++
    const [, number = '0'] = /^site(\d+)\./.exec(request.headers.host ?? '') ?? []
    web[Number(number)]?.answer(response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  let now = START
  const evidence = evidenceFiles({ dir, now: () => now, purpose: 'test' })
  const common = { network: 'any', lookup: toLoopback, now: () => now, retries: 0, timeoutMs: 5_000 } as const
  const clients = CLIENTS.map((options) => new RobotsClient({ ...common, ...options, evidence, refreshAheadMs: HOUR }))
  const gates = clients.map((robots) => new PoliteGate({ robots, minDelayMs: 0, obey: { delays: false, rules: true } }))
  const visit = async (turn: number) => {
    const client = turn % CLIENTS.length
    const number = below(sites)
    const url = `http://site${number}.test:${port}${randomPath(random, web[number]?.robots ?? '')}`
    counts.decisions++
    if (below(4) > 0) await clients[client]?.check(url, below(20) === 0 ? { maxAgeMs: HOUR } : undefined)
    else {
      const permit = await gates[client]?.enter(url, { maxWaitMs: 0 }).catch(() => undefined) // refused, or the site asks for a pause
      if (permit === undefined) return
      counts.requests++
      permit.release({ status: 200, headers: {} })
    }
  }
  let turn = 0
  while (counts.decisions < decisions) {
    await Promise.all(Array.from({ length: 200 }, () => visit(turn++)))
    now += 60_000 + below(120_000)
    for (let n = sites / 200; n > 0; n--) web[below(sites)] = randomSite(random)
  }
  for (const gate of gates) gate.close()
  for (const client of clients) await client.close()
  await evidence.close()
  server.closeAllConnections()
  server.close()
  return counts
}

/** Most sites have a robots.txt; some have none, fail, redirect, send a page, or are cut at the limit. */
function randomSite(random: () => number): Site {
  const robots = randomRobots(random)
  const kind = Math.floor(random() * 20)
  const maxAge = [60, 600, 86_400][Math.floor(random() * 3)]
  return { robots, answer: answerOf(kind, robots, maxAge) }
}

function answerOf(kind: number, text: string, maxAge: number | undefined): Site['answer'] {
  if (kind === 0) return (response) => response.writeHead(404).end('no such page')
  if (kind === 1) return (response) => response.writeHead(503, { 'retry-after': '600' }).end()
  if (kind === 2) return (response) => response.destroy()
  if (kind === 3) return (response) => response.writeHead(403).end()
  if (kind === 4)
    return (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><p>${text}`)
  if (kind === 5) {
    const long = `${text}\n${'# a long comment\nDisallow: /x\n'.repeat(20_000)}`
    return (response) => response.writeHead(200, { 'cache-control': 'max-age=86400' }).end(long)
  }
  return (response) =>
    response
      .writeHead(200, { 'content-type': 'text/plain', 'cache-control': `max-age=${maxAge}`, 'set-cookie': 'a=b' })
      .end(Buffer.from(text, 'latin1'))
}

const toLoopback: LookupFunction = (_, { all }, done) => {
  if (all) setImmediate(done, null, [{ address: '127.0.0.1', family: 4 }])
  else setImmediate(done as never, null, '127.0.0.1', 4)
}

if (import.meta.main) {
  const [dir = '', sites = 2_000, decisions = 100_000] = process.argv.slice(2)
  console.log(await crawlManySites({ dir, sites: Number(sites), decisions: Number(decisions) }))
}
