// The URLs that wait for one pace key. Each has a ticket, and comes back when the server has said so.
// Until then it holds no socket.
//
// Callers take turns, so that one with many URLs does not hold up the others. A caller is a tenant, or
// one of the clients that it names. The tenants take turns first, so that more names for its clients
// give a tenant no more turns. The URLs of one caller start in order of arrival. But clients die,
// and lose their tickets. So a slot is kept only for a moment, and only for tickets that are due and
// have come back before. After that moment, the next URL to ask gets the slot.
//
// Example with a delay of 1 s, and two callers, A and B:
//
//   A asks for three URLs   they may start at 1 s, 2 s and 3 s
//   B asks for one          it may start at 2 s, after the first of A
//   A comes back            its second URL starts at 3 s, its third at 4 s
import { boundedMap } from '@politely/fetcher/internal'
import type { OuterLane } from '@politely/gate/internal'
import type { Tenant } from '../tenants.ts'

/** A URL that waits. */
export interface WaitingPlace {
  readonly number: number
  readonly tenant: Tenant
  /** Its tenant, and the name of the client. */
  readonly caller: string
  readonly line: Line
  /** When it asks again. Milliseconds, by the clock of the gate. */
  askAt: number
  /** Whether its ticket has come back, and is expected again. */
  isConfirmed: boolean
}

/** How long a slot is kept for tickets that are due. Our choice: as long as most calls take. */
const KEEP_MS = 100
/** After this time a ticket counts as given up. Our choice. */
const GIVEN_UP_MS = 30_000
/** Only the beginning of a longer line counts. */
const MAX_COUNTED = 1_000
/** Only so many callers of a tenant count, since a client may give another name with each call. Our choice. */
const MAX_CALLERS = 100
/** Of how many callers it is known when they last started a request. */
const MAX_SERVED = 1_000
/** At most this many tickets that have not come back count for an estimate: their client may be dead. */
const MAX_UNCONFIRMED = 10

export class Line {
  readonly key: string
  readonly #lane: OuterLane
  /** By tenant, by caller, and by number. */
  readonly #tenants = new Map<string, Map<string, Map<number, WaitingPlace>>>()
  /** Since when a slot is free that is kept for tickets. */
  #keptSince: number | undefined
  /** When each tenant last started a request. */
  readonly #tenantServedAt = new Map<string, number>()
  /** When each caller did: the latest of them. */
  readonly #servedAt = boundedMap<number>(MAX_SERVED)
  /** Wake the calls that are held until a request of this pace key ends. */
  readonly held = new Set<() => void>()

  constructor(lane: OuterLane) {
    this.key = lane.key
    this.#lane = lane
    lane.attach()
  }

  /** To be called when it is empty. The gate then gives up the turn of its first URL. */
  close(): void {
    this.#lane.detach()
  }

  /** A request has ended. */
  wake(): void {
    for (const wake of this.held) wake()
  }

