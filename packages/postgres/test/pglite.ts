// One PGlite for the tests of a file: a Postgres in this process, with one session.
import { PGlite } from '@electric-sql/pglite'
import { afterAll } from 'vitest'
import { migrate } from '../src/index.ts'

/** Starts a PGlite with the schema `politely`, which takes a few seconds. */
export async function startPglite(): Promise<PGlite> {
  const database = await PGlite.create()
  afterAll(() => database.close())
  await migrate(database)
  return database
}

/** Empties the tables of the schema, for a test that needs no schema of its own. */
export async function empty(database: PGlite): Promise<'politely'> {
  const tables = ['pace', 'epoch', 'circuit', 'robots', 'lease', 'sweep']
  await database.exec(tables.map((table) => `DELETE FROM politely.${table};`).join(''))
  return 'politely'
}

let schemas = 0

/** Creates a schema for one test, which takes half a second. */
export async function newSchema(database: PGlite): Promise<string> {
  const schema = `test_${++schemas}`
  await migrate(database, { schema })
  return schema
}
