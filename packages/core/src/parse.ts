// Makes a `Robots` from a file and its options.

import { copyOfAscii, type HasBytes } from './bytes.ts'
import { dialectFor } from './choose-dialect.ts'
import type { Dialect, DialectName } from './dialect.ts'
import { OptionError } from './option-error.ts'
import { Robots } from './robots.ts'
import { originOf } from './url/origin.ts'

export interface ParseOptions {
  /**
   * The dialect, by name or a custom one.
   *
   * @default 'rfc9309'
   */
  readonly dialect?: DialectName | Dialect
  /**
   * The origin that the file was fetched for, as a URL. With it, a URL of another origin is answered `other-origin` (RFC 9309
   * §2.3); without it, the path of any URL is checked.
   */
  readonly origin?: string
}

/**
 * Reads a robots.txt. Never throws for the content of the file: RFC 9309 §2.3.1.5 asks to use every line that can be parsed, and to
 * ignore the rest.
 *
 * @param source Its bytes, or its text; or an object that holds its bytes in a string, as a `Copy` does.
 * @throws {OptionError} for another kind of source, an unknown dialect, or an origin that is not an http, https or ftp URL.
 */
export function parseRobots(source: Uint8Array | string | HasBytes, { dialect, origin }: ParseOptions = {}): Robots {
  // Any other value, such as an ArrayBuffer or a promise, would be read as an empty file, which allows everything.
  if (typeof source !== 'string' && !(source instanceof Uint8Array) && typeof source?.bytes !== 'string') {
    throw new OptionError(
      'source',
      'must be the text of a robots.txt, or its bytes: a Uint8Array, or { bytes } with one character for each byte',
    )
  }
  const ownOrigin = origin === undefined ? undefined : originOf(origin)
  if (origin !== undefined && ownOrigin === undefined) {
    throw new OptionError('origin', `${JSON.stringify(origin)} is not an origin; write one such as https://example.com`)
  }
  // V8 may keep all of a URL in memory for the sake of the origin that was cut out of it.
  const isLong = ownOrigin !== undefined && (origin as string).length - ownOrigin.length > MAX_KEPT_PATH
  return new Robots(source, dialectFor(dialect), isLong ? copyOfAscii(ownOrigin) : ownOrigin)
}

/** A path behind the origin, such as `/robots.txt`, of which a copy of the origin would take more time than it saves memory. Characters. */
const MAX_KEPT_PATH = 64
