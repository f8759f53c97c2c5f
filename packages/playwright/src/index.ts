// The public exports of `@politely/playwright`.

export { type PoliteContext, type WithRobotsOptions, withRobots } from './with-robots.ts'
