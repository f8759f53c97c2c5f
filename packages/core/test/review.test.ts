// What the command and the playground share: how one line is read, and the quick fixes.
import { parseRobots } from '@politely/core'
import { fieldOfLine, ignoredFindings, printablePattern, quickFixes } from '@politely/core/internal'
import { isFullRun } from '@politely/testkit/scope'
import { expect, test } from 'vitest'

/** The key, the value and what follows them, cut out by the offsets. */
function parts(line: string) {
  const { directive, start, keyEnd, valueStart, end } = fieldOfLine(line)
  return [directive, line.slice(start, keyEnd), line.slice(valueStart, end), line.slice(end)]
}

test.each([
  ['Disallow: /a # why', ['disallow', 'Disallow', '/a', ' # why']],
  ['  Dissallow /a', ['disallow', 'Dissallow', '/a', '']],
  ['\ufeffUser-agent: *', ['user-agent', 'User-agent', '*', '']],
  ['Disallow: /é/ü # é', ['disallow', 'Disallow', '/é/ü', ' # é']],
  ['Crawl-delay : 5', ['crawl-delay', 'Crawl-delay', '5', '']],
  ['Colour: red', ['unknown', 'Colour', 'red', '']],
  ['three words here', [undefined, '', 'three words here', '']],
  ['# alone', [undefined, '', '', '# alone']],
  ['', [undefined, '', '', '']],
])('reads %j as crawlers do', (line, expected) => {
  expect(parts(line)).toEqual(expected)
})

test('a quick fix says which verdict it changes, if it changes one', () => {
  const text = 'User-agent: *\nDisallow /a\nDisallow: private\nDisallow: /robots.txt\n'
  expect(quickFixes(text).map(({ line, after, changes }) => [line, after, changes])).toEqual([
    [2, 'Disallow: /a', undefined],
    [3, 'Disallow: /private', 'the line does nothing now, and would do something'],
    [4, undefined, '/robots.txtx becomes allowed for *'],
  ])
})

test('a comment that names an unknown code is reported with its line', () => {
  const { byLine, unknown } = ignoredFindings(['# politely-ignore empty-file', 'Disallow: a # politely-ignore no-such'])
  expect([...(byLine.get(0) ?? [])]).toEqual(['empty-file'])
  expect(unknown).toEqual({ line: 2, code: 'no-such' })
})

test.each(['/é', '/a b', '/%7Ejoe', '/a$b$', '/*.pdf$'])(
  'the form of the pattern %s is the form of its match',
  (pattern) => {
    for (const dialect of ['rfc9309', 'google', 'koster-1996'] as const) {
      const robots = parseRobots(`User-agent: *\nDisallow: ${pattern}\n`, { dialect })
      const url = pattern.replace('*', 'x').replace(/\$$/, '')
      const [match] = robots.explain(`https://a.example${url}`, 'ABot').matches
      if (match !== undefined) expect(printablePattern(pattern, robots.dialect.parsing.compare)).toBe(match.form)
    }
  },
)

test.runIf(isFullRun)('finds 20,000 quick fixes without writing a file for each', () => {
  const rules = Array.from({ length: 20_000 }, (_, i) => `Disallow: /path/${'x'.repeat(25)}${i}\n`)
  const fixes = quickFixes(`User-agent: *\nDisallow: /path\n${rules.join('')}`)
  expect(fixes.length).toBe(20_000)
  expect(fixes[0]).toMatchObject({ line: 3, after: undefined, changes: expect.stringContaining('too large') })
})

test('the quick fixes of a large file say that they were not compared', () => {
  const groups = Array.from({ length: 500 }, (_, i) => `User-agent: bot${i}\nDisallow: /${'x'.repeat(50)}${i}\n`)
  const [fix] = quickFixes(`User-agent: *\nDisallow /a\n${groups.join('')}`)
  expect(fix).toMatchObject({ line: 2, changes: expect.stringContaining('too large') })
})
