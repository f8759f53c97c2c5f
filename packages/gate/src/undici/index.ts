// The public API of `@politely/gate/undici`.

export { type PoliteAgent, type PoliteAgentOptions, politeAgent } from './agent.ts'
export { politeInterceptor } from './interceptor.ts'
