// The public API of `@politely/sqlite`.

export { isPolitelyError, OptionError } from '@politely/core'
export { StoreClosedError } from '@politely/fetcher'
export type { SqliteStoreOptions } from './options.ts'
export { SqliteStore } from './sqlite-store.ts'
export { StoreError } from './store-error.ts'
