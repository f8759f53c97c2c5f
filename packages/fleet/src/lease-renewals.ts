// Renews the leases of a worker's own requests while these last. One timer serves all leases. It
// renews a lease at the second third of its time at the latest, so that a call may fail once.
interface OwnLease {
  readonly key: string
  readonly slot: number
  /** Whether the timer has fired since the lease began. A short request needs no renewal. */
  isDue: boolean
}

export class LeaseRenewals {
  readonly #leaseMs: number
  readonly #renew: (key: string, slot: number) => Promise<boolean>
  readonly #leases = new Map<string, OwnLease>()
  #timer: NodeJS.Timeout | undefined

  /** @param renew Resolves to false if the lease was over. */
  constructor(leaseMs: number, renew: (key: string, slot: number) => Promise<boolean>) {
    this.#leaseMs = leaseMs
    this.#renew = renew
  }

  add(key: string, slot: number): void {
    this.#leases.set(`${slot} ${key}`, { key, slot, isDue: false })
    this.#timer ??= setInterval(() => this.#renewDue(), this.#leaseMs / 3).unref()
  }

  delete(key: string, slot: number): void {
    this.#leases.delete(`${slot} ${key}`)
  }

  close(): void {
    this.#leases.clear()
    this.#stop()
  }

  #renewDue(): void {
    if (this.#leases.size === 0) this.#stop()
    for (const lease of this.#leases.values()) {
      if (lease.isDue) void this.#renewOne(lease)
      lease.isDue = true
    }
  }

  async #renewOne({ key, slot }: OwnLease): Promise<void> {
    const isOpen = await this.#renew(key, slot).catch(() => true) // a failure is counted and published
    if (!isOpen) this.delete(key, slot)
  }

  #stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
