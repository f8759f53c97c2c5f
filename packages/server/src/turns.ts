// Shares the time of the event loop, so that a tenant with many calls does not slow the others.
//
// A call works on a few URLs at a time, in a turn. Tenants take turns, and so do the clients of one
// tenant. The calls of one client come one after another, since a call that is interrupted would
// return old permits. Node reads its sockets between two turns.
//
// Example with a batch of A, and two URLs of B that arrive during the first turn:
//
//   A: 64 permits | B: 2 permits | A: 64 permits | A: 64 permits | …

/** How many URLs or reports a turn has: less than a millisecond on an idle machine. Our choice. */
const TURN_SIZE = 128
/** A grant takes twice as long as the other steps. */
export const COST_OF_GRANT = 2

/** Takes the items of tenants in turn, and for each tenant the items of its clients in turn. */
export class FairQueue<T> {
  readonly #tenants = new Map<string, Map<string, T[]>>()

  /** @param isFirst Whether the item comes before the other items of its client. */
  add(tenant: string, client: string, item: T, isFirst = false): void {
    const clients = this.#tenants.get(tenant) ?? new Map<string, T[]>()
    this.#tenants.set(tenant, clients)
    const items = clients.get(client) ?? []
    clients.set(client, items)
    if (isFirst) items.unshift(item)
    else items.push(item)
  }

  /** Returns undefined if no client has an item that may be taken. */
  take(mayTake: (tenant: string, client: string) => boolean = () => true): T | undefined {
    for (const [tenant, clients] of this.#tenants)
      for (const [client, items] of clients) {
        if (!mayTake(tenant, client)) continue
        const item = items.shift()
        clients.delete(client)
        if (items.length > 0) clients.set(client, items)
        this.#tenants.delete(tenant)
        if (clients.size > 0) this.#tenants.set(tenant, clients)
        return item
      }
    return undefined
  }
}

/** Gives one turn in each round of the event loop. */
export class Turns {
  readonly #queue = new FairQueue<() => void>()
  #isRunning = false
  /** Grows with each turn. */
  number = 0

  /**
   * Resolves when a turn begins. It ends when the event loop goes on.
   * @param goesOn Whether the call comes before the other calls of its client.
   */
  next(tenant: string, client: string, goesOn: boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#queue.add(tenant, client, resolve, goesOn)
      if (this.#isRunning) return
      this.#isRunning = true
      this.#run()
    })
  }

  #run(): void {
    this.number++
    const begin = this.#queue.take()
    this.#isRunning = begin !== undefined
    if (begin === undefined) return
    begin()
    setImmediate(() => this.#run())
  }
}

/** The turns of one call. */
export class CallTurns {
  readonly #turns: Turns
  readonly #tenant: string
  readonly #client: string
  #left = 0
  /** The turn that `#left` belongs to. */
  #number = 0
  #goesOn = false
  #next: Promise<void> | undefined

  constructor(turns: Turns, tenant: string, client = '') {
    this.#turns = turns
    this.#tenant = tenant
    this.#client = client
  }

  /** Await it before each URL. Returns undefined while the turn of the call goes on. */
  next(cost = 1): Promise<void> | undefined {
    if (!this.#hasTurn) return this.#wait(cost)
    this.#left -= cost
    return undefined
  }

  /** The call waits for something else: its next turn comes after the other calls of its client. */
  pause(): void {
    this.#goesOn = false
  }

  get #hasTurn(): boolean {
    return this.#left > 0 && this.#number === this.#turns.number
  }

  async #wait(cost: number): Promise<void> {
    while (!this.#hasTurn) {
      this.#next ??= this.#turns.next(this.#tenant, this.#client, this.#goesOn).then(() => {
        this.#left = TURN_SIZE
        this.#number = this.#turns.number
        this.#goesOn = true
        this.#next = undefined
      })
      await this.#next
    }
    this.#left -= cost
  }
}
