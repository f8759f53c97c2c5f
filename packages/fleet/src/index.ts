// What the pacers of fleets share, for our packages of Redis and Postgres. Not public: it may
// change in any version.

export type { Delay, PauseReason } from '@politely/core/engine'
export type {
  Admission,
  CircuitFailure,
  CircuitReport,
  FleetFailureMessage,
  FleetPacerCounters,
  FleetRecoveredMessage,
  ReportingPacer,
  Reservation,
  Ticket,
  WaitEstimate,
} from '@politely/gate'
export type {
  PaceReason,
  PacerOutage,
} from '@politely/gate/internal'
export { DEFAULT_TIMEOUT_MS, FleetPacer, FULL_WAIT_MS } from './fleet-pacer.ts'
export {
  type CircuitReply,
  circuitReplyOf,
  type PaceReply,
  paceReplyOf,
  type ReplyFields,
  type WorkerTurn,
} from './pace-reply.ts'
export type { CircuitChange, PaceRequest, PaceTransport } from './pace-transport.ts'
export { publish } from './publish.ts'
