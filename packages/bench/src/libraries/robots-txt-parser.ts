import robotsTxtParser, { type Robots } from 'robots-txt-parser'
import { CRAWLER } from '../crawler.ts'
import { type Library, library } from './library.ts'

/**
 * It searches for a rule's path anywhere in the text that it gets. Its documentation passes the
 * whole URL, and so do we.
 */
export const robotsTxtParserLibrary: Library<Robots> = library(
  'robots-txt-parser',
  'sample',
  (text, robotsUrl) => {
    const robots = robotsTxtParser({ userAgent: CRAWLER })
    robots.parseRobots(robotsUrl, text)
    return robots
  },
  (robots, url) => robots.canCrawlSync(url),
)
