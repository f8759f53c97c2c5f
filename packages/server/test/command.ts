// Starts the command of the server in another process.
import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Answer } from './kit.ts'

export async function post(server: string, path: string, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${server}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const answer: Answer = await response.json()
  // A server that starts or stops may be unavailable (503). Any other fault fails the test.
  if (response.status === 503) throw new Error(answer.detail)
  return answer
}

/** Starts the command. Resolves to its process when it listens at this port. */
export async function startCommand(
  port: number,
  ...more: readonly string[]
): Promise<{ child: ChildProcess; address: string }> {
  const main = join(import.meta.dirname, '../src/main.ts')
  const args = [
    main,
    '--user-agent',
    'ExampleBot/1.0',
    '--port',
    `${port}`,
    '--allow-private',
    '--min-delay',
    '0',
    '--max-per-site',
    '10',
    ...more,
  ]
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  // It is read to its end: a server that can't write its log would end.
  const address = await new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      const found = /listens at (\S+)/.exec(`${chunk}`)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once('exit', () => reject(new Error('the server has ended')))
  })
  return { child, address }
}
