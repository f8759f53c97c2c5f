// The public API of `politely`: what a crawler needs first, of core, fetcher and gate.

export {
  describeVerdict,
  type Finding,
  type FindingCode,
  isPolitelyError,
  lintRobots,
  OptionError,
  parseRobots,
  type Robots,
  type Severity,
  type Verdict,
} from '@politely/core'
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
