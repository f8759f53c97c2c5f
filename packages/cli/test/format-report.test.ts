// Reports of entries that are hours old, which a test cannot wait for.
import { stripVTControlCharacters } from 'node:util'
import type { Access } from '@politely/core'
import { expect, test } from 'vitest'
import { formatReport, type ReportedVerdict } from '../src/commands/check/format-report.ts'

const SECOND = 1000
const HOUR = 3600 * SECOND
const NOW = Date.UTC(2026, 0, 1)

function rowsOf(
  access: Partial<Access>,
  more: Partial<Pick<ReportedVerdict, 'crawlDelayMs' | 'requestRates' | 'visitTimes'>> = {},
): readonly string[] {
  const verdict: ReportedVerdict = {
    url: 'https://example.com/private',
    origin: 'https://example.com',
    allowed: false,
    because: 'rule',
    rule: { directive: 'disallow', text: '/private', line: 2, bytes: 8 },
    group: { agents: ['*'], line: 1 },
    crawlDelayMs: undefined,
    ...more,
    access: {
      outcome: 'success',
      reason: 'status',
      status: 200,
      detail: undefined,
      url: 'https://example.com/robots.txt',
      hops: [],
      checkedAt: NOW,
      nextAttemptAt: NOW + 24 * HOUR,
      copy: { freshness: 'fresh', ageMs: 0, bytes: 71, truncated: false },
      ...access,
    },
  }
  return stripVTControlCharacters(formatReport(verdict, ['ExampleBot', 'OtherBot'], NOW)).split('\n')
}

test('reports the failure, the next attempt and the age of a stale copy', () => {
  const rows = rowsOf({
    outcome: 'unreachable',
    status: 503,
    checkedAt: NOW - 20 * SECOND,
    nextAttemptAt: NOW + 10 * SECOND,
    copy: { freshness: 'stale', ageMs: 26 * HOUR, bytes: 71, truncated: false },
  })
  expect(rows.slice(1)).toEqual([
    '  because     line 2 of robots.txt says "Disallow: /private" to *; according to the last good copy, because robots.txt is unreachable (status 503)',
    '  crawler     ExampleBot, OtherBot',
    '  robots.txt  https://example.com/robots.txt (503), last attempt 20 s ago, next in 10 s; the copy is 26 h old',
    '',
  ])
})

test('reports a truncated copy', () => {
  const [, because] = rowsOf({ copy: { freshness: 'fresh', ageMs: 0, bytes: 71, truncated: true } })
  expect(because).toContain(
    '"Disallow: /private" to *; robots.txt is larger than the size limit, so its end was not read',
  )
})

test.for([
  [0, 'fetched just now'],
  [999, 'fetched just now'],
  [1400, 'fetched 1.4 s ago'],
  [59.9 * SECOND, 'fetched 60 s ago'],
  [119.8 * SECOND, 'fetched 2 min ago'],
  [90 * 60 * SECOND, 'fetched 90 min ago'],
  [24 * HOUR, 'fetched 24 h ago'],
  [168 * HOUR, 'fetched 7 days ago'],
] as const)('prints %d ms since the attempt as "%s"', ([ms, expected]) => {
  expect(rowsOf({ checkedAt: NOW - ms })[3]).toContain(`, ${expected}, `)
})

test.for([
  [0, '0 s'],
  [500, '0.5 s'],
  [10_000, '10 s'],
  [86_400_000, '24 h'],
] as const)('prints a crawl-delay of %d ms as "%s"', ([crawlDelayMs, expected]) => {
  expect(rowsOf({}, { crawlDelayMs })[4]).toBe(`  crawl-delay ${expected} between requests`)
})

test('reports the rates and the hours that the site asks for', () => {
  const rows = rowsOf(
    {},
    {
      requestRates: [
        { requests: 1, periodMs: 10 * SECOND, between: undefined },
        { requests: 5, periodMs: 60 * SECOND, between: { from: 360, to: 525 } },
      ],
      visitTimes: [{ from: 0, to: 1380 }],
    },
  )
  expect(rows.slice(4)).toEqual([
    '  rate        1 request in 10 s, 5 requests in 60 s from 06:00 to 08:45 UTC',
    '  visit-time  00:00 to 23:00 UTC',
    '',
  ])
})
