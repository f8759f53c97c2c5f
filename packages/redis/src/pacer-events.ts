// The messages that a RedisPacer publishes on channels of `node:diagnostics_channel`.
import type { FleetFailureMessage, FleetRecoveredMessage, ReportingPacer } from '@politely/gate'

/**
 * Redis may evict keys under its `maxmemory-policy`, so delays may be shorter than asked. Published
 * once for each pacer.
 */
export type RedisEvictionMessage = {
  /** The pacer that publishes the message. */
  readonly pacer: ReportingPacer
  /** The policy. Expected: `noeviction`. */
  readonly policy: string
}

/** The type of the messages of each channel. */
export interface RedisPacerMessages {
  'politely:redis:failure': FleetFailureMessage
  'politely:redis:recovered': FleetRecoveredMessage
  'politely:redis:eviction': RedisEvictionMessage
}
