// When the next request may start. All of it is our choice: no standard defines it.
import { describe, expect, test } from 'vitest'
import { type Delay, delayOf, type PaceLimits } from '../src/pace/delay.ts'
import { isWithin, nextMinute, nextVisitTimeAt } from '../src/pace/hours.ts'
import {
  applyPause,
  applyResponse,
  canForget,
  nextSlot,
  type Pace,
  returnSlot,
  type Slot,
  startPace,
  takeSlot,
} from '../src/pace/pace.ts'
import type { BackoffLimits, PaceResponse } from '../src/pace/pushback.ts'
import { parseRobots } from '../src/parse-robots.ts'
import type { DayRange, RequestRate } from '../src/timed-records.ts'

const NOW = Date.UTC(2026, 0, 1)
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** A time on the first of January, UTC; from hour 24 on, on the second. */
const at = (hours: number, minutes = 0) => NOW + hours * HOUR + minutes * MINUTE

describe('the delay and its reason', () => {
  test.each<readonly [name: string, limits: Partial<PaceLimits>, delayMs: number, because: Delay['because']]>([
    ['no delay', { ownDelayMs: 0 }, 0, 'own-delay'],
    ['only the caller asks for one', { ownDelayMs: 1_000 }, 1_000, 'own-delay'],
    ['the site asks for more', { ownDelayMs: 1_000, crawlDelayMs: 5_000 }, 5_000, 'crawl-delay'],
    ['the site asks for less', { ownDelayMs: 5_000, crawlDelayMs: 1_000 }, 5_000, 'own-delay'],
    ['the site asks for the same', { ownDelayMs: 1_000, crawlDelayMs: 1_000 }, 1_000, 'own-delay'],
    ['the site asks for 0', { ownDelayMs: 1_000, crawlDelayMs: 0 }, 1_000, 'own-delay'],
    ['the site asks for a day, without a cap', { ownDelayMs: 0, crawlDelayMs: 86_400_000 }, 86_400_000, 'crawl-delay'],
    [
      'the site asks for more than the cap',
      { ownDelayMs: 1_000, crawlDelayMs: 9_000, maxDelayMs: 5_000 },
      5_000,
      'cap',
    ],
    [
      'the site asks for exactly the cap',
      { ownDelayMs: 1_000, crawlDelayMs: 5_000, maxDelayMs: 5_000 },
      5_000,
      'crawl-delay',
    ],
    [
      'the cap is below the delay of the caller',
      { ownDelayMs: 3_000, crawlDelayMs: 9_000, maxDelayMs: 2_000 },
      3_000,
      'cap',
    ],
    ['a cap does not limit the delay of the caller', { ownDelayMs: 3_000, maxDelayMs: 2_000 }, 3_000, 'own-delay'],
  ])('%s', (_, limits, delayMs, because) => {
    const all = { ownDelayMs: 0, crawlDelayMs: undefined, maxDelayMs: undefined, ...limits }
    expect(delayOf(all, NOW)).toEqual({ delayMs, because })
  })
})

