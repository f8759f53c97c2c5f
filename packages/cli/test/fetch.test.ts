// @module-tag nodes
// @module-tag process
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { parseJsonLines, runInThisProcess, startCli } from './run-cli.ts'
import { originWithRules, originWithStatus, startPageSite } from './site.ts'

const BOT = ['--user-agent', 'ExampleBot/1.0', '--min-delay', '0']
const PLAIN = { 'content-type': 'text/plain' }

/** A site whose pages are short texts, and its origin. */
async function startPages() {
  const { sites, origin, at } = await startPageSite({
    '/page': { status: 200, headers: PLAIN, body: 'the page\n' },
    '/moved': { status: 301, headers: { location: '/page' } },
    '/trap': { status: 302, headers: { location: '/private/x' } },
    '/busy': { status: 429, headers: { 'retry-after': '60' } },
    '/overloaded': { status: 503 },
    '/later': { status: 200, headers: { ...PLAIN, 'retry-after': '60' }, body: 'the page\n' },
    '/image': { status: 200, headers: { 'content-type': 'image/png' }, body: '\u0001' },
    '/escape': { status: 200, headers: PLAIN, body: 'a\u001b[2Jb\r\n\tc' },
  })
  sites.respond(at('/reset'), (socket) => socket.destroy())
  return { sites, origin }
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'politely-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

test('writes pages to stdout, and a report about each to stderr', async () => {
  const { origin } = await startPages()
  const { code, stdout, stderr } = await runInThisProcess(['fetch', `${origin}/page`, `${origin}/moved`, ...BOT])
  expect(stdout).toBe('the page\nthe page\n')
  expect(stderr.replaceAll(origin, 'A').replace(/in [\d.]+ m?s/g, 'in TIME')).toBe(
    [
      '✓ 200  A/page',
      '  because     no rule of the group for * (line 1) matches',
      '  received    9 bytes of text/plain in TIME',
      '✓ 200  A/moved',
      '  because     no rule of the group for * (line 1) matches',
      '  redirects   A/moved (301) → A/page (200)',
      '  received    9 bytes of text/plain in TIME',
      '',
    ].join('\n'),
  )
  expect(code).toBe(0)
})

test('does not request a page, or a hop of a redirect, that robots.txt disallows', async () => {
  const { origin, sites } = await startPages()
  const { code, stdout, stderr } = await runInThisProcess(['fetch', `${origin}/private`, `${origin}/trap`, ...BOT])
  expect(stderr.replaceAll(origin, 'A')).toBe(
    [
      '✗ disallowed  A/private',
      '  because     line 2 of robots.txt says "Disallow: /private" to *',
      '✗ disallowed  A/trap',
      '  because     line 2 of robots.txt says "Disallow: /private" to *',
      '  redirects   A/trap (302) → A/private/x (not requested)',
      '',
    ].join('\n'),
  )
  expect(sites.requests.map(({ url }) => new URL(url.replace(':PORT', '')).pathname)).toEqual(['/robots.txt', '/trap'])
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
})

test.for([
  ['/busy', '! 429', 'retry-after'],
  ['/overloaded', '! 503', 'backoff'],
  ['/later', '✓ 200', 'retry-after'],
] as const)('says when to try again after %s', async ([path, mark, waitFor]) => {
  const { origin } = await startPages()
  const { code, stderr } = await runInThisProcess(['fetch', `${origin}${path}`, ...BOT])
  expect(stderr).toContain(`${mark}  ${origin}${path}\n`)
  expect(stderr).toMatch(new RegExp(`^  try again   in [\\d.]+ m?s \\(${waitFor}\\)$`, 'm'))
  expect(code).toBe(0)
  const [report] = parseJsonLines((await runInThisProcess(['fetch', `${origin}${path}`, ...BOT, '--json'])).stderr)
  expect(report).toMatchObject({ outcome: 'fetched', page: { status: Number(mark.slice(2)) }, waitFor })
  expect(report?.waitMs).toBeLessThanOrEqual(60_000)
})

test('does not wait for longer than --max-wait', async () => {
  const { origin } = await startPages()
  const args = ['fetch', `${origin}/busy`, `${origin}/page`, ...BOT, '--max-wait', '2']
  const { code, stderr } = await runInThisProcess(args)
  expect(stderr).toContain(`✗ not now  ${origin}/page`)
  expect(stderr).toMatch(
    /problem {5}the request would have to wait \d+ s \(retry-after, origin\), and --max-wait is 2; try again in \d+ s, or raise --max-wait/,
  )
  expect(code).toBe(1)
})

test('says why a page did not arrive', async () => {
  const { origin } = await startPages()
  const { code, stderr } = await runInThisProcess(['fetch', `${origin}/reset`, ...BOT])
  expect(stderr).toContain(`✗ failed  ${origin}/reset\n  problem     other side closed (UND_ERR_SOCKET)\n`)
  expect(stderr).toContain('  outcome     connection: there was no usable response (reset)\n')
  expect(code).toBe(1)
})

test('exits with 3 if robots.txt is unreachable, and with 2 for an invalid URL', async () => {
  const origin = await originWithStatus(503, { 'retry-after': '120' })
  const unreachable = await runInThisProcess(['fetch', `${origin}/`, ...BOT])
  expect(unreachable.stderr).toMatch(
    /because {5}robots.txt is unreachable \(status 503\); the server asked to wait 120 s, until \S+Z\n {2}try again {3}in .*\n {2}advice {6}the site should send the file with status 200/,
  )
  expect(unreachable.code).toBe(3)
  const invalid = await runInThisProcess(['fetch', 'example', ...BOT])
  expect(invalid.stderr).toContain('✗ invalid  example\n  because     the URL has no scheme')
  expect(invalid.code).toBe(2)
})

test('--include writes the headers first; --output writes to a file', async () => {
  const { origin } = await startPages()
  const file = join(folder(), 'page')
  const { stdout } = await runInThisProcess(['fetch', `${origin}/page`, ...BOT, '--include', '--output', file])
  expect(stdout).toBe('')
  expect(readFileSync(file, 'utf8')).toMatch(
    /^200 OK\n(?:[\w-]+: .*\n)*content-type: text\/plain\n(?:[\w-]+: .*\n)*\nthe page\n$/,
  )
})

test('--json writes one object for each page', async () => {
  const { origin } = await startPages()
  const { stderr } = await runInThisProcess(['fetch', `${origin}/moved`, `${origin}/private`, ...BOT, '--json'])
  expect(parseJsonLines(stderr)).toMatchObject([
    {
      version: 1,
      url: `${origin}/moved`,
      outcome: 'fetched',
      page: { kind: 'served', because: 'status', status: 200 },
      requests: [
        { url: `${origin}/moved`, status: 301 },
        { url: `${origin}/page`, status: 200 },
      ],
      contentType: 'text/plain',
      bytes: 9,
      verdict: { allowed: true, because: 'no-rule-matched' },
    },
    { version: 1, outcome: 'refused', requests: [], verdict: { allowed: false, because: 'rule' } },
  ])
})

test('a terminal gets text without control characters, and no image', async () => {
  const { origin } = await startPages()
  const { isTTY } = process.stdout
  process.stdout.isTTY = true
  onTestFinished(() => {
    process.stdout.isTTY = isTTY
  })
  const { stdout, stderr } = await runInThisProcess(['fetch', `${origin}/escape`, `${origin}/image`, ...BOT])
  expect(stdout).toBe('a\\u{1b}[2Jb\n\tc\n')
  expect(stderr).toContain('the page is "image/png", which a terminal cannot show; write --output FILE, or > FILE')
})

test('says that a request has to wait for long', { tags: 'full' }, async () => {
  const origin = await originWithRules('User-agent: *\nCrawl-delay: 60\n')
  const child = startCli(['fetch', `${origin}/a`, `${origin}/b`, '--user-agent', 'ExampleBot'])
  let stderr = ''
  for await (const chunk of child.stderr) {
    stderr += chunk
    if (stderr.includes('waits')) child.kill()
  }
  expect(stderr).toMatch(/^politely: http:\S+\/b waits 60 s, until about .* \(crawl-delay, origin\)/m)
})

test('sends the credentials of a URL as a header', async () => {
  const { origin, sites } = await startPages()
  const url = origin.replace('//', '//user:p%40ss@')
  const { code, stderr } = await runInThisProcess(['fetch', `${url}/moved`, ...BOT])
  expect(code).toBe(0)
  expect(stderr).not.toContain('user')
  expect(sites.requests.map(({ headers }) => headers.authorization)).toEqual([
    undefined,
    `Basic ${btoa('user:p@ss')}`,
    `Basic ${btoa('user:p@ss')}`, // the target of a relative redirect keeps the credentials
  ])
})

test('--proxy takes pages and robots.txt through the proxy', async () => {
  const { origin, sites } = await startPages()
  const targets: string[] = []
  const proxy = createServer((asked, response) => {
    targets.push(asked.url ?? '')
    request(asked.url ?? '', { headers: asked.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    }).end()
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void proxy.close())
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const { code, stdout } = await runInThisProcess(['fetch', `${origin}/page`, ...BOT, '--proxy', address])
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'the page\n' })
  expect(targets).toEqual([`${origin}/robots.txt`, `${origin}/page`])
  expect(sites.requests).toHaveLength(2)
})

