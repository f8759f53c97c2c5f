// `parseRobots`: checks its arguments and creates a `Robots`.
import type { HasBytes } from './bytes.ts'
import { dialectFor } from './choose-dialect.ts'
import type { Dialect, DialectName } from './dialect.ts'
import { assertKnownOptions } from './known-options.ts'
import { assertSource } from './parse/source.ts'
import { Robots } from './robots.ts'
import type { HasHref } from './url/origin.ts'
import { ownOrigin } from './url/origin.ts'

/** Options of `parseRobots`. */
export interface ParseOptions {
  /**
   * The dialect, by name or a custom one.
   *
   * @default 'rfc9309'
   */
  readonly dialect?: DialectName | Dialect | undefined
  /**
   * The file's origin, as a URL: a string, or an object with `href`. URLs of another origin then
   * get the verdict `other-origin` (RFC 9309 §2.3). Without this option, `check` ignores the origin
   * of a URL.
   */
  readonly origin?: string | HasHref | undefined
}

/**
 * Parses a robots.txt file. Never throws because of the bytes of a file: it uses every line that it
 * can parse and ignores the others, as RFC 9309 §2.3.1.5 asks. A string that is nothing but the URL
 * or the name of a robots.txt file is a mistake of the caller. So pass the response of a site as
 * bytes, since a site may send such a text.
 *
 * @param source The bytes or the text of the file; or an object with its bytes in a string, such as
 * a `Copy`.
 * @throws {OptionError} if `source` has another type, or is the URL or the name of a file; if an
 * option or the dialect is unknown; or if `origin` is not an http, https or ftp URL.
 */
export function parseRobots(source: Uint8Array | string | HasBytes, options?: ParseOptions): Robots {
  assertSource(source)
  if (options === undefined) return new Robots(source, dialectFor(), undefined)
  assertKnownOptions(options, KNOWN_OPTIONS, '{ dialect: "google" }')
  const { dialect, origin } = options
  return new Robots(source, dialectFor(dialect), origin === undefined ? undefined : ownOrigin(origin))
}

const KNOWN_OPTIONS: Readonly<Record<keyof ParseOptions, true>> = { dialect: true, origin: true }