describe('request-rate, whose requests are spread over the period', () => {
  const always = (requests: number, periodMs: number): RequestRate => ({ requests, periodMs, between: undefined })
  const within = (requests: number, periodMs: number, from: number, to: number): RequestRate => ({
    requests,
    periodMs,
    between: { from: from * 60, to: to * 60 },
  })
  const evening = within(1, 10 * MINUTE, 18, 19)

  test.each<
    readonly [name: string, limits: Partial<PaceLimits>, startsAt: number, delayMs: number, because: Delay['because']]
  >([
    ['one in ten seconds', { requestRates: [always(1, 10_000)] }, NOW, 10_000, 'request-rate'],
    ['five in ten seconds', { requestRates: [always(5, 10_000)] }, NOW, 2_000, 'request-rate'],
    ['three in one second', { requestRates: [always(3, 1_000)] }, NOW, 1_000 / 3, 'request-rate'],
    [
      'several rates: the longest delay',
      { requestRates: [always(1, 5_000), always(100, 3_600_000)] },
      NOW,
      36_000,
      'request-rate',
    ],
    [
      'a crawl-delay that asks for more',
      { crawlDelayMs: 20_000, requestRates: [always(1, 10_000)] },
      NOW,
      20_000,
      'crawl-delay',
    ],
    [
      'a crawl-delay that asks for less',
      { crawlDelayMs: 1_000, requestRates: [always(1, 10_000)] },
      NOW,
      10_000,
      'request-rate',
    ],
    ['the caller asks for more', { ownDelayMs: 20_000, requestRates: [always(1, 10_000)] }, NOW, 20_000, 'own-delay'],
    ['a cap', { maxDelayMs: 4_000, requestRates: [always(1, 10_000)] }, NOW, 4_000, 'cap'],
    ['a cap on both', { maxDelayMs: 4_000, crawlDelayMs: 5_000, requestRates: [always(1, 10_000)] }, NOW, 4_000, 'cap'],
    ['in its hours', { requestRates: [evening] }, at(18, 10), 10 * MINUTE, 'request-rate'],
    ['before its hours', { ownDelayMs: 1_000, requestRates: [evening] }, at(17), 1_000, 'own-delay'],
    ['after its hours', { ownDelayMs: 1_000, requestRates: [evening] }, at(19), 1_000, 'own-delay'],
    [
      'its hours begin during the delay',
      { ownDelayMs: MINUTE, requestRates: [evening] },
      at(17, 59),
      10 * MINUTE,
      'request-rate',
    ],
    [
      'its hours end during the delay',
      { ownDelayMs: 1_000, requestRates: [evening] },
      at(18, 55),
      5 * MINUTE,
      'request-rate',
    ],
    ['a cap in its hours', { maxDelayMs: 2_000, requestRates: [evening] }, at(18, 10), 2_000, 'cap'],
    [
      'a rate with hours and one without',
      { requestRates: [within(1, 1_000, 22, 6), always(1, 10_000)] },
      at(23),
      10_000,
      'request-rate',
    ],
    [
      'two rates with adjacent hours',
      { requestRates: [within(1, HOUR, 18, 19), within(1, 2 * HOUR, 19, 20)] },
      at(18, 50),
      70 * MINUTE,
      'request-rate',
    ],
    [
      'hours that span midnight',
      { requestRates: [within(1, 3 * HOUR, 22, 1)] },
      at(23, 30),
      90 * MINUTE,
      'request-rate',
    ],
    [
      'two rates that cover the day: until the shorter delay is over in its own half',
      { requestRates: [within(1, 100 * DAY, 0, 12), within(1, 10 * DAY, 12, 24)] },
      at(0),
      10 * DAY + 12 * HOUR,
      'request-rate',
    ],
    [
      'delays beyond the range of dates',
      { requestRates: [within(1, Number.MAX_SAFE_INTEGER, 0, 12), within(1, Number.MAX_SAFE_INTEGER, 12, 24)] },
      NOW,
      Number.MAX_SAFE_INTEGER,
      'request-rate',
    ],
  ])('%s', (_, limits, startsAt, delayMs, because) => {
    const delay = delayOf({ ownDelayMs: 0, maxDelayMs: undefined, crawlDelayMs: undefined, ...limits }, startsAt)
    expect(delay.because).toBe(because)
    expect(delay.delayMs / delayMs).toBeCloseTo(1, 9)
  })

  test('only the first 24 rates with hours are used, so that a large file costs little', () => {
    const rates = Array.from({ length: 20_000 }, (_, n) => within(1, (n + 1) * DAY, n % 24, (n % 24) + 1))
    const limits: PaceLimits = { ownDelayMs: 0, maxDelayMs: undefined, crawlDelayMs: undefined, requestRates: rates }
    // The rate of each hour asks for one day more than the one before, so the first one allows a
    // request after a day.
    expect(delayOf(limits, NOW)).toEqual({ delayMs: DAY, because: 'request-rate' })
  })

  test('agrees with a search minute by minute', () => {
    let seed = 1
    const randomBelow = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    let long = 0
    for (let n = 0; n < 400; n++) {
      const rates = Array.from({ length: 1 + randomBelow(4) }, (): RequestRate => {
        const from = randomBelow(24) * 60
        const to = (from + 60 * (1 + randomBelow(22))) % (24 * 60)
        return {
          requests: 1 + randomBelow(2),
          periodMs: (1 + randomBelow(3_000)) * MINUTE * 2,
          between: randomBelow(4) > 0 ? { from, to } : undefined,
        }
      })
      const startsAt = NOW + randomBelow(24 * 60) * MINUTE
      const ownDelayMs = randomBelow(30) * MINUTE
      let free = startsAt + ownDelayMs
      const holds = ({ requests, periodMs, between }: RequestRate) =>
        free < startsAt + periodMs / requests && (between === undefined || isWithin(between, free))
      while (rates.some(holds)) free += MINUTE
      const { delayMs } = delayOf(
        { ownDelayMs, maxDelayMs: undefined, crawlDelayMs: undefined, requestRates: rates },
        startsAt,
      )
      expect([n, delayMs / MINUTE]).toEqual([n, (free - startsAt) / MINUTE])
      if (delayMs > DAY) long++
    }
    expect(long).toBeGreaterThan(20)
  })

  test('accepts the values that parseRobots returns', () => {
    const file = 'User-agent: *\nCrawl-delay: 2\nRequest-rate: 1/10s 1800-1900\nVisit-time: 0600-2300\n'
    const { crawlDelayMs, requestRates, visitTimes } = parseRobots(file).forCrawler('ExampleBot')
    const limits: PaceLimits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs, requestRates, visitTimes }
    expect(delayOf(limits, at(12))).toEqual({ delayMs: 2_000, because: 'crawl-delay' })
    expect(delayOf(limits, at(18, 30))).toEqual({ delayMs: 10_000, because: 'request-rate' })
    expect(nextVisitTimeAt(visitTimes, at(23, 30))).toBe(at(30))
  })
})

