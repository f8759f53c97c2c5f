// When the next request to an origin may leave. All of it is our choice: no standard speaks about pace.
import { describe, expect, test } from 'vitest'
import { type Delay, delayOf, type PaceLimits, type Rate } from '../src/pace/delay.ts'
import { type Hours, isWithin, nextMinute, opensAt } from '../src/pace/hours.ts'
import {
  applyResponse,
  canForget,
  nextSlot,
  type Pace,
  returnSlot,
  type Slot,
  startPace,
  takeSlot,
} from '../src/pace/pace.ts'
import { parseRobots } from '../src/parse.ts'

const NOW = Date.UTC(2026, 0, 1)
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** A moment of the first of January, UTC. */
const at = (hours: number, minutes = 0) => NOW + hours * HOUR + minutes * MINUTE

describe('the delay, and who asked for it', () => {
  test.each<readonly [name: string, wishes: Partial<PaceLimits>, delayMs: number, because: Delay['because']]>([
    ['nobody asks', { ownDelayMs: 0 }, 0, 'own-delay'],
    ['the caller alone', { ownDelayMs: 1_000 }, 1_000, 'own-delay'],
    ['the site asks for more', { ownDelayMs: 1_000, crawlDelayMs: 5_000 }, 5_000, 'crawl-delay'],
    ['the site asks for less', { ownDelayMs: 5_000, crawlDelayMs: 1_000 }, 5_000, 'own-delay'],
    ['the site asks for the same', { ownDelayMs: 1_000, crawlDelayMs: 1_000 }, 1_000, 'own-delay'],
    ['the site asks for none', { ownDelayMs: 1_000, crawlDelayMs: 0 }, 1_000, 'own-delay'],
    [
      'the site asks for a day, and there is no cap',
      { ownDelayMs: 0, crawlDelayMs: 86_400_000 },
      86_400_000,
      'crawl-delay',
    ],
    [
      'the site asks for more than the cap',
      { ownDelayMs: 1_000, crawlDelayMs: 9_000, maxDelayMs: 5_000 },
      5_000,
      'cap',
    ],
    ['the site asks for the cap', { ownDelayMs: 1_000, crawlDelayMs: 5_000, maxDelayMs: 5_000 }, 5_000, 'crawl-delay'],
    [
      'the cap is under what the caller wants',
      { ownDelayMs: 3_000, crawlDelayMs: 9_000, maxDelayMs: 2_000 },
      3_000,
      'cap',
    ],
    ['a cap alone does not bind the caller', { ownDelayMs: 3_000, maxDelayMs: 2_000 }, 3_000, 'own-delay'],
  ])('%s', (_, wishes, delayMs, because) => {
    const all = { ownDelayMs: 0, crawlDelayMs: undefined, maxDelayMs: undefined, ...wishes }
    expect(delayOf(all, NOW)).toEqual({ delayMs, because })
  })
})

