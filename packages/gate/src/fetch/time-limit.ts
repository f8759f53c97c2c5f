// The option `requestTimeoutMs` of politely(fetch): a time limit for one request, from its sending to
// the end of its response.
import { withoutCredentials } from '@politely/fetcher'
import { onAbort } from '@politely/fetcher/internal'
import { durationRoundedUp } from '../report/duration.ts'
import type { FetchResponse } from './fetch-response.ts'
import { StopClock } from './stop-clock.ts'

/**
 * A time limit. Its `signal` is aborted when the time is over, and when the caller's signal is
 * aborted. The limit stays in force for the body of the response, except with `untilHeaders`; the
 * caller's signal always does.
 */
export class TimeLimit {
  readonly #controller = new AbortController()
  readonly #clock: StopClock
  readonly #removeListener: (() => void) | undefined
  #hasResponse = false
  /** Set if the time was over before the response. */
  error: DOMException | undefined

  constructor(url: string, ms: number, callersSignal: AbortSignal | undefined) {
    this.#clock = new StopClock(
      () => performance.now(),
      () => this.#abort(url, ms),
    )
    this.#clock.setLimit(ms)
    this.#clock.start()
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

  /** Runs `work`. The time stands still meanwhile. */
  get outside(): StopClock['outside'] {
    return this.#clock.outside
  }

  /**
   * To be called when the headers of the response have arrived. The end of its body cannot be seen
   * here, so the timer runs on, but no longer keeps the process alive.
   */
  responded(response: Pick<FetchResponse, 'body'>, untilHeaders: boolean): void {
    this.#hasResponse = true
    if (!response?.body) this.end()
    else if (untilHeaders) this.#clock.end()
    else this.#clock.keepsAlive = false
  }

  end(): void {
    this.#clock.end()
    this.#removeListener?.()
  }

  #abort(url: string, ms: number): void {
    this.end()
    const what = this.#hasResponse ? 'the response has not ended' : 'there was no response'
    const error = new DOMException(
      `${withoutCredentials(url)}: ${what} within ${durationRoundedUp(ms)} after the request was sent (requestTimeoutMs); the wait in the queue does not count`,
      'TimeoutError',
    )
    if (!this.#hasResponse) this.error = error
    this.#controller.abort(error)
  }
}
