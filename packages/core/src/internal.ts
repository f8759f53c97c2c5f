// What the other packages of Politely use of core, apart from its public API. It may change in any version.

export { advance, isWorthRetrying, type RobotsRequest, startAttempt } from './access/attempt.ts'
export { decidingAttempt, dueAt, type HeldResult, isOwnFailure, keepUntil } from './access/entry.ts'
export { failureReasonOf, type RequestError } from './access/failure-reason.ts'
export { isChallenge, isChallengeBy, type LooksLike, looksLikeMeanings } from './access/looks-like.ts'
export { mayBeNotFoundPage } from './access/not-found-page.ts'
export type { Restricted, Success, Unavailable, Unchanged, Unreachable } from './access/outcome.ts'
export { type OriginAccess, originAccessOf, type Plan } from './access/plan.ts'
export { defaultAccessPolicy } from './access/policy.ts'
export type { Failure, Reply } from './access/reply.ts'
export type { StateKind } from './access/state.ts'
export { entryFrom, entryText } from './access/stored-entry.ts'
export { dialectFor } from './choose-dialect.ts'
export {
  type Cause,
  describeCause,
  describeForeign,
  describeRetryAfter,
  describeState,
  formatTime,
} from './describe.ts'
export { textWithoutCredentials, withoutCredentials } from './describe-value.ts'
export { editDistance } from './edit-distance.ts'
export { isOfClass, markClass, otherCopyProblem, PolitelyError, PolitelyTypeError } from './errors.ts'
export { type ForeignFormat, foreignFormatOf, isText } from './foreign-format.ts'
export { type CacheControl, cacheControlOf } from './http/cache-control.ts'
export { httpDate } from './http/date.ts'
export { headerOf } from './http/headers.ts'
export { MAX_RETRY_AFTER_MS } from './http/retry-after.ts'
export { assertKnown } from './known-options.ts'
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
export { explainMissingToken } from './parse/user-agent-name.ts'
export { MAX_TIMED_RECORDS } from './timed-records.ts'
export { MAX_SHORT_URL_LENGTH, parseUrl, startsWithOrigin } from './url/origin.ts'
