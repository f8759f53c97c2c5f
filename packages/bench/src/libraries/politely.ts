import { type CrawlerRules, parseRobots } from '@politely/core'
import { CRAWLER, type Library, library } from './library.ts'

/** Ours, as its users get it: the built package, with the origin given, so that it is compared in every question. */
export const politely: Library<CrawlerRules> = library(
  'politely',
  'all',
  (text, robotsUrl) => parseRobots(text, { origin: robotsUrl }).forCrawler(CRAWLER),
  (rules, url) => rules.isAllowed(url),
  (bytes, robotsUrl) => parseRobots(bytes, { origin: robotsUrl }).forCrawler(CRAWLER),
  (rules) => rules.memoryBytes,
)
