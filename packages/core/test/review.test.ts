// What the command and the playground share: how one line is read, and the quick fixes.
import { parseRobots } from '@politely/core'
import { fieldsOf, ignoredFindings, printablePattern, quickFixes } from '@politely/core/review'
import { sampled } from '@politely/testkit/scope'
import { expect, test } from 'vitest'

/** The field, the key, the value and what follows them, cut out by the offsets. */
function parts(line: string) {
  const bytes = Buffer.from(line)
  const [found] = fieldsOf(parseRobots(bytes)).fields
  if (found === undefined) return undefined
  const { field, key, value, start, keyEnd, valueStart, end } = found
  expect([key, value]).toEqual([cut(bytes, start, keyEnd), cut(bytes, valueStart, end)])
  return [field, key, value, cut(bytes, end)]
}

function cut(bytes: Buffer, start: number, end?: number) {
  return bytes.subarray(start, end).toString('utf8')
}

test.each([
  ['Disallow: /a # why', ['disallow', 'Disallow', '/a', ' # why']],
  ['  Dissallow /a', ['disallow', 'Dissallow', '/a', '']],
  ['\ufeffUser-agent: *', ['user-agent', 'User-agent', '*', '']],
  ['Disallow: /é/ü # é', ['disallow', 'Disallow', '/é/ü', ' # é']],
  ['Crawl-delay : 5', ['crawl-delay', 'Crawl-delay', '5', '']],
  ['Colour: red', ['unknown', 'Colour', 'red', '']],
  ['three words here', undefined],
  ['# alone', undefined],
  ['', undefined],
])('reads %j as crawlers do', (line, expected) => {
  expect(parts(line)).toEqual(expected)
})

test('has the group of each field', () => {
  const { fields, groups } = fieldsOf(parseRobots('Disallow: /\nUser agent: é\nAllow: /\nUser-agent: b\nHost: c\n'))
  expect(fields.map(({ line, field, group }) => [line, field, group])).toEqual([
    [1, 'disallow', undefined],
    [2, 'user-agent', 0],
    [3, 'allow', 0],
    [4, 'user-agent', 1],
    [5, 'host', 1],
  ])
  expect(groups).toEqual([
    { agents: ['é'], line: 2 },
    { agents: ['b'], line: 4 },
  ])
})

test('a field is in no group after a blank line that ended the group', () => {
  const robots = parseRobots('User-agent: *\n\nDisallow: /\n', { dialect: 'original-1994' })
  expect(fieldsOf(robots).fields.map(({ group }) => group)).toEqual([0, undefined])
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

test.each(['', 'Allow: /path/a\n'])('proves the quick fixes of 20,000 rules, below %j', (rule) => {
  const rules = Array.from({ length: sampled(20_000) }, (_, i) => `Disallow: /path/${'x'.repeat(25)}${i}*\n`)
  const fixes = quickFixes(`User-agent: *\nDisallow: /path*\n${rule}${rules.join('')}`)
  expect(fixes.length).toBe(1 + rules.length)
  expect(fixes.at(-1)).toMatchObject({ code: 'trailing-star', changes: undefined })
  expect(fixes[0]).toMatchObject({ line: 2, after: 'Disallow: /path' })
})

test('the quick fixes of a hostile file say that they were not compared', () => {
  const rules = Array.from({ length: 3_000 }, (_, i) => `Disallow: /${10_000 + i}*\nAllow: /${50_000 + i}*\n`)
  const fixes = quickFixes(`User-agent: *\n${rules.join('')}`)
  expect(fixes.at(-1)).toMatchObject({ changes: expect.stringContaining('too large') })
})
