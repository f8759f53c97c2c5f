// Asks the gate's RobotsClient whether robots.txt allows a URL, and counts and publishes each
// refusal.
import {
  type BlockedAddressError,
  type ClientVerdict,
  type Decision,
  type DecisionReceipt,
  loggableVerdict,
  type RobotsClient,
} from '@politely/fetcher'
import {
  type ClientPort,
  clientPort,
  type Decisions,
  linkSignals,
  NO_URLS,
  orAborted,
} from '@politely/fetcher/internal'
import type { RedirectTargets } from '../redirects/redirect-targets.ts'
import { RobotsDisallowedError } from '../report/errors.ts'
import { channels, type EventSource } from '../report/events.ts'
import { AllowedCheck } from './allowed-check.ts'
import type { Disobedience } from './disobedience.ts'
import type { RobotsPauses } from './robots-pauses.ts'

/** What it needs of the context of its gate. */
interface CheckContext extends EventSource {
  readonly redirects: RedirectTargets
  readonly robotsPauses: RobotsPauses
  readonly decisions: Decisions | undefined
}

/**
 * What a check is for. With the option `evidence`, each is a decision, apart from a check of the same
 * request `again`, or of one with an earlier check: then only a refusal, and a change of the rules.
 */
export type CheckedFor = Decision['use'] | 'again' | AllowedCheck

export class RobotsCheck {
  readonly #client: RobotsClient
  readonly #port: ClientPort
  readonly #context: CheckContext
  readonly #closing: AbortSignal
  readonly #disobedience: Disobedience

  /**
   * @param closing The gate aborts it when it closes.
   * @param disobedience Says whether a URL may be requested. The option `obey` may admit more than
   * robots.txt allows.
   */
  constructor(client: RobotsClient, context: CheckContext, closing: AbortSignal, disobedience: Disobedience) {
    this.#client = client
    this.#port = clientPort(client)
    this.#context = context
    this.#closing = closing
    this.#disobedience = disobedience
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
    const redirectedFrom = this.#sourcesOf(url, signal, chain)
    return this.#checkNow(url, redirectedFrom) ?? this.#checkLater(url, signal, redirectedFrom)
  }

  /** Like `check`, without a fetch. Returns undefined if the verdict is not known. */
  checkKnown(url: string, chain: readonly string[]): ClientVerdict | undefined {
    return this.#checkNow(url, this.#sourcesOf(url, undefined, chain))
  }

