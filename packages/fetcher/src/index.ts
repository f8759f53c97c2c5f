// The public API of `@politely/fetcher`.

export { OptionError } from '@politely/core'
export { withoutCredentials } from '@politely/core/engine'
export type { AbortOptions, CheckManyOptions, CheckOptions, ManyOptions } from './call-options.ts'
export {
  ClientClosedError,
  type ClientExplanation,
  type Gauges,
  type ImportCounts,
  type PrefetchCounts,
  RobotsClient,
} from './client.ts'
export { type CheckedUrl, type ClientVerdict, loggableVerdict, type UncheckedUrl } from './client-verdict.ts'
export { displayUrl } from './display.ts'
export type { FlightPhase } from './flights.ts'
export { fromKeyv, type KeyvLike, KeyvSetError } from './from-keyv.ts'
export { registrableDomainOf } from './host-name.ts'
export type { CopyInspection, Inspection } from './inspection.ts'
export { type DnsLookupOptions, dnsLookup } from './lookup.ts'
export { MemoryStore, type MemoryStoreOptions, StoreClosedError } from './memory-store.ts'
export {
  BlockedAddressError,
  type GuardedConnectorOptions,
  NetworkGuard,
  type NetworkGuardOptions,
  type NetworkPolicy,
  type Reach,
} from './network-guard.ts'
export type { RobotsClientOptions } from './options.ts'
export { ReentryError } from './own-requests.ts'
export type { Lease, Store } from './store.ts'
export {
  type CheckTrace,
  type ClientEvents,
  type CounterName,
  type Counters,
  counterMeanings,
  type FetchEvent,
  type FetchTrace,
  type Logger,
  type StoreFailure,
  type VerdictEvent,
} from './telemetry.ts'
