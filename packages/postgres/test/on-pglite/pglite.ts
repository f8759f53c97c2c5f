// One PGlite for all files of this folder: a Postgres in this process, with one session.
import { PGlite } from '@electric-sql/pglite'
import { migrate } from '../../src/index.ts'

const started = PGlite.create().then(async (database) => {
  await migrate(database)
  return database
})

/** Returns the PGlite, with the schema `politely`. It takes a few seconds to start. */
export function pglite(): Promise<PGlite> {
  return started
}

/** Empties the tables of the schema, for a test that needs no schema of its own. */
export async function empty(database: PGlite): Promise<'politely'> {
  const tables = ['pace', 'epoch', 'circuit', 'robots', 'lease', 'kept_slots', 'sweep']
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
