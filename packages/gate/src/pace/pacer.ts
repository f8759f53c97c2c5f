// The interface of a pacer, which decides when the next request of a pace key may start.
//
// The gate keeps the order of requests in its process. The pacer keeps the pace: in this process
// (`LocalPacer`, the default), or in one place for a whole fleet.
import type { PageOutcome } from '@politely/core'
import type {
  CircuitLimits,
  Delay,
  PaceLimits,
  PaceResponse,
  PauseReason,
  CircuitReport as ReportOfCircuit,
  CircuitResult as ResultOfCircuit,
} from '@politely/core/engine'
import type { Slot } from '@politely/core/internal'

/**
 * Keeps the pace of every pace key: an origin, or what `paceBy` says; and a registrable domain or
 * an IP address, if it has its own delay. A method may return its result or a promise of it. All
 * times are durations, so that the clocks of several machines need not agree.
 *
 * The gate promises the following. It calls `reserve` for one request of a key at a time. It passes
 * a ticket that it was given to the next call of `reserve` for that key, or to `cancel`. For every
 * slot that it gets, it calls `cancel` or `end` once. If `reserve` or `estimate` throws or rejects,
 * the gate rejects the request with that error. A failure of another method is counted and
 * published.
 */
export interface Pacer {
  /**
   * Whether the pacer counts the requests under way of all processes, by leases. Then `reserve` gets
   * `lease`, and the gate calls `release` once for each slot of a lane's key instead of counting by
   * itself. Default false.
   */
  readonly countsUnderWay?: boolean | undefined
  /**
   * Reserves a slot for the next request of a key. If no slot is free, returns how long to wait;
   * the gate calls again after that time.
   * @param limits What the caller and the site ask for.
   * @param ticket The ticket of the last `wait` reply for this key. A pacer may keep a position in
   * its own queue for a ticket.
   * @param furtherSlots How many slots the gate reserves after this one for the same request, at
   * other levels. The request starts after the last of these calls. Default 0.
   * @param seesSending Whether the gate expects to see when the request is sent. Default false.
   * @param allowanceMs How much later than its slot the request may be sent, by another program.
   * The next slot comes later by this time, if there is a delay. Milliseconds; default 0.
   * @param lease How many requests of the key may be under way. Only with `countsUnderWay`, and only
   * for the key of a lane: an origin, or what `paceBy` says. A request that starts counts until
   * `release` or `cancel`, or until its lease is over.
   * @param waiting How many more requests of the key wait in this process; a queue outside of the gate
   * counts as one. If there are some, a pacer may keep a position in its own queue for them with a slot
   * (`nextTicket`). Undefined for a request with slots at several levels. Default: unknown.
   */
  reserve(
    key: string,
    limits: PaceLimits,
    ticket?: Ticket,
    furtherSlots?: number,
    seesSending?: boolean,
    allowanceMs?: number,
    lease?: LeaseTerms,
    waiting?: number,
  ): Reservation | Promise<Reservation>
  /**
   * The request of this slot starts now, a moment after the slot was reserved. A pacer in the
   * process of the gate may count the delay from here. Optional. A pacer elsewhere limits this
   * moment by `startWithinMs` instead.
   */
  started?(key: string, ticket: Ticket, delay: Delay): void | Promise<void>
  /**
   * The request of this slot has been sent just now: it has a connection. The next slot of the
   * key comes no earlier than one delay from now. Optional. The gate calls it at most once for
   * each slot, after `started`, and only if it can see that a request is sent. With
   * `startWithinMs`, only if that time is over: otherwise the pacer has allowed for the start
   * already. With `awaitsSent` it calls it for each slot that it does not cancel, and if it does not
   * see the request being sent, when the response arrives or the request ends.
   * @param agoMs The request of a slot with an `allowanceMs` was sent so long ago, at most. What is
   * left of the allowance is over: the next slot comes one delay after the request was sent.
   * Milliseconds; undefined for a request that was sent just now.
   */
  sent?(key: string, ticket: Ticket, delay: Delay, agoMs?: number): void | Promise<void>
  /**
   * Frees the slot of a request that does not start, or the position of a queue that has become
   * empty.
   */
  cancel(key: string, ticket: Ticket): void | Promise<void>
  /**
   * The request of this slot is no longer under way. The slot may be a slot of another process. The
   * gate calls it once for each slot with a lease, unless it calls `cancel`. Required with
   * `countsUnderWay`.
   */
  release?(key: string, ticket: Ticket): void | Promise<void>
  /**
   * Lets the lease of this slot end so much later than now. Resolves to false if it was over. A
   * pacer renews the leases for which the gate gave no `leaseMs` by itself.
   * @param leaseMs Milliseconds.
   */
  renew?(key: string, ticket: Ticket, leaseMs: number): boolean | Promise<boolean>
  /**
   * The response to the request of this slot has arrived. Called at most once for each slot, unless
   * `onceMs` is given. See `applyResponse` in core.
   * @param onceMs A second report of this slot within this time changes nothing, whichever process
   * makes it. A pacer of one process may ignore it. Milliseconds; default 0.
   */
  report(key: string, ticket: Ticket, response: PaceResponse, onceMs?: number): void | Promise<void>
  /**
   * The site asks for a pause, and not by the response to the request of a slot: its robots.txt was
   * answered with 429, or RateLimit headers say how fast requests may come. The next slot of the key
   * comes no earlier than `pauseMs` from now. Optional: a pacer without it does not keep such pauses,
   * and cannot be combined with `rateLimitHeaders` and `countRobots`.
   * @param pauseMs Milliseconds.
   */
  pause?(key: string, pauseMs: number, because: PauseReason): void | Promise<void>
  /**
   * The request of this slot has ended, with or without a response. See `endRequest` in core. With
   * `pauseFrom: 'end'`, `report` may follow: the code that sends the request has made another one
   * before it.
   * @param tookMs The time since its start. Milliseconds.
   */
  end(key: string, ticket: Ticket, limits: PaceLimits, tookMs: number): void | Promise<void>
  /**
   * Estimates how long a request would have to wait. Reserves nothing.
   * @param ahead How many requests of this key wait before it.
   * @param willReserve Whether a request waits for this time, and then calls `reserve`. A pacer may
   * keep a position in its own queue for it. Default false.
   */
  estimate(key: string, limits: PaceLimits, ahead: number, willReserve?: boolean): WaitEstimate | Promise<WaitEstimate>
  /**
   * Returns the error with which the pacer fails for this key at present, such as the error of a
   * lost connection; undefined while it works. The gate asks after each reply, so that it can tell
   * the caller why requests wait. Optional, for a pacer that handles its failures itself.
   */
  failureOf?(key: string): unknown
  /**
   * The outage of the pacer as a whole, from the first call that fails until its server answers for
   * all keys in use again; undefined while it works. Optional: the gate otherwise counts a pacer
   * as failing from what `reserve` and `estimate` reply.
   */
  readonly outage?:
    | {
        /** When the first call failed. Milliseconds since 1970. */
        readonly since: number
        /** How many calls have failed since then. */
        readonly failures: number
        /** What the last of them failed with. */
        readonly error: unknown
        /** Whether the pacer grants slots meanwhile (`onFailure: 'local'`). */
        readonly grants: boolean
      }
    | undefined
  /**
   * Makes a call that changes nothing, so that an outage begins and ends without requests too. It
   * resolves even if the call fails. Optional.
   * @throws The error of the server, if it rejects the call: another attempt would end in the same
   * way.
   */
  probe?(): Promise<void>
  /**
   * Says whether a request to this origin may start, as far as its circuit says, and makes it the
   * probe if the circuit is half-open. Called before `reserve`. Optional, together with `settle`: a
   * gate whose pacer lacks them keeps the circuits in its process.
   * @param key The pace key of the request. The gate calls `admit` before each call of `reserve` for
   * this key, also after a `wait`, unless the request has no circuit.
   */
  admit?(origin: string, limits: CircuitLimits, key?: string): Admission | Promise<Admission>
  /**
   * A request to this origin has ended. The gate calls it for each failure, for each probe, and for
   * a success if it knows of failures. Returns the state of the circuit after it.
   */
  settle?(origin: string, limits: CircuitLimits, result: CircuitResult): CircuitReport | Promise<CircuitReport>
}

