// How long an answer holds. RFC 9309 §2.4, RFC 9111 §4.2.
import { expect, test } from 'vitest'
import { freshForMs } from '../src/access/freshness.ts'
import { type AccessPolicy, defaultAccessPolicy } from '../src/access/policy.ts'
import type { Headers } from '../src/http/headers.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const FLOOR = MINUTE
const CAP = 7 * DAY

const NOW = Date.UTC(2026, 0, 1, 12)
const IN_3_HOURS = 'Thu, 01 Jan 2026 15:00:00 GMT'
const HUGE = '9'.repeat(400)

const maxAge = (seconds: string) => ({ 'cache-control': `max-age=${seconds}` })

test.for<readonly [name: string, headers: Headers, expected: number, policy?: Partial<AccessPolicy>]>([
  ['RFC 9309 §2.4, 24 hours where nothing is said', {}, DAY],
  [
    'RFC 9309 §2.4, 24 hours where nothing is said of time',
    { 'cache-control': 'public, must-revalidate, immutable' },
    DAY,
  ],
  ['RFC 9309 §2.4, 24 hours where the header is empty', { 'cache-control': ' , ' }, DAY],
  ['our choice, Age alone says nothing', { age: '3600' }, DAY],

  ['RFC 9111 §4.2.1, max-age', maxAge('3600'), HOUR],
  ['our choice, max-age over 24 hours', maxAge('172800'), 2 * DAY],
  [
    'our choice, private is no hindrance: every crawler has its own cache',
    { 'cache-control': 'private, max-age=3600' },
    HOUR,
  ],
  ['RFC 9111 §4.2.1, s-maxage before max-age', { 'cache-control': 's-maxage=7200, max-age=3600' }, 2 * HOUR],
  ['RFC 9111 §4.2.1, in any order', { 'cache-control': 'max-age=3600, s-maxage=7200' }, 2 * HOUR],
  ['RFC 9111 §4.2.1, also where it is shorter', { 'cache-control': 'max-age=7200, s-maxage=3600' }, HOUR],
  ['RFC 9111 §4.2.1, max-age before Expires', { ...maxAge('3600'), expires: IN_3_HOURS }, HOUR],
  ['our choice, of two the shorter', { 'cache-control': 'max-age=7200, max-age=3600' }, HOUR],
  ['our choice, of two header lines the shorter', { 'cache-control': ['max-age=3600', 'max-age=7200'] }, HOUR],
  ['RFC 9111 §5.2, names in any case', { 'cache-control': 'MAX-AGE=3600' }, HOUR],
  ['RFC 9111 §5.2, quoted though it should not be', maxAge('"3600"'), HOUR],
  ['RFC 9111 §4.2.1, what cannot be read is stale', maxAge('soon'), FLOOR],

  ['RFC 9111 §4.2.3, Age is time gone by', { ...maxAge('3600'), age: '600' }, 50 * MINUTE],
  ['RFC 9111 §4.2.3, over s-maxage too', { 'cache-control': 's-maxage=3600', age: '600' }, 50 * MINUTE],
  ['RFC 9111 §4.2.3, more than all of it', { ...maxAge('3600'), age: '7200' }, FLOOR],
  ['our choice, an Age that is no number is none', { ...maxAge('3600'), age: 'old' }, HOUR],
  ['our choice, an Age below zero is none', { ...maxAge('3600'), age: '-600' }, HOUR],

  ['RFC 9111 §5.2.2.5, no-store is the floor', { 'cache-control': 'no-store' }, FLOOR],
  ['RFC 9111 §5.2.2.4, no-cache is the floor', { 'cache-control': 'no-cache' }, FLOOR],
  ['RFC 9111 §5.2.2.5, no-store before max-age', { 'cache-control': 'max-age=3600, no-store' }, FLOOR],
  ['RFC 9111 §5.2.2.4, no-cache before max-age', { 'cache-control': 'no-cache, max-age=3600' }, FLOOR],
  ['RFC 9111 §5.2.2.5, no-store before Expires', { 'cache-control': 'no-store', expires: IN_3_HOURS }, FLOOR],

  ['RFC 9111 §5.3, Expires without Date', { expires: IN_3_HOURS }, 3 * HOUR],
  ['RFC 9111 §5.3, Expires as RFC 850 wrote dates', { expires: 'Thursday, 01-Jan-26 15:00:00 GMT' }, 3 * HOUR],
  ['RFC 9111 §5.3, Expires as asctime writes dates', { expires: 'Thu Jan  1 15:00:00 2026' }, 3 * HOUR],
  [
    'RFC 9111 §4.2.1, Expires with Date: by the clock of the server',
    { date: 'Thu, 01 Jan 2015 00:00:00 GMT', expires: 'Thu, 01 Jan 2015 01:00:00 GMT' },
    HOUR,
  ],
  [
    'RFC 9111 §4.2.3, Expires with Date and Age',
    { date: 'Thu, 01 Jan 2026 12:00:00 GMT', expires: IN_3_HOURS, age: '600' },
    170 * MINUTE,
  ],
  ['our choice, Expires with a Date that is none', { date: 'yesterday', expires: IN_3_HOURS }, 3 * HOUR],
  ['RFC 9111 §5.3, Expires in the past', { expires: 'Thu, 01 Jan 2026 11:00:00 GMT' }, FLOOR],
  ['RFC 9111 §5.3, Expires: 0 is the past', { expires: '0' }, FLOOR],
  ['RFC 9111 §5.3, Expires: -1 is the past', { expires: '-1' }, FLOOR],
  ['RFC 9111 §5.3, an Expires that is no date is the past', { expires: 'never' }, FLOOR],

  ['our choice, never under a minute', maxAge('0'), FLOOR],
  ['our choice, never under a minute, not by much either', maxAge('59'), FLOOR],
  ['our choice, a minute itself', maxAge('60'), MINUTE],
  ['our choice, never over 7 days', maxAge('31536000'), CAP],
  ['our choice, 7 days themselves', maxAge('604800'), CAP],
  ['RFC 9111 §1.2.2, more seconds than a number holds', maxAge(HUGE), CAP],
  ['RFC 9111 §1.2.2, and as old as that', { ...maxAge(HUGE), age: HUGE }, FLOOR],

  ['our choice, ttlMs where nothing is said', {}, HOUR, { ttlMs: HOUR }],
  ['our choice, ttlMs does not speak where the server does', maxAge('7200'), 2 * HOUR, { ttlMs: HOUR }],
  ['our choice, minTtlMs', maxAge('3600'), DAY, { minTtlMs: DAY }],
  ['our choice, minTtlMs holds for ttlMs too', {}, DAY, { ttlMs: HOUR, minTtlMs: DAY }],
  ['RFC 9309 §2.4, maxTtlMs of 24 hours for those who want its letter', maxAge('172800'), DAY, { maxTtlMs: DAY }],
  ['our choice, maxTtlMs holds for ttlMs too', {}, HOUR, { maxTtlMs: HOUR }],
])('%s', ([, headers, expected, policy]) => {
  expect(freshForMs(headers, NOW, { ...defaultAccessPolicy, ...policy })).toBe(expected)
})
