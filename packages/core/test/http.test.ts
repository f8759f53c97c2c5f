// Parsers of headers: HTTP-date, Retry-After, RateLimit, Cache-Control.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cacheControlOf } from '../src/http/cache-control.ts'
import { httpDate } from '../src/http/date.ts'
import { type Headers, headerOf } from '../src/http/headers.ts'
import { rateLimitOf } from '../src/http/rate-limit.ts'
import { retryAfterMs } from '../src/http/retry-after.ts'

const NOW = Date.UTC(2026, 0, 1)

describe('HTTP-date', () => {
  const NOVEMBER_1994 = Date.UTC(1994, 10, 6, 8, 49, 37)
  test.each([
    ['RFC 9110 §5.6.7, IMF-fixdate', 'Sun, 06 Nov 1994 08:49:37 GMT', NOVEMBER_1994],
    ['RFC 9110 §5.6.7, RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT', NOVEMBER_1994],
    ['RFC 9110 §5.6.7, asctime', 'Sun Nov  6 08:49:37 1994', NOVEMBER_1994],
    ['RFC 9110 §5.6.7, asctime with a day of two digits', 'Wed Nov 16 08:49:37 1994', NOVEMBER_1994 + 10 * 86_400_000],
    [
      'RFC 9110 §5.6.7, a two-digit year at most 50 years ahead',
      'Sunday, 06-Nov-76 08:49:37 GMT',
      Date.UTC(2076, 10, 6, 8, 49, 37),
    ],
    [
      'RFC 9110 §5.6.7, a two-digit year that would be over 50 years ahead',
      'Sunday, 06-Nov-77 08:49:37 GMT',
      Date.UTC(1977, 10, 6, 8, 49, 37),
    ],
    ['RFC 9110 §5.6.7, a leap day', 'Thu, 29 Feb 2024 00:00:00 GMT', Date.UTC(2024, 1, 29)],
    ['RFC 9110 §5.6.7, a leap second', 'Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2016, 11, 31, 23, 59, 59)],
    ['our choice, any case', 'sun, 06 nov 1994 08:49:37 gmt', NOVEMBER_1994],
    ['our choice, white space around it', '  Sun, 06 Nov 1994 08:49:37 GMT ', NOVEMBER_1994],
    ['our choice, the day of the week is not checked', 'Mon, 06 Nov 1994 08:49:37 GMT', NOVEMBER_1994],
    ['invalid: 29 February in another year', 'Sat, 29 Feb 2025 00:00:00 GMT', undefined],
    ['invalid: 31 June', 'Mon, 31 Jun 2025 00:00:00 GMT', undefined],
    ['invalid: day 0', 'Mon, 00 Jun 2025 00:00:00 GMT', undefined],
    ['invalid: an unknown month', 'Sun, 06 Foo 1994 08:49:37 GMT', undefined],
    ['invalid: hour 24', 'Sun, 06 Nov 1994 24:00:00 GMT', undefined],
    ['invalid: minute 60', 'Sun, 06 Nov 1994 08:60:00 GMT', undefined],
    ['invalid: second 61', 'Sun, 06 Nov 1994 08:49:61 GMT', undefined],
    ['invalid: another time zone', 'Sun, 06 Nov 1994 08:49:37 +0100', undefined],
    ['invalid: no time zone', 'Sun, 06 Nov 1994 08:49:37', undefined],
    ['invalid: a one-digit day', 'Sun, 6 Nov 1994 08:49:37 GMT', undefined],
    ['invalid: ISO 8601', '1994-11-06T08:49:37Z', undefined],
    ['invalid: a number', '0', undefined],
    ['invalid: an empty value', '', undefined],
    ['invalid: a list of two dates', 'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT', undefined],
  ])('%s', (_, value, expected) => {
    expect(httpDate(value, NOW)).toBe(expected)
  })
})

describe('Retry-After', () => {
  test.each([
    ['RFC 9110 §10.2.3, seconds', '120', 120_000],
    ['RFC 9110 §10.2.3, zero seconds', '0', 0],
    ['RFC 9110 §10.2.3, a date', 'Thu, 01 Jan 2026 00:02:00 GMT', 120_000],
    ['RFC 9110 §10.2.3, an RFC 850 date', 'Thursday, 01-Jan-26 00:02:00 GMT', 120_000],
    ['RFC 9110 §10.2.3, an asctime date', 'Thu Jan  1 00:02:00 2026', 120_000],
    ['our choice, a date in the past means no wait', 'Wed, 31 Dec 2025 23:00:00 GMT', 0],
    ['our choice, white space around it', ' 120\t', 120_000],
    ['our choice, a unit', '300s', 300_000],
    ['our choice, a unit after a space', '300 s', 300_000],
    ['our choice, a unit in words', '5 minutes', 300_000],
    ['our choice, several units, as Go writes them', '1m0s', 60_000],
    ['our choice, hours, minutes and seconds', '1h 2 min 3 sec', 3_723_000],
    ['our choice, a fraction is rounded up', '64.57', 65_000],
    ['our choice, a fraction below one second is rounded up', '0.503', 1_000],
    ['our choice, a fraction of a minute', '1.5m', 90_000],
    ['our choice, quotes', '"120"', 120_000],
    ['our choice, quotes around a date', '"Thu, 01 Jan 2026 00:02:00 GMT"', 120_000],
    ['our choice, seconds since 1970', '1767225720', 120_000],
    ['our choice, milliseconds since 1970', '1767225720000', 120_000],
    ['our choice, a time since 1970 in the past means no wait', '1767225599', 0],
    ['our choice, a number below 10^9 is not a time since 1970', '999999999', 999_999_999_000],
    ['our choice, a number that no date has', '9'.repeat(400), Number.POSITIVE_INFINITY],
    ['our choice, ISO 8601', '2026-01-01T00:02:00Z', 120_000],
    ['our choice, ISO 8601 without a time zone is UTC', '2026-01-01T00:02:00', 120_000],
    ['our choice, ISO 8601 with a fraction, rounded up', '2026-01-01T00:02:00.0001Z', 120_001],
    ['our choice, ISO 8601 with an offset', '2026-01-01T05:32:00+05:30', 120_000],
    ['our choice, ISO 8601 with a space, lower case, without seconds', '2026-01-01 00:02z', 120_000],
    ['our choice, a date without a time begins at midnight', '2026-01-02', 86_400_000],
    ['our choice, a date as Go writes it', '2025-12-31 19:02:00.5 -0500 UTC', 120_500],
    ['our choice, UTC', 'Thu, 01 Jan 2026 00:02:00 UTC', 120_000],
    ['our choice, +0000', 'Thu, 01 Jan 2026 00:02:00 +0000', 120_000],
    ['our choice, -0500', 'Wed, 31 Dec 2025 19:02:00 -0500', 120_000],
    ['our choice, an offset of a half hour', 'Wed, 31 Dec 2025 20:32:00 -0330', 120_000],
    ['our choice, no time zone', 'Thu, 01 Jan 2026 00:02:00', 120_000],
    ['our choice, no day of the week', '01 Jan 2026 00:02:00 GMT', 120_000],
    ['our choice, a one-digit day', '1 Jan 2026 00:02:00 GMT', 120_000],
    ['our choice, no comma', 'Thu 01 January 2026 00:02:00 GMT', 120_000],
    ['our choice, lower case', 'thu, 01 jan 2026 00:02:00 utc', 120_000],
    ['our choice, a date as JavaScript writes it', 'Thu Jan 01 2026 01:02:00 GMT+0100 (CET)', 120_000],
    ['invalid: a negative number', '-120', undefined],
    ['invalid: a negative fraction', '-1.5', undefined],
    ['invalid: two points', '1.2.3', undefined],
    ['invalid: an exponent', '1e3', undefined],
    ['invalid: milliseconds', '500ms', undefined],
    ['invalid: units in another order', '5s1m', undefined],
    ['invalid: a unit without a number', 'seconds', undefined],
    ['invalid: a word', 'soon', undefined],
    ['invalid: a word for a number', 'Infinity', undefined],
    ['invalid: a time zone with a name of its own', 'Thu, 01 Jan 2026 00:02:00 EST', undefined],
    ['invalid: 30 February', '2026-02-30T00:00:00Z', undefined],
    ['invalid: month 13', '2026-13-01T00:00:00Z', undefined],
    ['invalid: hour 24', '2026-01-01T24:00:00Z', undefined],
    ['our choice, the longest of several values', '60, 120,30', 120_000],
    [
      'our choice, the longest of several dates',
      'Thu, 01 Jan 2026 00:01:00 GMT, Thu, 01 Jan 2026 00:02:00 GMT',
      120_000,
    ],
    ['our choice, the longest of seconds and dates', '60,Thursday, 01-Jan-26 00:02:00 GMT , 30', 120_000],
    ['our choice, an invalid value beside a valid one is ignored', 'soon, 120, -300', 120_000],
    ['invalid: two words', 'soon, later', undefined],
    ['invalid: an empty value', '', undefined],
    ['invalid: empty members', ' , ,', undefined],
    ['no header', undefined, undefined],
  ])('%s', (_, value, expected) => {
    expect(retryAfterMs(value, NOW)).toBe(expected)
  })

  test('returns a time or undefined for any text, without much work for a long one', () => {
    const parts = [
      '1',
      '9',
      '.',
      ':',
      '-',
      '+',
      ' ',
      ', ',
      'm',
      's',
      'h',
      'jan',
      'Thu, ',
      'GMT',
      'T',
      '(',
      ')',
      '"',
      '2026-01-01T00:02',
    ]
    const text = fc.array(fc.constantFrom(...parts), { maxLength: 12 }).map((chosen) => chosen.join(''))
    fc.assert(
      fc.property(text, fc.nat(3), (part, times) => {
        const ms = retryAfterMs(part.repeat(10 ** times), NOW)
        return ms === undefined || ms >= 0
      }),
    )
  })
})

describe('RateLimit', () => {
  const day = 24 * 3_600_000
  test.each<readonly [name: string, headers: Headers, pauseMs: number | undefined]>([
    ['draft 11 §4, spread over the time until the reset', { ratelimit: '"default";r=50;t=30' }, 600],
    ['draft 11 §4.1.1, nothing remains', { ratelimit: '"default";r=0;t=30' }, 30_000],
    ['draft 11 §4.1.2, no reset', { ratelimit: '"default";r=999;pk=:dHJpYWwxMjEzMjM=:' }, undefined],
    [
      'draft 11 §4.1.2, no reset: the window of the policy',
      { ratelimit: '"a";r=2', 'ratelimit-policy': '"b";q=1;w=9,"a";q=9;w=60' },
      30_000,
    ],
    [
      'draft 11 §4, the strictest of a list',
      { ratelimit: '"minute";r=50;t=30,"day";r=0;t=3600, "hour";r=1;t=60' },
      3_600_000,
    ],
    ['draft 11 §4, several headers', { ratelimit: ['"minute";r=50;t=30', '"day";r=1;t=60'] }, 60_000],
    [
      'draft 11 §4.1.3, partition keys',
      { ratelimit: '"user";r=1;t=60;pk=:QXBwLTk5OQ==:,"user";r=9;t=60;pk=:QXB=:' },
      60_000,
    ],
    [
      'draft 11 §3.1.2, bytes are not spread',
      { ratelimit: '"a";r=9;t=60', 'ratelimit-policy': '"a";q=99;qu="content-bytes";w=10' },
      undefined,
    ],
    [
      'draft 11 §3.1.2, no bytes remain',
      { ratelimit: '"a";r=0;t=60', 'ratelimit-policy': '"a";q=99;qu="content-bytes";w=10' },
      60_000,
    ],
    [
      'draft 11 §3, a policy alone is spread over its window',
      { 'ratelimit-policy': '"burst";q=100;w=60,"day";q=1000;w=86400' },
      86_400,
    ],
    [
      'draft 11 §3, RateLimit is more current than a policy',
      { ratelimit: '"a";r=9;t=9', 'ratelimit-policy': '"a";q=1;w=60' },
      1_000,
    ],
    ['draft 11 §7.3, a response from a cache', { ratelimit: '"a";r=0;t=30', age: '1' }, undefined],
    ['draft 11 §7.3, a response that a cache has just got', { ratelimit: '"a";r=0;t=30', age: '0' }, 30_000],
    ['RFC 9651 §3.1, a comma in a name', { ratelimit: '"a,b";r=0;t=30' }, 30_000],
    ['draft 07, spread over the time until the reset', { ratelimit: 'limit=100, remaining=50, reset=30' }, 600],
    [
      'draft 07, nothing remains',
      { ratelimit: 'limit=100, remaining=0, reset=30', 'ratelimit-policy': '10;w=1, 100;w=3600' },
      30_000,
    ],
    ['draft 07, a policy alone', { 'ratelimit-policy': '10;w=1, 100;w=3600' }, 36_000],
    [
      'draft 06, spread over the time until the reset',
      { 'ratelimit-limit': '100, 100;w=60', 'ratelimit-remaining': '50', 'ratelimit-reset': '30' },
      600,
    ],
    ['draft 06, nothing remains', { 'ratelimit-remaining': '0', 'ratelimit-reset': '30' }, 30_000],
    [
      'our choice, a window in place of a reset',
      { 'ratelimit-limit': '100;w=21600', 'ratelimit-remaining': '0;w=21600' },
      21_600_000,
    ],
    ['our choice, X-RateLimit with seconds', { 'x-ratelimit-remaining': '2', 'x-ratelimit-reset': '30' }, 15_000],
    [
      'our choice, X-RateLimit with seconds since 1970',
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1767225720' },
      120_000,
    ],
    [
      'our choice, X-RateLimit with milliseconds since 1970',
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1767225720000' },
      120_000,
    ],
    [
      'our choice, X-RateLimit with a date',
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': 'Thu Jan 01 2026 00:02:00 GMT+0000 (UTC)' },
      120_000,
    ],
    ['our choice, X-Rate-Limit', { 'x-rate-limit-remaining': '0', 'x-rate-limit-reset': '30' }, 30_000],
    ['our choice, a fraction of a request', { 'x-ratelimit-remaining': '0.5', 'x-ratelimit-reset': '30' }, 30_000],
    ['our choice, more requests than the limit', { 'x-ratelimit-remaining': '-3', 'x-ratelimit-reset': '30' }, 30_000],
    [
      'our choice, parts of a millisecond are rounded up',
      { 'x-ratelimit-remaining': '7', 'x-ratelimit-reset': '1' },
      143,
    ],
    [
      'our choice, the strictest of several forms',
      { ratelimit: '"a";r=1;t=5', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' },
      30_000,
    ],
    ['our choice, at most a day', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '9999999999' }, day],
    ['a reset in the past', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1767225000' }, undefined],
    ['a reset of zero', { ratelimit: '"a";r=0;t=0' }, undefined],
    ['invalid: no remaining requests', { ratelimit: '"a";t=30', 'x-ratelimit-reset': '30' }, undefined],
    [
      'invalid: a word',
      { ratelimit: '"a";r=none;t=30', 'x-ratelimit-remaining': 'none', 'x-ratelimit-reset': '30' },
      undefined,
    ],
    ['invalid: no reset', { 'x-ratelimit-remaining': '0' }, undefined],
    ['invalid: a negative reset', { ratelimit: '"a";r=0;t=-30' }, undefined],
    ['invalid: an empty value', { ratelimit: '', 'ratelimit-policy': ';;,;=' }, undefined],
    ['draft 11 §7, an invalid member does not hide another', { ratelimit: '"a";r=x;t=30,"b";r=0;t=5' }, 5_000],
    ['draft 11 §4.1.1, r is an Integer', { ratelimit: '"a";r=1.5;t=30' }, undefined],
    ['draft 11 §4.1.1, r is not negative', { ratelimit: '"a";r=-1;t=30' }, undefined],
    ['draft 11 §4.1.1, r is not a String', { ratelimit: '"a";r="0";t=30' }, undefined],
    ['draft 11 §4.1.2, t is an Integer', { ratelimit: '"a";r=0;t=30.5' }, undefined],
    ['draft 11 §4.1.2, t is not a duration with a unit', { ratelimit: '"a";r=0;t=30s' }, undefined],
    [
      'draft 11 §4.1.2, an invalid t is not replaced by the window',
      { ratelimit: '"a";r=0;t=x', 'ratelimit-policy': '"a";q=1;w=60' },
      60_000, // of the policy alone: no limit is valid
    ],
    ['draft 11 §4, the name of a policy is not a Token', { ratelimit: 'a;r=0;t=30' }, undefined],
    ['draft 11 §4, a number as a name', { ratelimit: '1;r=0;t=30' }, undefined],
    ['draft 11 §3, a policy whose name is a Token', { 'ratelimit-policy': 'a;q=1;w=60' }, undefined],
    ['draft 11 §3.1.1, q is not negative', { 'ratelimit-policy': '"a";q=-1;w=60' }, undefined],
    ['draft 11 §3.1.1, q is an Integer', { 'ratelimit-policy': '"a";q=0.5;w=60' }, undefined],
    ['draft 11 §3.1.2, qu is a String', { 'ratelimit-policy': '"a";q=1;qu=requests;w=60' }, undefined],
    ['draft 11 §3.1.3, w is an Integer', { 'ratelimit-policy': '"a";q=1;w=1.5' }, undefined],
    ['draft 07, numbers are Integers', { ratelimit: 'limit=9, remaining=0.5, reset=30' }, undefined],
    ['draft 07, numbers are not negative', { ratelimit: 'limit=9, remaining=-1, reset=30' }, undefined],
    ['draft 06, numbers are Integers', { 'ratelimit-remaining': '0.5', 'ratelimit-reset': '30' }, undefined],
    ['draft 06, numbers are not negative', { 'ratelimit-remaining': '-3', 'ratelimit-reset': '30' }, undefined],
    ['RFC 9651 §3.1.2, names of parameters are in lower case', { ratelimit: '"a";R=0;T=30' }, undefined],
    ['RFC 9651 §3.3.3, an equals sign in a name', { ratelimit: '"r=9";r=0;t=30' }, 30_000],
    ['RFC 9651 §3.3.3, a semicolon in a name', { ratelimit: '"a;r=9";r=0;t=30' }, 30_000],
    ['RFC 9651 §3.1.2, a parameter without a value', { ratelimit: '"a";flag;r=0;t=30;x-flag' }, 30_000],
    ['our choice, an Integer as a time since 1970', { ratelimit: '"a";r=0;t=1767225720' }, 120_000],
    ['our choice, retry-after-ms', { 'retry-after-ms': '1500' }, 1_500],
    ['our choice, retry-after-ms with a fraction', { 'retry-after-ms': '1499.2' }, 1_500],
    ['invalid: retry-after-ms', { 'retry-after-ms': '-5' }, undefined],
    ['invalid: retry-after-ms with a unit', { 'retry-after-ms': '5s' }, undefined],
    [
      'our choice, X-RateLimit-Reset-After, which needs no clock, before X-RateLimit-Reset',
      { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': '7.5', 'x-ratelimit-reset': '1767229999.5' },
      8_000,
    ],
    [
      'our choice, RateLimit-ResetTime',
      { 'ratelimit-remaining': '0', 'ratelimit-resettime': 'Thu, 01 Jan 2026 00:02:00 GMT' },
      120_000,
    ],
    ['no headers', {}, undefined],
  ])('%s', (_, headers, pauseMs) => {
    expect(rateLimitOf(headers, NOW)).toEqual(pauseMs === undefined ? undefined : { pauseMs })
  })

  test('returns a pause of at most a day or undefined for any text', () => {
    const parts = [
      '"a"',
      ';r=',
      ';t=',
      ';w=',
      ';q=',
      '0',
      '9',
      '1e9',
      '-',
      '.',
      ',',
      '"',
      '=',
      ' ',
      'remaining=',
      'reset=',
      ',limit=',
    ]
    const text = fc.array(fc.constantFrom(...parts), { maxLength: 12 }).map((chosen) => chosen.join(''))
    const names = ['ratelimit', 'ratelimit-policy', 'x-ratelimit-remaining', 'x-ratelimit-reset']
    fc.assert(
      fc.property(fc.array(text, { minLength: 4, maxLength: 4 }), fc.nat(3), (values, times) => {
        const headers = Object.fromEntries(names.map((name, n) => [name, values[n]?.repeat(10 ** times)]))
        const limit = rateLimitOf(headers, NOW)
        return limit === undefined || (limit.pauseMs > 0 && limit.pauseMs <= day)
      }),
    )
  })
})

describe('Cache-Control', () => {
  const none = { maxAge: undefined, sMaxage: undefined, noStore: false, noCache: false }
  test.each([
    ['RFC 9111 §5.2.2.1, max-age', 'max-age=60', { maxAge: 60 }],
    ['RFC 9111 §5.2.2.10, s-maxage', 's-maxage=60', { sMaxage: 60 }],
    ['RFC 9111 §5.2.2.5, no-store', 'no-store', { noStore: true }],
    ['RFC 9111 §5.2.2.4, no-cache', 'no-cache', { noCache: true }],
    [
      'our choice, no-cache for some fields counts for the whole response',
      'no-cache="set-cookie, age"',
      { noCache: true },
    ],
    ['RFC 9111 §5.2, in a list', 'public, max-age=60 ,no-cache', { maxAge: 60, noCache: true }],
    ['RFC 9111 §5.2, in any case', 'Max-Age=60, NO-STORE', { maxAge: 60, noStore: true }],
    ['RFC 9111 §5.2, unknown directives are ignored', 'community="UCI", x-max-age=9, max-age=60', { maxAge: 60 }],
    [
      'RFC 9110 §5.6.4, a comma in quotes does not end a directive',
      'ext="a, max-age=9, no-store", max-age=60',
      { maxAge: 60 },
    ],
    ['our choice, an unclosed quote contains the rest', 'max-age=60, ext="a, no-store', { maxAge: 60 }],
    ['our choice, a quoted number, which RFC 9111 §5.2 forbids', 'max-age="60"', { maxAge: 60 }],
    ['our choice, spaces around the equals sign', 'max-age = 60', { maxAge: 60 }],
    ['RFC 9110 §5.6.1.2, empty members', ',, max-age=60,,', { maxAge: 60 }],
    ['our choice, the shorter of two max-ages', 'max-age=60, max-age=30', { maxAge: 30 }],
    ['our choice, the shorter of two max-ages in any order', 'max-age=30, max-age=60', { maxAge: 30 }],
    ['RFC 9111 §4.2.1, a word is stale', 'max-age=soon', { maxAge: 0 }],
    ['RFC 9111 §4.2.1, a missing value is stale', 'max-age', { maxAge: 0 }],
    ['RFC 9111 §4.2.1, an empty value is stale', 'max-age=', { maxAge: 0 }],
    ['RFC 9111 §4.2.1, a negative number is stale', 's-maxage=-1', { sMaxage: 0 }],
    ['RFC 9111 §4.2.1, a fraction is stale', 'max-age=1.5', { maxAge: 0 }],
    ['our choice, a semicolon does not separate directives', 'max-age=60; no-store', { maxAge: 0 }],
    ['RFC 9111 §1.2.2, a huge number is capped', `max-age=${'9'.repeat(400)}`, { maxAge: 2 ** 31 }],
    ['an empty value', '', {}],
    ['no header', undefined, {}],
  ])('%s', (_, value, expected) => {
    expect(cacheControlOf(value)).toEqual({ ...none, ...expected })
  })
})

describe('headerOf', () => {
  test.each([
    ['one value', { age: '1' }, '1'],
    ['RFC 9110 §5.3, several values are joined', { age: ['1', '2'] }, '1, 2'],
    ['a missing header', { date: 'x' }, undefined],
  ])('%s', (_, headers, expected) => {
    expect(headerOf(headers, 'age')).toBe(expected)
  })
})
