// Grants permits: answers a batch of URLs with what each client may do now.
//
//   go       the client may send this request now; the slot is spent, and a lease runs
//   wait     come back in so many milliseconds, with this ticket; nothing is held meanwhile
//   refused  robots.txt forbids it, its budget is used up, or its circuit is open
//   full     a quota of the tenant is used up
//   unknown  the ticket is not one of this tenant, of a server with the same key
//
// A batch is answered in two steps. First the gate says for each URL whether robots.txt allows it, and
// where it enters (entrances.ts). A robots.txt that is not known is fetched behind, and its URL waits
// for it. Then the URLs of each pace key try to enter, in their order, so that no permit ages while the
// desk waits for a robots.txt.
//
// The desk decides nothing itself. The order of the URLs that wait is its own (line.ts), since they
// wait outside of the gate; all else is what the gate says.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { onAbort, withTimeout } from '@politely/fetcher/internal'
import { BudgetError, CircuitOpenError, type PoliteGate, RobotsDisallowedError } from '@politely/gate'
import {
  type Entrance,
  ForeignPermit,
  type GatePort,
  type GrantedPermit,
  gatePort,
  type OuterLane,
  type PermitRecord,
} from '@politely/gate/internal'
import type { Tenant } from '../tenants.ts'
import { CallTurns, COST_OF_GRANT, Turns } from '../turns.ts'
import { Entrances, type RefusedEntrance } from './entrances.ts'
import { Leases, type PermitLease } from './lease.ts'
import { Line, type WaitingPlace } from './line.ts'
import type { PermitCall, PermitReply, PermitResult, WaitBecause } from './permit-call.ts'
import { RecentIds } from './recent-ids.ts'
import { Seal, type SealedKind } from './seal.ts'

/** A permit that a client names, as far as a report needs it. */
interface OpenPermit {
  /** No other permit has the same: its signature. */
  readonly id: string
  /** Undefined if another server has granted it, or this one before its restart, or if it has ended. */
  readonly lease: PermitLease | undefined
  readonly permit: GrantedPermit | ForeignPermit
}

/** A permit that a client names. */
export interface NamedPermit extends OpenPermit {
  /** How long its lease may last from now on. Milliseconds. */
  readonly maxLeaseMs: number
  /** Returns the same permit, as any server with the same pacer may treat it. */
  readonly foreign: () => ForeignPermit
}

/** One URL of a call. */
interface Item {
  readonly url: string
  /** Where it waits. */
  place: WaitingPlace | undefined
  /** Whether its place was made by this call. */
  isNew: boolean
  result: PermitResult | undefined
  /** The robots.txt that it waits for. */
  pending: Promise<unknown> | undefined
}

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
const BUSY_WAIT_MS = 1_000
/** How long a URL waits whose permit would be old, because other calls had their turns. */
const LATE_WAIT_MS = 100
/** Up to this time after its first permit a call may grant more, whatever its `startWithinMs` is. */
const MIN_LATE_MS = 20
const FAILURE_WAIT_MS = 1_000
/** How much longer than the wait a ticket is valid. */
const TICKET_MS = 10 * 60_000
const SWEEP_MS = 5_000
/** How long after the end of a lease a report counts. Our choice. */
const LATE_MS = 10 * 60_000
/** How long a report waits for its pacer. Our choice: as long as a pacer waits for its server. */
const TOLD_MS = 2_000

export interface DeskOptions {
  readonly gate: PoliteGate
  /** The keys of permits and tickets. The first of them signs. */
  readonly secrets: readonly Uint8Array[]
  /** How long after its grant a lease ends at the latest, however often it is renewed. Milliseconds. */
  readonly maxLeaseMs: number
  /** What the metrics count. `server-busy`: a wait that only a busy server asks for. */
  readonly onResult: (state: PermitResult['state'] | 'server-busy') => void
  readonly onExpire: () => void
  /** A pacer or a function of the caller has failed. */
  readonly onError: (error: unknown) => void
  /** Whether there is more than one tenant. */
  readonly isShared: () => boolean
  /** Whether the event loop is blocked, or the heap is almost full. */
  readonly isBusy: () => boolean
}

