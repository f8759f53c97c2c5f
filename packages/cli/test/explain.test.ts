// What `politely explain` draws.
import { deviations, dialects } from '@politely/core'
import { differences } from '@politely/core/review'
import { startSites } from '@politely/testkit/servers/sites'
import { expect, onTestFinished, test } from 'vitest'
import { SHOP, withoutFolder, writeFiles } from './files.ts'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'
import { originWithRules, originWithStatus } from './site.ts'

const path = writeFiles({
  'shop.txt': SHOP,
  'long.txt': `User-agent: *\n${'Disallow: /a\n'.repeat(40)}Allow: /b\n${'Disallow: /c\n'.repeat(40)}`,
  'usage.txt':
    'User-agent: *\nContent-Signal: search=yes, ai-train=no\nDisallow: /x\n\nUser-agent: OtherBot\nContent-Usage: train-ai=y\nLicense: https://a.test/license.xml\nDisallow: /y\n',
  'star.txt': 'User-agent: *\nDisallow: /a*b\nDisallow: /x\n',
  'equal.txt': 'User-agent: *\nDisallow: /ab\nDisallow: /*b\nDisallow: /ab\n',
  'names.txt': 'User-agent: archive.org_bot\nDisallow: /a\n\nUser-agent: *\nDisallow:\n',
  'dollar.txt': 'User-agent: *\nDisallow: /*.pdf$\nAllow: /docs\nDisallow: /docs\n',
})
const explain = async (file: string, url: string, ...more: string[]) => {
  const result = await runInThisProcess(['explain', url, '--user-agent', 'ExampleBot', '--robots', path(file), ...more])
  return { ...result, stdout: withoutFolder(result.stdout, path) }
}

test('draws the file, the deciding line, what its parts matched, and why the other rules lost', async () => {
  const { code, stdout } = await explain('shop.txt', '/cart/items?sort=price')
  expect(stdout).toMatchInlineSnapshot(`
    "✗ disallowed  /cart/items?sort=price  for ExampleBot
      line 10 of robots.txt says "Disallow: /*?sort=" to ExampleBot, OtherBot

    shop.txt
       1 │ # Shop
       2 │ User-agent: *
       3 │ Disallow: /tmp
       4 │ Crawl-delay: 5
       5 │
    ●  6 │ User-agent: ExampleBot
    ●  7 │ User-agent: OtherBot
    ●  8 │ Allow: /cart/help
    =  9 │ Disallow: /cart
    ▶ 10 │ Disallow: /*?sort=
    = 11 │ Disallow: /cart/
      12 │
      13 │ User-agent: GPTBot
      14 │ Disallow: /
      15 │ Sitemap: https://shop.example/map.xml

    path  /cart/items?sort=price
          ^~~~~~~~~~~^^^^^^  matched by /*?sort=

    Other rules that match:
      line 11    Disallow: /cart/  shorter: 6 bytes, and line 10 has 8
      line 9     Disallow: /cart  shorter: 5 bytes, and line 10 has 8
    "
  `)
  expect(code).toBe(1)
})

test('shows the preferences on use, and the preferences of the group for * that the crawler does not read', async () => {
  const parts = async (agent: string) => {
    const { stdout } = await runInThisProcess(['explain', '/a', '--user-agent', agent, '--robots', path('usage.txt')])
    return stdout.slice(stdout.indexOf('Preferences'))
  }
  expect(await parts('ExampleBot')).toMatchInlineSnapshot(`
    "Preferences on use in this file (politely usage reads the page, too):
      ✓ search                allowed     line 2 of robots.txt says search=yes
      ✗ train-ai              disallowed  line 2 of robots.txt says ai-train=no
    "
  `)
  expect(await parts('OtherBot')).toMatchInlineSnapshot(`
    "Preferences on use in this file (politely usage reads the page, too):
      ✓ train-ai              allowed     line 6 of robots.txt says train-ai=y
      license https://a.test/license.xml (line 7)
    Preferences of the group for *, which is not for this crawler:
      line 2 of robots.txt says search=yes
      line 2 of robots.txt says ai-train=no
    "
  `)
})

test('draws no wildcard in a dialect without wildcards', async () => {
  const { stdout } = await explain('star.txt', '/a*b', '--dialect', 'original-1994')
  expect(stdout).toContain('path  /a*b\n      ^^^^  matched by /a*b')
})

