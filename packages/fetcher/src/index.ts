// Everything that `@politely/fetcher` offers, and nothing else.

export { type Asked, type AskOptions, ClientClosedError, type ClientVerdict, RobotsClient } from './client.ts'
export { displayUrl } from './display.ts'
export { BlockedAddressError, type NetworkPolicy, publicOnlyConnector, reachOf } from './network-guard.ts'
export type { RobotsClientOptions } from './options.ts'
export type { Store } from './store.ts'
