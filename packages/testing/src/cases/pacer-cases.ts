// Test cases that every pacer must pass: ours, and yours. A case is a list of calls and expected
// replies.
//
// A pacer may keep its own queue, or none. So for the second request of a queue the cases only
// say how long it has to wait at least.
import { AssertionError } from 'node:assert/strict'
import type { Delay, PaceLimits, PaceResponse, PauseReason } from '@politely/core/engine'
import type { Pacer, Reservation, Ticket } from '@politely/gate'
import { type CaseClock, caseClock } from './case-clock.ts'

/** One call. Each request has a name, under which the runner keeps its ticket. */
type PacerStep =
  | {
      readonly do: 'reserve'
      readonly request: string
      readonly key?: string
      readonly limits?: Partial<PaceLimits>
      readonly allowanceMs?: number
      readonly expected: PacerExpectation
    }
  | { readonly do: 'sent'; readonly request: string; readonly key?: string; readonly agoMs?: number }
  | { readonly do: 'cancel'; readonly request: string; readonly key?: string }
  | {
      readonly do: 'report'
      readonly request: string
      readonly key?: string
      readonly response: PaceResponse
    }
  | { readonly do: 'pause'; readonly key?: string; readonly ms: number; readonly because: PauseReason }
  | {
      readonly do: 'end'
      readonly request: string
      readonly key?: string
      readonly limits?: Partial<PaceLimits>
      readonly tookMs: number
    }
  | {
      readonly do: 'estimate'
      readonly ahead: number
      readonly key?: string
      readonly limits?: Partial<PaceLimits>
      readonly expected: { readonly waitMs: number; readonly because: string }
    }
  | { readonly do: 'advance'; readonly ms: number }

type PacerExpectation =
  | { readonly kind: 'slot'; readonly delayMs: number; readonly because: string }
  | { readonly kind: 'wait'; readonly waitMs: number; readonly because: string }
  | { readonly kind: 'wait'; readonly atLeastMs: number }

/**
 * What only some pacers can do. `pause` and `sent`: has this method. `clock`: reads the time from
 * the function that the kit's `open` gets.
 */
export type PacerAbility = 'pause' | 'sent' | 'clock'

/** The pacer under test. */
export interface PacerKit {
  /**
   * Returns a pacer that has kept nothing yet. `now` is the clock of the case, in milliseconds
   * since 1970.
   */
  open(now: () => number): Pacer | Promise<Pacer>
  /**
   * Another clock, such as the fake timers of a test runner, or one that waits. Default: a clock
   * that starts at midnight UTC and moves only with `advance`.
   */
  readonly clock?: CaseClock
  /**
   * By how much a wait may differ from the expected one, for a pacer that has its own clock.
   * Milliseconds. Default 0.
   */
  readonly toleranceMs?: number
}

/** One requirement for a pacer. */
export interface PacerCase {
  /** A sentence about the pacer. */
  readonly name: string
  /** What the pacer must be able to do for this case. */
  readonly needs: readonly PacerAbility[]
  /** Rejects with an `AssertionError` if the pacer does not do what the name says. */
  run(kit: PacerKit): Promise<void>
}

/** A case as data. */
interface PacerRow {
  readonly name: string
  readonly steps: readonly PacerStep[]
}

const slot = (delayMs = 1_000, because = 'own-delay'): PacerExpectation => ({ kind: 'slot', delayMs, because })
const wait = (waitMs: number, because = 'own-delay'): PacerExpectation => ({ kind: 'wait', waitMs, because })
const waitAtLeast = (atLeastMs: number): PacerExpectation => ({ kind: 'wait', atLeastMs })
const reserve = (
  request: string,
  expected: PacerExpectation,
  limits: Partial<PaceLimits> = {},
  key = 'k',
): PacerStep => ({
  do: 'reserve',
  request,
  key,
  limits,
  expected,
})
const advance = (ms: number): PacerStep => ({ do: 'advance', ms })
const sent = (request: string): PacerStep => ({ do: 'sent', request })
/** A request that another program may send this much later. */
const reserveFor = (request: string, allowanceMs: number, expected: PacerExpectation): PacerStep => ({
  do: 'reserve',
  request,
  allowanceMs,
  expected,
})
const sentAgo = (request: string, agoMs: number): PacerStep => ({ do: 'sent', request, agoMs })
const report = (
  request: string,
  status: number,
  retryAfter?: string,
  more: Omit<PaceResponse, 'status' | 'retryAfter'> = {},
): PacerStep => ({ do: 'report', request, response: { status, retryAfter, ...more } })
const pause = (ms: number, because: PauseReason): PacerStep => ({ do: 'pause', ms, because })

