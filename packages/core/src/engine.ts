// The public API of `@politely/core/engine`: what stores, gates and simulations need. It exports
// nothing that index.ts exports. It shows types of index.ts, and TypeScript names them in the
// declarations of users only if it has loaded index.ts: hence the empty export below.

export { advance, isWorthRetrying, type RobotsRequest, startAttempt } from './access/attempt.ts'
export type { Copy } from './access/copy.ts'
export {
  decidingAttempt,
  dueAt,
  ENTRY_VERSION,
  type Entry,
  type HeldResult,
  holdsUntil,
  isOwnFailure,
  keepUntil,
} from './access/entry.ts'
export { failureReasonOf, type RequestError } from './access/failure-reason.ts'
export { isChallenge, isChallengeBy, type LooksLike, looksLikeMeanings } from './access/looks-like.ts'
export { mayBeNotFoundPage } from './access/not-found-page.ts'
export type {
  Outcome,
  Restricted,
  Success,
  Unavailable,
  Unchanged,
  Unreachable,
} from './access/outcome.ts'
export { freshUntil, type OriginAccess, originAccessOf, type Plan, plan } from './access/plan.ts'
export { type AccessPolicy, accessPolicyOf, defaultAccessPolicy } from './access/policy.ts'
export { type Body, type Failure, failuresThatAre, type Reply, type Response } from './access/reply.ts'
export { settle } from './access/settle.ts'
export { type State, type StateKind, stateOf, states } from './access/state.ts'
export { entryFrom, entryText } from './access/stored-entry.ts'
export { dialectFor } from './choose-dialect.ts'
export { allows, decide } from './decide.ts'
export {
  type Cause,
  describeCause,
  describeForeign,
  describeRetryAfter,
  describeState,
  formatTime,
} from './describe.ts'
export { describeValue, textWithoutCredentials, withoutCredentials } from './describe-value.ts'
export { editDistance } from './edit-distance.ts'
export { isOfClass, markClass, otherCopyProblem, PolitelyError, PolitelyTypeError } from './errors.ts'
export { type ForeignFormat, foreignFormatOf, isText } from './foreign-format.ts'
export { type CacheControl, cacheControlOf } from './http/cache-control.ts'
export { httpDate } from './http/date.ts'
export { type Headers, headerOf } from './http/headers.ts'
export { type RateLimit, rateLimitHeaders, rateLimitOf } from './http/rate-limit.ts'
export { MAX_RETRY_AFTER_MS, retryAfterMs } from './http/retry-after.ts'
export type {} from './index.ts'
export { assertKnown } from './known-options.ts'
export { type PatternTrace, type TraceStep, tracePattern } from './match/trace.ts'
export {
  admitTo,
  applyFailure,
  applySuccess,
  type Circuit,
  type CircuitLimits,
  type CircuitReport,
  type CircuitResult,
  type CircuitStateName,
  canForgetCircuit,
  circuitAfter,
  circuitKeptUntil,
  circuitReport,
  circuitStateOf,
  closedCircuit,
  coolingMs,
  delayProbe,
  returnProbe,
  startProbe,
} from './pace/circuit.ts'
export { type Delay, delayOf, MAX_SLOW_DELAY_MS, type PaceLimits } from './pace/delay.ts'
export { nextVisitTimeAt } from './pace/hours.ts'
export {
  applyPause,
  applyResponse,
  applySending,
  canForget,
  endRequest,
  type LastingPause,
  MAX_SIMULATED_REQUESTS,
  MAX_UNDER_WAY_MS,
  type MutablePace,
  nextSlot,
  type Pace,
  type PauseReason,
  type RequestUnderWay,
  returnSlot,
  type Slot,
  shiftPause,
  startPace,
  takeSlot,
  takeSlotOf,
  UNDER_WAY_WAIT_MS,
} from './pace/pace.ts'
export {
  type BackoffLimits,
  backoffMs,
  defaultBackoff,
  defaultPushbackStatuses,
  type PaceResponse,
  type Pushback,
  pushbackOf,
} from './pace/pushback.ts'
export { outcomesThatMay } from './page/outcome.ts'
export { REFUSED_RESPONSE } from './page/outcome-of.ts'
export { explainMissingToken } from './parse/user-agent-name.ts'
export { warnOfNoResponse } from './runtime/no-response.ts'
export { MAX_TIMED_RECORDS } from './timed-records.ts'
export { MAX_SHORT_URL_LENGTH, parseUrl, startsWithOrigin, urlText } from './url/origin.ts'
export { findRows } from './word-table.ts'
