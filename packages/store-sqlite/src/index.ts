// Everything that `@politely/store-sqlite` offers, and nothing else.

export type { SetAside, SqliteStoreOptions } from './options.ts'
export { SqliteStore } from './sqlite-store.ts'
export { StoreError, type StoreErrorCode } from './store-error.ts'
