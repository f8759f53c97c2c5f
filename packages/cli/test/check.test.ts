import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import type { Reply } from '@politely/testkit/sites'
import { expect, test } from 'vitest'
import { codeOf, feed, jsonLines, politely, politelyHere, start } from './politely.ts'
import { originAnswering, originWith, SILENCE, startSite } from './site.ts'

const BOT = ['--user-agent', 'ExampleBot/1.0 (+https://example.com/bot)']
const ROBOTS = `User-agent: *
Crawl-delay: 2.5
Disallow: /private

User-agent: OtherBot
Disallow: /
`

/** What a report says, without the port and the moment. */
function still(report: string, origins: Record<string, string>): string {
  const named = Object.entries(origins).reduce((text, [name, origin]) => text.replaceAll(origin, name), report)
  return named.replace(/asked (just now|[\d.]+ \w+ ago)/g, 'asked NOW')
}

test('allowed: no rule matched', async () => {
  const A = await originWith(ROBOTS)
  const { code, stdout, stderr } = await politelyHere(['check', `${A}/page`, ...BOT])
  expect(still(stdout, { A })).toBe(
    [
      '✓ allowed     A/page',
      '  because     no rule of the group for * (line 1) matches',
      '  robots.txt  A/robots.txt (200), asked NOW, good for 24 h',
      '  crawl-delay 2.5 s between requests',
      '',
    ].join('\n'),
  )
  expect(stderr).toBe('')
  expect(code).toBe(0)
})

test('disallowed: the rule, and the redirects that led to it', async () => {
  const rules = { status: 200, headers: { 'cache-control': 'max-age=7200' }, body: ROBOTS }
  const { origin: B } = await startSite(rules, '/rules')
  const A = await originAnswering(301, { location: `${B}/rules` })
  const { code, stdout } = await politelyHere(['check', `${A}/private/x`, '--user-agent', 'OtherBot'])
  expect(still(stdout, { A, B })).toBe(
    [
      '✗ disallowed  A/private/x',
      '  because     line 6 of robots.txt says "Disallow: /" to OtherBot',
      '  robots.txt  A/robots.txt (301) → B/rules (200), asked NOW, good for 2 h',
      '',
    ].join('\n'),
  )
  expect(code).toBe(1)
})

test('no robots.txt, and an unreachable one: reports stand apart by a blank line', async () => {
  const A = await originAnswering(404)
  const B = await originAnswering(503, { 'retry-after': '7200' })
  const { code, stdout } = await politelyHere(['check', `${A}/`, `${B}/`, ...BOT])
  expect(still(stdout, { A, B })).toBe(
    [
      '✓ allowed     A/',
      '  because     the site has no robots.txt (status 404)',
      '  robots.txt  A/robots.txt (404), asked NOW, good for 24 h',
      '',
      '✗ disallowed  B/',
      '  because     robots.txt is unreachable (status 503)',
      '  robots.txt  B/robots.txt (503), asked NOW, again in 2 h',
      '',
    ].join('\n'),
  )
  expect(code).toBe(3)
})

