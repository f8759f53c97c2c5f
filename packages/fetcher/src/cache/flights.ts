// Single flight: callers that want one origin's robots.txt at the same time share one fetch, the
// flight. Flights that no caller waits for come last.
//
// A tdmrep.json has separate flights under the same limits. They go by the URL of the file instead
// of an origin, and no origin equals such a URL.
//
// Concurrent flights are limited, in all and for each site, since a wildcard in DNS gives a site
// any number of hosts. A flight counts towards two sites:
// - the site that its current request goes to, since any number of sites may redirect to one site;
// - its own site, until the flight ends, since a site may redirect any number of its hosts.
//
// If a redirect leads to another registrable domain, the flight first waits for the pace of that
// domain, in `RedirectQueues`.
import type { Failure } from '@politely/core/internal'
import { onAbort } from '../base/abort-listeners.ts'
import { DomainTurns } from '../base/domain-turns.ts'
import type { Site } from '../base/site.ts'
import { SlowItems, type StartedItem } from '../base/slow-items.ts'
import type { TurnFailure } from '../fetch/robots-fetcher.ts'
import { hasOtherDomain, registrableDomainOf, siteOf } from '../network/host-name.ts'
import type { ClientSettings } from '../options/options.ts'
import type { Telemetry } from '../report/telemetry.ts'
import type { RedirectLimits } from './redirect-limits.ts'
import { RedirectQueues } from './redirect-queues.ts'

/**
 * A flight that takes longer is slow: see `SlowItems`. Its deadline is longer, but most servers
 * respond in less time. Our choice.
 */
const SLOW_AFTER_MS = 5_000

export interface JoinOptions {
  readonly signal?: AbortSignal | undefined
  /** The caller uses no result that is older than this. Milliseconds since 1970. Default: any. */
  readonly since?: number | undefined
}

/** What the work of a flight and the flight tell each other. */
export interface FlightWork {
  /**
   * Whether to remove the flight when its last caller aborts. True until the work sets it to false,
   * since it makes a request now.
   */
  isDroppable: boolean
  /**
   * Whether the flight was removed after its work began. The work then ends without a further
   * request.
   */
  readonly isDropped: boolean
  /**
   * The latest time that a caller gave to `join` as its `since`. An entry that is older does not
   * end the flight. Milliseconds since 1970.
   */
  readonly since: number
  /** Whether `forget` was called. The work then ignores the entry that it found before. */
  readonly isForgotten: boolean
  /**
   * Counts the flight towards the site of this URL instead of its last site, since a redirect leads
   * there. The work calls it before each request after the first.
   * @param permission Whether the work may request the URL at all, if that is not known yet. The
   * flight waits for it without a turn, since it may need a flight of the same site.
   */
  moveTo(url: string, permission?: Promise<TurnFailure>): TurnFailure | Promise<TurnFailure>
}

class Flight<T> implements FlightWork, StartedItem {
  before: StartedItem | undefined
  after: StartedItem | undefined
  list: object | undefined
  isExempt = false
  readonly origin: string
  /** The site of the origin. */
  readonly ownSite: Site
  /** The site of the current request, or of the next request while the flight waits to make it. */
  site: Site
  /** The URL that the last redirect to another site led to, or the origin before any. */
  url: string
  /** When the flight began to count towards its current site, by `performance.now()`. */
  startedAt = 0
  /** Whether the flight counts as away from its own site. */
  isAway = false
  readonly start: (work: FlightWork) => Promise<T>
  readonly result: PromiseWithResolvers<T> = Promise.withResolvers()
  /** `background` while no caller has joined. */
  priority: 'normal' | 'background'
  /** The number of callers that have not aborted. */
  callers = 0
  isDroppable = true
  isDropped = false
  since = Number.NEGATIVE_INFINITY
  isForgotten = false
  phase: FlightPhase = 'waiting'
  /** Set while the work waits after `moveTo`. */
  turn: PromiseWithResolvers<TurnFailure> | undefined
  /** When it began to wait, by `performance.now()`. */
  waitsSince = 0
  /** Resolves when the work has ended, with whatever result. */
  ended: Promise<void> | undefined
  readonly moveTo: FlightWork['moveTo']

