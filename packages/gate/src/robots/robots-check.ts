// Asks the gate's RobotsClient whether robots.txt allows a URL, and counts and publishes each
// refusal.
import { type BlockedAddressError, type ClientVerdict, loggableVerdict, type RobotsClient } from '@politely/fetcher'
import { type ClientPort, clientPort, linkSignals, orAborted } from '@politely/fetcher/internal'
import { isPromise } from '../pace/is-promise.ts'
import type { RedirectTargets } from '../redirects/redirect-targets.ts'
import { isAllowed } from '../report/allowed-verdict.ts'
import { RobotsDisallowedError } from '../report/errors.ts'
import { channels, type EventSource } from '../report/events.ts'
import { AllowedCheck } from './allowed-check.ts'
import type { RobotsPauses } from './robots-pauses.ts'

export class RobotsCheck {
  readonly #client: RobotsClient
  readonly #port: ClientPort
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
    this.#port = clientPort(client)
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
   * Checks a URL without a fetch. Returns undefined if the verdict is not known.
   * @throws {RobotsDisallowedError} if the URL may not be requested. The refusal is counted.
   */
  requireAllowedNow(url: string): AllowedCheck | undefined {
    const port = this.#port
    const rules = port.peek(url)
    if (rules?.rules.isAllowed(url)) {
      port.countAllowed()
      return AllowedCheck.byRules(url, rules, port, port.now())
    }
    const verdict = this.#client.checkNow(url)
    return verdict && this.#allowedOrThrow(verdict)
  }

  /** Does the same for a request that enters the gate. Returns undefined for a URL that others led to. */
  admitNow(url: string, signal: AbortSignal | undefined, chain: readonly string[]): AllowedCheck | undefined {
    this.#closing.throwIfAborted()
    signal?.throwIfAborted()
    const isDirect = chain.length === 0 && this.#redirects.to(url).length === 0
    return isDirect ? this.requireAllowedNow(url) : undefined
  }

  /**
   * Checks a URL that may have been the target of a redirect: without a fetch, if that is possible.
   * @throws {RobotsDisallowedError} if the URL may not be requested. If the result is a promise, it
   * rejects with the error. The refusal is counted.
   */
  requireAllowed(
    url: string,
    signal: AbortSignal | undefined,
    chain: readonly string[],
  ): AllowedCheck | Promise<AllowedCheck> {
    const verdict = this.check(url, signal, chain)
    return isPromise(verdict) ? verdict.then((found) => this.#allowedOrThrow(found)) : this.#allowedOrThrow(verdict)
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
    const verdict = this.#port.blockedVerdict(url, refusal)
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

  #allowedOrThrow(verdict: ClientVerdict): AllowedCheck {
    if (this.#admits(verdict)) return AllowedCheck.by(verdict)
    this.refused(verdict)
    throw new RobotsDisallowedError(verdict)
  }
}