export class PermitDesk {
  readonly leases: Leases
  /** The turns of the calls for permits. */
  readonly turns = new Turns()
  /** The turns of reports and renewals, which do not wait for the turns of permits. */
  readonly reportTurns = new Turns()
  readonly #seal: Seal
  readonly #options: DeskOptions
  readonly #port: GatePort
  readonly #lines = new Map<string, Line>()
  readonly #entrances: Entrances
  readonly #sweeping: NodeJS.Timeout
  /** Another one after each start: numbers are unique for one server only. */
  readonly #server = randomBytes(9).toString('base64url')
  #number = 1
  /** The ids of permits that have reported a response, or that no request was sent. */
  readonly #reported = new RecentIds()
  /** The ids of permits without a lease here whose requests have ended. */
  readonly #ended = new RecentIds()
  /** Wake the calls that are held. */
  readonly #held = new Set<() => void>()
  #isFindingEnded = false
  /** Whether no permit is granted any more. */
  isDraining = false

  constructor(options: DeskOptions) {
    this.#options = options
    this.#port = gatePort(options.gate)
    this.#entrances = new Entrances(this.#port, options.isShared)
    this.#seal = new Seal(options.secrets)
    this.leases = new Leases({
      now: this.#port.now,
      onExpire: options.onExpire,
      onEnd: (key) => this.#lines.get(key)?.wake(),
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
    this.isDraining = true
    for (const wake of this.#held) wake()
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
    if (this.#options.isBusy()) return { heldMs: 0, results: call.requests.map((request) => this.#busy(call, request)) }
    const turns = new CallTurns(this.turns, call.tenant.name, call.client)
    const items: Item[] = []
    for (const request of call.requests) {
      if (request.ticket !== undefined) await turns.next()
      items.push(this.#itemOf(call, request))
    }
    const until = arrivedAt + call.holdMs
    let grantedAt: number
    for (;;) {
      grantedAt = await this.#pass(call, items, turns)
      const isOver = call.signal.aborted || this.isDraining || this.#port.now() >= until
      if (isOver || items.some(({ result }) => result?.state !== 'wait')) break
      turns.pause()
      await this.#hold(call, items, until)
      if (call.signal.aborted) break
    }
    if (call.signal.aborted) for (const item of items) if (item.isNew) this.#leaveLine(item)
    const results: PermitResult[] = []
    for (const item of items) {
      if (item.place !== undefined) await turns.next()
      const result = this.#resultOf(item)
      this.#options.onResult(result.state)
      results.push(result)
    }
    return { heldMs: Math.max(0, Math.floor(grantedAt - arrivedAt)), results }
  }

  get maxLeaseMs(): number {
    return this.#options.maxLeaseMs
  }

  /** Finds a permit whose lease is open here, without its signature: that the text is the same says enough. */
  openPermitOf(tenant: Tenant, text: string): OpenPermit | undefined {
    const [, server, number = ''] = text.split('.', 3)
    const lease = server === this.#server ? this.leases.find(Number.parseInt(number, 36)) : undefined
    if (lease?.tenant !== tenant || !isSameText(lease.text, text)) return undefined
    return { id: text.slice(text.lastIndexOf('.') + 1), lease, permit: lease.permit }
  }

  /**
   * Finds a permit. `unknown`: the text is not a permit of this tenant. `gone`: its lease ended so long
   * ago that no report counts any more.
   */
  permitOf(tenant: Tenant, text: string): NamedPermit | 'gone' | 'unknown' {
    const sealed = this.#seal.open(tenant.name, 'p', text)
    if (sealed === undefined) return 'unknown'
    const { id, server, number, key, grantedAt, endsAt } = sealed
    const isOwn = server === this.#server
    const found = isOwn ? this.leases.find(number) : undefined
    const lease = found?.permit.key === key ? found : undefined
    const now = Date.now()
    const renewedUntil = grantedAt + this.maxLeaseMs
    if (lease === undefined && now > Math.max(endsAt + LATE_MS, renewedUntil)) return 'gone'
    const foreign = () => new ForeignPermit(this.#port.receiverOf(sealed, isOwn), sealed, this.#reportOnceMs)
    return { id, lease, permit: lease?.permit ?? foreign(), maxLeaseMs: renewedUntil - now, foreign }
  }

  /** Until when a second report of a permit could come. */
  get #reportOnceMs(): number {
    return this.maxLeaseMs + LATE_MS
  }

  /**
   * Notes that a permit has reported a response, or that no request was sent. Returns false if it had
   * done so before.
   * @param isOfPage Whether the page asks for fewer requests: known after its body, and so after the
   * response may have been reported.
   */
  noteReport({ id }: OpenPermit, isOfPage: boolean): boolean {
    return this.#reported.add(isOfPage ? `${id} page` : id)
  }

  /**
   * Resolves when the pacer knows what the reports have said, or after 2 seconds: then no server grants
   * a permit against it.
   */
  async told(): Promise<void> {
    await withTimeout(this.#port.pacer.told(), TOLD_MS, () => undefined)
  }

  /** The request of a permit has ended. */
  end({ id, lease, permit }: OpenPermit): void {
    if (lease !== undefined) this.leases.end(lease)
    else if (this.#ended.add(id)) {
      permit.release()
      this.#lines.get(permit.key)?.wake()
    }
  }

  #itemOf(call: PermitCall, { url, ticket }: PermitCall['requests'][number]): Item {
    const item: Item = { url, place: undefined, isNew: false, result: undefined, pending: undefined }
    if (ticket === undefined) return item
    const sealed = this.#seal.open(call.tenant.name, 't', ticket)
    if (sealed === undefined) item.result = { state: 'unknown', because: 'ticket' }
    else if (sealed.server === this.#server)
      item.place = this.#lines.get(sealed.key)?.find(callerOf(call), sealed.number)
    if (item.place !== undefined) item.place.isConfirmed = true
    return item
  }

  /** The answer of a busy server. The URL keeps its place. */
  #busy(call: PermitCall, request: PermitCall['requests'][number]): PermitResult {
    const { place } = this.#itemOf(call, request)
    if (place !== undefined) place.askAt = this.#port.now() + BUSY_WAIT_MS
    this.#options.onResult('server-busy')
    return { state: 'wait', waitMs: BUSY_WAIT_MS, because: 'server-busy', ticket: request.ticket }
  }

  /** Looks at all URLs that have no answer yet. Returns the time before the first grant. */
  async #pass(call: PermitCall, items: readonly Item[], turns: CallTurns): Promise<number> {
    const open = items.filter(({ result }) => result === undefined || result.state === 'wait')
    const byKey = new Map<string, ((isLate: boolean) => Promise<void>)[]>()
    for (const item of open) item.result = DRAINING
    if (this.isDraining) return this.#port.now()
    const looking: Promise<void>[] = []
    for (const item of open) {
      const turn = turns.next()
      if (turn !== undefined) await turn
      looking.push(
        this.#answer(item, async () => {
          const found = await this.#entrances.of(call, item.url)
          item.pending = 'pending' in found ? found.pending : undefined
          if ('pending' in found) return { state: 'wait', waitMs: found.waitMs, because: 'robots-txt' }
          if ('allowed' in found) {
            if (found.budget === undefined && found.circuit === undefined) this.#port.robots.decide(found.verdict)
            return this.#refused(item, found)
          }
          const { key } = found.lane
          const enter = (isLate: boolean) => this.#answer(item, () => this.#enter(call, item, found, isLate))
          if (byKey.get(key)?.push(enter) === undefined) byKey.set(key, [enter])
          return DRAINING
        }),
      )
    }
    await Promise.all(looking)
    await turns.next() // so that the first permits are not old
    const at = this.#port.now()
    const lateAt = at + Math.max(call.startWithinMs / 2, MIN_LATE_MS)
    let isLate = false
    const nextTurn = async (turn: Promise<void>) => {
      await turn
      isLate ||= this.#port.now() > lateAt
    }
    const entered: Promise<void>[] = []
    for (const entering of byKey.values()) {
      const turn = turns.next(COST_OF_GRANT)
      if (turn !== undefined) await nextTurn(turn)
      entered.push(
        (async () => {
          for (const [n, enter] of entering.entries()) {
            const next = n === 0 ? undefined : turns.next(COST_OF_GRANT)
            if (next !== undefined) await nextTurn(next)
            if (!this.isDraining && !call.signal.aborted) await enter(isLate)
          }
        })(),
      )
    }
    await Promise.all(entered)
    return at
  }

  /** If a pacer fails, the URL asks again, and no other URL of the call suffers. */
  async #answer(item: Item, result: () => Promise<PermitResult>): Promise<void> {
    try {
      item.result = await result()
    } catch (error) {
      this.#options.onError(error)
      item.result = { state: 'wait', waitMs: FAILURE_WAIT_MS, because: 'pacer-failure' }
    }
  }

  /** Grants a permit, if the gate has a slot that is not kept for another URL. */
  async #enter(call: PermitCall, item: Item, entrance: Entrance, isLate: boolean): Promise<PermitResult> {
    const { tenant, startWithinMs, leaseMs } = call
    const { lane, maxConcurrent } = entrance
    const line = this.#lines.get(lane.key)
    if (item.place !== undefined && !line?.has(item.place)) item.place = undefined
    const known = entrance.knownWait()
    if (known !== undefined) return this.#wait(call, item, lane, known)
    if (line?.isKept(callerOf(call), item.place, this.#port.now()))
      return this.#wait(call, item, lane, { waitMs: 0, because: 'queue' })
    if (isLate) return this.#wait(call, item, lane, { waitMs: LATE_WAIT_MS, because: 'server-busy' })
    const full = tenant.take(lane.key, maxConcurrent)
    if (full !== undefined) {
      if (item.place !== undefined) item.place.isConfirmed = false // others may pass
      return { state: 'full', ...full }
    }
    lane.attach() // keeps the turn of a URL that has to wait, until it has a place in the line
    let permit: GrantedPermit | undefined
    try {
      const entered = await entrance.tryEnter({ allowanceMs: startWithinMs, leaseMs, shownSources: [] }) // the guard's source is made up
      if ('allowed' in entered)
        return entered.allowed ? this.#wait(call, item, lane, entered) : this.#refused(item, entered)
      permit = entered
    } catch (error) {
      if (error instanceof CircuitOpenError) {
        const { verdict, retryAt, outcome, because } = error
        return this.#refused(item, { verdict, retryAt, circuit: { kind: outcome, because } })
      }
      if (error instanceof RobotsDisallowedError || error instanceof BudgetError) return this.#refused(item, error)
      throw error
    } finally {
      if (permit === undefined) tenant.giveBack(lane.key)
      lane.detach()
    }
    this.#lines.get(lane.key)?.served(tenant.name, callerOf(call), this.#port.now())
    this.#leaveLine(item)
    const number = this.#number++
    permit.reportOnceMs = this.#reportOnceMs
    const text = this.#sealed(tenant, 'p', number, permit.record, leaseMs)
    return {
      state: 'go',
      permit: text,
      lease: this.leases.add({ number, text, tenant, permit, startWithinMs }, leaseMs),
    }
  }

  #sealed({ name }: Tenant, kind: SealedKind, number: number, record: PermitRecord, validMs: number): string {
    const grantedAt = Date.now()
    const endsAt = Math.ceil(grantedAt + validMs)
    return this.#seal.seal(name, kind, { server: this.#server, number, grantedAt, endsAt, ...record })
  }

  #refused(item: Item, { verdict, retryAt, budget, circuit }: Omit<RefusedEntrance, 'allowed'>): PermitResult {
    this.#leaveLine(item)
    const reason = circuit === undefined ? verdict.because : 'circuit'
    const because = budget === undefined ? reason : 'budget'
    return { state: 'refused', because, verdict, retryAt, budget, circuit }
  }

