// Everything that `@politely/puppeteer` offers, and nothing else.

export type { Subresources } from './guard.ts'
export { type PoliteBrowser, type WithRobotsOptions, withRobots } from './with-robots.ts'
