// One flight per origin: a thousand callers who want the same robots.txt at once make one fetch.

export class Flights<T> {
  readonly #underWay = new Map<string, Promise<T>>()

  /**
   * Joins the flight that is under way for `key`, or starts one. An abort leaves this caller only: the flight goes on for the
   * others, and its result is kept for who asks next.
   */
  join(key: string, start: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    let flight = this.#underWay.get(key)
    if (flight === undefined) {
      flight = start().finally(() => this.#underWay.delete(key))
      this.#underWay.set(key, flight)
      // Every caller may have left by the time it fails; those who have not are told by their own promise.
      flight.catch(() => undefined)
    }
    return signal === undefined ? flight : leavable(flight, signal)
  }

  /** Ends when all flights under way have ended, however they end. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay.values())
  }
}

/** The same, but an abort rejects it at once. */
export function leavable<T>(flight: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const leave = () => reject(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  flight.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  return promise
}
