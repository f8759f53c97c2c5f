// Single flight: callers that want the robots.txt of one origin at the same time share one fetch. The number of concurrent flights is limited, in
// all and per registrable domain, since a site with a wildcard in its DNS has any number of hosts. Flights that no caller waits for come last.
// A flight counts towards the domain that its current request goes to, since any number of domains may redirect to one; and, until it ends, towards
// its own domain, since one domain may redirect any number of its hosts. A flight that a redirect leads
// to another domain waits for the pace of that domain first, in `RedirectQueues`.
import type { Failure } from '@politely/core/engine'
import { onAbort } from './abort-listeners.ts'
import { DomainTurns } from './domain-turns.ts'
import { registrableDomainOf } from './host-name.ts'
import type { RedirectLimits } from './redirect-limits.ts'
import { RedirectQueues } from './redirect-queues.ts'

export interface FlightLimits {
  /** The maximum number of concurrent flights. */
  readonly maxFlights: number
  /** The maximum number of concurrent flights to hosts of one registrable domain. */
  readonly maxFlightsPerDomain: number
}

/** What the work of a flight and the flight tell each other. */
export interface FlightWork {
  /** Whether to remove the flight when its last caller aborts. True until the work sets it to false, since it makes a request now. */
  isDroppable: boolean
  /** Whether the flight was removed after its work began. The work then ends without a further request. */
  readonly isDropped: boolean
  /**
   * Counts the flight towards the registrable domain of this URL instead of its last one, since a
   * redirect leads there. The work calls it before each request after the first one.
   */
  moveTo(url: string): Turn | Promise<Turn>
}

/**
 * Whether the work may make its next request: undefined if it may, otherwise the failure with which it
 * ends. A promise of a turn rejects if the flight is removed while it waits.
 */
export type Turn = Failure | undefined

interface Flight<T> extends FlightWork {
  readonly origin: string
  /** The registrable domain of the origin. */
  readonly ownDomain: string
  /** The registrable domain of the current request, or of the one that the flight waits to make. */
  domain: string
  /** The URL that the last redirect to another domain led to, or the origin before any. */
  url: string
  /** Whether the flight counts as away from its own domain. */
  isAway: boolean
  readonly start: (work: FlightWork) => Promise<T>
  readonly result: PromiseWithResolvers<T>
  /** `background` while no caller has joined. */
  priority: 'normal' | 'background'
  /** The number of callers that have not aborted. */
  callers: number
  isDropped: boolean
  phase: FlightPhase
  /** Set while the work waits after `moveTo`. */
  turn: PromiseWithResolvers<Turn> | undefined
  /** When it began to wait, by `performance.now()`. */
  waitsSince: number
  /** Resolves when the work has ended, with whatever result. */
  ended: Promise<void> | undefined
}

/** `waiting` for other flights to end, at the start or after a redirect; or `under-way`. */
export type FlightPhase = 'waiting' | 'under-way'

export class Flights<T> {
  readonly #flights = new Map<string, Flight<T>>()
  readonly #turns: DomainTurns<Flight<T>>
  readonly #redirectLimits: RedirectLimits
  readonly #redirectQueues: RedirectQueues<Flight<T>>

