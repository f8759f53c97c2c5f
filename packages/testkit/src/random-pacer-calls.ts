// Random calls of a pacer, for the comparison with `LocalPacer`. A pacer that keeps the rules of
// core gives the same replies by the same clock.
import { pick, seededRandom } from './random-robots.ts'

/** The part of the interface `Pacer` of @politely/gate that is called. */
interface CalledPacer {
  reserve(
    key: string,
    limits: Limits,
    ticket?: Ticket,
    furtherSlots?: number,
    seesSending?: boolean,
    allowanceMs?: number,
  ): Reservation | Promise<Reservation>
  sent?(key: string, ticket: Ticket, delay: Delay, agoMs?: number): void | Promise<void>
  cancel(key: string, ticket: Ticket): void | Promise<void>
  report(key: string, ticket: Ticket, response: Response): void | Promise<void>
  pause?(key: string, pauseMs: number, because: (typeof PAUSE_REASONS)[number]): void | Promise<void>
  end(key: string, ticket: Ticket, limits: Limits, tookMs: number): void | Promise<void>
  estimate(key: string, limits: Limits, ahead: number): object | Promise<object>
}

type Ticket = string | number

interface Limits {
  readonly ownDelayMs: number
  readonly maxDelayMs: number | undefined
  readonly crawlDelayMs: number | undefined
  readonly requestRates: { requests: number; periodMs: number; between: Hours | undefined }[] | undefined
  readonly visitTimes: Hours[] | undefined
  readonly pauseFrom: 'start' | 'end' | undefined
  readonly delayFactor: number | undefined
}

interface Hours {
  readonly from: number
  readonly to: number
}

interface Response {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly isPushback: boolean | undefined
  readonly requestedMs: number | undefined
  readonly backoff: { readonly firstMs: number; readonly maxMs: number; readonly factor: number } | undefined
}

interface Delay {
  readonly delayMs: number
  readonly because: 'own-delay' | 'crawl-delay' | 'request-rate' | 'cap' | 'slow-site'
}

type Reservation =
  | { readonly kind: 'slot'; readonly ticket: Ticket; readonly delay: Delay }
  | { readonly kind: 'wait'; readonly ticket: Ticket | undefined; readonly waitMs: number }

type Random = () => number

const STATUSES = [200, 200, 200, 404, 429, 429, 503, 403, 430, 529, 0]
const PAUSE_REASONS = ['retry-after', 'backoff', 'rate-limit', 'own-delay', 'crawl-delay', 'cap'] as const
const RETRY_AFTER = [
  '0',
  '1',
  '7',
  '120',
  '99999999',
  'Thu, 01 Jan 2026 00:05:00 GMT',
  'Wed, 31 Dec 2025 00:00:00 GMT',
  '64.57',
  '1m30s',
  '2026-01-01T00:05:00.25Z',
  'soon',
  undefined,
  undefined,
]

function hours(random: Random): Hours {
  if (random() < 0.2) return { from: 0, to: 0 } // all day
  return { from: Math.floor(random() * 1440), to: Math.floor(random() * 1440) }
}

function some<T>(random: Random, max: number, one: () => T): T[] {
  return Array.from({ length: Math.floor(random() * (max + 1)) }, one)
}

function randomLimits(random: Random): Limits {
  const rate = () => ({
    requests: pick(random, [1, 3, 7]),
    periodMs: pick(random, [1_000, 10_000, 3_600_000, 40 * 3_600_000, 90 * 3_600_000]),
    between: random() < 0.3 ? undefined : hours(random),
  })
  return {
    ownDelayMs: pick(random, [0, 0.1, 1_000, 1_000 * random()]),
    maxDelayMs: pick(random, [undefined, undefined, 0, 3_000, 100_000]),
    crawlDelayMs: pick(random, [undefined, undefined, 700, 10_000 * random()]),
    requestRates: random() < 0.5 ? undefined : some(random, random() < 0.1 ? 30 : 4, rate),
    visitTimes: random() < 0.8 ? undefined : some(random, 3, () => hours(random)),
    pauseFrom: pick(random, [undefined, 'start', 'end']),
    delayFactor: pick(random, [undefined, 0, 3, 10 * random()]),
  }
}

