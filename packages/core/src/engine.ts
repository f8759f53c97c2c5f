// The public API of `@politely/core/engine`: what stores, gates and simulations need. It exports nothing that index.ts exports, whose types it uses.

export { advance, type RobotsRequest, startAttempt } from './access/attempt.ts'
export type { Copy } from './access/copy.ts'
export {
  dueAt,
  ENTRY_VERSION,
  type Entry,
  type HeldResult,
  holdsUntil,
  keepUntil,
} from './access/entry.ts'
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
export {
  type Body,
  type Failure,
  isWorthRetrying,
  type Reply,
  type Response,
} from './access/reply.ts'
export { settle } from './access/settle.ts'
export { type State, type StateKind, stateOf, states } from './access/state.ts'
export { entryFrom, entryText } from './access/stored-entry.ts'
export { dialectFor } from './choose-dialect.ts'
export { allows, decide } from './decide.ts'
export { describeState } from './describe.ts'
export { nearestName } from './edit-distance.ts'
export { type Headers, headerOf } from './http/headers.ts'
export { retryAfterMs } from './http/retry-after.ts'
export { assertKnownOptions } from './known-options.ts'
export { describeValue } from './option-error.ts'
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
  type PushbackPause,
  returnSlot,
  type Slot,
  shiftPause,
  startPace,
  takeSlot,
} from './pace/pace.ts'
export { parseUrl, startsWithOrigin } from './url/origin.ts'
