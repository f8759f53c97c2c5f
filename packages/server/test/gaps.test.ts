// @module-tag slow
// @module-tag full
// No gap between two requests is shorter than the delay of the site: with several clients, with two
// servers over Redis, and after a server was killed. The times are those at which the clients send.
import { once } from 'node:events'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { migrate } from '@politely/postgres'
import { RedisPacer } from '@politely/redis'
import { noPostgresServer, startPostgres } from '@politely/testkit/servers/postgres'
import { noRedis, useRedis } from '@politely/testkit/servers/redis'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { PolitelyServer } from '../src/index.ts'
import { type Answer, startCommand, startSite } from './kit.ts'

const DELAY_MS = 200
const RULES = `User-agent: *\nCrawl-delay: ${DELAY_MS / 1_000}`
const REQUESTS = 20
/** Long enough for a busy machine: a client gives back what it can't send in time. */
const START_WITHIN_MS = 500

async function post(server: string, path: string, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${server}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer: Answer = await response.json()
  // A server that starts or stops may be unavailable (503). Any other fault fails the test.
  if (response.status === 503) throw new Error(answer.detail)
  return answer
}

/**
 * Asks for one URL after another until `isOver`, and notes when it sends each request. Changes the
 * server if one does not answer.
 */
async function crawl(
  servers: readonly string[],
  origin: string,
  sentAt: number[],
  isOver: () => boolean,
): Promise<void> {
  let ticket: string | undefined
  let failures = 0
  while (!isOver()) {
    const server = servers[failures % servers.length] as string
    const askedAt = performance.now()
    const requests = [{ url: `${origin}/page`, ...(ticket !== undefined && { ticket }) }]
    let answer: Answer
    try {
      answer = await post(server, '/v1/permits', { start_within_ms: START_WITHIN_MS, lease_ms: 1_000, requests })
    } catch {
      failures++
      ticket = undefined
      await new Promise((resolve) => setTimeout(resolve, 20))
      continue // the server was killed, or is not available
    }
    const [result] = answer.results
    ticket = result.ticket
    if (result.state === 'go') {
      const at = performance.now()
      const afterMs = at - askedAt - answer.held_ms
      const isInTime = afterMs <= START_WITHIN_MS
      if (isInTime) sentAt.push(at)
      const report = isInTime ? { status: 200, sent_after_ms: Math.ceil(afterMs) } : { outcome: 'not-sent' }
      await post(server, '/v1/reports', { reports: [{ permit: result.permit, ...report }] }).catch(() => undefined)
    } else await new Promise((resolve) => setTimeout(resolve, Math.min(result.wait_ms ?? 0, 500)))
  }
}

/** Waits until so many requests were sent. */
async function sent(sentAt: readonly number[], count: number): Promise<void> {
  while (sentAt.length < count) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** The shortest time between two requests. */
function shortestGap(sentAt: readonly number[]): number {
  const sorted = [...sentAt].sort((a, b) => a - b)
  return Math.min(...sorted.slice(1).map((at, n) => at - (sorted[n] as number)))
}

async function startServer(pacer?: RedisPacer): Promise<{ server: PolitelyServer; address: string }> {
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0' })
  const gate = new PoliteGate({ robots, minDelayMs: 0, maxConcurrentPerKey: 10, pacer })
  const server = new PolitelyServer({ gate, allowPrivate: true })
  onTestFinished(async () => {
    await server.close()
    gate.close()
    await robots.close()
  })
  return { server, address: await server.listen({ port: 0 }) }
}

test('with several clients of one server', async () => {
  const { origin, requests } = await startSite(RULES)
  const { address } = await startServer()
  const sentAt: number[] = []
  const isOver = () => sentAt.length >= REQUESTS
  await Promise.all(Array.from({ length: 4 }, () => crawl([address], origin, sentAt, isOver)))
  expect(shortestGap(sentAt)).toBeGreaterThanOrEqual(DELAY_MS)
  expect(requests).toEqual(['/robots.txt'])
})

test.skipIf(noRedis())('with two servers over Redis, one of which goes away', async () => {
  const { url, keyPrefix } = await useRedis()
  const { origin } = await startSite(RULES)
  const servers = await Promise.all(
    [0, 1].map(async () => {
      const client = new Redis(url)
      const pacer = new RedisPacer({ client, keyPrefix, timeoutMs: 300 })
      const started = await startServer(pacer)
      onTestFinished(() => {
        pacer.close()
        client.disconnect()
      })
      return started
    }),
  )
  const sentAt: number[] = []
  const addresses = servers.map(({ address }) => address)
  const crawling = Promise.all(
    Array.from({ length: 4 }, (_, n) =>
      crawl(n % 2 === 0 ? addresses : [...addresses].reverse(), origin, sentAt, () => sentAt.length >= REQUESTS),
    ),
  )
  await sent(sentAt, REQUESTS / 2)
  await servers[0]?.server.close()
  await crawling
  expect(shortestGap(sentAt)).toBeGreaterThanOrEqual(DELAY_MS)
})

test.skipIf(noPostgresServer())('with two servers over Postgres, one of which is killed', async () => {
  await using postgres = await startPostgres()
  const pool = new Pool({ connectionString: postgres.url })
  await migrate(pool)
  await pool.end()
  const { origin } = await startSite(RULES)
  const start = () => startCommand(0, '--pacer', 'postgres', '--postgres', postgres.url)
  const [first, second] = await Promise.all([start(), start()])
  const sentAt: number[] = []
  let isOver = false
  const addresses = [first.address, second.address]
  const crawling = Promise.all(
    Array.from({ length: 4 }, (_, n) =>
      crawl(n % 2 === 0 ? addresses : [...addresses].reverse(), origin, sentAt, () => isOver),
    ),
  )
  await sent(sentAt, 6)
  first.child.kill('SIGKILL')
  await sent(sentAt, 12)
  isOver = true
  second.child.kill('SIGKILL')
  await crawling
  expect(shortestGap(sentAt)).toBeGreaterThanOrEqual(DELAY_MS)
})

test('after a server was killed and started again', async () => {
  const { origin } = await startSite(RULES)
  const sentAt: number[] = []
  let { child, address } = await startCommand(0)
  let isOver = false
  const crawling = Promise.all(Array.from({ length: 3 }, () => crawl([address], origin, sentAt, () => isOver)))
  for (let kill = 0; kill < 3; kill++) {
    await sent(sentAt, sentAt.length + 3)
    child.kill('SIGKILL')
    await once(child, 'exit')
    ;({ child, address } = await startCommand(Number(new URL(address).port)))
  }
  await sent(sentAt, sentAt.length + 3)
  isOver = true
  await crawling
  expect(shortestGap(sentAt)).toBeGreaterThanOrEqual(DELAY_MS)
})
