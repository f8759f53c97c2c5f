// The end of an attempt: one for all its requests, redirects and retries, and whatever else they wait for.

export class Deadline {
  readonly #timer: NodeJS.Timeout
  readonly #listeners = new Set<() => void>()
  #controller: AbortController | undefined
  #isOver = false

  /** @param ms Milliseconds from now. */
  constructor(ms: number) {
    this.#timer = setTimeout(() => this.end(), ms)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** For who knows signals only. Made when it is asked for: most attempts need none, and they take long to make and to heed. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#isOver) this.#controller.abort()
    }
    return this.#controller.signal
  }

  /** Calls the listener when the deadline is over, or at once if it is. @returns What takes the listener away again. */
  onOver(listener: () => void): () => void {
    if (this.#isOver) listener()
    else this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** It is over, before its time. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.clear()
    for (const listener of this.#listeners) listener()
    this.#controller?.abort()
  }

  /** Nothing waits for it any more. */
  clear(): void {
    clearTimeout(this.#timer)
  }

  /** The promise, or a rejection when the deadline is over before. Who gave the promise may still have to clean up after it. */
  orBefore<T>(work: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const forget = this.onOver(() => reject(new Error('the deadline passed')))
    work.then(resolve, reject).finally(forget)
    return promise
  }
}
