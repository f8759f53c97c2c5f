// Replaces undici.ts in runtimes without sockets, so that their bundles do not contain undici.
import { UnsupportedRuntimeError } from '../base/errors.ts'

export async function loadUndici(): Promise<never> {
  throw new UnsupportedRuntimeError('undici', 'use politely(fetch), with the fetch of the runtime')
}

/** @throws {UnsupportedRuntimeError} */
export function requireSockets(feature: string, remedy: string): never {
  throw new UnsupportedRuntimeError(feature, remedy)
}

let hasWarned = false

/** Emits a process warning, once: the caller asked for public addresses only. */
export function warnOfUrlGuard(): void {
  if (hasWarned) return
  hasWarned = true
  process.emitWarning(
    "network: 'public-only' refuses URLs with private addresses and names only: this runtime does not show which address a name leads to; give the option lookup, or run the program on Node",
    { type: 'PolitelyWarning', code: 'POLITELY_GUARD_URLS' },
  )
}

/** The client can't make its own connections. */
export const HAS_OWN_WAY: boolean = false

export const HAS_OWN_CONNECTIONS: boolean = false

/** The runtime can't look names up, so the guard checks names and literal addresses. */
export const LOOKED_UP: 'if-lookup-given' | 'always' = 'if-lookup-given'
