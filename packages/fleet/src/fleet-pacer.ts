// FleetPacer: keeps one pace for all workers of a fleet, on a server that they share: Redis or
// Postgres. A script of the server decides when each request may start. This file turns the gate's
// calls into calls of the script, and the script's replies into reservations.
//
// These objects handle what a local pacer doesn't have:
//
//   PaceTransport    makes one call: the part that differs between the servers
//   SlotAllowance    replies take time, and no delay may become shorter for that reason
//   PaceCalls        calls fail, and replies come late
//   KnownPushbacks   the server may lose the pause after a pushback
//   LocalFallback    slots while the server is away, with `onFailure: 'local'`
//   LeaseRenewals    requests that last longer than their leases
//   SteadyKeys       which keys have another request by the time of each slot
//   FleetCircuits    which origins get no requests for a time, because they have failed
//
// Example of one request: the gate calls `reserve`. The script replies `wait`, with a turn, which
// becomes the ticket. The gate calls `reserve` again at this turn, with the ticket. The script
// replies `slot`, and the request starts. The site replies 429, so the gate calls `report`. The
// script stores a longer pause, and `KnownPushbacks` remembers the pause in case the server loses
// it.
//
// If more requests of the key wait, here and elsewhere, the slot comes with the next turn, so that
// each request takes one call. A slot that is free in a moment (`soonMs`) is reserved too, and
// `reserve` replies then.
import { setTimeout } from 'node:timers/promises'
import { OptionError } from '@politely/core'
import {
  applyResponse,
  type CircuitLimits,
  type Delay,
  delayOf,
  type PaceLimits,
  type PaceResponse,
  type PauseReason,
  startPace,
} from '@politely/core/engine'
import { MAX_RETRY_AFTER_MS, pushbackOf } from '@politely/core/internal'
import { callable, integer, LRUCache, MAX_TIMEOUT_MS, number, oneOf } from '@politely/fetcher/internal'
import type {
  Admission,
  CircuitReport,
  CircuitResult,
  FleetPacerCounters,
  LeaseTerms,
  Pacer,
  ReportingPacer,
  Reservation,
  Ticket,
  WaitEstimate,
} from '@politely/gate'
import type { PaceReason, PacerOutage } from '@politely/gate/internal'
import { FleetCircuits } from './fleet-circuits.ts'
import { KnownPushbacks, type OwnPushback } from './known-pushbacks.ts'
import { LeaseRenewals } from './lease-renewals.ts'
import { isLocal, LocalFallback } from './local-fallback.ts'
import { PaceCalls } from './pace-calls.ts'
import type { EstimateReply, FullReply, PlainReply, SlotReply, WaitReply, WorkerTurn } from './pace-reply.ts'
import { hadPushbacks, sendingOf, slotOf, ticketOf, turnOf, waitTicketOf } from './pace-tickets.ts'
import type { PaceTransport } from './pace-transport.ts'
import { SendingLateness } from './sending-lateness.ts'
import { SlotAllowance } from './slot-allowance.ts'
import { SteadyKeys } from './steady-keys.ts'

/** The options that the pacers of all servers have. The options of each pacer explain them. */
interface FleetPacerOptions {
  readonly onFailure?: 'wait' | 'local' | undefined
  readonly fleetSize?: number | undefined
  readonly timeoutMs?: number | undefined
  readonly leaseMs?: number | undefined
  readonly now?: (() => number) | undefined
}

/** When this worker calls `reserve` next, and the turn that the script has given to it. */
interface KnownTurn {
  /** Undefined after a slot for which no other worker waited. */
  readonly turn: WorkerTurn | undefined
  /** When the worker calls `reserve` again, by its own clock. */
  readonly at: number
  readonly because: PaceReason
  /** Whether it was taken before its request: by `estimate`, or with the slot of the last request. */
  readonly isAhead: boolean
}

/** `LeaseTerms`, with slots instead of tickets. */
interface Lease {
  readonly max: number
  readonly ms: number
  readonly open: readonly number[]
}

const NO_LIMITS: PaceLimits = { ownDelayMs: 0, maxDelayMs: undefined, crawlDelayMs: undefined }
/** For a limit that is infinite, which JSON does not know. */
const MAX_LIMIT = 1e9
/** Our choice. A turn that is forgotten passes unused. */
const MAX_TURNS = 10_000
/** How long to wait for a reply. Milliseconds. */
export const DEFAULT_TIMEOUT_MS = 2_000
/**
 * How long at most. A worker may die, and a connection may take long: undici waits ten seconds for
 * one by default.
 */
