// `politely test`: what expectations mean, and how results are printed.
import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { SHOP, withoutFolder, writeFiles } from './files.ts'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'
import { originWithRules, originWithStatus, startSite } from './site.ts'

const path = writeFiles({
  'only.expect': 'deny-only * /café /*.pdf https://shop.example/admin\n',
  'host.expect': 'deny ExampleBot https://www.shop.example/cart\nallow * https://www.shop.example/cart\n',
  'shop.txt': SHOP,
  'index.html': '<!doctype html><title>App</title>',
  'names.expect':
    'deny archive.org_bot /a\ndeny Sogou web spider /b /b/1\nallow Googlebot /a\ndeny Screaming Frog SEO Spider /c\n',
  'names.txt':
    'User-agent: archive.org_bot\nDisallow: /a\n\nUser-agent: Sogou web spider\nDisallow: /b\n\nUser-agent: screaming frog SEO spider\nDisallow: /c\n',
  'only-a.expect': 'deny-only * /a\n',
  'slashes.txt': 'User-agent: *\nDisallow: /a\nDisallow: //b\n',
  'staging.expect': 'deny * /\n',
  'name\u202e.expect': 'deny * /about\u202e\n',
  'met.expect': 'allow ExampleBot /cart/help /about # two paths\n\ndeny GPTBot /\ndeny-only * /tmp\n',
  'unmet.expect': 'deny * /cart\ndeny-only ExampleBot /cart\nallow "x\n'.replace('allow "x\n', 'allow GPTBot /a\n'),
})
const run = async (...args: string[]) => {
  const result = await runInThisProcess(['test', ...args])
  return { ...result, stdout: withoutFolder(result.stdout, path) }
}

test('passes if every expectation is met', async () => {
  const { code, stdout } = await run(path('met.expect'), '--robots', path('shop.txt'))
  expect(stdout).toBe('✓ 3 expectations met by shop.txt\n')
  expect(code).toBe(0)
})

test('takes names that no product token can have, also of several words', async () => {
  const { code, stdout } = await run(path('names.expect'), '--robots', path('names.txt'))
  expect(stdout).toBe('✓ 4 expectations met by names.txt\n')
  expect(code).toBe(0)
})

test('names paths that begin with two slashes', async () => {
  const { stdout } = await run(path('only-a.expect'), '--robots', path('slashes.txt'))
  expect(stdout).toContain('//b is disallowed too: line 3')
})

test('names the line of robots.txt that is in the way, and closed paths that `deny-only` does not name', async () => {
  const { code, stdout } = await run(path('unmet.expect'), '--robots', path('shop.txt'))
  expect(stdout).toMatchInlineSnapshot(`
    "✗ deny * /cart  unmet.expect:1
        /cart is allowed: no rule of the group for * (line 2) matches
    ✗ deny-only ExampleBot /cart  unmet.expect:2
        /x?sort= is disallowed too: line 10 of robots.txt says "Disallow: /*?sort=" to ExampleBot, OtherBot
    ✗ allow GPTBot /a  unmet.expect:3
        /a is disallowed: line 14 of robots.txt says "Disallow: /" to GPTBot
    3 of 3 expectations not met by shop.txt
    "
  `)
  expect(code).toBe(1)
})

test.for(['json', 'junit', 'github'] as const)('prints %s', async (format) => {
  const { code, stdout } = await run(path('unmet.expect'), '--robots', path('shop.txt'), '--format', format)
  expect(code).toBe(1)
  if (format === 'json') {
    expect(parseJsonLines(stdout)).toMatchObject([
      { version: 1, met: false, results: [{ line: 1, met: false }, { line: 2 }, { line: 3 }] },
    ])
  }
  if (format === 'junit') {
    expect(stdout).toContain('<testsuites tests="3" failures="3" errors="0">')
    expect(stdout).toContain('says &quot;Disallow: /&quot; to GPTBot</failure>')
  }
  if (format === 'github') expect(stdout).toContain('::error file=unmet.expect,line=1,title=deny * /cart::/cart is')
})

test('tests what a site sends; a site without robots.txt allows everything', async () => {
  const shop = await originWithRules(SHOP)
  const bot = ['--user-agent', 'ExampleBot']
  expect((await run(path('met.expect'), '--robots', shop, ...bot)).code).toBe(0)
  const none = await originWithStatus(404)
  expect((await run(path('met.expect'), '--robots', none, ...bot)).code).toBe(1)
  const down = await originWithStatus(503, { 'retry-after': '60' })
  const { code, stderr } = await run(path('met.expect'), '--robots', down, ...bot)
  expect(stderr).toMatch(/robots\.txt is unreachable \(status 503\); .*; the site should send the file with status 200/)
  expect(code).toBe(3)
})

test.for([
  ['Disallow: /\nAllow: /$\n', 1],
  ['Disallow: /caf%C3%A9\nDisallow: /*.pdf\nDisallow: /admin\n', 0],
] as const)('`deny-only` compares paths as rules do: %j', async ([rules, exit]) => {
  const file = await originWithRules(`User-agent: *\n${rules}`)
  const { code } = await run(path('only.expect'), '--robots', file, '--user-agent', 'ExampleBot')
  expect(code).toBe(exit)
})

