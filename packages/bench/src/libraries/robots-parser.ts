import robotsParser, { type Robots } from 'robots-parser'
import { CRAWLER } from '../crawler.ts'
import { type Library, library } from './library.ts'

/**
 * Most crawlers on Node use it, so ratios are relative to it. It returns undefined for URLs of
 * other origins; we never check any.
 */
export const robotsParserLibrary: Library<Robots> = library(
  'robots-parser',
  'all',
  (text, robotsUrl) => robotsParser(robotsUrl, text),
  (robots, url) => robots.isAllowed(url, CRAWLER) === true,
)
