// @module-tag slow
// @module-tag full
// The command over a real Redis and a real Postgres: what it prints, shows and answers while they
// are away, and that several servers share each robots.txt.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { migrate } from '@politely/postgres'
import { noPostgresServer, startPostgres } from '@politely/testkit/servers/postgres'
import { noRedisServer, startRedis } from '@politely/testkit/servers/redis'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Answer, startSite } from './kit.ts'

const PATIENT = { timeout: 60_000, interval: 100 }

/** Starts the command, and reads what it prints. */
function startCommand(...more: readonly string[]) {
  const main = join(import.meta.dirname, '../src/main.ts')
  const args = ['--user-agent', 'ExampleBot/1.0', '--port', '0', '--allow-private', ...more]
  const child = spawn(process.execPath, ['--conditions=politely-source', main, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let printed = ''
  child.stderr.on('data', (chunk: Buffer) => {
    printed += chunk
  })
  /** The lines, without what changes from run to run. */
  const lines = () =>
    printed
      .replaceAll('politely serve: ', '')
      .replaceAll(/ after [\d.]+ (ms|s|min) \(\d+ failed calls?\)/g, ' after a time')
      .trim()
      .split('\n')
  const said = (text: RegExp) => vi.waitFor(() => text.exec(printed)?.[1] ?? expect(printed).toMatch(text), PATIENT)
  const address = async () => (await said(/listens at (\S+) for/)) as string
  const get = async (path: string) => fetch(`${await address()}${path}`)
  return {
    lines,
    said,
    address,
    code: async () => (child.exitCode === null ? (await once(child, 'exit'))[0] : child.exitCode),
    ready: async () => {
      const response = await get('/readyz')
      return { code: response.status, ...((await response.json()) as object) }
    },
    outageSeconds: async () =>
      Number(/^politely_server_pacer_outage_seconds\S* (\S+)/m.exec(await (await get('/metrics')).text())?.[1]),
    permits: async (urls: readonly string[]) => {
      const body = JSON.stringify({ requests: urls.map((url) => ({ url })) })
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${await address()}/v1/permits`, { method: 'POST', headers, body })
      return ((await response.json()) as Answer).results as readonly Answer[]
    },
  }
}

interface Service {
  readonly name: string
  readonly isMissing: boolean
  /** Starts the service. `place` is its host and port. */
  readonly start: () => Promise<{
    readonly flags: readonly string[]
    readonly place: string
    readonly kill: () => Promise<void>
    readonly restart: () => Promise<void>
  }>
}

const services: readonly Service[] = [
  {
    name: 'Redis',
    isMissing: noRedisServer(),
    start: async () => {
      const redis = await startRedis()
      onTestFinished(() => redis.stop())
      const flags = ['--pacer', 'redis', '--redis', redis.url]
      const place = `${redis.host}:${redis.port}`
      return { flags, place, kill: redis.kill, restart: () => redis.restart({ keepData: false }) }
    },
  },
  {
    name: 'Postgres',
    isMissing: noPostgresServer(),
    start: async () => {
      const postgres = await startPostgres()
      onTestFinished(() => postgres[Symbol.asyncDispose]())
      const pool = new Pool({ connectionString: postgres.url })
      await migrate(pool)
      await pool.end()
      const flags = ['--pacer', 'postgres', '--postgres', postgres.url]
      const place = `${postgres.host}:${postgres.port}`
      const kill = () => postgres.stop('immediate')
      return { flags, place, kill, restart: () => postgres.restart('immediate') }
    },
  },
]

describe.each(services.filter(({ isMissing }) => !isMissing))('over $name', ({ name, start }) => {
  test('waits for it at the start, is degraded while it is away, and says each of it once', async () => {
    const service = await start()
    const site = await startSite('User-agent: *\nCrawl-delay: 1')
    await service.kill()
    const server = startCommand(...service.flags)
    expect(await server.ready()).toMatchObject({ code: 503, type: 'urn:politely:problem:overloaded' })
    expect(await server.outageSeconds()).toBeGreaterThan(0)
    await service.restart()
    await vi.waitFor(async () => expect(await server.ready()).toEqual({ code: 200, status: 'ok' }), PATIENT)
    await server.said(/answers after/)
    expect(await server.outageSeconds()).toBe(0)
    const isKnown = async () => {
      const [result] = await server.permits([`${site.origin}/a`])
      expect(result.because).not.toBe('robots-txt')
    }
    await vi.waitFor(isKnown, PATIENT)

    const killedAt = Date.now()
    await service.kill()
    await server.said(/the pacer has failed/)
    const { since, ...degraded } = (await server.ready()) as { since?: string }
    expect(degraded).toEqual({ code: 200, status: 'ok', degraded: 'pacer-failure' })
    expect(Date.parse(since ?? '')).toBeGreaterThanOrEqual(killedAt)
    expect((await server.permits([`${site.origin}/b`]))[0]).toMatchObject({ state: 'wait' })
    await vi.waitFor(async () => expect(await server.outageSeconds()).toBeGreaterThan(0), PATIENT)
    await service.restart()
    await server.said(/the pacer is back/)
    expect(await server.ready()).toEqual({ code: 200, status: 'ok' })
    await vi.waitFor(async () => {
      expect((await server.permits([`${site.origin}/c`]))[0]).toMatchObject({ state: 'go' })
    }, PATIENT)

    const failed = (cause: string) =>
      expect.stringMatching(
        new RegExp(
          `^the pacer has failed \\(${name} at ${service.place}: ${cause}\\); (\\d+ URLs? waits?, and )?no permit is granted until it is back$`,
        ),
      )
    const [waits, ...others] = server.lines()
    expect(waits).toMatch(
      new RegExp(`^waits for ${name} at ${service.place}: .+; no permit is granted until it answers$`),
    )
    expect(others).toEqual([
      `listens at ${await server.address()} for ExampleBot; programs of this machine need no token`,
      `${name} at ${service.place} answers after a time`,
      failed('.+'),
      'the pacer is back after a time',
    ])
  })

  test('two servers fetch the robots.txt of each of 150 origins once in all', async () => {
    const { flags } = await start()
    let requests = 0
    const origins = await Promise.all(
      Array.from({ length: 150 }, async () => {
        const site = createServer((_, response) => {
          requests++
          response.end('User-agent: *\nDisallow: /private')
        })
        await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
        onTestFinished(() => {
          site.close()
          site.closeAllConnections()
        })
        return `http://127.0.0.1:${(site.address() as AddressInfo).port}`
      }),
    )
    const servers = [startCommand(...flags), startCommand(...flags)]
    const urls = origins.map((origin) => `${origin}/private`)
    const readAll = async (server: (typeof servers)[number]) => {
      await vi.waitFor(async () => {
        const results = await server.permits(urls)
        expect(results.map(({ state, because }) => `${state} ${because}`)).toEqual(urls.map(() => 'refused rule'))
      }, PATIENT)
    }
    await Promise.all(servers.map(readAll))
    expect(requests).toBe(150)
  })
})

