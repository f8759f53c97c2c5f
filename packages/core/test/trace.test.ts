// Traces of patterns agree with the matcher, and show what each part took.
import { expect, test } from 'vitest'
import { parseRobots } from '../src/index.ts'
import { tracePattern } from '../src/internal.ts'

test.each([
  ['/a', '/ab', '0-2 /a'],
  ['/a*c', '/abbc/', '0-2 /a, 2-4 *, 4-5 c'],
  ['/*', '/x', '0-1 /, 1-1 *'],
  ['/*.pdf$', '/a.pdf.pdf', '0-1 /, 1-6 *, 6-10 .pdf, 10-10 $'],
  ['/$', '/', '0-1 /, 1-1 $'],
  ['/a**b', '/axb', '0-2 /a, 2-2 *, 2-3 *, 3-4 b'],
])('%s matches %s', (form, target, expected) => {
  const { matches, steps } = tracePattern(form, target)
  expect(steps.map(({ part, start, end }) => `${start}-${end} ${part}`).join(', ')).toBe(expected)
  expect(matches).toBe(true)
})

test.each([
  ['/a*', '/a*b', true],
  ['/a*', '/ab', false],
  ['/a$', '/a$b', true],
  ['/a$', '/a', false],
])('without wildcards, whether %s matches %s is %s', (form, target, expected) => {
  const { matches, steps } = tracePattern(form, target, 'literal')
  expect(matches).toBe(expected)
  expect(steps).toEqual(expected ? [{ part: form, start: 0, end: form.length }] : [])
})

test.each([
  ['/a$', '/ab', ['/a']],
  ['/a*c', '/abb', ['/a']],
  ['/x', '/a', []],
  ['/*.pdf$', '/pdf', ['/']],
])('%s does not match %s', (form, target, matched) => {
  const { matches, steps } = tracePattern(form, target)
  expect(matches).toBe(false)
  expect(steps.map(({ part }) => part)).toEqual(matched)
})

test('agrees with the matcher on every pattern and path of a few letters', () => {
  const words = (letters: string, length: number): string[] =>
    length === 0 ? [''] : words(letters, length - 1).flatMap((word) => [word, ...[...letters].map((l) => l + word)])
  const patterns = [...new Set(words('ab*$', 3))]
    .filter((word) => !word.slice(0, -1).includes('$'))
    .map((word) => `/${word}`)
  const paths = [...new Set(words('ab', 4))].map((word) => `/${word}`)
  for (const pattern of patterns) {
    const rules = parseRobots(`User-agent: *\nDisallow: ${pattern}\n`).forCrawler('x')
    for (const path of paths)
      expect(tracePattern(pattern, path).matches, `${pattern} ${path}`).toBe(!rules.isAllowed(path))
  }
})
