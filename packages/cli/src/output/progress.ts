// Tells on stderr how far work is that takes longer than a second.

/** How often the line is redrawn in a terminal, and written anew into a file or pipe. */
const REDRAW_MS = 250
const REPEAT_MS = 10_000
const START_MS = 1000

/**
 * Draws one line with count, rate and time left. It is quiet for the first second, and if the
 * output itself appears in a terminal.
 */
export class Progress {
  readonly #unit: string
  readonly #startedAt = performance.now()
  readonly #isTerminal = process.stderr.isTTY === true
  readonly #isQuiet = process.stdout.isTTY === true
  #shownAt: number | undefined

  /** @param unit What is counted, such as `URLs`. */
  constructor(unit: string) {
    this.#unit = unit
  }

  /** @param part How much of the input was read, from 0 to 1, if its size is known. */
  update(count: number, part?: number): void {
    const now = performance.now()
    const next = this.#shownAt === undefined ? this.#startedAt + START_MS : this.#shownAt + this.#pauseMs
    if (this.#isQuiet || now < next) return
    this.#shownAt = now
    const elapsed = now - this.#startedAt
    const left = part === undefined || part === 0 ? '' : `, ${timeText((elapsed * (1 - part)) / part)} left`
    this.#draw(`${this.#rateText(count, elapsed)}${left}`)
  }

  /** Replaces the line by the totals, if there was a line. */
  end(count: number): void {
    if (this.#shownAt === undefined) return
    const elapsed = performance.now() - this.#startedAt
    this.#draw(`${this.#rateText(count, elapsed)}, ${timeText(elapsed)}${this.#isTerminal ? '\n' : ''}`)
  }

  get #pauseMs(): number {
    return this.#isTerminal ? REDRAW_MS : REPEAT_MS
  }

  #rateText(count: number, elapsedMs: number): string {
    const rate = Math.round((count / elapsedMs) * 1000).toLocaleString('en')
    return `${count.toLocaleString('en')} ${this.#unit}, ${rate} a second`
  }

  #draw(text: string): void {
    process.stderr.write(this.#isTerminal ? `\r\u001b[Kpolitely: ${text}` : `politely: ${text}\n`)
  }
}

function timeText(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`
}
