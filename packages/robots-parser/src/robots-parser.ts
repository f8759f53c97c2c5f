// robots-parser's front door.
import { type Robot, RobotsFile } from './robot.ts'

/** Reads a robots.txt. */
export interface RobotsParser {
  (url: string, contents: string): Robot
  default(url: string, contents: string): Robot
}
function read(url: string, contents: string): Robot {
  return new RobotsFile(url, contents)
}
export const robotsParser: RobotsParser = Object.assign(read, { default: read })
