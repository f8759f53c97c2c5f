// The interface of a store: a cache of entries outside the client, for several processes or after a
// restart.

/**
 * A cache of texts by origin. Anything with these methods can be a store: a map, a file, a
 * database. A client reads an origin's text before each fetch and writes it after. Texts are JSON
 * in a format of the client. With the default `maxBodyBytes` they have at most about 4 million
 * characters.
 *
 * The client does not trust a store: it treats an outdated, truncated or foreign text as a miss. If
 * a method rejects or takes longer than two seconds, or ten if the store has `lease`, the client
 * continues without the store and emits `store-failed`. After a call that took too long, or that
 * failed after a second, it does not call the store for a second, and for up to 30 seconds while the
 * store does not respond.
 */
export interface Store {
  /**
   * Returns the text that was last set for this origin. Undefined if it was never set, was deleted,
   * or has expired.
   */
  get(origin: string): Promise<string | undefined>
  /**
   * Saves a text. Resolves when the text is durable. Of two writers, the last one wins. The text
   * expires at `keepUntil` (milliseconds since 1970); a full store may evict it earlier.
   */
  set(origin: string, text: string, keepUntil: number): Promise<void>
  /** Deletes the text. A missing text is not an error. */
  delete(origin: string): Promise<void>
  /**
   * Takes the lease of an origin, so that one client at a time fetches its robots.txt. Resolves at
   * once: with undefined if another client holds the lease. A lease does not restrict the other
   * methods. Optional: without it, clients that share a store may fetch the same robots.txt at the
   * same time.
   * @param leaseMs After how many milliseconds the lease expires.
   */
  lease?(origin: string, leaseMs: number): Promise<Lease | undefined>
  /** Closes the store. Clients never call it; the caller does. */
  close?(): Promise<void>
}

/**
 * The right to fetch the robots.txt of one origin. Of the clients that share a store, one has it at
 * a time.
 */
export interface Lease {
  /**
   * Ends the lease. Does nothing if it has expired, even if another client holds the origin's lease
   * now.
   */
  release(): Promise<void>
}
