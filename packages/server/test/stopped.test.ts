// @module-tag slow
// @module-tag full
// A server on a busy machine, which is stopped again and again.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { startCommand } from './command.ts'

/** How long the server is stopped, and then runs. The last two make it busy: two samples in turn are late. */
const PAUSES = [
  [1_200, 800],
  [1_200, 800],
  [1_200, 800],
  [6_000, 200],
  [6_000, 1_000],
] as const

/** Keeps all cores busy. */
function burn(): void {
  for (let n = 0; n < 2 * availableParallelism(); n++) {
    const child = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' })
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
  }
}

test('takes every report, and never says 503', async () => {
  const { child, address } = await startCommand(0)
  const post = (path: string, body: object) =>
    fetch(`${address}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  burn()
  const seen = new Set<string>()
  let isOver = false
  const calls = {
    reports: () => post('/v1/reports', { reports: [{ permit: 'p', status: 429 }] }),
    renewals: () => post('/v1/renewals', { permits: ['p'] }),
    permits: () => post('/v1/permits', { requests: [{ url: 'x' }] }),
    livez: () => fetch(`${address}/livez`),
    readyz: () => fetch(`${address}/readyz`),
    metrics: () => fetch(`${address}/metrics`),
  }
  const calling = Object.entries(calls).map(async ([name, call]) => {
    while (!isOver) {
      const response = await call()
      await response.text()
      seen.add(`${name} ${response.status}`)
    }
  })
  for (const [stoppedMs, runsMs] of PAUSES) {
    child.kill('SIGSTOP')
    await sleep(stoppedMs)
    child.kill('SIGCONT')
    await sleep(runsMs)
  }
  isOver = true
  await Promise.all(calling)
  expect([...seen].sort()).toEqual(
    Object.keys(calls)
      .map((name) => `${name} 200`)
      .sort(),
  )
})
