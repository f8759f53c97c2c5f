// The public API of `@politely/gate`. It does not load undici; `@politely/gate/undici` does.

export { isPolitelyError, OptionError } from '@politely/core'
export { ClientClosedError, ReentryError } from '@politely/fetcher'
export { type GateHandle, type GateOrOptions, resolveGate } from './adapter/resolve-gate.ts'
export { assertOwnHost } from './adapter/target.ts'
export type { FetchLike, FetchResponse } from './fetch/fetch-response.ts'
export type { CachedRequest, CacheExchange, ResponseCache } from './fetch/page-cache.ts'
export { type PoliteFetch, type PolitelyOptions, politely } from './fetch/politely.ts'
export { type Refusal, refusalOf } from './fetch/refused-response.ts'
export { usageOf } from './fetch/response-usage.ts'
export type { RetryOptions } from './fetch/retry.ts'
export { PoliteGate } from './gate.ts'
export { politeHttpAgent } from './http/http-agent.ts'
export type { EnterOptions, PoliteGateOptions, WhenOptions } from './options/gate-options.ts'
export { LocalPacer } from './pace/local-pacer.ts'
export type {
  Admission,
  CircuitReport,
  CircuitResult,
  LeaseTerms,
  Pacer,
  Reservation,
  Ticket,
  WaitEstimate,
} from './pace/pacer.ts'
export type { ReportingPacer } from './pace/pacer-events.ts'
export type { BackoffOptions, CircuitOptions, ObeyOptions, PacingOptions } from './pace/pacing-options.ts'
export type { RequestReport } from './permit/request-report.ts'
export { isRedirect } from './redirects/redirect.ts'
export { AbortedWaitError } from './report/aborted-wait.ts'
export { gateCounterMeanings, waitBucketsMs } from './report/counters.ts'
export {
  BudgetError,
  CircuitOpenError,
  GateClosedError,
  InvalidRequestError,
  OpenRedirectError,
  PacerError,
  QueueFullError,
  ResponseError,
  RobotsDisallowedError,
  WaitTooLongError,
} from './report/errors.ts'
export type {
  AbandonMessage,
  CircuitMessage,
  DoneMessage,
  FailureMessage,
  GateMessages,
  RefuseMessage,
  ReportingGate,
  StartMessage,
  WaitMessage,
} from './report/events.ts'
export { gateGaugeMeanings } from './report/gauges.ts'
export type * from './shown-types.ts'