describe('visit-time, parts of the UTC day', () => {
  const morning: DayRange = { from: 6 * 60, to: 8 * 60 + 45 }
  const night: DayRange = { from: 23 * 60, to: 60 }
  const wholeDay: DayRange = { from: 0, to: 1440 }

  test.each<readonly [name: string, hours: readonly DayRange[], at: number, opens: number]>([
    ['none: at any time', [], at(3), at(3)],
    ['inside', [morning], at(7), at(7)],
    ['at the beginning', [morning], at(6), at(6)],
    ['just before', [morning], at(6) - 1, at(6)],
    ['at the end, which is excluded', [morning], at(8, 45), at(30)],
    ['just before the end', [morning], at(8, 45) - 1, at(8, 45) - 1],
    ['spanning midnight, before it', [night], at(23, 30), at(23, 30)],
    ['spanning midnight, after it', [night], at(24, 30), at(24, 30)],
    ['spanning midnight, outside', [night], at(12), at(23)],
    ['the first of several', [morning, night], at(12), at(23)],
    ['any of several', [morning, night], at(7), at(7)],
    ['the whole day', [wholeDay], at(23, 59), at(23, 59)],
    ['until midnight', [{ from: 1080, to: 0 }], at(17), at(18)],
    ['at time 0', [morning], 0, 6 * HOUR],
  ])('%s', (_, hours, now, opens) => {
    expect(nextVisitTimeAt(hours, now)).toBe(opens)
  })

  test('nextMinute returns a later time, today or tomorrow', () => {
    expect(nextMinute(6 * 60, at(5))).toBe(at(6))
    expect(nextMinute(6 * 60, at(6))).toBe(at(30))
    expect(nextMinute(1440, at(6))).toBe(at(24))
  })
})

