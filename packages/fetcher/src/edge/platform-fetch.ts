// Replaces platform-fetch.ts in runtimes without sockets. There, no undici has a global dispatcher, and
// no mock can replace connections.

export type Fetch = typeof globalThis.fetch

/** By a fetch that enters a gate: the fetch that it wraps. */
const wrappedFetches = new WeakMap<object, Fetch>()

export function registerPoliteFetch(fetch: object, inner: Fetch): void {
  wrappedFetches.set(fetch, inner)
}

export function registerPoliteDispatcher(): void {}

export function withoutGates(fetch: Fetch): Fetch {
  let inner = fetch
  for (let next = wrappedFetches.get(inner); next !== undefined; next = wrappedFetches.get(inner)) inner = next
  return inner
}

export const fetchAtImport: Fetch = globalThis.fetch

export function isPlainFetch(fetch: Fetch): boolean {
  return fetch === fetchAtImport
}

export function areSocketsMocked(): boolean {
  return false
}

export function otherGlobalDispatcher(): undefined {
  return undefined
}

/** Names the global fetch, if it is not the default one. */
export function replacedGlobal(): string | undefined {
  return isPlainFetch(withoutGates(globalThis.fetch)) ? undefined : 'globalThis.fetch has been replaced'
}
