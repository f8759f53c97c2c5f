// The entry of an origin from one attempt to the next. RFC 9309 §2.3.1.4 and §2.4.
import { describe, expect, test } from 'vitest'
import type { Entry } from '../src/access/entry.ts'
import type { Outcome } from '../src/access/outcome.ts'
import { originAccessOf, plan } from '../src/access/plan.ts'
import { type AccessPolicy, defaultAccessPolicy } from '../src/access/policy.ts'
import type { FailureReason } from '../src/access/reply.ts'
import { settle } from '../src/access/settle.ts'
import { entryFrom, entryText } from '../src/access/stored-entry.ts'
import { decide } from '../src/decide.ts'
import type { Headers } from '../src/http/headers.ts'
import { parseRobots } from '../src/parse-robots.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const START = Date.UTC(2026, 0, 1)

const ORIGIN = 'https://a.test'
const URL = `${ORIGIN}/robots.txt`
const RULES = 'User-agent: *\nDisallow: /page\n'

const success = (headers: Headers = {}, bytes = RULES): Outcome => ({
  kind: 'success',
  status: 200,
  headers,
  body: { bytes: bytes, truncated: false },
  url: URL,
  hops: [],
})
const gone: Outcome = { kind: 'unavailable', reason: 'status', status: 404, headers: {}, url: URL, hops: [] }
const answers = (status: number, headers: Headers = {}): Outcome => ({
  kind: 'unreachable',
  reason: 'status',
  status,
  headers,
  url: URL,
  hops: [],
})
const fails = (reason: FailureReason): Outcome => ({
  kind: 'unreachable',
  reason,
  detail: 'the message',
  url: URL,
  hops: [],
})
/** A 304 that confirms the copy of this entry. */
const unchanged = ({ copy }: Entry, headers: Headers = {}): Outcome => {
  if (copy === undefined) throw new Error('the entry has no copy; begin with a success')
  return { kind: 'unchanged', copy, status: 304, headers, url: URL, hops: [] }
}

/** The entry after these outcomes. Times are milliseconds after START. */
function after(history: readonly (readonly [at: number, outcome: Outcome])[], policy = defaultAccessPolicy): Entry {
  const first = history[0]
  if (first === undefined) throw new Error('the history is empty; give at least one outcome')
  const [at, outcome] = first
  const entry = settle(undefined, ORIGIN, outcome, START + at, policy)
  return history.slice(1).reduce((last, [time, next]) => settle(last, ORIGIN, next, START + time, policy), entry)
}

describe('the next attempt is due', () => {
  const at = (ms: number, entry: Entry) => plan(entry, START + ms, defaultAccessPolicy) === 'obtain'

  test('RFC 9309 §2.3, at once without an entry', () => {
    expect(plan(undefined, START, defaultAccessPolicy)).toBe('obtain')
  })

  test.each([
    ['RFC 9309 §2.4, 24 hours after a success', success(), DAY],
    ['RFC 9309 §2.4, after the max-age of a success', success({ 'cache-control': 'max-age=3600' }), HOUR],
    ['RFC 9309 §2.4, 24 hours after a 404', gone, DAY],
    [
      'RFC 9309 §2.4, after the max-age of a 404',
      { ...gone, headers: { 'cache-control': 'max-age=3600' } } as Outcome,
      HOUR,
    ],
    ['our choice, a minute after a failure', fails('refused'), MINUTE],
  ])('%s, and not before', (_, outcome, due) => {
    const entry = after([[0, outcome]])
    expect(at(0, entry)).toBe(false)
    expect(at(due - 1, entry)).toBe(false)
    expect(at(due, entry)).toBe(true)
  })

  test('our choice, at once after the clock was set back, since the age of the entry is unknown', () => {
    const entry = after([[0, success()]])
    expect(at(-MINUTE, entry)).toBe(false) // the clocks of machines that share a store may differ by this much
    expect(at(-MINUTE - 1, entry)).toBe(true)
  })
})

