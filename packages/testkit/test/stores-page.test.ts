// docs/stores.md has a table of what each store guarantees. It is generated from the rows that its
// tests run.
import { expect, it } from 'vitest'
import { type StoreName, storeCases, storeCasesFor } from '../src/cases/store-contract.ts'
import { expectTables } from '../src/doc-page.ts'

it('docs/stores.md contains these rows', async () => {
  const stores: readonly StoreName[] = ['MemoryStore', 'SqliteStore', 'RedisStore', 'fromKeyv over a Map']
  const head = ['guarantee', ...stores.map((store) => store.replace(/^\w+/, '`$&`'))]
  const rows = storeCases.map((row) => [
    row.name,
    ...stores.map((store) => (storeCasesFor(store).includes(row) ? 'yes' : '–')),
  ])
  await expectTables('docs/stores.md', { head, rows })
})

it('no two rows have the same name', () => {
  expect(new Set(storeCases.map(({ name }) => name)).size).toBe(storeCases.length)
  expect(storeCases.length).toBeGreaterThan(30)
})