  constructor({ maxFlights, maxFlightsPerDomain }: FlightLimits, redirectLimits: RedirectLimits) {
    this.#turns = new DomainTurns(maxFlights, maxFlightsPerDomain)
    this.#redirectLimits = redirectLimits
    this.#redirectQueues = new RedirectQueues(redirectLimits, (flight) => {
      this.#turns.add(flight.domain, flight, 'redirected')
      this.#startNext()
    })
  }

  /**
   * Joins the flight of an origin, or creates it. `signal` aborts only this caller's wait. The flight then continues for other callers. When
   * its last caller aborts, it is removed if it waits or has made no request; otherwise it continues for the cache.
   * @param start The work of a new flight. Ignored if the flight exists.
   */
  join(origin: string, start: (work: FlightWork) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const flight = this.#flights.get(origin) ?? this.#create(origin, start, 'normal')
    flight.callers++
    this.#promote(flight)
    this.#startNext()
    return signal === undefined ? flight.result.promise : this.#abortable(flight, signal)
  }

  /**
   * Creates a flight for the cache instead of a caller. The origin must have none. It starts when no flight that a caller waits for could start,
   * and no abort removes it.
   */
  startAhead(origin: string, start: (work: FlightWork) => Promise<T>): Promise<T> {
    const flight = this.#create(origin, start, 'background')
    flight.callers++ // the cache, which does not abort
    this.#startNext()
    return flight.result.promise
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

  /** Rejects all callers, and removes the waiting flights. Resolves when all work has ended, with whatever result. */
  async close(reason: Error): Promise<void> {
    const flights = [...this.#flights.values()]
    for (const flight of flights) {
      if (flight.phase === 'waiting') this.#remove(flight)
      flight.result.reject(reason)
    }
    await Promise.all(flights.map(({ ended }) => ended))
  }

  #create(origin: string, start: (work: FlightWork) => Promise<T>, priority: Flight<T>['priority']): Flight<T> {
    const domain = registrableDomainOf(origin)
    const flight: Flight<T> = {
      origin,
      ownDomain: domain,
      domain,
      url: origin,
      isAway: false,
      start,
      result: Promise.withResolvers(),
      priority,
      callers: 0,
      isDroppable: true,
      isDropped: false,
      phase: 'waiting',
      turn: undefined,
      waitsSince: 0,
      ended: undefined,
      moveTo: (url) => this.#move(flight, url),
    }
    // All callers may have aborted when the flight fails, and the error must not become an unhandled rejection. The others get it anyway.
    flight.result.promise.catch(() => undefined)
    this.#flights.set(origin, flight)
    this.#turns.add(domain, flight, priority)
    return flight
  }

  /** Gives a flight the priority of those that a caller waits for. */
  #promote(flight: Flight<T>): void {
    if (flight.priority === 'normal') return
    flight.priority = 'normal'
    if (flight.phase === 'under-way' || flight.turn !== undefined) return
    this.#turns.delete(flight.domain, flight)
    this.#turns.add(flight.domain, flight)
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

  /** Ends the flight's turn of its domain before it waits for one of the next domain, so flights that go in a circle do not block each other. */
  #move(flight: Flight<T>, url: string): Turn | Promise<Turn> {
    const domain = registrableDomainOf(url)
    const isElsewhere = domain !== flight.ownDomain
    if (domain === flight.domain) {
      if (isElsewhere) this.#redirectLimits.take(url)
      return undefined
    }
    const ahead = this.#redirectQueues.size(url)
    const refusal = isElsewhere ? this.#redirectLimits.refusalAhead(url, ahead) : undefined
    if (refusal !== undefined) return refusal
    if (flight.isAway) this.#turns.end(flight.domain)
    else this.#turns.leave(flight.domain)
    flight.isAway = true
    flight.domain = domain
    flight.url = url
    const mayStart = !isElsewhere || (ahead === 0 && this.#redirectLimits.waitMs(domain) === 0)
    if (mayStart && this.#turns.fullLimit(domain) === undefined) {
      this.#start(flight)
      this.#startNext()
      return undefined
    }
    const turn = Promise.withResolvers<Turn>()
    flight.turn = turn
    flight.waitsSince = performance.now()
    flight.phase = 'waiting'
    flight.isDroppable = true
    if (isElsewhere) this.#redirectQueues.add(flight)
    else this.#turns.add(domain, flight, 'redirected')
    this.#startNext()
    return turn.promise
  }

  /** Counts a flight as under way. If it returns to its own domain, it was away until now. */
  #start(flight: Flight<T>, refusal?: Failure): void {
    const { domain, ownDomain, url, isAway } = flight
    this.#turns.start(domain)
    if (!isAway) return
    if (domain === ownDomain) {
      flight.isAway = false
      this.#turns.endAway(domain)
    } else if (refusal === undefined) this.#redirectLimits.take(url)
  }

  /**
   * Ends the wait of a flight after a redirect. It makes its request; or it fails, if it has waited for
   * too long or its target asked for a pause meanwhile.
   */
  #resume(flight: Flight<T>, turn: PromiseWithResolvers<Turn>): void {
    const { url, domain, ownDomain, waitsSince } = flight
    const waitedMs = performance.now() - waitsSince
    const refusal = domain === ownDomain ? undefined : this.#redirectLimits.refusal(url, waitedMs)
    this.#start(flight, refusal)
    flight.turn = undefined
    flight.isDroppable = false
    turn.resolve(refusal)
    this.#redirectQueues.delete(flight)
  }

  /** Removes a flight that is under way. */
  #end({ origin, ownDomain, domain, isAway }: Flight<T>): void {
    this.#turns.end(domain)
    if (isAway) this.#turns.endAway(ownDomain)
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
    const { origin, ownDomain, domain, isAway } = flight
    flight.isDropped = true
    this.#flights.delete(origin)
    this.#turns.delete(domain, flight)
    this.#redirectQueues.delete(flight)
    if (isAway) this.#turns.endAway(ownDomain)
    flight.turn?.reject(new Error('the flight was removed while it waited'))
  }
}
