// Grants permits: answers a batch of URLs with what each client may do now.
//
//   go       the client may send this request now; the slot is spent, and a lease runs
//   wait     come back in so many milliseconds, with this ticket; nothing is held meanwhile
//   refused  robots.txt forbids it, its budget is used up, or its circuit is open
//   full     a quota of the tenant is used up
//   unknown  the ticket is not one of this server for this tenant
//
// A batch is answered in two steps. First the gate says for each URL whether robots.txt allows it, and
// where it enters. A robots.txt that is not known is fetched behind, and its URL waits for it. Then the
// URLs of each pace key try to enter, in their order, so that no permit ages while the desk waits for a
// robots.txt.
//
// The desk decides nothing itself. The order of the URLs that wait is its own (line.ts), since they
// wait outside of the gate; all else is what the gate says.
import { isIP } from 'node:net'
import type { ClientVerdict } from '@politely/fetcher'
import { isPrivateHost, setBounded } from '@politely/fetcher/internal'
import { BudgetError, CircuitOpenError, type Forecast, type PoliteGate, RobotsDisallowedError } from '@politely/gate'
import { type Entrance, type GatePort, type GrantedPermit, gatePort, type OuterLane } from '@politely/gate/internal'
import type { Tenant, UsedUp } from '../tenants.ts'
import { type Lease, Leases } from './lease.ts'
import { Line, type Place } from './line.ts'
import { Seal } from './seal.ts'

/** Why a request has to wait. `robots-txt`: it is being fetched. `queue`: other tickets come first. */
export type WaitBecause = Extract<Forecast, { allowed: true }>['because'] | 'robots-txt' | 'queue' | 'draining'

/** Why a request may not be made. Most are the `because` of the verdict. */
export type RefusedBecause = ClientVerdict['because'] | 'budget' | 'circuit'

export type PermitResult =
  | { readonly state: 'go'; readonly permit: string; readonly lease: Lease }
  | {
      readonly state: 'wait'
      readonly waitMs: number
      readonly because: WaitBecause
      readonly ticket?: string | undefined
    }
  | {
      readonly state: 'refused'
      readonly because: RefusedBecause
      readonly verdict: ClientVerdict
      /** Milliseconds since 1970. */
      readonly retryAt: number | undefined
    }
  | { readonly state: 'full'; readonly waitMs: number; readonly because: UsedUp; readonly ticket?: string | undefined }
  | { readonly state: 'unknown'; readonly because: 'ticket' }

/** One call for permits. */
export interface PermitCall {
  readonly tenant: Tenant
  /** The name of the client, if it gives one. Clients of a tenant take turns. */
  readonly client?: string | undefined
  /** Whether URLs may lead to private addresses. */
  readonly mayReachPrivate: boolean
  readonly startWithinMs: number
  /** How long the call may wait until a request may start. */
  readonly holdMs: number
  readonly leaseMs: number
  readonly requests: readonly { readonly url: string; readonly ticket?: string | undefined }[]
  /** Aborted when the connection of the client is closed. */
  readonly signal: AbortSignal
}

export interface PermitReply {
  /** The time from the call to its grants. */
  readonly heldMs: number
  readonly results: readonly PermitResult[]
}

/** One URL of a call. */
interface Item {
  readonly url: string
  readonly origin: string
  /** The host, if the caller may reach it only where the guard allows it. */
  readonly guardedHost: string | undefined
  redirectedFrom: readonly string[]
  /** Whether its place was made by this call. */
  isNew: boolean
  place: Place | undefined
  result: PermitResult | undefined
  /** The robots.txt that it waits for. */
  pending: Promise<unknown> | undefined
}

/**
 * The source of a URL whose caller may not reach private hosts. The guard treats the URL like a
 * link on a public page.
 */
