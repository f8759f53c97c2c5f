// `politely lint --fix`: repairs lines, and changes no verdict.
import { readFileSync } from 'node:fs'
import { lintRobots, parseRobots, type Robots } from '@politely/core'
import { fixRobots } from '@politely/core/review'
import { type ConformanceCase, conformanceDir, judgeConformance } from '@politely/testkit/cases/conformance'
import { printAfterRun } from '@politely/testkit/parts'
import { pick, seededRandom } from '@politely/testkit/random-robots'
import { deepSampled } from '@politely/testkit/scope'
import { expect, test } from 'vitest'
import { withoutFolder, writeFiles } from './files.ts'
import { runInThisProcess } from './run-cli.ts'

const HEAD = 'User-agent: *\n'

test.each([
  ['another spelling of a key, with its comment', 'Disalow: /a # old\n', 'Disallow: /a # old\n'],
  ['a missing colon, and CR LF', 'Disallow /a\r\n', 'Disallow: /a\r\n'],
  ['a superfluous *', 'Disallow: /a*\n', 'Disallow: /a\n'],
  ['a rule that is there twice', 'Disallow: /a\nDisallow: /a\n', 'Disallow: /a\n'],
  ['rules that a shorter one covers', 'Disallow: /a\nDisallow: /ab\nDisallow: /abc\n', 'Disallow: /a\n'],
  [
    'a URL without a key',
    'Disallow: /a\nhttps://a.example/map.xml\n',
    'Disallow: /a\nSitemap: https://a.example/map.xml\n',
  ],
  [
    'an uppercase label, with its comment',
    'Content-usage: /a Train-AI=n # no\n',
    'Content-Usage: /a train-ai=n # no\n',
  ],
  ['a label of Content-Signal', 'Content-Usage: ai-train=no\n', 'Content-Usage: train-ai=n\n'],
  ['a value of another type', 'Content-Usage: train-ai=?0\n', 'Content-Usage: train-ai=n\n'],
  ['spaces in a Content-Signal', 'Content-Signal: ai-train = no\n', 'Content-Signal: ai-train=no\n'],
])('repairs %s', (_, before, after) => {
  expect(fixRobots(HEAD + before, false)).toMatchObject({ text: HEAD + after, left: [] })
})

test('repairs the version of a product token', () => {
  expect(fixRobots('User-agent: ABot/1.0\nDisallow: /a\n', false).text).toBe('User-agent: ABot\nDisallow: /a\n')
})

test.each([
  ['a rule that does nothing now', 'Disallow: admin\n', 'the line does nothing now, and would do something'],
  [
    'a * that makes a rule win against a contradicting one',
    'Disallow: /a*b*\nAllow: /a*c\n',
    'line 3 would win or lose against it',
  ],
  ['a spelling that Google reads differently', 'Disallow: /a b\n', 'Google reads the two spellings differently'],
  ['a rule that matches other paths', 'Disallow: /robots.txt\n', '/robots.txtx becomes allowed for *'],
  ['two paths on one line', 'Disallow: /a, /b\n', 'crawlers would read it in another way than now'],
  ['an expired label', 'Content-Usage: genai=n\n', 'crawlers would read it in another way than now'],
  ['a look-alike colon', 'Disallow\uff1a/a\n', 'crawlers would read it in another way than now'],
])('leaves %s, and does it with --fix=all', (_, rules, changes) => {
  const source = HEAD + rules
  const { text, left } = fixRobots(source, false)
  expect(text).toBe(source)
  expect(left.map((fix) => fix.changes)).toEqual([changes])
  expect(fixRobots(source, true).text).not.toBe(source)
})

test.each([
  ['two paths, with a comment', 'Disallow: /a, /b # c\r\n', 'Disallow: /a\r\nDisallow: /b # c\r\n'],
  ['a \\n as text', 'Disallow: /a\\nAllow: /b', 'Disallow: /a\nAllow: /b'],
  ['a tag', 'Disallow: /a<br>\n', 'Disallow: /a\n'],
  ['a blank outside ASCII', '\u00a0Disallow: /a\n', 'Disallow: /a\n'],
])('with --fix=all, replaces %s', (_, before, after) => {
  expect(fixRobots(HEAD + before, true).text).toBe(HEAD + after)
})