  /** Lets the URL wait in the line of its pace key. @param own Its wait without the tickets before it. */
  #wait(call: PermitCall, item: Item, lane: OuterLane, own: { waitMs: number; because: WaitBecause }): PermitResult {
    const { tenant } = call
    const { because } = own
    const now = this.#port.now()
    const ahead = this.#lines.get(lane.key)?.ahead(callerOf(call), item.place, now) ?? 0
    const behindMs = ahead === 0 ? 0 : Math.min(lane.expectedWaitMs(ahead), MAX_QUEUE_WAIT_MS)
    const waitMs =
      because === 'concurrency'
        ? Math.min(CONCURRENCY_WAIT_MS * (1 + ahead), MAX_CONCURRENCY_WAIT_MS)
        : Math.ceil(Math.max(own.waitMs, behindMs, MIN_WAIT_MS))
    if (item.place === undefined) {
      if (this.isDraining) return DRAINING // after `close`, nothing would end the line
      if (!tenant.mayWait) return { state: 'full', waitMs: 1_000, because: 'waiting' }
      const line = this.#lines.get(lane.key) ?? new Line(lane)
      this.#lines.set(lane.key, line)
      item.place = line.add(this.#number++, tenant, callerOf(call))
      item.isNew = true
    }
    item.place.askAt = now + waitMs
    return { state: 'wait', waitMs, because }
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
    if (!place?.line.has(place) || (result?.state !== 'wait' && result?.state !== 'full')) return result as PermitResult
    const { number, line, tenant } = place
    const ticket = this.#sealed(tenant, 't', number, { key: line.key }, result.waitMs + TICKET_MS)
    return { ...result, ticket }
  }

