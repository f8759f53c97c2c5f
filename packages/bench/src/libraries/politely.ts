import { type CrawlerRules, parseRobots } from '@politely/core'
import { CRAWLER } from '../crawler.ts'
import { type Library, library } from './library.ts'

/**
 * Our package as users get it: built, and with the file's origin, so that every check compares
 * origins.
 */
export const politely: Library<CrawlerRules> = library(
  'politely',
  'all',
  (text, robotsUrl) => parseRobots(text, { origin: robotsUrl }).forCrawler(CRAWLER),
  (rules, url) => rules.isAllowed(url),
  (bytes, robotsUrl) => parseRobots(bytes, { origin: robotsUrl }).forCrawler(CRAWLER),
  (rules) => rules.memoryBytes,
)
