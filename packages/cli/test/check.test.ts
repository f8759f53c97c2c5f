// @module-tag nodes
// @module-tag process
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { explainUrlProblem } from '@politely/core'
import type { Reply } from '@politely/testkit/servers/sites'
import { expect, test } from 'vitest'
import { wasRevalidated } from '../src/commands/check/compare-edge.ts'
import { withoutFolder, writeFiles } from './files.ts'
import { exitCodeOf, parseJsonLines, runCli, runInThisProcess, startCli, writeForever } from './run-cli.ts'
import { NO_RESPONSE, originWithRules, originWithStatus, startCache, startSite } from './site.ts'

const BOT = ['--user-agent', 'ExampleBot/1.0 (+https://example.com/bot)']
const ROBOTS = `User-agent: *
Crawl-delay: 2.5
Disallow: /private

User-agent: OtherBot
Disallow: /
`

const path = writeFiles({ 'draft.txt': ROBOTS })

/** Replaces origins by their names and times by NOW. */
function withoutPortsAndTimes(report: string, origins: Record<string, string>): string {
  const named = Object.entries(origins).reduce((text, [name, origin]) => text.replaceAll(origin, name), report)
  return named.replace(/(?<=(?:fetched|tried) +|until )(just now|[\d.]+ \w+ ago|\S+Z)/g, 'NOW')
}

test('reports an allowed URL that no rule matches', async () => {
  const A = await originWithRules(ROBOTS)
  const { code, stdout, stderr } = await runInThisProcess(['check', `${A}/page`, ...BOT])
  expect(withoutPortsAndTimes(stdout, { A })).toBe(
    [
      '✓ allowed     A/page',
      '  because     no rule of the group for * (line 1) matches',
      '  crawler     ExampleBot, by the group for * (line 1)',
      '  robots.txt  A/robots.txt (200), 84 bytes',
      '  fetched     NOW, fresh for 24 h',
      '  crawl-delay 2.5 s between requests',
      '',
    ].join('\n'),
  )
  expect(stderr).toBe('')
  expect(code).toBe(0)
})

test('reports the rule that disallows a URL, and the redirects of robots.txt', async () => {
  const rules = { status: 200, headers: { 'cache-control': 'max-age=7200' }, body: ROBOTS }
  const { origin: B } = await startSite(rules, '/rules')
  const A = await originWithStatus(301, { location: `${B}/rules` })
  const { code, stdout } = await runInThisProcess(['check', `${A}/private/x`, '--user-agent', 'OtherBot'])
  expect(withoutPortsAndTimes(stdout, { A, B })).toBe(
    [
      '✗ disallowed  A/private/x',
      '  because     line 6 of robots.txt says "Disallow: /" to OtherBot',
      '  crawler     OtherBot, by the group for OtherBot (line 5)',
      '  robots.txt  A/robots.txt (301)',
      '              → B/rules (200), 84 bytes',
      '  fetched     NOW, fresh for 2 h',
      '',
    ].join('\n'),
  )
  expect(code).toBe(1)
})

test('separates reports by a blank line (here: a missing and an unreachable robots.txt)', async () => {
  const A = await originWithStatus(404)
  const B = await originWithStatus(503, { 'retry-after': '7200' })
  const { code, stdout } = await runInThisProcess(['check', `${A}/`, `${B}/`, ...BOT])
  expect(withoutPortsAndTimes(stdout, { A, B })).toBe(
    [
      '✓ allowed     A/',
      '  because     the site has no robots.txt (status 404)',
      '  crawler     ExampleBot',
      '  robots.txt  A/robots.txt (404)',
      '  fetched     NOW, fresh for 24 h',
      '',
      '✗ disallowed  B/',
      '  because     robots.txt is unreachable (status 503); the server asked to wait 7200 s, until NOW',
      '  crawler     ExampleBot',
      '  robots.txt  B/robots.txt (503)',
      '  tried       NOW, next attempt in 2 h (Retry-After: 7200)',
      '  advice      the site should send the file with status 200, or status 404 if it has none',
      '',
    ].join('\n'),
  )
  expect(code).toBe(3)
})

