// Requests for one page that come while another one waits for its slot or its response wait for the
// store to have the page.
import { boundedMap, orAborted } from '@politely/fetcher/internal'

/** How many invalidated URLs are remembered. */
const MAX_INVALIDATED = 10_000

/**
 * How a flight ended. `stored`: the store has the page. `aborted`: its caller has aborted it, so another
 * request may fetch the page for all. `failed`: the page failed, may not be stored or takes too long, so
 * each request is sent.
 */
export type FlightEnd = 'stored' | 'aborted' | 'failed'

/** The request that fetches a page. */
export class Flight {
  readonly key: string
  /** Of the requests that wait. Most flights have none. */
  #ending: PromiseWithResolvers<FlightEnd> | undefined
  #end: FlightEnd | undefined

  constructor(key: string) {
    this.key = key
  }

  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  get hasFollowers(): boolean {
    return this.#ending !== undefined
  }

  /** Waits for the end. Rejects when the signal is aborted. */
  follow(signal: AbortSignal | undefined): Promise<FlightEnd> {
    this.#ending ??= Promise.withResolvers()
    const { promise, resolve } = this.#ending
    if (this.#end !== undefined) resolve(this.#end)
    return signal === undefined ? promise : orAborted(promise, [signal])
  }

  /** The first end counts. */
  end(end: FlightEnd): void {
    this.#end ??= end
    this.#ending?.resolve(end)
  }
}

/** The flights of a cache, by URL and by the headers that a page may depend on (`flightKey`). */
export class PageFlights {
  readonly #byKey: Map<string, Flight> = new Map()
  /** The turns at which URLs were invalidated last. */
  readonly #invalidated = boundedMap<number>(MAX_INVALIDATED)
  #turn = 0

  of(key: string): Flight | undefined {
    return this.#byKey.get(key)
  }

  begin(key: string): Flight {
    const flight = new Flight(key)
    this.#byKey.set(key, flight)
    return flight
  }

  /** No more requests join. Those that did still wait for the end. */
  close(flight: Flight): void {
    if (this.#byKey.get(flight.key) === flight) this.#byKey.delete(flight.key)
  }

  /** Notes that what is stored for a URL, or under way, is no longer valid. */
  invalidate(url: string): void {
    this.#invalidated.set(url, this.nextTurn())
  }

  /** Returns the turn of a request that is sent now. A clock would give several the same time. */
  nextTurn(): number {
    return ++this.#turn
  }

  /** Whether a response to the request of this turn may be stored. */
  isValid(url: string, turn: number): boolean {
    return turn > (this.#invalidated.peek(url) ?? 0)
  }
}
