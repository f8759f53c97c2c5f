// The public API of `@politely/gate`. It does not load undici; `@politely/gate/undici` does.

export { isPolitelyError, OptionError } from '@politely/core'
export { ClientClosedError, ReentryError } from '@politely/fetcher'
export { assertGateOptions, type GateHandle, type GateOrOptions, resolveGate } from './adapter/resolve-gate.ts'
export { assertOwnHost } from './adapter/target.ts'
export { warnOfOtherName } from './adapter/user-agent.ts'
export type { FetchLike, FetchResponse } from './fetch/fetch-response.ts'
export { type CachedRequest, type CacheExchange, checkedCache, type ResponseCache } from './fetch/page-cache.ts'
export type { RateLimitAnswer } from './fetch/page-exchange.ts'
export {
  type CacheOptions,
  type PoliteFetch,
  type PolitelyOptions,
  politely,
  type RefusalOptions,
  type RepeatOptions,
  type ResponseOptions,
  type TimeoutOptions,
} from './fetch/politely.ts'
export { type Refusal, refusalOf } from './fetch/refused-response.ts'
export { usageOf } from './fetch/response-usage.ts'
export type { RetryOptions } from './fetch/retry.ts'
export { PoliteGate } from './gate.ts'
export { politeHttpAgent } from './http/http-agent.ts'
export type {
  EnterOptions,
  GateCheckOptions,
  PoliteGateOptions,
  SourceOptions,
  WhenOptions,
} from './options/gate-options.ts'
export { LocalPacer } from './pace/local-pacer.ts'
export type {
  Admission,
  CircuitReport,
  CircuitResult,
  LeaseTerms,
  PaceReason,
  Pacer,
  PacerOutage,
  Reservation,
  Ticket,
  WaitEstimate,
} from './pace/pacer.ts'
export type {
  FleetFailureMessage,
  FleetPacerCounters,
  FleetRecoveredMessage,
  ReportingPacer,
} from './pace/pacer-events.ts'
export type {
  BackoffOptions,
  CircuitOptions,
  ObeyOptions,
  PaceBy,
  PacingOptions,
  SitePacingOptions,
} from './pace/pacing-options.ts'
export type { PaceLevel } from './pace/wait-cause.ts'
export type { RateLimited, RequestFailed, RequestReport, ResponseLike } from './permit/request-report.ts'
export { isRedirect, type Redirection, redirectionOf } from './redirects/redirect.ts'
export { AbortedWaitError } from './report/aborted-wait.ts'
export { type GateCounterName, gateCounterMeanings, waitBucketsMs } from './report/counters.ts'
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
  EndedWait,
  FailureMessage,
  GateMessages,
  RefuseMessage,
  ReportingGate,
  StartMessage,
  WaitMessage,
} from './report/events.ts'
export type { AllowedForecast, RefusedForecast } from './report/forecast.ts'
export { gateGaugeMeanings } from './report/gauges.ts'
export type * from './shown-types.ts'
