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
// its slot isn't used, and is reserved again with a larger allowance. A test clock doesn't advance
// during a call, so all of these times are 0.

/**
 * How long the first reply is expected to take. Later replies: as long as the slowest of the last
 * few.
 */
const FIRST_EXPECTED_MS = 10
const EXPECTED_DECAY = 0.9
/** The shortest time that a reply may take without the slot being reserved again. */
const MIN_REPLY_MS = 2
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
const NONE = { maxReplyMs: 0, allowanceMs: 0, timerAllowanceMs: 0, soonMs: undefined }

/** The allowances of one slot. Milliseconds. */
interface Allowances {
  /** A slot whose reply took longer is not used. */
  readonly maxReplyMs: number
  /** The longest time from the slot to the start of its request. */
  readonly allowanceMs: number
  /** The longest time from a turn to the call of its worker. */
  readonly timerAllowanceMs: number
  /** The largest `allowanceMs` of any worker of the fleet with this `timeoutMs`. */
  readonly maxAllowanceMs: number
  /**
   * How long before its time a slot may be reserved: a worker that calls a little early need not
   * call again. Undefined if the slot must be free now.
   */
  readonly soonMs: number | undefined
}

export class SlotAllowance {
  /** A later reply is not used. Milliseconds. */
  readonly #timeoutMs: number
  readonly #hasTestClock: boolean
  /** How long a reply takes at most, as far as the last replies show. Milliseconds. */
  #expectedMs = FIRST_EXPECTED_MS

  constructor(timeoutMs: number, hasTestClock: boolean) {
    this.#hasTestClock = hasTestClock
    this.#timeoutMs = timeoutMs
  }

  /**
   * @param furtherSlots How many slots of the same request are reserved after this one. There are
   * none after the slot of a lane, so the allowance of such a key has no more than one reply.
   * @param allowedMs How much later than its start another program may send the request.
   */
  next(furtherSlots: number, allowedMs = 0): Allowances {
    if (this.#hasTestClock) return { ...NONE, maxAllowanceMs: allowedMs }
    const maxReplyMs = Math.min(Math.max(2 * this.#expectedMs, MIN_REPLY_MS), this.#timeoutMs)
    const allowanceMs = (furtherSlots + 1) * maxReplyMs + START_MS
    const timerAllowanceMs = this.#expectedMs + TIMER_MS
    const longestMs = (furtherSlots === 0 ? 1 : MAX_LEVELS) * this.#timeoutMs + START_MS
    const soonMs = Math.min(MAX_SOON_MS, longestMs - allowanceMs - timerAllowanceMs)
    const maxAllowanceMs = longestMs + allowedMs
    return { maxReplyMs, allowanceMs, timerAllowanceMs, maxAllowanceMs, soonMs: soonMs > 0 ? soonMs : undefined }
  }

  /** A reply took this long. */
  replied(tookMs: number): void {
    this.#expectedMs = Math.max(tookMs, this.#expectedMs * EXPECTED_DECAY)
  }
}
