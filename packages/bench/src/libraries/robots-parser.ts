import robotsParser, { type Robots } from 'robots-parser'
import { CRAWLER, type Library, library } from './library.ts'

/** The one that most crawlers on Node use: ratios are ratios to it. It answers nothing about another origin; we never ask. */
export const robotsParserLibrary: Library<Robots> = library(
  'robots-parser',
  'all',
  (text, robotsUrl) => robotsParser(robotsUrl, text),
  (robots, url) => robots.isAllowed(url, CRAWLER) === true,
)
