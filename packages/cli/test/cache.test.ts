import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { entryFrom, entryText, keepUntil, settle } from '@politely/core/engine'
import { defaultAccessPolicy } from '@politely/core/internal'
import { SqliteStore } from '@politely/sqlite'
import { isFullRun } from '@politely/testkit/scope'
import { startSites } from '@politely/testkit/servers/sites'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'

const DAY_MS = 86_400_000
const BOT = ['--user-agent', 'ExampleBot']
const ROBOTS = 'User-agent: *\nDisallow: /\u00e4\n'

let folder = ''
let store = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'politely-'))
  store = join(folder, 'robots.sqlite')
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

const cache = (...args: string[]) => runInThisProcess(['cache', ...args])

/** Returns an entry as a client stores it: of a robots.txt, or of a missing one. */
function entryOf(origin: string, at: number, body: string | null = ROBOTS) {
  const last = { url: `${origin}/robots.txt`, hops: [], headers: { etag: '"1"' } }
  const bytes = Buffer.from(body ?? '').toString('latin1')
  const outcome =
    body === null
      ? ({ kind: 'unavailable', reason: 'status', status: 404, ...last } as const)
      : ({ kind: 'success', status: 200, body: { bytes, truncated: false }, ...last } as const)
  return settle(undefined, origin, outcome, at, defaultAccessPolicy)
}

/** Fills the store with an entry of each origin, by how many days ago it was fetched. */
async function fill(days: Readonly<Record<string, number>>, path = store): Promise<void> {
  await using file = new SqliteStore({ path })
  await Promise.all(
    Object.entries(days).map(([origin, age]) => {
      const entry = entryOf(origin, Date.now() - age * DAY_MS, origin.includes('none') ? null : ROBOTS)
      return file.set(origin, entryText(entry), keepUntil(entry, Date.now(), defaultAccessPolicy))
    }),
  )
}

async function texts(path: string): Promise<readonly (readonly [string, string])[]> {
  await using file = new SqliteStore({ path })
  const listed: (readonly [string, string])[] = []
  for await (const { origin, text } of file.list()) listed.push([origin, text])
  return listed.sort()
}

const WEB = { 'https://example.com': 3, 'http://shop.example.com:8080': 0, 'https://none.test': 1 }

test('ls lists the origins', async () => {
  await fill(WEB)
  const { code, stdout } = await cache('ls', '--store', store)
  expect(stdout.replace(/[\d.]+ m?s ago +/, 'now         ')).toBe(
    [
      'state           attempt      next        size       origin',
      'rules           3 days ago   due         28 bytes   https://example.com',
      'rules           now         in 24 h     28 bytes   http://shop.example.com:8080',
      'unavailable     24 h ago     due         –          https://none.test',
      '3 origins, 56 bytes of robots.txt',
      '',
    ].join('\n'),
  )
  expect(code).toBe(0)
})

test('ls selects by host and by age, and prints JSON', async () => {
  await fill(WEB)
  const host = await cache('ls', '--store', store, '--host', 'example.com', '--format', 'ndjson')
  expect(parseJsonLines(host.stdout)).toMatchObject([
    { version: 1, origin: 'https://example.com', state: 'rules', status: 200, bytes: 28 },
    { version: 1, origin: 'http://shop.example.com:8080' },
  ])
  const old = await cache('ls', '--store', store, '--older-than', '0.5', '--json')
  expect(JSON.parse(old.stdout)).toMatchObject({
    version: 1,
    entries: [{ origin: 'https://example.com' }, { origin: 'https://none.test', state: 'unavailable', status: 404 }],
  })
})

test('show prints an entry with its robots.txt', async () => {
  await fill({ 'https://example.com': 0 })
  const { code, stdout, stderr } = await cache('show', 'example.com', 'https://other.test/', '--store', store)
  expect(stdout.replace(/20\d\d-[\d-]+T[\d:]+Z/g, 'TIME')).toBe(
    [
      'https://example.com',
      '  state     robots.txt was fetched (status 200): its rules are obeyed; the next attempt is due at TIME',
      '  attempts  TIME  status 200  https://example.com/robots.txt',
      '  copy      28 bytes, confirmed TIME',
      '            from https://example.com/robots.txt',
      '  ETag      "1"',
      '',
      'User-agent: *',
      'Disallow: /ä',
      '',
    ].join('\n'),
  )
  expect(stderr).toBe('politely: https://other.test is not in the store; politely cache ls lists what is there\n')
  expect(code).toBe(1)
  const json = await cache('show', 'example.com', '--store', store, '--json')
  expect(JSON.parse(json.stdout)).toMatchObject({
    version: 1,
    entries: [{ copy: { size: 28, text: ROBOTS, etag: '"1"' } }],
  })
})

