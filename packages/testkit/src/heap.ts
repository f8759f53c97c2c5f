// Measures the heap of the process. Test files share a process, so other garbage may be collected
// during a measurement.
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

/** Returns the heap bytes that the value of `create` takes: the median of three measurements. */
export async function heldBytes(create: () => object): Promise<number> {
  const samples: number[] = []
  for (let i = 0; i < 3; i++) {
    const before = await heapBytes()
    const kept = [create()]
    samples.push((await heapBytes()) - before)
    kept.pop()
  }
  return samples.toSorted((a, b) => a - b)[1] as number
}
