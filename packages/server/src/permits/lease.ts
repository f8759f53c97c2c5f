// The permits that clients hold. A permit ends when its client says so, here or at another server, or
// when its lease is over: a client that has died blocks nothing for longer than its lease. A report
// that comes later counts as a report at another server would: see `PermitDesk.permitOf`.
//
// Slot and lease are two things. The slot is spent when the permit is granted, so the pace needs no
// lease. The lease only counts for concurrency.
import type { GrantedPermit } from '@politely/gate/internal'
import type { Tenant } from '../tenants.ts'

export interface PermitLease {
  readonly number: number
  /** The sealed text that its client has. */
  readonly text: string
  readonly tenant: Tenant
  readonly permit: GrantedPermit
  /** Milliseconds, by the clock of the gate. */
  endsAt: number
  timer: NodeJS.Timeout | undefined
  readonly grantedAt: number
  /** When to ask next whether a report to another server has ended it. */
  askAt: number
  /** How long after the grant its client may send the request. */
  readonly startWithinMs: number
}

/** Most requests have ended by then. Our choice. */
const FIRST_ASKED_MS = 5_000

export interface LeasesOptions {
  readonly now: () => number
  /** A permit has ended, so that another request of its pace key may start. */
  readonly onEnd: (key: string) => void
  /** A lease was over before its client ended the permit. */
  readonly onExpire: () => void
}

export class Leases {
  readonly #options: LeasesOptions
  readonly #open = new Map<number, PermitLease>()

  constructor(options: LeasesOptions) {
    this.#options = options
  }

  /** How many permits are held. */
  get open(): number {
    return this.#open.size
  }

  add(
    granted: Pick<PermitLease, 'number' | 'text' | 'tenant' | 'permit' | 'startWithinMs'>,
    leaseMs: number,
  ): PermitLease {
    const grantedAt = this.#options.now()
    const lease: PermitLease = { ...granted, grantedAt, askAt: grantedAt + FIRST_ASKED_MS, endsAt: 0, timer: undefined }
    this.#open.set(lease.number, lease)
    lease.permit.onEndedElsewhere = () => this.#isOver(lease)
    this.renew(lease, leaseMs)
    return lease
  }

  find(number: number): PermitLease | undefined {
    return this.#open.get(number)
  }

  /**
   * Returns the pace keys of the leases that another server may have ended: of all leases, or of those
   * that are due. The longer a lease lasts, the less often it is due.
   */
  keysToAsk(ofAll: boolean): Iterable<string> {
    const now = this.#options.now()
    const due = [...this.#open.values()].filter(({ askAt }) => ofAll || askAt <= now)
    for (const lease of due) lease.askAt = 2 * now - lease.grantedAt
    return new Set(due.map(({ permit }) => permit.key))
  }

  renew(lease: PermitLease, leaseMs: number): void {
    if (!this.#open.has(lease.number)) return // it has ended meanwhile
    lease.endsAt = this.#options.now() + leaseMs
    clearTimeout(lease.timer)
    this.#startTimer(lease)
  }

  /** The client has ended the permit. */
  end(lease: PermitLease): void {
    const wasOpen = this.#close(lease)
    lease.permit.release()
    if (wasOpen) this.#options.onEnd(lease.permit.key)
  }

  /** Releases all permits here. Reports of their requests may come to another server. */
  clear(): void {
    for (const lease of [...this.#open.values()]) this.#isOver(lease)
  }

  #startTimer(lease: PermitLease): void {
    const leftMs = lease.endsAt - this.#options.now()
    // The timer may fire too early, since it uses another clock than the gate.
    lease.timer = setTimeout(
      () => (this.#options.now() < lease.endsAt ? this.#startTimer(lease) : this.#expire(lease)),
      Math.max(1, Math.ceil(leftMs)),
    ).unref()
  }

  #expire(lease: PermitLease): void {
    this.#options.onExpire()
    this.#isOver(lease)
  }

  /**
   * A lease has ended, and not by a report to this server. A pacer that counts the requests of all
   * servers is not told: its own clock ends the lease, unless a report to another server has.
   */
  #isOver(lease: PermitLease): void {
    lease.permit.releaseConcurrency(true)
    lease.permit.tookMs = 0 // it is not known here how long the request took
    this.end(lease)
  }

  #close(lease: PermitLease): boolean {
    clearTimeout(lease.timer)
    if (!this.#open.delete(lease.number)) return false
    lease.tenant.ended(lease.permit.key)
    return true
  }
}
