// A process that sets texts and says of each set that it is done, as soon as it is:
//   node writer.ts PATH SEED STEPS
// It has several lanes. Each waits for one step before it takes the next, and then says its number.
import { SqliteStore } from '../src/index.ts'
import { LANES, stepsOf } from './steps.ts'

const [path = '', seed = '', steps = ''] = process.argv.slice(2)
const store = new SqliteStore({ path, busyTimeoutMs: 60_000 })
const keepUntil = Date.now() + 3_600_000

async function runLane(lane: number): Promise<void> {
  for (const step of stepsOf(Number(seed), lane, Number(steps))) {
    if (step.text === undefined) await store.delete(step.origin)
    else await store.set(step.origin, step.text, keepUntil)
    await written(`${lane}\n`)
  }
}

await Promise.all(Array.from({ length: LANES }, (_, lane) => runLane(lane)))
await store.close()

/** Resolves when it is in the pipe: a full one would keep the writer, and so what it says, behind what it does. */
function written(line: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(line, () => resolve()))
}
