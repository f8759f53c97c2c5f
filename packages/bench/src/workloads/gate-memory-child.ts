// What a process holds more when very many origins have a pause to keep, and when that is over. Run with --expose-gc.
//   node --expose-gc gate-memory-child.ts COUNT
import type { PaceLimits } from '@politely/core'
import { LocalPacer } from '@politely/gate'
import { heldBytes } from '../held-memory.ts'
import type { IdleOrigins } from './gate.ts'

const origins = Number(process.argv[2])
const HOUR_MS = 3_600_000
const longWishes: PaceLimits = { ownDelayMs: HOUR_MS, maxDelayMs: undefined, crawlDelayMs: undefined }
const noWishes: PaceLimits = { ...longWishes, ownDelayMs: 0 }

let now = Date.UTC(2026, 0, 1)
const pacer = new LocalPacer(() => now)
for (let n = 0; n < 1_000; n++) pacer.reserve('warming', noWishes)

const before = await heldBytes()
// Each a text of its own, as the names of real origins are.
for (let n = 0; n < origins; n++) pacer.reserve(Buffer.from(`https://n${n}.example.com`).toString('latin1'), longWishes)
const after = await heldBytes()
now += HOUR_MS
for (let n = 0; n <= origins; n++) pacer.reserve('another', noWishes)
const atLast = await heldBytes()
process.send?.({
  origins,
  heldBytes: after - before,
  heldAfterBytes: atLast - before,
  remembered: pacer.size,
} satisfies IdleOrigins)
process.disconnect?.()
