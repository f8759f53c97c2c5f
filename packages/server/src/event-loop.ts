// How late the timers of this process fire.

const SAMPLE_MS = 500

/**
 * Samples the delay of the event loop twice a second. @fastify/under-pressure would take a second
 * without samples, which a busy machine causes, for an infinite delay.
 */
export class EventLoopDelay implements Disposable {
  readonly #timer: NodeJS.Timeout
  /** The last two samples, in milliseconds. */
  #samples: readonly [number, number] = [0, 0]

  constructor() {
    let due = performance.now() + SAMPLE_MS
    this.#timer = setInterval(() => {
      const now = performance.now()
      this.#samples = [now - due, this.#samples[0]]
      due = now + SAMPLE_MS
    }, SAMPLE_MS).unref()
  }

  /** Whether both of the last two samples were later than this. One of them may be an accident. */
  exceeds(ms: number): boolean {
    return Math.min(...this.#samples) > ms
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
