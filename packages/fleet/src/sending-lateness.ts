// How late a worker sends its requests, judged by its last 50.
//
// A slot allows for the time until its request starts. The request may be sent later than that: on a
// new connection, or in a process that hardly runs. Then the worker tells the server, which counts
// the delay from there. If that call might come after the next slot, the server has to keep the
// next slot back until the request was sent. That costs a call for each request.
//
// A request that is sent in time is recorded only if the server waits for it. So a worker whose
// requests are late is soon trusted again, and the others stay trusted.

/** Our choice. */
const REQUESTS = 50
/** Of the delay. If the call is lost, the gap is shorter by no more than this. Our choice. */
const SHORT = 0.1

export class SendingLateness {
  /** The most among the last `REQUESTS` before the present ones. Unknown at first. */
  #beforeMs = Number.POSITIVE_INFINITY
  #presentMs = 0
  #present = 0

  /** @param lateMs How long after the allowance of its slot a request was sent. Milliseconds. */
  sent(lateMs: number): void {
    this.#presentMs = Math.max(this.#presentMs, lateMs)
    if (++this.#present < REQUESTS) return
    this.#beforeMs = this.#presentMs
    this.#presentMs = 0
    this.#present = 0
  }

  /** Whether a request is sent soon, compared with the delay after it. Milliseconds. */
  isShort(delayMs: number): boolean {
    return Math.max(this.#beforeMs, this.#presentMs) <= delayMs * SHORT
  }
}
