// The function that robots-parser exports.
import { type Robot, RobotsFile } from './robot.ts'

export interface RobotsParser {
  /**
   * Reads a robots.txt.
   *
   * @param url Where the file is. It applies to URLs of the same origin; or, if this has no host, to URLs without one.
   * @throws {OptionError} of `@politely/core`, a TypeError, for contents that are not a string.
   */
  (url: string, contents: string): Robot
  /** The same function: where TypeScript took robots-parser for an ES module, callers had to write this. */
  default(url: string, contents: string): Robot
}

function read(url: string, contents: string): Robot {
  return new RobotsFile(url, contents)
}

export const robotsParser: RobotsParser = Object.assign(read, { default: read })
