// The current size of a client.

/** The current size of a client. */
export interface Gauges {
  /** Origins whose robots.txt is in memory. */
  readonly origins: number
  /** The memory that these origins take, in bytes, about. */
  readonly memoryBytes: number
  /** Fetches of robots.txt and tdmrep.json that are under way. */
  readonly flightsUnderWay: number
  /**
   * Fetches of robots.txt and tdmrep.json that wait for `maxFlights`, `maxFlightsPerDomain` or the pace of
   * redirects to another site.
   */
  readonly flightsWaiting: number
  /** How long the store has failed. Milliseconds; 0 while it works. */
  readonly storeOutageMs: number
}

/** The gauges of a client, and the meaning of each. */
export const gaugeMeanings: Readonly<Record<keyof Gauges, string>> = {
  origins: 'origins whose robots.txt is in memory',
  memoryBytes: 'the memory that these origins take, in bytes, about',
  flightsUnderWay: 'fetches of robots.txt and tdmrep.json that are under way',
  flightsWaiting:
    'fetches of robots.txt and tdmrep.json that wait for `maxFlights`, `maxFlightsPerDomain` or the pace of redirects to another site',
  storeOutageMs: 'how long the store has failed, in milliseconds; 0 while it works',
}