test('shows a path as the dialect google compares it', async () => {
  const { stdout } = await explain('star.txt', '/x/\u00e9', '--dialect', 'google')
  expect(stdout).toContain('path  /x/\u00e9\n      ^^')
})

test('says that two rules are the same only if they have the same pattern', async () => {
  const { stdout } = await explain('equal.txt', '/abc')
  expect(stdout).toContain('line 3     Disallow: /*b  as long as line 2, which comes first')
  expect(stdout).toContain('line 4     Disallow: /ab  the same as line 2, which comes first')
})

test('finds the group of a name with other characters than a product token, in each dialect', async () => {
  for (const dialect of ['rfc9309', 'google', 'draft-koster-rep-00', 'koster-1996', 'original-1994']) {
    const { code, stdout } = await runInThisProcess([
      ...['explain', '/a', '--product-token', 'archive.org_bot', '--dialect', dialect],
      ...['--robots', path('names.txt')],
    ])
    expect(stdout).toContain('line 2 of robots.txt says "Disallow: /a" to archive.org_bot')
    expect(stdout).not.toContain('Other readers')
    expect(code).toBe(1)
  }
})

test('leaves out lines that are far from a rule that matches', async () => {
  const { code, stdout } = await explain('long.txt', '/b/c')
  expect(stdout).toMatchInlineSnapshot(`
    "✓ allowed  /b/c  for ExampleBot
      line 42 of robots.txt says "Allow: /b" to *

    long.txt
    ●  1 │ User-agent: *
    ●  2 │ Disallow: /a
         ⋮  38 lines
    ● 41 │ Disallow: /a
    ▶ 42 │ Allow: /b
    ● 43 │ Disallow: /c
         ⋮  39 lines

    path  /b/c
          ^^  matched by /b
    "
  `)
  expect(code).toBe(0)
})

test('marks a final $, and says why a tie is lost', async () => {
  expect((await explain('dollar.txt', '/x/y.pdf')).stdout).toContain(
    'path  /x/y.pdf\n      ^~~~^^^^  matched by /*.pdf$\n',
  )
  expect((await explain('dollar.txt', '/docs/1')).stdout).toContain(
    '  line 4     Disallow: /docs  as long as line 3, and Allow wins a tie\n',
  )
})

test('lists the dialects that decide differently', async () => {
  expect((await explain('shop.txt', '/cart/help')).stdout).toContain(
    'Other readers decide differently:\n  original-1994          disallowed  (Allow is an unknown field)\n',
  )
})

test('names the crawler if no group is for it', async () => {
  const args = ['explain', '/', '--product-token', 'NewBot', '--product-token', 'Bot', '--robots', path('shop.txt')]
  const { stdout } = await runInThisProcess(args)
  expect(stdout).toContain('✓ allowed  /  for NewBot, then Bot, by the group for * (line 2)\n')
})

test.each([
  ['/*.pdf$', '/a.pdf?x=1', 'its $ requires the URL to end there, but it goes on with "?x=1"'],
  ['/Admin/', '/admin/x', 'the case differs: the URL has "/admin/"'],
  ['/admin/', '/admin?x=1', 'the URL has no slash after "/admin"'],
  ['/a%2Fb', '/a/b', '"/a/b" has other percent-encoding'],
  ['/*?sort=', '/a?x=1&sort=2', 'the URL has the parameter after another one, with & before it'],
  ['"/admin"', '/admin', 'a path begins with a slash, as in "/admin"'],
  ['www.shop.example/a', '/a/b', 'a path begins with a slash, as in "/a"'],
  ['/private', '/x/private', 'the URL has this later, and a rule matches from the beginning of the path'],
  [
    '/Admin$',
    '/admin/',
    'the case differs: the URL has "/admin", and its $ requires the URL to end there, but it goes on with "/"',
  ],
  [
    '/private/$',
    '/private?x',
    'its $ requires the URL to end there, but it goes on with "?x", and the URL has no slash after "/private"',
  ],
  [
    '/a/b$',
    '/a%2Fb?x=1',
    'its $ requires the URL to end there, but it goes on with "?x=1", and "/a%2Fb?x=1" has other percent-encoding',
  ],
  [
    '/*?B=1',
    '/a?x=1&b=1',
    'the case differs: the URL has "&b=1", and the URL has the parameter after another one, with & before it',
  ],
  ['/*/$', '/a/?x', 'its $ requires the URL to end there, but it goes on with "?x"'],
  ['/en', '/blog/entry/en.html', 'the URL has this later, and a rule matches from the beginning of the path'],
  ['https://shop.example/a', 'https://www.shop.example/a', 'a path begins with a slash, as in "/a"'],
])('says what keeps %s from matching %s', async (rule, url, why) => {
  const robots = `User-agent: *\nDisallow: /other\nDisallow: ${rule}\n`
  const { stdout } = await runInThisProcess(['explain', url, '--user-agent', 'ExampleBot', '--robots', '-'], robots)
  expect(stdout).toContain(`Rules that nearly match:\n  line 3     Disallow: ${rule}  ${why}\n`)
})

