// The function that robots-parser exports.
import { OptionError } from '@politely/core'
import { type Robot, RobotsFile } from './robot.ts'

/** The function `robotsParser`, as robots-parser exports it. */
export interface RobotsParser {
  /**
   * Parses a robots.txt file.
   *
   * @param url The URL of the file, which applies to URLs of the same origin. If it has no host,
   * the file applies to URLs without a host.
   * @throws {OptionError} of `@politely/core`, a TypeError, for a call without arguments, and for
   * contents that are not a string.
   */
  (url: string, contents: string): Robot
  /**
   * The same function. With robots-parser's own types, some TypeScript projects must call it this
   * way.
   */
  default(url: string, contents: string): Robot
}

function parse(url: string, contents: string): Robot {
  // robots-parser accepts an invalid URL, and a missing file, but a call without both is a mistake.
  if (url === undefined && contents === undefined)
    throw new OptionError('url', 'is missing; write robotsParser("https://example.com/robots.txt", contents)')
  return new RobotsFile(url, contents)
}

/**
 * Parses a robots.txt file, with the interface of robots-parser: `robotsParser(url, contents)`
 * returns a `Robot`. Missing contents count as an empty file.
 *
 * @throws {OptionError} for a call without arguments, and for contents that are not a string.
 */
export const robotsParser: RobotsParser = Object.assign(parse, { default: parse })
