// The public API of `@politely/core`.

export { advance, type RobotsRequest, startAttempt } from './access/attempt.ts'
export type { Copy } from './access/copy.ts'
export {
  type Attempt,
  dueAt,
  ENTRY_VERSION,
  type Entry,
  type HeldResult,
  holdsUntil,
  keepUntil,
} from './access/entry.ts'
export type { Hop, Outcome, UnavailableReason } from './access/outcome.ts'
export { freshUntil, type OriginAccess, originAccessOf, type Plan, plan } from './access/plan.ts'
export { type AccessPolicy, accessPolicyOf, defaultAccessPolicy } from './access/policy.ts'
export {
  type Body,
  type Failure,
  type FailureReason,
  isWorthRetrying,
  type Reply,
  type Response,
} from './access/reply.ts'
export { settle } from './access/settle.ts'
export { type State, stateOf, states } from './access/state.ts'
export { entryFrom, entryText } from './access/stored-entry.ts'
export type { HasBytes } from './bytes.ts'
export { dialectFor } from './choose-dialect.ts'
export { type Access, allows, decide, type Verdict } from './decide.ts'
export { type Describable, describeReason, describeState, describeVerdict, escapeControls } from './describe.ts'
export {
  type AccessDefaults,
  type Deviation,
  type Dialect,
  type DialectName,
  deviations,
  dialects,
  type ParsingRules,
} from './dialect.ts'
export { type DialectAnswer, explainDialects } from './explain-dialects.ts'
export { type Headers, headerOf } from './http/headers.ts'
export { retryAfterMs } from './http/retry-after.ts'
export type { Finding } from './lint/finding.ts'
export { type FindingCode, type FindingKind, findingKinds, type Severity } from './lint/finding-kinds.ts'
export { lintRobots } from './lint/lint-robots.ts'
export { BOUND_VERSION, type BoundDialect, type BoundRules } from './match/bound-rules.ts'
export type { CrawlerRules } from './match/crawler-rules.ts'
export type { Explanation, Match, WonBy } from './match/explanation.ts'
export type { Group, InvalidUrl, Rule, RulesVerdict } from './match/verdict.ts'
export { OptionError } from './option-error.ts'
export { type Delay, delayOf, type PaceLimits, type Rate } from './pace/delay.ts'
export { type Hours, nextVisitTimeAt } from './pace/hours.ts'
export {
  applyResponse,
  canForget,
  isPushback,
  nextSlot,
  type Pace,
  type PaceResponse,
  type PauseReason,
  returnSlot,
  type Slot,
  shiftPause,
  startPace,
  takeSlot,
} from './pace/pace.ts'
export type { DayRange } from './parse/day-range.ts'
export type { OtherField } from './parse/directive.ts'
export { isProductToken, productTokenOf } from './parse/product-token.ts'
export type { OtherRecord } from './parse/records.ts'
export type { RequestRate } from './parse/request-rate.ts'
export { type ParseOptions, parseRobots } from './parse.ts'
export { restoreRules } from './restore.ts'
export type { BindOptions, Keep, ProductTokens, Robots } from './robots.ts'
export {
  explainUrlProblem,
  type HasHref,
  originOf,
  type ParsedUrl,
  parseUrl,
  startsWithOrigin,
  type UrlInput,
  type UrlProblem,
} from './url/origin.ts'
