// The public exports of `@politely/cdp`.

export { isPolitelyError } from '@politely/core'
export type { RobotsDisallowedError } from '@politely/gate'
export type * from '@politely/gate/shown-types'
export { BrowserGoneError } from './browser-gone.ts'
export { type BrowserGuard, type BrowserGuardOptions, type BrowserScope, guardBrowser } from './browser-guard.ts'
export type {} from './internal.ts' // for the types that the exported values show
export type { GuardedPage } from './pages.ts'
export type { DriverBrowser, DriverPage, DriverSession } from './session.ts'
export { type Traffic, trafficOf } from './traffic.ts'
