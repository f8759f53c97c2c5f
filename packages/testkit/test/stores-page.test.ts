// docs/stores.md has a table of what each store guarantees. It is generated from the rows that its tests run.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type StoreName, storeCases, storeCasesFor } from '../src/cases/store-contract.ts'
import { withTables } from '../src/doc-table.ts'

it('docs/stores.md contains these rows', async () => {
  const path = join(import.meta.dirname, '../../../docs/stores.md')
  const stores: readonly StoreName[] = ['MemoryStore', 'SqliteStore', 'RedisStore', 'fromKeyv over a Map']
  const head = ['guarantee', ...stores.map((store) => store.replace(/^\w+/, '`$&`'))]
  const rows = storeCases.map((row) => [
    row.name,
    ...stores.map((store) => (storeCasesFor(store).includes(row) ? 'yes' : '–')),
  ])
  await expect(withTables(readFileSync(path, 'utf8'), [{ head, rows }])).toMatchFileSnapshot(path)
})

it('no two rows have the same name', () => {
  expect(new Set(storeCases.map(({ name }) => name)).size).toBe(storeCases.length)
  expect(storeCases.length).toBeGreaterThan(30)
})
