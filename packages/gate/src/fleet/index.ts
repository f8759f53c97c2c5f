// What the pacers of fleets share, for our packages of Redis and Postgres. Not public: it may
// change in any version.

export type { Delay } from '@politely/core/engine'
export type {
  Admission,
  CircuitFailure,
  CircuitReport,
  PaceReason,
  Reservation,
  Ticket,
  WaitEstimate,
} from '../pace/pacer.ts'
export { DEFAULT_TIMEOUT_MS, FleetPacer } from './fleet-pacer.ts'
export {
  type CircuitReply,
  circuitReplyOf,
  type PaceReply,
  paceReplyOf,
  type ReplyFields,
  type Turn,
} from './pace-reply.ts'
export type { CircuitChange, PaceRequest, PaceTransport } from './pace-transport.ts'
export {
  type FleetFailureMessage,
  type FleetPacerCounters,
  type FleetRecoveredMessage,
  publish,
  type ReportingPacer,
} from './pacer-events.ts'
