// The public exports of `@politely/playwright`.

export { OptionError } from '@politely/core'
export { RobotsDisallowedError } from '@politely/gate'
export { type PoliteContext, type WithRobotsOptions, withRobots } from './with-robots.ts'
