// The public exports of `@politely/puppeteer`.

export { type PoliteBrowser, type WithRobotsOptions, withRobots } from './with-robots.ts'
