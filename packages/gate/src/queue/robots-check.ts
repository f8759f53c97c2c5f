// Asks the gate's RobotsClient whether robots.txt allows a URL, and counts and publishes each
// refusal.
import { type BlockedAddressError, type ClientVerdict, loggableVerdict, type RobotsClient } from '@politely/fetcher'
import { clientPort, linkSignals, orAborted } from '@politely/fetcher/internal'
import { isPromise } from '../pace/is-promise.ts'
import type { RedirectTargets } from '../redirects/redirect-targets.ts'
import { type AllowedVerdict, isAllowed } from '../report/allowed-verdict.ts'
import { RobotsDisallowedError } from '../report/errors.ts'
import { channels, type EventSource } from '../report/events.ts'
import type { RobotsPauses } from './robots-pauses.ts'

export class RobotsCheck {
  readonly #client: RobotsClient
  readonly #redirects: RedirectTargets
  readonly #closing: AbortSignal
  readonly #source: EventSource
  readonly #pauses: RobotsPauses
  readonly #admits: typeof isAllowed

  /**
   * @param closing The gate aborts it when it closes.
   * @param admits Returns whether a URL may be requested. The option `obey` may admit more than
   * robots.txt allows.
   */
  constructor(
    client: RobotsClient,
    redirects: RedirectTargets,
    pauses: RobotsPauses,
    closing: AbortSignal,
    source: EventSource,
    admits: typeof isAllowed = isAllowed,
  ) {
    this.#client = client
    this.#pauses = pauses
    this.#redirects = redirects
    this.#closing = closing
    this.#source = source
    this.#admits = admits
  }

  /**
   * Returns the verdict on a URL, or a promise if the verdict is not known. A known verdict needs
   * no fetch, and so no signal. A refusal is not counted.
   * @param chain The URLs that led to this one, as the caller knows them.
   */
  check(
    url: string,
    signal: AbortSignal | undefined,
    chain: readonly string[],
  ): ClientVerdict | Promise<ClientVerdict> {
    this.#closing.throwIfAborted()
    signal?.throwIfAborted()
    const origins = this.#redirects.to(url)
    const redirectedFrom = origins.length === 0 ? chain : [...origins, ...chain]
    const known = this.#client.checkNow(url, redirectedFrom.length === 0 ? undefined : { redirectedFrom })
    return known ?? this.#untilClosed(signal, (ends) => this.#client.check(url, { signal: ends, redirectedFrom }))
  }

  /**
   * Does the same, but a refusal is counted.
   * @throws {RobotsDisallowedError} if robots.txt does not allow the URL. If the result is a
   * promise, the promise rejects with the error.
   */
  requireAllowed(
    url: string,
    signal: AbortSignal | undefined,
    chain: readonly string[],
  ): AllowedVerdict | Promise<AllowedVerdict> {
    const verdict = this.check(url, signal, chain)
    return isPromise(verdict) ? verdict.then((found) => this.#allowedOrThrow(found)) : this.#allowedOrThrow(verdict)
  }

  /**
   * Does the same without a fetch. Returns undefined if the verdict is not known.
   * @throws {RobotsDisallowedError}
   */
  requireAllowedNow(url: string): AllowedVerdict | undefined {
    const verdict = this.#client.checkNow(url)
    return verdict && this.#allowedOrThrow(verdict)
  }

  /**
   * Counts and publishes a refusal. If robots.txt asked for fewer requests, requests of the same pace
   * key that are allowed have to wait.
   */
  refused(verdict: ClientVerdict): void {
    const { gate, now, counters } = this.#source
    counters.refused(verdict.because)
    this.#pauses.noteRefusal(verdict)
    if (!channels.refuse.hasSubscribers) return
    const loggable = loggableVerdict(verdict)
    channels.refuse.publish({ gate, at: now(), url: loggable.url, verdict: loggable })
  }

  /** Throws what `requireAllowed` throws for a host at a blocked address. */
  refuse(url: string, refusal: BlockedAddressError): never {
    const verdict = clientPort(this.#client).blockedVerdict(url, refusal)
    this.refused(verdict)
    throw new RobotsDisallowedError(verdict)
  }

  /** Settles like `work`, or rejects when the signal is aborted or the gate is closed. */
  whileOpen<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return this.#untilClosed(signal, (ends) => orAborted(work, [ends]))
  }

  /**
   * Runs work that is to end when the gate closes or the caller's signal is aborted. Both branches
   * use `return await`: two requests that enter in one turn of the event loop, one of them with a
   * signal, must keep their order.
   */
  async #untilClosed<T>(signal: AbortSignal | undefined, work: (ends: AbortSignal) => Promise<T>): Promise<T> {
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
    if (this.#admits(verdict)) return verdict
    this.refused(verdict)
    throw new RobotsDisallowedError(verdict)
  }
}