test('runs with the same --store share robots.txt', async () => {
  const { origin, sites } = await startPages()
  const store = join(folder(), 'robots.sqlite')
  for (const how of [['--store', store], ['env']]) {
    vi.stubEnv('POLITELY_STORE', store)
    const args = ['fetch', `${origin}/page`, ...BOT, ...(how[0] === 'env' ? [] : how)]
    expect((await runInThisProcess(args)).code).toBe(0)
  }
  expect(existsSync(store)).toBe(true)
  expect(sites.requests.filter(({ url }) => url.endsWith('/robots.txt'))).toHaveLength(1)
})

test.for([
  [[], 'no URL was given; write one such as https://example.com/page, or - to read URLs from stdin'],
  [
    ['http://a.test', 'http://b.test', '--output', 'x'],
    '--output: is for one page, and several URLs were given; write one URL, or > FILE',
  ],
  [
    ['http://a.test', '--max-wait', 'x'],
    '--max-wait: "x" is out of range; write seconds from 0 to 1000000, such as 30',
  ],
  [
    ['http://a.test', '--store', '/nonexistent/x'],
    '--store: "/nonexistent/x": its folder does not exist; create it first',
  ],
] as const)('fetch %j is a mistake', async ([args, message]) => {
  expect(await runInThisProcess(['fetch', ...args, ...BOT])).toEqual({
    code: 2,
    stdout: '',
    stderr: `politely: ${message}\n`,
  })
})
