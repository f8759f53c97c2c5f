// The public API of `@politely/server`.
export { OptionError } from '@politely/core'
export { TokenFileError } from './errors.ts'
export type { PolitelyServerOptions, ServerAddress } from './options.ts'
export { PolitelyServer } from './server.ts'
export { newToken } from './tenants.ts'
