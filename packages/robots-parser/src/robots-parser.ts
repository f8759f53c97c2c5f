// The function that robots-parser exports.
import { type Robot, RobotsFile } from './robot.ts'

export interface RobotsParser {
  /**
   * Parses a robots.txt file.
   *
   * @param url The URL of the file, which applies to URLs of the same origin. If it has no host, the file applies to URLs without a host.
   * @throws {OptionError} of `@politely/core`, a TypeError, for contents that are not a string.
   */
  (url: string, contents: string): Robot
  /** The same function. With robots-parser's own types, some TypeScript projects must call it this way. */
  default(url: string, contents: string): Robot
}

function parse(url: string, contents: string): Robot {
  return new RobotsFile(url, contents)
}

export const robotsParser: RobotsParser = Object.assign(parse, { default: parse })