describe('request-rate: requests are spread over the period', () => {
  const always = (requests: number, periodMs: number): Rate => ({ requests, periodMs, between: undefined })
  const within = (requests: number, periodMs: number, from: number, to: number): Rate => ({
    requests,
    periodMs,
    between: { from: from * 60, to: to * 60 },
  })
  const evening = within(1, 10 * MINUTE, 18, 19)

  test.each<
    readonly [name: string, wishes: Partial<PaceLimits>, leavesAt: number, delayMs: number, because: Delay['because']]
  >([
    ['one in ten seconds', { requestRates: [always(1, 10_000)] }, NOW, 10_000, 'request-rate'],
    ['five in ten seconds', { requestRates: [always(5, 10_000)] }, NOW, 2_000, 'request-rate'],
    ['three in one second', { requestRates: [always(3, 1_000)] }, NOW, 1_000 / 3, 'request-rate'],
    [
      'of several, each is kept',
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
    ['at its time of day', { requestRates: [evening] }, at(18, 10), 10 * MINUTE, 'request-rate'],
    ['before it', { ownDelayMs: 1_000, requestRates: [evening] }, at(17), 1_000, 'own-delay'],
    ['after it', { ownDelayMs: 1_000, requestRates: [evening] }, at(19), 1_000, 'own-delay'],
    [
      'it begins within the pause',
      { ownDelayMs: MINUTE, requestRates: [evening] },
      at(17, 59),
      10 * MINUTE,
      'request-rate',
    ],
    [
      'it ends within the pause',
      { ownDelayMs: 1_000, requestRates: [evening] },
      at(18, 55),
      5 * MINUTE,
      'request-rate',
    ],
    ['a cap at its time of day', { maxDelayMs: 2_000, requestRates: [evening] }, at(18, 10), 2_000, 'cap'],
    [
      'one at each time of day, as many sites write it',
      { requestRates: [within(1, 1_000, 22, 6), always(1, 10_000)] },
      at(23),
      10_000,
      'request-rate',
    ],
    [
      'where one ends, another begins',
      { requestRates: [within(1, HOUR, 18, 19), within(1, 2 * HOUR, 19, 20)] },
      at(18, 50),
      70 * MINUTE,
      'request-rate',
    ],
    ['over midnight', { requestRates: [within(1, 3 * HOUR, 22, 1)] }, at(23, 30), 90 * MINUTE, 'request-rate'],
    [
      'all day by two halves: until the shorter pause is over in its own half',
      { requestRates: [within(1, 100 * DAY, 0, 12), within(1, 10 * DAY, 12, 24)] },
      at(0),
      10 * DAY + 12 * HOUR,
      'request-rate',
    ],
    [
      'never to be over by any clock',
      { requestRates: [within(1, Number.MAX_SAFE_INTEGER, 0, 12), within(1, Number.MAX_SAFE_INTEGER, 12, 24)] },
      NOW,
      Number.MAX_SAFE_INTEGER,
      'request-rate',
    ],
  ])('%s', (_, wishes, leavesAt, delayMs, because) => {
    const delay = delayOf({ ownDelayMs: 0, maxDelayMs: undefined, crawlDelayMs: undefined, ...wishes }, leavesAt)
    expect(delay.because).toBe(because)
    expect(delay.delayMs / delayMs).toBeCloseTo(1, 9)
  })

  test('a file of such lines costs next to nothing: twenty-four with hours are looked at', () => {
    const rates = Array.from({ length: 20_000 }, (_, n) => within(1, (n + 1) * DAY, n % 24, (n % 24) + 1))
    const wishes: PaceLimits = { ownDelayMs: 0, maxDelayMs: undefined, crawlDelayMs: undefined, requestRates: rates }
    // Each hour asks for one day more than the one before; the first of them is free after a day.
    expect(delayOf(wishes, NOW)).toEqual({ delayMs: DAY, because: 'request-rate' })
  })

  test('the slow way says the same: minute by minute', () => {
    let seed = 1
    const dice = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    let long = 0
    for (let n = 0; n < 400; n++) {
      const rates = Array.from({ length: 1 + dice(4) }, (): Rate => {
        const from = dice(24) * 60
        const to = (from + 60 * (1 + dice(22))) % (24 * 60)
        return {
          requests: 1 + dice(2),
          periodMs: (1 + dice(3_000)) * MINUTE * 2,
          between: dice(4) > 0 ? { from, to } : undefined,
        }
      })
      const leavesAt = NOW + dice(24 * 60) * MINUTE
      const ownDelayMs = dice(30) * MINUTE
      let free = leavesAt + ownDelayMs
      const holds = ({ requests, periodMs, between }: Rate) =>
        free < leavesAt + periodMs / requests && (between === undefined || isWithin(between, free))
      while (rates.some(holds)) free += MINUTE
      const { delayMs } = delayOf(
        { ownDelayMs, maxDelayMs: undefined, crawlDelayMs: undefined, requestRates: rates },
        leavesAt,
      )
      expect([n, delayMs / MINUTE]).toEqual([n, (free - leavesAt) / MINUTE])
      if (delayMs > DAY) long++
    }
    expect(long).toBeGreaterThan(20)
  })

  test('what robots.txt says is taken as it is', () => {
    const file = 'User-agent: *\nCrawl-delay: 2\nRequest-rate: 1/10s 1800-1900\nVisit-time: 0600-2300\n'
    const { crawlDelayMs, requestRates, visitTimes } = parseRobots(file).forCrawler('ExampleBot')
    const wishes: PaceLimits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs, requestRates, visitTimes }
    expect(delayOf(wishes, at(12))).toEqual({ delayMs: 2_000, because: 'crawl-delay' })
    expect(delayOf(wishes, at(18, 30))).toEqual({ delayMs: 10_000, because: 'request-rate' })
    expect(opensAt(visitTimes, at(23, 30))).toBe(at(30))
  })
})

