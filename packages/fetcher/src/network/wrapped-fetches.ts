// The platform's fetch, and which fetch another one wraps.

export type PlatformFetch = typeof globalThis.fetch

/** By a fetch that enters a gate: the fetch that it wraps. */
const wrappedFetches = new WeakMap<object, PlatformFetch>()

/** Registers a fetch that enters a gate. Requests for robots.txt need none, and use `inner`. */
export function registerPoliteFetch(fetch: object, inner: PlatformFetch): void {
  wrappedFetches.set(fetch, inner)
}

/** Returns the fetch for robots.txt among wrapped ones: the innermost one. */
export function withoutGates(fetch: PlatformFetch): PlatformFetch {
  let inner = fetch
  for (let next = wrappedFetches.get(inner); next !== undefined; next = wrappedFetches.get(inner)) inner = next
  return inner
}

/**
 * The platform's fetch. `globalThis.fetch` may enter a gate by now, and then waits for the robots.txt
 * that it is to fetch.
 */
export const fetchAtImport: PlatformFetch = globalThis.fetch
