// The cache of pages: fetch --cache, and cache ls, show and prune.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { MAIN, parseJsonLines, runCli, runInThisProcess } from './run-cli.ts'
import { startPageSite } from './site.ts'

const BOT = ['--user-agent', 'ExampleBot', '--min-delay', '0']
const PLAIN = { 'content-type': 'text/plain' }

let folder = ''
let file = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'politely-'))
  file = join(folder, 'pages.sqlite')
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

const fetchPages = (...args: string[]) => runInThisProcess(['fetch', ...args, ...BOT, '--cache', file])
const cache = (...args: string[]) => runInThisProcess(['cache', ...args, '--cache', file])

async function startPages() {
  return startPageSite({
    '/fresh': { status: 200, headers: { ...PLAIN, 'cache-control': 'max-age=600' }, body: 'the page\n' },
    '/tagged': { status: 200, headers: { ...PLAIN, etag: '"1"' }, body: 'tagged\n' },
    '/moved': { status: 301, headers: { location: '/fresh', 'cache-control': 'max-age=600' } },
    '/secret': { status: 200, headers: { ...PLAIN, 'cache-control': 'no-store' }, body: 'secret\n' },
  })
}

/** The paths that were requested, apart from robots.txt. */
const pathsOf = (sites: Awaited<ReturnType<typeof startPages>>['sites']) =>
  sites.requests.map(({ url }) => url.replace(/^.*PORT/, '')).filter((path) => path !== '/robots.txt')

test('fetch --cache requests a fresh page once, and says what the cache did', async () => {
  const { origin, sites } = await startPages()
  const first = await fetchPages(`${origin}/fresh`, `${origin}/secret`)
  expect(first.stderr).toContain('  cache       stored: the site sent it\n')
  expect(first.stderr).toContain('  cache       bypass: its Cache-Control says no-store\n')
  const { code, stdout, stderr } = await fetchPages(`${origin}/fresh`)
  expect(stdout).toBe('the page\n')
  expect(stderr.replaceAll(origin, 'A').replace(/[\d.]+ m?s/g, 'TIME')).toBe(
    [
      '✓ 200  A/fresh',
      '  because     no rule of the group for * (line 1) matches',
      '  read        9 bytes of text/plain in TIME',
      '  cache       hit (TIME old): it is fresh',
      '',
    ].join('\n'),
  )
  expect(code).toBe(0)
  expect(pathsOf(sites)).toEqual(['/fresh', '/secret'])
})

test('a page that is not fresh is revalidated, and shown with its own status', async () => {
  const { at, origin, sites } = await startPages()
  await fetchPages(`${origin}/tagged`)
  sites.respond(at('/tagged'), { status: 304 })
  const { stdout, stderr } = await fetchPages(`${origin}/tagged`)
  expect(stdout).toBe('tagged\n')
  expect(stderr).toContain(`✓ 200  ${origin}/tagged\n`)
  expect(stderr).toContain('  cache       revalidated: the site says that it is unchanged\n')
  expect(sites.requests.at(-1)?.headers['if-none-match']).toBe('"1"')
})

test('redirects that are stored are named', async () => {
  const { origin, sites } = await startPages()
  await fetchPages(`${origin}/moved`)
  const { stdout, stderr } = await fetchPages(`${origin}/moved`)
  expect(stdout).toBe('the page\n')
  expect(stderr).toContain(`  redirects   ${origin}/moved (stored) → ${origin}/fresh (stored)\n`)
  expect(pathsOf(sites)).toEqual(['/moved', '/fresh'])
  const [report] = parseJsonLines((await fetchPages(`${origin}/moved`, '--json')).stderr)
  expect(report).toMatchObject({
    outcome: 'fetched',
    requests: [],
    page: { status: 200 },
    verdict: { url: `${origin}/fresh` },
    cache: { state: 'hit', because: 'it is fresh', storedAt: expect.any(Number) },
  })
})

