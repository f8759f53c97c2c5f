// Measures the memory of a MemoryStore with many texts, in a child process for each measurement.
// Needs --expose-gc.
//   node --expose-gc store-memory-child.ts COUNT CHARACTERS
import { MemoryStore } from '@politely/fetcher'
import { heldBytes } from '../held-bytes.ts'
import type { StoreMemoryMessage } from './store-memory.ts'

const [count = '', characters = ''] = process.argv.slice(2)
const body = 'x'.repeat(Number(characters))

await fill(new MemoryStore(), 1_000) // a warm-up, so that compiled code does not count
const store = new MemoryStore({ maxBytes: Number.MAX_SAFE_INTEGER })
const before = await heldBytes()
await fill(store, Number(count))
const after = await heldBytes()
process.send?.({ heldBytes: after - before, reportedBytes: store.memoryBytes } satisfies StoreMemoryMessage)
process.disconnect?.()

async function fill(into: MemoryStore, origins: number): Promise<void> {
  const keepUntil = Date.now() + 3_600_000
  for (let i = 0; i < origins; i++) {
    // A slice of a text of twice the length. If the store kept the longer text alive, the figure
    // would show it.
    const text = `${i}${body}${body}`.slice(0, body.length)
    await into.set(`https://n${i}.example.com`, text, keepUntil + i)
  }
}
