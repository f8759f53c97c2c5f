// The public API of `@politely/core/match`: `parseRobots` for a web page or a worker, where each
// kilobyte counts.

export type { HasBytes } from '../bytes.ts'
export { isPolitelyError, OptionError } from '../errors.ts'
export type { Group, InvalidUrl, Rule, RulesVerdict } from '../match/verdict.ts'
export type { ProductTokens } from '../parse/product-tokens.ts'
export type { HasHref, ParsedUrl, UrlInput } from '../url/origin.ts'
export type { UrlProblem } from '../url/url-problem.ts'
export { type ParseOptions, parseRobots } from './parse-robots.ts'
export type { CrawlerRules, Robots } from './robots.ts'