  /** Waits until one of the URLs may have its turn, or until the call has to end. */
  async #hold({ signal }: PermitCall, items: readonly Item[], until: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = () => resolve()
    let waitMs = until - this.#port.now()
    for (const { result, pending, place } of items) {
      if (result?.state !== 'wait') continue
      if (place !== undefined) place.isConfirmed = true // it will be there
      if (pending === undefined) waitMs = Math.min(waitMs, result.waitMs)
      else void pending.then(wake)
      if (result.because === 'concurrency') place?.line.held.add(wake)
    }
    this.#held.add(wake)
    const timer = setTimeout(wake, Math.max(1, Math.ceil(waitMs)))
    const unlisten = onAbort(signal, wake)
    await promise
    clearTimeout(timer)
    unlisten()
    this.#held.delete(wake)
    for (const { place } of items) place?.line.held.delete(wake)
  }

  /** Ends the leases here that reports to other servers have ended. */
  async #findEnded(): Promise<void> {
    if (this.#isFindingEnded || !this.#port.pacer.countsUnderWay) return
    this.#isFindingEnded = true
    try {
      for (const key of this.leases.keysToAsk(this.isDraining)) await this.#port.findEnded(key)
    } catch (error) {
      this.#options.onError(error)
    } finally {
      this.#isFindingEnded = false
    }
  }

  #sweep(): void {
    void this.#findEnded()
    const now = this.#port.now()
    for (const line of this.#lines.values()) {
      line.sweep(now)
      this.#dropIfEmpty(line)
    }
  }
}

/** Compares in constant time, so that no one finds a permit letter by letter. */
function isSameText(one: string, other: string): boolean {
  const [bytes, others] = [Buffer.from(one), Buffer.from(other)]
  return bytes.length === others.length && timingSafeEqual(bytes, others)
}

function callerOf({ tenant, client }: PermitCall): string {
  return client === undefined ? tenant.name : `${tenant.name} ${client}`
}
