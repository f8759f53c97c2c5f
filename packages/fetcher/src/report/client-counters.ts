// Counts what a client does, from its creation on.

/**
 * The counters of a client, and the meaning of each. They start at 0 when the client is created,
 * and never decrease.
 */
export const counterMeanings = {
  questions: 'URLs that were checked',
  allowed: 'checked URLs that the crawler may fetch',
  disallowed: 'checked URLs that it may not fetch, including invalid URLs',
  waits: 'checks that had to wait for robots.txt',
  fetches: 'attempts to fetch a robots.txt',
  requests: 'requests of these attempts, including redirects and retries',
  successes: 'attempts that ended with a file, including 304',
  unavailable: 'attempts that ended without a file: the site has none',
  restricted: 'attempts that ended with 401 or 403, in dialects where these restrict access',
  unreachable: 'attempts that failed',
  refreshesAhead: 'attempts that started before the entry was stale, while no check waited',
  reusedRedirects: 'files at the end of a redirect that were also saved for the target’s origin',
  redirectWaits:
    'redirects whose target’s request had to wait, because of the limits on concurrent fetches or on redirects to one site',
  busyTargets: 'attempts that ended with `busy-target`: a redirect to another site was not followed',
  bytes: 'decoded bytes of robots.txt received',
  storeHits: 'entries found in the store',
  storeMisses: 'entries missing from the store, or incomplete there',
  leaseWaits: 'attempts that waited, because another client held the lease of the origin',
  storeFailures: 'store calls that threw or timed out, and leases that did not end',
  tdmrepFetches: 'attempts to fetch a tdmrep.json; no other counter but `redirectWaits` includes them',
  tdmrepRequests: 'requests of these attempts, including redirects and retries',
} as const

/**
 * The name of a counter. `counterMeanings` says what each counts.
 * @inline
 */
export type CounterName = keyof typeof counterMeanings
/** The value of each counter. */
export type Counters = Readonly<Record<CounterName, number>>

export class ClientCounters {
  readonly #counts = Object.fromEntries(Object.keys(counterMeanings).map((name) => [name, 0])) as Record<
    CounterName,
    number
  >
  /** Separate fields, since they are incremented up to a million times a second. */
  #allowed = 0
  #disallowed = 0

  count(name: CounterName, by: number): void {
    this.#counts[name] += by
  }

  /** Counts one checked URL. */
  countVerdict(allowed: boolean): void {
    if (allowed) this.#allowed++
    else this.#disallowed++
  }

  snapshot(): Counters {
    const [allowed, disallowed] = [this.#allowed, this.#disallowed]
    return { ...this.#counts, questions: allowed + disallowed, allowed, disallowed }
  }
}
