// When the next request to an origin may leave. All of it is our choice: no standard speaks about pace.
import { describe, expect, test } from 'vitest'
import { type Delay, delayOf, type Wishes } from '../src/pace/delay.ts'
import { canForget, heedAnswer, type Pace, startPace, takeSlot } from '../src/pace/pace.ts'

const NOW = Date.UTC(2026, 0, 1)
const SECOND = 1_000

describe('the delay, and who asked for it', () => {
  test.each<readonly [name: string, wishes: Partial<Wishes>, delayMs: number, because: Delay['because']]>([
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
    expect(delayOf(all)).toEqual({ delayMs, because })
  })
})

describe('the slot', () => {
  const delay: Delay = { delayMs: 5_000, because: 'crawl-delay' }

  test('the first one is free', () => {
    expect(startPace.nextSlotAt).toBeLessThanOrEqual(NOW)
  })

  test('the next one comes after the delay, counted from when this one left', () => {
    expect(takeSlot({ nextSlotAt: NOW - 60_000, pushbacks: 0 }, NOW, delay).nextSlotAt).toBe(NOW + 5_000)
  })

  test('a longer pause that an answer asked for stays', () => {
    expect(takeSlot({ nextSlotAt: NOW + 60_000, pushbacks: 1 }, NOW, delay).nextSlotAt).toBe(NOW + 60_000)
  })

  test('leaving does not forget that the site has pushed back', () => {
    expect(takeSlot({ nextSlotAt: NOW, pushbacks: 3 }, NOW, delay).pushbacks).toBe(3)
  })
})

describe('answers of pages', () => {
  /** Pauses after each of so many answers with that status, in seconds. */
  function pauses(status: number, count: number): number[] {
    let pace = startPace
    return Array.from({ length: count }, () => {
      pace = heedAnswer({ ...pace, nextSlotAt: 0 }, { status, retryAfter: undefined }, NOW)
      return (pace.nextSlotAt - NOW) / SECOND
    })
  }

  test.each([429, 503])('%i without Retry-After: pauses that double up to five minutes', (status) => {
    expect(pauses(status, 9)).toEqual([5, 10, 20, 40, 80, 160, 300, 300, 300])
  })

  test('our choice, a Retry-After of years is a day', () => {
    const retryAfter = '9'.repeat(400)
    const { nextSlotAt } = heedAnswer(startPace, { status: 429, retryAfter }, NOW)
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
    const { nextSlotAt, pushbacks } = heedAnswer(startPace, { status: 503, retryAfter }, NOW)
    expect(nextSlotAt).toBe(NOW + seconds * SECOND)
    expect(pushbacks).toBe(1)
  })

  test('a pause never brings the next slot nearer', () => {
    const pace: Pace = { nextSlotAt: NOW + 60 * SECOND, pushbacks: 0 }
    expect(heedAnswer(pace, { status: 503, retryAfter: '1' }, NOW).nextSlotAt).toBe(NOW + 60 * SECOND)
  })

  test.each([200, 301, 304, 404, 500, 502])('%i ends the growth, and the slot stays', (status) => {
    const pace: Pace = { nextSlotAt: NOW + 60 * SECOND, pushbacks: 4 }
    expect(heedAnswer(pace, { status, retryAfter: '120' }, NOW)).toEqual({ ...pace, pushbacks: 0 })
  })
})

describe('forgetting', () => {
  test.each<readonly [name: string, pace: Pace, expected: boolean]>([
    ['nothing has happened', startPace, true],
    ['the slot is free', { nextSlotAt: NOW, pushbacks: 0 }, true],
    ['the slot is not free yet', { nextSlotAt: NOW + 1, pushbacks: 0 }, false],
    ['the site has just pushed back', { nextSlotAt: NOW, pushbacks: 1 }, false],
    ['the site has pushed back less than five minutes ago', { nextSlotAt: NOW - 300_000 + 1, pushbacks: 1 }, false],
    ['the site has pushed back five minutes ago', { nextSlotAt: NOW - 300_000, pushbacks: 1 }, true],
  ])('%s', (_, pace, expected) => {
    expect(canForget(pace, NOW)).toBe(expected)
  })
})
