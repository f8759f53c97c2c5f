// A robots.txt that is missing, at another path than the root, or another file, such as a login page:
// every command that reads it says so.
import { entryText, settle } from '@politely/core/engine'
import { defaultAccessPolicy } from '@politely/core/internal'
import { SqliteStore } from '@politely/sqlite'
import { expect, test } from 'vitest'
import { withoutFolder, writeFiles } from './files.ts'
import { runInThisProcess } from './run-cli.ts'
import { originWithRules, originWithStatus } from './site.ts'

const PAGE = '<!DOCTYPE html>\n<html><title>Log in</title><body>User-agent: *</body></html>'
const path = writeFiles({
  page: PAGE,
  shell: `\ufeff\n<!-- app shell -->\n${PAGE}`,
  xhtml: `<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN">\n<html/>`,
  denied: 'Access denied\n',
  json: '{"error":"not found"}',
  'robots.txt': 'User-agent: *\nDisallow: /a\n',
  expect: 'deny * /a\n',
  urls: 'https://shop.example/a\n',
  'files/shop.example.txt': PAGE,
})
const BOT = ['--user-agent', 'ExampleBot']
const URL_A = 'https://shop.example/a'

test.for([
  ['audit', 'FILE'],
  ['audit', '-'],
  ['test', path('expect'), '--robots', 'FILE'],
  ['check', URL_A, ...BOT, '--robots', 'FILE'],
  ['check', URL_A, ...BOT, '--robots', '-'],
  ['match', ...BOT, '--urls', path('urls'), '--robots', 'FILE'],
  ['explain', URL_A, ...BOT, '--robots', 'FILE'],
  ['usage', URL_A, ...BOT, '--robots', 'FILE'],
  ['diff', 'FILE', path('robots.txt')],
  ['diff', path('robots.txt'), 'FILE'],
])('%s %j exits with 3 for an HTML page', async ([...args]) => {
  const isStdin = args.includes('-')
  const run = await runInThisProcess(
    args.map((arg) => (arg === 'FILE' ? path('page') : arg)),
    isStdin ? PAGE : '',
  )
  const name = isStdin ? 'stdin' : 'page'
  expect(withoutFolder(run.stderr, path)).toBe(`politely: ${name}: this is not a robots.txt: it is an HTML page\n`)
  expect(run).toMatchObject({ code: 3, stdout: '' })
})

test.for([
  ['shell', 'is an HTML page'],
  ['xhtml', 'is an HTML page'],
  ['denied', 'is plain text without a line of a robots.txt'],
  ['json', 'is JSON'],
] as const)('%s: %s', async ([name, what]) => {
  const { code, stderr } = await runInThisProcess(['audit', path(name)])
  expect(stderr).toContain(`this is not a robots.txt: it ${what}\n`)
  expect(code).toBe(3)
})

test('match --robots-dir counts a page as no file', async () => {
  const args = ['match', ...BOT, '--urls', path('urls'), '--robots-dir', path('files')]
  const { code, stdout, stderr } = await runInThisProcess(args)
  expect(withoutFolder(stderr, path)).toBe(
    'politely: files/shop.example.txt: this is not a robots.txt: it is an HTML page\n',
  )
  expect(JSON.parse(stdout)).toMatchObject({ allowed: false, because: 'no-file' })
  expect(code).toBe(3)
})

test.for([
  ['a page', { kind: 'success', status: 200, body: { bytes: PAGE, truncated: false } }, 'it is an HTML page'],
  ['a 503', { kind: 'unreachable', reason: 'status', status: 503 }, 'robots.txt has been unreachable since'],
  ['a 401', { kind: 'unavailable', reason: 'status', status: 401 }, 'the server refused robots.txt (status 401)'],
] as const)('diff exits with 3 for a store that has %s', async ([, outcome, reason]) => {
  const origin = 'https://shop.example'
  const hop = { url: `${origin}/robots.txt`, hops: [], headers: {} }
  const entry = settle(undefined, origin, { ...hop, ...outcome } as never, Date.now(), defaultAccessPolicy)
  const store = path(`${outcome.status}.sqlite`)
  await using file = new SqliteStore({ path: store })
  await file.set(origin, entryText(entry), Date.now() + 1e6)
  const { code, stderr } = await runInThisProcess(['diff', store, path('robots.txt'), '--origin', origin])
  expect(stderr).toContain(reason)
  expect(code).toBe(3)
})

const READERS = [
  ['lint', 'SITE'],
  ['audit', 'SITE'],
  ['test', path('expect'), '--robots', 'SITE'],
  ['check', '/a', '--robots', 'SITE'],
  ['match', '--urls', path('urls'), '--robots', 'SITE'],
  ['explain', '/a', '--robots', 'SITE'],
  ['usage', '/a', '--robots', 'SITE'],
  ['diff', 'SITE', path('robots.txt')],
  ['diff', path('robots.txt'), 'SITE'],
] as const
const readFrom = (site: string, args: readonly string[]) =>
  runInThisProcess([...args.map((arg) => (arg === 'SITE' ? site : arg)), ...BOT])

test.for(READERS)('%s %j says that robots.txt counts only at the root', async (args) => {
  const origin = await originWithRules('User-agent: *\nDisallow: /a\n')
  const { stderr } = await readFrom(`${origin}/blog/robots.txt`, args)
  const problem = 'robots.txt counts only at the root of a site (RFC 9309 §2.3)'
  expect(stderr).toContain(`politely: ${origin}/blog/robots.txt: ${problem}, so politely reads ${origin}/robots.txt\n`)
  expect((await readFrom(`${origin}/robots.txt`, args)).stderr).not.toContain(problem)
})

test.for(READERS)('%s %j says that the site has no robots.txt', async (args) => {
  const origin = await originWithStatus(404)
  const { stdout, stderr } = await readFrom(origin, args)
  expect(args[0] === 'lint' ? stdout : stderr).toContain(
    'the site has no robots.txt (status 404), so everything is allowed',
  )
})

test.for([
  [503, 'robots.txt is unreachable (status 503)'],
  [403, 'the server refused robots.txt (status 403)'],
] as const)('lint exits with 3 for the URL of a robots.txt that has status %d', async ([status, reason]) => {
  const { code, stdout, stderr } = await readFrom(`${await originWithStatus(status)}/robots.txt`, ['lint', 'SITE'])
  expect(stderr).toContain(reason)
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
})
