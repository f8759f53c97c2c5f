// The memory that MemoryStore uses, and what it evicts. packages/testing runs the cases of all
// stores.
import { OptionError } from '@politely/core'
import { startClock } from '@politely/testkit/clock'
import { expect, test } from 'vitest'
import { MemoryStore, type MemoryStoreOptions } from '../src/index.ts'

test('our choice, the least recently used text is evicted first', async () => {
  const store = new MemoryStore({ maxBytes: 10_000 })
  const keepUntil = Date.now() + 60_000
  const text = 'x'.repeat(1_500)
  for (const origin of ['a', 'b', 'c', 'd', 'e']) await store.set(origin, text, keepUntil)
  await store.get('a')
  await store.set('f', text, keepUntil)
  expect(await store.get('a')).toBe(text)
  expect(await store.get('b')).toBeUndefined()
})

test('our choice, a text with a character outside Latin-1 counts two bytes per character', async () => {
  const store = new MemoryStore({ maxBytes: 10_000 })
  await store.set('a', 'x'.repeat(6_000), Number.POSITIVE_INFINITY)
  await store.set('b', `${'x'.repeat(6_000)}€`, Number.POSITIVE_INFINITY)
  expect(await store.get('a')).toHaveLength(6_000)
  expect(await store.get('b')).toBeUndefined()
})

test('deleted and expired texts take no memory', async () => {
  const clock = startClock()
  const store = new MemoryStore({ now: clock.now })
  await store.set('a', 'x'.repeat(1_000), clock.now() + 1)
  await store.set('b', 'x'.repeat(1_000), clock.now() + 1_000)
  expect(store.memoryBytes).toBeGreaterThan(2_000)
  await store.delete('b')
  clock.advance(1)
  await store.get('a')
  expect(store.memoryBytes).toBe(0)
})

test('await using closes the store', async () => {
  let kept: MemoryStore
  {
    await using store = new MemoryStore()
    kept = store
  }
  await expect(kept.get('a')).rejects.toMatchObject({
    code: 'ERR_POLITELY_STORE_CLOSED',
    message: expect.stringContaining('await the calls of its clients before close(), or create a new store'),
  })
})

test.for([
  ['maxBytes', { maxBytes: 0 }],
  ['maxBytes', { maxBytes: 1.5 }],
  ['maxBytes', { maxBytes: Number.POSITIVE_INFINITY }],
  ['maxBytes', { maxBytes: '64 MiB' }],
  ['now', { now: 5 }],
  ['maxSize', { maxSize: 5 }],
] as const)('%s: rejects %o', ([option, options]) => {
  const construction = () => new MemoryStore(options as MemoryStoreOptions)
  expect(construction).toThrow(OptionError)
  expect(construction).toThrow(expect.objectContaining({ option }))
})
