// Loads the transports when the first request needs them: a third of what the import of the package
// would take.
import type * as Transports from './transports.ts'

let loading: Promise<typeof Transports> | undefined

export function loadTransports(): Promise<typeof Transports> {
  loading ??= import('./transports.ts')
  return loading
}