test('a stored page that is now disallowed is not written', async () => {
  const { at, origin, sites } = await startPages()
  await fetchPages(`${origin}/fresh`)
  sites.respond(at('/robots.txt'), { status: 200, body: 'User-agent: *\nDisallow: /\n' })
  const { code, stdout, stderr } = await fetchPages(`${origin}/fresh`)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(`✗ disallowed  ${origin}/fresh\n`)
})

test('cache ls lists pages, how fresh they are, and when to visit them', async () => {
  const { origin } = await startPages()
  await fetchPages(`${origin}/fresh`, `${origin}/tagged`)
  const { code, stdout } = await cache('ls')
  const lines = stdout.replaceAll(origin, 'A').replace(/[\d.]+ m?s {2,}/g, 'TIME  ')
  expect(lines).toMatch(
    /^status {2}age +fresh +size +next visit {2}url\n200 +TIME +[\d.]+ min +9 bytes +in 7 days +A\/fresh\n200 +TIME +no +7 bytes +in 7 days +A\/tagged\n2 pages, 16 bytes\n$/,
  )
  expect(code).toBe(0)
  const { stdout: json } = await cache('ls', '--json', '--host', '127.0.0.1')
  expect(JSON.parse(json)).toMatchObject({
    version: 1,
    entries: [
      { origin, url: `${origin}/fresh`, state: 'fresh', status: 200, bytes: 9 },
      { url: `${origin}/tagged`, state: 'stale', freshForMs: 0, bytes: 7 },
    ],
  })
  expect((await cache('ls', '--host', 'example.com')).stdout).toBe('0 pages, 0 bytes\n')
})

test('cache show writes the body to stdout or to a file, and the rest to stderr', async () => {
  const { at, origin, sites } = await startPages()
  await fetchPages(`${origin}/tagged`)
  sites.respond(at('/tagged'), { status: 200, headers: { ...PLAIN, etag: '"2"' }, body: 'new\n' })
  await fetchPages(`${origin}/tagged`)
  const { code, stdout, stderr } = await cache('show', `${origin}/tagged`)
  expect(stdout).toBe('new\n')
  expect(stderr.replace(/20\d\d-[\d-]+T[\d:]+Z/g, 'TIME').replace(/[\d.]+ m?s old/, 'AGE old')).toMatch(
    /^http:\S+\/tagged\n {2}page {7}status 200, 4 bytes, AGE old, not fresh\n {2}stored {5}TIME\n {2}next visit .*\n(?: {2}headers {4}| {13})\S[\s\S]*: text\/plain\n[\s\S]* {13}etag: "2"\n {2}visits {5}TIME {2}200\n {13}TIME {2}200 {2}changed\n$/,
  )
  expect(code).toBe(0)
  const output = join(folder, 'page')
  expect((await cache('show', `${origin}/tagged`, '--output', output, '--json')).stdout).toContain('"etag"')
  expect(readFileSync(output, 'utf8')).toBe('new\n')
  const other = await cache('show', `${origin}/other`, `${origin}/tagged`)
  expect(other.stderr).toContain(
    `politely: ${origin}/other is not in the cache; politely cache ls lists what is there\n`,
  )
  expect(other).toMatchObject({ code: 1, stdout: 'new\n' })
})

test('cache prune removes old pages', async () => {
  const { origin } = await startPages()
  await fetchPages(`${origin}/fresh`, `${origin}/tagged`)
  expect((await cache('prune', '--older-than', '30d')).stdout).toBe('removed 0 pages of 2, 0 bytes\n')
  expect((await cache('prune', '--older-than', '0h', '--host', 'example.com')).stdout).toBe(
    'removed 0 pages of 2, 0 bytes\n',
  )
  expect((await cache('prune', '--older-than', '0')).stdout).toBe('removed 2 pages of 2, 16 bytes\n')
  expect((await cache('ls')).stdout).toBe('0 pages, 0 bytes\n')
})

