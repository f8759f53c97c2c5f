// The public exports of `@politely/playwright`.

export { OptionError } from '@politely/core'
export { BrowserGoneError } from '@politely/devtools'
export { GateClosedError, RobotsDisallowedError } from '@politely/gate'
export { type PoliteContext, type WithRobotsOptions, withRobots } from './with-robots.ts'
