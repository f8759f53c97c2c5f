import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Runs `make` unless `isDone`, in one process at a time, so that two commands in a fresh clone do
 * not interfere. Best effort: two processes that find the lock of the same dead process at the same
 * moment may both continue.
 */
export function once(isDone, make) {
  if (isDone()) return
  mkdirSync('.tools', { recursive: true })
  const lock = join('.tools', 'lock')
  for (let tries = 0; !takeLock(lock); tries++) {
    if (tries === 4) console.error(`[setup] waiting for another command to set up (if there is none, delete ${lock})`)
    sleep(250)
  }
  try {
    if (!isDone()) make()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Blocks the process. @param ms Milliseconds. */
export function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function takeLock(lock) {
  try {
    writeFileSync(lock, `${process.pid}`, { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0) // signal 0 only tests whether the process exists
  } catch (error) {
    if (error.code === 'ESRCH') rmSync(lock, { force: true }) // the owner was killed; the next attempt takes the lock
  }
  return false
}
