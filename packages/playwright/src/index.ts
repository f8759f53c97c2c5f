// The public exports of `@politely/playwright`.

export { BrowserGoneError } from '@politely/cdp'
export { isPolitelyError, OptionError } from '@politely/core'
export {
  BudgetError,
  CircuitOpenError,
  GateClosedError,
  QueueFullError,
  RobotsDisallowedError,
  WaitTooLongError,
} from '@politely/gate'
export type * from '@politely/gate/shown-types'
export { type PoliteContext, type WithRobotsOptions, withRobots } from './with-robots.ts'
