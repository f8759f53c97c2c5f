// `politely audit`: which known crawlers may read which paths, and which names in the file do nothing.
import { findCrawler, knownCrawlers, knownCrawlersDate } from '@politely/core/crawlers'
import { expect, onTestFinished, test, vi } from 'vitest'
import { commands } from '../src/commands.ts'
import { crawlersOfProduct, PRODUCT_NAMES } from '../src/product-names.ts'
import { withoutFolder, writeFiles } from './files.ts'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'
import { originWithRules } from './site.ts'

const FILE = `User-agent: *
Disallow: /cart
Disallow: /search
Allow: /search/help

User-agent: GPTbot
User-agent: Claude-Web # no longer in use
User-agent: Perplexity-User
User-agent: Google
Disallow: /

User-agent: AdsBot-Google
User-agent: googlebot_news
User-agent: Yandex
User-agent: Snapbot
User-agent: EMail Siphon
Disallow: /cart

User-agent: claude-web
Disallow: /old
`
const path = writeFiles({
  'robots.txt': FILE,
  'good.txt': 'User-agent: GPTBot\nDisallow: /\n',
  'closed.txt': 'User-agent: *\nDisallow: /\nAllow: /public/\n',
  'empty.txt': '',
  'slashes.txt': 'User-agent: *\nAllow: //a\nDisallow: //b\n',
  'large.txt': `User-agent: *\n${Array.from({ length: 2_000 }, (_, i) => `Disallow: /a/${i}\n`).join('')}`,
})

async function audit(...args: string[]) {
  const result = await runInThisProcess(['audit', ...args])
  return { ...result, stdout: withoutFolder(result.stdout, path).replaceAll(knownCrawlersDate, 'DATE') }
}

test('checks each path once for all crawlers with the same rules', async () => {
  const { stdout } = await audit(path('large.txt'))
  expect(stdout).toContain('may read all but (lines 2, 3, 4, 5 and 1996 more)')
})

test('compares paths that begin with two slashes', async () => {
  const { stdout } = await audit(path('slashes.txt'))
  expect(stdout).toContain('may read all but (line 3)\n    //b\n')
  expect(stdout).not.toContain('(line 2')
})

test('groups the crawlers by what they may read, and then by purpose', async () => {
  const { stdout } = await audit(path('robots.txt'), '--purpose', 'advertising', '--purpose', 'ai-assistant')
  expect(stdout).toMatchInlineSnapshot(`
    "robots.txt  robots.txt
    compared    with 31 crawlers known on DATE, on 12 paths

    ~ 21 crawlers may read all but (lines 2, 3)
        /cart, /search
      AI assistants  DuckAssistBot, kagi-fetcher, Claude-User and 11 more
      advertising    AdIdxBot, OAI-AdsBot, meta-externalads and 4 more

    ~ 2 crawlers may read all but (line 17)
        /cart
      advertising    AdsBot-Google, YandexDirect

    ✓ 2 crawlers may read every path
      advertising    AdsBot-Google-Mobile, Mediapartners-Google

    ! 6 crawlers may ignore robots.txt, as the operators say
      AI assistants  Perplexity-User and 5 that the file does not name

    4 names in the file do nothing, or may do nothing
    ! Claude-Web (line 7 and 1 more)
        Anthropic no longer sends this name; write ClaudeBot, Claude-User or
        Claude-SearchBot
    ! Perplexity-User (line 8)
        Perplexity says that this crawler ignores robots.txt, or may do so; to keep
        it out, refuse its requests in the server
    ! Google (line 9)
        no known crawler has this name; write Googlebot if you mean the crawler of
        Google
    ! googlebot_news (line 13)
        no known crawler has this name; write Googlebot-News if you mean the crawler
        of Google
    2 names are not in the catalogue: Snapbot, EMail Siphon

    The file does not name 19 of 20 known AI crawlers; --all lists them.

    Whether 15 of these crawlers obey robots.txt is unclear: no statement of their
    operators was found.
    "
  `)
})

test('says which paths of the command line are closed', async () => {
  const { stdout } = await audit(path('robots.txt'), '/cart/1', '/about', '--purpose', 'archive', '--all')
  expect(stdout).toContain('~ 3 crawlers may read all but (line 2)\n    /cart/1\n')
})

test('says what is open if nearly everything is closed', async () => {
  const { code, stdout } = await audit(path('closed.txt'), '--purpose', 'archive')
  expect(stdout).toContain('~ 3 crawlers may only read (line 2)\n    /public/\n')
  expect(stdout).toContain('The file names no crawler.\n')
  expect(code).toBe(0)
})

test('lists all crawlers with --all, and fits 80 columns', async () => {
  const { stdout } = await audit(path('empty.txt'), '--all')
  expect(stdout).not.toMatch(/ more\b/)
  for (const { name, retired } of knownCrawlers) if (retired === undefined) expect(stdout).toContain(name.split(' ')[0])
  for (const file of ['robots.txt', 'empty.txt']) {
    const lines = (await audit(path(file), '--all')).stdout.split('\n')
    expect(lines.filter((line) => line.length > 80)).toEqual([])
  }
})

