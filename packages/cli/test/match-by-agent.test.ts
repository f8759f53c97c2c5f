// `politely match --by-agent`: the crawlers of an access log, and the rules that they broke.

import { writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { crawlerOfAgent } from '../src/commands/match/agent-name.ts'
import { writeFiles } from './files.ts'
import { parseJsonLines, runInThisProcess, startCli } from './run-cli.ts'

const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'

/** A line of the Combined Log Format. */
const line = (agent: string, path: string, address = '192.0.2.1') =>
  `${address} - - [27/Nov/2026:10:00:00 +0000] "GET ${path} HTTP/1.1" 200 512 "https://shop.example/" "${agent}"\n`

const path = writeFiles({
  'robots.txt': 'User-agent: *\nDisallow: /cart\nDisallow: /search\n\nUser-agent: Googlebot\nDisallow: /drafts/\n',
  'access.log': [
    line(GOOGLEBOT, '/cart', '66.249.66.1'),
    line(GOOGLEBOT, '/drafts/1', '66.249.66.1'),
    line(GOOGLEBOT, '/drafts/2', '203.0.113.9'),
    line(GOOGLEBOT, '/robots.txt', '66.249.66.1'),
    line('ExampleBot/1.0', '/search?q=1'),
    line('ExampleBot/1.0', '/search?q=2'),
    line('examplebot/2.0', '/cart'),
    line('ExampleBot/1.0', '/'),
    line(CHROME, '/cart'),
    line('-', '/cart'),
    '192.0.2.7 - - [27/Nov/2026:10:00:00 +0000] "\\x16\\x03\\x01" 400 157 "-" "-"\n',
  ].join(''),
  'googlebot.json': JSON.stringify({
    creationTime: '2026-11-26T15:46:08.000000',
    prefixes: [{ ipv6Prefix: '2001:4860:4801:10::/64' }, { ipv4Prefix: '66.249.66.0/27' }],
  }),
  'wrong.json': '{"prefixes": [{"ipv4Prefix": "66.249.66.0"}]}',
  'empty.json': '{"prefixes": []}',
  'page.json': '<!doctype html>',
  'no.json': 'prefixes',
})

const byAgent = (log: string | undefined, ...flags: readonly string[]) =>
  runInThisProcess(['match', '--by-agent', '--robots', path('robots.txt'), ...flags], log)

/** Returns the rows as `crawler identity allowed/disallowed`. */
async function counts(log: string, ...flags: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await byAgent(log, ...flags)
  return parseJsonLines(stdout).map((row) => `${row.crawler} ${row.identity} ${row.allowed}/${row.disallowed}`)
}

test('counts requests by crawler and by rule, without browsers and robots.txt', async () => {
  const { stdout, stderr, code } = await byAgent(undefined, '--urls', path('access.log'))
  expect(parseJsonLines(stdout)).toEqual([
    {
      version: 1,
      crawler: 'ExampleBot',
      identity: 'claimed',
      userAgent: 'ExampleBot/1.0',
      requests: 4,
      allowed: 1,
      disallowed: 3,
      robotsTxt: 0,
      rules: [
        { rule: { directive: 'disallow', text: '/search', line: 3, bytes: 7 }, requests: 2, example: '/search?q=1' },
        { rule: { directive: 'disallow', text: '/cart', line: 2, bytes: 5 }, requests: 1, example: '/cart' },
      ],
    },
    expect.objectContaining({ crawler: 'Googlebot', operator: 'Google', obeys: 'yes', disallowed: 2, robotsTxt: 1 }),
  ])
  expect(stderr).toContain(`7 requests of 2 crawlers: 5 disallowed by ${path('robots.txt')} as it is today\n`)
  expect(stderr).toContain('Left out: 1 by browsers, 1 for robots.txt, 1 without a User-Agent\n')
  expect(stderr).toContain('1 line without a request for a URL; the first: 192.0.2.7 - - ')
  expect(stderr).toContain('Names are as claimed: anyone can send any User-Agent.')
  expect(code).toBe(0)
})

test('prints a table for people', async () => {
  const { stdout } = await byAgent(undefined, '--urls', path('access.log'), '--format', 'text')
  expect(stdout).toBe(`  crawler       requests     allowed  disallowed
✗ ExampleBot           4           1           3  never asked for robots.txt
    line 3: Disallow: /search  2 requests, such as /search?q=1, and 1 other rule
✗ Googlebot            3           1           2
    line 6: Disallow: /drafts/  2 requests, such as /drafts/1
`)
})

test('--ranges separates the requests from the ranges of the operator from all others', async () => {
  const flags = ['--urls', path('access.log'), '--ranges', `googlebot=${path('googlebot.json')}`]
  const { stdout } = await byAgent(undefined, ...flags)
  const rows = parseJsonLines(stdout).map((row) => `${row.crawler} ${row.identity} ${row.disallowed}`)
  expect(rows).toEqual(['ExampleBot claimed 3', 'Googlebot verified 1', 'Googlebot not-in-ranges 1'])
})

test.for([
  ['66.249.66.31', 'verified'],
  ['66.249.66.32', 'not-in-ranges'],
  ['::ffff:66.249.66.1', 'verified'],
  ['2001:4860:4801:10::1', 'verified'],
  ['2001:4860:4801:11::1', 'not-in-ranges'],
  ['crawl-66-249-66-1.googlebot.com', 'claimed'],
] as const)('the address %s is %s', async ([address, identity]) => {
  const rows = await counts(line(GOOGLEBOT, '/a', address), '--ranges', `Googlebot=${path('googlebot.json')}`)
  expect(rows).toEqual([`Googlebot ${identity} 1/0`])
})

test.for([
  ['Googlebot', 'is not a crawler and a file; write NAME=FILE'],
  ['Google bot=x.json', 'is not a crawler and a file; write NAME=FILE'],
  [`Googlebot=${path('missing.json')}`, 'there is no such file'],
  [`Googlebot=${path('wrong.json')}`, 'entry 1 of "prefixes" has no valid range: {"ipv4Prefix":"66.249.66.0"}'],
  [`Googlebot=${path('empty.json')}`, 'has no list "prefixes"'],
  [`Googlebot=${path('no.json')}`, 'is not JSON; expected'],
  [`Googlebot=${path('page.json')}`, 'is not JSON, but a web page; expected'],
] as const)('rejects --ranges %s', async ([value, message]) => {
  const { stderr, code } = await byAgent('', '--ranges', value)
  expect(stderr).toContain(message)
  expect(code).toBe(2)
})

test.for([
  ['Common Log Format', '192.0.2.1 - - [d] "GET /cart HTTP/1.1" 200 5\n', []],
  ['Combined', line('ExampleBot', '/cart'), ['ExampleBot claimed 0/1']],
  ['Combined with a host in front', `shop.example:443 ${line('ExampleBot', '/cart')}`, ['ExampleBot claimed 0/1']],
  ['Combined and an address behind', line('ExampleBot" "192.0.2.9', '/cart'), ['ExampleBot claimed 0/1']],
  [
    'quotes in the referer',
    line('ExampleBot', '/cart').replace('https://shop', '\\"x\\" https://shop'),
    ['ExampleBot claimed 0/1'],
  ],
  ['quotes of nginx in the User-Agent', line('ExampleBot/1 (\\x22a\\x22)', '/cart'), ['ExampleBot claimed 0/1']],
  [
    'AWS load balancers',
    'https 2026-11-27T10:00:00Z app/lb/1 192.0.2.1:28 10.0.0.1:80 0 0 0 200 200 34 366 "GET https://shop.example:443/cart HTTP/1.1" "ExampleBot/1.0" TLS arn "Root=1-5" "-"\n',
    ['ExampleBot claimed 0/1'],
  ],
  [
    'IIS',
    '#Software: Microsoft Internet Information Services 10.0\n#Fields: date c-ip cs-uri-stem cs-uri-query cs(User-Agent)\n2026-11-27 192.0.2.1 /search q=1 Mozilla/5.0+(compatible;+ExampleBot/1.0)\n2026-11-27 192.0.2.1 / - -\n',
    ['ExampleBot claimed 0/1'],
  ],
  [
    'nginx in JSON',
    '{"remote_addr":"192.0.2.1","request":"GET /cart HTTP/1.1","http_user_agent":"ExampleBot"}\n',
    ['ExampleBot claimed 0/1'],
  ],
  [
    'Caddy',
    '{"level":"info","request":{"remote_ip":"192.0.2.1","host":"shop.example","uri":"/cart","headers":{"Accept":["*/*"],"User-Agent":["ExampleBot/1.0"]}},"status":200}\n',
    ['ExampleBot claimed 0/1'],
  ],
  [
    'Traefik',
    '{"ClientHost":"192.0.2.1","RequestPath":"/cart","request_User-Agent":"ExampleBot"}\n',
    ['ExampleBot claimed 0/1'],
  ],
  [
    'ECS',
    '{"source":{"ip":"192.0.2.1"},"url":{"path":"/cart"},"user_agent":{"original":"ExampleBot"}}\n',
    ['ExampleBot claimed 0/1'],
  ],
  ['Docker', `${JSON.stringify({ log: line('ExampleBot', '/cart'), stream: 'stdout' })}\n`, ['ExampleBot claimed 0/1']],
] as const)('reads a log: %s', async ([, log, rows]) => {
  expect(await counts(log)).toEqual(rows)
})

test('says that a log without User-Agents names no crawler', async () => {
  const { stdout, stderr } = await byAgent('192.0.2.1 - - [d] "GET /cart HTTP/1.1" 200 5\n', '--format', 'text')
  expect(stdout).toBe('No request names a crawler.\n')
  expect(stderr).toContain(
    'stdin: no line has a User-Agent, so no crawler is known; log it, as the Combined Log Format does',
  )
})

test('--origin leaves out requests to other hosts', async () => {
  const log = ['shop.example:443', 'static.shop.example:443']
    .map((host) => `${host} ${line('ExampleBot', '/cart')}`)
    .join('')
  const { stdout, stderr } = await byAgent(log, '--origin', 'https://shop.example')
  expect(parseJsonLines(stdout)).toMatchObject([{ crawler: 'ExampleBot', requests: 1, disallowed: 1 }])
  expect(stderr).toContain('Left out: 1 to other hosts')
})

test('reads a known crawler as its operator documents it, and others by their product token', async () => {
  const robots = 'User-agent: *\nDisallow: /\n\nUser-agent: ExampleBot\nAllow: /\n'
  writeFileSync(path('groups.txt'), robots)
  const log =
    line('AdsBot-Google (+http://www.google.com/adsbot.html)', '/a') +
    line('ExampleBot/1', '/a') +
    line('OtherBot/1', '/a')
  const { stdout } = await runInThisProcess(['match', '--by-agent', '--robots', path('groups.txt')], log)
  expect(parseJsonLines(stdout).map(({ crawler, disallowed }) => [crawler, disallowed])).toEqual([
    ['OtherBot', 1],
    ['AdsBot-Google', 0], // does not read the group for *
    ['ExampleBot', 0],
  ])
})

test.for([
  ['--crawler', 'GPTBot'],
  ['--robots-dir', 'files'],
  ['--sitemap', 'https://shop.example'],
  ['--column', 'url'],
  ['--resume'],
] as const)('rejects %j', async (flags) => {
  const { stderr, code } = await byAgent('', ...flags)
  expect(stderr).toContain(`--by-agent and ${flags[0]} cannot be combined; write politely match --by-agent`)
  expect(code).toBe(2)
})

test('rejects --ranges without --by-agent, CSV, and an input that is no log', async () => {
  const match = ['match', '--robots', path('robots.txt')]
  expect((await runInThisProcess([...match, '--ranges', 'a=b'], '')).stderr).toContain(
    'write --by-agent --ranges NAME=FILE',
  )
  expect((await byAgent('', '--format', 'csv')).stderr).toContain('write text or ndjson with --by-agent')
  expect((await byAgent('/a\n/b\n')).stderr).toContain('no line is a request of an access log; the first is "/a"')
  expect((await byAgent('url,n\nhttps://a.example/,1\n')).stderr).toContain('this is not an access log')
})

test.for([
  ['/cart', 1],
  ['/about', 0],
] as const)('--fail-on disallowed: %s exits with %i', async ([url, code]) => {
  expect((await byAgent(line('ExampleBot', url), '--fail-on', 'disallowed')).code).toBe(code)
})

test.for([
  [GOOGLEBOT, 'Googlebot'],
  ['Mozilla/5.0 (compatible; archive.org_bot +http://archive.org/details/archive.org_bot) Zeno/1', 'archive.org_bot'],
  ['Sogou web spider/4.0(+http://www.sogou.com/docs/help/webmasters.htm#07)', 'Sogou web spider'],
  [`${CHROME}; compatible; OAI-SearchBot/1.3; +https://openai.com/searchbot`, 'OAI-SearchBot'],
  [`${CHROME} (Applebot/0.1; +http://www.apple.com/go/applebot)`, 'Applebot'],
  ['OtherBot/1.0 (like Googlebot/2.1)', 'OtherBot'],
  ['curl/8.5.0', 'curl'],
  ['My Crawler 1.0', '*'],
  [CHROME, undefined],
  [
    'Mozilla/5.0 (Linux; Android 10; CUBOT X30) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/103 Safari/537.36',
    undefined,
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) GSA/380.0',
    undefined,
  ],
  ['Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0; SLCC2; .NET CLR 2.0; AskTbARS/5.15)', undefined],
] as const)('%s is of %s', ([userAgent, crawler]) => {
  expect(crawlerOfAgent(userAgent)).toBe(crawler)
})

