// The public API of `@politely/redis`.

export { isPolitelyError, OptionError } from '@politely/core'
export type { Delay } from '@politely/core/engine'
export type { Lease } from '@politely/fetcher'
export type {
  Admission,
  CircuitFailure,
  CircuitReport,
  ReportingPacer,
  Reservation,
  Ticket,
  WaitEstimate,
} from '@politely/gate'
export type * from '@politely/gate/shown-types'
export type { RedisClient } from './client.ts'
export { RedisReplyError, RedisTimeoutError } from './errors.ts'
export type { RedisEvictionMessage, RedisPacerMessages } from './pacer-events.ts'
export { RedisPacer, type RedisPacerOptions } from './redis-pacer.ts'
export { RedisStore, type RedisStoreOptions } from './redis-store.ts'
