// `politely usage`: what it requests and prints. What it answers is tested in core and in the fetcher.
import { purposes } from '@politely/core/usage'
import { type Reply, startSites } from '@politely/testkit/servers/sites'
import { describe, expect, onTestFinished, test } from 'vitest'
import { PURPOSES } from '../src/flags.ts'
import { withoutFolder, writeFiles } from './files.ts'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'
import { originWithStatus } from './site.ts'

const ROBOTS = `User-agent: *
Content-Signal: search=yes, ai-train=no
Content-Usage: train-ai=y
Disallow: /private

User-agent: OtherBot
Disallow: /

License: https://a.test/license.xml
`
const path = writeFiles({
  'robots.txt': ROBOTS,
  'headers.txt':
    'HTTP/1.1 301 Moved\r\nX-Robots-Tag: all\r\n\r\nHTTP/2 200\r\nX-Robots-Tag: noarchive\r\nX-Robots-Tag: OtherBot: noindex\r\n\r\n',
  'broken.txt': 'HTTP/2 200\nX-Robots-Tag noindex\n',
  'page.html': '<head><meta name=robots content=nofollow></head>',
  'tdmrep.json': '[{"location":"/page","tdm-reservation":1}]',
  'empty.txt': 'User-agent: *\nContent-Usage:\n',
  'hostile.txt':
    'User-agent: *\nContent-Usage: train-ai=n\u001b[2J\nContent-Signal: ai-train=no, \u202ex=yes\nLicense: https://a.test/\u001b]0;x\u0007\nLicense: \u001b\n',
  'hostile.html':
    '<head><meta name=robots content="noindex, \u001b[31mx, max-snippet: \u202e"><link rel=license type="application/rsl+xml" href="/\u001b[2J"></head>',
  'hostile.json': '[{"location":"/*\\u001b[2J*","tdm-reservation":1,"tdm-policy":"\\u202e"}]',
})
const BOT = ['--user-agent', 'ExampleBot', '--min-delay', '0']

const HTML: Reply = {
  status: 200,
  headers: { 'content-type': 'text/html', 'x-robots-tag': 'noarchive, max-snippet:50', 'content-usage': 'Train-AI=n' },
  body: '<!doctype html><meta name=robots content=noindex>\u001b[2J',
}
/** A page that breaks off in its head. */
const CUT = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<head>'
const redirect = (location: string): Reply => ({ status: 302, headers: { location } })

