import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isNofollowHeader, LinkReader } from '../src/commands/crawl/links.ts'
import { exitCodeOf, parseJsonLines, runInThisProcess, startCli } from './run-cli.ts'
import { startPageSite } from './site.ts'

const BOT = ['--user-agent', 'ExampleBot']
const HTML = { 'content-type': 'text/html; charset=utf-8' }
// biome-ignore lint/suspicious/noControlCharactersInRegex: moves the cursor up, and erases what follows
const REDRAW = /\u001b\[\d+A\u001b\[0J/
const links = (...hrefs: string[]) => ({
  status: 200,
  headers: HTML,
  body: hrefs.map((href) => `<a href="${href}">a</a>`).join(''),
})

async function startSite() {
  const { sites, origin } = await startPageSite({
    '/': links(
      '/a',
      '/a#x',
      '/private/1',
      '/private/2',
      '/moved',
      'http://localhost:PORT/',
      'mailto:a@b.test',
      '/text',
    ),
    '/a': links('/', '/deep'),
    '/deep': links('/deeper'),
    '/deeper': links(),
    '/moved': { status: 301, headers: { location: '/a' } },
    '/text': { status: 200, headers: { 'content-type': 'text/plain' }, body: '<a href="/no">' },
    '/closed': { ...links('/no'), headers: { ...HTML, 'x-robots-tag': 'noindex, nofollow' } },
    '/busy': { status: 429 },
  })
  const requested = () => sites.requests.map(({ url }) => url.slice('http://127.0.0.1:PORT'.length)).sort()
  return { sites, origin, requested }
}

test('follows links within the origins, each once, and prints a line for each page', async () => {
  const { origin, requested } = await startSite()
  const { code, stdout, stderr } = await runInThisProcess(['crawl', `${origin}/`, ...BOT, '--min-delay', '0'])
  const lines = stdout
    .replaceAll(origin, 'A')
    .replace(/, waited .*? \(.*?\)/g, '')
    .replace(/\d+ bytes/g, 'SIZE')
    .split('\n')
  expect(lines.filter((line) => /^[✓✗!]/.test(line)).sort()).toEqual(
    [
      '✓ 200      A/  SIZE',
      '✗ refused  A/private/1  line 2 of robots.txt says "Disallow: /private" to *',
      '✗ refused  A/private/2  line 2 of robots.txt says "Disallow: /private" to *',
      '✓ 200      A/a  SIZE',
      '✓ 301      A/moved  SIZE, redirects to A/a',
      '✓ 200      A/text  SIZE',
      '✓ 200      A/deep  SIZE',
      '✓ 200      A/deeper  SIZE',
    ].sort(),
  )
  expect(requested()).toEqual(['/', '/a', '/deep', '/deeper', '/moved', '/robots.txt', '/text'])
  expect(stdout).toContain(`│ 6\n`)
  expect(stdout).toMatch(/^6 pages, 2 refused, \d+ bytes, /m)
  expect(stdout).toContain(`  refused   2 × ${origin}: line 2 of robots.txt says "Disallow: /private" to *\n`)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

test('--depth and --max-pages bound the crawl, and refused URLs do not count', async () => {
  const one = await startSite()
  await runInThisProcess(['crawl', `${one.origin}/`, ...BOT, '--min-delay', '0', '--depth', '1'])
  expect(one.requested()).toEqual(['/', '/a', '/moved', '/robots.txt', '/text'])
  const two = await startSite()
  await runInThisProcess(['crawl', `${two.origin}/`, ...BOT, '--min-delay', '0', '--max-pages', '3'])
  expect(two.requested()).toEqual(['/', '/a', '/moved', '/robots.txt'])
})

test('--json writes one object for each page, and the summary to stderr', async () => {
  const { origin } = await startSite()
  const args = [
    'crawl',
    `${origin}/closed`,
    `${origin}/private`,
    `${origin}/busy`,
    ...BOT,
    '--min-delay',
    '0',
    '--json',
  ]
  const { code, stdout, stderr } = await runInThisProcess(args)
  const pages = parseJsonLines(stdout).toSorted((a, b) => String(a.url).localeCompare(String(b.url)))
  expect(pages).toMatchObject([
    {
      version: 1,
      url: `${origin}/busy`,
      outcome: 'fetched',
      status: 429,
      page: { kind: 'rate-limited' },
      depth: 0,
      verdict: { allowed: true },
    },
    { version: 1, url: `${origin}/closed`, outcome: 'fetched', status: 200 },
    { version: 1, url: `${origin}/private`, outcome: 'refused', verdict: { allowed: false, because: 'rule' } },
  ])
  expect(stderr).toMatch(/^2 pages, 1 refused, .*\n {2}statuses {2}1 × \d+, 1 × \d+\n/)
  expect(stderr).toContain(
    '  pushed    1 response asked for fewer requests\n  advice    a URL in the header, such as (+https://example.com/bot), tells a site whom to ask\n',
  )
  expect(code).toBe(0)
})

test('says what became of each page, by its headers, its start and its errors', async () => {
  const { sites, origin } = await startSite()
  const at = (path: string) => `http://127.0.0.1:PORT${path}`
  const challenge = '<!doctype html><title>A</title><script id="anubis_challenge" type="application/json">{}</script>'
  sites.answerAll({
    [at('/challenged')]: { status: 200, headers: HTML, body: challenge },
    [at('/paid')]: { status: 402, headers: { 'crawler-price': 'USD 0.01' } },
    [at('/account')]: { status: 302, headers: { location: '/login?next=/account' } },
    [at('/login?next=/account')]: { status: 403 },
  })
  sites.respond(at('/reset'), (socket) => socket.destroy())
  const seeds = ['/challenged', '/paid', '/account', '/reset', '/a'].map((path) => `${origin}${path}`)
  const { stdout } = await runInThisProcess(['crawl', ...seeds, ...BOT, '--min-delay', '0', '--depth', '0'])
  expect(stdout).toMatch(/^! 200 {6}\S+\/challenged {2}\d+ bytes, challenge$/m)
  expect(stdout).toMatch(/^! 402 {6}\S+\/paid {2}0 bytes, payment-required \(USD 0\.01\)/m)
  expect(stdout).toMatch(/^! 302 {6}\S+\/account {2}0 bytes, login.*, redirects to \S+$/m)
  expect(stdout).toMatch(
    /^ {2}outcomes {2}(?=.*1 × challenge)(?=.*1 × login)(?=.*1 × connection)(?=.*1 × denied)(?=.*1 × served)/m,
  )
  const { stdout: json } = await runInThisProcess(['crawl', `${origin}/reset`, ...BOT, '--json'])
  expect(parseJsonLines(json)).toMatchObject([{ outcome: 'failed', page: { kind: 'connection', because: 'reset' } }])
})

test('a terminal gets the timeline, drawn in the same lines again', async () => {
  const { origin } = await startSite()
  const { isTTY, columns } = process.stdout
  Object.assign(process.stdout, { isTTY: true, columns: 80 })
  onTestFinished(() => {
    Object.assign(process.stdout, { isTTY, columns })
  })
  const { stdout } = await runInThisProcess(['crawl', `${origin}/`, ...BOT, '--min-delay', '0.1', '--max-pages', '5'])
  const frames = stdout.split(REDRAW)
  expect(frames.length).toBeGreaterThan(1)
  expect(frames.at(-1)).toMatch(/^127\.0\.0\.1:\d+ │.*│ 5\n/)
  for (const line of frames.flatMap((frame) => frame.split('\n')).filter((each) => each.includes('│')))
    expect(line.length).toBeLessThanOrEqual(80)
})

test.for(['SIGINT', 'SIGTERM'] as const)('%s ends the crawl with a summary', { tags: 'full' }, async (signal) => {
  const { origin } = await startSite()
  const child = startCli(['crawl', `${origin}/`, ...BOT, '--min-delay', '60', '--json'])
  const stderr = text(child.stderr)
  await once(child.stdout, 'data')
  child.kill(signal)
  child.stdout.resume()
  expect(await exitCodeOf(child)).toBe(130)
  expect(await stderr).toMatch(/^1 page, .* \(interrupted\)\n/)
})

describe('a list of URLs', () => {
  test('--max-pages also bounds how many sitemaps are requested', async () => {
    const { sites, origin, requested } = await startSite()
    const at = (path: string) => `http://127.0.0.1:PORT${path}`
    const xml = (root: string, item: string, paths: readonly string[]) => ({
      status: 200,
      body: `<${root}>${paths.map((path) => `<${item}><loc>${at(path)}</loc></${item}>`).join('')}</${root}>`,
    })
    sites.answerAll({
      [at('/index.xml')]: xml('sitemapindex', 'sitemap', ['/1.xml', '/2.xml', '/3.xml']),
      [at('/1.xml')]: xml('urlset', 'url', ['/private/1']), // is refused, so it does not count
      [at('/2.xml')]: xml('urlset', 'url', ['/a', '/text']),
      [at('/3.xml')]: xml('urlset', 'url', ['/deep']),
    })
    const args = ['crawl', '--sitemap', `${origin}/index.xml`, ...BOT, '--min-delay', '0', '--max-pages', '1']
    expect(await runInThisProcess(args)).toMatchObject({ code: 0, stderr: '' })
    expect(requested()).toEqual(['/1.xml', '/2.xml', '/a', '/index.xml', '/robots.txt'])
  })

  test('a line that is no URL is reported, and the others are crawled', async () => {
    const { origin, requested } = await startSite()
    const stdin = `not a url\n${origin}/text\n`
    const { code, stdout } = await runInThisProcess(['crawl', '-', ...BOT, '--json'], stdin)
    const reports = parseJsonLines(stdout).map(({ url, outcome, verdict }) => [url, outcome, verdict])
    expect(reports.toSorted((a, b) => `${a}`.localeCompare(`${b}`))).toMatchObject([
      [`${origin}/text`, 'fetched', {}],
      ['not a url', 'refused', { because: 'invalid-url' }],
    ])
    expect(requested()).toEqual(['/robots.txt', '/text'])
    expect(code).toBe(2)
  })

  test('an empty one is no mistake', async () => {
    const { code, stderr } = await runInThisProcess(['crawl', '-', ...BOT, '--json'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^0 pages, 0 refused, /) })
  })

  test.for(['SIGINT', 'SIGTERM'] as const)('%s ends the reading of it', { tags: 'full' }, async (signal) => {
    const { sites, origin } = await startSite()
    const crawl = (list: string) => startCli(['crawl', ...list.split(' '), ...BOT, '--json'])
    const bySitemap = crawl(`--sitemap ${origin}/map.xml`)
    sites.respond('http://127.0.0.1:PORT/map.xml', () => bySitemap.kill(signal))
    expect(await text(bySitemap.stderr)).toMatch(/^0 pages, .* \(interrupted\)\n$/)
    expect(await exitCodeOf(bySitemap)).toBe(130)
    const byStdin = crawl('- --depth 0') // stdin stays open
    byStdin.stdin.write(`${origin}/text\n`)
    await once(byStdin.stdout, 'data')
    byStdin.kill(signal)
    byStdin.stdout.resume()
    expect(await text(byStdin.stderr)).toMatch(/^1 page, .* \(interrupted\)\n/)
  })
})

test('--retry requests a page again after a 429, and follows its links', { tags: 'full' }, async () => {
  const { sites, origin, requested } = await startSite()
  const busy = { status: 429, headers: { 'retry-after': '1' } }
  sites.respond('http://127.0.0.1:PORT/', busy, busy, links('/a'))
  const args = ['crawl', `${origin}/`, ...BOT, '--min-delay', '0', '--depth', '1']
  const { stdout } = await runInThisProcess([...args, '--retry', '2'])
  expect(stdout).toMatch(/^✓ 200 {6}\S+ {2}\d+ bytes, 3 attempts, waited \S+ s \((retry-after|backoff)\)/m)
  expect(stdout).toMatch(/^ {2}waits {5}1 request waited /m)
  expect(stdout).toContain('  pushed    2 responses asked for fewer requests\n')
  expect(requested()).toEqual(['/', '/', '/', '/a', '/robots.txt'])
})

test.for([
  [[], 'no URL was given; write one such as https://example.com, or - to read URLs from stdin'],
  [['example.com'], '"example.com" is not the URL of a page; write one such as https://example.com'],
  [
    ['http://a.test', '--max-pages', '1.5'],
    '--max-pages: "1.5" is out of range; write a whole number of pages from 1 to 1000000, such as 100',
  ],
  [
    ['http://a.test', '--concurrency', '0'],
    '--concurrency: "0" is out of range; write a whole number of requests from 1 to 64, such as 4',
  ],
] as const)('crawl %j is a mistake', async ([args, message]) => {
  expect(await runInThisProcess(['crawl', ...args, ...BOT])).toEqual({
    code: 2,
    stdout: '',
    stderr: `politely: ${message}\n`,
  })
})

test.for([
  ['<a href=b>1</a><A HREF="/c?d=1&amp;e">', ['http://h/a/b', 'http://h/c?d=1&e'], []],
  ['<base href="/x/"><area href=y><a>no</a><a href="#top">', ['http://h/x/y', 'http://h/x/'], []],
  ['<a rel="ugc nofollow" href=b><a rel=nofollower href=c>', ['http://h/a/c'], ['http://h/a/b']],
  ['<a rel=nofollow href=b><a href=b#x><a rel=NOFOLLOW href=b>', ['http://h/a/b'], []],
  ['<meta name=ROBOTS content="noindex, NoFollow"><a href=b>', [], ['http://h/a/b']],
  ['<meta name=examplebot content=none><a href=b><a rel=nofollow href=b>', [], ['http://h/a/b']],
  ['<meta name=otherbot content=nofollow><a href=b>', ['http://h/a/b'], []],
  // Tags count as in `politely usage`: in the head of the page.
  ['<p>A comment: <meta name=robots content=nofollow></p><a href=b>', ['http://h/a/b'], []],
  ['<noscript><meta name=robots content=nofollow></noscript><a href=b>', [], ['http://h/a/b']],
  ['<!-- <a href=b> --><script>"<a href=c>"</script><a href="ftp://h/">', [], []],
  ['<a href="http://[">', [], []],
  ['<a href="//user:password@h/">', ['http://h/'], []],
] as const)('the links of %s', ([html, follow, nofollow]) => {
  const reader = new LinkReader(['ExampleBot'])
  for (const character of html) reader.write(character)
  expect(reader.end('http://h/a/')).toEqual({ follow, nofollow })
})

describe('--nofollow', () => {
  /** Returns the requested paths, the links that each page left out, and the summary. */
  async function crawlWith(...options: readonly string[]) {
    const { sites, origin, requested } = await startSite()
    const page = (body: string, headers = {}) => ({ status: 200, headers: { ...HTML, ...headers }, body })
    const marked = (href: string) => `<a rel=nofollow href=${href}>a</a>`
    const start = `<a href=/a>a</a>${['/a', '/b', '/meta', 'http://other.test/'].map(marked).join('')}`
    sites.answerAll({
      'http://127.0.0.1:PORT/start': page(start),
      'http://127.0.0.1:PORT/a': page('<a href=/b>a</a><a href=/c>a</a>', { 'x-robots-tag': 'examplebot: none' }),
      'http://127.0.0.1:PORT/meta': page('<meta name=robots content=nofollow><a href=/c>a</a>'),
      'http://127.0.0.1:PORT/b': page(''),
      'http://127.0.0.1:PORT/c': page(''),
    })
    const args = ['crawl', `${origin}/start`, `${origin}/meta`, ...BOT, '--min-delay', '0', '--json', ...options]
    const { stdout, stderr } = await runInThisProcess(args)
    const counts = parseJsonLines(stdout).map(({ url, nofollow }) => [new URL(`${url}`).pathname, nofollow])
    return { requested: requested(), counts: Object.fromEntries(counts), summary: stderr }
  }

  test('skips and counts links by default, each URL once, and none that was requested anyway', async () => {
    const { requested, counts, summary } = await crawlWith()
    expect(requested).toEqual(['/a', '/meta', '/robots.txt', '/start'])
    expect(counts).toEqual({ '/start': 2, '/a': 2, '/meta': 1 })
    expect(summary).toContain('\n  nofollow  2 links left out; --nofollow follow requests them\n')
  })

  test('does not count links that --depth leaves out', async () => {
    const { counts, summary } = await crawlWith('--depth', '0')
    expect(counts).toEqual({ '/start': 0, '/meta': 0 })
    expect(summary).not.toContain('nofollow')
  })

  test('follow requests the links', async () => {
    const { requested, counts, summary } = await crawlWith('--nofollow', 'follow')
    expect(requested).toEqual(['/a', '/b', '/c', '/meta', '/robots.txt', '/start'])
    expect(new Set(Object.values(counts))).toEqual(new Set([0]))
    expect(summary).not.toContain('nofollow')
  })
})

test.for([
  [null, false],
  ['noindex', false],
  ['noindex, nofollow', true],
  ['otherbot: nofollow', false],
  ['otherbot: noindex, nofollow', true], // perhaps two lines
  ['otherbot: noindex, ExampleBot: none', true],
  ['otherbot: nofollow, ExampleBot: noindex', false],
  ['max-snippet: 5, nofollow', true],
] as const)('X-Robots-Tag: %s closes the links: %s', ([value, isClosed]) => {
  expect(isNofollowHeader(value, ['ExampleBot'])).toBe(isClosed)
})

test('stops at a site that is down, and says until when it rests', { tags: 'full' }, async () => {
  const { sites, origin, requested } = await startSite()
  const pages = Array.from({ length: 12 }, (_, n) => `/p${n}`)
  sites.answerAll({ 'http://127.0.0.1:PORT/': links(...pages) })
  for (const page of pages) sites.respond(`http://127.0.0.1:PORT${page}`, (socket) => socket.destroy())
  const options = ['--min-delay', '0', '--concurrency', '1', '--json']
  const { stdout } = await runInThisProcess(['crawl', `${origin}/`, ...BOT, ...options])
  const failed = (parseJsonLines(stdout) as { outcome: string; problem?: string }[]).filter(
    ({ outcome }) => outcome === 'failed',
  )
  expect(failed).toHaveLength(12)
  const rests = failed.filter(({ problem }) =>
    /^not requested: 6 requests .* it rests until 20\S+Z$/.test(`${problem}`),
  )
  expect(rests).toHaveLength(6)
  expect(requested().filter((path) => path.startsWith('/p'))).toHaveLength(6)
})