test.each([
  '"/a',
  'www.shop.example/a',
  '\\a',
  '/"a"',
  '//shop.example/a',
  '/shop.example/a',
  '/a&amp;b',
  '/[&%]a',
  '/null/',
  'a b',
])('with --fix=all, writes no path for %s that its author did not mean', (path) => {
  const { text } = fixRobots(`${HEAD}Disallow: ${path}\n`, true)
  if (text !== `${HEAD}Disallow: /a\n`) expect(lintRobots(text).map(({ line }) => line)).toEqual([2])
})

test('removes only as many rules that cover each other as changes no verdict', () => {
  const { text } = fixRobots(`${HEAD}Disallow: /a*\nDisallow: /a\nDisallow: /a$\n`, false)
  expect(text).toBe(`${HEAD}Disallow: /a\n`)
})

test('leaves findings that a comment suppresses', () => {
  const source = `${HEAD}Disallow: /a* # politely-ignore trailing-star\nAllow: # politely-ignore empty-allow\n`
  expect(fixRobots(source, true).text).toBe(source)
})

test('compares every crawler of a file that names many', () => {
  const groups = Array.from({ length: 45 }, (_, i) => `User-agent: Bot${i}\nDisallow: /${i}\n\n`).join('')
  const source = `${groups}User-agent: LastBot\nAllow:\n\nUser-agent: EvilBot\nDisallow: /\n`
  expect(fixRobots(source, false).text).toBe(source)
})

test('compares paths that begin with two slashes', () => {
  const source = `${HEAD}Allow: //b\nDisallow //\n`
  const before = parseRobots(source).isAllowed('https://a.example//a', '*')
  expect(parseRobots(fixRobots(source, false).text).isAllowed('https://a.example//a', '*')).toBe(before)
})

test.each(['https://example.com/robots.txt', 'robots.txt'])('takes the text %j for a robots.txt', (text) => {
  expect(fixRobots(text, false).left).toEqual([])
})

const path = writeFiles({ 'bad.txt': `${HEAD}Disalow: /a\nDisallow: b\n` })

test('writes the file, prints each fix on stderr, and lints what is left', async () => {
  const { code, stdout, stderr } = await runInThisProcess(['lint', path('bad.txt'), '--fix'])
  expect(readFileSync(path('bad.txt'), 'utf8')).toBe(`${HEAD}Disallow: /a\nDisallow: b\n`)
  expect(withoutFolder(stderr, path)).toBe(
    'fixed  bad.txt:2  misspelt-key  Disalow: /a  -> Disallow: /a\n' +
      'left   bad.txt:3  path-without-slash  Disallow: b  -> Disallow: /b; the line does nothing now, and would do something\n',
  )
  expect(withoutFolder(stdout, path)).toContain('1 error')
  expect(code).toBe(1)
  await runInThisProcess(['lint', path('bad.txt'), '--fix=all'])
  expect(readFileSync(path('bad.txt'), 'utf8')).toBe(`${HEAD}Disallow: /a\nDisallow: /b\n`)
})

test.each([
  [
    'a blank in the key, and an Allow that ends the list of names',
    'User agent: Googlebot\nAllow:\nUser agent: *\nDisallow: /\n',
  ],
  ['a rule that only Google compares as another one', 'user agent: *\nDisallow: /%61\nDisallow: /a\n'],
  ['a misspelt rule that would win', 'User-agent: *\nAllow: /*\nDissallow: /b\n'],
  ['the folder of an index page', 'User-agent: *\nAllow: /*/index.html\nDisallow: *Ns=*\n'],
  ['a documented name', 'User-agent: archive.org_bot\nDisallow: /\n'],
  ['a name that some crawlers compare as a whole', 'User-agent: my.bot\nDisallow: /\n'],
  [
    'a name twice, with a crawl-delay of the second one',
    'User-agent: a\nUser-agent: b\nCrawl-delay: 1\nUser-agent: a\nCrawl-delay: 9\nDisallow: /\n',
  ],
])('changes no rule of any crawler: %s', (_, source) => {
  const { text } = fixRobots(source, false)
  expect(text.replaceAll('User-agent', 'User agent').replaceAll('Disallow', 'Dissallow')).toBe(
    source.replace(/user.agent/gi, 'User agent').replace(/diss?allow/gi, 'Dissallow'),
  )
})

