// The public API of `@politely/fetcher`.

export { isPolitelyError, OptionError } from '@politely/core'
export { withoutCredentials } from '@politely/core/engine'
export { BlockedAddressError, ClientClosedError, KeyvSetError, ReentryError, StoreClosedError } from './base/errors.ts'
export type { FlightPhase } from './cache/flights.ts'
export type { CopyInspection, Inspection } from './cache/inspection.ts'
export type { Gauges } from './cache/robots-cache.ts'
export {
  type ClientExplanation,
  type ImportCounts,
  type PrefetchCounts,
  RobotsClient,
  type SitemapList,
} from './client/client.ts'
export type { PageReading, PageReport, PageResponse } from './client/page-response.ts'
export type { ClientUsage, TdmrepReading, TdmrepReport } from './client/usage-reader.ts'
export { registrableDomainOf } from './network/host-name.ts'
export { type DnsLookupOptions, dnsLookup } from './network/lookup.ts'
export {
  type GuardedConnectorOptions,
  NetworkGuard,
  type NetworkGuardOptions,
  type NetworkPolicy,
  type Reach,
} from './network/network-guard.ts'
export type { RobotsVia } from './network/robots-way.ts'
export type {
  CheckManyOptions,
  CheckNowOptions,
  CheckOptions,
  LookupOptions,
  ManyOptions,
  UsageOptions,
} from './options/call-options.ts'
export type { RobotsClientOptions } from './options/options.ts'
export { type CheckedUrl, type ClientVerdict, loggableVerdict, type UncheckedUrl } from './report/client-verdict.ts'
export { displayUrl } from './report/display.ts'
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
  type TdmrepFetchEvent,
  type VerdictEvent,
} from './report/telemetry.ts'
export { fromKeyv, type KeyvLike } from './store/from-keyv.ts'
export { MemoryStore, type MemoryStoreOptions } from './store/memory-store.ts'
export type { Lease, Store } from './store/store.ts'
