// What may be done with the page of the open cell.
import { expect, test } from 'vitest'
import { startState } from '../src/state.ts'
import { headerPairs, usageReport } from '../src/usage-report.ts'

const state = {
  ...startState,
  robots: 'User-agent: *\nContent-Signal: search=yes, ai-train=no\nDisallow: /cart\n',
  urls: ['/page', 'not a URL'],
  crawlers: ['GPTBot', '*', 'Googlebot-News'],
  page: { headers: 'HTTP/2 200\r\nX-Robots-Tag: nosnippet\n', html: '<meta name="robots" content="noindex">' },
}

test.each([0, 1, 2])('answers each purpose with its sources, for crawler %i', (crawler) => {
  const report = usageReport({ ...state, open: { url: 0, crawler } })
  expect(report?.answers.map(({ purpose, answer, sources }) => [purpose, answer, sources])).toEqual([
    ['index', 'disallowed', 'the meta element robots says noindex'],
    ['follow', 'unstated', ''],
    ['snippet', 'disallowed', 'the header X-Robots-Tag says nosnippet'],
    ['archive', 'unstated', ''],
    [
      'search',
      'disallowed',
      'the meta element robots says noindex; line 2 of robots.txt says search=yes (a refusal counts)',
    ],
    ['train-ai', 'disallowed', 'line 2 of robots.txt says ai-train=no'],
    ['ai-input', 'unstated', ''],
    ['text-and-data-mining', 'unstated', ''],
  ])
  expect(report?.conflicts.join('\n')).toContain(
    'search: disallowed by the meta element robots, but allowed by line 2 of robots.txt',
  )
})

test('robots.txt alone', () => {
  const { answers } = usageReport({ ...state, page: undefined, open: { url: 0, crawler: 0 } }) ?? {}
  expect(answers?.filter(({ answer }) => answer !== 'unstated').map(({ purpose }) => purpose)).toEqual([
    'search',
    'train-ai',
  ])
})

test('an invalid URL has no page', () => {
  expect(usageReport({ ...state, open: { url: 1, crawler: 0 } })).toBeUndefined()
  expect(usageReport({ ...state, open: undefined })).toBeUndefined()
})

test('reads headers, and ignores lines that are none', () => {
  expect(headerPairs('HTTP/1.1 200 OK\nX-Robots-Tag: a\n\nx-robots-tag:b: c')).toEqual([
    ['X-Robots-Tag', 'a'],
    ['x-robots-tag', 'b: c'],
  ])
})