export const PUBLIC_SOURCE: readonly string[] = ['https://politely.example.com/']
const NO_SOURCE: readonly string[] = []
/** How often a URL asks whether its robots.txt has come. It grows with the number that is being fetched. */
const ROBOTS_WAIT_MS = 200
const MAX_ROBOTS_WAIT_MS = 30_000
/** How long a URL waits for a concurrency limit before it asks again. It grows with the line. */
const CONCURRENCY_WAIT_MS = 100
const MAX_CONCURRENCY_WAIT_MS = 2_000
/** No URL asks again sooner. */
const MIN_WAIT_MS = 5
/**
 * Of the time that other tickets need, a URL waits so long before it asks again: until then the server
 * does not know whether its client and theirs are still there.
 */
const MAX_QUEUE_WAIT_MS = 5_000
const DRAINING: PermitResult = { state: 'wait', waitMs: 5_000, because: 'draining' }
const FAILURE_WAIT_MS = 1_000
/** How many robots.txt one tenant may have fetched at a time, next to other tenants, and alone. */
const MAX_FETCHES_SHARED = 32
const MAX_FETCHES_ALONE = 10_000
/** How long it is remembered what the guard says of a private name. */
const PRIVATE_MS = 10_000
const MAX_PRIVATE = 10_000
/** How long a call waits for what the guard says of an address. */
const LITERAL_MS = 20
/** How much longer than the wait a ticket is valid. */
const TICKET_MS = 10 * 60_000
const SWEEP_MS = 5_000

export interface DeskOptions {
  readonly gate: PoliteGate
  readonly secret: Uint8Array
  /** What the metrics count. */
  readonly onResult: (state: PermitResult['state']) => void
  readonly onExpire: () => void
  /** A pacer or a function of the caller has failed. */
  readonly onError: (error: unknown) => void
  /** Whether there is more than one tenant. */
  readonly isShared: () => boolean
}

export class PermitDesk {
  readonly leases: Leases
  readonly #seal: Seal
  readonly #options: DeskOptions
  readonly #port: GatePort
  readonly #lines = new Map<string, Line>()
  /** The fetches of robots.txt under way, by origin. */
  readonly #fetches = new Map<string, Promise<unknown>>()
  /** What the guard has said of private names: whether they may be requested, and until when that holds. */
  readonly #private = new Map<string, { readonly verdict: ClientVerdict; readonly until: number }>()
  /** The calls that are held, by the pace key of a URL that waits for a concurrency limit. */
  readonly #held = new Map<string, Set<() => void>>()
  readonly #sweeping: NodeJS.Timeout
  /** Numbers grow, also after a restart. */
  #number = Date.now() * 1_000
  #isDraining = false

