// Replaces undici.ts in runtimes without sockets, so that their bundles do not contain undici.
import { UnsupportedRuntimeError } from '../base/errors.ts'

export async function loadUndici(): Promise<never> {
  throw new UnsupportedRuntimeError('undici', 'use politely(fetch), with the fetch of the runtime')
}

/** @throws {UnsupportedRuntimeError} */
export function requireSockets(feature: string, remedy: string): never {
  throw new UnsupportedRuntimeError(feature, remedy)
}
