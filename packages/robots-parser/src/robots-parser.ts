// The front door: robots-parser's function.
import { type Robot, RobotsFile } from './robot.ts'

export interface RobotsParser {
  /**
   * Reads a robots.txt.
   *
   * @param url Where the file is: it speaks about URLs of the same origin, or, where this has no host, about URLs without one.
   * @throws {OptionError} of `@politely/core`, a TypeError, for contents that are no text.
   */
  (url: string, contents: string): Robot
  /** The same function: where TypeScript took robots-parser for an ES module, callers had to write this. */
  default(url: string, contents: string): Robot
}

function read(url: string, contents: string): Robot {
  return new RobotsFile(url, contents)
}

export const robotsParser: RobotsParser = Object.assign(read, { default: read })
