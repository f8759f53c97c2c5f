// @module-tag full
// The SQL functions on a real server, with several sessions at once.
import { setTimeout as sleep } from 'node:timers/promises'
import { noPostgres, usePostgres } from '@politely/testkit/servers/postgres'
import type { Pool } from 'pg'
import postgres from 'postgres'
import { describe, expect, onTestFinished, test } from 'vitest'
import { migrate, PostgresPacer, PostgresStore } from '../src/index.ts'
import { openPool } from './server.ts'

const KEY = 'https://example.com'
const limits = { ownDelayMs: 60_000 }

/** A name of a schema on the shared server. The schema is dropped with the test. */
async function freeSchema() {
  const { url, schema } = await usePostgres()
  const client = openPool(url, { max: 4 })
  const drop = openPool(url)
  onTestFinished(async () => void (await drop.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)))
  return { url, schema, client }
}

async function call(client: Pool, schema: string, name: string, request: unknown) {
  const { rows } = await client.query(`SELECT ${schema}.${name}($1::text::jsonb) AS reply`, [JSON.stringify(request)])
  return rows[0].reply
}

/** Waits until a session waits for a lock in a statement with this text. */
async function isBlocked(client: Pool, text: string): Promise<void> {
  const blocked = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`
  while ((await client.query(blocked, [text])).rows.length === 0) await sleep(5)
}

describe.skipIf(noPostgres())('on a server', () => {
  test.for([
    'TRUNCATE S.pace',
    'TRUNCATE S.pace, S.epoch',
    'DELETE FROM S.pace; DELETE FROM S.epoch',
    // The same as a dump that is restored after a DELETE.
    `CREATE TEMPORARY TABLE dump ON COMMIT DROP AS SELECT * FROM S.epoch;
     DELETE FROM S.pace; DELETE FROM S.epoch;
     INSERT INTO S.epoch SELECT * FROM dump; INSERT INTO S.pace (key, epoch) SELECT '${KEY}', start FROM dump`,
  ])('a call that waits for this finds the loss: %s', async (loss) => {
    const { schema, client } = await freeSchema()
    await migrate(client, { schema })
    await call(client, schema, 'reserve', { key: 'another', limits })
    await client.query(`UPDATE ${schema}.epoch SET start = start - 3600000`)
    expect(await call(client, schema, 'reserve', { key: KEY, limits })).toMatchObject({ kind: 'slot' })
    const restoring = await client.connect()
    await restoring.query('BEGIN')
    await restoring.query(loss.replaceAll('S.', `${schema}.`))
    const waiting = call(client, schema, 'reserve', { key: KEY, limits })
    await isBlocked(client, `${schema}.reserve`)
    await restoring.query('COMMIT')
    restoring.release()
    expect(await waiting).toMatchObject({ kind: 'wait', isEpochLost: true })
  })

  test('a call that waits for a circuit holds no expired circuit, so two calls cannot wait for each other', async () => {
    const { schema, client } = await freeSchema()
    await migrate(client, { schema })
    await client.query(`INSERT INTO ${schema}.circuit SELECT origin, '', 0 FROM unnest('{a,b,z}'::text[]) origin`)
    await client.query(`INSERT INTO ${schema}.sweep VALUES ('circuit', 0, '')`)
    const other = await client.connect()
    await other.query('BEGIN')
    await other.query(`SELECT FROM ${schema}.circuit WHERE origin = 'b' FOR UPDATE`)
    const store = (origin: string) => ({ op: 'circuit', origin, next: 'open', keepMs: 60_000 })
    const requests = ['a', 'b'].map((origin) => JSON.stringify(store(origin)))
    const waiting = client.query(`SELECT ${schema}.call_many($1::text[]::jsonb[])`, [requests])
    await isBlocked(client, `${schema}.call_many`)
    const z = await other.query(`SELECT FROM ${schema}.circuit WHERE origin = 'z' FOR UPDATE NOWAIT`)
    expect(z.rowCount).toBe(1)
    await other.query('COMMIT')
    other.release()
    await waiting
  })

  test("the adapter for porsager's postgres", async () => {
    const { url, schema } = await freeSchema()
    const sql = postgres(url, { max: 2 })
    onTestFinished(() => sql.end())
    // As in docs/postgres.md.
    const client = {
      query: async (text: string, values?: (string | number)[]) => ({ rows: await sql.unsafe(text, values) }),
    }
    await migrate(client, { schema })
    const store = new PostgresStore({ client, schema })
    await store.set(KEY, 'Disallow: /', Date.now() + 60_000)
    expect(await store.get(KEY)).toBe('Disallow: /')
    const lease = await store.lease(KEY, 60_000)
    expect(await store.lease(KEY, 60_000)).toBeUndefined()
    await lease?.release()
    const pacer = new PostgresPacer({ client, schema, timeoutMs: 30_000 })
    onTestFinished(() => pacer.close())
    expect(await pacer.reserve(KEY, { ...limits, maxDelayMs: undefined, crawlDelayMs: undefined })).toMatchObject({
      kind: 'wait',
      because: 'own-delay',
    })
    expect(pacer.counters.failures).toBe(0)
  })

  test('several workers migrate at the same time', async () => {
    const { url, schema, client } = await freeSchema()
    const role = `${schema}_worker`
    await client.query(`CREATE ROLE ${role}`)
    const drop = openPool(url)
    onTestFinished(async () => void (await drop.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)))
    for (let round = 0; round < 2; round++) {
      await Promise.all([1, 2, 3, 4].map(() => migrate(client, { schema, grantTo: role })))
    }
    expect((await client.query(`SELECT has_schema_privilege('${role}', '${schema}', 'USAGE') AS may`)).rows).toEqual([
      { may: true },
    ])
  })

  test('with the isolation REPEATABLE READ, a migration succeeds or says what to do', async () => {
    const { url, schema } = await freeSchema()
    const client = openPool(url, { max: 2, options: '-c default_transaction_isolation=repeatable\\ read' })
    const results = await Promise.allSettled([1, 2].map(() => migrate(client, { schema })))
    const failed = results.filter((result) => result.status === 'rejected').map(({ reason }) => reason)
    expect(failed.length).toBeLessThan(2)
    for (const error of failed) {
      expect(error).toMatchObject({
        code: 'ERR_POLITELY_POSTGRES_SCHEMA',
        message: expect.stringContaining('READ COMMITTED'),
      })
    }
    await migrate(client, { schema })
  })
})
