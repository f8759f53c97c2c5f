import robots, { type RobotsParser } from 'robots'
import { CRAWLER } from '../crawler.ts'
import { type Library, library, pathOf } from './library.ts'

/** Splits lines as its own `read` does. */
export const robotsLibrary: Library<RobotsParser> = library(
  'robots',
  'sample',
  (text) => new robots.RobotsParser().parse(text.split(/\r\n|\r|\n/)),
  (parser, url) => parser.canFetchSync(CRAWLER, pathOf(url)),
)
