// What a process holds more when a MemoryStore keeps many texts. Run with --expose-gc, in a process for each measurement.
//   node --expose-gc store-memory-child.ts COUNT CHARACTERS
import { MemoryStore } from '@politely/fetcher'
import { heldBytes } from '../held-memory.ts'
import type { StoreMemoryMessage } from './store-memory.ts'

const [count = '', characters = ''] = process.argv.slice(2)
const body = 'x'.repeat(Number(characters))

await fill(new MemoryStore(), 1_000) // what is compiled and allocated then does not count
const store = new MemoryStore({ maxBytes: Number.MAX_SAFE_INTEGER })
const before = await heldBytes()
await fill(store, Number(count))
const after = await heldBytes()
process.send?.({ heldBytes: after - before, claimedBytes: store.memoryBytes } satisfies StoreMemoryMessage)
process.disconnect?.()

async function fill(into: MemoryStore, origins: number): Promise<void> {
  const keepUntil = Date.now() + 3_600_000
  for (let i = 0; i < origins; i++) {
    // A part of a text that is twice as long: if that stays alive too, it shows.
    const text = `${i}${body}${body}`.slice(0, body.length)
    await into.set(`https://n${i}.example.com`, text, keepUntil + i)
  }
}
