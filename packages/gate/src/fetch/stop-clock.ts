// Measures how long a request is under way, for the time limits of politely(fetch).
import { MAX_TIMEOUT_MS } from '@politely/fetcher/internal'

/**
 * Calls a function when it has run for a given time. It stands still at first, and has no limit. Its
 * timer may fire a millisecond early by the clock.
 */
export class StopClock {
  readonly #now: () => number
  readonly #onLimit: () => void
  #limitMs = Number.POSITIVE_INFINITY
  /** How long it had run when it was stopped last. Milliseconds. */
  #ranMs = 0
  /** When it was started last; undefined while it stands still. */
  #startedAt: number | undefined
  #timer: NodeJS.Timeout | undefined
  #keepsAlive = true
  /** How many calls of `outside` are under way. */
  #pauses = 0
  #hasRun = false
  #isOver = false

  constructor(now: () => number, onLimit: () => void) {
    this.#now = now
    this.#onLimit = onLimit
  }

  /** Whether it was ever started. */
  get hasRun(): boolean {
    return this.#hasRun
  }

  get isRunning(): boolean {
    return this.#startedAt !== undefined
  }

  /** Milliseconds; Infinity without a limit. */
  get leftMs(): number {
    const sinceStartMs = this.#startedAt === undefined ? 0 : this.#now() - this.#startedAt
    return this.#limitMs - this.#ranMs - sinceStartMs
  }

  /** Call it before `start`, or call `restartTimer` after it. */
  setLimit(ms: number): void {
    this.#limitMs = ms
  }

  /** Whether its timer keeps the process alive. Default true. */
  set keepsAlive(keepsAlive: boolean) {
    this.#keepsAlive = keepsAlive
    if (keepsAlive) this.#timer?.ref()
    else this.#timer?.unref()
  }

  start(): void {
    if (this.isRunning || this.#isOver) return
    this.#startTimer(this.leftMs)
    this.#startedAt = this.#now()
    this.#hasRun = true
  }

  stop(): void {
    if (this.#startedAt === undefined) return
    clearTimeout(this.#timer)
    this.#ranMs += this.#now() - this.#startedAt
    this.#startedAt = undefined
  }

  /** Runs `work`. A running clock stands still meanwhile. */
  readonly outside = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!this.isRunning && this.#pauses === 0) return work()
    if (this.#pauses++ === 0) this.stop()
    try {
      return await work()
    } finally {
      if (--this.#pauses === 0) this.start()
    }
  }

  /** Stops for good. */
  end(): void {
    this.#isOver = true
    this.stop()
  }

  restartTimer(): void {
    if (this.isRunning) this.#startTimer(this.leftMs)
  }

  #startTimer(leftMs: number): void {
    clearTimeout(this.#timer)
    if (leftMs === Number.POSITIVE_INFINITY) return
    this.#timer = setTimeout(this.#onLimit, Math.min(Math.max(leftMs, 0), MAX_TIMEOUT_MS))
    if (!this.#keepsAlive) this.#timer.unref()
  }
}