describe('a success', () => {
  test('RFC 9309 §2.3.1.1, its rules are obeyed until the next attempt has ended', () => {
    const entry = after([[0, success()]])
    const { copy } = entry
    expect(copy).toMatchObject({ bytes: RULES, confirmedAt: START, truncated: false, url: URL })
    for (const at of [0, DAY, 100 * DAY]) {
      expect(originAccessOf(entry, START + at, defaultAccessPolicy)).toEqual({
        holds: 'rules',
        copy,
        freshness: 'fresh',
      })
    }
  })

  test('RFC 9110 §8.8, its validators are kept', () => {
    const { copy } = after([[0, success({ etag: '"1"', 'last-modified': 'yesterday' })]])
    expect(copy).toMatchObject({ etag: '"1"', lastModified: 'yesterday' })
  })

  test('RFC 9309 §2.3.1.1, the next success replaces it', () => {
    const { copy } = after([
      [0, success({ etag: '"1"' })],
      [DAY, success({}, 'User-agent: *\n')],
    ])
    expect(copy).toMatchObject({ bytes: 'User-agent: *\n', confirmedAt: START + DAY, etag: undefined })
  })
})

describe('a 304', () => {
  test.each([
    ['max-age', { 'cache-control': 'max-age=3600' }, HOUR - 1_000],
    ['Expires', { date: 'Thu, 01 Jan 2026 00:00:00 GMT', expires: 'Thu, 01 Jan 2026 02:00:00 GMT' }, 2 * HOUR - 1_000],
    ['no-cache', { 'cache-control': 'no-cache' }, defaultAccessPolicy.minTtlMs],
    ['nothing', {}, DAY],
  ])('RFC 9111 §3.2, without a lifetime has that of the response that it confirms: %s', (_, headers, freshMs) => {
    let entry = after([[0, success({ etag: '"1"', ...headers })]])
    for (const day of [1, 2]) {
      const at = START + day * DAY
      entry = settle(entryFrom(entryText(entry)), ORIGIN, unchanged(entry, { age: '1' }), at, defaultAccessPolicy)
      expect(entry.nextAttemptAt - at).toBe(freshMs)
    }
  })

  test('RFC 9111 §4.2.3, is as old as its own Date says', () => {
    const last = after([
      [0, success({ etag: '"1"', date: 'Thu, 01 Jan 2026 00:00:00 GMT', 'cache-control': 'max-age=3600' })],
    ])
    const at = START + DAY
    const headers = { date: 'Thu, 01 Jan 2026 23:50:00 GMT' }
    expect(settle(last, ORIGIN, unchanged(last, headers), at, defaultAccessPolicy).nextAttemptAt).toBe(
      at + (50 * HOUR) / 60,
    )
  })

  test('RFC 9111 §4.3.4, makes the copy fresh again for the time in its headers', () => {
    const last = after([[0, success({ etag: '"1"', 'last-modified': 'Monday' })]])
    const entry = settle(
      last,
      ORIGIN,
      unchanged(last, { 'cache-control': 'max-age=3600' }),
      START + DAY,
      defaultAccessPolicy,
    )
    expect(entry.latest).toMatchObject({ kind: 'success', status: 304, at: START + DAY })
    expect(entry.nextAttemptAt).toBe(START + DAY + HOUR)
    expect(entry.copy).toEqual({ ...last.copy, confirmedAt: START + DAY, lifetimeMs: HOUR })
    expect(originAccessOf(entry, START + DAY, defaultAccessPolicy)).toMatchObject({
      holds: 'rules',
      freshness: 'fresh',
    })
  })

  test('RFC 9111 §4.3.4, its validators replace the old ones', () => {
    const last = after([[0, success({ etag: '"1"', 'last-modified': 'Monday' })]])
    const entry = settle(last, ORIGIN, unchanged(last, { etag: '"2"' }), START + DAY, defaultAccessPolicy)
    expect(entry.copy).toMatchObject({ bytes: RULES, etag: '"2"', lastModified: 'Monday' })
  })

  test('RFC 9309 §2.4, resets the count of failures', () => {
    const down = after([
      [0, success({ etag: '"1"' })],
      [DAY, answers(500)],
      [2 * DAY, answers(500)],
    ])
    const entry = settle(down, ORIGIN, unchanged(down), START + 3 * DAY, defaultAccessPolicy)
    expect(entry).toMatchObject({ unreachableSince: undefined, failures: 0 })
    expect(originAccessOf(entry, START + 3 * DAY, defaultAccessPolicy)).toMatchObject({ freshness: 'fresh' })
  })
})