const MAX_UNSENT_MS = 10_000
/**
 * How often a worker asks whether a request under way has ended: of another worker, or of its own. It
 * sees the end of its own requests, unless their clients tell another worker. Milliseconds. Our
 * choice; the first is in the scripts too: politely.sql has it as a number.
 */
export const FULL_WAIT_MS = 250
const OWN_FULL_MS = 1_000
/** The shortest lease, of which a worker has two thirds to renew it. Milliseconds. Our choice. */
const MIN_LEASE_MS = 100

/** Keeps one pace for all workers of a fleet, on a server and by its clock. */
export class FleetPacer implements Pacer, ReportingPacer {
  /** Whether the server counts the requests under way of all workers: with the option `leaseMs`. */
  readonly countsUnderWay: boolean
  readonly #leaseMs: number | undefined
  readonly #renewals: LeaseRenewals | undefined
  readonly #calls: PaceCalls
  readonly #local: LocalFallback | undefined
  /** A clock in milliseconds that never goes back. */
  readonly #now: () => number
  readonly #hasTestClock: boolean
  readonly #allowance: SlotAllowance
  readonly #pushbacks = new KnownPushbacks()
  readonly #circuits: FleetCircuits
  /** By key: the last turn, for a request that calls `reserve` without its ticket. */
  readonly #turns = new LRUCache<string, KnownTurn>({ max: MAX_TURNS })
  readonly #lateness = new SendingLateness()
  readonly #steadyKeys = new SteadyKeys()
  readonly #counters = { repeats: 0, localSlots: 0 }
  #isSharing = false
  #isShareDue = false