/** The initial pace with these changes. */
const paceWith = (some: Partial<Pace>): Pace => ({ ...startPace, ...some })

describe('the next slot', () => {
  const delay: Delay = { delayMs: 5_000, because: 'crawl-delay' }

  test('is free at the beginning', () => {
    expect(nextSlot(startPace, NOW)).toEqual({ at: NOW, because: 'none' })
  })

  test('comes after the delay, counted from the start of the last request', () => {
    const pace = takeSlot(paceWith({ nextSlotAt: NOW - 60_000 }), NOW, delay)
    expect(nextSlot(pace, NOW + 1)).toEqual({ at: NOW + 5_000, because: 'crawl-delay' })
    expect(nextSlot(pace, NOW + 5_000)).toEqual({ at: NOW + 5_000, because: 'none' })
  })

  test('keeps a longer pause from a response, and its reason', () => {
    const pace = takeSlot(paceWith({ nextSlotAt: NOW + 60_000, because: 'retry-after', pushbacks: 1 }), NOW, delay)
    expect(pace).toMatchObject({ nextSlotAt: NOW + 60_000, because: 'retry-after' })
  })

  test('keeps the count of pushbacks when a request starts', () => {
    expect(takeSlot(paceWith({ nextSlotAt: NOW, pushbacks: 3, maxBackoffMs: 1 }), NOW, delay).pushbacks).toBe(3)
  })

  test('is numbered consecutively', () => {
    const second = takeSlot(takeSlot(startPace, NOW, delay), NOW + 5_000, delay)
    expect(second.slots).toBe(2)
    expect(takeSlot(paceWith({ nextSlotAt: NOW + 60_000, slots: 7 }), NOW, delay).slots).toBe(8)
  })

  test.each<readonly [name: string, pace: Partial<Pace>, slot: Slot]>([
    ['waits for visit-time', {}, { at: at(6), because: 'visit-time' }],
    ['waits for visit-time after a shorter pause', { nextSlotAt: at(5) }, { at: at(6), because: 'visit-time' }],
    [
      'waits for a pause that ends in visit-time',
      { nextSlotAt: at(7), because: 'backoff' },
      { at: at(7), because: 'backoff' },
    ],
    [
      'waits until the next day for a pause that ends after visit-time',
      { nextSlotAt: at(9) },
      { at: at(30), because: 'visit-time' },
    ],
  ])('%s', (_, pace, slot) => {
    expect(nextSlot(paceWith(pace), at(1), [{ from: 6 * 60, to: 8 * 60 }])).toEqual(slot)
  })

  describe('after a slot was returned', () => {
    const taken = takeSlot(startPace, NOW, delay)

    test('is free again', () => {
      expect(nextSlot(returnSlot(taken, 1, NOW + 100), NOW + 100)).toEqual({ at: NOW + 100, because: 'none' })
    })

    test('stays the same if another slot was taken since', () => {
      const next = takeSlot(taken, NOW + 5_000, delay)
      expect(returnSlot(next, 1, NOW + 5_100)).toBe(next)
    })

    test('does not come before the end of a pushback pause', () => {
      const paused = applyResponse(taken, { status: 429, retryAfter: '60' }, 1, NOW)
      expect(returnSlot(paused, 1, NOW + 100)).toBe(paused)
    })

    test.each([
      [{ status: 429, retryAfter: '2' }, 2, 'retry-after'],
      [{ status: 503, retryAfter: undefined }, 5, 'backoff'],
    ] as const)('comes after the pause from %j, which was shorter than the delay', (response, seconds, because) => {
      const minute = takeSlot(takeSlot(startPace, NOW, delay), NOW, { delayMs: 60_000, because: 'own-delay' })
      const paused = applyResponse(minute, response, 1, NOW)
      expect(paused).toMatchObject({ nextSlotAt: NOW + 60_000, because: 'own-delay' })
      expect(nextSlot(returnSlot(paused, 2, NOW + 100), NOW + 100)).toEqual({
        at: NOW + seconds * 1_000,
        because,
      })
      expect(nextSlot(returnSlot(paused, 2, NOW + 30_000), NOW + 30_000)).toMatchObject({ because: 'none' })
    })

    test('stays the same if it was free already', () => {
      expect(returnSlot(taken, 1, NOW + 60_000)).toBe(taken)
    })
  })
})