test('bounds the rows: names after the first thousand share one', async () => {
  const log = Array.from({ length: 1500 }, (_, i) => line(`Bot${i}/1.0`, '/cart')).join('')
  const rows = await counts(log)
  expect(rows).toHaveLength(1001)
  expect(rows[0]).toBe('* claimed 0/500')
})

test('reads a compressed log', async () => {
  writeFileSync(path('access.log.gz'), gzipSync(line('ExampleBot', '/cart').repeat(2000)))
  const { stdout } = await byAgent(undefined, '--urls', path('access.log.gz'))
  expect(parseJsonLines(stdout)).toMatchObject([{ crawler: 'ExampleBot', disallowed: 2000 }])
})

test('100,000 names and 100,000 URLs of clients fit into a heap of 64 MB', { tags: 'full' }, async () => {
  const child = startCli(['match', '--by-agent', '--robots', path('robots.txt'), '--input', 'log', '--json'], {
    node: ['--max-old-space-size=64'],
  })
  const lines = function* () {
    for (let i = 0; i < 100_000; i++) yield line(`Bot${i}${'x'.repeat(400)}/1.0`, `/cart/${i}${'y'.repeat(400)}`)
  }
  const [stdout] = await Promise.all([text(child.stdout), pipeline(Readable.from(lines()), child.stdin)])
  const rows = parseJsonLines(stdout)
  expect(rows.reduce((sum, { disallowed }) => sum + Number(disallowed), 0)).toBe(100_000)
  expect(rows).toHaveLength(1001)
})
