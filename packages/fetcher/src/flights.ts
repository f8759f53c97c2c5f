// Single flight: callers that want the robots.txt of one origin at the same time share one fetch. The number of concurrent flights is limited, in
// all and per registrable domain, since a site with a wildcard in its DNS has any number of hosts.
import { onAbort } from './abort-listeners.ts'
import { DomainTurns } from './domain-turns.ts'
import { registrableDomainOf } from './host-name.ts'

export interface FlightLimits {
  /** The maximum number of concurrent flights. */
  readonly maxFlights: number
  /** The maximum number of concurrent flights to hosts of one registrable domain. */
  readonly maxFlightsPerDomain: number
}

interface Flight<T> {
  readonly origin: string
  readonly domain: string
  readonly start: () => Promise<T>
  readonly result: PromiseWithResolvers<T>
  /** The number of callers that have not aborted. Without callers, a waiting flight never starts. */
  callers: number
  phase: FlightPhase
  /** Resolves when the work has ended, with whatever result. */
  ended: Promise<void> | undefined
}

/** `waiting` for other flights to end, or `under-way`. */
export type FlightPhase = 'waiting' | 'under-way'

export class Flights<T> {
  readonly #flights = new Map<string, Flight<T>>()
  readonly #turns: DomainTurns<Flight<T>>

  constructor({ maxFlights, maxFlightsPerDomain }: FlightLimits) {
    this.#turns = new DomainTurns(maxFlights, maxFlightsPerDomain)
  }

  /**
   * Joins the flight of an origin, or creates it. `signal` aborts only this caller's wait. A flight that is under way then continues, for other
   * callers and for the cache. A flight that has not started is removed when its last caller aborts.
   * @param start The work of a new flight. Ignored if the flight exists.
   */
  join(origin: string, start: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const flight = this.#flights.get(origin) ?? this.#create(origin, start)
    flight.callers++
    this.#startNext()
    return signal === undefined ? flight.result.promise : this.#abortable(flight, signal)
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

  /** Rejects all callers, and removes the waiting flights. Resolves when all flights under way have ended, with whatever result. */
  async close(reason: Error): Promise<void> {
    const flights = [...this.#flights.values()]
    for (const flight of flights) {
      if (flight.phase === 'waiting') this.#remove(flight)
      flight.result.reject(reason)
    }
    await Promise.all(flights.map(({ ended }) => ended))
  }

  #create(origin: string, start: () => Promise<T>): Flight<T> {
    const domain = registrableDomainOf(origin)
    const flight: Flight<T> = {
      origin,
      domain,
      start,
      result: Promise.withResolvers(),
      callers: 0,
      phase: 'waiting',
      ended: undefined,
    }
    // All callers may have aborted when the flight fails, and the error must not become an unhandled rejection. The others get it anyway.
    flight.result.promise.catch(() => undefined)
    this.#flights.set(origin, flight)
    this.#turns.add(domain, flight)
    return flight
  }

  #startNext(): void {
    for (let flight = this.#turns.next(); flight !== undefined; flight = this.#turns.next())
      flight.ended = this.#run(flight)
  }

  async #run(flight: Flight<T>): Promise<void> {
    const { origin, domain, start, result } = flight
    flight.phase = 'under-way'
    this.#turns.start(domain)
    try {
      result.resolve(await start())
    } catch (error) {
      result.reject(error)
    } finally {
      this.#turns.end(domain)
      this.#flights.delete(origin)
      this.#startNext()
    }
  }

  /** Returns the result of the flight, or rejects when the signal is aborted. */
  #abortable(flight: Flight<T>, signal: AbortSignal): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const abort = () => {
      reject(signal.reason)
      flight.callers--
      if (flight.callers === 0 && flight.phase === 'waiting') this.#remove(flight)
    }
    const unlisten = onAbort(signal, abort)
    flight.result.promise.then(resolve, reject).finally(unlisten)
    return promise
  }

  /** Removes a flight that has not started. */
  #remove(flight: Flight<T>): void {
    this.#flights.delete(flight.origin)
    this.#turns.delete(flight.domain, flight)
  }
}
