// What the adapters of Politely use, and the types that are parts of public ones. Not public: it
// may change in any version.

export { documentTagsOf } from './document-headers.ts'
export { Guard, type GuardOptions, type PageRequestOptions, type RequestAdmission } from './guard.ts'
export { type DriverRequest, GuardedPages, type WrapNavigation } from './pages.ts'
export type { ErrorReason, HeaderEntry, PausedRequest, RequestKind } from './paused-request.ts'
export type { FailedRequest, Refusals } from './refusals.ts'
export type { GuardedContexts, RequestListener } from './traffic.ts'
