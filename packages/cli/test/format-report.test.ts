// Reports of entries that are hours old, which a test cannot wait for.
import { stripVTControlCharacters } from 'node:util'
import type { Access } from '@politely/core'
import { expect, test } from 'vitest'
import { formatReport, type ReportContext, type ReportedVerdict } from '../src/commands/check/format-report.ts'
import { hang } from '../src/output/wrap.ts'

const SECOND = 1000
const HOUR = 3600 * SECOND
const NOW = Date.UTC(2026, 0, 1)

function rowsOf(
  access: Partial<Access>,
  more: Partial<Pick<ReportedVerdict, 'crawlDelayMs' | 'requestRates' | 'visitTimes'>> = {},
  context: Partial<ReportContext> = {},
): readonly string[] {
  const verdict: ReportedVerdict = {
    url: 'https://example.com/private',
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
  return stripVTControlCharacters(
    formatReport(verdict, {
      crawler: 'ExampleBot, then OtherBot',
      productTokens: ['ExampleBot', 'OtherBot'],
      now: NOW,
      ...context,
    }),
  ).split('\n')
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
    '  crawler     ExampleBot, then OtherBot, by the group for * (line 1)',
    '  robots.txt  https://example.com/robots.txt (503)',
    '  tried       20 s ago, next attempt in 10 s (the wait doubles with each failure); the copy is 26 h old',
    '  advice      the site should send the file with status 200, or status 404 if it has none',
    '',
  ])
})

test('reports a truncated copy', () => {
  const [, because, , file] = rowsOf({ copy: { freshness: 'fresh', ageMs: 0, bytes: 512_000, truncated: true } })
  expect(file).toBe('  robots.txt  https://example.com/robots.txt (200), cut at 500 KiB')
  expect(because).toContain(
    '"Disallow: /private" to *; robots.txt is larger than the size limit, so its end was not read',
  )
})

test.for([
  [0, 'just now'],
  [999, 'just now'],
  [1400, '1.4 s ago'],
  [59.9 * SECOND, '60 s ago'],
  [119.8 * SECOND, '2 min ago'],
  [90 * 60 * SECOND, '90 min ago'],
  [24 * HOUR, '24 h ago'],
  [168 * HOUR, '7 days ago'],
] as const)('prints %d ms since the attempt as "%s"', ([ms, expected]) => {
  expect(rowsOf({ checkedAt: NOW - ms })[4]).toBe(`  fetched     ${expected}, fresh for 24 h`)
})

test.for([
  [0, '0 s'],
  [500, '500 ms'],
  [10_000, '10 s'],
  [86_400_000, '24 h'],
] as const)('prints a crawl-delay of %d ms as "%s"', ([crawlDelayMs, expected]) => {
  expect(rowsOf({}, { crawlDelayMs })[5]).toBe(`  crawl-delay ${expected} between requests`)
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
  expect(rows.slice(5)).toEqual([
    '  rate        1 request in 10 s, 5 requests in 60 s from 06:00 to 08:45 UTC',
    '  visit-time  00:00 to 23:00 UTC',
    '',
  ])
})

test.for([
  [{ age: '3600' }, 4, '  fetched     just now, from a cache that has had it for 60 min, fresh for 24 h'],
  [{ age: '0' }, 4, '  fetched     just now, fresh for 24 h'],
  [{ 'content-type': 'text/plain; charset=utf-8' }, 5, ''],
  [
    { 'content-type': 'text/html, x/y' },
    5,
    '  type        text/html, x/y; some crawlers read a robots.txt only as text/plain (RFC 9309 §2.3)',
  ],
] as const)('reports what is unusual in the headers %j', ([headers, n, expected]) => {
  expect(rowsOf({}, {}, { headers })[n]).toBe(expected)
})

test.for([
  [{ outcome: 'unavailable', status: 403 }, /a refusal does not keep crawlers out$/],
  [{ outcome: 'restricted', status: 403 }, undefined],
  [{ outcome: 'unavailable', status: 404 }, undefined],
  [{ outcome: 'unavailable', status: 302, reason: 'redirect-loop' }, /^ {2}advice {6}the site should send the file /],
  [{ looksLike: 'html', hops: [{ status: 302, url: 'https://example.com/robots.txt' }] }, /without a login$/],
  [{ looksLike: 'html' }, /; a single-page app should not send its page for \/robots\.txt$/],
  [{ looksLike: 'utf-16' }, /as UTF-8$/],
  [{ looksLike: 'gzip' }, /uncompressed, or with Content-Encoding: gzip$/],
  [
    { outcome: 'unavailable', status: 403, looksLike: 'challenge' },
    /without the challenge, which crawlers cannot solve$/,
  ],
  [{ outcome: 'unreachable', status: undefined, reason: 'tls' }, /certificate/],
  [{ outcome: 'unreachable', status: undefined, reason: 'blocked-address' }, /its redirect or its DNS$/],
  [{ outcome: 'unreachable', status: undefined, reason: 'busy-target' }, undefined],
] as const)('advises on %j: %s', ([access, expected]) => {
  const [advice] = rowsOf({ copy: undefined, ...access }).filter((row) => row.startsWith('  advice'))
  if (expected === undefined) expect(advice).toBeUndefined()
  else expect(advice).toMatch(expected)
})

test('breaks long rows at the width of a terminal, and no word', () => {
  const url = `https://example.com/${'x'.repeat(40)}`
  expect(hang(`is unreachable ${url} (status 503)`, 4, 30).split('\n')).toEqual([
    'is unreachable',
    `    ${url}`,
    '    (status 503)',
  ])
  expect(hang('a  b', 4, undefined)).toBe('a  b')
})
