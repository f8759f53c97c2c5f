// `politely test`: what expectations mean, and how results are printed.
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
