// When to fetch a page again. The estimate follows Cho and Garcia-Molina; what depends on it is our choice.
import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { OptionError } from '../src/errors.ts'
import { changeRate } from '../src/revisit/change-rate.ts'
import { type NextVisitOptions, nextVisit, type PastVisit } from '../src/revisit/next-visit.ts'

const NOW = Date.UTC(2026, 0, 1)
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Visits a day apart. The last is now. A number is the status of a failed or refused visit. */
const visits = (...found: readonly (boolean | number)[]): PastVisit[] =>
  found.map((one, i) => ({
    at: NOW - (found.length - 1 - i) * DAY,
    status: typeof one === 'number' ? one : 200,
    changed: one === true,
  }))
const once = visits(true)
const dated: PastVisit[] = [{ at: NOW, status: 200, changed: true, lastModified: NOW - 700 * DAY }]
const trusted = { isTrusted: true }

describe('the reason and the interval', () => {
  test.each<readonly [string, readonly PastVisit[], NextVisitOptions, days: number | undefined, because: string]>([
    ['no visit: now', [], { now: NOW }, 0, 'first-visit'],
    ['one visit: the default', once, {}, 7, 'first-visit'],
    ['one visit: another default', once, { defaultIntervalMs: DAY }, 1, 'first-visit'],
    ['a page that is 100 defaults old', dated, { maxIntervalMs: 3_000 * DAY }, 7 * (101 / 2) ** 0.4, 'last-modified'],
    ['a Last-Modified of the visit itself', [{ ...dated[0], lastModified: NOW } as PastVisit], {}, 7, 'first-visit'],
    ['a Last-Modified in the future', [{ ...dated[0], lastModified: NOW + DAY } as PastVisit], {}, 7, 'first-visit'],
    ['7 unchanged days, weighted', visits(true, false), {}, 7 * (8 / 7) ** 0.4, 'change-rate'],
    ['changefreq, for one visit', once, { sitemap: { changefreq: ' Daily' } }, 7 * 7 ** -0.2, 'sitemap'],
    ['an unknown changefreq', once, { sitemap: { changefreq: 'toString' } }, 7, 'first-visit'],
    ['the highest priority', once, { sitemap: { priority: 1 } }, 7 / Math.sqrt(1.5), 'first-visit'],
    ['a newer lastmod', once, { sitemap: { lastmod: NOW + 1, trust: trusted } }, 1 / 24, 'sitemap'],
    [
      'a newer lastmod of a page that was gone',
      visits(404),
      { sitemap: { lastmod: NOW + 1, trust: trusted } },
      1 / 24,
      'sitemap',
    ],
    ['an older lastmod', once, { sitemap: { lastmod: NOW, trust: trusted } }, 7, 'first-visit'],
    ['a newer lastmod without trust', once, { sitemap: { lastmod: NOW + 1 } }, 7, 'first-visit'],
    [
      'a newer lastmod, not trusted',
      once,
      { sitemap: { lastmod: NOW + 1, trust: { isTrusted: false } } },
      7,
      'first-visit',
    ],
    ['a lastmod in 3 days', once, { sitemap: { lastmod: NOW + 3 * DAY, trust: trusted } }, 3, 'sitemap'],
    ['a lastmod in 8 days', once, { sitemap: { lastmod: NOW + 8 * DAY, trust: trusted } }, 7, 'first-visit'],
    ['fresh for longer', once, { freshUntil: NOW + 9 * DAY }, 9, 'fresh'],
    ['fresh for shorter', once, { freshUntil: NOW + DAY }, 7, 'first-visit'],
    [
      'fresh for longer than the sitemap says',
      once,
      { freshUntil: NOW + DAY, sitemap: { lastmod: NOW + 1, trust: trusted } },
      1,
      'fresh',
    ],
    ['fresh for a century', once, { freshUntil: NOW + 36_500 * DAY }, 180, 'max'],
    ['a 404', visits(true, 404), {}, 7, 'gone'],
    ['a third 404', visits(true, 404, 404, 404), {}, 28, 'gone'],
    ['a 410', visits(true, 410), {}, 14, 'gone'],
    ['a second 410', visits(true, 410, 410), {}, 56, 'gone'],
    ['a 404 with failures before it', visits(true, 404, 503, 404), {}, 14, 'gone'],
    ['a 404 after the page was back', visits(404, 404, true, 404), {}, 7, 'gone'],
    ['many 410', visits(410, 410, 410, 410), {}, 180, 'max'],
    ['a 403', visits(true, 403), {}, 7, 'refused'],
    ['a second 451', visits(true, 403, 451), {}, 14, 'refused'],
    ['a 503', visits(true, 503), {}, 1 / 24, 'failed'],
    ['a third failure', visits(true, 503, 429, 0), {}, 4 / 24, 'failed'],
    ['a failure of a fresh page', visits(true, 500), { freshUntil: NOW + 30 * DAY }, 1 / 24, 'failed'],
    ['2,000 failures', visits(...Array<number>(2_000).fill(500)), {}, 180, 'max'],
    ['unavailable from now on', once, { unavailableAfter: NOW }, undefined, 'unavailable-after'],
    ['unavailable since yesterday', visits(503), { unavailableAfter: NOW - DAY }, undefined, 'unavailable-after'],
    [
      'unavailable in the meantime',
      once,
      { now: NOW + 2 * DAY, unavailableAfter: NOW + DAY },
      undefined,
      'unavailable-after',
    ],
    ['unavailable before the next visit', once, { unavailableAfter: NOW + DAY }, 1, 'unavailable-after'],
    ['unavailable within the shortest interval', once, { unavailableAfter: NOW + 1 }, 1 / 24, 'unavailable-after'],
    ['unavailable after the next visit', once, { unavailableAfter: NOW + 8 * DAY }, 7, 'first-visit'],
    ['no visit, and already unavailable', [], { now: NOW, unavailableAfter: 0 }, undefined, 'unavailable-after'],
    [
      'a longer shortest interval',
      visits(true, true),
      { minIntervalMs: 20 * DAY, defaultIntervalMs: 20 * DAY },
      20,
      'min',
    ],
    ['a shorter longest interval', visits(true, false), { maxIntervalMs: 5 * DAY }, 5, 'max'],
  ])('%s', (_, history, options, days, because) => {
    const intervalMs = days === undefined ? undefined : Math.round(days * DAY)
    const at = intervalMs === undefined ? undefined : NOW + intervalMs
    expect(nextVisit(history, options)).toEqual({ at, intervalMs, because })
  })

  it('counts from the last visit, not from now', () => {
    expect(nextVisit(once, { now: NOW + 30 * DAY }).at).toBe(NOW + 7 * DAY)
  })
})