/** @inline */
export type PacerOutage = NonNullable<Pacer['outage']>

/** What a circuit has opened for: the outcome of the last request that failed. */
export type CircuitFailure = Pick<PageOutcome, 'kind' | 'because'>

/** What became of a request, for the circuit of its origin. */
export type CircuitResult = ResultOfCircuit<CircuitFailure>

/** The state of the circuit of an origin. */
export type CircuitReport = ReportOfCircuit<CircuitFailure>

/** The reply to `admit`. With `closed` the request may start. */
export interface Admission extends CircuitReport {
  /** The request is the probe, and may start. Its ticket belongs into `settle`. */
  readonly probe?: Ticket | undefined
}

/** Identifies a slot, or a position in the pacer's own queue. The pacer chooses it. */
export type Ticket = string | number

/** How many requests of a key may be under way in all processes, and how long each counts at most. */
export interface LeaseTerms {
  readonly max: number
  /**
   * How long the request counts if nothing says that it has ended, unless it is renewed.
   * Milliseconds; undefined for a request of this process, whose lease the pacer chooses and renews.
   */
  readonly leaseMs?: number | undefined
  /** The tickets of the slots that this process believes to be under way, the oldest first. */
  readonly open: readonly Ticket[]
}

/** The reply to `reserve`. */
export type Reservation =
  /** The request may start now. */
  | {
      readonly kind: 'slot'
      readonly ticket: Ticket
      /** The delay after the request. */
      readonly delay: Delay
      /**
       * How long after this call of `reserve` the request may start. Milliseconds; undefined for
       * any time. If the slots of other levels take longer, the gate cancels all slots of the
       * request and reserves them again.
       */
      readonly startWithinMs?: number | undefined
      /**
       * Whether the pacer gives no further slot of the key before the gate has called `sent` or
       * `cancel`. Default false.
       */
      readonly awaitsSent?: boolean | undefined
      /**
       * How long after this call of `reserve` the pacer has no further slot of the key: the gate
       * does not ask before. Milliseconds. Default: the delay, from the start of the request on.
       */
      readonly nextAfterMs?: number | undefined
      /**
       * A ticket for the next call of `reserve` for this key, as in a `wait`: the pacer keeps a
       * position for the requests that wait.
       */
      readonly nextTicket?: Ticket | undefined
      /** The tickets of `LeaseTerms.open` whose requests are no longer under way. Default: none. */
      readonly ended?: readonly Ticket[] | undefined
    }
  /** No slot is free. */
  | {
      readonly kind: 'wait'
      readonly ticket: Ticket | undefined
      /** How long to wait before the next call of `reserve`. Milliseconds. */
      readonly waitMs: number
      readonly because: PaceReason
      /** Like the `ended` of a slot. */
      readonly ended?: readonly Ticket[] | undefined
    }

/**
 * Why a request has to wait for its slot. `concurrency`: `LeaseTerms.max` requests are under way.
 * `pacer-failure`: the pacer cannot reserve slots at present.
 * @inline
 */
export type PaceReason = SlotWait['because']

interface SlotWait {
  readonly because: Exclude<Slot['because'], 'none'> | 'concurrency' | 'pacer-failure'
}

/** The reply to `estimate`. */
export interface WaitEstimate {
  /** Milliseconds; 0 if the request could start now. */
  readonly waitMs: number
  /** What the request would wait for last; `none` if it could start now. */
  readonly because: PaceReason | 'none'
}
