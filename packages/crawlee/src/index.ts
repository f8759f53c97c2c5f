// The public exports of `@politely/crawlee`.

export { BrowserGoneError } from '@politely/cdp'
export { isPolitelyError, OptionError } from '@politely/core'
export {
  BudgetError,
  CircuitOpenError,
  GateClosedError,
  InvalidRequestError,
  QueueFullError,
  RobotsDisallowedError,
  WaitTooLongError,
} from '@politely/gate'
export type * from '@politely/gate/shown-types'
export { FollowingClientError } from './polite-http-client.ts'
export { RedirectError } from './redirected.ts'
export { refusalOf, robotsTagOf, verdictOf } from './skipped.ts'
export { usageOf } from './usage/loaded-page.ts'
export { type WithRobotsOptions, withRobots } from './with-robots.ts'
