// What keeps entries longer than a process lives, or for several processes.

/**
 * Four methods over texts, so that anything can be a store: a map, a file, a database. A client asks it once for each origin it
 * does not remember, and tells it after each fetch. Texts are at most about 1.5 MB; JSON, whose shape is the client's business.
 * A store is not trusted: what it gives back may be old, cut, or another's, and is then a miss. A method that rejects costs the
 * caller nothing but the time: the client goes on without the store and says so (`store-failed`).
 */
export interface Store {
  /** What was last set for this origin; undefined where nothing was, or its time has passed. */
  get(origin: string): Promise<string | undefined>
  /**
   * Keeps a text; resolves when it is safe. Of two writers the last one wins. `keepUntil` (milliseconds since 1970) is when it may
   * be forgotten; a store that is full may do so sooner.
   */
  set(origin: string, text: string, keepUntil: number): Promise<void>
  /** Forgets it; no error where there is nothing. */
  delete(origin: string): Promise<void>
  /** Ends what the store holds open. The client that was given the store does not call it: the store is yours. */
  close?(): Promise<void>
}
