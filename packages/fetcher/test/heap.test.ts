// @module-tag heap
// @module-tag full
import { bodyLimit } from '@politely/testkit/cases/body-cases'
import { disallowsPage } from '@politely/testkit/cases/response-cases'
import { heapBytes, heldBytes } from '@politely/testkit/heap'
import { expect, it } from 'vitest'
import { bodyWithin } from '../src/base/byte-buffer.ts'
import { MemoryStore, RobotsClient } from '../src/index.ts'

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

it.each(['License:', 'Content-Signals:', 'Allow:/'])(
  '`usage` keeps less than the size of four files that consist of %s lines',
  async (line) => {
    const file = `User-agent: *\n${`${line}\n`.repeat(16_000 / (line.length + 1))}`
    const fetch = async () => new Response(file, { headers: { 'content-type': 'text/plain' } })
    const client = new RobotsClient({ userAgent: 'ExampleBot/1.0', fetch })
    const ask = async (from: number, to: number) => {
      for (let i = from; i < to; i++) await client.usage(`https://${i}.test/`, undefined, { tdmrep: 'ignore' })
    }
    await ask(0, 20)
    const before = await heapBytes()
    await ask(20, 120)
    expect((await heapBytes()) - before).toBeLessThan(100 * 4 * file.length)
    await client.close()
  },
)
