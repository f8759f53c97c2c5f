// The option `obey`: decides which requests start although robots.txt disallows them. Counts and
// logs these requests, and the delays that do not apply.
import { describeReason } from '@politely/core'
import { type ClientVerdict, withoutCredentials } from '@politely/fetcher'
import type { SitePacing } from '../options/site-pacing.ts'
import type { AllowedVerdict } from '../report/allowed-verdict.ts'
import type { GateCounts } from '../report/counters.ts'
import type { GateLog } from '../report/gate-log.ts'

let hasWarned = false

/** Forgets the process warning. For tests. */
export function forgetDisobedience(): void {
  hasWarned = false
}

export class Disobedience {
  readonly #sitePacingOf: (origin: string) => SitePacing
  readonly #counters: GateCounts
  readonly #log: GateLog

  /** @param sitePacingOf Returns the options for an origin. */
  constructor(sitePacingOf: (origin: string) => SitePacing, counters: GateCounts, log: GateLog) {
    this.#sitePacingOf = sitePacingOf
    this.#counters = counters
    this.#log = log
  }

  /**
   * Returns whether a URL may be requested. Blocked addresses and invalid URLs may not, whatever
   * the option says. Throws what the caller's function `pace` throws.
   */
  readonly admits = (verdict: ClientVerdict): verdict is AllowedVerdict => {
    if (verdict.allowed) return true
    const { origin, access } = verdict
    return origin !== undefined && access?.reason !== 'blocked-address' && !this.#sitePacingOf(origin).obey.rules
  }

  /** Returns the option for a URL that it admits; undefined if robots.txt allows it. */
  obeyOf({ allowed, origin }: ClientVerdict): SitePacing['obey'] | undefined {
    return allowed || origin === undefined ? undefined : this.#sitePacingOf(origin).obey
  }

  /** Counts and logs a request that was admitted although robots.txt disallows it. */
  checked(verdict: AllowedVerdict): void {
    if (verdict.allowed) return
    this.#counters.disobeyedRules++
    const url = withoutCredentials(verdict.url)
    this.#tell(verdict.origin, 'rules', `${url} is requested, although ${describeReason(verdict)}`)
  }

  /** Counts and logs the rule and the delays that a request did not obey. It has started. */
  started(verdict: AllowedVerdict, { obey }: SitePacing): void {
    this.checked(verdict)
    if (obey.delays) return
    const { crawlDelayMs, requestRates = [], visitTimes = [] } = verdict
    const asked = [
      crawlDelayMs !== undefined && 'Crawl-delay',
      requestRates.length > 0 && 'Request-rate',
      visitTimes.length > 0 && 'Visit-time',
    ].filter((name) => name !== false)
    if (asked.length === 0) return
    this.#counters.ignoredDelays++
    this.#tell(verdict.origin, 'delays', `${asked.join(', ')} of robots.txt of ${verdict.origin} do not apply`)
  }

  #tell(origin: string, what: 'rules' | 'delays', fact: string): void {
    const line = `${fact}: the option obey is { ${what}: false }; use it for your own site only`
    this.#log.disobeys(origin, what, line)
    if (hasWarned) return
    hasWarned = true
    process.emitWarning(line, { type: 'PolitelyWarning', code: 'POLITELY_DISOBEY' })
  }
}
