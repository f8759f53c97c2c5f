// Tells whether the process that wrote a file has ended.
import { hash } from 'node:crypto'
import { statSync } from 'node:fs'
import { hostname, uptime } from 'node:os'

/** The first 12 digits of the SHA-256 of the host's name. */
export const HOST: string = hash('sha256', hostname()).slice(0, 12)

/**
 * Returns whether a process of this host, which wrote a file, has ended. Another process may have
 * its number now. So a file that was last written before the host or this process started counts as
 * left.
 */
export function hasEnded(path: string, host: string, pid: number): boolean {
  if (host !== HOST) return false
  const runsForMs = (pid === process.pid ? process.uptime() : uptime()) * 1000
  if (statSync(path).mtimeMs < Date.now() - runsForMs) return true
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
