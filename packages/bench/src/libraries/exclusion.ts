import { RobotsTxt } from 'exclusion'
import { CRAWLER } from '../crawler.ts'
import { type Library, library, pathOf } from './library.ts'

/** It normalizes the path again for each rule. */
export const exclusion: Library<RobotsTxt> = library(
  'exclusion',
  'sample',
  (text) => new RobotsTxt(text),
  (robots, url) => robots.isPathAllowed(pathOf(url), CRAWLER),
)
