// The tickets of a FleetPacer. The gate keeps a ticket for the pacer, and does not read it.
//
//   ticket                   given with             contains
//   '1764000000000123'       a slot                 the number of the slot
//   '1764000000000123+'      a slot                 the same, and the key had pushbacks then
//   '1764000000000123~42.5'  a slot                 the same, and the request is sent in time if not
//                                                   later than at this time
//   '1764000000000123@42.5'  a slot                 the same, and the pacer waits until it is sent
//   'turn 1200 1000 100.5'   a wait                 the turn: when the worker calls again
//   'local:7'                a slot of the worker   see local-fallback.ts
import type { Ticket } from '@politely/gate'
import type { SlotReply, WorkerTurn } from './pace-reply.ts'

const TURN = 'turn'
const PUSHBACKS = '+'
const IN_TIME = '~'
const AWAITED = '@'

export function waitTicketOf({ turnAt, turnBefore, turnStepMs }: WorkerTurn): string {
  return `${TURN} ${turnAt} ${turnBefore} ${turnStepMs}`
}

/** Returns undefined for the ticket of a slot. */
export function turnOf(ticket: Ticket | undefined): WorkerTurn | undefined {
  const [name, ...numbers] = `${ticket}`.split(' ')
  const [turnAt = 0, turnBefore = 0, turnStepMs = 0] = numbers.map(Number)
  return name === TURN ? { turnAt, turnBefore, turnStepMs } : undefined
}

interface Sending {
  /** Until when the request is sent in time. */
  readonly until: number
  /** Whether the pacer waits until it is sent. */
  readonly isAwaited: boolean
}

/** @param sending Undefined with a test clock. */
export function ticketOf({ slot, hasPushbacks }: SlotReply, sending?: Sending): string {
  const time = sending === undefined ? '' : `${sending.isAwaited ? AWAITED : IN_TIME}${sending.until}`
  return `${slot}${time}${hasPushbacks ? PUSHBACKS : ''}`
}

/** The ticket of a slot by a test clock has no time: its request counts as late. */
export function sendingOf(ticket: Ticket): Sending {
  const [, until = '-Infinity'] = `${ticket}`.split(/[~@]/)
  return { until: Number.parseFloat(until), isAwaited: `${ticket}`.includes(AWAITED) }
}

export function slotOf(ticket: Ticket): number {
  return Number.parseInt(`${ticket}`, 10)
}

/** Returns whether the key had pushbacks when the slot was reserved. */
export function hadPushbacks(ticket: Ticket): boolean {
  return `${ticket}`.endsWith(PUSHBACKS)
}
