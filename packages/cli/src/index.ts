// The public API of `politely`: what a crawler needs first, of core, fetcher and gate.

export {
  describeOutcome,
  describeVerdict,
  type Finding,
  type FindingCode,
  isPolitelyError,
  lintRobots,
  OptionError,
  outcomeOf,
  type PageOutcome,
  type PageOutcomeKind,
  type PageOutcomeReason,
  type PageResponse,
  parseRobots,
  type Robots,
  type Severity,
  type Verdict,
} from '@politely/core'
export type { PagePrice } from '@politely/core/internal'
export {
  BlockedAddressError,
  ClientClosedError,
  type ClientUsage,
  type ClientVerdict,
  type Logger,
  RobotsClient,
  type RobotsClientOptions,
  type UsageOptions,
} from '@politely/fetcher'
export {
  AbortedWaitError,
  BudgetError,
  CircuitOpenError,
  type EnterOptions,
  type Forecast,
  GateClosedError,
  InvalidRequestError,
  type PacingOptions,
  type Permit,
  type PoliteFetch,
  PoliteGate,
  type PoliteGateOptions,
  type PolitelyOptions,
  politely,
  QueueFullError,
  type Refusal,
  ResponseError,
  RobotsDisallowedError,
  refusalOf,
  type SourceOptions,
  usageOf,
  WaitTooLongError,
  type WhenOptions,
} from '@politely/gate'
// The types that a gate and a client show.
export type * from '@politely/gate/shown-types'
