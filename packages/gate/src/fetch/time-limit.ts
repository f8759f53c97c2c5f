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
 * Calls `send`, which sends a request, with a signal that is aborted when the time is over, and when
 * the caller's signal is aborted. The time limit stays in force for the body of the response, except
 * with `untilHeaders`; the caller's signal always does.
 */
export async function withTimeLimit<R extends WithBody>(
  url: string,
  ms: number,
  callersSignal: AbortSignal | undefined,
  untilHeaders: boolean,
  send: (signal: AbortSignal) => Promise<R>,
): Promise<R> {
  const limit = new TimeLimit(url, ms, callersSignal)
  try {
    const response = await send(limit.signal)
    limit.responded(response, untilHeaders)
    return response
  } catch (error) {
    limit.end()
    throw limit.error ?? error // node-fetch, for example, throws an error of its own
  }
}

class TimeLimit {
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout
  readonly #removeListener: (() => void) | undefined
  #hasResponse = false
  /** Set when the time is over. */
  error: DOMException | undefined

  constructor(url: string, ms: number, callersSignal: AbortSignal | undefined) {
    this.#timer = setTimeout(() => this.#timeOut(url, ms), ms)
    this.#removeListener = callersSignal
      ? onAbort(callersSignal, () => {
          clearTimeout(this.#timer)
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
    else if (untilHeaders) clearTimeout(this.#timer)
    else this.#timer.unref()
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#removeListener?.()
  }

  #timeOut(url: string, ms: number): void {
    this.end()
    const what = this.#hasResponse ? 'the response has not ended' : 'there was no response'
    this.error = new DOMException(
      `${withoutCredentials(url)}: ${what} within ${durationText(ms)} after the request was sent (requestTimeoutMs); the wait in the queue does not count`,
      'TimeoutError',
    )
    this.#controller.abort(this.error)
  }
}
