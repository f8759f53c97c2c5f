// Writes a line about the progress of a crawl at regular times.
import type { GateCounters } from './counters.ts'
import { durationRoundedUp } from './duration.ts'
import type { ReportingGate } from './events.ts'
import type { GateLog } from './gate-log.ts'

/** Returns the sum of the values of a record. */
const sumOf = (counts: Readonly<Partial<Record<string, number>>>): number =>
  Object.values(counts).reduce<number>((sum, count = 0) => sum + count, 0)

let hasWarned = false

/** Emits a process warning: no logger gets the lines. Once for the process. */
export function warnOfProgress(everyMs: number): void {
  if (hasWarned) return
  hasWarned = true
  process.emitWarning(
    `progressMs: ${everyMs} has no effect without a logger that has the method info; write logger: console`,
    { type: 'PolitelyWarning', code: 'POLITELY_PROGRESS' },
  )
}

export class ProgressLog {
  readonly #gate: ReportingGate
  readonly #log: GateLog
  readonly #everyMs: number
  #timer: NodeJS.Timeout | undefined
  #before: GateCounters

  /** Starts at once. The timer does not keep the process alive. */
  constructor(gate: ReportingGate, log: GateLog, everyMs: number) {
    this.#gate = gate
    this.#log = log
    this.#everyMs = everyMs
    this.#before = gate.counters
    this.#startTimer()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #startTimer(): void {
    this.#timer = setTimeout(() => {
      this.#startTimer()
      this.#write()
    }, this.#everyMs).unref()
  }

  #write(): void {
    const { counters, gauges } = this.#gate
    const started = counters.started - this.#before.started
    const refused = sumOf(counters.refusals) - sumOf(this.#before.refusals)
    const pushbacks = counters.pushbacks - this.#before.pushbacks
    this.#before = counters
    if (started + refused + pushbacks + gauges.waiting + gauges.underWay === 0) return // the crawl is idle
    this.#log.info(
      `in ${durationRoundedUp(this.#everyMs)}: started ${started}, refused ${refused}, pushed back ${pushbacks}; now: under way ${gauges.underWay}, waiting ${gauges.waiting}${this.#causes()}, queues ${gauges.queues}`,
    )
  }

  /** Says what the requests wait for, the most frequent cause first. */
  #causes(): string {
    const waiting = new Map<string, number>()
    for (const { heldBy, waiting: count } of this.#gate.queues())
      if (heldBy !== undefined) waiting.set(heldBy, (waiting.get(heldBy) ?? 0) + count)
    const causes = [...waiting].toSorted(([, a], [, b]) => b - a).map(([cause, count]) => `${cause} ${count}`)
    return causes.length === 0 ? '' : ` (${causes.join(', ')})`
  }
}