describe('a mistake ends the command with code 2', () => {
  test.skipIf(noPostgresServer())('no schema, an old one, no such database, no such role, no password', async () => {
    await using postgres = await startPostgres()
    const place = `${postgres.host}:${postgres.port}`
    const to = (url: string) => startCommand('--pacer', 'postgres', '--postgres', url)
    await postgres.psql("CREATE ROLE crawler LOGIN PASSWORD 'right'")
    const hba = (await postgres.psql('SHOW hba_file')).trim()
    writeFileSync(hba, `host all crawler all scram-sha-256\n${readFileSync(hba, 'utf8')}`)
    await postgres.psql('SELECT pg_reload_conf()')
    const password = to(postgres.url.replace(/\/\/\w+@/, '//crawler@'))
    expect(await password.code()).toBe(2)
    expect(password.lines()[0]).toMatch(/^--postgres: Postgres at .*: SASL: .*password must be/)
    const [schema, database, role] = [
      to(postgres.url),
      to(postgres.url.replace(/\/postgres$/, '/nowhere')),
      to(postgres.url.replace(/\/\/\w+@/, '//stranger@')),
    ] as const
    expect([await schema.code(), await database.code(), await role.code()]).toEqual([2, 2, 2])
    expect(schema.lines()[0]).toBe(
      `--postgres: Postgres at ${place}: schema "politely": is missing, or older than this package; expected one of its version: run migrate(client)`,
    )
    expect(database.lines()[0]).toBe(`--postgres: Postgres at ${place}: database "nowhere" does not exist`)
    expect(role.lines()[0]).toBe(`--postgres: Postgres at ${place}: role "stranger" does not exist`)
    const store = startCommand('--store', 'postgres', '--postgres', postgres.url)
    expect(await store.code()).toBe(2)
    expect(store.lines()[0]).toContain('run migrate(client)')
    const pool = new Pool({ connectionString: postgres.url })
    await migrate(pool)
    await pool.query('DROP FUNCTION politely.call_many(jsonb[], integer)') // version 1 lacks it
    await pool.end()
    const old = to(postgres.url)
    expect(await old.code()).toBe(2)
    expect(old.lines()[0]).toContain('older than this package; expected one of its version: run migrate(client)')
  })

  test.skipIf(noRedisServer())('a wrong password, no such database, a command that the user may not call', async () => {
    await using redis = await startRedis()
    const admin = new Redis(redis.url)
    onTestFinished(() => admin.disconnect())
    await admin.acl('SETUSER', 'crawler', 'on', '>right', '~*', '+@all')
    const place = `${redis.host}:${redis.port}`
    const password = startCommand('--pacer', 'redis', '--redis', `redis://crawler:wrong@${place}`)
    const database = startCommand('--store', 'redis', '--redis', `${redis.url}/99`)
    await admin.acl('SETUSER', 'old', 'on', '>right', '~*', '+@all', '-zadd')
    const rights = startCommand('--pacer', 'redis', '--redis', `redis://old:right@${place}`)
    expect([await password.code(), await database.code(), await rights.code()]).toEqual([2, 2, 2])
    expect(rights.lines()[0]).toMatch(/^--redis: Redis at .*(?:can't run this command|no permissions)/)
    expect(password.lines()[0]).toBe(
      `--redis: Redis at ${place}: WRONGPASS invalid username-password pair or user is disabled.`,
    )
    expect(database.lines()[0]).toBe(`--redis: Redis at ${place}: ERR DB index is out of range`)
    const right = startCommand('--pacer', 'redis', '--redis', `redis://crawler:right@${place}`)
    await vi.waitFor(async () => expect(await right.ready()).toEqual({ code: 200, status: 'ok' }), PATIENT)
  })
})
