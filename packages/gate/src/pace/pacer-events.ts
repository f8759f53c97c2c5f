// The messages that the pacers of fleets, such as RedisPacer, publish on channels of
// `node:diagnostics_channel`. Each package names its channels.

/**
 * A snapshot of what a pacer of a fleet has counted, such as `RedisPacer`. No count ever decreases.
 * JSON-safe.
 * @inline
 */
export type FleetPacerCounters = {
  /** Calls of the server: of Redis or Postgres. */
  readonly calls: number
  /** Calls that failed or took longer than `timeoutMs`. */
  readonly failures: number
  /** Slots that arrived too late to be used, and were reserved again. */
  readonly repeats: number
  /** Slots that the worker took itself while the server was away (`onFailure: 'local'`). */
  readonly localSlots: number
}

/** The part of a pacer of a fleet that subscribers to its messages use. */
export interface ReportingPacer {
  readonly counters: FleetPacerCounters
}

interface PacerMessage {
  /** The pacer that publishes the message. */
  readonly pacer: ReportingPacer
  /** Milliseconds since 1970. */
  readonly at: number
  /** The pace key of the call; for `admit` and `settle`, the origin. */
  readonly key: string
}

/** A call of the server, such as Redis, failed or took longer than `timeoutMs`. */
export interface FleetFailureMessage extends PacerMessage {
  /**
   * The method of the pacer; `pause`: tells the server of a pause that it may have lost;
   * `cancelWait`: the worker no longer waits for a slot.
   */
  readonly operation:
    | 'reserve'
    | 'sent'
    | 'cancel'
    | 'cancelWait'
    | 'report'
    | 'end'
    | 'release'
    | 'renew'
    | 'estimate'
    | 'pause'
    | 'admit'
    | 'settle'
  readonly error: unknown
}

/**
 * A call of the server, such as Redis, succeeded after a call had failed. In Redis, the calls for
 * the keys of one hash tag fail and recover together.
 */
export interface FleetRecoveredMessage extends PacerMessage {
  /** How many attempts have failed in a row. Calls that were under way together are one attempt. */
  readonly failures: number
}
