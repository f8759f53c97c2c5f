import robotsTxtParser, { type Robots } from 'robots-txt-parser'
import { CRAWLER, type Library, library } from './library.ts'

/** It looks for a rule's path anywhere in what it is asked about, which is the whole URL on its page, and so here. */
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