describe('visit-time: parts of the UTC day', () => {
  const morning: Hours = { from: 6 * 60, to: 8 * 60 + 45 }
  const night: Hours = { from: 23 * 60, to: 60 }
  const wholeDay: Hours = { from: 0, to: 1440 }

  test.each<readonly [name: string, hours: readonly Hours[], at: number, opens: number]>([
    ['none: at any time', [], at(3), at(3)],
    ['within', [morning], at(7), at(7)],
    ['at its first moment', [morning], at(6), at(6)],
    ['just before', [morning], at(6) - 1, at(6)],
    ['the end is not part of it', [morning], at(8, 45), at(30)],
    ['its last moment', [morning], at(8, 45) - 1, at(8, 45) - 1],
    ['over midnight, before', [night], at(23, 30), at(23, 30)],
    ['over midnight, after', [night], at(24, 30), at(24, 30)],
    ['over midnight, outside', [night], at(12), at(23)],
    ['the first of several', [morning, night], at(12), at(23)],
    ['any of several', [morning, night], at(7), at(7)],
    ['the whole day', [wholeDay], at(23, 59), at(23, 59)],
    ['until midnight', [{ from: 1080, to: 0 }], at(17), at(18)],
    ['before 1970, which no clock says', [morning], 0, 6 * HOUR],
  ])('%s', (_, hours, now, opens) => {
    expect(opensAt(hours, now)).toBe(opens)
  })

  test('the next such minute comes after now, today or tomorrow', () => {
    expect(nextMinute(6 * 60, at(5))).toBe(at(6))
    expect(nextMinute(6 * 60, at(6))).toBe(at(30))
    expect(nextMinute(1440, at(6))).toBe(at(24))
  })
})

/** A pace with nothing said but this. */
const paceWith = (some: Partial<Pace>): Pace => ({ ...startPace, ...some })

