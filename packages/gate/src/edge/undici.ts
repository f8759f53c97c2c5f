// Replaces undici/index.ts where undici does not run: in runtimes without sockets, and in Bun.
import { UnsupportedRuntimeError } from '@politely/fetcher'

export { isPolitelyError, OptionError } from '@politely/core'
export { BlockedAddressError } from '@politely/fetcher'

/** @throws {UnsupportedRuntimeError} */
export function politeAgent(): never {
  throw new UnsupportedRuntimeError('politeAgent', REMEDY)
}

/** @throws {UnsupportedRuntimeError} */
export function politeInterceptor(): never {
  throw new UnsupportedRuntimeError('politeInterceptor', REMEDY)
}

const REMEDY = 'write politely(fetch, { … }), with the fetch of the runtime'
