// A process that writes to a store and prints an acknowledgement as soon as each write has
// resolved:
//   node writer.ts PATH SEED STEPS
// Several lanes run concurrently. Each waits for one write, prints the number of its lane, and
// starts the next write.
import { SqliteStore } from '../src/index.ts'
import { LANES, stepsOf } from './steps.ts'

const [path = '', seed = '', steps = ''] = process.argv.slice(2)
const store = new SqliteStore({ path, busyTimeoutMs: 60_000 })
const keepUntil = Date.now() + 3_600_000

async function runLane(lane: number): Promise<void> {
  for (const step of stepsOf(Number(seed), lane, Number(steps))) {
    if (step.text === undefined) await store.delete(step.origin)
    else await store.set(step.origin, step.text, keepUntil)
    await printed(`${lane}\n`)
  }
}

await Promise.all(Array.from({ length: LANES }, (_, lane) => runLane(lane)))
await store.close()

/**
 * Resolves when the pipe has taken the line. Without that, a full pipe would delay
 * acknowledgements.
 */
function printed(line: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(line, () => resolve()))
}
