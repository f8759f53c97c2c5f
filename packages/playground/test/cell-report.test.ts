// The panel of a cell: the reason, the rules that lost, the trace, other dialects, other crawlers.
import { expect, test } from 'vitest'
import { cellReport, traceableRules, traceLine } from '../src/cell-report.ts'
import { patternReport } from '../src/pattern-report.ts'
import { type PlaygroundState, startState } from '../src/state.ts'

function open(robots: string, url: string, crawler: string, more: Partial<PlaygroundState> = {}) {
  const state = { ...startState, robots, urls: [url], crawlers: [crawler], open: { url: 0, crawler: 0 }, ...more }
  const report = cellReport(state)
  if (report === undefined) throw new Error('no cell is open')
  return { state, report }
}

const FILE = `User-agent: *
Disallow: /shop
Disallow: /shop/
Allow: /shop/help
Disallow: /*.pdf$

User-agent: Googlebot
Disallow: /news
`

test('ranks the rules that match, each with why it lost', () => {
  const { report } = open(FILE, 'https://a.example/shop/help', 'ABot')
  expect(report).toMatchObject({
    allowed: true,
    line: 4,
    groupLines: [1],
    target: '/shop/help',
    dialects: [{ name: 'koster-1996' }, { name: 'original-1994' }],
  })
  expect(report.reason).toBe('line 4 of robots.txt says "Allow: /shop/help" to *')
  expect(report.matches.map(({ line, loss }) => [line, loss])).toEqual([
    [4, undefined],
    [3, 'shorter: 6 bytes, and line 4 has 10'],
    [2, 'shorter: 5 bytes, and line 4 has 10'],
  ])
})

test('says how a known crawler reads the file', () => {
  expect(open(FILE, '/news', 'Googlebot-News').report).toMatchObject({
    line: 8,
    reading: 'Google documents that this crawler reads the group for Googlebot if no group names it.',
  })
  expect(open(FILE, '/shop', 'AdsBot-Google').report).toMatchObject({
    allowed: true,
    reading: 'Google documents that this crawler does not read the group for *.',
    dialects: [],
  })
})

test('an invalid URL has a reason and no trace', () => {
  const { state, report } = open(FILE, 'a.example/shop', 'ABot')
  expect(report).toMatchObject({ isInvalid: true, target: undefined, matches: [] })
  expect(traceLine(state, report, 2)).toBeUndefined()
})

test('no cell is open', () => {
  expect(cellReport({ ...startState, open: undefined })).toBeUndefined()
})

test('traces a rule that does not match, and says which rules apply to the crawler', () => {
  const { state, report } = open(FILE, '/shop/a.pdf?v=1', 'ABot')
  expect(traceableRules(state, report).map(({ line, applies }) => [line, applies])).toEqual([
    [2, true],
    [3, true],
    [4, true],
    [5, true],
    [8, false],
  ])
  expect(traceLine(state, report, 5)).toMatchObject({
    matches: false,
    parts: [
      { part: '/', took: '/', state: 'matched' },
      { part: '*', took: undefined, state: 'untried' },
      { part: '.pdf', took: undefined, state: 'failed' },
      { part: '$', took: undefined, state: 'untried' },
    ],
    summary: 'The URL does not end with ".pdf" in what is left of it, "shop/a.pdf?v=1".',
  })
  expect(traceLine(state, report, 1)).toBeUndefined()
  expect(traceLine({ ...state, dialect: 'koster-1996' }, report, 5)).toBeUndefined()
})

test.each([
  ['/a*b', '/axxb/c', true, 'The pattern matches; without a final $, anything may follow.'],
  ['/a*b$', '/axxb', true, 'The pattern matches the whole URL.'],
  ['/a', '/a', true, 'The pattern matches to the end of the URL.'],
  ['/a$', '/ab', false, 'The pattern ends here because of $, and the URL goes on with "b".'],
  ['/ab/c', '/ab/d', false, 'Both begin with "/ab/"; then the pattern has "c", and the URL "d".'],
  ['/abc', '/ab', false, 'The URL ends before the pattern does: "c" is missing.'],
  ['x', '/x', false, 'The first characters differ; then the pattern has "x", and the URL "/x".'],
  ['/a*c*d', '/abcx', false, '"d" is not in what is left of the URL, "x".'],
])('the pattern %s over %s: %s', (pattern, target, matches, summary) => {
  expect(patternReport(pattern, 'rfc9309', target)).toMatchObject({ matches, summary })
})

test('shows the pattern as written and in normal form', () => {
  expect(patternReport('/caf%c3%a9/é', 'rfc9309', '/caf%C3%A9/%C3%A9')).toMatchObject({
    text: '/caf%c3%a9/é',
    form: '/caf%C3%A9/%C3%A9',
    matches: true,
  })
})

test('says what the command says about a URL without its scheme', () => {
  const report = cellReport({ ...startState, urls: ['shop.example/cart'], open: { url: 0, crawler: 0 } })
  expect(report?.reason).toBe('the URL has no scheme; write it whole, such as https://shop.example/cart')
})
