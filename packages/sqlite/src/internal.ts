// What the other packages of Politely use of this one. Not public: it may change in any version.

export { type AccessSettings, DatabaseAccess } from './database-access.ts'
export { DatabaseFile, type FileFormat, type OpenFile } from './database-file.ts'
export { absolutePath, assertFileOptions, type FileWords, fileSettings, type SetAside } from './options.ts'
export { sizeLimits } from './size-limits.ts'
export { DamageError, StoreError } from './store-error.ts'
export { WriteQueue } from './write-queue.ts'