describe('unavailable', () => {
  test('RFC 9309 §2.3.1.3, allows everything and drops the copy, since the site removed its rules', () => {
    const entry = after([
      [0, success()],
      [DAY, gone],
    ])
    expect(entry.copy).toBeUndefined()
    expect(originAccessOf(entry, START + DAY, defaultAccessPolicy)).toEqual({
      holds: 'allow-all',
      because: 'unavailable',
    })
  })

  test('RFC 9309 §2.3.1.4, leaves no copy, so a failure after it disallows everything', () => {
    const entry = after([
      [0, success()],
      [DAY, gone],
      [2 * DAY, answers(503)],
    ])
    expect(originAccessOf(entry, START + 2 * DAY, defaultAccessPolicy)).toEqual({
      holds: 'disallow-all',
      because: 'unreachable',
    })
  })

  test('RFC 9309 §2.3.1.1, ends when the site has rules again', () => {
    const entry = after([
      [0, gone],
      [DAY, success()],
    ])
    expect(originAccessOf(entry, START + DAY, defaultAccessPolicy)).toMatchObject({
      holds: 'rules',
      freshness: 'fresh',
    })
  })
})

describe('unreachable', () => {
  const everything = { holds: 'disallow-all', because: 'unreachable' }
  const stale = { holds: 'rules', freshness: 'stale', copy: { bytes: RULES } }
  const tooLong = { holds: 'allow-all', because: 'unreachable-too-long' }

  const withoutCopy = after([[DAY, answers(503)]])
  const withCopy = after([
    [0, success()],
    [DAY, answers(503)],
  ])
  /**
   * The entry after six more failed attempts, spread evenly over these days, and the time of the
   * last one.
   */
  function failingFor(entry: Entry, days: number, policy: AccessPolicy): [entry: Entry, now: number] {
    let last = entry
    let now = entry.latest.at
    for (let gap = 1; gap <= 6; gap++) {
      now = entry.latest.at + (days * DAY * gap) / 6
      last = settle(last, ORIGIN, answers(503), now, policy)
    }
    return [last, now]
  }

  test.for<readonly [name: string, entry: Entry, days: number, expected: object, policy?: Partial<AccessPolicy>]>([
    ['RFC 9309 §2.3.1.4, without a copy everything is disallowed', withoutCopy, 0, everything],
    ['RFC 9309 §2.3.1.4, just before 30 days it still is', withoutCopy, 30 - 1e-6, everything],
    ['RFC 9309 §2.3.1.4, after 30 days without a copy everything is allowed', withoutCopy, 30, tooLong],
    ['RFC 9309 §2.4, the copy is obeyed', withCopy, 0, stale],
    ['RFC 9309 §2.4, just before 30 days it still is', withCopy, 30 - 1e-6, stale],
    ['RFC 9309 §2.3.1.4, after 30 days it is still obeyed', withCopy, 30, stale],
    ['RFC 9309 §2.3.1.4, and so it is after years', withCopy, 1_000, stale],
    [
      'RFC 9309 §2.3.1.4, with whenUnreachable: disallow, everything is disallowed in spite of a copy',
      withCopy,
      0,
      everything,
      { whenUnreachable: 'disallow' },
    ],
    [
      'RFC 9309 §2.3.1.4, with whenUnreachable: disallow, also just before 30 days',
      withCopy,
      30 - 1e-6,
      everything,
      { whenUnreachable: 'disallow' },
    ],
    [
      'RFC 9309 §2.3.1.4, with whenUnreachable: disallow, after 30 days the copy is obeyed',
      withCopy,
      30,
      stale,
      { whenUnreachable: 'disallow' },
    ],
    [
      'RFC 9309 §2.3.1.4, with thenAssume: unavailable, after 30 days everything is allowed',
      withCopy,
      30,
      tooLong,
      { whenUnreachable: 'disallow', thenAssume: 'unavailable' },
    ],
    [
      'RFC 9309 §2.3.1.4, with thenAssume: unavailable, after 30 days the copy is ignored',
      withCopy,
      30,
      tooLong,
      { thenAssume: 'unavailable' },
    ],
    [
      'RFC 9309 §2.3.1.4, with thenAssume: unavailable, just before 30 days the copy is obeyed',
      withCopy,
      30 - 1e-6,
      stale,
      { thenAssume: 'unavailable' },
    ],
    ['our choice, with afterDays: 7, after 7 days everything is allowed', withoutCopy, 7, tooLong, { afterDays: 7 }],
    [
      'our choice, with afterDays: 7, just before 7 days everything is disallowed',
      withoutCopy,
      7 - 1e-6,
      everything,
      { afterDays: 7 },
    ],
    ['our choice, with afterDays: 0, everything is allowed at once', withoutCopy, 0, tooLong, { afterDays: 0 }],
    [
      'our choice, with afterDays: Infinity, everything stays disallowed',
      withoutCopy,
      10_000,
      everything,
      { afterDays: Number.POSITIVE_INFINITY },
    ],
    [
      'our choice, with afterDays: Infinity, the copy stays obeyed',
      withCopy,
      10_000,
      stale,
      { afterDays: Number.POSITIVE_INFINITY },
    ],
    ['our choice, a clock that was set back adds no days', withoutCopy, -100, everything],
  ])('%s', ([, entry, days, expected, policy]) => {
    const whole = { ...defaultAccessPolicy, ...policy }
    const [last, now] = failingFor(entry, days, whole)
    expect(originAccessOf(last, now, whole)).toMatchObject(expected)
  })

  describe('the 30 days count only as far as failed attempts show them (RFC 9309 §2.3.1.4)', () => {
    const down = answers(503)
    /** Failures at these times, in days. */
    const failing = (...days: readonly number[]) => days.map((at) => [at * DAY, down] as const)
    const every = (count: number, days: number) => Array.from({ length: count }, (_, i) => i * days)
    test.for<
      readonly [name: string, history: Parameters<typeof after>[0], days: number, isLong: boolean, afterDays?: number]
    >([
      ['two attempts 31 days apart', failing(0, 31), 5, false],
      ['two attempts, before and after the clock jumped by years', failing(0, 20_000), 5, false],
      ['one attempt, and none for 400 days', failing(0), 0, false],
      ['seven at once, and one after the clock jumped', failing(0, 0, 0, 0, 0, 0, 0, 31), 5, false],
      ['six attempts over 30 days', failing(...every(6, 6)), 25, false],
      ['seven attempts, five days apart', failing(...every(7, 5)), 30, true],
      ['seven attempts, just under five days apart', failing(...every(7, 4.99)), 29.94, false],
      ['one attempt each day for 29 days', failing(...every(30, 1)), 29, false],
      ['one attempt each day for 30 days', failing(...every(31, 1)), 30, true],
      ['one attempt each hour for 30 days', failing(...every(721, 1 / 24)), 30, true],
      [
        'a crawler that was stopped for 40 days and then tried each hour',
        failing(0, ...every(24, 1 / 24).map((at) => 40 + at)),
        5 + 23 / 24,
        false,
      ],
      ['a crawler that tries every 10 days', failing(...every(7, 10)), 30, true],
      [
        'two machines whose clocks differ by half a minute',
        failing(...every(60, 0.5).map((at, i) => at + (i % 2) / 2_880)),
        29.5 + 1 / 2_880,
        false,
      ],
      [
        'a clock that repeatedly jumps ahead by 31 days and back',
        failing(...every(100, 0).map((_, i) => (i % 2) * 31)),
        5,
        false,
      ],
      ['two clocks that differ by five days, in turns', failing(...every(100, 0).map((_, i) => (i % 2) * 5)), 5, false],
      ['a clock that was set back, which subtracts that time', failing(...every(6, 5), 15), 15, false],
      ['a clock that was set back by more than has been counted', failing(0, 5, -400, -395), 5, false],
      ...(['blocked-address', 'busy-target', 'no-transport', 'unusable-transport'] as const).flatMap((reason) => {
        const own = every(40, 5).map((at) => [at * DAY, fails(reason)] as const)
        return [
          [`attempts that failed because of the client: ${reason}`, own, 0, false],
          [`${reason}, and then a failure of the site`, [...own, [200 * DAY, down]], 0, false],
        ] as const
      }),
      ['our choice, afterDays: 60, and 55 days of attempts', failing(...every(12, 5)), 55, false, 60],
      ['our choice, afterDays: 60, and 60 days of attempts', failing(...every(13, 5)), 60, true, 60],
      ['our choice, afterDays: 0.5', failing(...every(7, 1)), 0.5, true, 0.5],
      ['our choice, afterDays: 0.7, whose sixth is not exact', failing(...every(7, 1)), 0.7, true, 0.7],
      ['our choice, afterDays: 0', failing(0), 0, true, 0],
      ['our choice, afterDays: Infinity', failing(...every(100, 5)), 495, false, Number.POSITIVE_INFINITY],
    ])('%s', ([, history, days, isLong, afterDays = 30]) => {
      const policy = { ...defaultAccessPolicy, afterDays }
      const entry = after(history, policy)
      expect(entry.unreachableForMs / DAY).toBeCloseTo(days, 6)
      for (const laterMs of [0, 400 * DAY]) {
        const access = originAccessOf(entry, entry.latest.at + laterMs, policy)
        expect(access.holds).toBe(isLong ? 'allow-all' : 'disallow-all')
      }
      expect(entryFrom(entryText(entry), ORIGIN)).toEqual(entry)
    })

    test('after the clock was set back, no days count', () => {
      const entry = after(failing(...every(7, 5)))
      expect(originAccessOf(entry, START + 30 * DAY - MINUTE, defaultAccessPolicy).holds).toBe('allow-all')
      expect(originAccessOf(entry, START + 30 * DAY - MINUTE - 1, defaultAccessPolicy).holds).toBe('disallow-all')
    })

    test('a result resets the count', () => {
      const entry = after([...failing(...every(7, 5)), [31 * DAY, gone], [32 * DAY, down], [33 * DAY, down]])
      expect(entry).toMatchObject({ failures: 2, unreachableForMs: DAY })
    })

    test('our choice, the policy of the reader limits what another process counted', () => {
      const entry = after(failing(...every(4, 5)))
      expect(originAccessOf(entry, entry.latest.at, { ...defaultAccessPolicy, afterDays: 3 }).holds).toBe(
        'disallow-all',
      )
      const more = after(failing(...every(4, 5), 15.001, 15.002, 15.003))
      expect(originAccessOf(more, more.latest.at, { ...defaultAccessPolicy, afterDays: 3 }).holds).toBe('allow-all')
    })
  })

  test('RFC 9309 §2.3.1.4, unreachableSince is the first failure in a row', () => {
    const entry = after([
      [0, success()],
      [DAY, answers(500)],
      [20 * DAY, fails('timeout')],
      [40 * DAY, answers(500)],
    ])
    expect(entry).toMatchObject({ unreachableSince: START + DAY, failures: 3 })
  })

  test.each([
    ['a success', success()],
    ['a 404', gone],
  ])('RFC 9309 §2.3.1.4, %s resets the count of failures', (_, outcome) => {
    const entry = after([
      [0, answers(500)],
      [DAY, answers(500)],
      [2 * DAY, outcome],
      [3 * DAY, answers(500)],
    ])
    expect(entry).toMatchObject({
      unreachableSince: START + 3 * DAY,
      failures: 1,
      nextAttemptAt: START + 3 * DAY + MINUTE,
    })
  })

  test('our choice, the entry keeps the message of a failure', () => {
    const { latest } = after([[0, fails('tls')]])
    expect(latest).toMatchObject({
      kind: 'unreachable',
      reason: 'tls',
      status: undefined,
      detail: 'the message',
      url: URL,
    })
  })
})

