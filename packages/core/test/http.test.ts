// One header each: HTTP-date, Retry-After, Cache-Control.
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
      'RFC 9110 §5.6.7, two digits for a year at most 50 years ahead',
      'Sunday, 06-Nov-76 08:49:37 GMT',
      Date.UTC(2076, 10, 6, 8, 49, 37),
    ],
    [
      'RFC 9110 §5.6.7, two digits for a year over 50 years ahead',
      'Sunday, 06-Nov-77 08:49:37 GMT',
      Date.UTC(1977, 10, 6, 8, 49, 37),
    ],
    ['RFC 9110 §5.6.7, a leap day', 'Thu, 29 Feb 2024 00:00:00 GMT', Date.UTC(2024, 1, 29)],
    ['RFC 9110 §5.6.7, a leap second', 'Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2016, 11, 31, 23, 59, 59)],
    ['our choice, any case', 'sun, 06 nov 1994 08:49:37 gmt', NOVEMBER_1994],
    ['our choice, blanks around', '  Sun, 06 Nov 1994 08:49:37 GMT ', NOVEMBER_1994],
    ['our choice, the day of the week is not checked', 'Mon, 06 Nov 1994 08:49:37 GMT', NOVEMBER_1994],
    ['no day 29 in this February', 'Sat, 29 Feb 2025 00:00:00 GMT', undefined],
    ['no day 31 in June', 'Mon, 31 Jun 2025 00:00:00 GMT', undefined],
    ['no day 0', 'Mon, 00 Jun 2025 00:00:00 GMT', undefined],
    ['no such month', 'Sun, 06 Foo 1994 08:49:37 GMT', undefined],
    ['no hour 24', 'Sun, 06 Nov 1994 24:00:00 GMT', undefined],
    ['no minute 60', 'Sun, 06 Nov 1994 08:60:00 GMT', undefined],
    ['no second 61', 'Sun, 06 Nov 1994 08:49:61 GMT', undefined],
    ['another zone', 'Sun, 06 Nov 1994 08:49:37 +0100', undefined],
    ['no zone', 'Sun, 06 Nov 1994 08:49:37', undefined],
    ['a day of one digit', 'Sun, 6 Nov 1994 08:49:37 GMT', undefined],
    ['ISO 8601', '1994-11-06T08:49:37Z', undefined],
    ['a number', '0', undefined],
    ['nothing', '', undefined],
    ['two dates in a list', 'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT', undefined],
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
    ['our choice, a date in the past is now', 'Wed, 31 Dec 2025 23:00:00 GMT', 0],
    ['our choice, blanks around', ' 120\t', 120_000],
    ['a negative number', '-120', undefined],
    ['a fraction', '1.5', undefined],
    ['a word', 'soon', undefined],
    ['two values', '120, 120', undefined],
    ['an empty value', '', undefined],
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
    ['our choice, no-cache for some fields counts for all', 'no-cache="set-cookie, age"', { noCache: true }],
    ['RFC 9111 §5.2, in a list', 'public, max-age=60 ,no-cache', { maxAge: 60, noCache: true }],
    ['RFC 9111 §5.2, in any case', 'Max-Age=60, NO-STORE', { maxAge: 60, noStore: true }],
    ['RFC 9111 §5.2, unknown directives are passed over', 'community="UCI", x-max-age=9, max-age=60', { maxAge: 60 }],
    ['RFC 9110 §5.6.4, a comma in quotes ends nothing', 'ext="a, max-age=9, no-store", max-age=60', { maxAge: 60 }],
    ['our choice, an open quote holds the rest', 'max-age=60, ext="a, no-store', { maxAge: 60 }],
    ['RFC 9111 §5.2, quoted though it should not be', 'max-age="60"', { maxAge: 60 }],
    ['our choice, blanks around the equals sign', 'max-age = 60', { maxAge: 60 }],
    ['RFC 9110 §5.6.1.2, empty members', ',, max-age=60,,', { maxAge: 60 }],
    ['our choice, of two the shorter', 'max-age=60, max-age=30', { maxAge: 30 }],
    ['our choice, of two the shorter, in any order', 'max-age=30, max-age=60', { maxAge: 30 }],
    ['RFC 9111 §4.2.1, no number is stale', 'max-age=soon', { maxAge: 0 }],
    ['RFC 9111 §4.2.1, no value is stale', 'max-age', { maxAge: 0 }],
    ['RFC 9111 §4.2.1, an empty value is stale', 'max-age=', { maxAge: 0 }],
    ['RFC 9111 §4.2.1, a negative number is stale', 's-maxage=-1', { sMaxage: 0 }],
    ['RFC 9111 §4.2.1, a fraction is stale', 'max-age=1.5', { maxAge: 0 }],
    ['our choice, a semicolon is no comma', 'max-age=60; no-store', { maxAge: 0 }],
    ['RFC 9111 §1.2.2, a number that no machine holds', `max-age=${'9'.repeat(400)}`, { maxAge: 2 ** 31 }],
    ['an empty value', '', {}],
    ['no header', undefined, {}],
  ])('%s', (_, value, expected) => {
    expect(cacheControlOf(value)).toEqual({ ...none, ...expected })
  })
})

describe('a header', () => {
  test.each([
    ['once', { age: '1' }, '1'],
    ['RFC 9110 §5.3, several times is one list', { age: ['1', '2'] }, '1, 2'],
    ['not there', { date: 'x' }, undefined],
  ])('%s', (_, headers, expected) => {
    expect(headerOf(headers, 'age')).toBe(expected)
  })
})