describe('the slot', () => {
  const delay: Delay = { delayMs: 5_000, because: 'crawl-delay' }

  test('the first one is free', () => {
    expect(nextSlot(startPace, NOW)).toEqual({ at: NOW, because: 'none' })
  })

  test('the next one comes after the delay, counted from when this one left', () => {
    const pace = takeSlot(paceWith({ nextSlotAt: NOW - 60_000 }), NOW, delay)
    expect(nextSlot(pace, NOW + 1)).toEqual({ at: NOW + 5_000, because: 'crawl-delay' })
    expect(nextSlot(pace, NOW + 5_000)).toEqual({ at: NOW + 5_000, because: 'none' })
  })

  test('a longer pause that an answer asked for stays, and so does its reason', () => {
    const pace = takeSlot(paceWith({ nextSlotAt: NOW + 60_000, because: 'retry-after', pushbacks: 1 }), NOW, delay)
    expect(pace).toMatchObject({ nextSlotAt: NOW + 60_000, because: 'retry-after' })
  })

  test('leaving does not forget that the site has pushed back', () => {
    expect(takeSlot(paceWith({ nextSlotAt: NOW, pushbacks: 3 }), NOW, delay).pushbacks).toBe(3)
  })

  test('slots are numbered', () => {
    const second = takeSlot(takeSlot(startPace, NOW, delay), NOW + 5_000, delay)
    expect(second.slots).toBe(2)
    expect(takeSlot(paceWith({ nextSlotAt: NOW + 60_000, slots: 7 }), NOW, delay).slots).toBe(8)
  })

  test.each<readonly [name: string, pace: Partial<Pace>, slot: Slot]>([
    ['visit-time closes it', {}, { at: at(6), because: 'visit-time' }],
    ['a pause that ends before that says nothing', { nextSlotAt: at(5) }, { at: at(6), because: 'visit-time' }],
    ['a pause that ends in it', { nextSlotAt: at(7), because: 'backoff' }, { at: at(7), because: 'backoff' }],
    ['a pause that ends after it: the next day', { nextSlotAt: at(9) }, { at: at(30), because: 'visit-time' }],
  ])('%s', (_, pace, slot) => {
    expect(nextSlot(paceWith(pace), at(1), [{ from: 6 * 60, to: 8 * 60 }])).toEqual(slot)
  })

  describe('that is given back', () => {
    const taken = takeSlot(startPace, NOW, delay)

    test('is free again', () => {
      expect(nextSlot(returnSlot(taken, 1, NOW + 100), NOW + 100)).toEqual({ at: NOW + 100, because: 'none' })
    })

    test('is not, where another was taken since', () => {
      const next = takeSlot(taken, NOW + 5_000, delay)
      expect(returnSlot(next, 1, NOW + 5_100)).toBe(next)
    })

    test('does not end a pause that an answer asked for', () => {
      const pushedBack = applyResponse(taken, { status: 429, retryAfter: '60' }, 1, NOW)
      expect(returnSlot(pushedBack, 1, NOW + 100)).toBe(pushedBack)
    })

    test.each([
      [{ status: 429, retryAfter: '2' }, 2, 'retry-after'],
      [{ status: 503, retryAfter: undefined }, 5, 'backoff'],
    ] as const)('keeps a pause by %j that is shorter than its own', (answer, seconds, because) => {
      const minute = takeSlot(takeSlot(startPace, NOW, delay), NOW, { delayMs: 60_000, because: 'own-delay' })
      const pushedBack = applyResponse(minute, answer, 1, NOW)
      expect(pushedBack).toMatchObject({ nextSlotAt: NOW + 60_000, because: 'own-delay' })
      expect(nextSlot(returnSlot(pushedBack, 2, NOW + 100), NOW + 100)).toEqual({
        at: NOW + seconds * 1_000,
        because,
      })
      expect(nextSlot(returnSlot(pushedBack, 2, NOW + 30_000), NOW + 30_000)).toMatchObject({ because: 'none' })
    })

    test('long after, changes nothing', () => {
      expect(returnSlot(taken, 1, NOW + 60_000)).toBe(taken)
    })
  })
})