describe('the wait after failures', () => {
  /** The wait after `count` failures, in minutes. */
  const waitAfter = (outcome: Outcome, count: number, policy = defaultAccessPolicy) => {
    const failures = Array.from({ length: count }, () => [0, outcome] as const)
    return (after(failures, policy).nextAttemptAt - START) / MINUTE
  }
  /** The waits after each of `count` failures, in minutes. */
  const waits = (outcome: Outcome, count: number, policy = defaultAccessPolicy) =>
    Array.from({ length: count }, (_, i) => waitAfter(outcome, i + 1, policy))

  test.each([
    ['our choice, grows to an hour after a 500', answers(500), [1, 2, 4, 8, 16, 32, 60, 60]],
    ['our choice, also after a 429', answers(429), [1, 2, 4, 8, 16, 32, 60, 60]],
    ['our choice, also after a failed connection', fails('refused'), [1, 2, 4, 8, 16, 32, 60, 60]],
    ['Google, is half as long after a 503', answers(503), [0.5, 1, 2, 4, 8, 16, 30, 30]],
    ['RFC 9110 §10.2.3, is the Retry-After, if there is one', answers(503, { 'retry-after': '300' }), [5, 5, 5]],
    ['our choice, is what an earlier Retry-After left', { ...fails('busy-target'), retryAfterMs: 300_000 }, [5, 5, 5]],
    ['our choice, ignores an invalid Retry-After', answers(500, { 'retry-after': 'soon' }), [1, 2, 4]],
  ])('%s', (_, outcome, minutes) => {
    expect(waits(outcome, minutes.length)).toEqual(minutes)
  })

  test('our choice, stays at an hour after a thousand failures', () => {
    expect(waitAfter(answers(500), 1_100)).toBe(60)
  })

  test('our choice, grows also across a failure with Retry-After', () => {
    const entry = after([
      [0, answers(500)],
      [0, answers(500, { 'retry-after': '600' })],
      [0, answers(500)],
    ])
    expect(entry.nextAttemptAt - START).toBe(4 * MINUTE)
  })

  test.each([
    ['RFC 9110 §10.2.3, seconds', 503, '3600', HOUR],
    ['RFC 9110 §10.2.3, a date', 503, 'Thu, 01 Jan 2026 01:00:00 GMT', HOUR],
    ['RFC 9110 §10.2.3, an RFC 850 date', 503, 'Thursday, 01-Jan-26 01:00:00 GMT', HOUR],
    ['RFC 6585 §4, after a 429', 429, '3600', HOUR],
    ['our choice, after a 500', 500, '3600', HOUR],
    ['our choice, at least minTtlMs', 503, '5', MINUTE],
    ['our choice, zero', 503, '0', MINUTE],
    ['our choice, a date in the past', 503, 'Wed, 31 Dec 2025 00:00:00 GMT', MINUTE],
    ['our choice, at most maxTtlMs', 503, '31536000', 7 * DAY],
    ['our choice, at most maxTtlMs, as a date', 503, 'Thu, 31 Dec 2026 00:00:00 GMT', 7 * DAY],
    ['our choice, more seconds than a JavaScript number can hold', 503, '9'.repeat(400), 7 * DAY],
  ])('%s', (_, status, value, expected) => {
    expect(after([[0, answers(status, { 'retry-after': value })]]).nextAttemptAt - START).toBe(expected)
  })
})

