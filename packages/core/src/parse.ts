// `parseRobots`: checks its arguments and creates a `Robots`.
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
   * The origin that the file was fetched for, as a URL. URLs of another origin then get the verdict `other-origin` (RFC 9309 §2.3). Without this
   * option, `check` ignores the origin of a URL.
   */
  readonly origin?: string
}

/**
 * Parses a robots.txt file. Never throws because of the content of the file: it uses every line that it can parse and ignores the others, as RFC
 * 9309 §2.3.1.5 asks.
 *
 * @param source The bytes or the text of the file; or an object with its bytes in a string, such as a `Copy`.
 * @throws {OptionError} if `source` has another type, the dialect is unknown, or `origin` is not an http, https or ftp URL.
 */
export function parseRobots(source: Uint8Array | string | HasBytes, { dialect, origin }: ParseOptions = {}): Robots {
  // Without this check, an ArrayBuffer or a promise would be parsed as an empty file, which allows everything.
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
  // V8 may keep the whole URL in memory, because the origin is a slice of it.
  const isLong = ownOrigin !== undefined && (origin as string).length - ownOrigin.length > MAX_CHARACTERS_AFTER_ORIGIN
  return new Robots(source, dialectFor(dialect), isLong ? copyOfAscii(ownOrigin) : ownOrigin)
}

/** The origin is copied if the URL has more characters than this after it. For fewer, as in `/robots.txt`, a copy costs more than it saves. */
const MAX_CHARACTERS_AFTER_ORIGIN = 64
