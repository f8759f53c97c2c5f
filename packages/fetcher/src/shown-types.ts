// The types that a RobotsClient shows: what its methods return, and what is in that.
//
// Each package that exports such a value exports its types too. Otherwise TypeScript can't write
// the declarations of a project that pnpm has installed, since that project sees only its own
// dependencies (TS2742). `scripts/declarations.mjs` finds missing types.
export type {
  Access,
  AccessDefaults,
  Attempt,
  BoundDialect,
  BoundRules,
  CrawlerRules,
  DayRange,
  Dialect,
  DialectName,
  Explanation,
  FailureReason,
  Group,
  Hop,
  InvalidUrl,
  Match,
  OtherField,
  OtherRecord,
  ParsingRules,
  RequestRate,
  Robots,
  Rule,
  RulesVerdict,
  UnavailableReason,
  UrlProblem,
  WonBy,
} from '@politely/core'
export type { Copy, Entry, HeldResult, LooksLike, State } from '@politely/core/engine'
export type {
  Answer,
  Channel,
  Combination,
  Purpose,
  PurposeUsage,
  RobotsDirective,
  RobotsDirectives,
  RobotsProblem,
  SignalUse,
  Statement,
  UsageConflict,
  UsageLicense,
  UsageProblem,
  UsageReading,
  UsageSource,
} from '@politely/core/usage'
export type { Inspection } from './cache/inspection.ts'
export type { ClientExplanation, ImportCounts, PrefetchCounts, RobotsClient, SitemapList } from './client/client.ts'
export type { ClientUsage } from './client/usage-reader.ts'
export type { Counters } from './report/client-counters.ts'
export type { CheckedUrl, ClientVerdict } from './report/client-verdict.ts'
export type { Gauges } from './report/gauges.ts'
export type {
  ClientEvents,
  FetchEvent,
  StoreFailure,
  TdmrepFetchEvent,
  VerdictEvent,
} from './report/telemetry.ts'
