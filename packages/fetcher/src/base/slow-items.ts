// Exempts slow items from the limits of `DomainTurns`, while other items wait only because of them.
//
// Otherwise eight sites with eight items each could occupy a limit of 64 for as long as they like,
// since they can drag out their responses. An item is slow after `slowAfterMs`. An exempt item goes
// on, and still counts towards the limit of its site, but no longer for its platform and for all. A
// timer looks for slow items. It runs only while an item waits because of these limits.
import type { DomainTurns, TurnOutcome } from './domain-turns.ts'
import { type Linked, LinkedList } from './linked-list.ts'
import type { Site } from './site.ts'
import { MAX_TIMER_MS } from './timeout.ts'

/** An item that is under way. */
export interface StartedItem extends Linked<StartedItem> {
  readonly site: Site
  /** By the clock of `SlowItems`. */
  readonly startedAt: number
  /** Only `SlowItems` changes it. */
  isExempt: boolean
}

/**
 * After this share of `slowAfterMs` the timer looks again at slow items that it could not exempt.
 */
const RECHECK_SHARE = 1 / 8

export class SlowItems<T extends StartedItem = StartedItem> {
  readonly #turns: DomainTurns<unknown>
  readonly #slowAfterMs: number
  readonly #now: () => number
  readonly #startNext: () => void
  /** The items that are under way, in the order in which they started. */
  readonly #started = new LinkedList<StartedItem>()
  #timer: NodeJS.Timeout | undefined

  /**
   * @param slowAfterMs Infinity if no item is ever exempted.
   * @param startNext Starts the items that may start now, and then calls `updateTimer`.
   */
  constructor(turns: DomainTurns<unknown>, slowAfterMs: number, now: () => number, startNext: () => void) {
    this.#turns = turns
    this.#slowAfterMs = slowAfterMs
    this.#now = now
    this.#startNext = startNext
  }

  /** The items that are under way, in the order in which they started. */
  get started(): Iterable<T> {
    return this.#started as Iterable<StartedItem> as Iterable<T>
  }

  get oldest(): T | undefined {
    return this.#started.first as T | undefined
  }

  /** Adds an item that is under way. */
  start(item: T): void {
    item.isExempt = false
    this.#started.add(item)
  }

  /**
   * Removes an item that is no longer under way at its site. Returns the outcome for
   * `DomainTurns.end`. Reads the clock only if the site is slow.
   */
  end(item: T): TurnOutcome {
    this.#started.delete(item)
    if (item.isExempt) return 'exempt'
    return this.#turns.isSlow(item.site) && this.#untilSlowMs(item, this.#now()) <= 0 ? 'slow' : 'in-time'
  }

  /**
   * Starts or stops the timer, after a change of the items that are under way or wait. Does not
   * read the clock, since a clock of the caller may throw.
   */
  updateTimer(delayMs = 0): void {
    const isNeeded = this.#turns.isBlocked && this.#slowAfterMs < Number.POSITIVE_INFINITY
    if (isNeeded === (this.#timer !== undefined)) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (!isNeeded) return
    this.#timer = setTimeout(() => this.#exemptSlow(), Math.min(Math.ceil(delayMs), MAX_TIMER_MS)).unref()
  }

  #untilSlowMs({ startedAt }: StartedItem, now: number): number {
    return startedAt + this.#slowAfterMs - now
  }

  /** Exempts slow items, the oldest first, as long as another item waits for what they hold. */
  #exemptSlow(): void {
    const now = this.#now()
    let nextMs = this.#slowAfterMs
    for (const item of this.#started) {
      if (item.isExempt) continue
      const untilSlowMs = this.#untilSlowMs(item, now)
      if (untilSlowMs > 0) {
        nextMs = Math.min(nextMs, untilSlowMs)
        break
      }
      if (this.#turns.exempt(item.site)) {
        item.isExempt = true
        this.#startNext()
      } else nextMs = this.#slowAfterMs * RECHECK_SHARE
    }
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.updateTimer(nextMs)
  }
}
