// The option `requestTimeoutMs` of politely(fetch): a time limit for one request, from its sending to
// the end of its response.
import { withoutCredentials } from '@politely/fetcher'
import { onAbort } from '@politely/fetcher/internal'
import { durationText } from '../report/duration.ts'

/** The part of a response that a time limit needs. */
interface WithBody {
  readonly body: object | null
}

/**
 * A time limit. Its `signal` is aborted when the time is over, and when the caller's signal is
 * aborted. The limit stays in force for the body of the response, except with `untilHeaders`; the
 * caller's signal always does.
 */
export class TimeLimit {
  readonly #controller = new AbortController()
  readonly #timeOut: () => void
  readonly #removeListener: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  /** The time that is left, in milliseconds, when the timer was started last. */
  #leftMs: number
  /** When that was, by `performance.now()`. */
  #startedAt = 0
  /** How many calls of `outside` are under way. */
  #pauses = 0
  #hasResponse = false
  #isOver = false
  /** Set if the time was over before the response. */
  error: DOMException | undefined

  constructor(url: string, ms: number, callersSignal: AbortSignal | undefined) {
    this.#leftMs = ms
    this.#timeOut = () => this.#abort(url, ms)
    this.#start()
    this.#removeListener = callersSignal
      ? onAbort(callersSignal, () => {
          this.end()
          this.#controller.abort(callersSignal.reason)
        })
      : undefined
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /**
   * To be called when the headers of the response have arrived. The end of its body cannot be seen
   * here, so the timer runs on, but no longer keeps the process alive.
   */
  responded(response: WithBody, untilHeaders: boolean): void {
    this.#hasResponse = true
    if (!response?.body) this.end()
    else if (untilHeaders) this.#stop()
    else this.#timer?.unref()
  }

  /** Runs `work`. The time stands still meanwhile. */
  readonly outside = async <T>(work: () => Promise<T>): Promise<T> => {
    if (this.#pauses++ === 0) {
      clearTimeout(this.#timer)
      this.#leftMs -= performance.now() - this.#startedAt
    }
    try {
      return await work()
    } finally {
      if (--this.#pauses === 0 && !this.#isOver) this.#start()
    }
  }

  end(): void {
    this.#stop()
    this.#removeListener?.()
  }

  #stop(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
  }

  #start(): void {
    this.#startedAt = performance.now()
    this.#timer = setTimeout(this.#timeOut, Math.max(this.#leftMs, 0))
    if (this.#hasResponse) this.#timer.unref()
  }

  #abort(url: string, ms: number): void {
    this.end()
    const what = this.#hasResponse ? 'the response has not ended' : 'there was no response'
    const error = new DOMException(
      `${withoutCredentials(url)}: ${what} within ${durationText(ms)} after the request was sent (requestTimeoutMs); the wait in the queue does not count`,
      'TimeoutError',
    )
    if (!this.#hasResponse) this.error = error
    this.#controller.abort(error)
  }
}
