// How long a result is valid. RFC 9309 §2.4, RFC 9111 §4.2.
import { expect, test } from 'vitest'
import { freshForMs, lifetimeMs } from '../src/access/freshness.ts'
import { type AccessPolicy, defaultAccessPolicy } from '../src/access/policy.ts'
import type { Headers } from '../src/http/headers.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const MIN = MINUTE
const MAX = 7 * DAY

const NOW = Date.UTC(2026, 0, 1, 12)
const IN_3_HOURS = 'Thu, 01 Jan 2026 15:00:00 GMT'
const HUGE = '9'.repeat(400)

const maxAge = (seconds: string) => ({ 'cache-control': `max-age=${seconds}` })

test.for<readonly [name: string, headers: Headers, expected: number, policy?: Partial<AccessPolicy>]>([
  ['RFC 9309 §2.4, 24 hours without cache headers', {}, DAY],
  [
    'RFC 9309 §2.4, 24 hours without a time in Cache-Control',
    { 'cache-control': 'public, must-revalidate, immutable' },
    DAY,
  ],
  ['RFC 9309 §2.4, 24 hours with an empty Cache-Control', { 'cache-control': ' , ' }, DAY],
  ['our choice, Age alone is ignored', { age: '3600' }, DAY],
  ['our choice, Date alone is ignored', { date: 'Thu, 01 Jan 2026 10:00:00 GMT' }, DAY],

  ['RFC 9111 §4.2.1, max-age', maxAge('3600'), HOUR],
  ['our choice, max-age over 24 hours', maxAge('172800'), 2 * DAY],
  ['our choice, private is ignored', { 'cache-control': 'private, max-age=3600' }, HOUR],
  ['RFC 9111 §4.2.1, s-maxage before max-age', { 'cache-control': 's-maxage=7200, max-age=3600' }, 2 * HOUR],
  [
    'RFC 9111 §4.2.1, s-maxage before max-age in any order',
    { 'cache-control': 'max-age=3600, s-maxage=7200' },
    2 * HOUR,
  ],
  [
    'RFC 9111 §4.2.1, s-maxage before max-age also if it is shorter',
    { 'cache-control': 'max-age=7200, s-maxage=3600' },
    HOUR,
  ],
  ['RFC 9111 §4.2.1, max-age before Expires', { ...maxAge('3600'), expires: IN_3_HOURS }, HOUR],
  ['our choice, the shorter of two max-ages', { 'cache-control': 'max-age=7200, max-age=3600' }, HOUR],
  [
    'our choice, the shorter of two max-ages in two headers',
    { 'cache-control': ['max-age=3600', 'max-age=7200'] },
    HOUR,
  ],
  ['RFC 9111 §5.2, directives in any case', { 'cache-control': 'MAX-AGE=3600' }, HOUR],
  ['our choice, a quoted max-age, which RFC 9111 §5.2 forbids', maxAge('"3600"'), HOUR],
  ['RFC 9111 §4.2.1, an invalid max-age is stale', maxAge('soon'), MIN],
  ['our choice, blanks around =, which RFC 9111 §5.2 forbids', { 'cache-control': 'max-age = 3600' }, HOUR],
  [
    'our choice, stale-while-revalidate is ignored',
    { 'cache-control': 'max-age=3600, stale-while-revalidate=60' },
    HOUR,
  ],
  ['our choice, stale-if-error is ignored', { 'cache-control': 'max-age=3600, stale-if-error=60' }, HOUR],
  ['our choice, Pragma and Vary are ignored', { pragma: 'no-cache', vary: '*', ...maxAge('3600') }, HOUR],

  ['RFC 9111 §4.2.3, Age is subtracted from max-age', { ...maxAge('3600'), age: '600' }, 50 * MINUTE],
  ['RFC 9111 §4.2.3, Age is subtracted from s-maxage', { 'cache-control': 's-maxage=3600', age: '600' }, 50 * MINUTE],
  ['RFC 9111 §4.2.3, Age larger than max-age', { ...maxAge('3600'), age: '7200' }, MIN],
  ['RFC 9111 §5.1, the first of several Ages counts', { ...maxAge('3600'), age: ['600', '60'] }, 50 * MINUTE],
  ['RFC 9111 §5.1, the first of a list of Ages counts', { ...maxAge('3600'), age: '600, old' }, 50 * MINUTE],
  [
    'RFC 9111 §4.2.3, the time since Date is subtracted from max-age',
    { ...maxAge('3600'), date: 'Thu, 01 Jan 2026 11:50:00 GMT' },
    50 * MINUTE,
  ],
  [
    'RFC 9111 §4.2.3, Age if it is larger than the time since Date',
    { ...maxAge('3600'), date: 'Thu, 01 Jan 2026 11:50:00 GMT', age: '1200' },
    40 * MINUTE,
  ],
  [
    'RFC 9111 §4.2.3, the time since Date if it is larger than Age',
    { ...maxAge('3600'), date: 'Thu, 01 Jan 2026 11:50:00 GMT', age: '60' },
    50 * MINUTE,
  ],
  [
    'RFC 9111 §4.2.3, a Date in the future is no age',
    { ...maxAge('3600'), date: 'Thu, 01 Jan 2026 13:00:00 GMT' },
    HOUR,
  ],
  ['RFC 9110 §6.6.1, an invalid Date counts as the time of arrival', { ...maxAge('3600'), date: 'today' }, HOUR],
  ['our choice, an invalid Age is ignored', { ...maxAge('3600'), age: 'old' }, HOUR],
  ['our choice, a negative Age is ignored', { ...maxAge('3600'), age: '-600' }, HOUR],

  ['RFC 9111 §5.2.2.5, no-store means minTtlMs', { 'cache-control': 'no-store' }, MIN],
  ['RFC 9111 §5.2.2.4, no-cache means minTtlMs', { 'cache-control': 'no-cache' }, MIN],
  [
    'our choice, no-store also with must-understand, which is ignored',
    { 'cache-control': 'must-understand, no-store, max-age=3600' },
    MIN,
  ],
  ['our choice, no-cache also if it names headers', { 'cache-control': 'no-cache="set-cookie", max-age=3600' }, MIN],
  ['RFC 9111 §5.2.2.5, no-store before max-age', { 'cache-control': 'max-age=3600, no-store' }, MIN],
  ['RFC 9111 §5.2.2.4, no-cache before max-age', { 'cache-control': 'no-cache, max-age=3600' }, MIN],
  ['RFC 9111 §5.2.2.5, no-store before Expires', { 'cache-control': 'no-store', expires: IN_3_HOURS }, MIN],

  ['RFC 9111 §5.3, Expires without Date', { expires: IN_3_HOURS }, 3 * HOUR],
  ['RFC 9111 §5.3, Expires in the RFC 850 format', { expires: 'Thursday, 01-Jan-26 15:00:00 GMT' }, 3 * HOUR],
  ['RFC 9111 §5.3, Expires in the asctime format', { expires: 'Thu Jan  1 15:00:00 2026' }, 3 * HOUR],
  [
    'RFC 9111 §4.2.1, Expires relative to Date, both by a clock that is ahead',
    { date: 'Thu, 01 Jan 2026 20:00:00 GMT', expires: 'Thu, 01 Jan 2026 21:00:00 GMT' },
    HOUR,
  ],
  [
    'RFC 9111 §4.2.3, Expires relative to Date, minus the time since Date',
    { date: 'Thu, 01 Jan 2026 11:30:00 GMT', expires: 'Thu, 01 Jan 2026 12:30:00 GMT' },
    30 * MINUTE,
  ],
  [
    'RFC 9111 §4.2.3, Expires after Date, but in the past',
    { date: 'Thu, 01 Jan 2026 10:00:00 GMT', expires: 'Thu, 01 Jan 2026 11:00:00 GMT' },
    MIN,
  ],
  [
    'RFC 9111 §4.2.3, Expires with Date and Age',
    { date: 'Thu, 01 Jan 2026 12:00:00 GMT', expires: IN_3_HOURS, age: '600' },
    170 * MINUTE,
  ],
  ['our choice, Expires with an invalid Date', { date: 'yesterday', expires: IN_3_HOURS }, 3 * HOUR],
  ['RFC 9111 §5.3, Expires in the past', { expires: 'Thu, 01 Jan 2026 11:00:00 GMT' }, MIN],
  ['RFC 9111 §5.3, Expires: 0 is the past', { expires: '0' }, MIN],
  ['RFC 9111 §5.3, Expires: -1 is the past', { expires: '-1' }, MIN],
  ['RFC 9111 §5.3, an invalid Expires is the past', { expires: 'never' }, MIN],

  ['our choice, at least a minute', maxAge('0'), MIN],
  ['our choice, at least a minute, just below', maxAge('59'), MIN],
  ['our choice, exactly a minute', maxAge('60'), MINUTE],
  ['our choice, at most 7 days', maxAge('31536000'), MAX],
  ['our choice, exactly 7 days', maxAge('604800'), MAX],
  ['RFC 9111 §1.2.2, more seconds than a JavaScript number can hold', maxAge(HUGE), MAX],
  ['RFC 9111 §1.2.2, and an equally large Age', { ...maxAge(HUGE), age: HUGE }, MIN],

  ['our choice, ttlMs without cache headers', {}, HOUR, { ttlMs: HOUR }],
  ['our choice, ttlMs is ignored if there is a max-age', maxAge('7200'), 2 * HOUR, { ttlMs: HOUR }],
  ['our choice, minTtlMs bounds max-age', maxAge('3600'), DAY, { minTtlMs: DAY }],
  ['our choice, minTtlMs bounds ttlMs', {}, DAY, { ttlMs: HOUR, minTtlMs: DAY }],
  ['RFC 9309 §2.4, maxTtlMs can be 24 hours, which is the letter of the RFC', maxAge('172800'), DAY, { maxTtlMs: DAY }],
  ['our choice, maxTtlMs bounds ttlMs', {}, HOUR, { maxTtlMs: HOUR }],
])('%s', ([, headers, expected, policy]) => {
  expect(freshForMs(headers, lifetimeMs(headers, NOW), NOW, { ...defaultAccessPolicy, ...policy })).toBe(expected)
})