  constructor(options: DeskOptions) {
    this.#options = options
    this.#port = gatePort(options.gate)
    this.#seal = new Seal(options.secret)
    this.leases = new Leases({
      now: this.#port.now,
      onExpire: options.onExpire,
      onEnd: (key) => {
        for (const wake of this.#held.get(key) ?? []) wake()
      },
    })
    this.#sweeping = setInterval(() => this.#sweep(), SWEEP_MS).unref()
  }

  /** How many URLs wait, as far as their clients are expected back. */
  get waiting(): number {
    let waiting = 0
    for (const line of this.#lines.values()) waiting += line.size
    return waiting
  }

  /** From now on no permit is granted. */
  drain(): void {
    this.#isDraining = true
    for (const wakes of this.#held.values()) for (const wake of wakes) wake()
  }

  close(): void {
    clearInterval(this.#sweeping)
    this.drain()
    for (const line of this.#lines.values()) line.close()
    this.#lines.clear()
    this.leases.clear()
  }

  async grant(call: PermitCall): Promise<PermitReply> {
    const arrivedAt = this.#port.now()
    const items = call.requests.map((request) => this.#itemOf(call, request))
    const until = arrivedAt + call.holdMs
    let grantedAt: number
    for (;;) {
      grantedAt = await this.#pass(call, items)
      const isOver = call.signal.aborted || this.#isDraining || this.#port.now() >= until
      if (isOver || items.some(({ result }) => result?.state !== 'wait')) break
      await this.#hold(call, items, until)
    }
    if (call.signal.aborted) for (const item of items) if (item.isNew) this.#leaveLine(item)
    const results = items.map((item) => this.#resultOf(item))
    for (const { state } of results) this.#options.onResult(state)
    return { heldMs: Math.max(0, Math.floor(grantedAt - arrivedAt)), results }
  }

  /** Returns the number and the key of a permit of this tenant; undefined for any other text. */
  openPermit(tenant: Tenant, text: string): { readonly number: number; readonly key: string } | undefined {
    return this.#seal.open(tenant.name, 'p', text)
  }

  #itemOf(call: PermitCall, { url, ticket }: PermitCall['requests'][number]): Item {
    const redirectedFrom = call.mayReachPrivate ? NO_SOURCE : PUBLIC_SOURCE
    const { origin = url, hostname = '' } = URL.parse(url) ?? {}
    const item: Item = {
      url,
      origin,
      guardedHost: !call.mayReachPrivate && isPrivateHost(hostname) ? hostname : undefined,
      redirectedFrom,
      isNew: false,
      place: undefined,
      result: undefined,
      pending: undefined,
    }
    if (ticket === undefined) return item
    const sealed = this.#seal.open(call.tenant.name, 't', ticket)
    if (sealed === undefined) item.result = { state: 'unknown', because: 'ticket' }
    else item.place = this.#lines.get(sealed.key)?.find(callerOf(call), sealed.number)
    if (item.place !== undefined) item.place.isConfirmed = true
    return item
  }

  /** Looks at all URLs that have no answer yet. Returns the time before the first grant. */
  async #pass(call: PermitCall, items: readonly Item[]): Promise<number> {
    const byKey = new Map<string, Set<{ readonly item: Item; readonly entrance: Entrance }>>()
    await Promise.all(
      items.map(async (item) => {
        if (item.result !== undefined && item.result.state !== 'wait') return
        const entrance = await this.#entranceOf(call, item).catch((error) => this.#fail(item, error))
        if (entrance !== undefined) addTo(byKey, entrance.lane.key, { item, entrance })
      }),
    )
    const at = this.#port.now()
    await Promise.all(
      [...byKey.values()].map(async (entering) => {
        for (const { item, entrance } of this.#isDraining ? [] : entering)
          await this.#enter(call, item, entrance).catch((error) => this.#fail(item, error))
      }),
    )
    return at
  }

  /** A pacer has failed: the URL asks again, and no other URL of the call suffers. */
  #fail(item: Item, error: unknown): undefined {
    this.#options.onError(error)
    item.result = { state: 'wait', waitMs: FAILURE_WAIT_MS, because: 'pacer-failure' }
  }

  /** Returns undefined if the answer is known without it: the URL is refused, or its robots.txt has to be fetched. */
  async #entranceOf(call: PermitCall, item: Item): Promise<Entrance | undefined> {
    const { tenant } = call
    const { url, origin, guardedHost } = item
    item.pending = undefined
    item.result = DRAINING
    if (this.#isDraining) return undefined
    if (guardedHost !== undefined) {
      const known = this.#private.get(origin)
      if (known !== undefined && known.until > this.#port.now()) {
        if (isBlocked(known.verdict)) {
          this.#refuse(item, known.verdict.because, { ...known.verdict, url }, known.verdict.retryAt)
          return undefined
        }
        item.redirectedFrom = NO_SOURCE // the guard has allowed it just now
      }
    }
    const isBusy = tenant.fetching >= (this.#options.isShared() ? MAX_FETCHES_SHARED : MAX_FETCHES_ALONE)
    const found = await this.#port.entranceOf(url, item.redirectedFrom, !isBusy || this.#fetches.has(origin))
    if ('lane' in found) return found
    if ('allowed' in found) {
      this.#refuseBy(item, found)
      return undefined
    }
    const { pending } = found
    if (pending !== undefined && guardedHost !== undefined) {
      const noted = pending.then(
        (verdict) => this.#notePrivate(origin, verdict),
        () => undefined, // the gate is closed
      )
      // The guard needs no DNS for an address, so its refusal is there at once.
      const isThere = isLiteral(guardedHost) && (await settlesWithin(noted, LITERAL_MS))
      if (isThere && this.#private.has(origin)) return this.#entranceOf(call, item)
    }
    if (pending !== undefined) item.pending = this.#follow(tenant, origin, pending)
    const waitMs = Math.min(ROBOTS_WAIT_MS + 2 * this.#fetches.size, MAX_ROBOTS_WAIT_MS)
    item.result = { state: 'wait', waitMs, because: 'robots-txt' }
    return undefined
  }

  #notePrivate(origin: string, verdict: ClientVerdict): void {
    setBounded(this.#private, origin, { verdict, until: this.#port.now() + PRIVATE_MS }, MAX_PRIVATE)
  }

  /** Keeps one promise for each robots.txt that is being fetched. A failure becomes a verdict later. */
  #follow(tenant: Tenant, origin: string, pending: Promise<unknown>): Promise<unknown> {
    const known = this.#fetches.get(origin)
    const ended = pending.catch(() => undefined)
    if (known !== undefined) return known
    tenant.fetching++
    const followed = ended.then(() => {
      tenant.fetching--
      this.#fetches.delete(origin)
    })
    this.#fetches.set(origin, followed)
    return followed
  }

  /** Grants a permit, if the gate has a slot that is not kept for another URL. */
  async #enter(call: PermitCall, item: Item, { lane, maxConcurrent, knownWait, tryEnter }: Entrance): Promise<void> {
    const { tenant, startWithinMs, leaseMs } = call
    if (item.place !== undefined && this.#lines.get(lane.key)?.has(item.place) !== true) item.place = undefined
    const known = knownWait()
    if (known !== undefined) return this.#wait(call, item, lane, known.waitMs, known.because)
    if (this.#lines.get(lane.key)?.isKept(callerOf(call), item.place, this.#port.now()))
      return this.#wait(call, item, lane, 0, 'queue')
    const full = tenant.take(lane.key, maxConcurrent)
    if (full !== undefined) {
      item.result = { state: 'full', ...full }
      if (item.place !== undefined) item.place.isConfirmed = false // others may pass
      return
    }
    lane.attach() // keeps the turn of a URL that has to wait, until it has a place in the line
    let permit: GrantedPermit | undefined
    try {
      const entered = await tryEnter(startWithinMs)
      if (!('allowed' in entered)) permit = entered
      else if (entered.allowed) this.#wait(call, item, lane, entered.waitMs, entered.because)
      else this.#refuseBy(item, entered)
    } catch (error) {
      if (error instanceof RobotsDisallowedError)
        this.#refuse(item, error.verdict.because, error.verdict, error.retryAt)
      else if (error instanceof CircuitOpenError) this.#refuse(item, 'circuit', error.verdict, error.retryAt)
      else if (error instanceof BudgetError) this.#refuse(item, 'budget', error.verdict, undefined)
      else throw error
    } finally {
      if (permit === undefined) tenant.giveBack(lane.key)
      lane.detach()
    }
    if (permit === undefined) return
    this.#lines.get(lane.key)?.served(callerOf(call), this.#port.now())
    this.#leaveLine(item)
    const number = this.#number++
    const lease = this.leases.add(number, tenant, permit, leaseMs, startWithinMs)
    const sealed = { kind: 'p', number, endsAt: Math.ceil(Date.now() + leaseMs), key: permit.key } as const
    item.result = { state: 'go', permit: this.#seal.seal(tenant.name, sealed), lease }
  }

  #refuseBy(item: Item, { budget, circuit, verdict, retryAt }: Extract<Forecast, { allowed: false }>): void {
    const because = budget !== undefined ? 'budget' : circuit !== undefined ? 'circuit' : verdict.because
    this.#refuse(item, because, verdict, retryAt)
  }

  #refuse(item: Item, because: RefusedBecause, verdict: ClientVerdict, retryAt: number | undefined): void {
    this.#leaveLine(item)
    item.result = { state: 'refused', because, verdict, retryAt }
  }

  /** Lets the URL wait in the line of its pace key. @param ownWaitMs Its wait without the tickets before it. */
  #wait(call: PermitCall, item: Item, lane: OuterLane, ownWaitMs: number, because: WaitBecause): void {
    const { tenant } = call
    const now = this.#port.now()
    const ahead = this.#lines.get(lane.key)?.ahead(callerOf(call), item.place, now) ?? 0
    const behindMs = ahead === 0 ? 0 : Math.min(lane.expectedWaitMs(ahead), MAX_QUEUE_WAIT_MS)
    const waitMs =
      because === 'concurrency'
        ? Math.min(CONCURRENCY_WAIT_MS * (1 + ahead), MAX_CONCURRENCY_WAIT_MS)
        : Math.max(ownWaitMs, behindMs, MIN_WAIT_MS)
    if (item.place === undefined) {
      if (!tenant.mayWait) {
        item.result = { state: 'full', waitMs: 1_000, because: 'waiting' }
        return
      }
      const line = this.#lines.get(lane.key) ?? new Line(lane)
      this.#lines.set(lane.key, line)
      item.place = line.add(this.#number++, tenant, callerOf(call))
      item.isNew = true
    }
    item.place.askAt = now + waitMs
    item.result = { state: 'wait', waitMs, because }
  }

  #leaveLine(item: Item): void {
    const { place } = item
    item.place = undefined
    place?.line.remove(place)
    if (place !== undefined) this.#dropIfEmpty(place.line)
  }

  #dropIfEmpty(line: Line): void {
    if (!line.isEmpty || this.#lines.get(line.key) !== line) return
    this.#lines.delete(line.key)
    line.close()
  }

  /** The answer, with the ticket of a URL that waits. */
  #resultOf({ result, place }: Item): PermitResult {
    if (result?.state !== 'wait' && result?.state !== 'full') return result as PermitResult
    const waitMs = Math.ceil(result.waitMs)
    if (place === undefined || !place.line.has(place)) return { ...result, waitMs }
    const { number, line, tenant } = place
    const sealed = { kind: 't', number, endsAt: Math.ceil(Date.now() + waitMs + TICKET_MS), key: line.key } as const
    return { ...result, waitMs, ticket: this.#seal.seal(tenant.name, sealed) }
  }

  /** Waits until one of the URLs may have its turn, or until the call has to end. */
  async #hold({ signal }: PermitCall, items: readonly Item[], until: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = () => resolve()
    const keys = new Set<string>()
    let waitMs = until - this.#port.now()
    for (const { result, pending, place } of items) {
      if (result?.state !== 'wait') continue
      if (place !== undefined) place.isConfirmed = true // it will be there
      if (pending === undefined) waitMs = Math.min(waitMs, result.waitMs)
      else void pending.then(wake)
      if (result.because === 'concurrency' && place !== undefined) keys.add(place.line.key)
    }
    for (const key of keys) addTo(this.#held, key, wake)
    const timer = setTimeout(wake, Math.max(1, Math.ceil(waitMs)))
    signal.addEventListener('abort', wake, { once: true })
    try {
      await promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', wake)
      for (const key of keys) deleteFrom(this.#held, key, wake)
    }
  }

  #sweep(): void {
    const now = this.#port.now()
    for (const line of this.#lines.values()) {
      line.sweep(now)
      this.#dropIfEmpty(line)
    }
    this.leases.sweep()
  }
}

function callerOf({ tenant, client }: PermitCall): string {
  return client === undefined ? tenant.name : `${tenant.name} ${client}`
}

/** Whether the guard has refused the address of a host. */
function isBlocked(verdict: ClientVerdict): boolean {
  return !verdict.allowed && 'access' in verdict && verdict.access?.reason === 'blocked-address'
}

/** Resolves to true if the promise settles in this time. */
function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(resolve, ms, false)
  return Promise.race([promise.then(() => true), late]).finally(() => clearTimeout(timer))
}

function isLiteral(host: string): boolean {
  return host.startsWith('[') || isIP(host) !== 0
}

function addTo<T>(sets: Map<string, Set<T>>, key: string, value: T): void {
  const set = sets.get(key)
  if (set === undefined) sets.set(key, new Set([value]))
  else set.add(value)
}

function deleteFrom<T>(sets: Map<string, Set<T>>, key: string, value: T): void {
  const set = sets.get(key)
  set?.delete(value)
  if (set?.size === 0) sets.delete(key)
}