describe('the wait that a response asks for', () => {
  const busy = fails('busy-target')
  test.each<readonly [name: string, outcome: Outcome, expected: number | undefined]>([
    ['RFC 6585 §4, after a 429', answers(429, { 'retry-after': '30' }), 30_000],
    ['RFC 9110 §10.2.3, a date', answers(503, { 'retry-after': 'Thu, 01 Jan 2026 01:00:00 GMT' }), HOUR],
    ['our choice, after a 404', { ...gone, headers: { 'retry-after': '10' } } as Outcome, 10_000],
    ['our choice, after a 200', success({ 'retry-after': '10' }), 10_000],
    ['our choice, at most a day', answers(503, { 'retry-after': '9'.repeat(400) }), DAY],
    ['our choice, not without the header', answers(429), undefined],
    ['our choice, not after zero', answers(429, { 'retry-after': '0' }), undefined],
    ['our choice, not after an invalid value', answers(429, { 'retry-after': 'soon' }), undefined],
    [
      'our choice, not what an earlier request of another site left',
      { ...busy, retryAfterMs: 5 } as Outcome,
      undefined,
    ],
  ])('%s', (_, outcome, expected) => {
    const { latest } = after([[0, outcome]])
    expect(latest.retryAfterMs).toBe(expected)
    expect('retryAfterMs' in latest).toBe(expected !== undefined)
  })

  test('our choice, is in the access of a verdict, also after a failed early refresh', () => {
    const rules = parseRobots(RULES).forCrawler('ExampleBot')
    const accessAt = (history: Parameters<typeof after>[0], at: number) =>
      decide(after(history), rules, `${ORIGIN}/page`, START + at, defaultAccessPolicy).access
    const busyAt = (at: number) => [at, answers(429, { 'retry-after': '30' })] as const
    expect(accessAt([[0, success()], busyAt(2 * DAY)], 2 * DAY)).toMatchObject({ status: 429, retryAfterMs: 30_000 })
    const early = accessAt([[0, success()], busyAt(HOUR)], 2 * HOUR)
    expect(early).toMatchObject({ outcome: 'success', status: 200, checkedAt: START })
    expect(early).not.toHaveProperty('retryAfterMs')
    const failed = { reason: 'status', status: 429, detail: undefined, url: URL, checkedAt: START + HOUR }
    expect(early.failedRefresh).toEqual({ ...failed, retryAfterMs: 30_000 })
    expect(accessAt([[0, success()]], 0)).not.toHaveProperty('failedRefresh')
  })
})

