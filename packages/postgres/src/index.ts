// The public API of `@politely/postgres`.

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
export type { PostgresClient } from './client.ts'
export { PostgresReplyError, PostgresSchemaError, PostgresTimeoutError } from './errors.ts'
export { type MigrateOptions, migrate } from './migrate.ts'
export type { PostgresPacerMessages } from './pacer-events.ts'
export { PostgresPacer, type PostgresPacerOptions } from './postgres-pacer.ts'
export { PostgresStore, type PostgresStoreOptions } from './postgres-store.ts'
