// The fetches of robots.txt that URLs wait for. They are shared among tenants, and among the clients
// of one tenant: many slow sites of one client hold up only a few fetches of the others.
import type { ClientVerdict } from '@politely/fetcher'
import { withTimeout } from '@politely/fetcher/internal'
import { FairQueue } from '../turns.ts'

/** How many may be under way for one tenant, next to other tenants, and alone. Our choice. */
const MAX_SHARED = 32
/** As many as the client has under way by default (`maxFlights`). */
const MAX_ALONE = 200
/** A client may have so many times as many as it leaves to the other clients of its tenant. Our choice. */
const GREED = 2
/** A fetch that takes longer does not count any more, nor does it for `maxFlights`. */
const SLOW_MS = 5_000
/** How many may wait or be under way for one tenant. */
const MAX_OPEN = 10_000

class Counts {
  readonly #counts = new Map<string, number>()

  of(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  add(name: string, number: number): void {
    const count = this.of(name) + number
    if (count === 0) this.#counts.delete(name)
    else this.#counts.set(name, count)
  }
}

export class RobotsFetches {
  readonly #isShared: () => boolean
  /** The fetches of each client, by origin. */
  readonly #fetches = new Map<string, Map<string, Promise<ClientVerdict>>>()
  readonly #queue = new FairQueue<() => void>()
  /** How many wait or are under way for each tenant. */
  readonly #open = new Counts()
  /** How many are under way for each tenant, and for each client. */
  readonly #underWay = new Counts()

  /** @param isShared Whether there is more than one tenant. */
  constructor(isShared: () => boolean) {
    this.#isShared = isShared
  }

  /**
   * Starts a fetch when it is the turn of its client, or joins the fetch of the same client and key.
   * @returns The fetch, and how many the client has. No fetch if the client has too many.
   */
  join(tenant: string, client: string, key: string, start: () => ClientVerdict | Promise<ClientVerdict>) {
    const name = nameOf(tenant, client)
    const own = this.#fetches.get(name) ?? new Map<string, Promise<ClientVerdict>>()
    let fetch = own.get(key)
    if (fetch === undefined && own.size < GREED * (MAX_OPEN - this.#open.of(tenant))) {
      const { promise, resolve } = Promise.withResolvers<void>()
      fetch = promise.then(start).finally(() => {
        own.delete(key)
        this.#open.add(tenant, -1)
        if (own.size === 0) this.#fetches.delete(name)
      })
      own.set(key, fetch)
      this.#open.add(tenant, 1)
      this.#fetches.set(name, own)
      const ended = fetch.then(
        () => undefined,
        () => undefined, // the gate is closed
      )
      this.#queue.add(tenant, client, () => {
        resolve()
        void this.#count(tenant, client, ended)
      })
      this.#startNext()
    }
    return { fetch, count: own.size }
  }

  #startNext(): void {
    for (;;) {
      const start = this.#queue.take((tenant, client) => this.#mayStart(tenant, client))
      if (start === undefined) return
      start()
    }
  }

  #mayStart(tenant: string, client: string): boolean {
    const max = this.#isShared() ? MAX_SHARED : MAX_ALONE
    const ofTenant = this.#underWay.of(tenant)
    const own = this.#underWay.of(nameOf(tenant, client))
    // The first fetch of a client comes on top, up to twice as many: a client may change its name.
    return own === 0 ? ofTenant < 2 * max : own < GREED * (max - ofTenant)
  }

  async #count(tenant: string, client: string, ended: Promise<void>): Promise<void> {
    const names = [tenant, nameOf(tenant, client)]
    for (const name of names) this.#underWay.add(name, 1)
    await withTimeout(ended, SLOW_MS, () => undefined)
    for (const name of names) this.#underWay.add(name, -1)
    this.#startNext()
  }
}

/** No tenant has a name with a space. */
const nameOf = (tenant: string, client: string) => `${tenant} ${client}`