  /**
   * Checks a URL without a fetch. Returns undefined if the verdict is not known.
   * @param chain The URLs that led to it, for the option `evidence`.
   * @throws {RobotsDisallowedError} if the URL may not be requested. The refusal is counted.
   */
  requireAllowedNow(
    url: string,
    redirectedFrom: readonly string[] = NO_URLS,
    checkedFor: CheckedFor = 'request',
    chain: readonly string[] = redirectedFrom,
  ): AllowedCheck | undefined {
    const port = this.#port
    const at = port.now()
    const rules = redirectedFrom.length === 0 ? port.peek(url, at) : undefined
    if (rules?.rules.isAllowed(url)) {
      port.countAllowed()
      return AllowedCheck.byRules(url, rules, port, at)
    }
    const verdict = this.#checkNow(url, redirectedFrom)
    return verdict && this.#allowedOrThrow(verdict, chain, checkedFor)
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
    checkedFor: CheckedFor = 'request',
  ): AllowedCheck | Promise<AllowedCheck> {
    const redirectedFrom = this.#sourcesOf(url, signal, chain)
    return (
      this.requireAllowedNow(url, redirectedFrom, checkedFor) ??
      this.#checkLater(url, signal, redirectedFrom).then((verdict) =>
        this.#allowedOrThrow(verdict, redirectedFrom, checkedFor),
      )
    )
  }

  /**
   * Checks a URL against the robots.txt in memory or in the store, however old. Resolves with undefined
   * if neither has it. Rejects with a `RobotsDisallowedError`, as `requireAllowed` does.
   */
  async requireStored(url: string, signal: AbortSignal | undefined): Promise<AllowedCheck | undefined> {
    const verdict = await this.whileOpen(this.#port.storedVerdict(url), signal)
    return verdict && this.#allowedOrThrow(verdict, NO_URLS, 'stored-page')
  }

  /** Keeps a decision whose request may be sent elsewhere. @throws what the sink throws. */
  decide(
    verdict: ClientVerdict,
    chain: readonly string[] = NO_URLS,
    use: Decision['use'] = 'request',
  ): DecisionReceipt | undefined {
    return this.#decide(verdict, this.#allSourcesOf(verdict.url, chain), use)
  }

  /**
   * Counts and publishes a refusal. If robots.txt asked for fewer requests, requests of the same pace
   * key that are allowed have to wait.
   */
  refused(verdict: ClientVerdict): void {
    const { gate, now, counters } = this.#context
    counters.refused(verdict.because)
    this.#context.robotsPauses.noteRefusal(verdict)
    if (!channels.refuse.hasSubscribers) return
    const loggable = loggableVerdict(verdict)
    channels.refuse.publish({ gate, counters, at: now(), url: loggable.url, verdict: loggable })
  }

  /** Throws what `requireAllowed` throws for a host at a blocked address. */
  refuse(url: string, refusal: BlockedAddressError): never {
    const verdict = this.#port.blockedVerdict(url, refusal)
    this.#decide(verdict, NO_URLS, 'request')
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

  /** Returns the URLs that led to this one: those that the gate has seen, then those of the caller. */
  #sourcesOf(url: string, signal: AbortSignal | undefined, chain: readonly string[]): readonly string[] {
    this.#closing.throwIfAborted()
    signal?.throwIfAborted()
    return this.#allSourcesOf(url, chain)
  }

  #allSourcesOf(url: string, chain: readonly string[]): readonly string[] {
    const origins = this.#context.redirects.to(url)
    return origins.length === 0 ? chain : [...origins, ...chain]
  }

  #checkNow(url: string, redirectedFrom: readonly string[]): ClientVerdict | undefined {
    if (this.#context.decisions !== undefined) return this.#port.checkNow(url, redirectedFrom) // this gate keeps it
    return this.#client.checkNow(url, redirectedFrom.length === 0 ? undefined : { redirectedFrom })
  }

  #checkLater(url: string, signal: AbortSignal | undefined, redirectedFrom: readonly string[]): Promise<ClientVerdict> {
    return this.#untilClosed(signal, (ends) =>
      this.#context.decisions === undefined
        ? this.#client.check(url, { signal: ends, redirectedFrom })
        : this.#port.check(url, ends, redirectedFrom),
    )
  }

  #allowedOrThrow(verdict: ClientVerdict, redirectedFrom: readonly string[], checkedFor: CheckedFor): AllowedCheck {
    const receipt = this.#decide(verdict, redirectedFrom, checkedFor)
    if (this.#disobedience.admits(verdict)) return AllowedCheck.by(verdict, receipt)
    this.refused(verdict)
    throw new RobotsDisallowedError(verdict)
  }

  /** Keeps a decision, unless the same one about this request is kept. @throws what the sink throws. */
  #decide(
    verdict: ClientVerdict,
    redirectedFrom: readonly string[],
    checkedFor: CheckedFor,
  ): DecisionReceipt | undefined {
    const { decisions } = this.#context
    if (decisions === undefined) return undefined
    const isAdmitted = this.#disobedience.admits(verdict)
    const before = typeof checkedFor === 'object' ? checkedFor : undefined
    const isKnown = before?.receipt === undefined || decisions.haveSameBasis(before.verdict, verdict)
    if (isAdmitted && (checkedFor === 'again' || (before !== undefined && isKnown))) return before?.receipt
    const obey = isAdmitted ? this.#disobedience.obeyOf(verdict) : undefined
    const use = checkedFor === 'again' || before !== undefined ? 'request' : (checkedFor as Decision['use'])
    return decisions.decide(use, verdict, redirectedFrom, { obey, replaces: before?.receipt?.id })
  }
}
