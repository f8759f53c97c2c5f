// The public API of `@politely/server`.
export { OptionError } from '@politely/core'
export { runCommand } from './command.ts'
export { TokenFileError } from './errors.ts'
export type { PolitelyServerOptions, ServerAddress, TcpOptions } from './options.ts'
export { PolitelyServer } from './server.ts'
export { newToken } from './tenants.ts'
