// How much time to add to the delay after a slot, so that no gap between two requests of the fleet
// is shorter than the delay.
//
// A slot begins by the server's clock, while its script runs. Its request starts later: the reply
// has to arrive, and a request with several slots waits for all replies. Without an allowance, a
// late request A would come too close to the next request B of another worker. So A's worker asks
// for an allowance with its slot, and starts A before the allowance is over (`startWithinMs`). The
// script adds the allowance to the delay before B's slot.
//
//   server     slot of A ─────────────── delay ──────────────── allowance ── slot of B
//   worker 1      └── reply ──> A starts ─────────────── delay ──────────┐   │
//   worker 2                                                             ·   └── reply ──> B starts
//
// The allowance covers replies that take up to twice as long as expected. If a reply took longer,
// its slot isn't used, and is reserved again with a larger allowance. The allowance has a limit, since
// the first slots after a loss of data come that much later. A test clock doesn't advance during a
// call, so all of these times are 0.

/**
 * How long the first reply is expected to take. Later replies: as long as the slowest of the last
 * few.
 */
const FIRST_EXPECTED_MS = 10
const EXPECTED_DECAY = 0.9
/** The shortest time that a reply may take without the slot being reserved again. */
const MIN_REPLY_MS = 2
/** The longest, as a part of `timeoutMs`. Our choice. */
const MAX_REPLY = 0.25
/** How long the gate may take from the reply to its last slot until the request starts. */
const START_MS = 2
/** A request has at most this many slots: of its address, its domain and its origin. */
const MAX_LEVELS = 3
/**
 * How late the timer of a worker that waits for its turn may be. If it is later, the next worker
 * calls too early.
 */
const TIMER_MS = 3
/** A pushback that arrives meanwhile comes too late for the request of the slot. Our choice. */
const MAX_SOON_MS = 50

/** The allowances of one slot. Milliseconds. */
interface Allowances {
  /** A slot whose reply took longer is not used. */
  readonly maxReplyMs: number
  /** The longest time from the slot to the start of its request. */
  readonly allowanceMs: number
  /** The longest time from a turn to the call of its worker. */
  readonly timerAllowanceMs: number
  /** The largest `allowanceMs` of any worker of the fleet. */
  readonly maxAllowanceMs: number
}

export class SlotAllowance {
  /** The slot of a later reply is not used. Milliseconds. */
  readonly maxReplyMs: number
  /** The longest allowance of any worker with this `timeoutMs`. Milliseconds. */
  readonly maxAllowanceMs: number
  readonly #hasTestClock: boolean
  /** How long a reply takes at most, as far as the last replies show. Milliseconds. */
  #expectedMs = FIRST_EXPECTED_MS

  constructor(timeoutMs: number, hasTestClock: boolean) {
    this.#hasTestClock = hasTestClock
    this.maxReplyMs = timeoutMs * MAX_REPLY
    this.maxAllowanceMs = hasTestClock ? 0 : MAX_LEVELS * this.maxReplyMs + START_MS
  }

  /**
   * @param furtherSlots How many slots of the same request are reserved after this one.
   * @param allowedMs How much later than its start another program may send the request.
   */
  next(furtherSlots: number, allowedMs = 0): Allowances {
    const maxAllowanceMs = this.maxAllowanceMs + allowedMs
    if (this.#hasTestClock) return { maxReplyMs: 0, allowanceMs: 0, timerAllowanceMs: 0, maxAllowanceMs }
    const maxReplyMs = Math.min(Math.max(2 * this.#expectedMs, MIN_REPLY_MS), this.maxReplyMs)
    const allowanceMs = (furtherSlots + 1) * maxReplyMs + START_MS
    return { maxReplyMs, allowanceMs, timerAllowanceMs: this.#expectedMs + TIMER_MS, maxAllowanceMs }
  }

  /**
   * How long before its time a slot may be reserved: a worker that calls a little early need not
   * call again. Undefined if the slot must be free now. Milliseconds.
   */
  soonMs({ allowanceMs, timerAllowanceMs, maxAllowanceMs }: Omit<Allowances, 'maxReplyMs'>): number | undefined {
    const soonMs = Math.min(MAX_SOON_MS, maxAllowanceMs - allowanceMs - timerAllowanceMs)
    return soonMs > 0 ? soonMs : undefined
  }

  /** A reply took this long. */
  replied(tookMs: number): void {
    this.#expectedMs = Math.max(tookMs, this.#expectedMs * EXPECTED_DECAY)
  }
}