describe('an entry that was stored as JSON', () => {
  const history: readonly (readonly [number, Outcome])[] = [
    [0, success({ etag: '"1"', 'cache-control': `max-age=${'9'.repeat(400)}` })],
    [DAY, answers(503, { 'retry-after': '9'.repeat(400) })],
    [2 * DAY, fails('dns')],
    [3 * DAY, gone],
    [4 * DAY, answers(500)],
  ]
  test.each(history.map(([, { kind }], i) => [i + 1, kind] as const))(
    'our choice, after %i outcomes, the last one %s, gives the same verdicts',
    (count) => {
      const entry = after(history.slice(0, count))
      const restored = JSON.parse(JSON.stringify(entry)) as Entry
      const rules = parseRobots(entry.copy?.bytes ?? '').forCrawler('ExampleBot')
      for (const at of [0, 4 * DAY, 20 * DAY, 50 * DAY]) {
        const now = START + at
        const url = `${ORIGIN}/page`
        expect(decide(restored, rules, url, now, defaultAccessPolicy)).toEqual(
          decide(entry, rules, url, now, defaultAccessPolicy),
        )
        expect(plan(restored, now, defaultAccessPolicy)).toBe(plan(entry, now, defaultAccessPolicy))
      }
      // It also leads to the same next entry.
      const next = [restored, entry].map((last) =>
        settle(last, ORIGIN, answers(503), START + 50 * DAY, defaultAccessPolicy),
      )
      expect(next[0]).toEqual(next[1])
    },
  )
})
