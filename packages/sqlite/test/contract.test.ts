// @module-tag nodes
// SqliteStore passes the tests that every store must pass.

import { storeCasesFor } from '@politely/testing/cases'
import { storeAbilities } from '@politely/testkit/cases/store-abilities'
import { withoutSlow } from '@politely/testkit/scope'
import { expect } from 'vitest'
import type { StoredText } from '../src/store-file.ts'
import { inOneHour, test } from './folder.ts'

const maxBytes = 16 * 1024 * 1024

test.for(withoutSlow(storeCasesFor(storeAbilities.SqliteStore), /size limit|repeated sets|evicts expired/))(
  'store contract, $name',
  async ({ run }, { folder }) => {
    await run({ open: (now) => folder.open({ maxBytes, now }), maxBytes, heldBytes: folder.diskBytes })
  },
)

test('a value that is not a string rejects its own call, not others in the same transaction', async ({ folder }) => {
  const store = folder.open()
  const [wrong, right] = await Promise.allSettled([
    store.set('https://a.test', 42 as unknown as string, inOneHour),
    store.set('https://b.test', 'of b', inOneHour),
  ])
  expect([wrong.status, right.status]).toEqual(['rejected', 'fulfilled'])
  expect(await store.get('https://b.test')).toBe('of b')
})

test('the error after close names the file', async ({ folder }) => {
  const store = folder.open()
  await store.close()
  await expect(store.get('https://example.com')).rejects.toThrow(`${folder.path}: this store is closed; `)
})

test('await using finishes pending writes and closes the file', async ({ folder }) => {
  let set: Promise<void>
  {
    await using store = folder.open()
    set = store.set('https://a.test', 'of a', inOneHour)
  }
  await set
  expect(await folder.open().get('https://a.test')).toBe('of a')
})

test('list yields all texts in the order in which they were set, over many pages', async ({ folder }) => {
  const store = folder.open()
  const origins = Array.from({ length: 100 }, (_, n) => `https://${n}.test`)
  for (const origin of origins) await store.set(origin, `of ${origin}`, inOneHour)
  await store.set('https://0.test', 'again', inOneHour)
  await store.delete('https://1.test')
  const listed: StoredText[] = []
  for await (const stored of store.list()) listed.push(stored)
  expect(listed.map(({ origin }) => origin)).toEqual([...origins.slice(2), 'https://0.test'])
  expect(listed.at(-1)).toEqual({ origin: 'https://0.test', text: 'again', keepUntil: inOneHour })
})
