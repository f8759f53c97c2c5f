import { goodFiles, lintCases } from '@politely/testkit/cases/lint-cases'
import { expectPage, expectTables, readPage } from '@politely/testkit/doc-page'
import { randomPath, randomRobots, seededRandom } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import { describe, expect, it } from 'vitest'
import { type FindingCode, findingKinds, lintRobots, parseRobots } from '../src/index.ts'

const bytes = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0))
const codes = Object.keys(findingKinds) as FindingCode[]

describe('lintRobots', () => {
  it.each(lintCases)('reports all findings in $name', ({ robots, findings }) => {
    const found = lintRobots(bytes(robots))
    expect(found.map(({ code, line }) => `${code} ${line}`)).toEqual(findings)
    expect(JSON.parse(JSON.stringify(found))).toEqual(found)
    for (const { message } of found) expect(withoutQuotes(message)).toMatch(ONE_SENTENCE)
  })

  it.each(codes)('has a test case for %s, and one sentence that says what to write', (code) => {
    const isTested = lintCases.some(({ findings }) => findings.some((one) => one.startsWith(`${code} `)))
    expect(isTested, 'add a row to packages/testkit/src/cases/lint-cases.ts').toBe(true)
    const { message } = findingKinds[code]
    expect(withoutQuotes(message)).toMatch(ONE_SENTENCE)
    expect(message).toMatch(/; .*\b(write|save|serve|put|remove)\b/)
  })

  it.each(goodFiles)('reports only notes for a correct file: $name', ({ robots }) => {
    expect(lintRobots(bytes(robots)).filter(({ severity }) => severity !== 'note')).toEqual([])
  })

  it.each<[string, string]>([
    ['Disallow /a', 'Disallow: /a'],
    ['Disallow /a b', 'Disallow: /a b'],
    ['user agent * all', 'User-agent: * all'],
    ['Sitemap https://example.com/a:b', 'Sitemap: https://example.com/a:b'],
    ['https://example.com/a', 'Sitemap: https://example.com/a'],
    ['crawldelay: 1', 'Crawl-delay:'],
    ['Licence: x', 'License:'],
    ['Disallow: caf\u00e9', 'Disallow: /caf\u00e9'],
    ['Disallow: https://example.com/a?b*', 'Disallow: /a?b*'],
    ['Disallow: *', 'Disallow: /'],
    ['Disallow: *a', 'Disallow: /*a'],
    ['Disallow: */a', 'Disallow: /a" and "Disallow: /*/a'],
    ['Disallow: /a b', 'Disallow: /a%20b'],
    ['Disallow: /a/./b/../c', 'Disallow: /a/c'],
    ['Disallow: /caf\u00e9/%7E', 'Disallow: /caf%C3%A9/~'],
    ['Allow: /a/index.html', 'Disallow: /a/*$'],
    ['Sitemap: /a.xml', 'Sitemap: https://example.com/a.xml'],
    ['Sitemap: //example.net/a.xml', 'Sitemap: https://example.net/a.xml'],
  ])('for %s, says to write %s', (line, better) => {
    const messages = lintRobots(`User-agent: *\n${line}\nDisallow: /zz\n`).map(({ message }) => message)
    expect(messages.join('\n')).toContain(`"${better}"`)
  })

  it('calls a rule unnecessary only if all verdicts are the same without it', () => {
    let unnecessary = 0
    for (let seed = 1; seed <= sampled(3_000); seed++) {
      const roll = seededRandom(seed)
      const robots = randomRobots(roll)
      const lines = robots.split(/\r\n|\r|\n/)
      for (const { code, line } of lintRobots(bytes(robots))) {
        if (!UNNECESSARY.has(code)) continue
        unnecessary++
        // An empty Disallow in its place decides nothing and keeps the groups unchanged.
        const without = parseRobots(bytes(lines.with(line - 1, 'Disallow:').join('\n')))
        const original = parseRobots(bytes(lines.join('\n')))
        for (let i = 0; i < 5; i++) {
          const path = randomPath(roll, robots)
          for (const agent of ['ExampleBot', 'Other', 'Unnamed']) {
            const verdict = original.isAllowed(path, agent)
            expect(without.isAllowed(path, agent), `${code} in line ${line} of ${robots}, URL ${path}`).toBe(verdict)
          }
        }
      }
    }
    expect(unnecessary).toBeGreaterThan(sampled(500))
  })

  it('suggests another spelling only if it matches the same URLs', () => {
    let suggestions = 0
    for (let seed = 1; seed <= sampled(5_000); seed++) {
      const roll = seededRandom(seed)
      const file = `User-agent: *\nDisallow: ${randomPath(roll, '')}\n`.replace('Disallow: /', () =>
        roll() < 0.3 ? 'Disallow: ' : 'Disallow: /',
      )
      for (const { code, message } of lintRobots(bytes(file))) {
        if (!SAME_MEANING.has(code)) continue
        suggestions++
        const better = Array.from(message.matchAll(/"(Disallow: [^"]*)"/g), ([, rule]) => rule).join('\n')
        const path = randomPath(roll, file)
        const allowed = [bytes(file), `User-agent: *\n${better}\n`].map((one) => parseRobots(one).isAllowed(path, 'a'))
        expect(allowed[1], `${file} and ${better}, URL ${path}`).toBe(allowed[0])
      }
    }
    expect(suggestions).toBeGreaterThan(sampled(500))
  })

  it('shortens quoted text and escapes characters that are unsafe in a terminal', () => {
    const found = lintRobots(`User-agent: *\nDisallow /\u009b31m\u202e${'a'.repeat(1000)}\n`)
    expect(found.find(({ code }) => code === 'missing-colon')?.message).toMatch(
      /"Disallow: \/\\u\{9b\}31m\\u\{202e\}a{60,90}…"/,
    )
  })

  it('takes time linear in the size of the file, also for hostile files', () => {
    const hostile = [
      (size: number) => 'User-agent: a\n'.repeat(size / 28) + 'Crawl-delay: 1\n'.repeat(size / 30),
      (size: number) => Array.from({ length: size / 20 }, (_, i) => `User-agent: a${i}\nDisallow: /\n`).join(''),
      (size: number) =>
        `User-agent: *\n${Array.from({ length: size / 20 }, (_, i) => `Disallow: /a/${i}*\n`).join('')}`,
      (size: number) => `User-agent: *\nDisallow: /${'*a'.repeat(size / 2)}\n`,
      (size: number) => `User-agent: *\n${`Disallow: /${'a/'.repeat(4000)}\n`.repeat(size / 8000)}`,
      (size: number) => 'disalxow : \n'.repeat(size / 12),
      (size: number) => `\n${' \t'.repeat(size / 2)}x`,
      (size: number) => `<!--${'<'.repeat(size)}`,
    ]
    // Each takes well under a second in the full run. Quadratic time would be minutes and exceed
    // the timeout.
    for (const make of hostile) expect(lintRobots(bytes(make(sampled(500_000))))).toBeInstanceOf(Array)
  })

  it('has the current tables in docs/reference/lint-findings.md', async () => {
    const tables = (['error', 'warning', 'note'] as const).map((severity) => ({
      head: [severity, 'message'],
      rows: codes
        .filter((code) => findingKinds[code].severity === severity)
        .map((code) => [`\`${code}\``, findingKinds[code].message.replace('{}', '…')]),
    }))
    await expectTables('docs/reference/lint-findings.md', ...tables)
  })

  it('README.md says how many kinds of findings there are', async () => {
    const readme = readPage('README.md')
    expect(readme).toMatch(NUMBER_OF_KINDS)
    await expectPage('README.md', readme.replace(NUMBER_OF_KINDS, `finds ${codes.length} kinds of mistakes`))
  })
})

const NUMBER_OF_KINDS = /finds \d+ kinds of mistakes/

const UNNECESSARY: ReadonlySet<FindingCode> = new Set([
  'allow-without-disallow',
  'dot-segments',
  'duplicate-rule',
  'empty-allow',
  'empty-disallow-beside-rules',
  'path-without-slash',
  'redundant-rule',
  'shadowed-rule',
])

const SAME_MEANING: ReadonlySet<FindingCode> = new Set([
  'double-star',
  'encoded-unreserved',
  'path-begins-with-star',
  'raw-character-in-path',
  'raw-non-ascii',
  'raw-space-in-path',
  'trailing-star',
])

const ONE_SENTENCE = /^[A-Z](?:(?!\. ).)*[^.]\.$/s

/** Removes quoted text, which comes from the file. */
function withoutQuotes(message: string): string {
  return message.replace(/"[^"]*"/g, '""')
}
