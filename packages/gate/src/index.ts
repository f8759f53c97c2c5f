// Everything that `@politely/gate` offers, and nothing else.

export type { GateCounters } from './counters.ts'
export {
  AnswerError,
  GateClosedError,
  InvalidRequestError,
  OpenRedirectError,
  PacerError,
  RobotsDisallowedError,
} from './errors.ts'
export type {
  AbandonMessage,
  DoneMessage,
  FailureMessage,
  GateMessages,
  LeaveMessage,
  RefuseMessage,
  WaitMessage,
} from './events.ts'
export type { Forecast, LeavingForecast, RefusedForecast } from './forecast.ts'
export { type EnterOptions, PoliteGate, type PoliteGateOptions, type QueueState } from './gate.ts'
export { politeHttpAgent } from './http-agent.ts'
export { LocalPacer } from './local-pacer.ts'
export { type GateOrOptions, gateFor, type OwnGate } from './own-gate.ts'
export type { PaceBy } from './pace-by.ts'
export type { Foreseen, PaceReason, Pacer, Ticket, Turn } from './pacer.ts'
export type { PacingOptions } from './pacing.ts'
export type { Answer, Pass } from './pass.ts'
export { type FetchLike, type PoliteFetch, type PolitelyOptions, politely, type RefusalOptions } from './politely.ts'
export type { WaitReason } from './queue.ts'
export { isRedirect, type Redirection, redirectionOf } from './redirect.ts'
export { refusalOf } from './refused-response.ts'
export { assertOwnHost } from './target.ts'
export {
  CrawlTimeline,
  type CrawlTimelineOptions,
  type TimelineMark,
  type TimelineRow,
  type TimelineSvgOptions,
  type TimelineTextOptions,
} from './timeline/timeline.ts'
export { PoliteAgent, type PoliteAgentOptions, politeAgent } from './undici/agent.ts'
export { politeInterceptor } from './undici/interceptor.ts'
