// The public exports of `@politely/puppeteer`.

export { OptionError } from '@politely/core'
export { BrowserGoneError } from '@politely/devtools'
export { GateClosedError, RobotsDisallowedError } from '@politely/gate'
export { type PoliteBrowser, type WithRobotsOptions, withRobots } from './with-robots.ts'
