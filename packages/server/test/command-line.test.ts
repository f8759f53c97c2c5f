// What the command says to a mistake in its flags.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { runCommand } from '../src/command.ts'

/** Returns the lines that the command prints before it ends with 2. */
async function mistake(...args: readonly string[]): Promise<readonly string[]> {
  const stderr = new PassThrough({ encoding: 'utf8' })
  expect(await runCommand(['--user-agent', 'ExampleBot/1.0', ...args], { stdout: stderr, stderr })).toBe(2)
  return `${stderr.read()}`.replaceAll('politely serve: ', '').trim().split('\n').slice(0, -1)
}

test.each([
  ['--max-lease', '0', '--max-lease: "0" is out of range; write seconds from 1 to 86400, such as 2.5'],
  ['--min-delay', '86401', '--min-delay: "86401" is out of range; write seconds from 0 to 86400, such as 2.5'],
  ['--port', '99999', '--port: "99999" is not a whole number from 0 to 65535'],
  ['--max-per-site', '0', '--max-per-site: "0" is not a whole number from 1 on'],
])('names the flag %s, and what it may be', async (flag, value, message) => {
  expect(await mistake(flag, value)).toEqual([message])
})

test.skipIf(process.platform === 'win32')(
  'a key may be open to its group, as in Kubernetes, but to no other',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'politely-key-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const key = join(folder, 'permits.key')
    writeFileSync(key, 'short')
    const warnings = async (mode: number) => {
      chmodSync(key, mode)
      return (await mistake('--key', key)).slice(0, -1)
    }
    expect(await warnings(0o440)).toEqual([])
    expect(await warnings(0o444)).toEqual([`--key: others may read ${key}; write chmod 600 ${key}`])
  },
)
