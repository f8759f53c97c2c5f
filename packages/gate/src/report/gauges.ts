// The present size of a gate.

/** The present size of a gate. JSON-safe. */
export interface GateGauges {
  /** Queues that have a request waiting or under way. */
  readonly queues: number
  /** Requests that wait in these queues. */
  readonly waiting: number
  /** Requests that count towards the concurrency limits. */
  readonly underWay: number
  /** The age of the oldest permit that is not released. Milliseconds; 0 if all permits are released. */
  readonly oldestPermitMs: number
  /** Circuits that are open or half-open, as far as this gate knows (`circuit`). */
  readonly openCircuits: number
  /** How long the oldest waiting request has waited. Milliseconds; 0 if none waits. */
  readonly oldestWaitMs: number
  /**
   * How long the pacer has failed, such as a `RedisPacer` without its Redis. Milliseconds; 0 while it
   * works.
   */
  readonly pacerOutageMs: number
  /** URLs that site queues have yielded and that are not `done`. Missing if none was ever yielded. */
  readonly yielded?: number
}

/** The gauges that every gate has, and the meaning of each. */
export const gateGaugeMeanings: Readonly<Record<Exclude<keyof GateGauges, 'yielded'>, string>> = {
  queues: 'queues that have a request waiting or under way',
  waiting: 'requests that wait in these queues',
  underWay: 'requests that count towards the concurrency limits',
  oldestPermitMs: 'the age of the oldest permit that is not released, in milliseconds; 0 if all permits are released',
  openCircuits: 'circuits that are open or half-open, as far as this gate knows (`circuit`)',
  oldestWaitMs: 'how long the oldest waiting request has waited, in milliseconds; 0 if none waits',
  pacerOutageMs: 'how long the pacer has failed, in milliseconds; 0 while it works',
}
