// Everything that `@politely/puppeteer` offers, and nothing else.

export { type PoliteBrowser, type WithRobotsOptions, withRobots } from './with-robots.ts'
