// Files that the command writes: on a full disk, through links, into pipes and devices.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, linkSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect, test, vi } from 'vitest'
import { replaceFile } from '../src/output/file.ts'
import { writeFiles } from './files.ts'
import { exitCodeOf, MAIN, runInThisProcess, startCli } from './run-cli.ts'
import { startSite } from './site.ts'

const BOT = ['--user-agent', 'ExampleBot']
const rules = (end: string) => Array.from({ length: 1500 }, (_, i) => `Disallow: /folder-${i}/${end}\n`).join('')
const ROBOTS = `User-agent: *\n${rules('*')}`
const FIXED = `User-agent: *\n${rules('')}`

/** Runs the program where a file has at most 16 KiB, so that a write fails in the middle. */
async function runOnFullDisk(args: readonly string[]) {
  const child = spawn('sh', ['-c', 'ulimit -f 16; exec "$0" "$@"', process.execPath, MAIN, ...args])
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  return { code, stderr }
}

const lineAbout = (flag: string, code: string) =>
  new RegExp(`^politely: --${flag}: "[^"\\n]+" cannot be written \\(${code}\\); [^\\n]+\\n$`)

test('a full disk leaves the file of lint --fix as it is', { tags: 'full' }, async () => {
  const path = writeFiles({ 'robots.txt': ROBOTS })
  const { code, stderr } = await runOnFullDisk(['lint', '--fix', path('robots.txt')])
  expect(stderr).toMatch(lineAbout('fix', 'EFBIG'))
  expect(code).toBe(2)
  expect(readFileSync(path('robots.txt'), 'utf8')).toBe(ROBOTS)
  expect(readdirSync(path(''))).toEqual(['robots.txt'])
})

test('a full disk leaves the file of fetch --output as it is', { tags: 'full' }, async () => {
  const { origin } = await startSite({ status: 200, body: 'p'.repeat(50_000) }, '/page')
  const path = writeFiles({ page: 'old' })
  const { code, stderr } = await runOnFullDisk(['fetch', `${origin}/page`, ...BOT, '--output', path('page')])
  expect(stderr).toMatch(lineAbout('output', 'EFBIG'))
  expect(code).toBe(2)
  expect(readFileSync(path('page'), 'utf8')).toBe('old')
})

test('a full disk ends match --output with one line, and --resume goes on later', { tags: 'full' }, async () => {
  const path = writeFiles({ 'robots.txt': ROBOTS, 'urls.txt': '/page\n'.repeat(1000) })
  const args = ['match', '--robots', path('robots.txt'), '--urls', path('urls.txt'), ...BOT, '--output', path('out')]
  const { code, stderr } = await runOnFullDisk(args)
  expect(stderr).toMatch(lineAbout('output', 'EFBIG'))
  expect(code).toBe(2)
  expect((await runInThisProcess([...args, '--resume'])).code).toBe(0)
  expect(readFileSync(path('out'), 'utf8').match(/\n/g)).toHaveLength(1000)
})

test.skipIf(!existsSync('/dev/full')).for([
  ['match', 'output', '/dev/full', 'ENOSPC'],
  ['match', 'output', '.', 'EISDIR'],
  ['fetch', 'output', '/dev/full', 'ENOSPC'],
  ['fetch', 'output', 'none/file', 'ENOENT'],
  ['export', 'output', '/dev/full', 'ENOSPC'],
  ['export', 'robots-dir', '/dev/full/x', 'ENOTDIR'],
] as const)('%s --%s %s exits with 2 after one line', async ([name, flag, file, error]) => {
  const { origin } = await startSite({ status: 200, body: 'User-agent: *\nDisallow:\n' })
  const path = writeFiles({ 'robots.txt': ROBOTS })
  const store = ['--store', path('robots.sqlite')]
  if (name === 'export') await runInThisProcess(['check', `${origin}/`, ...BOT, ...store])
  const command = {
    match: ['match', '--robots', path('robots.txt'), ...BOT],
    fetch: ['fetch', `${origin}/robots.txt`, ...BOT],
    export: ['cache', 'export', ...store],
  }[name]
  const { code, stderr } = await runInThisProcess([...command, `--${flag}`, file], '/\n')
  expect(stderr).toMatch(lineAbout(flag, error))
  expect(code).toBe(2)
})

test('follows symbolic links, and keeps modes and hard links', async () => {
  const path = writeFiles({ 'robots.txt': ROBOTS, 'linked.txt': ROBOTS })
  chmodSync(path('robots.txt'), 0o640)
  symlinkSync('robots.txt', path('link.txt'))
  linkSync(path('linked.txt'), path('same.txt'))
  await runInThisProcess(['lint', '--fix', path('link.txt'), path('linked.txt')])
  expect(readFileSync(path('robots.txt'), 'utf8')).toBe(FIXED)
  expect(statSync(path('robots.txt')).mode & 0o777).toBe(0o640)
  expect(lstatSync(path('link.txt')).isSymbolicLink()).toBe(true)
  expect(readFileSync(path('same.txt'), 'utf8')).toBe(FIXED)
  expect(readdirSync(path('')).sort()).toEqual(['link.txt', 'linked.txt', 'robots.txt', 'same.txt'])
})

test('creates the file that a symbolic link names', async () => {
  const path = writeFiles({ 'other.txt': '' })
  symlinkSync('new.txt', path('link.txt'))
  await replaceFile('output', path('link.txt'), ['text'])
  expect(readFileSync(path('new.txt'), 'utf8')).toBe('text')
})

test.skipIf(!existsSync('/dev/stdout'))('writes directly into a pipe', { tags: 'full' }, async () => {
  const path = writeFiles({ 'robots.txt': 'User-agent: *\nDisallow: /a\n' })
  const args = ['match', '--robots', path('robots.txt'), ...BOT, '--format', 'csv', '--output', '/dev/stdout']
  const child = spawn('sh', ['-c', '"$0" "$@" | cat', process.execPath, MAIN, ...args])
  child.stdin.end('/a\n')
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  expect(stderr).toBe('')
  expect(stdout).toContain('/a,ExampleBot,false')
})

test('throws an error of the content unchanged, and keeps the old file', async () => {
  const path = writeFiles({ page: 'old' })
  async function* chunks() {
    yield 'new'
    throw Object.assign(new Error('reset'), { code: 'ECONNRESET', syscall: 'read' })
  }
  await expect(replaceFile('output', path('page'), chunks())).rejects.toThrow('reset')
  expect(readFileSync(path('page'), 'utf8')).toBe('old')
  expect(readdirSync(path(''))).toEqual(['page'])
})

test('a signal leaves no temporary file', { tags: 'full' }, async () => {
  const { origin } = await startSite((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nbegin'), '/page')
  const path = writeFiles({ page: 'old' })
  const child = startCli(['fetch', `${origin}/page`, ...BOT, '--output', path('page')])
  await vi.waitUntil(() => readdirSync(path('')).length === 2, { timeout: 20_000 })
  child.kill('SIGINT')
  await exitCodeOf(child)
  expect(child.signalCode).toBe('SIGINT')
  expect(readdirSync(path(''))).toEqual(['page'])
})
