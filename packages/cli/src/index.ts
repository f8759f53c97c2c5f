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
  type PageResponse,
  parseRobots,
  type Robots,
  type Verdict,
} from '@politely/core'
export {
  BlockedAddressError,
  ClientClosedError,
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
  usageOf,
  WaitTooLongError,
  type WhenOptions,
} from '@politely/gate'
// The types that a gate and a client show.
export type * from '@politely/gate/shown-types'
export type * from './shown-types.ts'
