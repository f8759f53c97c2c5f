// Measures how many slots the SQL functions of @politely/postgres grant in a second. pgbench makes
// the calls. Starts a Postgres of its own.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '@politely/postgres'
import { findPostgres } from '@politely/testkit/parts'
import { startPostgres } from '@politely/testkit/servers/postgres'
import { Client } from 'pg'
import { median } from '../median.ts'
import type { Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'

const KEYS = 10_000
const CONNECTIONS = 8
const IN_ONE_CALL = 20

/**
 * Without a delay, each call gets a slot. The other fields are the fields that a PostgresPacer
 * sends.
 */
const FIELDS =
  '"limits":{"ownDelayMs":0,"maxDelayMs":30000},"allowanceMs":22,"allowedMs":0,"timerAllowanceMs":13,"maxAllowanceMs":6002,"knownPauses":[]}'

/** By name: what pgbench runs. */
const SCRIPTS = {
  update: `\\set n random(1, ${KEYS})
UPDATE bare SET a = a + 1, b = b + 1 WHERE key = 'https://n' || :n || '.test';`,
  reserve: `\\set n random(1, ${KEYS})
SELECT politely.reserve(('{"key":"https://n' || :n || '.test",${FIELDS}')::jsonb);`,
  reserveMany: `\\set n random(1, ${KEYS - IN_ONE_CALL})
SELECT politely.reserve_many(ARRAY(SELECT ('{"key":"https://n' || :n + i || '.test",${FIELDS}')::jsonb
  FROM generate_series(1, ${IN_ONE_CALL}) i));`,
}

export async function pacePostgres(plan: Plan): Promise<Sheet> {
  if (findPostgres() === undefined) throw new Error('the workload pace-postgres needs Postgres: npm run parts postgres')
  await using server = await startPostgres()
  const client = new Client({ connectionString: server.url })
  await client.connect()
  await migrate(client)
  await client.query(`CREATE UNLOGGED TABLE bare (key text PRIMARY KEY, a float8, b float8) WITH (fillfactor = 70)`)
  await client.query(`INSERT INTO bare SELECT 'https://n' || n || '.test', 0, 0 FROM generate_series(1, ${KEYS}) n`)
  for (const shift of [0, KEYS / 2]) {
    await client.query(`SELECT politely.reserve_many(ARRAY(SELECT ('{"key":"https://n' || n || '.test",${FIELDS}')::jsonb
      FROM generate_series(${shift + 1}, ${shift + KEYS / 2}) n))`)
  }
  await client.end()

  const folder = await mkdtemp(join(tmpdir(), 'politely-pgbench-'))
  const perSecond = { update: [] as number[], reserve: [] as number[], reserveMany: [] as number[] }
  try {
    for (let round = 0; round < plan.rounds; round++) {
      for (const name of ['update', 'reserve', 'reserveMany'] as const) {
        const file = join(folder, name)
        await writeFile(file, SCRIPTS[name])
        const seconds = 2
        const args = ['-n', '-c', `${CONNECTIONS}`, '-j', '2', '-T', `${seconds}`, '-f', file, server.url]
        const tps = Number(/^tps = ([\d.]+)/m.exec(await server.program('pgbench', args))?.[1])
        perSecond[name].push(name === 'reserveMany' ? tps * IN_ONE_CALL : tps)
      }
    }
  } finally {
    await rm(folder, { recursive: true })
  }
  const ratio = median(perSecond.reserve.map((tps, round) => tps / (perSecond.update[round] ?? Number.NaN)))
  const granted = median(perSecond.reserveMany)
  return {
    workload: 'pace-postgres',
    over: 'own',
    title: `Slots of ${KEYS} keys that Postgres grants over ${CONNECTIONS} connections`,
    columns: [{ name: 'in a second', unit: '' }],
    rows: [
      { name: 'updates of one row of an unlogged table', cells: [median(perSecond.update)] },
      { name: 'slots by reserve', cells: [median(perSecond.reserve)] },
      { name: `slots by reserve_many of ${IN_ONE_CALL}`, cells: [granted] },
    ],
    findings: [
      {
        what: 'PostgresPacer: slots by single calls, for each bare update',
        value: ratio,
        unit: '',
        target: { atLeast: 0.5 },
      },
      {
        what: 'PostgresPacer: slots in a second by calls of 20',
        value: granted,
        unit: '',
        target: { atLeast: 10_000 },
      },
    ],
    notes: [],
  }
}
