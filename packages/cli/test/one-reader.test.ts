// Everything reads a robots.txt as the parser does: a key that only the parser knows is known to
// every command.
import { readFileSync } from 'node:fs'
import { KNOWN_KEYS, type KnownKey } from '@politely/core/review'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { withoutFolder, writeFiles } from './files.ts'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'

/** Misspellings that no parser knows. */
const NEW_KEYS: readonly (readonly [string, KnownKey['directive']])[] = [
  ['forbid', 'disallow'],
  ['permit', 'allow'],
  ['crawler name', 'user-agent'],
  ['map-of-site', 'sitemap'],
]

const table = KNOWN_KEYS.lenient as KnownKey[][]

beforeAll(() => {
  for (const [name, directive] of NEW_KEYS)
    table[name.charCodeAt(0)]?.unshift({ name: Buffer.from(name), by: 'prefix', directive })
})
afterAll(() => {
  for (const [name] of NEW_KEYS) table[name.charCodeAt(0)]?.shift()
})

const path = writeFiles({
  'old.txt': 'Crawler name: *\nForbid: /b\n',
  'new.txt': 'Crawler name: *\nForbid: /c\n',
  'groups.txt': 'Crawler name: OneBot\nForbid: /a\n\nCrawler name: OtherBot\nForbid: /b\n',
  'audit.txt': 'Crawler name: *\nForbid: /secret/\n\nCrawler name: Claude-Web\nForbid: /\n',
  'fix.txt': 'Crawler name: OneBot\nPermit:\nCrawler name: *\nPermit: /x*\nForbid: /*x\nForbid: /y\nForbid: /y*\n',
  'only.txt': 'deny-only * /tmp\n',
})
const run = async (...args: string[]) => withoutFolder((await runInThisProcess(args)).stdout, path)

test('diff compares paths of such rules, and crawlers of such groups', async () => {
  expect(await run('diff', path('old.txt'), path('new.txt'))).toContain('2 by line 2 of the new file, Disallow: /c')
  expect(await run('diff', path('groups.txt'), path('new.txt'))).toContain('OtherBot\n')
})

test('audit finds such rules, and names in such lines', async () => {
  const text = await run('audit', path('audit.txt'))
  expect(text).toContain('may read all but (line 2)\n    /secret/')
  expect(text).toContain('Claude-Web (line 4)')
})

test('deny-only finds such rules', async () => {
  const [result] = parseJsonLines(await run('test', path('only.txt'), '--robots', path('audit.txt'), '--json'))
  expect(JSON.stringify(result)).toContain('/secret/ is disallowed too: line 2')
})

test('explain marks the lines of the group alone', async () => {
  const text = await run('explain', '/b', '--product-token', 'OtherBot', '--robots', path('groups.txt'))
  expect(text).toContain('  1 │ Crawler name: OneBot')
  expect(text).toContain('● 4 │ Crawler name: OtherBot\n▶ 5 │ Forbid: /b')
})

test('match takes such a file for a robots.txt', async () => {
  const file = readFileSync(path('groups.txt'), 'utf8')
  const { stderr } = await runInThisProcess(['match', '--crawler', '*', '--robots', path('old.txt')], file)
  expect(stderr).toContain('stdin looks like a robots.txt file')
})

test('lint --fix respells such keys, and proves what else it does with them', async () => {
  await run('lint', path('fix.txt'), '--fix')
  expect(readFileSync(path('fix.txt'), 'utf8')).toBe(
    'User-agent: OneBot\nAllow:\nUser-agent: *\nAllow: /x*\nDisallow: /*x\nDisallow: /y\n',
  )
})