test('refresh fetches anew, says what changed, and leaves a failed server alone', async () => {
  const sites = await startSites()
  onTestFinished(() => sites.close())
  const same = sites.withPort('http://127.0.0.1:PORT')
  const changed = sites.withPort('http://localhost:PORT')
  await fill({ [same]: 1, [changed]: 1 })
  sites.answerAll({
    'http://127.0.0.1:PORT/robots.txt': { status: 200, body: ROBOTS },
    'http://localhost:PORT/robots.txt': { status: 200, body: 'User-agent: *\n' },
  })
  const refresh = (...args: string[]) => cache('refresh', ...args, '--store', store, ...BOT)
  const all = await refresh('--older-than', '0.5')
  expect(all.stdout.split('\n').sort()).toEqual(
    ['', `unchanged    ${same}`, `changed      ${changed}`, '2 origins: 1 unchanged, 1 changed'].sort(),
  )
  expect(all.code).toBe(0)
  expect((await refresh('--older-than', '0.5')).stdout).toBe('0 origins\n')
  sites.respond('http://127.0.0.1:PORT/robots.txt', { status: 503, headers: { 'retry-after': '120' } })
  const lost = await refresh(same, '--json')
  expect(JSON.parse(lost.stdout)).toMatchObject({ version: 1, entries: [{ origin: same, result: 'unreachable' }] })
  expect(lost.code).toBe(3)
  const { length } = sites.requests
  const waiting = await refresh(same)
  expect(waiting.stdout).toMatch(
    /^waiting .*\n +robots\.txt was fetched .*; an early refresh found it unreachable \(status 503\); the server asked to wait 120 s, until \S+Z; the next attempt is due in .*\n1 origin: 1 waiting\n$/,
  )
  expect(sites.requests).toHaveLength(length)
})

test('export and import move entries to another store', async () => {
  await fill(WEB)
  const file = join(folder, 'entries.ndjson')
  const other = join(folder, 'other.sqlite')
  const exported = await cache('export', '--store', store, '--output', file)
  expect(exported).toEqual({ code: 0, stdout: '', stderr: `politely: wrote 3 entries to ${file}\n` })
  expect((await cache('import', file, '--store', other)).stdout).toBe('imported 3 entries\n')
  expect(await texts(other)).toEqual(await texts(store))
  const again = await runInThisProcess(['cache', 'import', '-', '--store', other], readFileSync(file, 'utf8'))
  expect(again.stdout).toBe('imported 0 entries; 3 entries were no newer than what the store has\n')
  expect(again.code).toBe(0)
})

test('the newer of two entries about one origin wins, also in one file', async () => {
  await fill({ 'https://a.test': 2 })
  const now = Date.now()
  const lines = [1, 0, 3].map((days) => entryText(entryOf('https://a.test', now - days * DAY_MS)))
  const file = join(folder, 'entries.ndjson')
  writeFileSync(file, lines.join('\n'))
  expect((await cache('import', file, '--store', store)).stdout).toMatch(/^imported 2 entries; 1 entry was no newer/)
  expect((await texts(store))[0]?.[1]).toBe(lines[1])
})

test('a wrong line is named, and nothing is imported', async () => {
  await fill(WEB)
  const { stdout } = await cache('export', '--store', store)
  const file = join(folder, 'entries.ndjson')
  const other = join(folder, 'other.sqlite')
  writeFileSync(file, `${stdout}\n{"x":1}\nnull\nhello\n${stdout.split('\n')[0]?.replace('Disallow', 'Allow')}\n`)
  expect(await cache('import', file, '--store', other)).toEqual({
    code: 2,
    stdout: '',
    stderr: [
      'politely: line 5: this is not an entry; write the lines of politely cache export',
      'politely: line 6: this is not an entry; write the lines of politely cache export',
      'politely: line 7: this is not JSON; write the lines of politely cache export',
      'politely: line 8: the entry (version 5) was changed, or is of another version of politely; export it again',
      `politely: 4 lines of ${file} cannot be read; nothing was imported`,
      '',
    ].join('\n'),
  })
  expect(existsSync(other)).toBe(false)
})

test('export --robots-dir writes a robots.txt file for each origin', async () => {
  await fill(WEB)
  const dir = join(folder, 'robots')
  const { stderr } = await cache('export', '--store', store, '--robots-dir', dir)
  expect(stderr).toBe(`politely: wrote 2 robots.txt files (1 origin without a copy left out) to ${dir}\n`)
  expect(readdirSync(dir).sort()).toEqual(['example.com.txt', 'http_shop.example.com_8080.txt'])
  expect(readFileSync(join(dir, 'example.com.txt'), 'utf8')).toBe(ROBOTS)
})

