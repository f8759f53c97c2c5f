// Warns if two gates of a process visit one site within its delay.
//
// By default, each gate has its own LocalPacer. If a program calls `politely` for each request,
// each request gets a gate, and no request waits for another. The gates don't know each other, so
// this table has the last starts of all of them, by pace key. A record names its pacer by a number,
// so it keeps neither the pacer nor the gate in memory.
import { escapeControls } from '@politely/core/internal'
import { boundedMap } from '@politely/fetcher/internal'
import type { LocalPacer } from './local-pacer.ts'

/** The last start of a pace key. */
interface LastStart {
  pacer: number
  /** The end of its delay. Milliseconds since 1970, by the default clock of a gate. */
  until: number
}

/** For how many pace keys the last start is recorded. Our choice. */
const MAX_KEYS = 1_000

const lastStarts = boundedMap<LastStart>(MAX_KEYS)
const numbers = new WeakMap<LocalPacer, number>()
let pacers = 0
let hasWarned = false

/** Forgets all starts and the warning. For tests. */
export function forgetLocalStarts(): void {
  lastStarts.clear()
  hasWarned = false
}

/** Records the starts of one gate that has a LocalPacer and the default clock. */
export class LocalStarts {
  readonly #pacer: number

  /** Gates that share a pacer share its pace. */
  constructor(pacer: LocalPacer) {
    this.#pacer = numbers.get(pacer) ?? ++pacers
    numbers.set(pacer, this.#pacer)
  }

  /**
   * A request of this pace key and origin starts. Emits the process warning, once for the process.
   * @param at The time of the gate's clock.
   */
  started(key: string, origin: string, at: number, delayMs: number): void {
    if (delayMs === 0 || hasWarned) return
    // Functions of two gates may return one text for different sites.
    const name = key.startsWith('key:') ? `${origin} (${key})` : key
    const last = lastStarts.peek(name)
    if (last === undefined) {
      lastStarts.set(name, { pacer: this.#pacer, until: at + delayMs })
      return
    }
    const isTooEarly = last.pacer !== this.#pacer && at < last.until
    last.pacer = this.#pacer
    last.until = at + delayMs
    if (!isTooEarly) return
    hasWarned = true
    lastStarts.clear()
    process.emitWarning(
      `two gates of this process visit ${escapeControls(name)}, and together they do not keep its delay of ${Math.round(delayMs)} ms, since each gate keeps a pace of its own; create one gate for all requests: call politely once, outside of functions, or write politely(fetch, { gate })`,
      { type: 'PolitelyWarning', code: 'POLITELY_TWO_GATES' },
    )
  }
}
