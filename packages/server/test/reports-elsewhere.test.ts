// @module-tag slow
// @module-tag full
// A report that reaches another server than the one that has granted the permit, or the same server
// after it was killed: real servers with one key, over Redis and over Postgres.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '@politely/postgres'
import { noPostgresServer, startPostgres } from '@politely/testkit/servers/postgres'
import { noRedisServer, startRedis } from '@politely/testkit/servers/redis'
import { Pool } from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { post, startCommand } from './command.ts'
import { type Answer, startSite } from './kit.ts'

/** Asks until the result is of this kind. The first slot of a new Redis or Postgres comes after some seconds. */
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
    expect(result.wait_ms).toBeLessThanOrEqual(20_000)
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
