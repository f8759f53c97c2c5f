// Asks the gate's RobotsClient whether robots.txt allows a URL, and counts and publishes each refusal.
import { type ClientVerdict, loggableVerdict, type RobotsClient } from '@politely/fetcher'
import { linkSignals } from '@politely/fetcher/internal'
import type { RedirectTargets } from '../redirects/redirect-targets.ts'
import { type AllowedVerdict, isAllowed } from '../report/allowed-verdict.ts'
import { RobotsDisallowedError } from '../report/errors.ts'
import { channels, type EventSource } from '../report/events.ts'

export class RobotsCheck {
  readonly #client: RobotsClient
  readonly #redirects: RedirectTargets
  readonly #closing: AbortSignal
  readonly #source: EventSource

  /** @param closing The gate aborts it when it closes. */
  constructor(client: RobotsClient, redirects: RedirectTargets, closing: AbortSignal, source: EventSource) {
    this.#client = client
    this.#redirects = redirects
    this.#closing = closing
    this.#source = source
  }

  /**
   * Returns the verdict on a URL. A known verdict needs no fetch, and so no signal. A refusal is not counted.
   * @param chain The URLs whose redirects led to this one, as the caller knows them.
   */
  async check(url: string, signal: AbortSignal | undefined, chain: readonly string[] = []): Promise<ClientVerdict> {
    this.#closing.throwIfAborted()
    signal?.throwIfAborted()
    const redirectedFrom = [...this.#redirects.to(url), ...chain]
    const known = redirectedFrom.length === 0 ? this.#client.checkNow(url) : undefined
    return known ?? this.untilClosed(signal, (ends) => this.#client.check(url, { signal: ends, redirectedFrom }))
  }

  /** @throws {RobotsDisallowedError} if robots.txt does not allow the URL. The refusal is counted. */
  async requireAllowed(url: string, signal: AbortSignal | undefined): Promise<AllowedVerdict> {
    const verdict = await this.check(url, signal)
    return this.#allowedOrThrow(verdict)
  }

  /**
   * Does the same without a fetch. Returns undefined if the verdict is not known.
   * @throws {RobotsDisallowedError}
   */
  requireAllowedNow(url: string): AllowedVerdict | undefined {
    const verdict = this.#client.checkNow(url)
    return verdict && this.#allowedOrThrow(verdict)
  }

  /** Counts and publishes a refusal. */
  refused(verdict: ClientVerdict): void {
    const { gate, now, counters } = this.#source
    counters.refused(verdict.because)
    if (!channels.refuse.hasSubscribers) return
    const loggable = loggableVerdict(verdict)
    channels.refuse.publish({ gate, at: now(), url: loggable.url, verdict: loggable })
  }

  /**
   * Runs work that is to end when the gate closes or the caller's signal is aborted. Both branches use `return await`: two requests that
   * enter in one turn of the event loop, one of them with a signal, must keep their order.
   */
  async untilClosed<T>(signal: AbortSignal | undefined, work: (ends: AbortSignal) => Promise<T>): Promise<T> {
    this.#closing.throwIfAborted()
    if (signal === undefined) return await work(this.#closing)
    signal.throwIfAborted()
    const linked = linkSignals([signal, this.#closing])
    try {
      return await work(linked.signal)
    } finally {
      linked.unlink()
    }
  }

  #allowedOrThrow(verdict: ClientVerdict): AllowedVerdict {
    if (isAllowed(verdict)) return verdict
    this.refused(verdict)
    throw new RobotsDisallowedError(verdict)
  }
}
