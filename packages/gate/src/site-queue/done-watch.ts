// Notices that a site queue stands still because `done()` is never called: a consumer waits, the
// yielded URLs take all places of `concurrency` or are the last URLs, and the gate has no request for
// them. Slow requests, slow pages and slow work on a page that ends in time aren't mistakes.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { escapeControls } from '@politely/core/internal'
import { withoutCredentials } from '@politely/fetcher'
import type { GatePort, PoliteGate } from '../gate.ts'
import { DONE } from '../outer-queue/outer-queue.ts'
import { noteOpenBodies } from '../permit/open-bodies.ts'
import type { DoneMessage } from '../report/events.ts'

/** How long nothing happens before the warning. Milliseconds; our choice. */
const QUIET_MS = 30_000

/** The gates of which a warning has told. */
const warned = new WeakSet<PoliteGate>()

export class DoneWatch {
  readonly #gate: PoliteGate
  readonly #port: GatePort
  readonly #concurrency: number
  readonly #onQuiet: () => void
  #hasEnded = false
  /** The yielded URLs that are not done, while a consumer waits for the place of one of them. */
  #urls: ReadonlySet<{ readonly url: string }> | undefined
  /** Since when nothing has happened, by the gate's clock. */
  #quietFrom = 0
  #wasBusy = false
  #timer: NodeJS.Timeout | undefined
  readonly #onDone = (message: unknown) => {
    const { gate, url, at } = message as DoneMessage
    if (gate !== this.#gate || ![...(this.#urls ?? [])].some((one) => withoutCredentials(one.url) === url)) return
    this.#quietFrom = at
    this.#wasBusy = false
    this.#startTimer()
  }

  /** @param onQuiet Called once, when nothing has happened for so long. */
  constructor(gate: PoliteGate, port: GatePort, concurrency: number, onQuiet: () => void) {
    this.#gate = gate
    this.#port = port
    this.#concurrency = concurrency
    this.#onQuiet = onQuiet
    noteOpenBodies()
  }

  /** @param urls The yielded URLs that are not done, if a consumer waits for one of them to be done. */
  watch(urls: ReadonlySet<{ readonly url: string }> | undefined): void {
    if ((urls === undefined) === (this.#urls === undefined) || this.#hasEnded) return
    this.#urls = urls
    if (urls === undefined) {
      clearTimeout(this.#timer)
      unsubscribe(DONE, this.#onDone)
    } else {
      subscribe(DONE, this.#onDone)
      this.#quietFrom = this.#port.now()
      this.#wasBusy = false
      this.#startTimer()
    }
  }

  /** The timer keeps the process alive: it would end without a word if nothing else is left to do. */
  #startTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#look(), Math.max(1, Math.ceil(this.#quietFrom + QUIET_MS - this.#port.now())))
  }

  #look(): void {
    const urls = Array.from(this.#urls ?? [], ({ url }) => url)
    const [first] = urls
    if (first === undefined) return
    // The message about the end of a redirect names another URL, so it ended at some time until now.
    const isBusy = this.#port.isBusyWith(urls)
    if (isBusy || this.#wasBusy) this.#quietFrom = this.#port.now()
    this.#wasBusy = isBusy
    if (this.#port.now() - this.#quietFrom < QUIET_MS) this.#startTimer()
    else {
      this.watch(undefined)
      this.#hasEnded = true
      if (!warned.has(this.#gate)) this.#warn(first, urls.length)
      this.#onQuiet()
    }
  }

  #warn(url: string, count: number): void {
    warned.add(this.#gate)
    const places = count === 1 ? 'its only place (concurrency) is' : `all of its ${count} places (concurrency) are`
    const last = count === 1 ? 'its last URL is not done' : `its last ${count} URLs are not done`
    const text = `siteQueue has yielded nothing for ${QUIET_MS / 1_000} s: ${count < this.#concurrency ? last : `${places} taken`}, and no request for ${escapeControls(withoutCredentials(url))} is under way; unless your own work on it takes so long, call done() when it ends, also after an error, or write using item = …`
    this.#port.log.warn(text)
    process.emitWarning(text, { type: 'PolitelyWarning', code: 'POLITELY_SITE_QUEUE_DONE' })
  }
}
