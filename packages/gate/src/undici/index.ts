// The public API of `@politely/gate/undici`.

export { isPolitelyError, OptionError } from '@politely/core'
export { BlockedAddressError } from '@politely/fetcher'
export type * from '../shown-types.ts'
export { type PoliteAgent, type PoliteAgentOptions, politeAgent } from './agent.ts'
export type { AgentSettings } from './agent-options.ts'
export { politeInterceptor } from './interceptor.ts'
