// Measures how many bytes a process keeps in memory, in a child process.
import { fork } from 'node:child_process'
import { setImmediate } from 'node:timers/promises'
import { collectGarbage } from './rounds.ts'

/** Runs a script with --expose-gc and 8 GiB of heap, and returns the one message that it sends. */
export function measureInProcess<T>(script: URL, args: readonly (string | number)[]): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const execArgv = ['--expose-gc', '--max-old-space-size=8192']
  const child = fork(script, args.map(String), { execArgv })
  let received: { readonly message: T } | undefined
  child.on('message', (message: T) => {
    received = { message }
  })
  child.on('error', reject)
  child.on('exit', (code) => {
    if (received !== undefined) resolve(received.message)
    else reject(new Error(`${script.pathname} ${args.join(' ')} exited with ${code} and sent no figure`))
  })
  return promise
}

/**
 * Returns heap and external memory in use, after garbage collection. `external` includes array
 * buffers.
 */
export async function heldBytes(): Promise<number> {
  for (let turn = 0; turn < 6; turn++) {
    collectGarbage()
    await setImmediate()
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