describe('responses of pages', () => {
  /**
   * The pauses after each of `count` responses with this status, in seconds. Each request starts
   * this many seconds after its slot is free.
   */
  function pauses(status: number, count: number, backoff?: BackoffLimits, lateSeconds = 0): number[] {
    let pace = startPace
    return Array.from({ length: count }, () => {
      const now = Math.max(NOW, pace.nextSlotAt + lateSeconds * SECOND)
      pace = takeSlot(pace, now, { delayMs: 0, because: 'own-delay' })
      pace = applyResponse(pace, { status, retryAfter: undefined, backoff }, pace.slots, now)
      return (pace.nextSlotAt - now) / SECOND
    })
  }

  test.each([429, 430, 503, 529])('%i without Retry-After causes pauses that double up to five minutes', (status) => {
    expect(pauses(status, 9)).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300])
  })

  test.each<readonly [name: string, backoff: BackoffLimits, seconds: readonly number[]]>([
    ['grow by the factor', { firstMs: 1_000, maxMs: 20_000, factor: 3 }, [1, 3, 9, 20, 20]],
    ['stay the same with a factor of 1', { firstMs: 1_000, maxMs: 20_000, factor: 1 }, [1, 1, 1, 1, 1]],
    ['grow by a fraction', { firstMs: 1_000, maxMs: 20_000, factor: 1.5 }, [1, 1.5, 2.25, 3.375, 5.0625]],
    ['are never longer than maxMs, even the first', { firstMs: 60_000, maxMs: 2_000, factor: 2 }, [2, 2, 2, 2, 2]],
    [
      'are at most a day',
      { firstMs: 1_000, maxMs: Number.POSITIVE_INFINITY, factor: 1_000 },
      [1, 1_000, 86_400, 86_400, 86_400],
    ],
    [
      'are at most a day, from the second with an infinite factor',
      { firstMs: 1_000, maxMs: Number.POSITIVE_INFINITY, factor: Number.POSITIVE_INFINITY },
      [1, 86_400, 86_400, 86_400, 86_400],
    ],
  ])('pauses of a custom backoff %s', (_, backoff, seconds) => {
    expect(pauses(429, 5, backoff)).toEqual(seconds)
  })

  test('a series is over if no request starts for the longest pause of its backoff', () => {
    expect(pauses(429, 4, undefined, 299)).toEqual([5, 10, 20, 40])
    expect(pauses(429, 4, undefined, 300)).toEqual([5, 5, 5, 5])
    const hour = { firstMs: 5_000, maxMs: 3_600_000, factor: 2 }
    expect(pauses(429, 4, hour, 3_599)).toEqual([5, 10, 20, 40])
    expect(pauses(429, 4, hour, 3_600)).toEqual([5, 5, 5, 5])
  })

  test.each<readonly [name: string, more: Partial<PaceResponse>, seconds: number, because: string]>([
    ['a requested time', { requestedMs: 30_000 }, 30, 'retry-after'],
    ['a requested time counts in place of Retry-After', { requestedMs: 30_000, retryAfter: '60' }, 30, 'retry-after'],
    ['a requested time is at most a day', { requestedMs: Number.POSITIVE_INFINITY }, 86_400, 'retry-after'],
    ['a requested time of 0 counts as absent', { status: 429, requestedMs: 0 }, 5, 'backoff'],
    ['a negative requested time counts as absent', { status: 429, requestedMs: -30_000 }, 5, 'backoff'],
    ['a requested time that is not a number counts as absent', { status: 429, requestedMs: Number.NaN }, 5, 'backoff'],
    ['what the caller calls a pushback is one', { isPushback: true }, 5, 'backoff'],
    ['what the caller calls none is none', { status: 429, retryAfter: '60', isPushback: false }, 0, 'own-delay'],
    ['status 0, without a response, is none', { status: 0 }, 0, 'own-delay'],
    ['status 0 is a pushback if the caller says so', { status: 0, isPushback: true }, 5, 'backoff'],
  ])('%s', (_, more, seconds, because) => {
    const pace = applyResponse(startPace, { status: 200, retryAfter: undefined, ...more }, 1, NOW)
    expect(pace).toMatchObject({ nextSlotAt: seconds && NOW + seconds * SECOND, because, pushbacks: seconds && 1 })
  })

  test('a Retry-After of years is limited to a day', () => {
    const retryAfter = '9'.repeat(400)
    const { nextSlotAt } = applyResponse(startPace, { status: 429, retryAfter }, 1, NOW)
    expect(nextSlotAt - NOW).toBe(24 * 60 * 60 * SECOND)
  })

  test('the pause stays at five minutes after two thousand pushbacks', () => {
    expect(pauses(503, 2_000).at(-1)).toBe(300)
  })

  test.each([
    ['RFC 9110 §10.2.3, seconds', '120', 120],
    ['RFC 9110 §10.2.3, a date', 'Thu, 01 Jan 2026 00:02:00 GMT', 120],
  ])('Retry-After: %s', (_, retryAfter, seconds) => {
    const pace = applyResponse(startPace, { status: 503, retryAfter }, 1, NOW)
    expect(pace).toMatchObject({ nextSlotAt: NOW + seconds * SECOND, pushbacks: 1, because: 'retry-after' })
  })

  test.each([
    ['zero', '0'],
    ['a date in the past', 'Wed, 31 Dec 2025 00:00:00 GMT'],
    ['the present', 'Thu, 01 Jan 2026 00:00:00 GMT'],
    ['an invalid value', 'soon'],
  ])('Retry-After: %s counts as absent, so the backoff applies', (_, retryAfter) => {
    const pace = { ...startPace, slots: 3, pushbacks: 2 }
    expect(applyResponse(pace, { status: 503, retryAfter }, 3, NOW)).toMatchObject({
      nextSlotAt: NOW + 20 * SECOND,
      pushbacks: 3,
      because: 'backoff',
    })
  })

  test('a pause never makes the next slot earlier', () => {
    const pace = paceWith({ nextSlotAt: NOW + 60 * SECOND, because: 'crawl-delay' })
    expect(applyResponse(pace, { status: 503, retryAfter: '1' }, 1, NOW)).toMatchObject({
      nextSlotAt: NOW + 60 * SECOND,
      because: 'crawl-delay',
    })
  })

  test.each([200, 301, 304, 404, 500, 502])('%i ends the growth and leaves the slot unchanged', (status) => {
    const pace = paceWith({ nextSlotAt: NOW + 60 * SECOND, pushbacks: 4, slots: 9, slotsAtPushback: 8 })
    expect(applyResponse(pace, { status, retryAfter: undefined }, 9, NOW)).toEqual({ ...pace, pushbacks: 0 })
  })

  test.each([0, 200, 301, 403, 404, 500, 502])('%i with a time in Retry-After is a pushback', (status) => {
    const pace = paceWith({ nextSlotAt: NOW + 60 * SECOND, pushbacks: 4, slots: 9, slotsAtPushback: 8 })
    expect(applyResponse(pace, { status, retryAfter: '120' }, 9, NOW)).toMatchObject({
      nextSlotAt: NOW + 120 * SECOND,
      pushbacks: 5,
      because: 'retry-after',
    })
    expect(applyResponse(pace, { status, retryAfter: '0' }, 9, NOW)).toEqual({ ...pace, pushbacks: 0 })
  })

  describe('of requests that were under way together', () => {
    const free: Delay = { delayMs: 0, because: 'own-delay' }
    const three = takeSlot(takeSlot(takeSlot(startPace, NOW, free), NOW, free), NOW, free)
    const busy = { status: 429, retryAfter: undefined }
    const first = applyResponse(three, busy, 2, NOW + 100)

    test('a burst of 429 counts as one pushback with one pause', () => {
      expect(first).toMatchObject({ pushbacks: 1, nextSlotAt: NOW + 100 + 5_000 })
      expect(applyResponse(applyResponse(first, busy, 1, NOW + 200), busy, 3, NOW + 300)).toEqual(first)
    })

    test('a later Retry-After applies if it is longer', () => {
      const pace = applyResponse(first, { status: 503, retryAfter: '60' }, 3, NOW + 200)
      expect(pace).toMatchObject({ pushbacks: 1, nextSlotAt: NOW + 60_200, because: 'retry-after' })
      expect(applyResponse(pace, { status: 503, retryAfter: '1' }, 1, NOW + 300)).toMatchObject({
        pushbacks: 1,
        nextSlotAt: NOW + 60_200,
      })
    })

    test('a success among them does not end the growth', () => {
      expect(applyResponse(first, { status: 200, retryAfter: undefined }, 3, NOW + 200)).toBe(first)
    })

    test('the response to the next request counts again, as a pushback or as the end', () => {
      const next = takeSlot(first, NOW + 5_100, free)
      expect(applyResponse(next, busy, 4, NOW + 5_200)).toMatchObject({ pushbacks: 2, nextSlotAt: NOW + 15_200 })
      expect(applyResponse(next, { status: 200, retryAfter: undefined }, 4, NOW + 5_200).pushbacks).toBe(0)
    })
  })
})

