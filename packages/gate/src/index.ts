// The public API of `@politely/gate`. It does not load undici; `@politely/gate/undici` does.

export { OptionError } from '@politely/core'
export { ClientClosedError, ReentryError } from '@politely/fetcher'
export type { GateCounters } from './counters.ts'
export {
  GateClosedError,
  InvalidRequestError,
  OpenRedirectError,
  PacerError,
  ResponseError,
  RobotsDisallowedError,
} from './errors.ts'
export type {
  AbandonMessage,
  DoneMessage,
  FailureMessage,
  GateMessages,
  RefuseMessage,
  ReportingGate,
  StartMessage,
  WaitMessage,
} from './events.ts'
export type { AllowedForecast, Forecast, RefusedForecast } from './forecast.ts'
export { PoliteGate } from './gate.ts'
export type { EnterOptions, GateCheckOptions, PoliteGateOptions } from './gate-options.ts'
export { politeHttpAgent } from './http-agent.ts'
export { LocalPacer } from './local-pacer.ts'
export type { PaceReason, Pacer, Reservation, Ticket, WaitEstimate } from './pacer.ts'
export type { PaceBy, PacingOptions } from './pacing-options.ts'
export type { Permit, ResponseLike } from './permit.ts'
export {
  type FetchLike,
  type FetchResponse,
  type PoliteFetch,
  type PolitelyOptions,
  politely,
  type RefusalOptions,
} from './politely.ts'
export type { QueueState } from './queue-state.ts'
export { isRedirect, type Redirection, redirectionOf } from './redirect.ts'
export { refusalOf } from './refused-response.ts'
export { assertGateOptions, type GateHandle, type GateOrOptions, resolveGate } from './resolve-gate.ts'
export { assertOwnHost } from './target.ts'
export type { WaitLevel, WaitReason } from './wait-cause.ts'
