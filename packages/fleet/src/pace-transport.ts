// What a FleetPacer needs of its server: Redis and Postgres differ in this only.
import type { PaceLimits } from '@politely/core/engine'
import type { FleetFailureMessage, ReportingPacer } from '@politely/gate'
import type { CircuitReply, PaceReply } from './pace-reply.ts'

export type Operation = FleetFailureMessage['operation']

/** The fields of a request that the script of the server understands. */
export interface ScriptRequest {
  readonly limits?: PaceLimits
  readonly slot?: number | undefined
  /** `reserve` takes no slot if the key is an origin with failures. */
  readonly ifClear?: boolean | undefined
  readonly [field: string]: unknown
}

/** A request with the operation, and with `now` if the pacer has a test clock. */
export interface PaceRequest extends ScriptRequest {
  readonly op: Operation
  readonly now?: number
}

/** Replaces the value of a circuit, if it still is `value`. */
export interface CircuitChange {
  /** The value that the caller has read. Empty if the origin has no circuit. */
  readonly value: string
  /** Empty if the circuit has no failures. */
  readonly next: string
  /** How long the server keeps the next value. Milliseconds. */
  readonly keepMs: number
}

/**
 * Calls the server. The methods reject after a failure; the caller handles timeouts and repeats
 * calls. The calls of a key must reach the server in their order.
 */
export interface PaceTransport {
  /** Whether all buckets have one epoch: then a loss in one bucket is a loss in all of them. */
  readonly isEpochShared: boolean
  /** The names of the channels on which failures are published. */
  readonly channels: { readonly failure: string; readonly recovered: string }
  pace(key: string, request: PaceRequest, bucket: string): Promise<PaceReply>
  /** Without a change, only reads the circuit of an origin. */
  circuit(origin: string, change: CircuitChange | undefined, bucket: string): Promise<CircuitReply>
  /**
   * Returns whether the server has rejected a call, for example because of an argument of the wrong
   * type. Another attempt would end in the same way.
   */
  isRejection(error: unknown): boolean
  /** The error of a call without a reply. Milliseconds. */
  timeoutError(timeoutMs: number): Error
  /** The server has replied for the first time, to a call for this key. */
  onFirstReply?(key: string, pacer: ReportingPacer): void
}
