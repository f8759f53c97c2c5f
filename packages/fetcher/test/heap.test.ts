// @module-tag heap
// @module-tag full
import { bodyLimit } from '@politely/testkit/cases/body-cases'
import { disallowsPage } from '@politely/testkit/cases/response-cases'
import { heapBytes, heldBytes } from '@politely/testkit/heap'
import { expect, it } from 'vitest'
import { bodyWithin } from '../src/base/byte-buffer.ts'
import { MemoryStore } from '../src/index.ts'

it('RFC 9309 §2.5, a cut body takes no memory for the line that was cut off', async () => {
  const received = Buffer.from(`${disallowsPage}${'x'.repeat(bodyLimit)}`)
  const held = await heldBytes(() => Array.from({ length: 20 }, () => bodyWithin(received, bodyLimit)))
  expect(held).toBeLessThan(bodyLimit) // in all, not each
})

it('a text that is a substring does not keep the longer string alive', async () => {
  const store = new MemoryStore()
  const before = await heapBytes()
  for (let i = 0; i < 25; i++) {
    const long = `${i} `.repeat(300_000)
    await store.set(long.slice(0, 40), long.slice(100, 200), Date.now() + 60_000)
  }
  expect((await heapBytes()) - before).toBeLessThan(10_000_000)
  expect(await store.get('1 '.repeat(20))).toBe('1 '.repeat(50))
})
