// The public exports of `@politely/cdp`.

export { isPolitelyError } from '@politely/core'
export type { RobotsDisallowedError } from '@politely/gate'
export type * from '@politely/gate/shown-types'
export { BrowserGoneError } from './browser-gone.ts'
export { type BrowserGuard, type BrowserGuardOptions, type BrowserScope, guardBrowser } from './browser-guard.ts'
export { robotsTagsOf } from './document-tags.ts'
export { type Admission, Guard, type GuardOptions, type PageRequestOptions, type PageRequests } from './guard.ts'
export { type DriverRequest, type GuardedPage, Pages, type WrapNavigation } from './pages.ts'
export type { ErrorReason, HeaderEntry, PausedRequest, RequestKind } from './paused-request.ts'
export type { FailedRequest, Refusals } from './refusals.ts'
export type { DriverBrowser, DriverPage, DriverSession } from './session.ts'
export { type GuardedContexts, type RequestListener, type Traffic, trafficOf } from './traffic.ts'
