// What the other packages of Politely use of core apart from its public API, and the types that are
// parts of public ones. Not public: it may change in any version.

export { type AttemptRequest, advance, isWorthRetrying, startAttempt } from './access/attempt.ts'
export { decidingAttempt, type HeldResult, isOwnFailure } from './access/entry.ts'
export { failureReasonOf, type RequestError } from './access/failure-reason.ts'
export { charsetOfMeta, withoutComments } from './access/html-text.ts'
export { isChallenge, isChallengeBy, looksLikeMeanings } from './access/looks-like.ts'
export { mayBeNotFoundPage } from './access/not-found-page.ts'
export type {
  Hop,
  Restricted,
  Success,
  Unavailable,
  UnavailableReason,
  Unchanged,
  Unreachable,
} from './access/outcome.ts'
export { type OriginAccess, originAccessOf, type Plan } from './access/plan.ts'
export { defaultAccessPolicy } from './access/policy.ts'
export type { Failure, FailureReason, Reply } from './access/reply.ts'
export type { StateKind } from './access/state.ts'
export type { HasBytes } from './bytes.ts'
export { dialectFor } from './choose-dialect.ts'
export {
  type Cause,
  type Describable,
  describeCause,
  describeForeign,
  describeRetryAfter,
  describeState,
  formatTime,
} from './describe.ts'
export { escapeControls, textWithoutCredentials, withoutCredentials } from './describe-value.ts'
export type { AccessDefaults, ParsingRules } from './dialect.ts'
export { editDistance, findRows } from './edit-distance.ts'
export { isOfClass, markClass, otherCopyProblem, PolitelyError, PolitelyTypeError } from './errors.ts'
export { type ForeignFormat, foreignFormatOf, isText, type LooksLike } from './foreign-format.ts'
export { type CacheControl, cacheControlOf } from './http/cache-control.ts'
export { httpDate } from './http/date.ts'
export { type HeaderLine, headerLines } from './http/header-lines.ts'
export { headerOf } from './http/headers.ts'
export { MAX_RETRY_AFTER_MS } from './http/retry-after.ts'
export { assertKnownNames } from './known-options.ts'
export type { FindingKind } from './lint/finding-kinds.ts'
export type { BoundDialect } from './match/bound-rules.ts'
export type { WonBy } from './match/explanation.ts'
export { type PatternTrace, type TraceStep, tracePattern } from './match/trace.ts'
export {
  applyFailure,
  applySuccess,
  type CircuitStateName,
  canForgetCircuit,
  circuitKeptUntil,
  circuitStateOf,
  coolingMs,
  delayProbe,
  returnProbe,
  startProbe,
} from './pace/circuit.ts'
export { MAX_SLOW_DELAY_MS } from './pace/delay.ts'
export {
  type LastingPause,
  MAX_UNDER_WAY_MS,
  type MutablePace,
  type RequestUnderWay,
  type Slot,
  shiftPause,
  UNDER_WAY_WAIT_MS,
} from './pace/pace.ts'
export {
  type BackoffLimits,
  backoffMs,
  defaultBackoff,
  defaultPushbackStatuses,
  type Pushback,
  pushbackOf,
} from './pace/pushback.ts'
export { REFUSED_RESPONSE } from './page/outcome-of.ts'
export type { PagePrice } from './page/price.ts'
export type { OtherField } from './parse/directive.ts'
export type { SignalUse } from './parse/preference-labels.ts'
export type { ProductTokens } from './parse/product-tokens.ts'
export type { OtherRecord } from './parse/records.ts'
export { explainMissingToken } from './parse/user-agent-name.ts'
export type { NextVisitReason } from './revisit/next-visit.ts'
export type { BindOptions } from './robots.ts'
export { isPromise } from './runtime/is-promise.ts'
export { DAY_MS, MAX_TIMED_RECORDS } from './timed-records.ts'
export { MAX_SHORT_URL_LENGTH, parseUrl, startsWithOrigin } from './url/origin.ts'
export type { Combination } from './usage/combine.ts'
export type { ConflictKind, UsageReading } from './usage/conflicts.ts'
export type { Channel, UsageProblem, UsageSource } from './usage/purpose.ts'
export type { LabelAnswer } from './usage/robots-txt/label-values.ts'
export type { UncountedMeta } from './usage/tags/meta-slips.ts'
export type { HeadLicense, HeadMeta } from './usage/tags/page-head.ts'
export type {
  RobotsProblem,
  RobotsProblemReason,
  RobotsStatement,
} from './usage/tags/robots-directives.ts'
export type {
  RobotsDocument,
  RobotsDocumentKey,
  RobotsRule,
  RuleMeaning,
  RuleValue,
} from './usage/tags/robots-rules.ts'
export type { TdmrepAnswer, TdmrepPlaces, TdmrepRule, TdmrepSource } from './usage/tdmrep.ts'
