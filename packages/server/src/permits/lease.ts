// The permits that clients hold. A permit ends when its client says so, or when its lease is over: a
// client that has died blocks nothing for longer than its lease.
//
// Slot and lease are two things. The slot is spent when the permit is granted, so the pace needs no
// lease. The lease only counts for concurrency.
import type { GrantedPermit } from '@politely/gate/internal'
import type { Tenant } from '../tenants.ts'

export interface Lease {
  readonly number: number
  readonly tenant: Tenant
  readonly permit: GrantedPermit
  /** Milliseconds, by the clock of the gate. */
  endsAt: number
  timer: NodeJS.Timeout | undefined
  /** How long after the grant its client may send the request. */
  readonly startWithinMs: number
  /** Whether its response was reported. */
  isReported: boolean
}

/** For how many permits whose lease is over a late report still counts. Our choice. */
const MAX_LATE = 10_000
/** For how long. Our choice. */
const LATE_MS = 10 * 60_000

export interface LeasesOptions {
  readonly now: () => number
  /** A permit has ended, so that another request of its pace key may start. */
  readonly onEnd: (key: string) => void
  /** A lease was over before its client ended the permit. */
  readonly onExpire: () => void
}

export class Leases {
  readonly #options: LeasesOptions
  readonly #open = new Map<number, Lease>()
  /** Those whose lease is over. The first of them ended first. */
  readonly #late = new Map<number, Lease>()

  constructor(options: LeasesOptions) {
    this.#options = options
  }

  /** How many permits are held. */
  get open(): number {
    return this.#open.size
  }

  add(granted: Pick<Lease, 'number' | 'tenant' | 'permit' | 'startWithinMs'>, leaseMs: number): Lease {
    const lease: Lease = { ...granted, endsAt: 0, timer: undefined, isReported: false }
    this.#open.set(lease.number, lease)
    this.renew(lease, leaseMs)
    return lease
  }

  find(number: number): Lease | undefined {
    return this.#open.get(number) ?? this.#late.get(number)
  }

  isOpen({ number }: Lease): boolean {
    return this.#open.has(number)
  }

  renew(lease: Lease, leaseMs: number): void {
    lease.endsAt = this.#options.now() + leaseMs
    clearTimeout(lease.timer)
    this.#startTimer(lease)
  }

  /** The client has ended the permit. */
  end(lease: Lease): void {
    const wasOpen = this.#close(lease)
    this.#late.delete(lease.number)
    lease.permit.release()
    if (wasOpen) this.#options.onEnd(lease.permit.key)
  }

  /** Releases all permits. */
  clear(): void {
    for (const lease of [...this.#open.values(), ...this.#late.values()]) this.end(lease)
  }

  #startTimer(lease: Lease): void {
    const leftMs = lease.endsAt - this.#options.now()
    // The timer may fire too early, since it uses another clock than the gate.
    lease.timer = setTimeout(
      () => (this.#options.now() < lease.endsAt ? this.#startTimer(lease) : this.#expire(lease)),
      Math.max(1, Math.ceil(leftMs)),
    ).unref()
  }

  #expire(lease: Lease): void {
    this.#close(lease)
    this.#late.set(lease.number, lease)
    lease.timer = setTimeout(() => this.end(lease), LATE_MS).unref()
    lease.permit.releaseConcurrency()
    this.#options.onExpire()
    this.#options.onEnd(lease.permit.key)
    const [oldest] = this.#late.values()
    if (oldest !== undefined && this.#late.size > MAX_LATE) this.end(oldest)
  }

  #close(lease: Lease): boolean {
    clearTimeout(lease.timer)
    if (!this.#open.delete(lease.number)) return false
    lease.tenant.ended(lease.permit.key)
    return true
  }
}
