// Parsers of headers: HTTP-date, Retry-After, Cache-Control.
import { describe, expect, test } from 'vitest'
import { cacheControlOf } from '../src/http/cache-control.ts'
import { httpDate } from '../src/http/date.ts'
import { headerOf } from '../src/http/headers.ts'
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
    ['our choice, a date in the past means no wait', 'Wed, 31 Dec 2025 23:00:00 GMT', 0],
    ['our choice, white space around it', ' 120\t', 120_000],
    ['invalid: a negative number', '-120', undefined],
    ['invalid: a fraction', '1.5', undefined],
    ['invalid: a word', 'soon', undefined],
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
    ['no header', undefined, undefined],
  ])('%s', (_, value, expected) => {
    expect(retryAfterMs(value, NOW)).toBe(expected)
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