test('a host that does not resolve is a verdict, no error', async () => {
  const { code, stdout, stderr } = await politelyHere(['check', 'http://nowhere.invalid/', ...BOT, '--timeout', '5'])
  expect(stdout).toMatch(/^✗ disallowed {2}http:\/\/nowhere\.invalid\/\n {2}because {5}robots\.txt is unreachable \(/)
  expect(stderr).toBe('')
  expect(code).toBe(3)
})

test('a host in A-labels is also spelled out; robots.txt is asked by A-labels', async () => {
  const typed = ['http://xn--bcher-kva.invalid:81/', 'http://bücher.invalid:81/']
  const { stdout } = await politelyHere(['check', ...typed, ...BOT, '--timeout', '5'])
  expect(stdout).toContain('✗ disallowed  http://xn--bcher-kva.invalid:81/ (bücher.invalid:81)\n')
  expect(stdout).toContain('✗ disallowed  http://bücher.invalid:81/\n')
  expect(stdout.match(/robots\.txt {2}http:\/\/xn--bcher-kva\.invalid:81\/robots\.txt,/g)).toHaveLength(2)
})

test('what a site writes cannot take over the terminal, nor flood it', async () => {
  const A = await originWith(
    'User-agent: \u001b]0;owned\u0007\nUser-agent: \u009b2J\u202e\nUser-agent: *\nDisallow: /\n',
  )
  const taken = await politelyHere(['check', `${A}/`, ...BOT])
  expect(taken.stdout).toContain('"Disallow: /" to \\u{1b}]0;owned\\u{7}, \\u{9b}2J\\u{202e}, *\n')
  expect(taken.stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)

  const B = await originWith(`User-agent: *\nDisallow: /${'x'.repeat(10_000)}\n`)
  const flooded = await politelyHere(['check', `${B}/${'x'.repeat(20_000)}`, ...BOT])
  expect(flooded.stdout).toMatch(/^✗ disallowed .*…\n {2}because .*…\n {2}robots\.txt .*\n$/)
  expect(flooded.stdout.length).toBeLessThan(1000)
})

test('--json: the verdict as the API gives it, one a line', async () => {
  const A = await originWith(ROBOTS)
  const { code, stdout, stderr } = await politelyHere(['check', `${A}/private`, `${A}/robots.txt`, '--json', ...BOT])
  expect(jsonLines(stdout)).toMatchObject([
    {
      url: `${A}/private`,
      origin: A,
      allowed: false,
      because: 'rule',
      rule: { directive: 'disallow', text: '/private', line: 3, bytes: 8 },
      group: { agents: ['*'], line: 1 },
      access: { outcome: 'success', status: 200, url: `${A}/robots.txt`, hops: [], copy: { freshness: 'fresh' } },
      crawlDelayMs: 2500,
    },
    { url: `${A}/robots.txt`, allowed: true, because: 'robots-txt-itself' },
  ])
  expect(stderr).toBe('')
  expect(code).toBe(1)
})

test('options reach the client: the header, the token, the dialect, the deadline', async () => {
  const rules = await startSite({ status: 200, body: 'User-agent: MJ12bot\nDisallow: /\n' })
  const ask = ['check', `${rules.origin}/`, '--json', '--user-agent', 'Custom Header', '--product-token', 'MJ12bot']
  expect(jsonLines((await politely(ask)).stdout)).toMatchObject([{ because: 'rule', rule: { line: 2 } }])
  expect(jsonLines((await politelyHere([...ask, '--dialect', 'google'])).stdout)).toMatchObject([
    { because: 'no-group' },
  ])
  expect(rules.seen.requests.map(({ headers }) => headers['user-agent'])).toEqual(['Custom Header', 'Custom Header'])

  const { origin } = await startSite(SILENCE)
  const late = await politelyHere(['check', `${origin}/`, ...BOT, '--json', '--timeout', '0.2'])
  expect(jsonLines(late.stdout)).toMatchObject([{ because: 'unreachable', access: { reason: 'timeout' } }])
})

test('a bad URL among others: a line on stderr, and the others are answered', async () => {
  const A = await originAnswering(404)
  const urls = ['mailto:x', `${A}/1`, 'ftp//typo', `${A}/2`]
  const bad =
    'politely: "mailto:x": only http, https and ftp URLs have a robots.txt; write one such as https://example.com/page\n' +
    'politely: "ftp//typo": the URL has no scheme and host; write it whole, such as https://example.com/page\n'
  const human = await politelyHere(['check', ...urls, ...BOT])
  expect(human.stdout.match(/^(✓ .*)?$/gm)).toEqual([`✓ allowed     ${A}/1`, '', `✓ allowed     ${A}/2`, ''])
  expect(human).toMatchObject({ code: 2, stderr: bad })
  const json = await politelyHere(['check', ...urls, ...BOT, '--json'])
  expect(jsonLines(json.stdout).map(({ url }) => url)).toEqual(urls)
  expect(json).toMatchObject({ code: 2, stderr: bad })
})

test.for([
  [['allowed'], 0],
  [['allowed', 'disallowed'], 1],
  [['disallowed', 'unreachable', 'allowed'], 3],
  [['unreachable', 'bad', 'disallowed', 'allowed'], 2],
] as const)('exit code: of %j the gravest, %i', async ([kinds, code]) => {
  const rules = await originWith(ROBOTS)
  const down = await originAnswering(503, { 'retry-after': '60' })
  const urls = { allowed: `${rules}/`, disallowed: `${rules}/private`, unreachable: `${down}/`, bad: 'mailto:x' }
  expect(await politelyHere(['check', ...kinds.map((kind) => urls[kind]), ...BOT])).toMatchObject({ code })
})

test('sites are asked at once, 16 of them, and answered in order', async () => {
  const slow = Promise.withResolvers<Reply>()
  const first = await startSite(slow.promise)
  const others = await Promise.all(Array.from({ length: 19 }, () => startSite({ status: 404 })))
  const sites = [first, ...others]
  const urls = [...sites.map(({ origin }) => `${origin}/a`), ...sites.map(({ origin }) => `${origin}/b`)]
  const ended = politely(['check', ...urls, '--json', ...BOT])
  await Promise.all(sites.slice(0, 16).map(({ seen }) => seen.requested(1)))
  await setTimeout(100) // in which no other may be asked
  expect(sites.map(({ seen }) => seen.requests.length)).toEqual([...Array(16).fill(1), ...Array(4).fill(0)])
  slow.resolve({ status: 404 })
  expect(jsonLines((await ended).stdout).map(({ url }) => url)).toEqual(urls)
})

test('- stands for the lines of stdin, among other URLs', async () => {
  const A = await originAnswering(404)
  const stdin = `${A}/1\r\n\n  \n${A}/2` // CR LF, blank lines, no end of the last line
  const { stdout } = await politely(['check', `${A}/0`, '-', `${A}/3`, '--json', ...BOT], { stdin })
  expect(jsonLines(stdout).map(({ url }) => url)).toEqual([0, 1, 2, 3].map((n) => `${A}/${n}`))
})

test('an answer does not wait for the next question', async () => {
  const A = await originAnswering(404)
  const child = start(['check', '-', '--json', ...BOT])
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]()
  for (const n of [1, 2, 3]) {
    child.stdin.write(`${A}/${n}\n`)
    expect(JSON.parse((await answers.next()).value)).toMatchObject({ url: `${A}/${n}` })
  }
  child.stdin.end()
  expect(await codeOf(child)).toBe(0)
})

test('Ctrl-C: 130, and nothing more is said', async () => {
  const { origin, seen } = await startSite(SILENCE)
  const child = start(['check', `${origin}/`, '-', ...BOT]) // stdin stays open
  const said = Promise.all([text(child.stdout), text(child.stderr)])
  await seen.requested(1)
  child.kill('SIGINT')
  expect(await codeOf(child)).toBe(130)
  expect(await said).toEqual(['', ''])
})

test('whoever reads the output may go away', async () => {
  const A = await originAnswering(404)
  const child = start(['check', '-', '--json', ...BOT])
  const stderr = text(child.stderr)
  feed(child, `${A}/\n`)
  await once(child.stdout, 'data')
  child.stdout.destroy()
  expect(await codeOf(child)).toBe(0)
  expect(await stderr).toBe('')
})

test('colours only where asked for: none in a pipe', async () => {
  const A = await originAnswering(404)
  const plain = await politely(['check', `${A}/`, ...BOT])
  expect(plain.stdout).not.toContain('\u001b')
  const coloured = await politely(['check', `${A}/`, ...BOT], { env: { FORCE_COLOR: '1' } })
  expect(coloured.stdout).toContain('\u001b[32m✓ allowed')
})