describe('the rate of changes', () => {
  const perDay = (...args: Parameters<typeof changeRate>) => changeRate(...args) * DAY

  it('is that of the prior without visits', () => {
    expect(perDay([], 10 * DAY)).toBeCloseTo(0.1, 9)
  })

  it('approaches -log(unchanged / visits) for regular visits', () => {
    const found = Array.from({ length: 50 }, (_, i) => ({
      sinceVisitMs: DAY,
      changed: i % 2 === 0,
      sinceChangeMs: undefined,
    }))
    expect(perDay(found, DAY)).toBeGreaterThan(Math.LN2 * 0.95)
    expect(perDay(found, DAY)).toBeLessThan(Math.LN2 * 1.15)
  })

  it('sees by Last-Modified that a page changes more often than it is visited', () => {
    const found = (sinceChangeMs?: number) =>
      Array.from({ length: 50 }, () => ({ sinceVisitMs: 30 * DAY, changed: true, sinceChangeMs }))
    expect(perDay(found(HOUR), 7 * DAY)).toBeGreaterThan(2 * perDay(found(), 7 * DAY))
  })

  it('forgets what a page did before', () => {
    const active = Array<boolean>(30).fill(true)
    const quiet = Array<boolean>(30).fill(false)
    const intervals = [
      [...quiet, ...active],
      [...active, ...quiet],
    ].map((all) => nextVisit(visits(...all)).intervalMs)
    expect(intervals[0]).toBeLessThan(intervals[1] as number)
  })
})

