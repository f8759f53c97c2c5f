// `parseRobots`: checks its arguments and creates a `Robots`.
import { copyOfAscii, type HasBytes } from './bytes.ts'
import { dialectFor } from './choose-dialect.ts'
import { describeValue } from './describe-value.ts'
import type { Dialect, DialectName } from './dialect.ts'
import { OptionError } from './errors.ts'
import { assertKnownOptions } from './known-options.ts'
import { assertSource } from './parse/source.ts'
import { Robots } from './robots.ts'
import { type HasHref, originOf } from './url/origin.ts'

/** Options of `parseRobots`. */
export interface ParseOptions {
  /**
   * The dialect, by name or a custom one.
   *
   * @default 'rfc9309'
   */
  readonly dialect?: DialectName | Dialect | undefined
  /**
   * The origin that the file was fetched for, as a URL: a string, or an object with `href`. URLs of
   * another origin then get the verdict `other-origin` (RFC 9309 §2.3). Without this option,
   * `check` ignores the origin of a URL.
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

/** @throws {OptionError} if `url` is not an http, https or ftp URL. */
export function ownOrigin(url: string | HasHref): string {
  const text = typeof url === 'string' ? url : url?.href
  const origin = typeof text === 'string' ? originOf(text) : undefined
  if (origin === undefined) {
    throw new OptionError('origin', `${describeValue(url)} is not an origin; write one such as https://example.com`)
  }
  // V8 may keep the whole URL in memory, because the origin is a slice of it.
  return text.length - origin.length > MAX_CHARACTERS_AFTER_ORIGIN ? copyOfAscii(origin) : origin
}

/**
 * The origin is copied if the URL has more characters than this after it. For fewer, as in
 * `/robots.txt`, a copy costs more than it saves.
 */
const MAX_CHARACTERS_AFTER_ORIGIN = 64
