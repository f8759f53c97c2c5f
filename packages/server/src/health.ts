// Whether the pacer and the store of the server work. An outage shows without traffic too: the
// server calls each of them every few seconds. It tells of an outage once when it begins, and once when
// it ends.
import { escapeControls, textWithoutCredentials } from '@politely/core/internal'
import type { Logger } from '@politely/fetcher'
import { clientPort, messageOf } from '@politely/fetcher/internal'
import type { PoliteGate } from '@politely/gate'
import { type CheckedPacer, durationRoundedUp, gatePort, type PacerOutage } from '@politely/gate/internal'

/** What fails, for /readyz. */
export interface Degraded {
  readonly degraded: 'pacer-failure' | 'store-failure'
  /** Milliseconds since 1970. */
  readonly since: number
}

export interface HealthOptions {
  readonly gate: PoliteGate
  /** What the log calls the pacer. Undefined: its class. */
  readonly pacerName: string | undefined
  readonly logger: Logger
  /** How many URLs wait. */
  readonly waiting: () => number
}

/** How often the server looks at the state. During an outage, the pacer itself spaces its calls. */
const LOOK_MS = 1_000
/** While the pacer works, one of so many looks calls it: every five seconds. Our choice. */
const LOOKS_FOR_PROBE = 5

export class Health {
  readonly #options: HealthOptions
  readonly #pacer: CheckedPacer
  readonly #timer: NodeJS.Timeout
  readonly #startedAt = Date.now()
  /** Whether the pacer has answered since the start. A pacer without a server always has. */
  #hasAnswered: boolean
  /** The outage that the log has named. */
  #told: PacerOutage | undefined
  /** Whether it began before the first answer. */
  #hasWaited = false
  #storeSince: number | undefined
  #isRejected = false
  #isProbing = false
  #looks = 1 // the start has looked

  constructor(options: HealthOptions) {
    this.#options = options
    this.#pacer = gatePort(options.gate).pacer
    this.#pacer.isWatched = true
    this.#hasAnswered = this.#pacer.probe === undefined
    this.#look()
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref()
  }

  /** Whether the pacer has not answered since the start of the server. */
  get isStarting(): boolean {
    return !this.#hasAnswered
  }

  /** The outage of the pacer, or of the store if only that fails. */
  get degraded(): Degraded | undefined {
    const { outage } = this.#pacer
    if (outage !== undefined) return { degraded: 'pacer-failure', since: outage.since }
    const { storeOutageMs } = this.#options.gate.robots.gauges
    if (storeOutageMs === 0) this.#storeSince = undefined
    else this.#storeSince ??= Math.round(Date.now() - storeOutageMs)
    return this.#storeSince === undefined ? undefined : { degraded: 'store-failure', since: this.#storeSince }
  }

  /** How long the pacer has not answered. Seconds; 0 while it works. */
  get pacerOutageSeconds(): number {
    const { outage } = this.#pacer
    const since = outage?.since ?? (this.isStarting ? this.#startedAt : undefined)
    return since === undefined ? 0 : Math.max(0, (Date.now() - since) / 1_000)
  }

  /** How long the store has failed. Seconds; 0 while it works, or without a store. */
  get storeOutageSeconds(): number {
    return this.#options.gate.robots.gauges.storeOutageMs / 1_000
  }

  close(): void {
    clearInterval(this.#timer)
    this.#pacer.isWatched = false
  }

  #look(): void {
    this.#tell()
    const isQuiet = this.#hasAnswered && this.#pacer.outage === undefined
    if (this.#isProbing || (isQuiet && this.#looks++ % LOOKS_FOR_PROBE !== 0)) return
    this.#isProbing = true
    void this.#probe().finally(() => {
      this.#isProbing = false
      this.#tell()
    })
  }

  async #probe(): Promise<void> {
    try {
      await this.#pacer.probe?.()
      if (this.#pacer.outage !== undefined) return
      this.#hasAnswered = true
      await clientPort(this.#options.gate.robots).probeStore()
    } catch (error) {
      if (!this.#isRejected) this.#warn(`${this.#name} rejects every call: ${causeOf(error)}`)
      this.#isRejected = true
    }
  }

  /** Tells of a new outage, and of the end of one. */
  #tell(): void {
    const { outage } = this.#pacer
    const told = this.#told
    if (outage?.since === told?.since) {
      this.#told = outage // it has the newest count
      return
    }
    if (told !== undefined) {
      const calls = `${told.failures} failed ${told.failures === 1 ? 'call' : 'calls'}`
      const forText = `after ${durationRoundedUp(Date.now() - told.since)} (${calls})`
      this.#warn(this.#hasWaited ? `${this.#name} answers ${forText}` : `the pacer is back ${forText}`)
    }
    this.#told = outage
    this.#hasWaited = this.isStarting
    if (outage === undefined) return
    const cause = causeOf(outage.error)
    const waiting = this.#options.waiting()
    const urls = waiting === 0 ? '' : `${waiting} ${waiting === 1 ? 'URL waits' : 'URLs wait'}, and `
    const effect = outage.grants
      ? 'until it is back, this server keeps the pace alone'
      : `${urls}no permit is granted until it is back`
    if (this.isStarting) this.#warn(`waits for ${this.#name}: ${cause}; no permit is granted until it answers`)
    else this.#warn(`the pacer has failed (${this.#name}: ${cause}); ${effect}`)
  }

  get #name(): string {
    return this.#options.pacerName ?? this.#pacer.name
  }

  #warn(line: string): void {
    this.#options.logger.warn?.(escapeControls(line))
  }
}

function causeOf(error: unknown): string {
  return error === undefined ? "it replies 'pacer-failure'" : textWithoutCredentials(messageOf(error))
}