test.each([
  'Disallow: /../',
  'Disallow: /./',
  'Disallow: */../',
  'Disallow: https://example.com/',
  'Disallow: https://example.com',
  'Disallow: /https://example.com/*',
  'Disallow: $',
  'Disallow: /<br>',
  'Disallow: / /a',
  'Disallow:\u00a0/',
  'Allow: https://example.com/',
])('does not close or open a whole site for %s, even with --fix=all', (line) => {
  const source = `User-agent: *\n${line}\nDisallow: /zz\n`
  const isRuleForAll = (text: string) => /^(?:dis)?allow: *\/ *$/im.test(text)
  expect(isRuleForAll(fixRobots(source, true).text)).toBe(false)
})

// Parts of files that invite fixes, and mistakes in them.
const KEYS = [
  'Disallow',
  'Disallow',
  'Allow',
  'Allow',
  'Dissallow',
  'Disalow',
  'diasllow',
  'disallows',
  'ALLOW ',
  'Crawl-delay',
  'Sitemap',
  'Site-map',
  'Host',
  'Noindex',
  'Content-Usage',
  'Foo',
]
const AGENT_KEYS = [
  'User-agent',
  'User-agent',
  'User agent',
  'useragent',
  'USER-AGENT',
  'User-agents',
  'User  agent',
  'user agent ',
]
const AGENTS = [
  '*',
  '*',
  'Googlebot',
  'googlebot',
  'Bingbot',
  'a1',
  'a2',
  'a',
  'Example Bot',
  'archive.org_bot',
  'Bot/1.0',
  '*  all',
  'Mozilla/5.0 (x)',
  'b-c',
  'Bot',
  'a, b',
  '',
  'Bot_x',
]
const OTHERS = ['UnnamedBot', 'Googlebot', 'Bingbot', 'a', 'b', 'a1', 'Bot', 'Example', 'archive', 'Mozilla', 'x9']
const SEPARATORS = [': ', ': ', ': ', ':', ' : ', '\t:', ' ', '\t']
const RULES = [
  '/a',
  '/a*',
  '/ab',
  '/*',
  '/',
  '/a$',
  '/a/index.html',
  '/*/index.html',
  '*Ns=*',
  '*a',
  '/a*b',
  '/a**b',
  '/robots.txt',
  '/a/',
  '/%61',
  '',
]
const PIECES = [
  '/',
  '/',
  'a',
  'b',
  'ab',
  'Ns=',
  '*',
  '*',
  '**',
  '$',
  'index.html',
  'index.htm',
  '%61',
  '%7E',
  '~',
  '\u00e9',
  '?',
  '.',
  '..',
  '\\',
  ' ',
  '%',
  '{',
  "'",
]
const ENDS = ['\n', '\n', '\n', '\n', '\r\n', '\n\n', ' # c\n', '#x\n', '\r']

function randomLine(random: () => number): string {
  const key = pick(random, KEYS) + pick(random, SEPARATORS)
  if (/crawl/i.test(key)) return `${key}${Math.floor(9 * random())}`
  if (/site/i.test(key)) return `${key}https://e.example/${pick(random, ['a', 'b'])}.xml`
  if (/usage/i.test(key)) return `${key}${pick(random, ['train-ai=n', 'Train-AI=n', '/a train-ai=n,', 'ai-train=no'])}`
  if (random() < 0.4) return key + pick(random, RULES)
  return `${key}${pick(random, ['/', '/', '*', ''])}${Array.from({ length: Math.floor(6 * random()) }, () => pick(random, PIECES)).join('')}`
}

function randomFile(random: () => number): string {
  const lines = random() < 0.1 ? [randomLine(random)] : []
  for (let groups = 1 + Math.floor(3 * random()); groups > 0; groups--) {
    for (let names = 1 + Math.floor(2.4 * random()); names > 0; names--) {
      lines.push(pick(random, AGENT_KEYS) + pick(random, SEPARATORS) + pick(random, AGENTS))
      if (random() < 0.1) lines.push(randomLine(random))
    }
    for (let rules = Math.floor(6 * random()); rules > 0; rules--) lines.push(randomLine(random))
  }
  return (random() < 0.1 ? '\ufeff' : '') + lines.map((line) => line + pick(random, ENDS)).join('')
}

