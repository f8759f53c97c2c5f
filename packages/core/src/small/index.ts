// The public API of `@politely/core/match`: `parseRobots` for a web page or a worker, where each
// kilobyte counts.

export { isPolitelyError, OptionError } from '../errors.ts'
export type {} from '../index.ts' // see there
export type { Group, RulesVerdict } from '../match/verdict.ts'
export type { HasHref } from '../url/origin.ts'
export { type ParseOptions, parseRobots } from './parse-robots.ts'
export type { CrawlerRules, Robots } from './robots.ts'