function randomResponse(random: Random): Response {
  const times = [0.1, 1_000, 5_000 * random(), 400_000, 7_200_000, Number.POSITIVE_INFINITY]
  return {
    status: pick(random, STATUSES),
    retryAfter: pick(random, RETRY_AFTER),
    isPushback: pick(random, [undefined, undefined, undefined, true, false]),
    requestedMs: random() < 0.7 ? undefined : pick(random, [0, -1, ...times]),
    backoff:
      random() < 0.5
        ? undefined
        : {
            firstMs: pick(random, times),
            maxMs: pick(random, times),
            factor: pick(random, [1, 1.3, 2, 10 * random(), 100]),
          },
  }
}

/** A pacer, and LocalPacer with the same clock. */
interface ComparedPacers {
  readonly seed: number
  readonly calls: number
  /** A key that no other comparison uses. */
  readonly key: string
  readonly pacer: CalledPacer
  readonly local: CalledPacer
  /** Moves the clock of both pacers. */
  readonly advance: (ms: number) => void
}

/** The first pair of replies that differ, or how many slots there were. */
export type ComparedReplies =
  | { readonly taken: number }
  | {
      readonly taken?: undefined
      readonly seed: number
      readonly n: number
      readonly limits: Limits
      readonly replies: readonly unknown[]
    }

/** Makes random calls of both pacers, as one gate does, and compares their replies. */
export async function comparePacers(compared: ComparedPacers): Promise<ComparedReplies> {
  const { seed, calls, key, pacer, local, advance } = compared
  const random = seededRandom(seed)
  let limits = randomLimits(random)
  let lastWaitMs = 0
  let taken = 0
  let waiting: Ticket | undefined
  const slots: (readonly [own: Ticket, local: Ticket, delay: Delay])[] = []
  for (let n = 0; n < calls; n++) {
    if (random() < 0.05) limits = randomLimits(random)
    const roll = random()
    const [ticket, localTicket, delay] = slots.length > 0 ? pick(random, slots) : []
    if (roll < 0.4) {
      const allowanceMs = random() < 0.7 ? 0 : pick(random, [100, 1_000 * random()])
      const [one, other] = await Promise.all([
        pacer.reserve(key, limits, waiting, 0, false, allowanceMs),
        local.reserve(key, limits, undefined, 0, false, allowanceMs),
      ])
      waiting = one.kind === 'wait' ? one.ticket : undefined
      lastWaitMs = one.kind === 'wait' ? one.waitMs : 0
      if (one.kind === 'slot' && other.kind === 'slot') {
        slots.push([one.ticket, other.ticket, other.delay])
        taken++
      }
      const replies = [one, other].map((reply) => ({ ...reply, ticket: undefined }))
      if (!isSame(replies)) return { seed, n, limits, replies }
      if (slots.length > 5) slots.shift()
    } else if (roll < 0.6) {
      advance(pick(random, [lastWaitMs, lastWaitMs * random(), 1_000 * random(), 0.25, 3_600_000 * random()]))
    } else if (roll < 0.7) {
      const ahead = pick(random, [0, 1, 5, 120])
      const replies = await Promise.all([pacer.estimate(key, limits, ahead), local.estimate(key, limits, ahead)])
      if (!isSame(replies)) return { seed, n, limits, replies }
    } else if (roll < 0.72) {
      const pauseMs = pick(random, [0, -1, 0.3, 3_000 * random(), 600_000 * random(), Number.POSITIVE_INFINITY])
      const because = pick(random, PAUSE_REASONS)
      await Promise.all([pacer.pause?.(key, pauseMs, because), local.pause?.(key, pauseMs, because)])
    } else if (ticket !== undefined && localTicket !== undefined && delay !== undefined) {
      const response = randomResponse(random)
      const tookMs = 20_000 * random() ** 3
      const agoMs = pick(random, [undefined, 0, 300 * random()])
      for (const [one, own] of [
        [pacer, ticket],
        [local, localTicket],
      ] as const) {
        if (roll < 0.74) await one.sent?.(key, own, delay, agoMs)
        else if (roll < 0.82) await one.report(key, own, response)
        else if (roll < 0.9) await one.end(key, own, limits, tookMs)
        else await one.cancel(key, own)
      }
    }
  }
  return { taken }
}

function isSame([one, other]: readonly unknown[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
