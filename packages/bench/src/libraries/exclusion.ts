import { RobotsTxt } from 'exclusion'
import { CRAWLER, type Library, library, pathIn } from './library.ts'

/** It brings the path to its own form again for each rule. */
export const exclusion: Library<RobotsTxt> = library(
  'exclusion',
  'sample',
  (text) => new RobotsTxt(text),
  (robots, url) => robots.isPathAllowed(pathIn(url), CRAWLER),
)
