// @module-tag slow
// @module-tag full
// A report that reaches a server that has not granted the permit, or the same server after it was
// killed: real servers with one key, over Redis and over Postgres.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Pacer } from '@politely/gate'
import { migrate, PostgresPacer } from '@politely/postgres'
import { RedisPacer } from '@politely/redis'
import { noPostgresServer, startPostgres } from '@politely/testkit/servers/postgres'
import { noRedisServer, startRedis } from '@politely/testkit/servers/redis'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { post, startCommand } from './command.ts'
import { type Answer, type HttpKit, httpKit, startSite } from './kit.ts'

/** Asks until the result is of this kind. A new Redis or Postgres has its first slot after seconds. */
function ask(server: string, url: string, kind: RegExp): Promise<Answer> {
  return vi.waitFor(
    async () => {
      const [result] = (await post(server, '/v1/permits', { requests: [{ url }] })).results
      expect(`${result.state} ${result.because}`).toMatch(kind)
      return result
    },
    { timeout: 60_000, interval: 100 },
  )
}

const grant = async (server: string, url: string): Promise<string> => (await ask(server, url, /^go/)).permit

async function report(server: string, permit: string): Promise<string> {
  const { results } = await post(server, '/v1/reports', { reports: [{ permit, status: 429, retry_after: '20' }] })
  return results[0].state
}

async function expectPause(servers: readonly string[], url: string): Promise<void> {
  for (const server of servers) {
    // The server that granted the permit may know for a moment that its slot is not over.
    const result = await ask(server, url, /^(go|wait retry-after)/)
    expect(result.state).toBe('wait')
    expect(result.wait_ms).toBeGreaterThan(5_000) // 20 s, less what this test has taken
    expect(result.wait_ms).toBeLessThan(21_000)
  }
}

/** @param flags Name the pacer that the servers share. */
async function crossReports(flags: readonly string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'politely-key-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const all = [...flags, '--key', join(folder, 'permits.key')]
  const first = await startCommand(0, ...all)
  const second = await startCommand(0, ...all)
  const [one, two] = [`${(await startSite('')).origin}/a`, `${(await startSite('')).origin}/a`]

  const permit = await grant(first.address, one)
  expect(await report(second.address, permit)).toBe('counted')
  await expectPause([first.address, second.address], one)

  const lost = await grant(first.address, two)
  first.child.kill('SIGKILL')
  await once(first.child, 'exit')
  const restarted = await startCommand(Number(new URL(first.address).port), ...all)
  expect(await report(restarted.address, lost)).toBe('counted')
  expect(await report(restarted.address, lost)).toBe('repeated')
  await expectPause([restarted.address, second.address], two)
}

test.skipIf(noRedisServer())('counts at both servers over Redis', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  await crossReports(['--pacer', 'redis', '--redis', redis.url])
})

test.skipIf(noPostgresServer())('counts at both servers over Postgres', async () => {
  await using postgres = await startPostgres()
  const pool = new Pool({ connectionString: postgres.url })
  await migrate(pool)
  await pool.end()
  await crossReports(['--pacer', 'postgres', '--postgres', postgres.url])
})

/** A site gets one request at a time, from two servers whose pacers count it for both. */
async function oneAtATime(newPacer: () => Pacer & { close(): void }): Promise<void> {
  const url = `${(await startSite('')).origin}/a`
  const start = async (): Promise<HttpKit> => {
    const pacer = newPacer()
    onTestFinished(() => pacer.close())
    return httpKit(
      { allowPrivate: true, secret: Buffer.alloc(32, 1) },
      { minDelayMs: 0, maxConcurrentPerKey: 1, pacer },
    )
  }
  const [first, second] = [await start(), await start()]
  const told = async (server: HttpKit, report: object) =>
    (await server.call('/v1/reports', { reports: [report] })).body.results[0].state
  const open = async ({ call }: HttpKit) =>
    /^politely_server_leases\S* (\d+)$/m.exec((await call('/metrics')).body)?.[1]

  const one = await grant(first.origin, url)
  for (const { origin } of [first, second]) await ask(origin, url, /^wait concurrency/)
  expect(await told(second, { permit: one, status: 200 })).toBe('counted')
  const two = await grant(second.origin, url)
  await ask(first.origin, url, /^wait concurrency/)
  expect([await open(first), await open(second)]).toEqual(['0', '1'])

  expect((await first.call('/v1/renewals', { permits: [two] })).body.results).toMatchObject([{ state: 'done' }])
  expect(await told(first, { permit: two, outcome: 'not-sent' })).toBe('gone')
  expect((await second.call('/v1/renewals', { permits: [two] })).body.results).toMatchObject([{ state: 'gone' }])
  const three = await grant(first.origin, url)
  expect(await told(second, { permit: three, status: 200 })).toBe('counted')
  await vi.waitFor(async () => expect(await open(first)).toBe('0'), { timeout: 30_000, interval: 500 })
  expect((await first.call('/metrics')).body).toMatch(/^politely_server_expires_total\S* 0$/m)
}

test.skipIf(noRedisServer())('ends the permit at both servers over Redis', async () => {
  const redis = await startRedis()
  const clients: Redis[] = []
  onTestFinished(async () => {
    for (const client of clients) client.disconnect()
    await redis.stop()
  })
  await oneAtATime(() => {
    const client = new Redis(redis.url)
    clients.push(client)
    return new RedisPacer({ client, leaseMs: 60_000 })
  })
})

test.skipIf(noPostgresServer())('ends the permit at both servers over Postgres', async () => {
  await using postgres = await startPostgres()
  await using client = Object.assign(new Pool({ connectionString: postgres.url }), {
    [Symbol.asyncDispose]: async (): Promise<void> => client.end(),
  })
  await migrate(client)
  await oneAtATime(() => new PostgresPacer({ client, leaseMs: 60_000 }))
})