  constructor(origin: string, { start, priority, moveTo }: Pick<Flight<T>, 'start' | 'priority' | 'moveTo'>) {
    this.origin = origin
    this.ownSite = siteOf(origin)
    this.site = this.ownSite
    this.url = origin
    this.start = start
    this.priority = priority
    this.moveTo = moveTo
  }
}

/**
 * `waiting` for other flights to end, at the start or after a redirect; or `under-way`.
 */
export type FlightPhase = 'waiting' | 'under-way'

export class Flights<T> {
  readonly #flights = new Map<string, Flight<T>>()
  readonly #turns: DomainTurns<Flight<T>>
  readonly #slow: SlowItems
  readonly #redirectLimits: RedirectLimits
  readonly #redirectQueues: RedirectQueues<Flight<T>>

  constructor(
    { maxFlights, maxFlightsPerDomain }: Pick<ClientSettings, 'maxFlights' | 'maxFlightsPerDomain'>,
    redirectLimits: RedirectLimits,
  ) {
    this.#turns = new DomainTurns(maxFlights, maxFlightsPerDomain)
    this.#slow = new SlowItems(
      this.#turns,
      SLOW_AFTER_MS,
      () => performance.now(),
      () => this.#startNext(),
    )
    this.#redirectLimits = redirectLimits
    this.#redirectQueues = new RedirectQueues(redirectLimits, (flight) => {
      this.#turns.add(flight.site, flight, 'redirected')
      this.#startNext()
    })
  }

  /**
   * Joins the flight of an origin, or creates it. `signal` aborts only this caller's wait. The
   * flight then continues for other callers. When its last caller aborts, it is removed if it waits
   * or has made no request; otherwise it continues for the cache.
   * @param start The work of a new flight. Ignored if the flight exists, whose work has the same type
   * of result.
   */
  join<R extends T>(origin: string, start: (work: FlightWork) => Promise<R>, options: JoinOptions = {}): Promise<R> {
    const { signal, since } = options
    const flight = this.#flights.get(origin) ?? this.#create(origin, start, 'normal')
    flight.callers++
    if (since !== undefined) flight.since = Math.max(flight.since, since)
    this.#promote(flight)
    this.#startNext()
    const result = signal === undefined ? flight.result.promise : this.#abortable(flight, signal)
    return result as Promise<R>
  }

  /**
   * Creates a flight for the cache instead of a caller. The origin must have none. It starts when
   * no flight that a caller waits for could start, and no abort removes it.
   */
  startAhead<R extends T>(origin: string, start: (work: FlightWork) => Promise<R>): Promise<R> {
    const flight = this.#create(origin, start, 'background')
    flight.callers++ // the cache, which does not abort
    this.#startNext()
    return flight.result.promise as Promise<R>
  }

  /** Tells the origin's flight, if it has one, to ignore the entry that it found before. */
  forget(origin: string): void {
    const flight = this.#flights.get(origin)
    if (flight !== undefined) flight.isForgotten = true
  }

  get underWay(): number {
    return this.#turns.underWay
  }

  get waiting(): number {
    return this.#flights.size - this.#turns.underWay
  }

  phaseOf(origin: string): FlightPhase | undefined {
    return this.#flights.get(origin)?.phase
  }

  /**
   * Rejects all callers, and removes the waiting flights. Resolves when all work has ended, with
   * whatever result.
   */
  async close(reason: Error): Promise<void> {
    const flights = [...this.#flights.values()]
    for (const flight of flights) {
      if (flight.phase === 'waiting') this.#remove(flight)
      flight.result.reject(reason)
    }
    await Promise.all(flights.map(({ ended }) => ended))
  }

  #create(origin: string, start: (work: FlightWork) => Promise<T>, priority: Flight<T>['priority']): Flight<T> {
    const flight: Flight<T> = new Flight(origin, {
      start,
      priority,
      moveTo: (url, permission) =>
        permission === undefined ? this.#move(flight, url) : this.#moveWhenPermitted(flight, url, permission),
    })
    // All callers may have aborted when the flight fails, and the error must not become an
    // unhandled rejection. The others get it anyway.
    flight.result.promise.catch(() => undefined)
    this.#flights.set(origin, flight)
    this.#turns.add(flight.site, flight, priority)
    return flight
  }

  /** Gives a flight the normal priority, since a caller waits for it now. */
  #promote(flight: Flight<T>): void {
    if (flight.priority === 'normal') return
    flight.priority = 'normal'
    if (flight.phase === 'under-way' || flight.turn !== undefined) return
    this.#turns.delete(flight.site, flight)
    this.#turns.add(flight.site, flight)
  }

  #startNext(): void {
    for (let flight = this.#turns.next(); flight !== undefined; flight = this.#turns.next()) {
      flight.phase = 'under-way'
      if (flight.turn !== undefined) this.#resume(flight, flight.turn)
      else {
        this.#start(flight)
        flight.ended = this.#run(flight)
      }
    }
    this.#slow.updateTimer()
  }

  async #run(flight: Flight<T>): Promise<void> {
    const { start, result } = flight
    try {
      result.resolve(await start(flight))
    } catch (error) {
      result.reject(error)
    } finally {
      flight.isDroppable = false
      if (!flight.isDropped) this.#end(flight)
      this.#startNext()
    }
  }

  /**
   * Ends the flight's turn of its site before it waits for one of the next site, so flights that go
   * in a circle do not block each other.
   */
  #move(flight: Flight<T>, url: string): TurnFailure | Promise<TurnFailure> {
    const site = siteOf(url)
    const leavesDomain = hasOtherDomain(flight.origin, url)
    if (site.name === flight.site.name) {
      if (leavesDomain) this.#redirectLimits.take(url)
      return undefined
    }
    const ahead = this.#redirectQueues.size(url)
    const refusal = leavesDomain ? this.#redirectLimits.refusalAhead(url, ahead) : undefined
    if (refusal !== undefined) return refusal
    const outcome = this.#slow.end(flight)
    if (flight.isAway) this.#turns.end(flight.site, outcome)
    else this.#turns.leave(flight.site, outcome)
    flight.isAway = true
    flight.site = site
    flight.url = url
    const mayStart = !leavesDomain || (ahead === 0 && this.#redirectLimits.waitMs(registrableDomainOf(url)) === 0)
    if (mayStart && this.#turns.fullLimit(site) === undefined) {
      this.#start(flight)
      this.#startNext()
      return undefined
    }
    const turn = this.#wait(flight)
    this.#queue(flight)
    return turn.promise
  }

  /**
   * Waits until it is known whether the work may request a URL. Then moves there. Meanwhile the
   * flight counts nowhere: it may wait for a flight of the same site.
   */
  #moveWhenPermitted(flight: Flight<T>, url: string, permission: Promise<TurnFailure>): Promise<TurnFailure> {
    const { ownSite } = flight
    this.#turns.end(flight.site, this.#slow.end(flight))
    if (flight.isAway) this.#turns.endAway(ownSite)
    flight.isAway = false
    flight.site = ownSite
    const turn = this.#wait(flight)
    this.#startNext()
    const move = (refusal: TurnFailure) => {
      if (flight.isDropped) return
      if (refusal !== undefined) return this.#resume(flight, turn, refusal)
      flight.url = url
      flight.site = siteOf(url)
      flight.isAway = flight.site.name !== ownSite.name
      if (flight.isAway) this.#turns.beginAway(ownSite)
      this.#queue(flight)
    }
    permission.then(move, (error: unknown) => {
      turn.reject(error)
      if (!flight.isDropped) this.#resume(flight, turn)
    })
    return turn.promise
  }

  /** Makes a flight wait for its next turn. */
  #wait(flight: Flight<T>): PromiseWithResolvers<TurnFailure> {
    const turn = Promise.withResolvers<TurnFailure>()
    flight.turn = turn
    flight.waitsSince = performance.now()
    flight.phase = 'waiting'
    flight.isDroppable = true
    return turn
  }

  /** Adds a waiting flight to the queue of its current site. */
  #queue(flight: Flight<T>): void {
    if (hasOtherDomain(flight.origin, flight.url)) this.#redirectQueues.add(flight)
    else this.#turns.add(flight.site, flight, 'redirected')
    this.#startNext()
  }

  /** Counts a flight as under way. If it returns to its own site, it was away until now. */
  #start(flight: Flight<T>, refusal?: Failure): void {
    const { site, ownSite, url, isAway } = flight
    this.#turns.start(site)
    flight.startedAt = performance.now()
    this.#slow.start(flight)
    if (!isAway) return
    if (site.name === ownSite.name) {
      flight.isAway = false
      this.#turns.endAway(site)
    } else if (refusal === undefined && hasOtherDomain(flight.origin, url)) this.#redirectLimits.take(url)
  }

  /**
   * Ends the wait of a flight after a redirect. It makes its request; or it fails, if it was refused,
   * has waited for too long, or its target asked for a pause meanwhile.
   */
  #resume(flight: Flight<T>, turn: PromiseWithResolvers<TurnFailure>, refused?: Failure): void {
    const { url, waitsSince } = flight
    const waitedMs = performance.now() - waitsSince
    const leavesDomain = hasOtherDomain(flight.origin, url)
    const refusal = refused ?? (leavesDomain ? this.#redirectLimits.refusal(url, waitedMs) : undefined)
    flight.phase = 'under-way'
    this.#start(flight, refusal)
    flight.turn = undefined
    flight.isDroppable = false
    turn.resolve(refusal)
    this.#redirectQueues.delete(flight)
  }

  /** Removes a flight that is under way. */
  #end(flight: Flight<T>): void {
    const { origin, ownSite, site, isAway } = flight
    this.#turns.end(site, this.#slow.end(flight))
    if (isAway) this.#turns.endAway(ownSite)
    this.#flights.delete(origin)
  }

  /** Returns the result of the flight, or rejects when the signal is aborted. */
  #abortable(flight: Flight<T>, signal: AbortSignal): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const abort = () => {
      reject(signal.reason)
      flight.callers--
      if (flight.callers > 0 || !flight.isDroppable) return
      if (flight.phase === 'waiting') this.#remove(flight)
      else this.#drop(flight)
    }
    const unlisten = onAbort(signal, abort)
    flight.result.promise.then(resolve, reject).finally(unlisten)
    return promise
  }

  /** Removes a flight that is under way but has made no request. */
  #drop(flight: Flight<T>): void {
    flight.isDropped = true
    flight.isDroppable = false
    this.#end(flight)
    queueMicrotask(() => this.#startNext()) // not at once: the same signal may abort the callers of the next one too
  }

  /** Removes a flight that waits. */
  #remove(flight: Flight<T>): void {
    const { origin, ownSite, site, isAway } = flight
    flight.isDropped = true
    this.#flights.delete(origin)
    this.#turns.delete(site, flight)
    this.#redirectQueues.delete(flight)
    if (isAway) this.#turns.endAway(ownSite)
    flight.turn?.reject(new Error('the flight was removed while it waited'))
  }
}

/** Takes the turn of a further request of an attempt. Counts a wait. */
export function takeTurn(url: string, work: FlightWork, telemetry: Telemetry): TurnFailure | Promise<TurnFailure> {
  const turn = work.moveTo(url)
  if (turn instanceof Promise) telemetry.count('redirectWaits')
  return turn
}
