// The public API of `@politely/sqlite`.

export { OptionError } from '@politely/core'
export type { SetAside, SqliteStoreOptions } from './options.ts'
export { SqliteStore } from './sqlite-store.ts'
export { StoreError, type StoreErrorCode } from './store-error.ts'
