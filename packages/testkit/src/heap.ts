// Measures the heap of the process. Test files share a process, so garbage of other tests may be
// collected during a measurement. Files that measure often are listed in `MEASURE_HEAP` of
// vitest.config.ts: they have a process of their own.
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
export const collectGarbage: () => void = runInNewContext('gc')

/** Returns the heap bytes in use after garbage collection. */
export async function heapBytes(): Promise<number> {
  for (let turn = 0; turn < 4; turn++) {
    collectGarbage()
    await setImmediate()
  }
  return process.memoryUsage().heapUsed
}

const MAX_SAMPLES = 15
/** What Node itself may allocate or free during a measurement. */
const NOISE_BYTES = 1024

/**
 * Returns the heap bytes that the value of `create` takes. Measures until three results in a row
 * differ by at most 5 % and `NOISE_BYTES`, and returns the middle one.
 */
export async function heldBytes(create: () => object): Promise<number> {
  const samples: number[] = []
  while (samples.length < MAX_SAMPLES) {
    const before = await heapBytes()
    const kept = [create()]
    samples.push((await heapBytes()) - before)
    kept.pop()
    const [least = 0, middle = 0, most = 0] = samples.slice(-3).toSorted((a, b) => a - b)
    if (samples.length >= 3 && least > 0 && most <= 1.05 * least + NOISE_BYTES) return middle
  }
  throw new Error(`no three measurements in a row agree: ${samples.join(', ')} bytes`)
}