  /**
   * @throws {OptionError} for an invalid option, such as `onFailure: 'local'` without `fleetSize`.
   */
  constructor(transport: PaceTransport, options: FleetPacerOptions) {
    const { onFailure = 'wait', fleetSize, timeoutMs = DEFAULT_TIMEOUT_MS, leaseMs, now } = options
    number('timeoutMs', timeoutMs, { min: 1, max: MAX_TIMEOUT_MS })
    if (leaseMs !== undefined) number('leaseMs', leaseMs, { min: MIN_LEASE_MS, max: MAX_TIMEOUT_MS })
    this.countsUnderWay = leaseMs !== undefined
    this.#leaseMs = leaseMs
    if (leaseMs !== undefined)
      this.#renewals = new LeaseRenewals(leaseMs, (key, ticket) => this.renew(key, ticket, leaseMs))
    const hasTestClock = callable('now', now, 'a function that returns milliseconds') !== undefined
    this.#hasTestClock = hasTestClock
    this.#allowance = new SlotAllowance(timeoutMs, hasTestClock)
    this.#now = now ?? (() => performance.now())
    this.#calls = new PaceCalls({
      transport,
      timeoutMs,
      now: this.#now,
      hasTestClock,
      grants: onFailure === 'local',
      pacer: this,
      onPause: (key, { pauseMs, because, epoch }) =>
        this.#pushbacks.rememberOwn(key, { until: this.#now() + pauseMs, because, epoch, isReported: false }),
      onRecovered: () => this.#local?.retakeFirstSlots(),
      onPossibleLoss: () => void this.#sharePauses(),
    })
    if (fleetSize !== undefined) integer('fleetSize', fleetSize, { min: 1 })
    if (oneOf('onFailure', onFailure, ['wait', 'local']) === 'local') {
      if (fleetSize === undefined) {
        throw new OptionError('fleetSize', "is missing; onFailure: 'local' needs the number of workers, such as 4")
      }
      this.#local = new LocalFallback(now, fleetSize)
    }
    this.#circuits = new FleetCircuits({
      calls: this.#calls,
      now: this.#now,
      hasTestClock,
      local: this.#local?.circuits,
    })
  }

  /** A snapshot of what the pacer has counted since it was created. */
  get counters(): FleetPacerCounters {
    return { ...this.#calls.counters, ...this.#counters }
  }

  /**
   * The gap between two requests, A and then B of another worker, is never shorter than the delay.
   * The script lets B start `delay + allowance` after the slot of A, by the clock of the server. A
   * starts at most `allowance` after its slot, since the gate keeps `startWithinMs`. A slot whose
   * reply took too long is reserved again with a larger allowance.
   *
   * A request that has started may be sent late, on a new connection or in a process that hardly
   * runs. So the script keeps the slot of B back until A was sent, unless the last requests of this
   * worker were late by no more than a tenth of the delay.
   *
   * If the script rejects the call, rejects with its error.
   * @param allowedMs How much later than its slot another program may send the request: see
   * `Pacer`. Milliseconds.
   */
  async reserve(
    key: string,
    limits: PaceLimits,
    ticket?: Ticket,
    furtherSlots = 0,
    seesSending = false,
    allowedMs = 0,
    terms?: LeaseTerms,
    waiting?: number,
  ): Promise<Reservation> {
    const lease = this.#leaseOf(terms)
    const calledAt = this.#now()
    const mayBeLate = seesSending && !this.#hasTestClock && limits.pauseFrom !== 'end'
    const shortestDelay = delayOf({ ...limits, requestRates: undefined }, 0) // rates make it longer only
    const awaitsSent = mayBeLate && !this.#lateness.isShort(shortestDelay.delayMs)
    const unsentMs = awaitsSent ? MAX_UNSENT_MS : undefined
    const known = ticket === undefined ? this.#turns.get(key) : undefined
    this.#turns.delete(key)
    // With `allowedMs`, the next slot may come sooner than the turn says: see `sent`.
    const isSteady = waiting === 0 && allowedMs === 0 && this.#steadyKeys.called(key, calledAt)
    const takesTurn = isSteady || (waiting !== undefined && waiting > 0 && allowedMs === 0)
    let turn = turnOf(ticket) ?? known?.turn
    if (known?.isAhead && known.at > calledAt)
      return { kind: 'wait', ticket: turn && waitTicketOf(turn), waitMs: known.at - calledAt, because: known.because }
    let slot: number | undefined
    for (;;) {
      const { maxReplyMs, soonMs, ...allowances } = this.#allowance.next(furtherSlots, allowedMs)
      if (this.#calls.hasUnsent(key)) await this.#calls.resend(key) // otherwise the call is made at once
      const { knownPauses, pushback } = this.#knownPausesOf(key, limits)
      const sentAt = this.#now()
      const request = {
        limits,
        slot,
        unsentMs,
        allowedMs,
        ...allowances,
        knownPauses,
        lease,
        ifClear: this.#circuits.isUnseen(key) || undefined,
        takesTurn: takesTurn || undefined,
        soonMs: waiting === undefined ? undefined : soonMs,
        ...turn,
      }
      const reply = await this.#calls.tryCall<SlotReply | WaitReply | FullReply | PlainReply<'failures'>>(
        'reserve',
        key,
        request,
      )
      if (reply === undefined) {
        if (slot !== undefined) void this.#calls.deliver('cancel', key, { slot }) // its reply was too late to be used
        return this.#reserveWithoutServer(key, limits, turn ? waitTicketOf(turn) : ticket, allowedMs, terms)
      }
      this.#pushbacks.told(key, pushback, reply.epoch)
      const tookMs = this.#now() - sentAt
      this.#allowance.replied(tookMs)
      if (request.ifClear && (reply.kind === 'slot' || reply.kind === 'failures'))
        this.#circuits.seen(key, reply.kind === 'failures')
      if (reply.kind === 'failures') {
        const { because } = shortestDelay // the gate calls `admit` before it calls `reserve` again
        return { kind: 'wait', ticket: turn && waitTicketOf(turn), waitMs: 0, because }
      }
      const ended = endedTickets(terms, reply.ended)
      if (reply.kind === 'full') {
        const isOwn =
          terms?.leaseMs === undefined && (lease?.open.length ?? 0) - (ended?.length ?? 0) >= (lease?.max ?? 0)
        const waitMs = Math.min(reply.waitMs, isOwn ? OWN_FULL_MS : FULL_WAIT_MS)
        turn ??= { turnAt: reply.since, turnBefore: 0, turnStepMs: 0 }
        return { kind: 'wait', ticket: waitTicketOf(turn), waitMs, because: 'concurrency', ended }
      }
      if (reply.kind === 'wait') {
        const { waitMs, because } = reply
        this.#turns.set(key, { turn: reply.turn, at: this.#now() + waitMs, because, isAhead: false })
        const isPushback = because === 'retry-after' || because === 'backoff' || because === 'rate-limit'
        if (isPushback && this.#local) this.#pushbacks.rememberOfOthers(key, { until: this.#now() + waitMs, because })
        return { kind: 'wait', ticket: waitTicketOf(reply.turn), waitMs, because, ended }
      }
      const { nextWaitMs, waitMs = 0 } = reply
      const allowanceMs = allowances.allowanceMs + (waitMs > 0 ? allowances.timerAllowanceMs : 0)
      const startBy = sentAt + waitMs + allowanceMs
      if (waitMs > 0) await this.#until(sentAt + tookMs + waitMs) // even a slot that is given back was taken until then
      if (tookMs <= maxReplyMs && this.#now() <= startBy) {
        const { delay, turn } = reply
        if (lease !== undefined && terms?.leaseMs === undefined) this.#renewals?.add(key, reply.slot)
        const laterMs = delay.delayMs > 0 ? allowedMs : 0
        const nextMs = nextWaitMs ?? waitMs + delay.delayMs + allowanceMs + laterMs
        const nextAt = sentAt + tookMs + nextMs
        if (waiting === 0) this.#steadyKeys.gotSlot(key, nextAt)
        if (isSteady) this.#turns.set(key, { turn, at: nextAt, because: delay.because, isAhead: true })
        const nextTicket = isSteady ? undefined : turn && waitTicketOf(turn) // the gate cancels it if no request waits
        if (this.#hasTestClock) {
          const slot = { kind: 'slot', ticket: ticketOf(reply), delay, ended, nextTicket } as const
          return nextMs === delay.delayMs ? slot : { ...slot, nextAfterMs: nextMs }
        }
        return {
          kind: 'slot',
          ticket: ticketOf(reply, { until: startBy, isAwaited: awaitsSent }),
          delay,
          startWithinMs: startBy - calledAt,
          awaitsSent,
          nextAfterMs: nextAt - calledAt,
          nextTicket,
          ended,
        }
      }
      this.#counters.repeats++
      slot = reply.slot
      turn = reply.turn ?? turn
    }
  }

  /**
   * The gate calls this after `startWithinMs`, or if the slot `awaitsSent`. Until `startWithinMs`
   * the allowance of the slot covers the start.
   * @param agoMs How long ago another program sent the request, at most: see `Pacer`. Milliseconds.
   */
  async sent(key: string, ticket: Ticket, delay: Delay, agoMs?: number): Promise<void> {
    if (isLocal(ticket)) return this.#local?.sent(key, ticket, delay, agoMs)
    if (agoMs !== undefined) {
      await this.#calls.deliver('sent', key, { slot: slotOf(ticket), delay, agoMs })
      return
    }
    const { until, isAwaited } = sendingOf(ticket)
    const lateMs = this.#now() - until
    this.#lateness.sent(lateMs)
    const slot = isAwaited ? slotOf(ticket) : undefined
    await this.#calls.deliver('sent', key, { slot, delay: lateMs > 0 ? delay : undefined })
  }

  async cancel(key: string, ticket: Ticket): Promise<void> {
    const turn = turnOf(ticket)
    const known = this.#turns.get(key)
    this.#renewals?.delete(key, slotOf(ticket))
    if (turn?.turnAt === known?.turn?.turnAt) this.#turns.delete(key)
    else if (turn === undefined && known) this.#turns.set(key, { ...known, at: 0 }) // the next request takes its place
    if (isLocal(ticket)) this.#local?.cancel(key, ticket)
    else if (turn !== undefined) await this.#calls.deliver('cancelWait', key, { ...turn })
    else await this.#calls.deliver('cancel', key, { slot: slotOf(ticket) })
  }

  /** Tells the other workers that this request has ended: see `Pacer`. */
  async release(key: string, ticket: Ticket): Promise<void> {
    this.#renewals?.delete(key, slotOf(ticket))
    if (this.countsUnderWay && !isLocal(ticket)) await this.#calls.deliver('release', key, { slot: slotOf(ticket) })
  }

  /**
   * Lets the lease of a request end so much later than now: see `Pacer`. Resolves to true while the
   * server is away, since it is not known then whether the lease is over.
   * @param leaseMs Milliseconds.
   */
  async renew(key: string, ticket: Ticket, leaseMs: number): Promise<boolean> {
    if (!this.countsUnderWay || isLocal(ticket)) return true
    const reply = await this.#calls.tryCall<PlainReply<'renewed'> | PlainReply>('renew', key, {
      slot: slotOf(ticket),
      leaseMs,
    })
    return reply?.kind !== 'done'
  }

  /**
   * Tells the other workers what the response asks for: see `Pacer`.
   * @param onceMs For how long another report of the slot changes nothing. Milliseconds; default 0.
   */
  async report(key: string, ticket: Ticket, response: PaceResponse, onceMs?: number): Promise<void> {
    const now = this.#now()
    const utcOffsetMs = this.#hasTestClock ? 0 : Date.now() - now // for dates in Retry-After
    const pushback = pushbackOf(response, now + utcOffsetMs)
    if (pushback !== undefined) {
      const { lastingPause } = applyResponse(startPace, response, 1, now, utcOffsetMs) // a pushback causes at least the pause of a first pushback
      // Only this call tells of a pushback that may have been reported before.
      if (onceMs === undefined || isLocal(ticket))
        this.#pushbacks.rememberOwn(key, { ...lastingPause, epoch: -1, isReported: !isLocal(ticket) })
      else this.#pushbacks.rememberOfOthers(key, lastingPause)
    }
    if (isLocal(ticket)) return this.#local?.report(key, ticket, response)
    // A success counts only against pushbacks that are older than its request. So it changes
    // nothing unless the key had pushbacks when the slot was reserved.
    if (pushback !== undefined || hadPushbacks(ticket))
      await this.#calls.deliver('report', key, { slot: slotOf(ticket), pushback, onceMs })
  }

  async pause(key: string, pauseMs: number, because: PauseReason): Promise<void> {
    if (!(pauseMs > 0)) return
    const until = this.#now() + Math.min(pauseMs, MAX_RETRY_AFTER_MS)
    this.#pushbacks.rememberOwn(key, { until, because, epoch: -1, isReported: false })
    const rest = () => {
      const now = this.#now()
      const known = this.#pushbacks.ownOf(key, now)
      const last = known !== undefined && known.until > until ? known : { until, because }
      return { knownPauses: [{ ms: last.until - now, because: last.because, epoch: -1 }] }
    }
    await this.#calls.deliver('pause', key, rest)
  }

  async end(key: string, ticket: Ticket, limits: PaceLimits, tookMs: number): Promise<void> {
    if (isLocal(ticket)) return this.#local?.end(key, ticket, limits, tookMs)
    if (limits.pauseFrom === 'end' || limits.delayFactor) {
      await this.#calls.deliver('end', key, { slot: slotOf(ticket), limits, tookMs })
    }
  }

  /**
   * With `willReserve`, the request takes a turn, with which the next `reserve` of the key begins.
   */
  async estimate(key: string, limits: PaceLimits, ahead: number, willReserve = false): Promise<WaitEstimate> {
    const takesTurn = willReserve && ahead === 0
    const turn = takesTurn ? this.#turns.get(key)?.turn : undefined
    const request = { limits, ahead, takesTurn, ...turn, ...this.#allowance.next(0) }
    const reply = await this.#calls.tryCall<EstimateReply | WaitReply>('estimate', key, request)
    if (reply?.kind === 'wait') {
      const { waitMs, because } = reply
      this.#turns.set(key, { turn: reply.turn, at: this.#now() + waitMs, because, isAhead: true })
    }
    if (reply !== undefined) return { waitMs: reply.waitMs, because: reply.because }
    if (this.#local === undefined) return this.#untilRetry(key)
    const [local, pause] = [this.#local.estimate(key, limits, ahead), this.#knownPauseOf(key)]
    return pause !== undefined && pause.waitMs > local.waitMs ? pause : local
  }

  failureOf(key: string): unknown {
    return this.#calls.failureOf(key)
  }

  get outage(): PacerOutage | undefined {
    return this.#calls.outage
  }

  /**
   * Finds an outage, or its end, while no requests do: see `Pacer`. It reserves a slot of a key
   * without requests, so that it fails if requests do, such as for a missing right.
   */
  async probe(): Promise<void> {
    const lease = this.countsUnderWay ? { max: MAX_LIMIT, ms: MIN_LEASE_MS, open: [] } : undefined
    const isFree = { allowanceMs: 0, timerAllowanceMs: 0, maxAllowanceMs: 0 } // even after a loss of data
    await this.#calls.tryCall('reserve', '', { limits: NO_LIMITS, ...isFree, knownPauses: [], lease })
  }

  /**
   * Says whether a request to this origin may start: see `Pacer`. Calls the server only if the
   * origin has had failures, or its key is another one and the last call is older than a second.
   * While the server is away, an open circuit stays open until its cooling period is over; any
   * other counts as closed, or with `onFailure: 'local'` the worker keeps its own.
   */
  admit(origin: string, limits: CircuitLimits, key?: string): Admission | Promise<Admission> {
    return this.#circuits.admit(origin, limits, key)
  }

  /** Tells the other workers how a request to this origin has ended: see `Pacer`. */
  settle(origin: string, limits: CircuitLimits, result: CircuitResult): Promise<CircuitReport> {
    return this.#circuits.settle(origin, limits, result)
  }

  /** Gives up the calls that have failed and would be made again. Does not close the client. */
  close(): void {
    this.#calls.close()
    this.#renewals?.close()
  }

  /** @param at The time of the worker's clock. A timer may fire a little early. */
  async #until(at: number): Promise<void> {
    for (let leftMs = at - this.#now(); leftMs > 0; leftMs = at - this.#now()) await setTimeout(Math.ceil(leftMs))
  }

  /** The lease of a request, as the script gets it. Requests with local slots are not on the server. */
  #leaseOf(terms: LeaseTerms | undefined): Lease | undefined {
    if (terms === undefined || this.#leaseMs === undefined) return undefined
    const { max, leaseMs: ms = this.#leaseMs, open } = terms
    const shared = open.filter((ticket) => !isLocal(ticket))
    const free = Math.max(Math.min(max, MAX_LIMIT) - (open.length - shared.length), 0)
    return { max: free, ms, open: shared.map(slotOf) }
  }

  /** Returns a wait until the next attempt, or a local slot. */
  #reserveWithoutServer(
    key: string,
    limits: PaceLimits,
    ticket: Ticket | undefined,
    allowedMs: number,
    lease: LeaseTerms | undefined,
  ): Reservation {
    if (this.#local === undefined) return { kind: 'wait', ticket, ...this.#untilRetry(key) }
    const pause = this.#knownPauseOf(key)
    if (pause !== undefined) return { kind: 'wait', ticket, ...pause }
    if (lease !== undefined && this.countsUnderWay && lease.open.length >= lease.max)
      return { kind: 'wait', ticket, waitMs: OWN_FULL_MS, because: 'concurrency' }
    const reservation = this.#local.reserve(key, limits, allowedMs)
    if (reservation.kind === 'slot') this.#counters.localSlots++
    return reservation
  }

  /** Returns the rest of the pause that the site asked for, as far as this worker knows of it. */
  #knownPauseOf(key: string): { waitMs: number; because: PaceReason } | undefined {
    const last = this.#pushbacks.lastOf(key)
    const waitMs = last === undefined ? 0 : last.until - this.#now()
    return last !== undefined && waitMs > 0 ? { waitMs, because: last.because } : undefined
  }

  #untilRetry(key: string): { waitMs: number; because: 'pacer-failure' } {
    return { waitMs: this.#calls.untilRetryMs(key), because: 'pacer-failure' }
  }

  /**
   * The pauses of a key that the server may not know: a pushback that it may have lost, and the
   * last local slot.
   */
  #knownPausesOf(key: string, limits: PaceLimits): { knownPauses: object[]; pushback: OwnPushback | undefined } {
    const now = this.#now()
    const knownPauses: object[] = []
    const pushback = this.#pushbacks.ownOf(key, now)
    if (pushback) knownPauses.push({ ms: pushback.until - now, because: pushback.because, epoch: pushback.epoch })
    if (this.#local?.isUsed) {
      const { waitMs, because } = this.#local.estimate(key, { ...limits, visitTimes: undefined }, 0)
      if (waitMs > 0) knownPauses.push({ ms: waitMs, because, epoch: -1 })
    }
    return { knownPauses, pushback }
  }

  /**
   * Tells the server the pushbacks that it may have lost. The script ignores the pushbacks that it
   * got in its present epoch.
   */
  async #sharePauses(): Promise<void> {
    this.#isShareDue = true
    if (this.#isSharing) return
    this.#isSharing = true
    while (this.#isShareDue) {
      this.#isShareDue = false
      for (const key of this.#pushbacks.keys) {
        const { knownPauses, pushback } = this.#knownPausesOf(key, NO_LIMITS)
        if (knownPauses.length === 0) continue
        const reply = await this.#calls.tryCall('pause', key, { knownPauses }).catch(() => undefined)
        if (reply !== undefined) this.#pushbacks.told(key, pushback, reply.epoch)
      }
    }
    this.#isSharing = false
  }
}

/** Returns the tickets of slots that are no longer under way; undefined for none. */
function endedTickets(
  terms: LeaseTerms | undefined,
  slots: readonly number[] | undefined,
): readonly Ticket[] | undefined {
  return slots && terms?.open.filter((ticket) => slots.includes(slotOf(ticket)))
}
