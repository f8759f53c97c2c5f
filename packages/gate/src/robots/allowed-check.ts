// A URL that may be requested: robots.txt allows it, or the option `obey` admits it. Few requests need
// its verdict, so it is made when it is read.
import type { DecisionReceipt } from '@politely/fetcher'
import type { CachedRules, ClientPort } from '@politely/fetcher/internal'
import type { AskedPace } from '../options/pacing.ts'
import type { AllowedVerdict } from '../report/allowed-verdict.ts'

export class AllowedCheck {
  readonly url: string
  readonly origin: string
  readonly asked: AskedPace
  /** Two checks with the same source have the same rules. */
  readonly source: CachedRules | AllowedVerdict
  /** Of its decision, with the option `evidence`. */
  readonly receipt: DecisionReceipt | undefined
  readonly #client: ClientPort | undefined
  readonly #checkedAt: number
  #verdict: AllowedVerdict | undefined

  private constructor(
    verdict: AllowedVerdict | undefined,
    cached: CachedRules | undefined,
    url: string,
    client: ClientPort | undefined,
    checkedAt: number,
    receipt: DecisionReceipt | undefined,
  ) {
    this.receipt = receipt
    this.#verdict = verdict
    this.url = url
    this.source = (cached ?? verdict) as CachedRules | AllowedVerdict
    this.origin = (cached?.entry.origin ?? verdict?.origin) as string
    this.asked = (cached?.rules ?? verdict) as AskedPace
    this.#client = client
    this.#checkedAt = checkedAt
  }

  static by(verdict: AllowedVerdict, receipt?: DecisionReceipt): AllowedCheck {
    return new AllowedCheck(verdict, undefined, verdict.url, undefined, 0, receipt)
  }

  /** @param checkedAt The time of the check, by the clock of the client. */
  static byRules(url: string, cached: CachedRules, client: ClientPort, checkedAt: number): AllowedCheck {
    return new AllowedCheck(undefined, cached, url, client, checkedAt, undefined)
  }

  get verdict(): AllowedVerdict {
    if (this.#verdict !== undefined) return this.#verdict
    const verdict = this.#client?.verdictOn(this.url, this.source as CachedRules, this.#checkedAt) as AllowedVerdict
    this.#verdict = verdict
    return verdict
  }
}
