import type { Delay, PaceLimits, PaceResponse, PauseReason } from '@politely/core/engine'
import { LocalPacer, type Pacer, type Reservation, type Ticket, type WaitEstimate } from '../src/index.ts'

/**
 * Behaves like a pacer for a fleet: each reply takes a while, and each waiting request gets a
 * ticket and a position in a queue. A pushback delays all of them.
 */
export class RemotePacer implements Pacer {
  readonly calls: string[] = []
  readonly #paces: LocalPacer
  readonly #now: () => number
  readonly #queues = new Map<string, { readonly ticket: string; readonly delayMs: number }[]>()
  #tickets = 0

  constructor(now: () => number) {
    this.#now = now
    this.#paces = new LocalPacer(now)
  }

  async reserve(
    key: string,
    limits: PaceLimits,
    ticket?: Ticket,
    _furtherSlots?: number,
    _seesSending?: boolean,
    allowanceMs?: number,
  ): Promise<Reservation> {
    this.calls.push(`reserve ${ticket ?? ''}`.trim())
    await this.#roundTrip()
    const queue = this.#queueOf(key)
    const position = queue.findIndex((one) => one.ticket === ticket)
    if (position <= 0 && (position === 0 || queue.length === 0)) {
      const reservation = this.#paces.reserve(key, limits, undefined, 0, false, allowanceMs)
      if (reservation.kind === 'slot') {
        queue.shift()
        return reservation
      }
    }
    const ahead = position === -1 ? queue.length : position
    const { waitMs, because } = this.#paces.estimate(key, limits, ahead)
    if (position !== -1) return { kind: 'wait', ticket, waitMs, because: because === 'none' ? 'own-delay' : because }
    const newTicket = `t${++this.#tickets}`
    queue.push({ ticket: newTicket, delayMs: waitMs })
    return { kind: 'wait', ticket: newTicket, waitMs, because: because === 'none' ? 'own-delay' : because }
  }

  async sent(key: string, ticket: Ticket, delay: Delay, agoMs?: number): Promise<void> {
    await this.#roundTrip()
    this.#paces.sent(key, ticket, delay, agoMs)
  }

  async cancel(key: string, ticket: Ticket): Promise<void> {
    this.calls.push(`cancel ${ticket}`)
    await this.#roundTrip()
    const queue = this.#queueOf(key)
    const position = queue.findIndex((one) => one.ticket === ticket)
    if (position === -1) this.#paces.cancel(key, ticket)
    else queue.splice(position, 1)
  }

  async report(key: string, ticket: Ticket, response: PaceResponse): Promise<void> {
    this.calls.push(`report ${response.status}`)
    await this.#roundTrip()
    this.#paces.report(key, ticket, response)
  }

  async pause(key: string, pauseMs: number, because: PauseReason): Promise<void> {
    await this.#roundTrip()
    this.#paces.pause(key, pauseMs, because)
  }

  async end(key: string, ticket: Ticket, limits: PaceLimits, tookMs: number): Promise<void> {
    this.calls.push(`end ${tookMs}`)
    await this.#roundTrip()
    this.#paces.end(key, ticket, limits, tookMs)
  }

  async estimate(key: string, limits: PaceLimits, ahead: number): Promise<WaitEstimate> {
    await this.#roundTrip()
    return this.#paces.estimate(key, limits, ahead + this.#queueOf(key).length)
  }

  get isIdle(): boolean {
    return [...this.#queues.values()].every((queue) => queue.length === 0)
  }

  #queueOf(key: string): { readonly ticket: string; readonly delayMs: number }[] {
    const queue = this.#queues.get(key) ?? []
    this.#queues.set(key, queue)
    return queue
  }

  /** The time that a message takes to the pacer and back. */
  async #roundTrip(): Promise<void> {
    for (let hops = 0; hops < 3; hops++) await this.#now()
  }
}