describe('a pause that is not the response to a request', () => {
  const minute: Pace = takeSlot(startPace, NOW, { delayMs: MINUTE, because: 'crawl-delay' })

  test('delays the next slot, with its reason', () => {
    const pace = applyPause(startPace, 30_000, 'rate-limit', NOW)
    expect(nextSlot(pace, NOW)).toEqual({ at: NOW + 30_000, because: 'rate-limit' })
    expect(pace.pushbacks).toBe(0)
  })

  test('does not shorten a longer one', () => {
    expect(nextSlot(applyPause(minute, 30_000, 'rate-limit', NOW), NOW)).toMatchObject({ because: 'crawl-delay' })
  })

  test('stays if a slot is returned', () => {
    const pace = returnSlot(applyPause(minute, 30_000, 'rate-limit', NOW), 1, NOW)
    expect(nextSlot(pace, NOW)).toEqual({ at: NOW + 30_000, because: 'rate-limit' })
  })

  test('lasts at most a day', () => {
    expect(applyPause(startPace, Number.POSITIVE_INFINITY, 'retry-after', NOW).nextSlotAt).toBe(NOW + DAY)
  })
})

describe('canForget', () => {
  test.each<readonly [name: string, pace: Partial<Pace>, expected: boolean]>([
    ['at the beginning', {}, true],
    ['the next slot is free', { nextSlotAt: NOW, pushbacks: 0 }, true],
    ['the next slot is not free yet', { nextSlotAt: NOW + 1, pushbacks: 0 }, false],
    ['just after a pushback', { nextSlotAt: NOW, pushbacks: 1, maxBackoffMs: 7_000 }, false],
    [
      'less than the longest backoff after a pushback',
      { nextSlotAt: NOW - 6_999, pushbacks: 1, maxBackoffMs: 7_000 },
      false,
    ],
    ['the longest backoff after a pushback', { nextSlotAt: NOW - 7_000, pushbacks: 1, maxBackoffMs: 7_000 }, true],
    ['after a series that has ended', { nextSlotAt: NOW, pushbacks: 0, maxBackoffMs: 7_000 }, true],
  ])('%s', (_, pace, expected) => {
    expect(canForget(paceWith(pace), NOW)).toBe(expected)
  })
})
