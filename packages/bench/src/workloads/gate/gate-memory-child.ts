// Measures the memory of very many origins while their delays run, and after that. Needs
// --expose-gc.
//   node --expose-gc gate-memory-child.ts COUNT
import type { PaceLimits } from '@politely/core/engine'
import { LocalPacer } from '@politely/gate'
import { heldBytes } from '../../held-bytes.ts'
import type { IdleOrigins } from './gate-overhead.ts'

const origins = Number(process.argv[2])
const HOUR_MS = 3_600_000
const longDelay: PaceLimits = { ownDelayMs: HOUR_MS, maxDelayMs: undefined, crawlDelayMs: undefined }
const noDelay: PaceLimits = { ...longDelay, ownDelayMs: 0 }

let now = Date.UTC(2026, 0, 1)
const pacer = new LocalPacer(() => now)
for (let n = 0; n < 1_000; n++) pacer.reserve('warm-up', noDelay)

const before = await heldBytes()
// Each name is a separate string in memory, as for real origins.
for (let n = 0; n < origins; n++) pacer.reserve(Buffer.from(`https://n${n}.example.com`).toString('latin1'), longDelay)
const after = await heldBytes()
now += HOUR_MS
for (let n = 0; n <= origins; n++) pacer.reserve('another', noDelay)
const afterEviction = await heldBytes()
process.send?.({
  origins,
  heldBytes: after - before,
  heldBytesAfterEviction: afterEviction - before,
  entries: pacer.size,
} satisfies IdleOrigins)
process.disconnect?.()