test('prune removes what is old', async () => {
  await fill(WEB)
  expect((await cache('prune', '--store', store)).stdout).toBe('removed 0 origins of 3\n')
  expect((await cache('prune', '--store', store, '--older-than', '2')).stdout).toBe('removed 1 origin of 3\n')
  expect((await cache('prune', '--store', store, '--older-than', '0', '--host', 'test')).stdout).toBe(
    'removed 1 origin of 2\n',
  )
  expect((await texts(store)).map(([origin]) => origin)).toEqual(['http://shop.example.com:8080'])
})

test('a damaged, foreign or missing file is one line', async () => {
  expect(await cache('ls', '--store', store)).toEqual({
    code: 2,
    stdout: '',
    stderr: `politely: --store: ${JSON.stringify(store)}: there is no such file; politely fetch URL --store ${store} creates it\n`,
  })
  writeFileSync(store, 'hello, world')
  expect((await cache('ls', '--store', store)).stderr).toMatch(
    /^politely: --store: .*: this file exists and is not an SQLite file, .*\n$/,
  )
  rmSync(store)
  await fill(WEB)
  truncateSync(store, 5000)
  const damaged = await cache('ls', '--store', store)
  expect(damaged).toMatchObject({ code: 2, stdout: '' })
  expect(damaged.stderr).toMatch(
    /^politely: --store: .* is damaged \(.*\); it was renamed to .*, and a new file was created\n$/,
  )
})

test.for([
  [[], 'write what to do: politely cache ls|show|refresh|export|import|prune'],
  [['list'], '"list" is not known; write politely cache ls|show|refresh|export|import|prune'],
  [['exprt'], '"exprt" is not known; write politely cache export'],
  [['ls', 'x', '--store', 'x'], 'cache ls: "x" has no meaning here; leave it out'],
  [['ls', '--all', '--store', 'x'], '--all is an option of cache refresh, not of cache ls'],
  [
    ['ls'],
    'cache ls: write --store robots.sqlite for robots.txt files (or set POLITELY_STORE), or --cache pages.sqlite for pages',
  ],
  [['export'], '--store: is missing; write --store robots.sqlite, or set the environment variable POLITELY_STORE'],
  [['ls', '--older-than', '-1', '--store', 'x'], /--older-than/],
  [['ls', '--host', 'a/b', '--store', 'x'], '--host: "a/b" is not a host; write one such as example.com'],
  [['show', '--store', 'x'], 'cache show: no origin was given; write one such as https://example.com'],
  [['show', 'a b', '--store', 'x'], '"a b" is not an origin; write one such as https://example.com'],
  [['refresh'], 'cache refresh: write an origin such as https://example.com, or --all, or --older-than DAYS'],
  [['refresh', 'a.test', '--all'], 'cache refresh: write origins, or --all, --host and --older-than, but not both'],
  [
    ['export', '--output', 'x', '--robots-dir', 'y'],
    '--output is for entries and --robots-dir for robots.txt files; write one of them',
  ],
  [['import'], 'cache import: write the name of one file, or - for stdin'],
  [
    ['prune', '--host', 'a.test', '--store', 'x'],
    '--host: needs --older-than; write --older-than 0 to remove all entries of the host',
  ],
] as const)('cache %j is a mistake', async ([args, message]) => {
  const { code, stderr } = await cache(...args)
  if (typeof message === 'string') expect(stderr).toBe(`politely: ${message}\n`)
  else expect(stderr).toMatch(message)
  expect(code).toBe(2)
})

test('ls, export and import keep a large store', { tags: 'full', timeout: 120_000 }, async () => {
  const count = isFullRun ? 20_000 : 500
  await fill(Object.fromEntries(Array.from({ length: count }, (_, n) => [`https://${n}.test`, 0])))
  const { stdout } = await cache('ls', '--store', store, '--format', 'ndjson')
  expect(parseJsonLines(stdout)).toHaveLength(count)
  const file = join(folder, 'entries.ndjson')
  const other = join(folder, 'other.sqlite')
  await cache('export', '--store', store, '--output', file)
  const imported = await cache('import', file, '--store', other)
  expect(imported.stdout).toBe(`imported ${count.toLocaleString('en')} entries\n`)
  expect(await texts(other)).toEqual(await texts(store))
  for (const [origin, text] of (await texts(other)).slice(0, 5)) expect(entryFrom(text, origin)).toBeDefined()
})
