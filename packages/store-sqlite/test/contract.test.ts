// SqliteStore keeps the contract of stores, with a file in a folder of its own.
import { startClock } from '@politely/testkit/clock'
import { storeCasesFor } from '@politely/testkit/store-contract'
import { expect } from 'vitest'
import { later, test } from './folder.ts'

const maxBytes = 16 * 1024 * 1024

test.for(storeCasesFor('SqliteStore'))('store contract, $name', async ({ run }, { folder }) => {
  const clock = startClock()
  await run({ open: () => folder.open({ maxBytes, now: clock.now }), clock, maxBytes, heldBytes: folder.heldBytes })
})

test('what cannot be a text is an error of its own call, not of those that are written together with it', async ({
  folder,
}) => {
  const store = folder.open()
  const [wrong, right] = await Promise.allSettled([
    store.set('https://a.test', 42 as unknown as string, later),
    store.set('https://b.test', 'of b', later),
  ])
  expect([wrong.status, right.status]).toEqual(['rejected', 'fulfilled'])
  expect(await store.get('https://b.test')).toBe('of b')
})

test('await using closes it, and writes what was asked for', async ({ folder }) => {
  let set: Promise<void>
  {
    await using store = folder.open()
    set = store.set('https://a.test', 'of a', later)
  }
  await set
  expect(await folder.open().get('https://a.test')).toBe('of a')
})
