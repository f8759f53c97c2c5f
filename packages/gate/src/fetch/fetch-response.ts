// The fetch that `politely` wraps, and its responses.

/** A function with the signature of fetch: the fetch of Node, the fetch of undici, or your own. */
export type FetchLike = (input: never, init?: never) => Promise<FetchResponse>

/**
 * The part of a response that `politely` reads.
 * @inline
 */
export type FetchResponse = {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  /** A stream of the web, or of Node, as node-fetch returns it. */
  readonly body: object | null
}
