// The messages that a PostgresPacer publishes on channels of `node:diagnostics_channel`.
import type { FleetFailureMessage, FleetRecoveredMessage } from '@politely/gate'

/** The type of the messages of each channel. */
export interface PostgresPacerMessages {
  'politely:postgres:failure': FleetFailureMessage
  'politely:postgres:recovered': FleetRecoveredMessage
}
