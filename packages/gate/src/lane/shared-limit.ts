// The limits of one registrable domain or IP address: the delay between requests, and how many may
// be under way. All its origins' lanes share them.
//
// If its first request would exceed a limit, a lane waits in line here, and holds nothing. When
// there is capacity, its `advance` is called. It keeps its position until it starts, since another
// limit may still make it wait.
//
// A lane may need an address and a domain whose slots come at different times. Other lanes could
// then take every slot of either, and it would never start. So an address is kept free for the
// first lane in its line, if that lane is also the first in the line of its domain. A domain is
// never kept free, so two limits cannot wait for each other.
import type { PaceLimits } from '@politely/core/engine'
import { Fifo } from '@politely/fetcher/internal'
import type { WaitCause } from '../pace/wait-cause.ts'
import type { WaitingLane } from './concurrency-limit.ts'
import { PacedKey, type PacerAndClock } from './paced-key.ts'

/** A registrable domain or an IP address with its own limits. */
export interface SharedKey {
  readonly level: 'domain' | 'address'
  /** Differs from every key of a lane. */
  readonly key: string
  /** The shortest delay between two requests; 0 if there need not be one. */
  readonly limits: PaceLimits
  /** How many requests may be under way at once. Infinity for no limit. */
  readonly maxConcurrent: number
}

export const NO_KEYS: readonly SharedKey[] = []

export class SharedLimit extends PacedKey {
  /** The delay between two requests. */
  readonly limits: PaceLimits
  readonly #maxConcurrent: number
  readonly #onIdle: () => void
  /** The lanes whose first request needs this limit. */
  readonly #lanes = new Set<WaitingLane>()
  /** Those that wait, in order of arrival. */
  readonly #waiting = new Fifo<WaitingLane>()
  /** The first lane in line, if the address is kept free for it. */
  #keptFreeFor: WaitingLane | undefined
  /**
   * True from `acquire` until `start` or `abandon`, if there is a delay: the gate calls `reserve`
   * for one request of a key at a time. Without a delay it does not call it.
   */
  #isReserving = false
  #isAdvancing = false

  /** @param onIdle Called when no lane needs the limit and no request is under way. */
  constructor({ level, key, limits, maxConcurrent }: SharedKey, context: PacerAndClock, onIdle: () => void) {
    super(level, key, context)
    this.limits = limits
    this.#maxConcurrent = maxConcurrent
    this.#onIdle = onIdle
  }

  get isFull(): boolean {
    return this.underWay >= this.#maxConcurrent
  }

  /** Whether requests need a slot of the pacer. */
  get hasDelay(): boolean {
    return this.limits.ownDelayMs > 0
  }

  /** How many lanes wait. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Estimates how long the last lane in line will wait for the delay. Milliseconds. */
  get lineWaitMs(): number {
    return this.expectedWaitMs(Math.max(0, this.waiting - 1))
  }

  /** The first request of this lane needs the limit from now on. */
  attach(lane: WaitingLane): void {
    this.#lanes.add(lane)
  }

  /** The first request of this lane no longer needs the limit. */
  detach(lane: WaitingLane): void {
    this.#lanes.delete(lane)
    this.leaveLine(lane)
    // Another process may wait behind this one in the pacer's queue, and the requests under way may
    // take long.
    if (this.#lanes.size === 0) this.leavePacerQueue()
    this.#checkIdle()
  }

  /** The first request of this lane waits for something else: those behind it move up. */
  leaveLine(lane: WaitingLane): void {
    if (this.#waiting.delete(lane)) this.advance()
  }

  isFirstInLine(lane: WaitingLane): boolean {
    return this.#waiting.first === lane
  }

  /**
   * Adds the lane to the line, unless its first request may start. Returns what the request has to
   * wait for. A lane that is in the line already keeps its position. The call starts no request,
   * so the results of other limits stay valid.
   */
  joinLineUnlessFree(lane: WaitingLane): WaitCause | undefined {
    const isKeptForAnother = this.#keptFreeFor !== undefined && this.#keptFreeFor !== lane
    const cause = this.startWait() ?? (isKeptForAnother ? this.delayCause : undefined)
    if (cause === undefined) return undefined
    this.#waiting.add(lane)
    return cause
  }

  /** Counts a request as under way. `start` or `abandon` must follow. */
  acquire(lane: WaitingLane): void {
    this.#waiting.delete(lane)
    if (this.#keptFreeFor === lane) this.#keptFreeFor = undefined
    this.underWay++
    this.#isReserving = this.hasDelay
  }

  /** The request has its slot and starts. */
  start(): void {
    this.#isReserving = false
    this.advance()
  }

  /**
   * The request of this lane does not start now. If the pacer has no slot for it, the lane keeps
   * its position in the line.
   */
  abandon(lane: WaitingLane, keepsPosition: boolean): void {
    this.#isReserving = false
    if (keepsPosition) this.#waiting.addFirst(lane)
    this.release()
  }

  /** Counts a request as ended. */
  release(): void {
    this.underWay--
    this.advance()
    this.#checkIdle()
  }

  /** Returns what every request has to wait for now. The end of that wait calls `advance`. */
  override startWait(): WaitCause | undefined {
    if (this.#isReserving) return { because: 'concurrency', level: this.level }
    return this.hasDelay || this.isFull ? super.startWait() : undefined
  }

  /**
   * Advances one waiting lane after the other, while this limit has capacity. Stops at `before`,
   * which is not advanced. A lane that is advanced may call this object in turn; the loop handles
   * that as well, so that calls do not nest.
   */
  advance(before?: WaitingLane): void {
    if (this.#isAdvancing) return
    this.#isAdvancing = true
    this.#keptFreeFor = undefined
    try {
      let lane = this.#waiting.first
      while (lane !== undefined && lane !== before && this.startWait() === undefined) {
        const next = this.#waiting.after(lane)
        if (lane.advance()?.level === 'gate') break // the limit of the gate would make the lanes behind it wait as well
        if (this.#waiting.first === lane && this.level === 'address' && lane.isFirstOfDomain) {
          this.#keptFreeFor = lane
          break
        }
        // Lanes may have joined or left the line meanwhile. If this one has left it, continues
        // with the next one, or from the first.
        if (this.#waiting.has(lane)) lane = this.#waiting.after(lane)
        else lane = next !== undefined && this.#waiting.has(next) ? next : this.#waiting.first
      }
    } finally {
      this.#isAdvancing = false
    }
  }

  #checkIdle(): void {
    if (this.#lanes.size > 0 || this.underWay > 0) return
    this.stopTimer()
    this.#onIdle()
  }
}

/**
 * The shared limits of a gate, by pace key. A limit that no request needs is deleted: the pacer
 * keeps the pace.
 */
export class SharedLimits {
  readonly #context: PacerAndClock
  readonly #limits = new Map<string, SharedLimit>()

  constructor(context: PacerAndClock) {
    this.#context = context
  }

  /** Returns the limit of a key, if a request needs it or is under way. */
  get(key: string): SharedLimit | undefined {
    return this.#limits.get(key)
  }

  /** Returns the limit of a key. Creates it if necessary. */
  of(sharedKey: SharedKey): SharedLimit {
    const { key } = sharedKey
    let limit = this.#limits.get(key)
    if (limit === undefined) {
      limit = new SharedLimit(sharedKey, this.#context, () => this.#limits.delete(key))
      this.#limits.set(key, limit)
    }
    return limit
  }
}