async function startSite() {
  const server = await startSites()
  onTestFinished(() => server.close())
  const pages: Record<string, Reply> = {
    '/robots.txt': { status: 200, body: ROBOTS },
    '/page': HTML,
    '/moved': redirect('/page'),
    '/out': redirect('/private/1'),
    '/mail': redirect('mailto:a@a.test'),
    '/.well-known/tdmrep.json': { status: 404 },
  }
  server.respond('http://127.0.0.1:PORT/cut', (socket) => void socket.end(CUT))
  for (const [name, reply] of Object.entries(pages)) server.respond(`http://127.0.0.1:PORT${name}`, reply)
  const origin = server.withPort('http://127.0.0.1:PORT')
  const run = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await runInThisProcess([
      'usage',
      ...BOT,
      ...args.map((one) => one.replace(/^\//, `${origin}/`)),
    ])
    return { code, stderr, stdout: stdout.replaceAll(origin, 'http://a.test') }
  }
  return { server, origin, run, requested: () => server.requestedUrls.map((url) => url.replace(/^.*PORT/, '')) }
}

test('requests robots.txt, the page and tdmrep.json, and prints one row for each purpose', async () => {
  const { run, requested } = await startSite()
  const { code, stdout, stderr } = await run('/moved')
  expect(stdout).toMatchInlineSnapshot(`
    "http://a.test/moved → http://a.test/page  for ExampleBot
      ✓ fetch                 allowed     no rule of the group for * (line 1) matches
      ✗ index                 disallowed  the meta element robots says noindex
      · follow                unstated    (following its links)
      · snippet               unstated    (showing a part of its text)
      ✗ archive               disallowed  the header X-Robots-Tag says noarchive
      ✗ search                disallowed  the meta element robots says noindex
      ✗ train-ai              disallowed  line 2 of robots.txt says ai-train=no
      · ai-input              unstated    (giving it to a model as input)
      · text-and-data-mining  unstated    (analysing it automatically)

      unstated: nothing that was read allows it or refuses it

      robots.txt   http://a.test/robots.txt (200)
      page         status 200; the headers and the head of the HTML were read
      tdmrep.json  the site has no such file (status 404)
      limits       max-snippet:50

      Contradictions, and other readings:
      ! One source allows what another one refuses; a refusal counts.
        search: allowed by line 2 of robots.txt
        train-ai: allowed by line 3 of robots.txt
      ! An operator, or a law, reads the statement as being about this purpose too.
        text-and-data-mining: unstated by its words, but disallowed by the policy of Content Signals, which calls a refusal a reservation under Directive (EU) 2019/790, Article 4: line 2 of robots.txt
        ai-input: unstated by its words, but disallowed for Bing (2023-09-22): the header X-Robots-Tag
      ! A license inside a group is for that group by RSL 1.0 §4.4, and for the whole site by its guide.
        no license by RSL 1.0 §4.4, but https://a.test/license.xml by the guide of RSL; line 9 stands below a blank line or a sitemap: line 9 of robots.txt

      Licenses (RSL), which may allow more; none was fetched:
      • https://a.test/license.xml  for other crawlers, line 9 of robots.txt; does not apply

      Not understood:
      ! the header Content-Usage says Train-AI=n: the value is no dictionary (RFC 9651), so all of it is unknown: Parse error: A key must begin with an asterisk or letter (a-z) at offset 0
    "
  `)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(requested()).toEqual(['/robots.txt', '/moved', '/page', '/.well-known/tdmrep.json'])
})

test('breaks its rows to the width of the terminal', async () => {
  const { run } = await startSite()
  const { isTTY, columns } = process.stdout
  Object.assign(process.stdout, { isTTY: true, columns: 80 })
  onTestFinished(() => {
    Object.assign(process.stdout, { isTTY, columns })
  })
  const { stdout } = await run('/page')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours
  const lines = stdout.replace(/\u001b\[\d+m/g, '').split('\n')
  expect(lines.length).toBeGreaterThan(25)
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
})

describe('does not request the page', () => {
  test.each([
    [
      'with --no-page',
      ['/page', '--no-page'],
      ['/robots.txt', '/.well-known/tdmrep.json'],
      'not requested, because of --no-page',
    ],
    [
      'with headers of the user',
      ['/page', '--header', 'X-Robots-Tag: noindex', '--tdmrep', 'none'],
      ['/robots.txt'],
      'only the headers were read; no HTML was given',
    ],
    [
      'if robots.txt disallows it',
      ['/private'],
      ['/robots.txt', '/.well-known/tdmrep.json'],
      'not requested, because the crawler may not fetch it; a noindex there cannot be seen, so its URL may still be in an index',
    ],
    [
      'if its redirect leads to a disallowed URL',
      ['/out'],
      ['/robots.txt', '/out', '/.well-known/tdmrep.json'],
      'not requested, because the crawler may not fetch it',
    ],
    [
      'if it would have to wait too long',
      ['/page', '/page', '--max-wait', '0', '--min-delay', '60'],
      ['/robots.txt', '/page', '/.well-known/tdmrep.json'],
      'would have to wait',
    ],
  ] as const)('%s', async (_, args, requests, row) => {
    const { run, requested } = await startSite()
    const { stdout } = await run(...args)
    expect(stdout).toContain(row)
    expect(requested()).toEqual(requests)
  })
})

test.each([
  ['/page', 'ai-input', 0],
  ['/page', 'train-ai', 1],
  ['/page', 'index', 1],
  ['/gone', 'ai-input', 1], // the page may say anything
  ['/mail', 'ai-input', 1],
  ['/cut', 'ai-input', 1],
  ['/page', 'text-and-data-mining', 0],
  ['/private', 'ai-input', 1],
])('%s --purpose %s exits with %i', async (page, purpose, expected) => {
  const { run } = await startSite()
  const { code, stdout } = await run(page, '--purpose', purpose)
  expect(stdout.match(/^ {2}[✗✓·] .*/gm)?.map((row) => row.split(/ +/)[2])).toEqual(['fetch', purpose])
  expect(code).toBe(expected)
})

test('--purpose text-and-data-mining exits with 1 if tdmrep.json is unreachable', async () => {
  const { run, server } = await startSite()
  server.respond('http://127.0.0.1:PORT/.well-known/tdmrep.json', { status: 503, headers: { 'retry-after': '60' } })
  expect((await run('/page', '--purpose', 'text-and-data-mining')).code).toBe(1)
})

test('says once that tdmrep.json is a web page', async () => {
  const { run, server } = await startSite()
  server.respond('http://127.0.0.1:PORT/.well-known/tdmrep.json', { ...HTML, body: '<!doctype html><title>A</title>' })
  const { stdout } = await run('/page')
  expect(stdout.replace(/\s+/g, ' ').match(/a web page instead of the file/g)).toHaveLength(1)
})

test('exits with 3 if robots.txt is unreachable, and with 2 for an invalid URL', async () => {
  const { run } = await startSite()
  expect(await run(`${await originWithStatus(503)}/`)).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(/✗ fetch +disallowed +robots.txt is unreachable/),
  })
  expect(await run('/page', 'http://[')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('"http://[": the URL is invalid'),
  })
})

