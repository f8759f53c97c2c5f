// Paces the keys of one worker while the server is away (`onFailure: 'local'`).
//
// The workers of a fleet can't agree then. So each worker has its own LocalPacer, with delays that
// are `fleetSize` times as long. If all workers pace locally, a site gets no more requests per hour
// than from one worker. Another worker may have visited the site just before, so the first slot of
// a key comes one such delay later.
//
// Example: a fleet of 4 workers, and a delay of one second. The server goes away. Each worker
// visits the site after 4 seconds at the earliest, and then every 4 seconds.
import type { Delay, PaceLimits, PaceResponse } from '@politely/core/engine'
import { MAX_SLOW_DELAY_MS } from '@politely/core/internal'
import { LRUCache } from '@politely/fetcher/internal'
import { LocalPacer, type Reservation, type Ticket, type WaitEstimate } from '@politely/gate'

/** The tickets of the local pacer, and its probes, begin with it. */
export const LOCAL = 'local:'

/**
 * For how many keys the first slot is remembered as taken. An evicted key waits for a delay again.
 */
const MAX_KEYS = 10_000

/** Returns whether the local pacer has issued a ticket. */
export function isLocal(ticket: Ticket | undefined): boolean {
  return `${ticket}`.startsWith(LOCAL)
}

export class LocalFallback {
  readonly #pacer: LocalPacer
  readonly #fleetSize: number
  readonly #firstSlotTaken = new LRUCache<string, true>({ max: MAX_KEYS })

  constructor(now: (() => number) | undefined, fleetSize: number) {
    this.#pacer = new LocalPacer(now)
    this.#fleetSize = fleetSize
  }

  reserve(key: string, asked: PaceLimits, allowanceMs: number): Reservation {
    const limits = this.#scaled(asked)
    this.#takeFirstSlot(key, limits)
    const reservation = this.#pacer.reserve(key, limits, undefined, 0, false, allowanceMs)
    return reservation.kind === 'wait' ? reservation : { ...reservation, ticket: `${LOCAL}${reservation.ticket}` }
  }

  sent(key: string, ticket: Ticket, delay: Delay, agoMs?: number): void {
    this.#pacer.sent(key, slotOf(ticket), delay, agoMs)
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

  /** The circuits of this worker. */
  get circuits(): Pick<LocalPacer, 'admit' | 'settle'> {
    return this.#pacer
  }

  /** Whether any key was paced locally. */
  get isUsed(): boolean {
    return this.#pacer.size > 0
  }

  /**
   * To be called when the server is back. When it fails again, the first slot of each key is taken
   * again. The keys keep their last slots.
   */
  retakeFirstSlots(): void {
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
    // A scaled rate applies at all hours. If its delay ended with the hours of the rate, each
    // worker could make a request then.
    const scaledRates = requestRates.map(({ requests, periodMs }) => {
      return { requests, periodMs: periodMs * times, between: undefined }
    })
    // If the caller sets no limit, delays by `delayFactor` are limited to 30 seconds. This limit
    // also applies to other delays here, so it must not be shorter than the delay that the site
    // asks for.
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
