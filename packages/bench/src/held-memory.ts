// What a process holds, measured in a process of its own.
import { fork } from 'node:child_process'
import { setImmediate } from 'node:timers/promises'
import { collectGarbage } from './rounds.ts'

/** What a script says of itself by its one message. It runs with garbage collection at hand, and with much memory. */
export function measuredIn<T>(script: URL, args: readonly (string | number)[]): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const execArgv = ['--expose-gc', '--max-old-space-size=8192']
  const child = fork(script, args.map(String), { execArgv })
  let found: { readonly message: T } | undefined
  child.on('message', (message: T) => {
    found = { message }
  })
  child.on('error', reject)
  child.on('exit', (code) => {
    if (found !== undefined) resolve(found.message)
    else reject(new Error(`${script.pathname} ended with ${code} and without a figure, given ${args.join(' ')}`))
  })
  return promise
}

/** Of the heap and beside it. `external` has the array buffers in it: to add those would be to count them twice. */
export async function heldBytes(): Promise<number> {
  for (let turn = 0; turn < 6; turn++) {
    collectGarbage()
    await setImmediate()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
