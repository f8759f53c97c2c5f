// One flight per origin: a thousand callers who want the same robots.txt at once make one fetch. And not too many flights at once,
// neither in all nor to the hosts of one registrable domain: a site with a wildcard in its DNS has as many hosts as it likes.
import { onAbort } from './abort-listeners.ts'
import { DomainTurns } from './domain-turns.ts'
import { registrableDomainOf } from './host-name.ts'

export interface FlightLimits {
  /** Flights under way at once. */
  readonly maxFlights: number
  /** Of them, those to hosts of one registrable domain. */
  readonly maxFlightsPerDomain: number
}

interface Flight<T> {
  readonly origin: string
  readonly domain: string
  readonly start: () => Promise<T>
  readonly result: PromiseWithResolvers<T>
  /** Who still wants it; it is begun only for somebody. */
  callers: number
  phase: FlightPhase
}

/** `waiting` for others to end, or `under-way`. */
export type FlightPhase = 'waiting' | 'under-way'

export class Flights<T> {
  readonly #flights = new Map<string, Flight<T>>()
  readonly #turns: DomainTurns<Flight<T>>

  constructor({ maxFlights, maxFlightsPerDomain }: FlightLimits) {
    this.#turns = new DomainTurns(maxFlights, maxFlightsPerDomain)
  }

  /**
   * Joins the flight for an origin, or makes one. An abort leaves this caller only: a flight that is under way goes on for the others, and
   * its result is kept for who asks next; one that nobody waits for any more is never begun.
   */
  join(origin: string, start: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const flight = this.#flights.get(origin) ?? this.#make(origin, start)
    flight.callers++
    this.#begin()
    return signal === undefined ? flight.result.promise : this.#leavable(flight, signal)
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

  /** Rejects those that wait, and ends when those under way have ended, however they end. */
  async close(reason: Error): Promise<void> {
    const flights = [...this.#flights.values()]
    for (const flight of flights.filter(({ phase }) => phase === 'waiting')) {
      this.#forget(flight)
      flight.result.reject(reason)
    }
    await Promise.allSettled(flights.map(({ result }) => result.promise))
  }

  #make(origin: string, start: () => Promise<T>): Flight<T> {
    const domain = registrableDomainOf(origin)
    const flight: Flight<T> = { origin, domain, start, result: Promise.withResolvers(), callers: 0, phase: 'waiting' }
    // Every caller may have left by the time it fails; those who have not are told by their own promise.
    flight.result.promise.catch(() => undefined)
    this.#flights.set(origin, flight)
    this.#turns.add(domain, flight)
    return flight
  }

  #begin(): void {
    for (let flight = this.#turns.next(); flight !== undefined; flight = this.#turns.next()) void this.#fly(flight)
  }

  async #fly(flight: Flight<T>): Promise<void> {
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
      this.#begin()
    }
  }

  #leavable(flight: Flight<T>, signal: AbortSignal): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const leave = () => {
      reject(signal.reason)
      flight.callers--
      if (flight.callers === 0 && flight.phase === 'waiting') this.#forget(flight)
    }
    const unlisten = onAbort(signal, leave)
    flight.result.promise.then(resolve, reject).finally(unlisten)
    return promise
  }

  /** Of a flight that has not begun. */
  #forget(flight: Flight<T>): void {
    this.#flights.delete(flight.origin)
    this.#turns.delete(flight.domain, flight)
  }
}
