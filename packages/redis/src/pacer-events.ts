// The messages that a RedisPacer publishes on channels of `node:diagnostics_channel`.
import { channel } from 'node:diagnostics_channel'

/** A snapshot of what a pacer has counted. No count ever decreases. JSON-safe. */
export interface RedisPacerCounters {
  /** Calls of Redis. */
  readonly calls: number
  /** Calls that failed or took longer than `timeoutMs`. */
  readonly failures: number
  /** Slots that arrived too late to be used, and were reserved again. */
  readonly repeats: number
  /** Slots that the worker took itself while Redis was away (`onFailure: 'local'`). */
  readonly localSlots: number
}

/** The part of a `RedisPacer` that subscribers to its messages use. */
export interface ReportingPacer {
  readonly counters: RedisPacerCounters
}

interface PacerMessage {
  /** The pacer that publishes the message. */
  readonly pacer: ReportingPacer
  /** Milliseconds since 1970. */
  readonly at: number
  /** The pace key of the call; for `admit` and `settle`, the origin. */
  readonly key: string
}

/** A call of Redis failed, or took longer than `timeoutMs`. */
export interface RedisFailureMessage extends PacerMessage {
  /**
   * The method of the pacer; `pause`: tells Redis of a pause that it may have lost; `cancelWait`:
   * the worker no longer waits for a slot.
   */
  readonly operation:
    | 'reserve'
    | 'sent'
    | 'cancel'
    | 'cancelWait'
    | 'report'
    | 'end'
    | 'estimate'
    | 'pause'
    | 'admit'
    | 'settle'
  readonly error: unknown
}

/** A call of Redis succeeded, after a call for a key with the same hash tag had failed. */
export interface RedisRecoveredMessage extends PacerMessage {
  /**
   * How many attempts have failed in a row, for keys with this hash tag. Calls that were under way
   * together are one attempt.
   */
  readonly failures: number
}

/**
 * Redis may evict keys under its `maxmemory-policy`, so delays may be shorter than asked. Published
 * once for each pacer.
 */
export interface RedisEvictionMessage {
  /** The pacer that publishes the message. */
  readonly pacer: ReportingPacer
  /** The policy. Expected: `noeviction`. */
  readonly policy: string
}

/** The type of the messages of each channel. */
export interface RedisPacerMessages {
  'politely:redis:failure': RedisFailureMessage
  'politely:redis:recovered': RedisRecoveredMessage
  'politely:redis:eviction': RedisEvictionMessage
}

export function publish<N extends keyof RedisPacerMessages>(name: N, message: RedisPacerMessages[N]): void {
  const target = channel(name)
  if (target.hasSubscribers) target.publish(message)
}
