import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Makes what is not done yet, in one process at a time: two commands started in a fresh clone do not spoil each other.
 * Best effort: two that find the lock of one dead process at the same instant may still both go on.
 */
export function once(isDone, make) {
  if (isDone()) return
  mkdirSync('.tools', { recursive: true })
  const lock = join('.tools', 'lock')
  for (let tries = 0; !takeLock(lock); tries++) {
    if (tries === 4) console.error(`[setup] waiting for another command to set up (if there is none, delete ${lock})`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250) // sleeps 250 ms
  }
  try {
    if (!isDone()) make()
  } finally {
    rmSync(lock, { force: true })
  }
}

function takeLock(lock) {
  try {
    writeFileSync(lock, `${process.pid}`, { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
  }
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0) // signal 0 only asks whether the holder lives
  } catch (error) {
    if (error.code === 'ESRCH') rmSync(lock, { force: true }) // it was killed: the next try takes the lock
  }
  return false
}
