// One flight per origin: a thousand callers who want the same robots.txt at once make one fetch. And not too many flights at once,
// neither in all nor to the hosts of one registrable domain: a site with a wildcard in its DNS has as many hosts as it likes.
import { onAbort } from './abort-listeners.ts'
import { registrableDomainOf } from './host-name.ts'

export interface FlightLimits {
  /** Flights under way at once. */
  readonly maxFlights: number
  /** Of them, those to hosts of one registrable domain. */
  readonly maxFlightsPerDomain: number
}

interface Flight<T> {
  readonly origin: string
  readonly domain: Domain<T>
  readonly start: () => Promise<T>
  readonly result: PromiseWithResolvers<T>
  /** Who still wants it; it is begun only for somebody. */
  callers: number
  phase: FlightPhase
}

/** `waiting` for others to end, or `under-way`. */
export type FlightPhase = 'waiting' | 'under-way'

interface Domain<T> {
  readonly name: string
  underWay: number
  readonly waiting: Set<Flight<T>>
}

export class Flights<T> {
  readonly #limits: FlightLimits
  readonly #flights = new Map<string, Flight<T>>()
  /** Those with flights, under way or waiting. */
  readonly #domains = new Map<string, Domain<T>>()
  /** Those where somebody waits and may begin as soon as there is room; in turn, so that no domain starves the others. */
  readonly #ready = new Set<Domain<T>>()
  #underWay = 0

  constructor(limits: FlightLimits) {
    this.#limits = limits
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
    return this.#underWay
  }

  get waiting(): number {
    return this.#flights.size - this.#underWay
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
    const name = registrableDomainOf(origin)
    const domain = this.#domains.get(name) ?? { name, underWay: 0, waiting: new Set() }
    this.#domains.set(name, domain)
    const flight: Flight<T> = { origin, domain, start, result: Promise.withResolvers(), callers: 0, phase: 'waiting' }
    // Every caller may have left by the time it fails; those who have not are told by their own promise.
    flight.result.promise.catch(() => undefined)
    this.#flights.set(origin, flight)
    domain.waiting.add(flight)
    this.#look(domain)
    return flight
  }

  #begin(): void {
    for (const domain of this.#ready) {
      if (this.#underWay >= this.#limits.maxFlights) return
      const [flight] = domain.waiting
      if (flight !== undefined) void this.#fly(flight)
    }
  }

  async #fly(flight: Flight<T>): Promise<void> {
    const { origin, domain, start, result } = flight
    flight.phase = 'under-way'
    this.#underWay++
    domain.underWay++
    domain.waiting.delete(flight)
    this.#ready.delete(domain) // its next turn comes after that of the others
    this.#look(domain)
    try {
      result.resolve(await start())
    } catch (error) {
      result.reject(error)
    } finally {
      this.#underWay--
      domain.underWay--
      this.#flights.delete(origin)
      this.#look(domain)
      this.#begin()
    }
  }

  /** Puts the domain among those that are ready, where it keeps its turn, or takes it out; and drops it when nothing is left of it. */
  #look(domain: Domain<T>): void {
    const { name, underWay, waiting } = domain
    if (waiting.size > 0 && underWay < this.#limits.maxFlightsPerDomain) this.#ready.add(domain)
    else this.#ready.delete(domain)
    if (waiting.size === 0 && underWay === 0) this.#domains.delete(name)
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
    flight.domain.waiting.delete(flight)
    this.#look(flight.domain)
  }
}