/** Paths made from each rule: matched ones, and ones near them. */
function pathsFor(texts: readonly string[]): readonly string[] {
  const paths = new Set(['/', '/page', '/robots.txt', '/robots.txtx'])
  for (const [, pattern = ''] of texts.join('\n').matchAll(/al?low\w* *\t?:?[ \t]*([^ \t\r\n#][^\r\n#]*)/gi)) {
    for (const star of ['', 'x', 'a/', 'Ns=']) {
      const path = `/${pattern.replace(/\$\s*$/, '').replaceAll('*', star)}`.replace('//', '/')
      for (const end of ['', 'x', '/', 'a']) paths.add(path + end)
      paths.add(path.replace(/[^/]*$/, '')).add(path.slice(0, -1) || '/')
    }
  }
  return [...paths].map((path) => `https://site.example${path}`)
}

test('changes no verdict of files of all kinds of mistakes', { timeout: 600_000 }, () => {
  const found = { files: 0, before: 0, after: 0, compared: 0 }
  for (let seed = 1; seed <= deepSampled(20_000, 40); seed++) {
    const source = randomFile(seededRandom(seed))
    const bytes = Buffer.from(source)
    const { text } = fixRobots(source, false)
    found.before += lintRobots(bytes).length
    found.after += lintRobots(Buffer.from(text)).length
    if (text === source) continue
    found.files++
    const names = Array.from(source.matchAll(/agents?[\t ]*:?[\t ]*(([A-Za-z_-]+)\d*)/gi), ([, ...each]) => each).flat()
    const urls = pathsFor([source, text])
    for (const dialect of ['rfc9309', 'google'] as const) {
      const [one, other] = [bytes, Buffer.from(text)].map((each) => parseRobots(each, { dialect })) as [Robots, Robots]
      for (const name of new Set([...names, ...OTHERS])) {
        const [before, after] = [one.forCrawler(name), other.forCrawler(name)]
        expect(after.crawlDelayMs).toBe(before.crawlDelayMs)
        found.compared += urls.length
        const changed = urls.find((url) => before.isAllowed(url) !== after.isAllowed(url))
        expect(changed, `${name} in ${dialect}: ${JSON.stringify(source)} and ${JSON.stringify(text)}`).toBeUndefined()
      }
    }
  }
  printAfterRun(
    `lint --fix: ${found.files} files changed, ${found.compared} verdicts compared; ${found.before} findings before, ${found.after} after`,
  )
  expect(found.after).toBeLessThan(0.6 * found.before)
})

const dir = conformanceDir()

test.skipIf(dir === undefined)(
  'changes no verdict of the conformance cases, whose URLs it does not know',
  { tags: 'full', timeout: 600_000 },
  async () => {
    const texts = new Map<string, { readonly text: string; readonly fixed: string | undefined }>()
    let compared = 0
    const changed: string[] = []
    const check = ({ robots, url, agent }: ConformanceCase) => {
      const key = Buffer.from(robots).toString('latin1')
      let file = texts.get(key)
      if (file === undefined) {
        const text = Buffer.from(robots).toString('utf8')
        const isText = Buffer.from(text).equals(robots) && robots.length < 40_000
        const fixed = isText ? fixRobots(text, false).text : undefined
        file = { text, fixed: fixed === text ? undefined : fixed }
        texts.set(key, file)
      }
      if (file.fixed !== undefined) {
        compared++
        for (const dialect of ['rfc9309', 'google'] as const) {
          const [before, after] = [file.text, file.fixed].map((text) =>
            parseRobots(text, { dialect }).check(url, agent),
          )
          if (before?.allowed !== after?.allowed) changed.push(`${url} for ${agent}, ${dialect}`)
        }
      }
      return { allowed: true, line: 0 } // the judge's report is not used
    }
    await judgeConformance(dir as string, { google: { check } })
    const repaired = [...texts.values()].filter(({ fixed }) => fixed !== undefined).length
    printAfterRun(`lint --fix: ${repaired} of ${texts.size} files repaired, ${compared} verdicts compared`)
    expect(changed.slice(0, 10)).toEqual([])
    expect(compared).toBeGreaterThan(1_000)
  },
)