describe('answers of pages', () => {
  /** Pauses after each of so many answers with that status, in seconds. */
  function pauses(status: number, count: number): number[] {
    let pace = startPace
    return Array.from({ length: count }, () => {
      pace = takeSlot({ ...pace, nextSlotAt: 0 }, NOW, { delayMs: 0, because: 'own-delay' })
      pace = applyResponse(pace, { status, retryAfter: undefined }, pace.slots, NOW)
      return (pace.nextSlotAt - NOW) / SECOND
    })
  }

  test.each([429, 503])('%i without Retry-After: pauses that double up to five minutes', (status) => {
    expect(pauses(status, 9)).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300])
  })

  test('our choice, a Retry-After of years is a day', () => {
    const retryAfter = '9'.repeat(400)
    const { nextSlotAt } = applyResponse(startPace, { status: 429, retryAfter }, 1, NOW)
    expect(nextSlotAt - NOW).toBe(24 * 60 * 60 * SECOND)
  })

  test('two thousand of them are still no more than five minutes', () => {
    expect(pauses(503, 2_000).at(-1)).toBe(300)
  })

  test.each([
    ['RFC 9110 §10.2.3, seconds', '120', 120],
    ['RFC 9110 §10.2.3, a date', 'Thu, 01 Jan 2026 00:02:00 GMT', 120],
    ['zero is no pause', '0', 0],
    ['a date in the past is no pause', 'Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['what cannot be read counts for nothing', 'soon', 5],
  ])('Retry-After: %s', (_, retryAfter, seconds) => {
    const { nextSlotAt, pushbacks, because } = applyResponse(startPace, { status: 503, retryAfter }, 1, NOW)
    expect(nextSlotAt).toBe(NOW + seconds * SECOND)
    expect(pushbacks).toBe(1)
    if (seconds > 0) expect(because).toBe(retryAfter === 'soon' ? 'backoff' : 'retry-after')
  })

  test('a pause never brings the next slot nearer', () => {
    const pace = paceWith({ nextSlotAt: NOW + 60 * SECOND, because: 'crawl-delay' })
    expect(applyResponse(pace, { status: 503, retryAfter: '1' }, 1, NOW)).toMatchObject({
      nextSlotAt: NOW + 60 * SECOND,
      because: 'crawl-delay',
    })
  })

  test.each([200, 301, 304, 404, 500, 502])('%i ends the growth, and the slot stays', (status) => {
    const pace = paceWith({ nextSlotAt: NOW + 60 * SECOND, pushbacks: 4, slots: 9, slotsAtPushback: 8 })
    expect(applyResponse(pace, { status, retryAfter: '120' }, 9, NOW)).toEqual({ ...pace, pushbacks: 0 })
  })

  describe('of requests that were under way together', () => {
    const free: Delay = { delayMs: 0, because: 'own-delay' }
    const three = takeSlot(takeSlot(takeSlot(startPace, NOW, free), NOW, free), NOW, free)
    const busy = { status: 429, retryAfter: undefined }
    const first = applyResponse(three, busy, 2, NOW + 100)

    test('a burst of 429 is one step, and one pause', () => {
      expect(first).toMatchObject({ pushbacks: 1, nextSlotAt: NOW + 100 + 5_000 })
      expect(applyResponse(applyResponse(first, busy, 1, NOW + 200), busy, 3, NOW + 300)).toEqual(first)
    })

    test('a later Retry-After counts where it is longer', () => {
      const pace = applyResponse(first, { status: 503, retryAfter: '60' }, 3, NOW + 200)
      expect(pace).toMatchObject({ pushbacks: 1, nextSlotAt: NOW + 60_200, because: 'retry-after' })
      expect(applyResponse(pace, { status: 503, retryAfter: '1' }, 1, NOW + 300)).toMatchObject({
        pushbacks: 1,
        nextSlotAt: NOW + 60_200,
      })
    })

    test('a success among them ends nothing', () => {
      expect(applyResponse(first, { status: 200, retryAfter: undefined }, 3, NOW + 200)).toBe(first)
    })

    test('the next one to leave is heard again: as a step further, or as the end', () => {
      const next = takeSlot(first, NOW + 5_100, free)
      expect(applyResponse(next, busy, 4, NOW + 5_200)).toMatchObject({ pushbacks: 2, nextSlotAt: NOW + 15_200 })
      expect(applyResponse(next, { status: 200, retryAfter: undefined }, 4, NOW + 5_200).pushbacks).toBe(0)
    })
  })
})

describe('forgetting', () => {
  test.each<readonly [name: string, pace: Partial<Pace>, expected: boolean]>([
    ['nothing has happened', {}, true],
    ['the slot is free', { nextSlotAt: NOW, pushbacks: 0 }, true],
    ['the slot is not free yet', { nextSlotAt: NOW + 1, pushbacks: 0 }, false],
    ['the site has just pushed back', { nextSlotAt: NOW, pushbacks: 1 }, false],
    ['the site has pushed back less than five minutes ago', { nextSlotAt: NOW - 300_000 + 1, pushbacks: 1 }, false],
    ['the site has pushed back five minutes ago', { nextSlotAt: NOW - 300_000, pushbacks: 1 }, true],
  ])('%s', (_, pace, expected) => {
    expect(canForget(paceWith(pace), NOW)).toBe(expected)
  })
})