test('names the rule of the group for * that is not for a crawler with its own group', async () => {
  const { stdout } = await runInThisProcess([
    'explain',
    '/tmp',
    '--user-agent',
    'OtherBot',
    '--robots',
    path('shop.txt'),
  ])
  expect(stdout).toContain('line 3     Disallow: /tmp  it is for *, and this crawler has its own group\n')
})

test.each([
  ['/$', '/a'],
  ['/*/$', '/a/b'],
  ['/*/$', '/a/b?x=1'],
  ['/*/$', '/a/b/c'],
  ['/en', '/blog/entry'],
  ['https://shop.example/a', 'https://other.example/a'],
  ['https://shop.example.xyz/a', 'https://other.example/a'],
])('%s is not near %s', async (rule, url) => {
  const robots = `User-agent: *\nDisallow: ${rule}\n`
  const { stdout } = await runInThisProcess(['explain', url, '--user-agent', 'ExampleBot', '--robots', '-'], robots)
  expect(stdout).toContain('✓ allowed')
  expect(stdout).not.toContain('nearly match')
})

test('compares fewer of many rules with a long URL', async () => {
  const many = Array.from({ length: 3_000 }, (_, i) => `Disallow: /x*y*z${i}$\n`).join('')
  const robots = `User-agent: *\n${many}Disallow: /A\n`
  const isNear = async (url: string) => {
    const args = ['explain', url, '--user-agent', 'ExampleBot', '--robots', '-']
    return (await runInThisProcess(args, robots)).stdout.includes('nearly match')
  }
  expect(await isNear('/a')).toBe(true)
  expect(await isNear(`/${'a'.repeat(3_000)}`)).toBe(false)
})

test('names no rule that would not change the verdict', async () => {
  const robots = 'User-agent: *\nDisallow: /a/b/\nAllow: /A\nDisallow: /A/B/C/\n'
  const { stdout } = await runInThisProcess(
    ['explain', '/a/b/c/', '--user-agent', 'ExampleBot', '--robots', '-'],
    robots,
  )
  expect(stdout).toContain('disallowed')
  expect(stdout).not.toContain('nearly match')
})

test('prints JSON with a version', async () => {
  const [json] = parseJsonLines((await explain('shop.txt', '/cart/items', '--json')).stdout)
  expect(json).toMatchObject({ version: 1, url: '/cart/items', allowed: false, rule: { line: 11 } })
  expect(json).toMatchObject({ explanation: { wonBy: 'most-octets', matches: [{ line: 11 }, { line: 9 }] } })
})

test('explains a URL with the robots.txt of its site', async () => {
  const origin = await originWithRules(SHOP)
  const { code, stdout } = await runInThisProcess(['explain', `${origin}/cart`, '--user-agent', 'OtherBot'])
  expect(stdout).toContain('▶  9 │ Disallow: /cart\n')
  expect(stdout).toContain(`${origin}/robots.txt\n`)
  expect(code).toBe(1)
})

test.for([
  [404, 0, 'the site has no robots.txt (status 404)'],
  [503, 3, 'robots.txt is unreachable (status 503)'],
] as const)('says what follows if robots.txt cannot be drawn: status %d', async ([status, exit, reason]) => {
  const origin = await originWithStatus(status, { 'retry-after': '60' })
  const { code, stdout } = await runInThisProcess(['explain', `${origin}/a`, '--user-agent', 'ExampleBot'])
  expect(stdout).toContain(reason)
  expect(code).toBe(exit)
})

test('explains a robots.txt that consists of a URL', async () => {
  const origin = await originWithRules('https://example.com/robots.txt')
  const { code, stdout } = await runInThisProcess(['explain', `${origin}/a`, '--user-agent', 'ExampleBot'])
  expect(stdout).toContain('✓ allowed')
  expect(code).toBe(0)
})

