// What the processes of a run record. All times are milliseconds of the monotonic clock that the
// processes of a machine share.

/** Returns the time by the clock of the records. */
export const clock = (): number => Number(process.hrtime.bigint()) / 1e6

/** A request as the site sees it. */
export interface Arrival {
  readonly kind: 'arrival'
  readonly at: number
  readonly origin: string
  readonly path: string
  /** The visit, from a header of the request. Empty for robots.txt. */
  readonly visit: string
  /** When the client sent the request, from a header. */
  readonly sentAt: number
  readonly status: number
  readonly retryAfter: number | undefined
  /** When the last byte of the response was written. */
  readonly endedAt: number
}

/** A permit that a client has received. */
export interface Grant {
  readonly kind: 'grant'
  readonly visit: string
  readonly origin: string
  readonly server: string
  readonly calledAt: number
  readonly heldMs: number
  readonly receivedAt: number
  readonly startWithinMs: number
}

/** A permit that came back unused, since it was received too late. */
interface Late {
  readonly kind: 'late'
  readonly visit: string
  readonly at: number
}

/** A report that was delivered, or given up. */
export interface Delivery {
  readonly kind: 'delivery'
  readonly visit: string
  readonly origin: string
  /** The server that granted the permit, and the server that took the report. */
  readonly granted: string
  readonly server: string
  readonly status: number | undefined
  readonly retryAfter: number | undefined
  /** When the first attempt began. */
  readonly firstAt: number
  /** When the last attempt began, and when its answer came. */
  readonly calledAt: number
  readonly answeredAt: number
  readonly attempts: number
  /** The state of the report; `lost` if no attempt was answered. */
  readonly state: string
}

/** An answer without permit. */
interface Wait {
  readonly kind: 'wait'
  readonly origin: string
  readonly server: string
  readonly at: number
  readonly state: string
  readonly because: string
  readonly waitMs: number
}

/** A call of a client that was answered with 200. */
interface Call {
  readonly kind: 'call'
  readonly path: string
  readonly server: string
  readonly calledAt: number
  readonly tookMs: number
  readonly heldMs: number
  readonly holdMs: number
}

/** A call that was not answered with 200. `status` is 0 if no answer came. */
interface Fault {
  readonly kind: 'fault'
  readonly path: string
  readonly server: string
  readonly at: number
  readonly status: number
  readonly detail: string
}

/** What the harness does, and what the servers print. */
interface Note {
  readonly kind: 'note'
  readonly at: number
  readonly text: string
}

export type RunEvent = Arrival | Grant | Late | Delivery | Wait | Call | Fault | Note
