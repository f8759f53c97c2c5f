// The public exports of `@politely/puppeteer`.

export { OptionError } from '@politely/core'
export { RobotsDisallowedError } from '@politely/gate'
export { type PoliteBrowser, type WithRobotsOptions, withRobots } from './with-robots.ts'
