// The public API of `@politely/core/engine`: what stores, gates and simulations need. It exports
// nothing that index.ts exports, and loads it for its types: see there.

export type { Copy } from './access/copy.ts'
export { dueAt, ENTRY_VERSION, type Entry, holdsUntil, keepUntil } from './access/entry.ts'
export type { Outcome } from './access/outcome.ts'
export { freshUntil, plan } from './access/plan.ts'
export { type AccessPolicy, accessPolicyOf } from './access/policy.ts'
export { type Body, failuresThatAre, type Response } from './access/reply.ts'
export { settle } from './access/settle.ts'
export { type State, stateOf, states } from './access/state.ts'
export { entryFrom, entryText } from './access/stored-entry.ts'
export { allows, decide } from './decide.ts'
export { describeValue } from './describe-value.ts'
export type { Headers } from './http/headers.ts'
export { type RateLimit, rateLimitHeaders, rateLimitOf } from './http/rate-limit.ts'
export { retryAfterMs } from './http/retry-after.ts'
export type {} from './index.ts'
export {
  admitTo,
  type Circuit,
  type CircuitLimits,
  type CircuitReport,
  type CircuitResult,
  circuitAfter,
  circuitReport,
  closedCircuit,
} from './pace/circuit.ts'
export { type Delay, delayOf, type PaceLimits } from './pace/delay.ts'
export { nextVisitTimeAt } from './pace/hours.ts'
export {
  applyPause,
  applyResponse,
  applySending,
  canForget,
  endRequest,
  MAX_SIMULATED_REQUESTS,
  nextSlot,
  type Pace,
  type PauseReason,
  returnSlot,
  startPace,
  takeSlot,
  takeSlotOf,
} from './pace/pace.ts'
export type { PaceResponse } from './pace/pushback.ts'
export { outcomesThatMay } from './page/outcome.ts'
export { warnOfNoResponse } from './runtime/no-response.ts'
export { urlText } from './url/origin.ts'