  get size(): number {
    let size = 0
    for (const callers of this.#tenants.values()) for (const places of callers.values()) size += places.size
    return size
  }

  get isEmpty(): boolean {
    return this.#tenants.size === 0
  }

  find(caller: string, number: number): WaitingPlace | undefined {
    return this.#tenants.get(tenantOf(caller))?.get(caller)?.get(number)
  }

  has({ caller, number }: WaitingPlace): boolean {
    return this.find(caller, number) !== undefined
  }

  add(number: number, tenant: Tenant, caller: string): WaitingPlace {
    const place = { number, tenant, caller, line: this, askAt: 0, isConfirmed: false }
    const callers = this.#tenants.get(tenant.name) ?? new Map<string, Map<number, WaitingPlace>>()
    this.#tenants.set(tenant.name, callers)
    const places = callers.get(caller)
    if (places === undefined) callers.set(caller, new Map([[number, place]]))
    else places.set(number, place)
    tenant.waiting++
    return place
  }

  remove({ tenant, caller, number }: WaitingPlace): void {
    const callers = this.#tenants.get(tenant.name)
    const places = callers?.get(caller)
    if (!places?.delete(number)) return
    tenant.waiting--
    if (places.size === 0) callers?.delete(caller)
    if (callers?.size === 0) this.#tenants.delete(tenant.name)
  }

  /** A request of this caller starts: the others come first now. */
  served(tenant: string, caller: string, now: number): void {
    this.#tenantServedAt.set(tenant, now)
    this.#servedAt.set(caller, now)
    this.#keptSince = undefined
  }

  /** Estimates how many URLs start before one. @param place Its place; undefined for a URL that arrives. */
  ahead(caller: string, place: WaitingPlace | undefined, now: number): number {
    const tenant = tenantOf(caller)
    const own = this.#count(this.#tenants.get(tenant)?.get(caller), place, now)
    let ofTenant = own
    for (const [other, places] of this.#callersOf(tenant)) {
      if (other === caller) continue
      const turns = this.#comesFirst(other, places, caller, place) ? own + 1 : own
      ofTenant += Math.min(this.#count(places, undefined, now), turns)
    }
    let ahead = ofTenant
    for (const otherTenant of this.#tenants.keys()) {
      if (otherTenant === tenant) continue
      let [waiting, turns] = [0, ofTenant]
      for (const [other, places] of this.#callersOf(otherTenant)) {
        waiting += this.#count(places, undefined, now)
        if (this.#comesFirst(other, places, caller, place)) turns = ofTenant + 1
      }
      ahead += Math.min(waiting, turns)
    }
    return ahead
  }

  /** Whether the slot that is free now is kept for another ticket. */
  isKept(caller: string, place: WaitingPlace | undefined, now: number): boolean {
    const due = this.#dueBefore(caller, place, now)
    if (due === undefined) return false
    this.#keptSince ??= now
    if (now < this.#keptSince + KEEP_MS) return true
    due.isConfirmed = false // it did not come
    this.#keptSince = undefined
    return this.isKept(caller, place, now)
  }

  /** Drops the tickets that did not come back. */
  sweep(now: number): void {
    for (const callers of this.#tenants.values())
      for (const places of callers.values())
        for (const place of places.values()) if (now > place.askAt + GIVEN_UP_MS) this.remove(place)
  }

  /** Returns a ticket that is due and comes before this one. */
  #dueBefore(caller: string, place: WaitingPlace | undefined, now: number): WaitingPlace | undefined {
    for (const tenant of this.#tenants.keys())
      for (const [other, places] of this.#callersOf(tenant)) {
        if (other !== caller && !this.#comesFirst(other, places, caller, place)) continue
        let looked = 0
        for (const one of places.values()) {
          if (one === place || ++looked > MAX_COUNTED) break
          if (one.isConfirmed && Math.abs(now - one.askAt) <= KEEP_MS) return one
        }
      }
    return undefined
  }

  /** Whether it is the turn of another caller. */
  #comesFirst(
    other: string,
    places: ReadonlyMap<number, WaitingPlace>,
    caller: string,
    place: WaitingPlace | undefined,
  ): boolean {
    const [tenant, otherTenant] = [tenantOf(caller), tenantOf(other)]
    const [servedAt = 0, otherServedAt = 0] =
      tenant === otherTenant
        ? [this.#servedAt.peek(caller), this.#servedAt.peek(other)]
        : [this.#tenantServedAt.get(tenant), this.#tenantServedAt.get(otherTenant)]
    if (otherServedAt !== servedAt) return otherServedAt < servedAt
    const [first = Number.POSITIVE_INFINITY] = places.keys()
    return first < (place?.number ?? Number.POSITIVE_INFINITY)
  }

  *#callersOf(tenant: string): Iterable<readonly [string, ReadonlyMap<number, WaitingPlace>]> {
    let looked = 0
    for (const entry of this.#tenants.get(tenant) ?? []) {
      if (++looked > MAX_CALLERS) return
      yield entry
    }
  }

  /** Counts the tickets of one caller that are expected back, up to a place. */
  #count(places: ReadonlyMap<number, WaitingPlace> | undefined, end: WaitingPlace | undefined, now: number): number {
    let [confirmed, others, looked] = [0, 0, 0]
    for (const place of places?.values() ?? []) {
      if (place === end || ++looked > MAX_COUNTED) break
      if (now > place.askAt + KEEP_MS) continue
      if (place.isConfirmed) confirmed++
      else others++
    }
    return confirmed + Math.min(others, MAX_UNCONFIRMED)
  }
}

/** Of a caller such as `tenant client`. No tenant has a name with a space. */
function tenantOf(caller: string): string {
  const end = caller.indexOf(' ')
  return end === -1 ? caller : caller.slice(0, end)
}