test.for([
  [
    'the page of an app',
    { status: 200, body: '<!DOCTYPE html><title>App</title>' },
    '/robots.txt: the response is not a robots.txt: it is an HTML page; the site should send the file',
  ],
  ['a refusal', { status: 401 }, 'the server refused robots.txt (status 401)'],
] as const)('does not take %s for a robots.txt', async ([, answer, reason]) => {
  const { origin } = await startSite(answer)
  const { code, stdout, stderr } = await run(path('met.expect'), '--robots', origin, '--user-agent', 'ExampleBot')
  expect(stderr).toContain(reason)
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
})

test('escapes control characters in the name of a file and in an expectation', async () => {
  for (const format of ['text', 'github']) {
    const { code, stdout } = await run(path('name\u202e.expect'), '--robots', path('shop.txt'), '--format', format)
    expect(stdout).toContain('name\\u{202e}.expect')
    expect(stdout).not.toContain('\u202e')
    expect(code).toBe(1)
  }
})

test('compares URLs of another host by their paths, as with a file', async () => {
  const origin = await originWithRules(SHOP)
  const { code } = await run(path('host.expect'), '--robots', origin, '--user-agent', 'ExampleBot')
  expect(code).toBe(0)
})

const BASICS = `User-agent: *
Disallow: /cart
Content-Usage: train-ai=n
Content-Usage: /news search=y

User-agent: Bingbot
Crawl-delay: 5

User-agent: GPTbott
User-agent: Claude-Web
User-agent: MyBot
User-agent: Google-Read-Aloud
Disallow: /

Sitemap: https://shop.example/map.xml
`

test.for([
  ['crawl-delay Bingbot = 5'],
  ['crawl-delay Bingbot <=5s'],
  ['crawl-delay Bingbot > 4.5'],
  ['crawl-delay Googlebot = none'],
  ['crawl-delay Bingbot < 5', 'the Crawl-delay for Bingbot is 5 s'],
  ['crawl-delay Sogou web spider = 1', 'the Crawl-delay for Sogou web spider is none'],
  ['crawl-delay Bingbot = none', 'the Crawl-delay for Bingbot is 5 s'],
  ['sitemap https://SHOP.example:443/map.xml'],
  [
    'sitemap https://shop.example/map.xml https://shop.example/news.xml',
    'https://shop.example/news.xml is not named: the file names https://shop.example/map.xml',
  ],
  ['deny ExampleBot use:train-ai'],
  [
    'deny * use:train-ai /cart',
    'use:train-ai is unstated for /cart: the page is disallowed: line 2 of robots.txt says "Disallow: /cart" to *',
  ],
  ['allow Googlebot use:search /news/1'],
  ['allow Googlebot use:search', 'use:search is unstated for /: the file says nothing about it'],
  ['allow ExampleBot use:train-ai', 'use:train-ai is disallowed for /: line 3 says "train-ai=n"'],
  ['deny Googlebot use:search /news/1', 'use:search is allowed for /news/1: line 4 says "/news search=y"'],
  ['size < 1KiB'],
  ['size > 100 bytes'],
  ['size < 0.1 kB', `the file has ${BASICS.length} bytes`],
  [
    'known-crawlers',
    'GPTbott is misspelt; write GPTBot',
    'Claude-Web is retired; write ClaudeBot, Claude-User, Claude-SearchBot',
    'MyBot is not a known crawler',
    'Google-Read-Aloud may ignore robots.txt, as its operator says',
  ],
  ['known-crawlers MyBot gptbott Claude-Web Google-Read-Aloud'],
])('more than paths: %j', async ([line = '', ...problems]) => {
  writeFileSync(path('basics.txt'), BASICS)
  writeFileSync(path('more.expect'), `${line} # as it should be\n`)
  const { stdout, code } = await run(path('more.expect'), '--robots', path('basics.txt'), '--json')
  const [{ results }] = parseJsonLines(stdout) as [{ results: [{ problems: { message: string }[] }] }]
  expect(results[0].problems.map(({ message }) => message)).toEqual(problems)
  expect(code).toBe(problems.length === 0 ? 0 : 1)
})

test.for([
  [200, 'status 200\nsize < 1MiB\n', 0],
  [404, 'status 404\nsize = 0\n', 0],
  [404, 'status 200\n', 1],
] as const)('a site that sends status %i: %j', async ([status, lines, code]) => {
  const { origin } = await startSite({ status, body: BASICS })
  writeFileSync(path('status.expect'), lines)
  const result = await run(path('status.expect'), '--robots', origin, '--user-agent', 'ExampleBot')
  expect(result.code, result.stdout + result.stderr).toBe(code)
})

test('a file that was cut at the size limit is larger than any size', async () => {
  const { origin } = await startSite({ status: 200, body: `${BASICS}#${'x'.repeat(600_000)}` })
  writeFileSync(path('cut.expect'), 'size < 600KiB\n')
  const { stdout } = await run(path('cut.expect'), '--robots', origin, '--user-agent', 'ExampleBot')
  expect(stdout).toContain('the file was cut at the size limit')
})
