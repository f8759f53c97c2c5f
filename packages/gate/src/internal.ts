// What the other packages of Politely use of this one. Not public: it may change in any version.

export { Exchange } from './adapter/exchange.ts'
export { countsWait, forgetQueueTimeout } from './adapter/queue-timeout.ts'
export { assertGate } from './adapter/resolve-gate.ts'
export { assertNoPseudoHeader, dispatchedTarget } from './adapter/target.ts'
export { CallerTimeout } from './fetch/caller-timeout.ts'
export { methodOf } from './fetch/fetch-input.ts'
export { retryOf, withRetries } from './fetch/retry.ts'
export { type Entrance, type GatePort, gatePort, type OuterLane } from './gate.ts'
export { ForeignPermit } from './lane/foreign-permit.ts'
export type { PermitRecord } from './lane/grant.ts'
export type { GrantedPermit } from './lane/granted-permit.ts'
export { hasRedirectInside, isRedirect, MAX_REDIRECTS, redirectionOf } from './redirects/redirect.ts'
