// The deadline of an attempt. It bounds all its requests, redirects, retries and lookups together.

export class Deadline {
  readonly #ms: number
  #timer: NodeJS.Timeout
  /** When the deadline passes, by `performance.now()`. */
  #endsAt: number
  readonly #listeners = new Set<() => void>()
  #controller: AbortController | undefined
  #isOver = false

  /** @param ms Milliseconds from now: the option `timeoutMs`. */
  constructor(ms: number) {
    this.#ms = ms
    this.#endsAt = performance.now() + ms
    this.#timer = setTimeout(() => this.end(), ms)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** What to say of an attempt that the deadline has ended. */
  get explanation(): string {
    return `the deadline of ${this.#ms} ms (timeoutMs) passed`
  }

  /**
   * A signal for APIs that need one. Created on first use: most attempts need none, and signals are
   * slow to create and to observe.
   */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#isOver) this.#controller.abort()
    }
    return this.#controller.signal
  }

  /**
   * Calls the listener when the deadline passes, or at once if it has passed. @returns A function
   * that removes the listener.
   */
  onOver(listener: () => void): () => void {
    if (this.#isOver) listener()
    else this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Ends the deadline early. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.clear()
    for (const listener of this.#listeners) listener()
    this.#controller?.abort()
  }

  /** Stops the timer, since nothing waits any more. */
  clear(): void {
    clearTimeout(this.#timer)
  }

  /**
   * Settles like `work`, and does not count its time: the client waits for itself, not for the
   * site.
   */
  async pauseDuring<T>(work: Promise<T>): Promise<T> {
    this.clear()
    const leftMs = this.#endsAt - performance.now()
    const result = await work
    this.#endsAt = performance.now() + leftMs
    this.#timer = setTimeout(() => this.end(), leftMs)
    return result
  }

  /**
   * Settles like `work`, or rejects when the deadline passes first. The caller may then still have
   * to clean up the result of `work`.
   */
  orBefore<T>(work: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const forget = this.onOver(() => reject(new Error(this.explanation)))
    work.then(resolve, reject).finally(forget)
    return promise
  }
}
