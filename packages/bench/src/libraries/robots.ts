import robots, { type RobotsParser } from 'robots'
import { CRAWLER, type Library, library, pathIn } from './library.ts'

/** Its lines are cut as its own `read` cuts them. */
export const robotsLibrary: Library<RobotsParser> = library(
  'robots',
  'sample',
  (text) => new robots.RobotsParser().parse(text.split(/\r\n|\r|\n/)),
  (parser, url) => parser.canFetchSync(CRAWLER, pathIn(url)),
)