test('finds the names that do nothing', async () => {
  const { code, stdout } = await audit(path('robots.txt'), '--json')
  const [report] = parseJsonLines(stdout) as [{ version: number; names: Record<string, unknown>[] }]
  expect(report.version).toBe(1)
  expect(report.names.map(({ name, finding, crawler, lines }) => [name, finding, crawler, lines])).toEqual([
    ['GPTbot', 'known', 'GPTBot', [6]],
    ['Claude-Web', 'retired', 'Claude-Web', [7, 19]],
    ['Perplexity-User', 'ignored', 'Perplexity-User', [8]],
    ['Google', 'misspelt', 'Googlebot', [9]],
    ['AdsBot-Google', 'known', 'AdsBot-Google', [12]],
    ['googlebot_news', 'misspelt', 'Googlebot-News', [13]],
    ['Yandex', 'known', undefined, [14]],
    ['Snapbot', 'unknown', undefined, [15]], // ShapBot is another crawler
    ['EMail Siphon', 'unknown', undefined, [16]],
  ])
  expect(code).toBe(1)
})

test.for([
  ['ChatGPT', 'GPTBot, OAI-SearchBot or ChatGPT-User if you mean the crawlers of OpenAI'],
  ['OpenAI', 'GPTBot, OAI-SearchBot or ChatGPT-User if you mean the crawlers of OpenAI'],
  ['Anthropic', 'ClaudeBot, Claude-SearchBot or Claude-User if you mean the crawlers of Anthropic'],
  ['AdsBot', 'AdsBot-Google or AdsBot-Google-Mobile if you mean the crawlers of Google'],
  ['Gemini', 'Google-Extended if you mean the crawler of Google'],
  ['Meta-AI/1.0', 'meta-externalagent, meta-webindexer or meta-externalfetcher if you mean the crawlers of Meta'],
  ['DuckDuckGo', 'DuckDuckBot or DuckAssistBot if you mean the crawlers of DuckDuckGo'],
  ['Common Crawl', 'CCBot if you mean the crawler of Common Crawl'],
  ['kimi', 'KimiBot, Kimi-SearchBot or Kimi-User if you mean the crawlers of Moonshot AI'],
])('%s is the name of a product; the audit names %s', async ([name, instead]) => {
  const { code, stdout } = await runInThisProcess(['audit', '-'], `User-agent: ${name}\nDisallow: /\n`)
  expect(stdout.replace(/\n +/g, ' ')).toContain(`no known crawler has this name; write ${instead}\n`)
  expect(code).toBe(1)
})

test('the names of products are no names of crawlers, and stand for crawlers that are in use', () => {
  const readNames = knownCrawlers.flatMap(({ name, token, fallbacks }) => [name, token, ...fallbacks])
  const letters = new Set(readNames.map((name) => name.toLowerCase().replace(/[^a-z\d]/g, '')))
  expect(PRODUCT_NAMES.filter((name) => letters.has(name))).toEqual([])
  for (const name of PRODUCT_NAMES)
    for (const crawler of crawlersOfProduct(name))
      expect(findCrawler(crawler)).toMatchObject({ name: crawler, retired: undefined })
})

test.for([
  [180, false],
  [182, true],
] as const)('after %i days, it says that the catalogue is old: %s', async ([days, isOld]) => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(knownCrawlersDate) + days * 86_400_000 })
  onTestFinished(() => void vi.useRealTimers())
  const { stdout } = await audit(path('good.txt'))
  expect(stdout.includes('The catalogue is 182 days old; a newer version of politely may know more crawlers.')).toBe(
    isOld,
  )
})

test('exits with 1 for the kinds of --fail-on', async () => {
  const codeOf = async (...args: string[]) => (await audit(...args)).code
  expect(await codeOf(path('good.txt'))).toBe(0)
  expect(await codeOf(path('robots.txt'), '--fail-on', 'ignored')).toBe(1)
  expect(await codeOf(path('robots.txt'), '--fail-on', 'never')).toBe(0)
})

test('audits what a site sends', async () => {
  const origin = await originWithRules(FILE)
  const network = ['--user-agent', 'ExampleBot', '--purpose', 'archive']
  const { code, stdout } = await audit(origin, ...network)
  expect(stdout).toContain(`robots.txt  ${origin}/robots.txt\n`)
  expect(stdout).toContain('~ 3 crawlers may read all but (lines 2, 3)\n    /cart, /search\n')
  expect(code).toBe(1)
})

test('prints no control characters of the file', async () => {
  const origin = await originWithRules('User-agent: a\u001b[31mb\nDisallow: /\u001b[31m\n')
  const { stdout } = await audit(origin, '--user-agent', 'ExampleBot')
  expect(stdout).not.toContain('\u001b')
})

test('the purposes of --purpose are those of the catalogue', () => {
  const { choices } = commands.find(({ name }) => name === 'audit')?.flags.find(({ name }) => name === 'purpose') ?? {}
  expect(new Set(choices)).toEqual(new Set(knownCrawlers.map(({ purpose }) => purpose)))
})
