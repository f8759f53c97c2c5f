// The public API of `@politely/sqlite`.

export { isPolitelyError, OptionError } from '@politely/core'
export { StoreClosedError } from '@politely/fetcher'
export type { SetAside, SqliteStoreOptions } from './options.ts'
export { SqliteStore } from './sqlite-store.ts'
export { StoreError, type StoreErrorCode } from './store-error.ts'
export type { StoredText } from './store-file.ts'
