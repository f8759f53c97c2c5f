// Replaces lookup.ts in runtimes without DNS lookups.
import type { LookupFunction } from 'node:net'
import { UnsupportedRuntimeError } from '../base/errors.ts'

/** The caller's resolver; without one, no name has an address. */
export function boundedLookup(lookup: LookupFunction = noAddress): LookupFunction {
  return lookup
}

const noAddress: LookupFunction = (_host, _options, callback) => callback(null, [])

/** @throws {UnsupportedRuntimeError} */
export function dnsLookup(): never {
  throw new UnsupportedRuntimeError('dnsLookup', 'leave the option lookup out')
}