test('reports a host that does not resolve as unreachable, not as an error', async () => {
  const { code, stdout, stderr } = await runInThisProcess([
    'check',
    'http://nowhere.invalid/',
    ...BOT,
    '--timeout',
    '5',
  ])
  expect(stdout).toMatch(/^✗ disallowed {2}http:\/\/nowhere\.invalid\/\n {2}because {5}robots\.txt is unreachable \(/)
  expect(stderr).toBe('')
  expect(code).toBe(3)
})

test('prints a host given as A-labels in Unicode too, and requests robots.txt by A-labels', async () => {
  const urls = ['http://xn--bcher-kva.invalid:81/', 'http://bücher.invalid:81/']
  const { stdout } = await runInThisProcess(['check', ...urls, ...BOT, '--timeout', '5'])
  expect(stdout).toContain('✗ disallowed  http://xn--bcher-kva.invalid:81/ (bücher.invalid:81)\n')
  expect(stdout).toContain('✗ disallowed  http://bücher.invalid:81/\n')
  expect(stdout.match(/robots\.txt {2}http:\/\/xn--bcher-kva\.invalid:81\/robots\.txt$/gm)).toHaveLength(2)
})

test('escapes control characters of a site and shortens its long texts', async () => {
  const A = await originWithRules(
    'User-agent: \u001b]0;owned\u0007\nUser-agent: \u009b2J\u202e\nUser-agent: *\nDisallow: /\n',
  )
  const escaped = await runInThisProcess(['check', `${A}/`, ...BOT])
  expect(escaped.stdout).toContain('"Disallow: /" to "\\u{1b}]0;owned\\u{7}", "\\u{9b}2J\\u{202e}", *\n')
  expect(escaped.stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)

  const json = await runInThisProcess(['check', `${A}/`, ...BOT, '--json'])
  expect(json.stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
  expect(parseJsonLines(json.stdout)).toMatchObject([
    { group: { agents: ['\u001b]0;owned\u0007', '\u009b2J\u202e', '*'] } },
  ])

  const B = await originWithRules(`User-agent: *\nDisallow: /${'x'.repeat(10_000)}\n`)
  const shortened = await runInThisProcess(['check', `${B}/${'x'.repeat(20_000)}`, ...BOT])
  expect(shortened.stdout).toMatch(
    /^✗ disallowed .*…\n {2}because .*…\n {2}crawler {5}ExampleBot, .*\n {2}robots\.txt .*\n {2}fetched .*\n$/,
  )
  expect(shortened.stdout.length).toBeLessThan(1000)
})

test('--json prints the verdicts of the API, one on each line', async () => {
  const A = await originWithRules(ROBOTS, { age: '60', server: 'x' })
  const { code, stdout, stderr } = await runInThisProcess([
    'check',
    `${A}/private`,
    `${A}/robots.txt`,
    '--json',
    ...BOT,
  ])
  expect(parseJsonLines(stdout)).toMatchObject([
    {
      url: `${A}/private`,
      origin: A,
      allowed: false,
      because: 'rule',
      rule: { directive: 'disallow', text: '/private', line: 3, bytes: 8 },
      group: { agents: ['*'], line: 1 },
      access: { outcome: 'success', status: 200, url: `${A}/robots.txt`, hops: [], copy: { freshness: 'fresh' } },
      crawlDelayMs: 2500,
      headers: { age: '60', 'content-length': '84' },
    },
    { url: `${A}/robots.txt`, allowed: true, because: 'robots-txt-itself' },
  ])
  expect(stderr).toBe('')
  expect(code).toBe(1)
})

test('passes --user-agent, --product-token, --dialect and --timeout to the client', async () => {
  const rules = await startSite({ status: 200, body: 'User-agent: MJ12bot\nDisallow: /\n' })
  const args = ['check', `${rules.origin}/`, '--json', '--user-agent', 'Custom Header', '--product-token', 'MJ12bot']
  expect(parseJsonLines((await runInThisProcess(args)).stdout)).toMatchObject([{ because: 'rule', rule: { line: 2 } }])
  expect(parseJsonLines((await runInThisProcess([...args, '--dialect', 'google'])).stdout)).toMatchObject([
    { because: 'no-group' },
  ])
  expect(rules.server.requests.map(({ headers }) => headers['user-agent'])).toEqual(['Custom Header', 'Custom Header'])

  const { origin } = await startSite(NO_RESPONSE)
  const late = await runInThisProcess(['check', `${origin}/`, ...BOT, '--json', '--timeout', '0.2'])
  expect(parseJsonLines(late.stdout)).toMatchObject([{ because: 'unreachable', access: { reason: 'timeout' } }])
  const report = await runInThisProcess(['check', `${origin}/`, ...BOT, '--timeout', '0.2'])
  expect(report.stdout).toContain('robots.txt is unreachable (timeout: the deadline of 200 ms (--timeout) passed)\n')
})

test('prints a line on stderr for an invalid URL, and checks the others', async () => {
  const A = await originWithStatus(404)
  const urls = ['mailto:x', `${A}/1`, 'ftp//typo', `${A}/2`]
  const bad =
    `politely: "mailto:x": ${explainUrlProblem('scheme')}\n` +
    `politely: "ftp//typo": ${explainUrlProblem('relative', 'ftp//typo')}\n`
  const human = await runInThisProcess(['check', ...urls, ...BOT])
  expect(human.stdout.match(/^(✓ .*)?$/gm)).toEqual([`✓ allowed     ${A}/1`, '', `✓ allowed     ${A}/2`, ''])
  expect(human).toMatchObject({ code: 2, stderr: bad })
  const json = await runInThisProcess(['check', ...urls, ...BOT, '--json'])
  expect(parseJsonLines(json.stdout).map(({ url }) => url)).toEqual(urls)
  expect(json).toMatchObject({ code: 2, stderr: bad })
})

test.for([
  [['allowed'], 0],
  [['allowed', 'disallowed'], 1],
  [['disallowed', 'unreachable', 'allowed'], 3],
  [['unreachable', 'bad', 'disallowed', 'allowed'], 2],
] as const)('exits with the code of the most severe of %j: %i', async ([kinds, code]) => {
  const rules = await originWithRules(ROBOTS)
  const down = await originWithStatus(503, { 'retry-after': '60' })
  const urls = { allowed: `${rules}/`, disallowed: `${rules}/private`, unreachable: `${down}/`, bad: 'mailto:x' }
  expect(await runInThisProcess(['check', ...kinds.map((kind) => urls[kind]), ...BOT])).toMatchObject({ code })
})

test('checks 16 sites at once and prints verdicts in input order', { tags: 'full' }, async () => {
  const slow = Promise.withResolvers<Reply>()
  const first = await startSite(slow.promise)
  const others = await Promise.all(Array.from({ length: 19 }, () => startSite({ status: 404 })))
  const sites = [first, ...others]
  const urls = [...sites.map(({ origin }) => `${origin}/a`), ...sites.map(({ origin }) => `${origin}/b`)]
  const ended = runCli(['check', ...urls, '--json', ...BOT])
  await Promise.all(sites.slice(0, 16).map(({ server }) => server.requested(1)))
  await setTimeout(100) // time for a 17th request that must not be made
  expect(sites.map(({ server }) => server.requests.length)).toEqual([...Array(16).fill(1), ...Array(4).fill(0)])
  slow.resolve({ status: 404 })
  expect(parseJsonLines((await ended).stdout).map(({ url }) => url)).toEqual(urls)
})

test('a line that is too long makes no request', async () => {
  const { origin, server } = await startSite({ status: 404 })
  const stdin = `${origin}/${'x'.repeat(70_000)}\n${origin}/${'x'.repeat(200_000)}\n`
  const { stdout, code } = await runInThisProcess(['check', '-', 'mailto:x', '--json', ...BOT], stdin)
  const [pathTooLong, lineTooLong, next] = parseJsonLines(stdout)
  for (const verdict of [pathTooLong, lineTooLong])
    expect(verdict).toMatchObject({ allowed: false, because: 'invalid-url', problem: 'too-long' })
  expect(lineTooLong?.url).toHaveLength(131_073)
  expect(next).toMatchObject({ url: 'mailto:x', problem: 'scheme' })
  expect({ code, requests: server.requests }).toEqual({ code: 2, requests: [] })
})

test('replaces - by the lines of stdin, also between other URLs', async () => {
  const A = await originWithStatus(404)
  const stdin = `${A}/1\r\n\n  \n${A}/2` // CR LF, blank lines, no line end after the last line
  const { stdout } = await runInThisProcess(['check', `${A}/0`, '-', `${A}/3`, '--json', ...BOT], stdin)
  expect(parseJsonLines(stdout).map(({ url }) => url)).toEqual([0, 1, 2, 3].map((n) => `${A}/${n}`))
})

test('prints a verdict before the next URL is read', { tags: 'full' }, async () => {
  const A = await originWithStatus(404)
  const child = startCli(['check', '-', '--json', ...BOT])
  const output = createInterface(child.stdout)[Symbol.asyncIterator]()
  for (const n of [1, 2, 3]) {
    child.stdin.write(`${A}/${n}\n`)
    expect(JSON.parse((await output.next()).value)).toMatchObject({ url: `${A}/${n}` })
  }
  child.stdin.end()
  expect(await exitCodeOf(child)).toBe(0)
})

test.for([
  ['check', 'SIGINT'],
  ['check', 'SIGTERM'],
  ['usage', 'SIGTERM'],
] as const)('%s exits with code 130 on %s and prints nothing', { tags: 'full' }, async ([command, signal]) => {
  const { origin, server } = await startSite(NO_RESPONSE)
  const child = startCli([command, `${origin}/`, '-', ...BOT]) // stdin stays open
  const output = Promise.all([text(child.stdout), text(child.stderr)])
  await server.requested(1)
  child.kill(signal)
  expect(await exitCodeOf(child)).toBe(130)
  expect(await output).toEqual(['', ''])
})

// They compute for seconds with a large robots.txt. Node calls no listener meanwhile.
test.for([
  ['lint', 'SIGINT'],
  ['audit', 'SIGTERM'],
] as const)('%s has no listener for %s, which ends it at any moment', { tags: 'full' }, async ([command, signal]) => {
  const { origin, server } = await startSite(NO_RESPONSE)
  const child = startCli([command, origin, ...BOT])
  await server.requested(1)
  child.kill(signal)
  await exitCodeOf(child)
  expect(child.signalCode).toBe(signal)
})

test('exits with code 141 when the reader closes stdout (`| head`) and all URLs so far are allowed', {
  tags: 'full',
}, async () => {
  const A = await originWithStatus(404)
  const child = startCli(['check', '-', '--json', ...BOT])
  const stderr = text(child.stderr)
  writeForever(child, `${A}/\n`)
  await once(child.stdout, 'data')
  child.stdout.destroy()
  expect(await exitCodeOf(child)).toBe(141)
  expect(await stderr).toBe('')
})

test.for([
  [1, 'disallowed', { status: 200, body: 'User-agent: *\nDisallow: /\n' }],
  [3, 'of an unreachable robots.txt', { status: 503, headers: { 'retry-after': '7200' } }],
] as const)(
  'exits with code %i when the reader has closed stdout and a URL is %s',
  { tags: 'full' },
  async ([code, , reply]) => {
    const { origin } = await startSite(reply)
    const child = startCli(['check', `${origin}/`, ...BOT])
    child.stdout.destroy()
    expect(await exitCodeOf(child)).toBe(code)
  },
)

test('prints colours only with FORCE_COLOR when stdout is a pipe', { tags: 'full' }, async () => {
  const A = await originWithStatus(404)
  const plain = await runCli(['check', `${A}/`, ...BOT])
  expect(plain.stdout).not.toContain('\u001b')
  const coloured = await runCli(['check', `${A}/`, ...BOT], { env: { FORCE_COLOR: '1' } })
  expect(coloured.stdout).toContain('\u001b[32m✓ allowed')
})

test('--robots checks URLs of any site, and paths, against a file', async () => {
  const args = ['check', '/private', 'https://shop.example/page', ...BOT, '--robots', path('draft.txt')]
  const { code, stdout } = await runInThisProcess(args)
  expect(withoutFolder(stdout, path)).toBe(
    [
      '✗ disallowed  /private',
      '  because     line 3 of robots.txt says "Disallow: /private" to *',
      '  crawler     ExampleBot, by the group for * (line 1)',
      '  robots.txt  draft.txt, 84 bytes',
      '  crawl-delay 2.5 s between requests',
      '',
      '✓ allowed     https://shop.example/page',
      '  because     no rule of the group for * (line 1) matches',
      '  crawler     ExampleBot, by the group for * (line 1)',
      '  robots.txt  draft.txt, 84 bytes',
      '  crawl-delay 2.5 s between requests',
      '',
    ].join('\n'),
  )
  expect(code).toBe(1)
  const json = await runInThisProcess(['check', '/private', 'mailto:x', ...args.slice(3), '--json'])
  expect(parseJsonLines(json.stdout)).toMatchObject([
    { version: 1, url: '/private', allowed: false, rule: { line: 3 }, crawlDelayMs: 2500 },
    { version: 1, url: 'mailto:x', because: 'invalid-url' },
  ])
  expect(json.code).toBe(2)
})

test('--robots checks against the robots.txt of another site, such as a preview', async () => {
  const A = await originWithRules(ROBOTS)
  const { code, stdout } = await runInThisProcess(['check', '/private', ...BOT, '--robots', A])
  expect(withoutPortsAndTimes(stdout, { A })).toContain(
    '  robots.txt  A/robots.txt (200), 84 bytes\n  fetched     NOW, fresh for 24 h\n',
  )
  expect(code).toBe(1)
  const down = await originWithStatus(503, { 'retry-after': '60' })
  expect(await runInThisProcess(['check', '/private', ...BOT, '--robots', down])).toEqual({
    code: 3,
    stdout: '',
    stderr: expect.stringMatching(
      /\/robots\.txt: robots\.txt is unreachable \(status 503\); the server asked.*; the site should send the file with/,
    ),
  })
})

const KEPT = {
  status: 200,
  headers: { age: '5000', 'x-cache': 'HIT', etag: '"1"' },
  body: 'User-agent: *\nDisallow: /\n',
}

const ADVICE =
  'request it with a query string that no cache knows, such as CDN/robots.txt?1; or purge /robots.txt from the cache, and check again'

test.for([
  [
    'a new file',
    { status: 200, headers: { 'x-cache': 'MISS', etag: '"2"' }, body: 'User-agent: *\nDisallow: /private\nAllow: /\n' },
    [
      'differs: after a request that asks caches to revalidate, 1 line is gone and 2 lines are new',
      'this URL becomes allowed: line 3 of robots.txt says "Allow: /" to *',
      'cached response: age: 5000, x-cache: HIT, etag: "1"',
      'revalidated response: x-cache: MISS, etag: "2"',
      'to send the new file now, purge /robots.txt from the cache',
    ],
    { same: false, linesRemoved: 1, linesAdded: 2, verdict: { allowed: true } },
  ],
  [
    'a file that was removed',
    { status: 404 },
    [
      'differs: after a request that asks caches to revalidate, 2 lines are gone and 0 lines are new',
      'this URL becomes allowed: the site has no robots.txt (status 404)',
      'cached response: age: 5000, x-cache: HIT, etag: "1"',
      'revalidated response: no header about caching',
      'to send the new file now, purge /robots.txt from the cache',
    ],
    { same: false, linesRemoved: 2, linesAdded: 0, verdict: { allowed: true } },
  ],
  [
    'another order of the lines',
    { status: 200, body: 'Disallow: /\nUser-agent: *\n' },
    [
      'differs: after a request that asks caches to revalidate, the lines have another order',
      'this URL becomes allowed: no rule of the group for * (line 2) matches',
      'cached response: age: 5000, x-cache: HIT, etag: "1"',
      'revalidated response: no header about caching',
      'to send the new file now, purge /robots.txt from the cache',
    ],
    { same: false, linesRemoved: 0, linesAdded: 0 },
  ],
  [
    'the same file',
    { ...KEPT, headers: { age: '0', 'x-cache': 'REVALIDATED' } },
    ['the same after a request that asks caches to revalidate'],
    { same: true, revalidated: true },
  ],
  [
    'the same file, without headers of a cache',
    { ...KEPT, headers: {} },
    [
      'the same after a request that asks caches to revalidate',
      'no header says whether a cache sent it; if there is a cache, this may be its old copy',
      `to see the file of the site, ${ADVICE}`,
    ],
    { same: true },
  ],
  [
    'the same file from a cache that ignored the request',
    KEPT,
    [
      'unknown: the cache did not revalidate, although asked to (age: 5000, x-cache: HIT, etag: "1")',
      `to see the file of the site, ${ADVICE}`,
    ],
    { same: false, revalidated: false },
  ],
  [
    'another old file of such a cache',
    { ...KEPT, headers: { age: '900' }, body: 'User-agent: *\nDisallow: /a\n' },
    [
      'differs: after a request that asks caches to revalidate, 1 line is gone and 1 line is new',
      'this URL becomes allowed: no rule of the group for * (line 1) matches',
      'cached response: age: 5000, x-cache: HIT, etag: "1"',
      'revalidated response: age: 900',
      'the second response came from a cache too, so the file of the site may differ again',
      `to see the file of the site, ${ADVICE}`,
    ],
    { same: false, revalidated: false },
  ],
  [
    'no file',
    { status: 503, headers: { 'retry-after': '60' } },
    [
      'unknown: after a request that asks caches to revalidate, robots.txt is unreachable (status 503); the server asked to wait 60 s, until NOW',
    ],
    { same: false, verdict: { because: 'unreachable' } },
  ],
] as const)('--edge compares the copy of a cache with %s', async ([, current, lines, json]) => {
  const origin = await startCache(KEPT, current)
  const args = ['check', `${origin}/page`, ...BOT, '--edge']
  const { code, stdout } = await runInThisProcess(args)
  const rows = withoutPortsAndTimes(stdout, { CDN: origin }).split('\n').slice(5, -1)
  expect(rows.map((row) => row.slice(14))).toEqual(lines)
  expect(rows[0]).toMatch(/^ {2}edge {8}\w/)
  expect(code).toBe(1) // the verdict is the one of the copy that crawlers get
  expect(parseJsonLines((await runInThisProcess([...args, '--json'])).stdout)).toMatchObject([{ edge: json }])
})

test.for([
  [{ age: '7200', 'cf-cache-status': 'HIT' }, { age: '7200', 'cf-cache-status': 'HIT' }, false],
  [{ 'x-cache': 'Hit from cloudfront' }, { 'x-cache': 'Hit from cloudfront' }, false],
  [{ 'x-cache': 'Hit from cloudfront' }, { 'x-cache': 'RefreshHit from cloudfront' }, true],
  [{ 'x-cache': 'TCP_MEM_HIT' }, { 'x-cache': 'TCP_MEM_HIT from a23-1' }, false],
  [{ 'x-cache': 'TCP_MEM_HIT' }, { 'x-cache': 'TCP_REFRESH_HIT from a23-1' }, true],
  [{ 'x-cache': 'HIT, MISS' }, { 'x-cache': 'HIT, MISS' }, false],
  [{ 'cf-cache-status': 'HIT' }, { 'cf-cache-status': 'EXPIRED' }, true],
  [{ 'cf-cache-status': 'HIT' }, { 'cf-cache-status': 'UPDATING' }, false],
  [{ 'cache-status': '"a"; hit, "b"; fwd=miss' }, { 'cache-status': '"a"; hit; ttl=9' }, false],
  [{ 'cache-status': '"a"; hit' }, { 'cache-status': '"a"; fwd=stale' }, true],
  [{ 'x-vercel-cache': 'HIT', age: '0' }, { 'x-vercel-cache': 'HIT', age: '0' }, false],
  [{ 'x-cache-status': 'MISS' }, { 'x-cache-status': 'HIT' }, true],
  [{}, { age: '4' }, true],
  [{}, { age: '60' }, false],
  [{}, {}, undefined],
] as const)('--edge: after %j, %j is revalidated: %s', ([first, second, revalidated]) => {
  expect(wasRevalidated(first, second)).toBe(revalidated)
})
