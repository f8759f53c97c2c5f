// @module-tag slow
// What a worker sees when Postgres fails, for each policy of PostgresPacer. docs/fleet.md shows the
// table.

import { expectTables } from '@politely/testkit/doc-page'
import { expectAsDescribed, type SeenFailure, watchFailure } from '@politely/testkit/pacer-failure'
import { noPostgresServer, type PostgresServer } from '@politely/testkit/servers/postgres'
import { startTcpProxy, type TcpProxy } from '@politely/testkit/servers/tcp-proxy'
import { Client, type Pool } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { migrate, PostgresPacer } from '../src/index.ts'
import { knowLongAgo, openPool, pacerOn, startServer } from './server.ts'

const DELAY_MS = 40
const FLEET_SIZE = 3
/** Far more than a call takes on a busy machine while Postgres is slow. */
const TIMEOUT_MS = 3_500
/** Few connections, so that a test can use up all of them. */
const MAX_CONNECTIONS = 12

interface Rig {
  readonly server: PostgresServer
  readonly proxy: TcpProxy
  /** The pool of the pacer. */
  readonly pool: Pool
  /** Clients of the test that keep connections. */
  readonly others: Client[]
}

interface FailureCase {
  readonly name: string
  /** The codes of which a call gets one, depending on whether its connection ends before it or meanwhile. */
  readonly errors?: readonly string[]
  fail(rig: Rig): unknown
  heal(rig: Rig): unknown
}

const cases: readonly FailureCase[] = [
  {
    name: 'slow: 200 ms per call',
    fail: ({ proxy }) => (proxy.delayMs = () => 200),
    heal: ({ proxy }) => (proxy.delayMs = () => 0),
  },
  {
    name: 'slower than `timeoutMs`',
    fail: ({ proxy }) => (proxy.delayMs = () => 2 * TIMEOUT_MS),
    heal: ({ proxy }) => (proxy.delayMs = () => 0),
  },
  {
    name: 'full: `too many connections`',
    fail: async ({ server, proxy, pool, others }) => {
      await cut(proxy, pool)
      for (let n = 0; n < MAX_CONNECTIONS; n++) await connect(server, others).catch(() => undefined)
      proxy.isCut = false
    },
    heal: ({ others }) => Promise.all(others.map((client) => client.end())),
  },
  {
    name: 'a standby, which is read-only',
    fail: async ({ server, proxy, pool }) => {
      proxy.port = (await server.replica()).port
      await cut(proxy, pool)
      proxy.isCut = false
    },
    heal: ({ server, proxy }) => {
      proxy.isCut = true
      proxy.port = server.port
      proxy.isCut = false
    },
  },
  {
    name: 'locked by another session',
    fail: async ({ server, others }) => {
      const client = await connect(server, others)
      await client.query("BEGIN; SELECT FROM politely.pace WHERE key = 'k' FOR UPDATE")
    },
    heal: ({ others }) => Promise.all(others.map((client) => client.end())),
  },
  {
    name: 'cut off',
    fail: ({ proxy }) => (proxy.isCut = true),
    heal: ({ proxy }) => (proxy.isCut = false),
  },
  {
    name: 'ended, and started again',
    errors: ['`57P01`', '`Connection`'],
    fail: ({ server }) => server.stop('fast'),
    heal: ({ server }) => server.restart('fast'),
  },
  {
    name: 'crashed, and started again',
    errors: ['`57P02`', '`Connection`'],
    fail: ({ server }) => server.stop('immediate'),
    heal: ({ server }) => server.restart('immediate'),
  },
  {
    name: 'without the schema, for example during a restore',
    fail: ({ server }) => server.psql('DROP SCHEMA politely CASCADE'),
    heal: ({ server }) => migrate(openPool(server.url)),
  },
]

/** Ends all connections, and waits until the pool has noticed it. */
async function cut(proxy: TcpProxy, pool: Pool): Promise<void> {
  proxy.isCut = true
  await expect.poll(() => pool.totalCount).toBe(0)
}

async function connect({ url }: PostgresServer, others: Client[]): Promise<Client> {
  const client = new Client(url)
  client.on('error', () => undefined)
  await client.connect()
  others.push(client)
  return client
}

async function run({ fail, heal }: FailureCase, onFailure: 'wait' | 'local'): Promise<SeenFailure> {
  const server = await startServer({ settings: { max_connections: MAX_CONNECTIONS } })
  await knowLongAgo(server.url, ['k'])
  const proxy = await startTcpProxy(server.port)
  const policy = onFailure === 'local' ? { onFailure, fleetSize: FLEET_SIZE } : {}
  const pool = openPool(server.url.replace(`127.0.0.1:${server.port}`, proxy.host))
  const pacer = new PostgresPacer({ client: pool, timeoutMs: TIMEOUT_MS, ...policy })
  onTestFinished(() => pacer.close())
  const rig: Rig = { server, proxy, pool, others: [] }
  onTestFinished(async () => void (await Promise.all(rig.others.map((client) => client.end()))))
  return await watchFailure({
    ...{ pacer, channels: 'politely:postgres', delayMs: DELAY_MS, fleetSize: FLEET_SIZE },
    fail: () => fail(rig),
    heal: () => heal(rig),
  })
}

describe.skipIf(noPostgresServer())('when Postgres fails', { tags: 'full' }, () => {
  const rows: string[][] = []

  const name = '$name: a worker waits or paces locally, and continues when Postgres is back'
  // They make the rows of the page.
  test.for(cases)(name, { tags: 'page' }, async (one) => {
    const [wait, local] = await Promise.all([run(one, 'wait'), run(one, 'local')])
    for (const { starts } of [wait, local]) {
      const gaps = starts.slice(1).map((at, i) => at - (starts[i] as number))
      expect(Math.min(...gaps)).toBeGreaterThanOrEqual(DELAY_MS)
    }
    const errors = one.errors ?? [wait.error]
    expect(errors).toContain(wait.error)
    expectAsDescribed(one.name, wait, local)
    rows.push([one.name, errors.join(' or ')])
  })

  test('a row that another session has locked holds up no other key', async () => {
    const server = await startServer()
    const keys = ['k', 'a', 'b', 'c', 'd']
    await knowLongAgo(server.url, keys)
    const others: Client[] = []
    const session = await connect(server, others)
    onTestFinished(() => session.end())
    await session.query("BEGIN; SELECT FROM politely.pace WHERE key = 'k' FOR UPDATE")
    const pacer = pacerOn(server.url) // Postgres ends the wait for the row after half a second
    const limits = { ownDelayMs: DELAY_MS, maxDelayMs: undefined, crawlDelayMs: undefined }
    const replies = await Promise.all(keys.map((key) => pacer.reserve(key, limits)))
    expect(replies[0]).toMatchObject({ kind: 'wait', because: 'pacer-failure' })
    for (const reply of replies.slice(1)) expect(reply).not.toMatchObject({ because: 'pacer-failure' })
    expect(pacer.counters).toMatchObject({ failures: 1 })
  })

  test('docs/fleet.md says so', { tags: 'page' }, async () => {
    expect(rows).toHaveLength(cases.length)
    await expectTables('docs/fleet.md', { head: ['Postgres is', 'error'], rows })
  })
})
