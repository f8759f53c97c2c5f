// The public API of `@politely/redis`.

export { isPolitelyError, OptionError } from '@politely/core'
export type { CircuitLimits, Delay } from '@politely/core/engine'
export type { Lease } from '@politely/fetcher'
export type {
  Admission,
  CircuitFailure,
  CircuitReport,
  CircuitResult,
  FleetFailureMessage as RedisFailureMessage,
  FleetPacerCounters as RedisPacerCounters,
  FleetRecoveredMessage as RedisRecoveredMessage,
  PaceReason,
  PacerOutage,
  ReportingPacer,
  Reservation,
  Ticket,
  WaitEstimate,
} from '@politely/gate'
export type { IoredisClient, NodeRedisClient, RedisClient } from './client.ts'
export { RedisReplyError, RedisTimeoutError } from './errors.ts'
export type { RedisEvictionMessage, RedisPacerMessages } from './pacer-events.ts'
export { RedisPacer, type RedisPacerOptions } from './redis-pacer.ts'
export { RedisStore, type RedisStoreOptions } from './redis-store.ts'
