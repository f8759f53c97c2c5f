import type * as Transports from './transports.ts'

/**
 * Loads the transports: with them and with node:zlib, which they need, importing the package would
 * take longer. The module loader keeps them, and tries again after a failure, such as too many open
 * files.
 */
export function loadTransports(): Promise<typeof Transports> {
  return import('./transports.ts')
}
