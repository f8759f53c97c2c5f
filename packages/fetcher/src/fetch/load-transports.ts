// Loads the transports with the first request. With them and with node:zlib, which they need,
// importing the package would take longer.
import type * as Transports from './transports.ts'

let loading: Promise<typeof Transports> | undefined

export function loadTransports(): Promise<typeof Transports> {
  loading ??= import('./transports.ts')
  return loading
}
