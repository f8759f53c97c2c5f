// Everything that `@politely/gate` offers, and nothing else.

export { GateClosedError, RobotsDisallowedError } from './errors.ts'
export {
  type Answer,
  type EnterOptions,
  type PacingOptions,
  type Pass,
  PoliteGate,
  type PoliteGateOptions,
} from './gate.ts'
export { type FetchLike, type PoliteFetch, type PolitelyOptions, politely } from './politely.ts'
