// Everything that `@politely/devtools` offers, and nothing else.

export { BrowserGoneError } from './browser-gone.ts'
export { type Door, Guard, type GuardOptions, type Subresources } from './guard.ts'
export { type Around, type GuardedPage, Pages } from './pages.ts'
export type { FailedRequest } from './refusals.ts'
export type { DriverBrowser, DriverPage, DriverSession } from './session.ts'
export { LEAVE_OUT_SPECULATION_RULES } from './speculation-rules.ts'
export { type Guest, type Owns, type Traffic, trafficOf } from './traffic.ts'
export { type Place, type Watch, type WatchOptions, watch } from './watch.ts'
