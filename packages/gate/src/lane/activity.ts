// Counts the work that is under way in a gate, so that `drain` can wait for its end.

export class Activity {
  #count = 0
  readonly #listeners = new Set<() => void>()

  /**
   * Counts one more: a call of `enter`, or something else that may lead to one. Each needs one call
   * of `end`.
   */
  begin(): void {
    this.#count++
  }

  end(): void {
    this.#count--
    if (this.#count > 0 || this.#listeners.size === 0) return
    const listeners = [...this.#listeners]
    this.#listeners.clear()
    for (const listener of listeners) listener()
  }

  /** Counts one more. Returns a function to call once, when it has ended. */
  hold(): () => void {
    this.begin()
    return () => this.end()
  }

  /**
   * Resolves when nothing is under way, which may be at once. Work that begins before that is
   * awaited too.
   */
  async idle(): Promise<void> {
    while (this.#count > 0) await new Promise<void>((resolve) => this.#listeners.add(resolve))
  }
}
