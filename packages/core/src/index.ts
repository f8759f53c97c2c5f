// The public API of `@politely/core`: what callers use to parse, check, lint, explain and describe.
// engine.ts has the rest.

export type { Attempt } from './access/entry.ts'
export type { Hop, UnavailableReason } from './access/outcome.ts'
export type { FailureReason } from './access/reply.ts'
export type { HasBytes } from './bytes.ts'
export type { Access, Verdict } from './decide.ts'
export { type Describable, describeReason, describeVerdict } from './describe.ts'
export { escapeControls } from './describe-value.ts'
export {
  type AccessDefaults,
  type Deviation,
  type Dialect,
  type DialectName,
  deviations,
  dialects,
  type ParsingRules,
} from './dialect.ts'
export { isPolitelyError, OptionError } from './errors.ts'
export { type DialectAnswer, explainDialects } from './explain-dialects.ts'
export type { Finding } from './lint/finding.ts'
export {
  type FindingCode,
  type FindingKind,
  findingKinds,
  findingMessages,
  type Severity,
} from './lint/finding-kinds.ts'
export { type LintOptions, lintRobots } from './lint/lint-robots.ts'
export { BOUND_VERSION, type BoundDialect, type BoundRules } from './match/bound-rules.ts'
export type { CrawlerRules } from './match/crawler-rules.ts'
export type { Explanation, Match, WonBy } from './match/explanation.ts'
export type { Group, InvalidUrl, Rule, RulesVerdict } from './match/verdict.ts'
export { describeOutcome } from './page/describe-outcome.ts'
export type { PageOutcome, PageOutcomeKind, PageOutcomeReason, PageResponse } from './page/outcome.ts'
export { outcomeOf } from './page/outcome-of.ts'
export type { PagePrice } from './page/price.ts'
export type { OtherField } from './parse/directive.ts'
export type { ProductTokens } from './parse/product-tokens.ts'
export type { OtherRecord } from './parse/records.ts'
export { isProductToken, productTokenOf } from './parse/user-agent-name.ts'
export { type ParseOptions, parseRobots } from './parse-robots.ts'
export { restoreRules } from './restore.ts'
export type { BindOptions, Keep, Robots } from './robots.ts'
export type { DayRange, RequestRate } from './timed-records.ts'
export { type HasHref, originOf, type ParsedUrl, type UrlInput } from './url/origin.ts'
export { explainUrlProblem, type UrlProblem } from './url/url-problem.ts'
