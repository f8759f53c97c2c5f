// Replaces platform-fetch.ts in runtimes without sockets. There, no undici has a global dispatcher, and
// no mock can replace connections.
import { fetchAtImport, type PlatformFetch, withoutGates } from '../network/wrapped-fetches.ts'

export function registerPoliteDispatcher(): void {}

export function isPlainFetch(fetch: PlatformFetch): boolean {
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