const end = (request: string, tookMs: number, limits: Partial<PaceLimits> = {}): PacerStep => ({
  do: 'end',
  request,
  tookMs,
  limits,
})

const none = { ownDelayMs: 0 }
const fromEnd = { pauseFrom: 'end' } as const
const factor = { delayFactor: 3 }
const morning = { from: 6 * 60, to: 8 * 60 }

const dayMs = 86_400_000

/**
 * Pushbacks one after the other, each to a request that starts at the end of the pause before.
 * `pauses` are the seconds of the pauses.
 */
function series(pauses: readonly number[], backoff?: PaceResponse['backoff'], lateMs = 0): readonly PacerStep[] {
  return pauses.flatMap((seconds, n) => [
    reserve(`${n}, ${lateMs}`, slot(0), none),
    report(`${n}, ${lateMs}`, 429, undefined, { backoff }),
    { do: 'estimate', ahead: 0, limits: none, expected: { waitMs: seconds * 1_000, because: 'backoff' } },
    advance(seconds * 1_000 + lateMs),
  ])
}

/** The caller's own delay is one second, unless a step has another. */
const rows: readonly PacerRow[] = [
  { name: 'reserves the first slot at once', steps: [reserve('a', slot())] },
  {
    name: 'makes the next request wait for the delay',
    steps: [reserve('a', slot()), advance(400), reserve('b', wait(600)), advance(600), reserve('b', slot())],
  },
  {
    name: 'makes a request that calls again too early wait for the rest',
    steps: [
      reserve('a', slot()),
      reserve('b', wait(1_000)),
      advance(300),
      reserve('b', wait(700)),
      advance(700),
      reserve('b', slot()),
    ],
  },
  {
    name: 'does not save up an unused delay',
    steps: [reserve('a', slot()), advance(60_000), reserve('b', slot()), reserve('c', wait(1_000))],
  },
  {
    name: 'reserves all slots at once without a delay',
    steps: ['a', 'b', 'c'].map((request) => reserve(request, slot(0), none)),
  },
  {
    name: 'keeps keys apart',
    steps: [reserve('a', slot(), {}, 'one'), reserve('b', slot(), {}, 'two'), reserve('c', wait(1_000), {}, 'one')],
  },
  {
    name: 'never reserves one slot for two requests',
    steps: [
      reserve('a', slot()),
      reserve('b', wait(1_000)),
      reserve('c', waitAtLeast(1_000)),
      advance(1_000),
      reserve('b', slot()),
      reserve('c', waitAtLeast(1_000)),
    ],
  },
  {
    name: 'keeps the crawl-delay of the request that started',
    steps: [
      reserve('a', slot(5_000, 'crawl-delay'), { crawlDelayMs: 5_000 }),
      reserve('b', wait(5_000, 'crawl-delay'), { crawlDelayMs: 5_000 }),
    ],
  },
  {
    name: 'keeps a request-rate',
    steps: [
      reserve('a', slot(2_000, 'request-rate'), {
        requestRates: [{ requests: 5, periodMs: 10_000, between: undefined }],
      }),
      reserve('b', wait(2_000, 'request-rate')),
    ],
  },
  {
    name: 'shortens a crawl-delay to maxDelayMs, with the reason cap',
    steps: [
      reserve('a', slot(3_000, 'cap'), { crawlDelayMs: 60_000, maxDelayMs: 3_000 }),
      reserve('b', wait(3_000, 'cap')),
    ],
  },
  {
    name: 'reserves no slot until visit-time begins',
    steps: [
      reserve('a', wait(6 * 3_600_000, 'visit-time'), { visitTimes: [morning] }),
      advance(6 * 3_600_000),
      reserve('a', slot(), { visitTimes: [morning] }),
    ],
  },
  {
    name: 'reserves a cancelled slot for the next request at once',
    steps: [reserve('a', slot()), advance(100), { do: 'cancel', request: 'a' }, reserve('b', slot())],
  },
  {
    name: 'does not delay other requests by one that was cancelled while it waited',
    steps: [
      reserve('a', slot()),
      reserve('b', wait(1_000)),
      { do: 'cancel', request: 'b' },
      reserve('c', wait(1_000)),
      advance(1_000),
      reserve('c', slot()),
    ],
  },
  {
    name: 'counts the delay from the moment at which the request was sent',
    steps: [
      reserve('a', slot()),
      advance(400),
      sent('a'),
      reserve('b', wait(1_000)),
      advance(1_000),
      reserve('b', slot()),
      reserve('c', wait(1_000)),
    ],
  },
  {
    name: 'counts the delay from the sending of an earlier request, if that was later than the last slot',
    steps: [
      reserve('a', slot()),
      advance(1_000),
      reserve('b', slot()),
      advance(300),
      sent('a'),
      reserve('c', wait(1_000)),
    ],
  },
  {
    name: 'keeps the delay after a request that was sent if a later slot is given back',
    steps: [
      reserve('a', slot()),
      advance(1_000),
      reserve('b', slot()),
      sent('a'),
      { do: 'cancel', request: 'b' },
      reserve('c', wait(1_000)),
    ],
  },
  {
    name: 'does not shorten a pause when a request was sent',
    steps: [
      reserve('a', slot()),
      report('a', 429, '30'),
      advance(1_000),
      sent('a'),
      reserve('b', wait(29_000, 'retry-after')),
    ],
  },
  {
    name: 'changes nothing for a request without a response',
    steps: [reserve('a', slot()), end('a', 1_000), advance(1_000), reserve('b', slot())],
  },
  {
    name: 'with delayFactor, makes the delay after a slow request longer',
    steps: [
      reserve('a', slot(), factor),
      advance(500),
      end('a', 500, factor),
      reserve('b', wait(1_000, 'slow-site'), factor),
      advance(1_000),
      reserve('b', slot(), factor),
    ],
  },
  {
    name: 'with delayFactor, keeps the delay of the site after a quick request',
    steps: [reserve('a', slot(), factor), advance(100), end('a', 100, factor), reserve('b', wait(900), factor)],
  },
  {
    name: 'with delayFactor, causes a delay of at most 30 seconds, or maxDelayMs',
    steps: [
      reserve('a', slot(), factor),
      advance(20_000),
      end('a', 20_000, factor),
      reserve('b', wait(10_000, 'slow-site'), factor),
      advance(10_000),
      reserve('b', slot(), { ...factor, maxDelayMs: 2_000 }),
      advance(1_500),
      end('b', 1_500, { ...factor, maxDelayMs: 2_000 }),
      reserve('c', wait(500, 'slow-site'), factor),
    ],
  },
  {
    name: 'with pauseFrom end, begins the delay at the end of a request',
    steps: [
      reserve('a', slot(), fromEnd),
      advance(5_000),
      reserve('b', wait(1_000), fromEnd),
      advance(200),
      end('a', 5_200, fromEnd),
      advance(800),
      reserve('b', wait(200), fromEnd),
      advance(200),
      reserve('b', slot(), fromEnd),
    ],
  },
  {
    name: 'with pauseFrom end, gives up a request that does not end within two minutes',
    steps: [
      reserve('a', slot(), fromEnd),
      advance(119_000),
      reserve('b', wait(1_000), fromEnd),
      advance(1_000),
      reserve('b', slot(), fromEnd),
    ],
  },
  {
    name: 'with pauseFrom end, applies a pushback that is longer than the delay',
    steps: [
      reserve('a', slot(), fromEnd),
      report('a', 429, '30'),
      advance(1_000),
      end('a', 1_000, fromEnd),
      reserve('b', wait(29_000, 'retry-after'), fromEnd),
    ],
  },
  {
    name: 'with pauseFrom end, frees a cancelled slot at once',
    steps: [reserve('a', slot(), fromEnd), { do: 'cancel', request: 'a' }, reserve('b', slot(), fromEnd)],
  },
  {
    name: 'with pauseFrom end and no delay, waits for the end of a request',
    steps: [
      reserve('a', slot(0), { ...fromEnd, ownDelayMs: 0 }),
      advance(1_000),
      reserve('b', wait(100), { ...fromEnd, ownDelayMs: 0 }),
      end('a', 1_000, { ...fromEnd, ownDelayMs: 0 }),
      reserve('b', slot(0), { ...fromEnd, ownDelayMs: 0 }),
    ],
  },
  {
    name: 'with delayFactor, keeps the pause after a slow request if a later slot is given back',
    steps: [
      reserve('a', slot(), factor),
      advance(1_500),
      reserve('b', slot(), factor),
      end('a', 1_500, factor),
      { do: 'cancel', request: 'b' },
      reserve('c', wait(3_000, 'slow-site'), factor),
    ],
  },
  {
    name: 'with delayFactor and pauseFrom end, begins the longer delay at the end',
    steps: [
      reserve('a', slot(), { ...factor, ...fromEnd }),
      advance(2_000),
      end('a', 2_000, { ...factor, ...fromEnd }),
      reserve('b', wait(6_000, 'slow-site'), { ...factor, ...fromEnd }),
    ],
  },
  {
    name: 'keeps the Retry-After of a 429 if a later slot is given back',
    steps: [
      reserve('a', slot()),
      advance(1_000),
      reserve('b', slot()),
      report('a', 429, '60'),
      { do: 'cancel', request: 'b' },
      reserve('c', wait(60_000, 'retry-after')),
    ],
  },
  {
    name: 'keeps the delay after the last start if an earlier slot is given back',
    steps: [
      reserve('a', slot()),
      advance(1_000),
      reserve('b', slot()),
      { do: 'cancel', request: 'a' },
      reserve('c', wait(1_000)),
    ],
  },
  {
    name: 'delays requests by the Retry-After of a 429',
    steps: [
      reserve('a', slot()),
      report('a', 429, '30'),
      reserve('b', wait(30_000, 'retry-after')),
      advance(30_000),
      reserve('b', slot()),
    ],
  },
  {
    name: 'backs off after a 429 whose Retry-After is zero or in the past',
    steps: [
      reserve('a', slot()),
      report('a', 429, '0'),
      reserve('b', wait(5_000, 'backoff')),
      advance(5_000),
      reserve('b', slot()),
      report('b', 503, 'Sun, 06 Nov 1994 08:49:37 GMT'),
      reserve('c', wait(10_000, 'backoff')),
    ],
  },
  {
    name: 'does not shorten a delay by a shorter Retry-After',
    steps: [
      reserve('a', slot(60_000, 'crawl-delay'), { crawlDelayMs: 60_000 }),
      report('a', 503, '1'),
      reserve('b', wait(60_000, 'crawl-delay')),
    ],
  },
  {
    name: 'doubles the delay for each 429 or 503 without Retry-After, until another response',
    steps: [
      reserve('a', slot()),
      report('a', 429),
      reserve('b', wait(5_000, 'backoff')),
      advance(5_000),
      reserve('b', slot()),
      report('b', 503),
      reserve('c', wait(10_000, 'backoff')),
      advance(10_000),
      reserve('c', slot()),
      report('c', 200),
      advance(1_000),
      reserve('d', slot()),
      report('d', 429),
      reserve('e', wait(5_000, 'backoff')),
    ],
  },
  ...[403, 430, 500, 529].map(
    (status): PacerRow => ({
      name: `delays requests by the Retry-After of a ${status}`,
      steps: [reserve('a', slot()), report('a', status, '30'), reserve('b', wait(30_000, 'retry-after'))],
    }),
  ),
  {
    name: 'reads a Retry-After with a unit',
    steps: [reserve('a', slot()), report('a', 429, '1m30s'), reserve('b', wait(90_000, 'retry-after'))],
  },
  {
    name: 'backs off after a 430 and a 529 without Retry-After, and not after a 500',
    steps: [
      reserve('a', slot()),
      report('a', 430),
      reserve('b', wait(5_000, 'backoff')),
      advance(5_000),
      reserve('b', slot()),
      report('b', 529),
      reserve('c', wait(10_000, 'backoff')),
      advance(10_000),
      reserve('c', slot()),
      report('c', 500),
      reserve('d', wait(1_000)),
    ],
  },
  {
    name: 'obeys a response that the caller calls a pushback, and none that the caller calls none',
    steps: [
      reserve('a', slot()),
      report('a', 200, undefined, { isPushback: true }),
      reserve('b', wait(5_000, 'backoff')),
      advance(5_000),
      reserve('b', slot()),
      report('b', 0, undefined, { isPushback: true }),
      reserve('c', wait(10_000, 'backoff')),
      advance(10_000),
      reserve('c', slot()),
      report('c', 429, '60', { isPushback: false }),
      reserve('d', wait(1_000)),
    ],
  },
  {
    name: 'takes a requested time in place of Retry-After',
    steps: [
      reserve('a', slot()),
      report('a', 429, '60', { requestedMs: 2_500.5 }),
      reserve('b', wait(2_500.5, 'retry-after')),
    ],
  },
  ...[Number.POSITIVE_INFINITY, 1e300].map(
    (requestedMs): PacerRow => ({
      name: `limits a requested time of ${requestedMs} ms to a day`,
      steps: [
        reserve('a', slot()),
        report('a', 200, undefined, { requestedMs }),
        reserve('b', wait(dayMs, 'retry-after')),
      ],
    }),
  ),
  ...[0, -30_000, Number.NaN].map(
    (requestedMs): PacerRow => ({
      name: `counts a requested time of ${requestedMs} ms as absent`,
      steps: [reserve('a', slot()), report('a', 429, '60', { requestedMs }), reserve('b', wait(5_000, 'backoff'))],
    }),
  ),
  {
    name: 'with a backoff of the caller, makes pauses longer by its factor, up to its longest pause',
    steps: series([1, 3, 9, 20, 20], { firstMs: 1_000, maxMs: 20_000, factor: 3 }),
  },
  {
    name: 'with a backoff whose factor is 1, makes no pause longer',
    steps: series([7, 7, 7], { firstMs: 7_000, maxMs: 20_000, factor: 1 }),
  },
  {
    name: 'with a backoff whose first pause is longer than the longest one, makes the longest one',
    steps: series([2, 2], { firstMs: 60_000, maxMs: 2_000, factor: 2 }),
  },
  {
    name: 'with an infinite backoff, makes pauses of a day',
    steps: series([86_400, 86_400], {
      firstMs: Number.POSITIVE_INFINITY,
      maxMs: Number.POSITIVE_INFINITY,
      factor: Number.POSITIVE_INFINITY,
    }),
  },
  {
    name: 'remembers a series for five minutes after its last pause',
    steps: [...series([5, 10, 20], undefined, 299_999), advance(1), ...series([5])],
  },
  {
    name: 'remembers a series for the longest pause of its backoff',
    steps: [
      ...series([5, 10, 20], { firstMs: 5_000, maxMs: 3_600_000, factor: 2 }, 3_599_999),
      advance(1),
      ...series([5]),
    ],
  },
  ...(['retry-after', 'backoff', 'rate-limit'] as const).map(
    (because): PacerRow => ({
      name: `keeps a pause of the site, with the reason ${because}`,
      steps: [
        reserve('a', slot()),
        reserve('b', wait(1_000)),
        pause(30_000, because),
        advance(1_000),
        reserve('b', wait(29_000, because)),
        advance(29_000),
        reserve('b', slot()),
        reserve('c', wait(1_000)),
      ],
    }),
  ),
  {
    name: 'keeps a pause for a key that had no requests',
    steps: [
      pause(30_000, 'rate-limit'),
      { do: 'estimate', ahead: 0, expected: { waitMs: 30_000, because: 'rate-limit' } },
      reserve('a', wait(30_000, 'rate-limit')),
      advance(30_000),
      reserve('a', slot()),
    ],
  },
  {
    name: 'keeps the longest of several pauses',
    steps: [
      reserve('a', slot()),
      pause(30_000, 'rate-limit'),
      pause(10_000, 'backoff'),
      reserve('b', wait(30_000, 'rate-limit')),
      report('a', 429, '60'),
      pause(40_000, 'rate-limit'),
      reserve('b', wait(60_000, 'retry-after')),
    ],
  },
  {
    name: 'does not shorten a delay by a shorter pause, and keeps the pause if the slot is given back',
    steps: [
      reserve('a', slot(60_000, 'crawl-delay'), { crawlDelayMs: 60_000 }),
      pause(10_000, 'rate-limit'),
      reserve('b', wait(60_000, 'crawl-delay')),
      { do: 'cancel', request: 'a' },
      reserve('b', wait(10_000, 'rate-limit')),
    ],
  },
  {
    name: 'does not count a pause as a pushback',
    steps: [
      pause(5_000, 'backoff'),
      advance(5_000),
      reserve('a', slot()),
      report('a', 429),
      reserve('b', wait(5_000, 'backoff')),
    ],
  },
  {
    name: 'limits a pause to a day, and ignores a pause that is no time above 0',
    steps: [
      pause(0, 'backoff'),
      pause(-1_000, 'backoff'),
      pause(Number.NaN, 'backoff'),
      reserve('a', slot()),
      pause(Number.POSITIVE_INFINITY, 'rate-limit'),
      reserve('b', wait(dayMs, 'rate-limit')),
    ],
  },
  {
    name: 'with pauseFrom end, keeps a pause that is longer than the delay',
    steps: [
      reserve('a', slot(), fromEnd),
      pause(30_000, 'rate-limit'),
      advance(1_000),
      end('a', 1_000, fromEnd),
      reserve('b', wait(29_000, 'rate-limit'), fromEnd),
    ],
  },
  {
    name: 'counts several 429 to requests that were under way together as one step',
    steps: [
      reserve('a', slot(0), none),
      reserve('b', slot(0), none),
      reserve('c', slot(0), none),
      report('b', 429),
      advance(200),
      report('a', 429),
      report('c', 429),
      reserve('d', wait(4_800, 'backoff'), none),
      advance(4_800),
      reserve('d', slot(0), none),
      report('d', 429),
      reserve('e', wait(10_000, 'backoff'), none),
    ],
  },
  {
    name: 'does not end the growth for a success among them',
    steps: [
      reserve('a', slot(0), none),
      reserve('b', slot(0), none),
      report('a', 429),
      report('b', 200),
      advance(5_000),
      reserve('c', slot(0), none),
      report('c', 429),
      reserve('d', wait(10_000, 'backoff'), none),
    ],
  },
  {
    name: 'applies a pushback to requests that wait already',
    steps: [
      reserve('a', slot()),
      reserve('b', wait(1_000)),
      advance(500),
      report('a', 429, '60'),
      advance(500),
      reserve('b', wait(59_500, 'retry-after')),
      advance(59_500),
      reserve('b', slot()),
    ],
  },
  {
    name: 'adds the allowance of a slot to the delay after it',
    steps: [
      reserveFor('a', 100, slot()),
      reserve('b', wait(1_100)),
      advance(1_100),
      reserve('b', slot()),
      reserve('c', wait(1_000)),
    ],
  },
  {
    name: 'gives up what is left of the allowance when it learns when the request was sent',
    steps: [
      reserveFor('a', 100, slot()),
      advance(30),
      sentAgo('a', 20),
      reserve('b', wait(980)),
      advance(980),
      reserve('b', slot()),
    ],
  },
  {
    name: 'keeps the delay of a later slot when it learns when an earlier request was sent',
    steps: [
      reserveFor('a', 100, slot()),
      advance(1_100),
      reserveFor('b', 100, slot()),
      sentAgo('a', 1_090),
      reserve('c', wait(1_100)),
    ],
  },
  {
    name: 'keeps the pause after a pushback when it learns when the request was sent',
    steps: [
      reserveFor('a', 100, slot()),
      report('a', 429, '30'),
      sentAgo('a', 0),
      reserve('b', wait(30_000, 'retry-after')),
    ],
  },
  {
    name: 'estimates without reserving',
    steps: [
      { do: 'estimate', ahead: 0, expected: { waitMs: 0, because: 'none' } },
      { do: 'estimate', ahead: 3, expected: { waitMs: 3_000, because: 'own-delay' } },
      reserve('a', slot()),
      { do: 'estimate', ahead: 0, expected: { waitMs: 1_000, because: 'own-delay' } },
      { do: 'estimate', ahead: 5_000, expected: { waitMs: 5_001_000, because: 'own-delay' } },
      advance(1_000),
      reserve('b', slot()),
      report('b', 429, '30'),
      { do: 'estimate', ahead: 1, expected: { waitMs: 31_000, because: 'own-delay' } },
      { do: 'estimate', ahead: 0, expected: { waitMs: 30_000, because: 'retry-after' } },
    ],
  },
]