const anyHistory = fc
  .array(
    fc.record({
      afterMs: fc.integer({ min: 0, max: 400 * DAY }),
      status: fc.constantFrom(200, 200, 200, 304, 301, 404, 410, 403, 500, 0),
      changed: fc.boolean(),
      ageMs: fc.option(fc.integer({ min: -DAY, max: 400 * DAY }), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 60 },
  )
  .map((steps) => {
    let at = NOW
    return steps.map(({ afterMs, status, changed, ageMs }) => {
      at += afterMs
      return { at, status, changed, ...(ageMs !== undefined && { lastModified: at - ageMs }) }
    })
  })

describe('for any history', () => {
  it('the interval is within its limits', () => {
    fc.assert(
      fc.property(anyHistory, (history) => {
        const { at, intervalMs, because } = nextVisit(history)
        expect(intervalMs).toBeGreaterThanOrEqual(HOUR)
        expect(intervalMs).toBeLessThanOrEqual(180 * DAY)
        expect(at).toBe((history.at(-1) as PastVisit).at + (intervalMs as number))
        expect(because).not.toBe('unavailable-after')
      }),
    )
  })

  it('one more change makes the next visit no later', () => {
    fc.assert(
      fc.property(anyHistory, fc.nat(), (history, n) => {
        const changedAt = (changed: boolean) =>
          history.map((visit, i) => (i === n % history.length ? { ...visit, changed } : visit))
        expect(nextVisit(changedAt(true)).intervalMs).toBeLessThanOrEqual(
          (nextVisit(changedAt(false)).intervalMs as number) + 1,
        )
      }),
    )
  })

  it('a longer freshness makes the next visit no earlier', () => {
    fc.assert(
      fc.property(anyHistory, fc.nat(400 * DAY), (history, ms) => {
        const freshUntil = (history.at(-1) as PastVisit).at + ms
        expect(nextVisit(history, { freshUntil }).at).toBeGreaterThanOrEqual(nextVisit(history).at as number)
      }),
    )
  })
})

describe('visits when nextVisit says so', () => {
  const intervalsOf = (changed: boolean) => {
    const history: PastVisit[] = [{ at: NOW, status: 200, changed: true }]
    return Array.from({ length: 100 }, () => {
      const { at, intervalMs } = nextVisit(history)
      history.push({ at: at as number, status: 200, changed })
      return (intervalMs as number) / DAY
    })
  }

  it('a page that always differs is visited at most every other day', () => {
    for (const days of intervalsOf(true)) expect(days).toBeGreaterThan(2)
    expect(Math.max(...intervalsOf(true))).toBeLessThanOrEqual(7)
  })

  it('a page that never changes is visited less and less often', () => {
    const intervals = intervalsOf(false)
    expect(intervals).toEqual(intervals.toSorted((a, b) => a - b))
    expect(intervals.at(-1)).toBeGreaterThan(14)
  })
})

describe('invalid arguments', () => {
  const [visit] = once as [PastVisit]
  test.each<readonly [option: string, history: unknown, options?: unknown]>([
    ['now', []],
    ['history', undefined],
    ['history', { length: 1 }],
    ['history[0]', [undefined]],
    ['history[0]', new Array(1)],
    ['history[0].at', [{ ...visit, at: Number.NaN }]],
    ['history[0].at', [{ ...visit, at: new Date() }]],
    ['history[1].at', [visit, { ...visit, at: NOW - 1 }]],
    ['history[0].status', [{ ...visit, status: -200 }]],
    ['history[0].status', [{ ...visit, status: '200' }]],
    ['history[0].status', [{ ...visit, status: 200.5 }]],
    ['history[0].changed', [{ ...visit, changed: undefined }]],
    ['history[0].lastModified', [{ ...visit, lastModified: Number.NaN }]],
    ['history[0].lastModified', [{ ...visit, lastModified: null }]],
    ['options', once, null],
    ['minIntervalsMs', once, { minIntervalsMs: 1 }],
    ['now', once, { now: Number.POSITIVE_INFINITY }],
    ['freshUntil', once, { freshUntil: null }],
    ['unavailableAfter', once, { unavailableAfter: '2026-01-01' }],
    ['minIntervalMs', once, { minIntervalMs: 0 }],
    ['minIntervalMs', once, { minIntervalMs: Number.NaN }],
    ['maxIntervalMs', once, { maxIntervalMs: -1 }],
    ['maxIntervalMs', once, { maxIntervalMs: Number.POSITIVE_INFINITY }],
    ['defaultIntervalMs', once, { defaultIntervalMs: 1 }],
    ['sitemap', once, { sitemap: 'weekly' }],
    ['sitemap', once, { sitemap: null }],
    ['sitemap.lastmod', once, { sitemap: { lastmod: Number.NaN } }],
    ['sitemap.changefreq', once, { sitemap: { changefreq: 7 } }],
    ['sitemap.priority', once, { sitemap: { priority: 1.5 } }],
  ])('%s', (option, history, options) => {
    const call = () => nextVisit(history as PastVisit[], options as NextVisitOptions)
    expect(call).toThrow(OptionError)
    expect(call).toThrow(expect.objectContaining({ option, code: 'ERR_POLITELY_OPTION' }))
  })

  it('says what to write', () => {
    expect(() => nextVisit([visit, { ...visit, at: 5 }])).toThrow(
      `history[1].at: 5 is invalid; expected ${NOW}, the time of the visit before, or later; sort the visits`,
    )
  })
})