test('does not quote a line without a value', async () => {
  const { stdout } = await runInThisProcess(['usage', '/a', ...BOT, '--robots', path('empty.txt')])
  expect(stdout).toContain('! line 2 of robots.txt: the line has no preference\n')
})

test('reads files with --robots, and sends no request', async () => {
  const given = [
    '--robots',
    path('robots.txt'),
    '--headers',
    path('headers.txt'),
    '--html',
    path('page.html'),
    '--tdmrep',
    path('tdmrep.json'),
  ]
  const { code, stdout } = await runInThisProcess(['usage', '/page', ...BOT, ...given, '--json'])
  const [document] = parseJsonLines(withoutFolder(stdout, path))
  expect(document).toMatchObject({
    url: '/page',
    robots: 'robots.txt',
    purposes: {
      index: { answer: 'unstated' }, // the second line is for OtherBot
      follow: { answer: 'disallowed' },
      archive: { answer: 'disallowed' },
      'text-and-data-mining': { answer: 'disallowed' },
    },
    page: { reading: 'read' },
    tdmrep: { reading: 'read' },
    verdict: { allowed: true },
  })
  expect(code).toBe(0)
})

test.each([[[]], [['--json']]])('escapes what a site wrote, with the options %j', async (options) => {
  const given = ['--robots', path('hostile.txt'), '--html', path('hostile.html'), '--tdmrep', path('hostile.json')]
  const { stdout, stderr } = await runInThisProcess(['usage', '/page\u001b[2J', ...BOT, ...given, ...options])
  expect(stdout).toContain('[2J')
  expect(stdout + stderr).not.toMatch(/[^\n\P{Cc}]|\p{Cf}/u)
})

test('reads headers on stdin', async () => {
  const args = ['usage', '/page', ...BOT, '--robots', path('robots.txt'), '--headers', '-', '--purpose', 'index']
  expect(await runInThisProcess(args, 'X-Robots-Tag: none\n')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/✗ index +disallowed +the header X-Robots-Tag says none\n/),
  })
})

test.each([
  [['/a', '--header', 'noindex'], '--header: "noindex" is not a header; write one such as "X-Robots-Tag: noindex"'],
  [['/a', '--headers', path('broken.txt')], 'broken.txt, line 2: "X-Robots-Tag noindex" is not a header'],
  [['/a', '--html', path('none.html')], 'none.html": there is no such file; write the name of a file, or - for stdin'],
  [['/a', '/b', '--header', 'A: b'], 'are for one page, and several URLs were given; write one URL'],
  [['/a', '--tdmrep', path('tdmrep.json')], '--tdmrep: a file is read with --robots only'],
  [['/a', '--purpose', 'train'], '--purpose: "train" is not known; write one of index, follow,'],
  [[], 'no URL was given; write one such as https://example.com/page, or - to read URLs from stdin'],
])('%j is a mistake', async (args, message) => {
  const { code, stderr } = await runInThisProcess(['usage', ...args, ...BOT])
  expect(stderr).toContain(message)
  expect(code).toBe(2)
})

test('the purposes of --purpose are those of core', () => {
  expect(PURPOSES).toEqual(purposes)
})
