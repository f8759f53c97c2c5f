// The types that a RobotsClient shows: what its methods return, and what is in that. Also what its
// option `evidence` gets, for sinks of the caller's own.
//
// Each package that exports such a value exports its types too. Otherwise TypeScript can't write
// the declarations of a project that pnpm has installed, since that project sees only its own
// dependencies (TS2742). `scripts/declarations.mjs` finds missing types.
export type {
  Access,
  Attempt,
  BoundRules,
  CrawlerRules,
  DayRange,
  Dialect,
  DialectName,
  Explanation,
  Group,
  InvalidUrl,
  Match,
  RequestRate,
  Robots,
  Rule,
  RulesVerdict,
  UrlProblem,
} from '@politely/core'
export type { AccessPolicy, Copy, Delay, Entry, State } from '@politely/core/engine'
export type {
  AccessDefaults,
  BoundDialect,
  Channel,
  Combination,
  FailureReason,
  HeldResult,
  Hop,
  LooksLike,
  OtherField,
  OtherRecord,
  ParsingRules,
  RobotsProblem,
  SignalUse,
  UnavailableReason,
  UsageProblem,
  UsageReading,
  UsageSource,
  WonBy,
} from '@politely/core/internal'
export type {
  Answer,
  Purpose,
  PurposeUsage,
  RobotsDirective,
  RobotsDirectives,
  Statement,
  UsageConflict,
  UsageLicense,
} from '@politely/core/usage'
export type { Inspection } from './cache/inspection.ts'
export type { ClientExplanation, ImportCounts, PrefetchCounts, RobotsClient, SitemapList } from './client/client.ts'
export type { ClientUsage } from './client/usage-reader.ts'
export type { Counters } from './report/client-counters.ts'
export type { CheckedUrl, ClientVerdict } from './report/client-verdict.ts'
export type { DecidingClient, Decision, DecisionReceipt, DecisionResult, EvidenceSink } from './report/evidence.ts'
export type { Gauges } from './report/gauges.ts'
export type {
  ClientEvents,
  FetchEvent,
  StoreFailure,
  TdmrepFetchEvent,
  VerdictEvent,
} from './report/telemetry.ts'
