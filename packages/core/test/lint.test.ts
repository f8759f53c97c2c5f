import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { withTables } from '@politely/testkit/doc-table'
import { goodFiles, lintCases } from '@politely/testkit/lint-cases'
import { randomPath, randomRobots, seededRandom } from '@politely/testkit/random-robots'
import { sampled } from '@politely/testkit/scope'
import { describe, expect, it } from 'vitest'
import { type FindingCode, findingKinds, lintRobots, parseRobots } from '../src/index.ts'

const bytes = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0))
const codes = Object.keys(findingKinds) as FindingCode[]

describe('lint', () => {
  it.each(lintCases)('$name', ({ robots, findings }) => {
    const found = lintRobots(bytes(robots))
    expect(found.map(({ code, line }) => `${code} ${line}`)).toEqual(findings)
    expect(JSON.parse(JSON.stringify(found))).toEqual(found)
    for (const { message } of found) expect(withoutQuotes(message)).toMatch(ONE_SENTENCE)
  })

  it.each(codes)('%s has a case, and one sentence which says what to write', (code) => {
    expect(lintCases.some(({ findings }) => findings.some((one) => one.startsWith(`${code} `)))).toBe(true)
    const { message } = findingKinds[code]
    expect(withoutQuotes(message)).toMatch(ONE_SENTENCE)
    expect(message).toMatch(/; .*\b(write|save|serve|put|remove)\b/)
  })

  it.each(goodFiles)('has nothing above a note to say of a good file: $name', ({ robots }) => {
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
  ])('of %s it says what to write: %s', (line, better) => {
    const messages = lintRobots(`User-agent: *\n${line}\nDisallow: /zz\n`).map(({ message }) => message)
    expect(messages.join('\n')).toContain(`"${better}"`)
  })

  it('calls a rule needless only where the verdicts are the same without it', () => {
    let needless = 0
    for (let seed = 1; seed <= sampled(3_000); seed++) {
      const roll = seededRandom(seed)
      const robots = randomRobots(roll)
      const lines = robots.split(/\r\n|\r|\n/)
      for (const { code, line } of lintRobots(bytes(robots))) {
        if (!NEEDLESS.has(code)) continue
        needless++
        // A rule without a path decides nothing, and keeps the groups as they are.
        const without = parseRobots(bytes(lines.with(line - 1, 'Disallow:').join('\n')))
        const original = parseRobots(bytes(lines.join('\n')))
        for (let i = 0; i < 5; i++) {
          const path = randomPath(roll, robots)
          for (const agent of ['ExampleBot', 'Other', 'Nobody']) {
            const verdict = original.isAllowed(path, agent)
            expect(without.isAllowed(path, agent), `${code} in line ${line} of ${robots}, asked ${path}`).toBe(verdict)
          }
        }
      }
    }
    expect(needless).toBeGreaterThan(sampled(500))
  })

  it('offers another spelling only where it means the same', () => {
    let respelt = 0
    for (let seed = 1; seed <= sampled(5_000); seed++) {
      const roll = seededRandom(seed)
      const file = `User-agent: *\nDisallow: ${randomPath(roll, '')}\n`.replace('Disallow: /', () =>
        roll() < 0.3 ? 'Disallow: ' : 'Disallow: /',
      )
      for (const { code, message } of lintRobots(bytes(file))) {
        if (!SAME_MEANING.has(code)) continue
        respelt++
        const better = Array.from(message.matchAll(/"(Disallow: [^"]*)"/g), ([, rule]) => rule).join('\n')
        const path = randomPath(roll, file)
        const allowed = [bytes(file), `User-agent: *\n${better}\n`].map((one) => parseRobots(one).isAllowed(path, 'a'))
        expect(allowed[1], `${file} and ${better}, asked ${path}`).toBe(allowed[0])
      }
    }
    expect(respelt).toBeGreaterThan(sampled(500))
  })

  it('quotes what a site wrote in short, and without what could play tricks in a terminal', () => {
    const found = lintRobots(`User-agent: *\nDisallow /\u009b31m\u202e${'a'.repeat(1000)}\n`)
    expect(found.find(({ code }) => code === 'missing-colon')?.message).toMatch(
      /"Disallow: \/\\u\{9b\}31m\\u\{202e\}a{60,90}…"/,
    )
  })

  it('does work that grows with the file and not faster', () => {
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
    // Well under a second for each in the full run. Quadratic work would take minutes, and run into the timeout.
    for (const make of hostile) expect(lintRobots(bytes(make(sampled(500_000))))).toBeInstanceOf(Array)
  })

  it('is shown in docs/lint.md as it is', async () => {
    const path = join(import.meta.dirname, '../../../docs/lint.md')
    const tables = (['error', 'warning', 'note'] as const).map((severity) => ({
      head: [severity, 'what it says'],
      rows: codes
        .filter((code) => findingKinds[code].severity === severity)
        .map((code) => [`\`${code}\``, findingKinds[code].message.replace('{}', '…')]),
    }))
    await expect(withTables(readFileSync(path, 'utf8'), tables)).toMatchFileSnapshot(path)
  })
})

const NEEDLESS: ReadonlySet<FindingCode> = new Set([
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

/** What stands in quotes is somebody else's. */
function withoutQuotes(message: string): string {
  return message.replace(/"[^"]*"/g, '""')
}
