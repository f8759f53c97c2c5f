// Ends a command at Ctrl-C and SIGTERM.
import { once } from 'node:events'
import { Interrupted } from './exit-code.ts'

export const SIGNALS = ['SIGINT', 'SIGTERM'] as const

/** @throws {Interrupted} at Ctrl-C and SIGTERM. */
export async function untilInterrupted<T>(work: Promise<T>): Promise<T> {
  const done = new AbortController()
  const interrupted = SIGNALS.map(async (signal) => {
    await once(process, signal, { signal: done.signal })
    throw new Interrupted()
  })
  for (const one of interrupted) one.catch(() => undefined) // `done.abort()` rejects it when the work is done
  try {
    return await Promise.race([work, ...interrupted])
  } finally {
    done.abort()
  }
}
