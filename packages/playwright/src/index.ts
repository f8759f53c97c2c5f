// Everything that `@politely/playwright` offers, and nothing else.

export { type PoliteContext, type WithRobotsOptions, withRobots } from './with-robots.ts'
