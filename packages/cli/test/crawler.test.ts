// Known crawlers by name: the commands read robots.txt as the operator documents it.
import { findCrawler } from '@politely/core/crawlers'
import { expect, test } from 'vitest'
import { withoutFolder, writeFiles } from './files.ts'
import { parseJsonLines, runInThisProcess } from './run-cli.ts'
import { originWithRules } from './site.ts'

const ROBOTS = 'User-agent: Googlebot\nDisallow: /drafts/\n\nUser-agent: *\nDisallow: /\n'
const path = writeFiles({
  'robots.txt': ROBOTS,
  'open.txt': '',
  'urls.txt': '/cart\n',
  'robots.expect': 'allow Googlebot-News /drafts/1\ndeny AdsBot-Google /\ndeny ExampleBot /\n',
})
const NEWS = `Googlebot-News, then Googlebot (as Google documents it, ${findCrawler('Googlebot-News')?.readOn})`
const ADS = `AdsBot-Google, which does not read the group for * (as Google documents it, ${findCrawler('AdsBot-Google')?.readOn})`
const ADS_REASON = 'robots.txt has no group for AdsBot-Google, which does not read the group for *'

async function run(...args: string[]) {
  const result = await runInThisProcess(args)
  return { ...result, stdout: withoutFolder(result.stdout, path) }
}

test.each(['--user-agent', '--product-token'])(
  'explain reads the groups of a known crawler given by %s',
  async (flag) => {
    const explain = (url: string, name: string) => run('explain', url, flag, name, '--robots', path('robots.txt'))
    const news = await explain('/drafts/1', 'Googlebot-News')
    expect(news.code).toBe(1)
    expect(news.stdout).toContain(
      `✗ disallowed  /drafts/1  for ${NEWS}, by the group for Googlebot (line 1)\n  line 2 of robots.txt says "Disallow: /drafts/" to Googlebot\n`,
    )
    const ads = await explain('/', 'AdsBot-Google')
    expect(ads.code).toBe(0)
    expect(ads.stdout).toContain(`✓ allowed  /  for ${ADS}\n  ${ADS_REASON}\n`)
    expect(ads.stdout).not.toContain('Other readers')
  },
)

test('tokens that are given several times are used as they are', async () => {
  const tokens = ['--product-token', 'Googlebot-News', '--product-token', 'OtherBot']
  const { stdout } = await run('explain', '/drafts/1', ...tokens, '--robots', path('robots.txt'))
  expect(stdout).toContain(
    'for Googlebot-News, then OtherBot, by the group for * (line 4)\n  line 5 of robots.txt says "Disallow: /" to *\n',
  )
})

test('check reads the groups of a known crawler', async () => {
  const origin = await originWithRules(ROBOTS)
  const news = await run('check', `${origin}/news`, '--user-agent', 'Googlebot-News')
  expect(news.code).toBe(0)
  expect(news.stdout).toContain('no rule of the group for Googlebot (line 1) matches')
  expect(news.stdout).toContain(`  crawler     ${NEWS}, by the group for Googlebot (line 1)\n`)
  const ads = await run('check', `${origin}/`, '--user-agent', 'AdsBot-Google')
  expect(ads.code).toBe(0)
  expect(ads.stdout).toContain(`  because     ${ADS_REASON}\n  crawler     ${ADS}\n`)
  const other = await run('check', `${origin}/`, '--user-agent', 'ExampleBot')
  expect(other.stdout).toContain('  crawler     ExampleBot, by the group for * (line 4)\n')
})

test('match reads the groups of a known crawler', async () => {
  const match = async (name: string) => {
    const args = ['match', '--robots', path('robots.txt'), '--product-token', name]
    return parseJsonLines((await runInThisProcess(args, '/drafts/1\n/news\n')).stdout).map(({ allowed }) => allowed)
  }
  expect(await match('Googlebot-News')).toEqual([false, true])
  expect(await match('AdsBot-Google')).toEqual([true, true])
  expect(await match('ExampleBot')).toEqual([false, false])
  const args = ['match', '--robots', path('robots.txt'), '--product-token', 'Googlebot-News', '--format', 'text']
  expect((await runInThisProcess(args, '/news\n')).stderr).toBe(`1 URL for ${NEWS}: 0 disallowed\n`)
})

test('test and diff say what was applied', async () => {
  expect((await run('test', path('robots.expect'), '--robots', path('robots.txt'))).stdout).toBe(
    [
      '✗ allow Googlebot-News /drafts/1  robots.expect:1',
      `    for ${NEWS}`,
      '    /drafts/1 is disallowed: line 2 of robots.txt says "Disallow: /drafts/" to Googlebot',
      '✗ deny AdsBot-Google /  robots.expect:2',
      `    for ${ADS}`,
      `    / is allowed: ${ADS_REASON}`,
      '2 of 3 expectations not met by robots.txt',
      '',
    ].join('\n'),
  )
  const tokens = ['Googlebot-News', 'AdsBot-Google'].flatMap((name) => ['--crawler', name])
  const { stdout } = await run('diff', path('robots.txt'), path('open.txt'), ...tokens)
  expect(stdout).toContain(`\n${NEWS}\n`)
  expect(stdout).toContain('Nothing changes for 1 other crawler.')
})

test.each([
  ['check', '--user-agent', '/cart', '--robots', path('robots.txt')],
  ['explain', '--user-agent', '/cart', '--robots', path('robots.txt')],
  ['usage', '--product-token', 'https://example.com/cart', '--robots', path('robots.txt')],
  ['match', '--crawler', '--urls', path('urls.txt'), '--robots', path('robots.txt')],
  ['diff', '--crawler', path('robots.txt'), path('open.txt')],
])('%s names the crawlers of a product, which no crawler has as its name', async (command, flag, ...rest) => {
  const note = async (name: string) => (await run(command, ...rest, flag, name)).stderr.match(/^politely: no .*/m)?.[0]
  expect(await note('ChatGPT')).toBe(
    'politely: no known crawler has the name ChatGPT; unless it is yours, write GPTBot, OAI-SearchBot or ChatGPT-User',
  )
  expect(await note('Gemini')).toMatch(/the name Gemini; unless it is yours, write Google-Extended$/)
  expect(await note('GPTBot')).toBeUndefined()
  expect(await note('ExampleBot')).toBeUndefined()
})