/** What every pacer must do. */
export const pacerCases: readonly PacerCase[] = rows.map((row) => ({
  name: row.name,
  needs: needsOf(row),
  run: (kit) => run(row, kit),
}))

function needsOf({ steps }: PacerRow): readonly PacerAbility[] {
  const has = (test: (step: PacerStep) => boolean) => steps.some(test)
  return [
    ...(has((step) => step.do === 'pause') ? (['pause'] as const) : []),
    ...(has((step) => step.do === 'sent') ? (['sent'] as const) : []),
    ...(has((step) => 'limits' in step && step.limits?.visitTimes !== undefined) ? (['clock'] as const) : []),
  ]
}

/** A reply that differs from the expected one. */
interface PacerMismatch {
  readonly step: number
  readonly expected: unknown
  readonly actual: unknown
}

async function run({ name, steps }: PacerRow, { open, clock = caseClock(), toleranceMs = 0 }: PacerKit) {
  const pacer = await open(clock.now)
  const mismatches: PacerMismatch[] = []
  const tickets = new Map<string, Ticket>()
  const delays = new Map<string, Delay>()
  const isNear = (actual: number, expected: number) => Math.abs(actual - expected) <= toleranceMs
  for (const [n, step] of steps.entries()) {
    if (step.do === 'advance') {
      await clock.advance(step.ms)
      continue
    }
    const { key = 'k' } = step
    const ticket = 'request' in step ? tickets.get(step.request) : undefined
    if (step.do === 'sent') {
      const delay = delays.get(step.request)
      if (ticket === undefined || delay === undefined) throw new Error(`step ${n}: ${step.request} has no slot`)
      if (pacer.sent === undefined) throw new Error(`step ${n}: the pacer has no method sent`)
      await pacer.sent(key, ticket, delay, step.agoMs)
      continue
    }
    if (step.do === 'cancel') {
      if (ticket !== undefined) await pacer.cancel(key, ticket)
      continue
    }
    if (step.do === 'report') {
      if (ticket === undefined) throw new Error(`step ${n}: ${step.request} has no slot`)
      await pacer.report(key, ticket, step.response)
      continue
    }
    if (step.do === 'pause') {
      if (pacer.pause === undefined) throw new Error(`step ${n}: the pacer has no method pause`)
      await pacer.pause(key, step.ms, step.because)
      continue
    }
    const limits = { ownDelayMs: 1_000, maxDelayMs: undefined, crawlDelayMs: undefined, ...step.limits }
    if (step.do === 'end') {
      if (ticket === undefined) throw new Error(`step ${n}: ${step.request} has no slot`)
      await pacer.end(key, ticket, limits, step.tookMs)
    } else {
      if (step.do === 'estimate') {
        const actual = await pacer.estimate(key, limits, step.ahead)
        const { expected } = step
        if (!isNear(actual.waitMs, expected.waitMs) || actual.because !== expected.because) {
          mismatches.push({ step: n, expected, actual })
        }
        continue
      }
      const { allowanceMs } = step
      const actual = await pacer.reserve(key, limits, ticket, undefined, undefined, allowanceMs)
      if (actual.ticket !== undefined) tickets.set(step.request, actual.ticket)
      if (actual.kind === 'slot') delays.set(step.request, actual.delay)
      if (!matches(actual, step.expected, isNear)) mismatches.push({ step: n, expected: step.expected, actual })
    }
  }
  expectNone(name, mismatches)
}

/** Throws an error that shows the first replies that differ, with the steps that got them. */
export function expectNone(name: string, mismatches: readonly PacerMismatch[]): void {
  if (mismatches.length === 0) return
  const [actual, expected] = (['actual', 'expected'] as const).map((side) =>
    mismatches.map((one) => ({ step: one.step, reply: one[side] })),
  )
  throw new AssertionError({
    message: `${name}: ${JSON.stringify(mismatches)}`,
    actual,
    expected,
    operator: 'deepEqual',
  })
}

function matches(
  actual: Reservation,
  expected: PacerExpectation,
  isNear: (actual: number, expected: number) => boolean,
): boolean {
  if (actual.kind === 'slot') {
    const { delayMs, because } = actual.delay
    return expected.kind === 'slot' && delayMs === expected.delayMs && because === expected.because
  }
  if (expected.kind === 'slot') return false
  if ('atLeastMs' in expected) return actual.waitMs >= expected.atLeastMs || isNear(actual.waitMs, expected.atLeastMs)
  return isNear(actual.waitMs, expected.waitMs) && actual.because === expected.because
}
