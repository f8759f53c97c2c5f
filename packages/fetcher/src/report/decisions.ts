// Tells the sink of the option `evidence` of decisions, with what they depend on.
import type { Attempt } from '@politely/core'
import type { Entry, Headers } from '@politely/core/engine'
import { decidingAttempt } from '@politely/core/internal'
import { NO_URLS } from '../base/option-checks.ts'
import type { ClientVerdict } from './client-verdict.ts'
import type { DecidingClient, Decision, DecisionReceipt, DecisionResult, EvidenceSink } from './evidence.ts'

/** What the verdicts of a client were made from. A client has one if a sink needs it. */
export class DecisionBases {
  readonly client: DecidingClient
  readonly now: () => number
  readonly #bases = new WeakMap<ClientVerdict, { readonly entry: Entry; readonly at: number }>()
  readonly #headers = new WeakMap<Attempt, Headers>()

  constructor(client: DecidingClient, now: () => number) {
    this.client = client
    this.now = now
  }

  /** Notes what a verdict was made from. */
  note(verdict: ClientVerdict, entry: Entry, at: number): void {
    this.#bases.set(verdict, { entry, at })
  }

  /** Notes the headers of the last response of an attempt. */
  received(attempt: Attempt, headers: Headers | undefined): void {
    if (headers !== undefined) this.#headers.set(attempt, headers)
  }

  entryOf(verdict: ClientVerdict): Entry | undefined {
    return this.#bases.get(verdict)?.entry
  }

  of(verdict: ClientVerdict): Pick<Decision, 'at' | 'entry' | 'headers'> {
    const { entry, at } = this.#bases.get(verdict) ?? { entry: undefined, at: this.now() }
    return { at, entry, headers: entry && this.#headers.get(decidingAttempt(entry, at, this.client.policy)) }
  }
}

/** The decisions of a client or of a gate, for one sink. */
export class Decisions {
  readonly #sink: EvidenceSink
  readonly #bases: DecisionBases

  constructor(sink: EvidenceSink, bases: DecisionBases) {
    this.#sink = sink
    this.#bases = bases
  }

  /** @throws what the sink throws. Then nothing must be requested. */
  decide(
    use: Decision['use'],
    verdict: ClientVerdict,
    redirectedFrom: readonly string[] = NO_URLS,
    others?: Pick<Decision, 'obey' | 'maxAgeMs' | 'replaces'>,
  ): DecisionReceipt {
    const { client } = this.#bases
    const decision = { use, verdict, redirectedFrom, ...this.#bases.of(verdict), client, ...others }
    const receipt = this.#sink.decided(decision)
    receipt.written?.catch(() => undefined) // nothing waits for it after a refusal
    return receipt
  }

  /** Returns whether two verdicts on one URL were made from the same state of its origin. */
  haveSameBasis(one: ClientVerdict, other: ClientVerdict): boolean {
    return one === other || this.#bases.entryOf(one) === this.#bases.entryOf(other)
  }

  ended(result: DecisionResult): void {
    this.#sink.ended(result)
  }
}
