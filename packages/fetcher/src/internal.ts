// What the other packages of Politely use of this one. Not public: it may change in any version.

export { linkSignals, onAbort, orAborted } from './base/abort-listeners.ts'
export { AsyncVariable } from './base/async-variable.ts'
export { callSafely } from './base/call-safely.ts'
export { discard } from './base/discard.ts'
export { DomainTurns, type TurnOutcome } from './base/domain-turns.ts'
export { watchFakeTimers } from './base/fake-timers.ts'
export { Fifo } from './base/fifo.ts'
export { type Linked, LinkedList } from './base/linked-list.ts'
export { boundedMap, LRUCache } from './base/lru-cache.ts'
export { makeResponse, markRedirected, NULL_BODY } from './base/make-response.ts'
export { messageOf } from './base/message-of.ts'
export {
  abortSignal,
  assertIterable,
  assertKnown,
  assertOptions,
  callable,
  describeValue,
  integer,
  NO_URLS,
  number,
  oneOf,
  redirectChain,
  urlText,
  withMethods,
} from './base/option-checks.ts'
export type { Site } from './base/site.ts'
export { SlowItems, type StartedItem } from './base/slow-items.ts'
export { MAX_TIME_MS, MAX_TIMEOUT_MS, MAX_TIMER_MS, UNTIL_HEADERS, withTimeout } from './base/timeout.ts'
export type { CachedRules } from './cache/memory.ts'
export { type ClientPort, clientPort } from './client/client.ts'
export { hiddenField } from './client/hidden-field.ts'
export { isHtml, rememberSentPage, type SentPage, sentPageOf, UNSEEN_TAGS } from './client/page-response.ts'
export { isPrivateHost, siteOf } from './network/host-name.ts'
export { boundedLookup } from './network/lookup.ts'
export type { GuardedConnectorOptions, NetworkPolicy, Reach } from './network/network-guard.ts'
export { registerPoliteDispatcher } from './network/platform-fetch.ts'
export { isProxyExcluded, proxyVariableFor } from './network/proxy-variables.ts'
export { firstSpecialAddresses } from './network/public-address.ts'
export { HAS_OWN_CONNECTIONS, LOOKED_UP, loadUndici, requireSockets } from './network/undici.ts'
export { registerPoliteFetch } from './network/wrapped-fetches.ts'
export { type ChooseDispatcher, dispatcherChooser } from './options/dispatchers.ts'
export {
  CLIENT_OPTIONS,
  checkedSink,
  namesItself,
  OPTIONS_OF_GATE,
  plausibleTimeout,
  registerPacingOptions,
} from './options/options.ts'
export { challengeOf, checkedSigner, withHeaders } from './options/request-signer.ts'
export {
  type BodyCheck,
  type CodingWatch,
  endsWithConnection,
  framingOf,
  isDecodedByFetch,
  loadTransports,
  problemOfConnection,
  UNSEEN_CODING,
  watchCoding,
} from './received-bodies.ts'
export type { Decisions } from './report/decisions.ts'
export { CACHE_HEADERS } from './report/reported-headers.ts'
export { PROBED_ORIGIN } from './store/store-calls.ts'
