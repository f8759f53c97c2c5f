// Paces the keys of one process while Redis is away.
import { type Delay, MAX_SLOW_DELAY_MS, type PaceLimits, type PaceResponse } from '@politely/core/engine'
import { LocalPacer, type Reservation, type Ticket, type WaitEstimate } from '@politely/gate'
import { LRUCache } from 'lru-cache'

/** The tickets of the local pacer begin with it. */
const LOCAL = 'local:'

/**
 * For how many keys the first slot is remembered as taken. A key that was dropped from them waits
 * for one delay again.
 */
const MAX_KEYS = 10_000

/** Returns whether a ticket is that of a slot of the local pace. */
export function isLocal(ticket: Ticket): boolean {
  return `${ticket}`.startsWith(LOCAL)
}

/**
 * A LocalPacer whose delays are `fleetSize` times as long. If all workers of a fleet pace locally,
 * a site gets no more requests per hour than from one worker. The first slot of a key comes one
 * such delay later, since another worker may have visited just before.
 */
export class LocalFallback {
  readonly #pacer: LocalPacer
  readonly #fleetSize: number
  readonly #firstSlotTaken = new LRUCache<string, true>({ max: MAX_KEYS })

  constructor(now: (() => number) | undefined, fleetSize: number) {
    this.#pacer = new LocalPacer(now)
    this.#fleetSize = fleetSize
  }

  reserve(key: string, asked: PaceLimits): Reservation {
    const limits = this.#scaled(asked)
    this.#takeFirstSlot(key, limits)
    const reservation = this.#pacer.reserve(key, limits)
    return reservation.kind === 'wait' ? reservation : { ...reservation, ticket: `${LOCAL}${reservation.ticket}` }
  }

  sent(key: string, ticket: Ticket, delay: Delay): void {
    this.#pacer.sent(key, slotOf(ticket), delay)
  }

  cancel(key: string, ticket: Ticket): void {
    this.#pacer.cancel(key, slotOf(ticket))
  }

  report(key: string, ticket: Ticket, response: PaceResponse): void {
    this.#pacer.report(key, slotOf(ticket), response)
  }

  end(key: string, ticket: Ticket, limits: PaceLimits, tookMs: number): void {
    this.#pacer.end(key, slotOf(ticket), this.#scaled(limits), tookMs)
  }

  estimate(key: string, limits: PaceLimits, ahead: number): WaitEstimate {
    return this.#pacer.estimate(key, this.#scaled(limits), ahead)
  }

  /** Whether any key was paced locally. */
  get isUsed(): boolean {
    return this.#pacer.size > 0
  }

  /**
   * Redis is back. When it fails again, the first slot of each key is taken again. The keys keep
   * their last slots.
   */
  pause(): void {
    this.#firstSlotTaken.clear()
  }

  /**
   * Takes the first slot of a key for the other workers, as if its response had taken the longest
   * time that `delayFactor` counts.
   */
  #takeFirstSlot(key: string, limits: PaceLimits): void {
    if (this.#firstSlotTaken.has(key)) return
    const { delayFactor = 0, maxDelayMs = 0, ownDelayMs } = limits
    const slowest = delayFactor > 0 ? { ...limits, ownDelayMs: Math.max(ownDelayMs, maxDelayMs) } : limits
    if (this.#pacer.reserve(key, { ...slowest, visitTimes: undefined }).kind === 'slot')
      this.#firstSlotTaken.set(key, true)
  }

  #scaled(limits: PaceLimits): PaceLimits {
    const times = this.#fleetSize
    const { ownDelayMs, maxDelayMs, crawlDelayMs = 0, requestRates = [], delayFactor = 0 } = limits
    // At all times: a delay that ended with the hours of a rate would let each worker make a
    // request in them.
    const scaledRates = requestRates.map(({ requests, periodMs }) => {
      return { requests, periodMs: periodMs * times, between: undefined }
    })
    // Without a limit of the caller, `delayFactor` has one of 30 seconds. Scaled, it must not
    // shorten what the site asks for.
    const siteMs = Math.max(crawlDelayMs, ...requestRates.map(({ requests, periodMs }) => periodMs / requests))
    const capMs = maxDelayMs ?? (delayFactor > 0 ? Math.max(MAX_SLOW_DELAY_MS, siteMs) : undefined)
    return {
      ...limits,
      ownDelayMs: ownDelayMs * times,
      maxDelayMs: capMs === undefined ? undefined : capMs * times,
      crawlDelayMs: crawlDelayMs * times,
      requestRates: scaledRates,
      delayFactor: delayFactor * times,
    }
  }
}

function slotOf(ticket: Ticket): number {
  return Number(`${ticket}`.slice(LOCAL.length))
}
