// Whether the server is busy: its timers fire late, or its heap is almost full.
import { getHeapStatistics, type HeapInfo } from 'node:v8'

const SAMPLE_MS = 500
/** A process that starts, or collects its garbage, may stand still for seconds. Our choice. */
const MAX_LATE_MS = 5_000
const MAX_HEAP_PART = 0.9

/**
 * Takes a sample twice a second. A process that is stopped, or gets no CPU, takes no samples: when it
 * goes on, one sample is late, and the next samples are good again.
 */
export class BusyWatch implements Disposable {
  readonly #timer: NodeJS.Timeout
  /** How many of the latest samples were bad. */
  #bad = 0

  /** @param heap Returns the sizes of the heap, in bytes. */
  constructor(heap: () => Pick<HeapInfo, 'used_heap_size' | 'heap_size_limit'> = getHeapStatistics) {
    let due = performance.now() + SAMPLE_MS
    this.#timer = setInterval(() => {
      const now = performance.now()
      const { used_heap_size, heap_size_limit } = heap()
      const isBad = now - due > MAX_LATE_MS || used_heap_size > MAX_HEAP_PART * heap_size_limit
      this.#bad = isBad ? this.#bad + 1 : 0
      due = now + SAMPLE_MS
    }, SAMPLE_MS).unref()
  }

  /** Whether the last two samples were bad. One of them may be an accident. */
  get isBusy(): boolean {
    return this.#bad >= 2
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }
}