test('explains a path with the robots.txt of another site, such as a preview', async () => {
  const origin = await originWithRules(SHOP)
  const args = ['explain', '/cart', '--user-agent', 'OtherBot', '--robots', `${origin}/`]
  const { code, stdout } = await runInThisProcess(args)
  expect(stdout).toContain(`✗ disallowed  /cart  for OtherBot\n`)
  expect(stdout).toContain(`${origin}/robots.txt\n`)
  expect(code).toBe(1)
})

test('a phrase says what each dialect does differently', () => {
  const all = Object.values(deviations).flat()
  const inParsing = all.filter(({ question }) => question in dialects.rfc9309.parsing)
  const missing = inParsing
    .map(({ question, answer }) => `${question}: ${answer}`)
    .filter((key) => !(key in differences))
  expect(missing).toEqual([])
})

/** Starts two sites: `/a` of the first leads to `/b` there, and then to `/c` of the second. */
async function startRedirects(rules: string) {
  const server = await startSites()
  onTestFinished(() => server.close())
  const [first, second] = ['http://127.0.0.1:PORT', 'http://localhost:PORT']
  server.respond(`${first}/a`, { status: 301, headers: { location: '/b' } })
  server.respond(`${first}/b`, { status: 302, headers: { location: `${second}/c#part` } })
  server.respond(`${second}/c`, { status: 200, body: 'page' })
  server.respond(`${second}/robots.txt`, { status: 200, body: rules })
  return { server, first: server.withPort(first as string), second: server.withPort(second as string) }
}

test('--follow requests the page and its redirects, but no URL that robots.txt disallows', async () => {
  const { server, first, second } = await startRedirects('User-agent: *\nDisallow: /c\n')
  const args = ['explain', `${first}/a`, '--user-agent', 'ExampleBot', '--follow']
  const { code, stdout } = await runInThisProcess(args)
  expect(stdout).toContain(
    `Requested (GET), with the redirects:
  ✓ ${first}/a  301
  ✓ ${first}/b  302
  ✗ ${second}/c  not requested

✗ disallowed  ${second}/c  for ExampleBot
  line 2 of robots.txt says "Disallow: /c" to *
`,
  )
  expect(code).toBe(1)
  expect(server.requestedPages).toEqual(['http://127.0.0.1:PORT/a', 'http://127.0.0.1:PORT/b'])
  expect(new Set(server.requests.map(({ headers }) => headers['user-agent']))).toEqual(new Set(['ExampleBot']))

  const [json] = parseJsonLines((await runInThisProcess([...args, '--json'])).stdout)
  expect(json).toMatchObject({
    version: 1,
    allowed: true,
    redirects: [{ status: 301 }, { status: 302 }, { url: `${second}/c`, allowed: false, rule: { line: 2 } }],
  })
})

test('--follow ends with the last page, in a loop, and without a response', async () => {
  const { server, first, second } = await startRedirects('User-agent: *\nAllow: /\n')
  const follow = async (path: string) => {
    const args = ['explain', `${first}${path}`, '--user-agent', 'ExampleBot', '--follow']
    const { code, stdout } = await runInThisProcess(args)
    return { code, rows: stdout.split('\n').filter((row) => /^ {2}[✓✗]/.test(row)) }
  }
  expect(await follow('/a')).toEqual({
    code: 0,
    rows: [`  ✓ ${first}/a  301`, `  ✓ ${first}/b  302`, `  ✓ ${second}/c  200`],
  })
  server.respond('http://localhost:PORT/c', { status: 302, headers: { location: 'http://127.0.0.1:PORT/a' } })
  expect((await follow('/a')).rows.at(-1)).toBe(`  ✓ ${second}/c  302, leads back to ${first}/a`)
  server.respond('http://localhost:PORT/c', (socket) => socket.destroy())
  expect(await follow('/b')).toMatchObject({ code: 0, rows: [{}, expect.stringMatching(/c {2}no response, /)] })
  for (let i = 0; i < 12; i++)
    server.respond(`http://127.0.0.1:PORT/${i}`, { status: 302, headers: { location: `/${i + 1}` } })
  const { rows } = await follow('/0')
  expect(rows).toHaveLength(11)
  expect(rows.at(-1)).toBe(`  ✓ ${first}/10  302, leads on to ${first}/11; no more than 10 are followed`)
})