test('a missing, foreign or damaged file is one line', async () => {
  const { origin } = await startPages()
  for (const verb of [['ls'], ['show', origin], ['prune', '--older-than', '1']])
    expect(await cache(...verb)).toEqual({
      code: 2,
      stdout: '',
      stderr: `politely: --cache: ${JSON.stringify(file)}: there is no such file; politely fetch URL --cache ${file} creates it\n`,
    })
  expect(existsSync(file)).toBe(false)
  const isForeign = async (message: RegExp) => {
    for (const result of [await cache('ls'), await fetchPages(`${origin}/fresh`)]) {
      expect(result).toMatchObject({ code: 2, stdout: '' })
      expect(result.stderr).toMatch(message)
    }
  }
  writeFileSync(file, 'hello, world')
  await isForeign(/^politely: --cache: .*: this file exists and is not an SQLite file, .*\n$/)
  rmSync(file)
  const database = new DatabaseSync(file)
  database.exec('CREATE TABLE other (id INTEGER)')
  database.close()
  await isForeign(/^politely: --cache: .*: this is the SQLite file of another application; write another path\n$/)
  rmSync(file)
  await runInThisProcess(['fetch', `${origin}/fresh`, ...BOT, '--store', file])
  await isForeign(/^politely: --cache: .*: this file has robots\.txt files, not pages: it is for SqliteStore, .*\n$/)
  rmSync(file)
  await fetchPages(`${origin}/fresh`)
  expect((await runInThisProcess(['cache', 'ls', '--store', file])).stderr).toMatch(
    /^politely: --store: .*: this file has pages, not robots\.txt files: it is for SqlitePageStore, or --cache of the command; write another path\n$/,
  )
  truncateSync(file, 5000)
  expect((await cache('ls')).stderr).toMatch(/^politely: --cache: .* is damaged \(.*\); it was renamed to .*\n$/)
})

test('without the package, one line says what to install', { tags: 'full' }, async () => {
  writeFileSync(file, '')
  const bundle = join(folder, 'politely', 'bundle')
  cpSync(join(MAIN, '..'), bundle, { recursive: true })
  cpSync(join(MAIN, '../../package.json'), join(bundle, '../package.json'))
  const main = join(bundle, 'main.js')
  for (const args of [
    ['cache', 'ls', '--cache', file],
    ['fetch', 'http://127.0.0.1:9/', ...BOT, '--cache', file],
  ])
    expect(await runCli(args, { main })).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'politely: --cache: its package is not installed; write npm install @politely/cache (and --global if politely is installed globally)\n',
    })
})

test('runs with the bundled command share a file of pages', { tags: 'full' }, async () => {
  const { origin, sites } = await startPages()
  for (const state of ['stored', 'hit']) {
    const { code, stdout, stderr } = await runCli(['fetch', `${origin}/fresh`, ...BOT, '--cache', file, '--json'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'the page\n' })
    expect(parseJsonLines(stderr)).toMatchObject([{ cache: { state } }])
  }
  expect(pathsOf(sites)).toEqual(['/fresh'])
})

test.for([
  [['ls', '--store', 'x'], '--cache is a file of pages and --store one of robots.txt files; write one of them'],
  [['refresh', '--all'], 'cache refresh: is for robots.txt files; write --store FILE instead of --cache'],
  [['ls', '--output', 'x'], '--output is an option of cache show --cache, not of cache ls --cache'],
  [['ls', '--all'], '--all has no meaning for pages (--cache); leave it out'],
  [['show'], 'cache show: no URL was given; write one such as https://example.com/page'],
  [['show', 'a b'], '"a b" is not a URL; write one such as https://example.com/page'],
  [
    ['show', 'a.test', 'b.test', '--output', 'x'],
    '--output: is for one page, and several URLs were given; write one URL',
  ],
  [['prune'], 'cache prune: needs --older-than; write --older-than 0 to remove all pages'],
  [['prune', '--host', 'a.test'], '--host: needs --older-than; write --older-than 0 to remove all entries of the host'],
  [
    ['prune', '--older-than', '30x'],
    '--older-than: "30x" is out of range; write days from 0 to 36500, such as 30 or 30d, or hours, such as 12h',
  ],
] as const)('cache %j --cache is a mistake', async ([args, message]) => {
  expect(await cache(...args)).toEqual({ code: 2, stdout: '', stderr: `politely: ${message}\n` })
})
