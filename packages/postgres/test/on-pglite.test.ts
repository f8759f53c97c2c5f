// Tests with a Postgres in this process, in one file, because it takes seconds to start.
import { afterAll, describe } from 'vitest'
import { pglite } from './on-pglite/pglite.ts'

afterAll(async () => (await pglite()).close())

describe('the SQL functions', async () => void (await import('./on-pglite/functions.ts')))
describe('PostgresStore', async () => void (await import('./on-pglite/postgres-store.ts')))
describe('PostgresPacer', async () => void (await import('./on-pglite/postgres-pacer.ts')))
