// The option `callerTimeouts: 'from-sending'`: a timeout in the signal of a call counts only while a
// request of the call is under way.
//
// The length of the timeout T cannot be read from a signal. It is known when the signal aborts: it is
// the time since the call. The fetch gets another signal, which aborts when the requests of the call
// have been under way for T. One call, with `AbortSignal.timeout(10_000)`:
//
//   | after | what happens                                   | the clock        |
//   |-------|------------------------------------------------|------------------|
//   |   0 s | the call; its request waits in the queue       | stands at 0 s    |
//   |   7 s | the request is sent (`start`)                  | runs             |
//   |   9 s | a redirect; the next hop waits (`stop`)        | stands at 2 s    |
//   |  10 s | the caller's signal aborts, so T is 10 s       | gets its limit   |
//   |  12 s | the next hop is sent                           | runs             |
//   |  20 s | the hop has no response yet: the call rejects  | reaches its limit|
import { onAbort } from '@politely/fetcher/internal'
import { isTimeout } from '../report/aborted-wait.ts'
import { StopClock } from './stop-clock.ts'

/** When nothing can read a body any more, its call needs its signal no longer. */
const unreachable = new FinalizationRegistry<CallerTimeout>((timeout) => timeout.end())

/** The timeout of one call: of all its hops and attempts. */
export class CallerTimeout {
  readonly #controller = new AbortController()
  readonly #clock: StopClock
  readonly #removeListener: () => void
  /** The reason of the caller's signal, once its timeout has fired. */
  #reason: unknown
  #hasStarted = false

  /** @param callersSignal Is not aborted yet. */
  constructor(callersSignal: AbortSignal, now: () => number) {
    const calledAt = now()
    this.#clock = new StopClock(now, () => this.#check())
    this.#removeListener = onAbort(callersSignal, () => {
      const { reason } = callersSignal
      if (isTimeout(reason)) this.#fired(reason, now() - calledAt)
      else this.#abort(reason)
    })
  }

  /** Is aborted with the caller's reason: when T is used up, or at once for another reason than a timeout. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Runs `work`. The time stands still meanwhile. */
  get outside(): StopClock['outside'] {
    return this.#clock.outside
  }

  /** A request is about to be sent. @throws the caller's reason if its timeout is used up. */
  start(): void {
    if (this.#clock.leftMs <= 0) this.#abort(this.#reason)
    this.signal.throwIfAborted()
    this.#clock.keepsAlive = true
    this.#clock.start()
    this.#hasStarted = true
  }

  /** A wait begins. */
  stop(): void {
    this.#clock.stop()
  }

  /** The caller gets a response. Nothing shows when its body has been read. */
  returned({ body }: { readonly body: object | null }): void {
    // A response from a cache has used no connection.
    if (body === null || !this.#hasStarted) this.end()
    else {
      this.#clock.keepsAlive = false
      this.#clock.start() // it stands if the next attempt was refused, and this response is of the one before
      unreachable.register(body, this)
    }
  }

  /** The caller's signal has no effect any more. */
  end(): void {
    this.#clock.end()
    this.#removeListener()
  }

  #fired(reason: unknown, ms: number): void {
    this.#reason = reason
    this.#clock.setLimit(ms)
    if (this.#clock.isRunning) this.#check()
  }

  #check(): void {
    if (this.#clock.leftMs <= 0) this.#abort(this.#reason)
    else this.#clock.restartTimer() // a timer may be early
  }

  #abort(reason: unknown): void {
    this.end()
    this.#controller.abort(reason)
  }
}
