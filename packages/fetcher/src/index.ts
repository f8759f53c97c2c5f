// The public API of `@politely/fetcher`.

export { isPolitelyError, OptionError } from '@politely/core'
export { withoutCredentials } from '@politely/core/internal'
export {
  BlockedAddressError,
  ClientClosedError,
  KeyvSetError,
  ReentryError,
  StoreClosedError,
  UnsupportedRuntimeError,
} from './base/errors.ts'
export { RobotsClient } from './client/client.ts'
export type { PageResponse } from './client/page-response.ts'
export { registrableDomainOf } from './network/host-name.ts'
export { type DnsLookupOptions, dnsLookup } from './network/lookup.ts'
export { NetworkGuard, type NetworkGuardOptions } from './network/network-guard.ts'
export type { CheckManyOptions, LookupOptions, UsageOptions } from './options/call-options.ts'
export type { AnyDispatcher, DispatcherByOrigin } from './options/dispatchers.ts'
export type { RobotsClientOptions } from './options/options.ts'
export type { RequestSigner, RequestToSign, SignatureHeaders } from './options/request-signer.ts'
export { counterMeanings } from './report/client-counters.ts'
export { loggableVerdict } from './report/client-verdict.ts'
export { displayUrl } from './report/display.ts'
export { gaugeMeanings } from './report/gauges.ts'
export type { CheckTrace, FetchTrace, Logger } from './report/telemetry.ts'
export type * from './shown-types.ts'
export { fromKeyv, type KeyvLike } from './store/from-keyv.ts'
export { MemoryStore, type MemoryStoreOptions } from './store/memory-store.ts'
export type { Lease, Store } from './store/store.ts'
