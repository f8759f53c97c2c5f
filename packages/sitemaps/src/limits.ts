// The limits of a reading. Each has a name that options, results and errors share.
import { OptionError } from '@politely/core'
import { assertKnown, describeValue, integer, MAX_TIMER_MS, number } from '@politely/fetcher/internal'

/** The limits of a reading. A file that reaches one is `partial`, with the reason `limit: NAME`. */
export interface SitemapLimits {
  /** The most entries of the whole reading. Default: no limit. */
  readonly maxEntries?: number | undefined
  /**
   * The most entries of one file. sitemaps.org allows 50,000; a file with more has a problem
   * `over-50000-entries`. Default 1,000,000.
   */
  readonly maxEntriesPerFile?: number | undefined
  /** The most files of the whole reading. At most this many are queued. Default 10,000. */
  readonly maxFiles?: number | undefined
  /**
   * The most bytes of the URLs that the reading keeps: of the files that wait, of the files that were
   * read, and of their redirects. Default 16 MiB.
   */
  readonly maxQueueBytes?: number | undefined
  /** The most levels of indexes above a file. Default 10. */
  readonly maxDepth?: number | undefined
  /** The most bytes of one file as sent. Default 100 MiB. */
  readonly maxBytesIn?: number | undefined
  /**
   * The most bytes of one file after gzip is unpacked. If a file was packed several times, what comes
   * out of each layer counts. sitemaps.org allows 50 MB; a larger file has a problem `over-50-mb`.
   * Default 256 MiB.
   */
  readonly maxBytesOut?: number | undefined
  /** The time of the whole reading, in milliseconds. Default: no limit. */
  readonly maxMs?: number | undefined
  /**
   * The time for one file after the response began, in milliseconds: the reader waits for bytes,
   * unpacks and parses. The time that the caller takes for entries does not count. Default 5 minutes.
   */
  readonly maxFileMs?: number | undefined
  /** The most characters of one text, such as a URL. Default 65,536. */
  readonly maxTextLength?: number | undefined
  /** The most characters of one attribute. Default 8,192. */
  readonly maxAttributeLength?: number | undefined
  /** The most images, videos or alternates of one entry, each. Default 1,000. */
  readonly maxItemsPerEntry?: number | undefined
  /** The most redirects of one file. Default 10. */
  readonly maxRedirects?: number | undefined
  /** The most other hosts whose robots.txt is fetched as proof. Default 10. */
  readonly maxForeignHosts?: number | undefined
}

/**
 * The name of a limit.
 */
type LimitName = keyof SitemapLimits
export type Limits = { readonly [L in LimitName]: number }

const MIB = 1024 * 1024
const DEFAULTS: Limits = {
  maxEntries: Number.POSITIVE_INFINITY,
  maxEntriesPerFile: 1_000_000,
  maxFiles: 10_000,
  maxQueueBytes: 16 * MIB,
  maxDepth: 10,
  maxBytesIn: 100 * MIB,
  maxBytesOut: 256 * MIB,
  maxMs: Number.POSITIVE_INFINITY,
  maxFileMs: 300_000,
  maxTextLength: 65_536,
  maxAttributeLength: 8_192,
  maxItemsPerEntry: 1_000,
  maxRedirects: 10,
  maxForeignHosts: 10,
}
/** What to say about a limit that was written as an option. */
export const LIMITS_ELSEWHERE: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(DEFAULTS).map((name) => [name, `is an option of \`limits\`; write limits: { ${name}: … }`]),
)
const MAY_BE_ZERO = new Set<string>(['maxDepth', 'maxRedirects', 'maxForeignHosts'])
/** These bound memory, so they have an upper bound. */
const MAX_FILES = 1_000_000
const MAX_LENGTH = 16 * MIB
const MAX_QUEUE_BYTES = 1_024 * MIB

/** Fills in defaults. @throws {OptionError} for an invalid or unknown limit. */
export function limitsOf(given: SitemapLimits = {}): Limits {
  if (typeof given !== 'object' || given === null)
    throw new OptionError('limits', `${describeValue(given)} is not an object; expected one such as { maxFiles: 100 }`)
  assertKnown(given, Object.fromEntries(Object.keys(DEFAULTS).map((name) => [name, true])))
  const limits = { ...DEFAULTS }
  for (const name of Object.keys(DEFAULTS) as LimitName[]) {
    const value = given[name]
    if (value !== undefined) limits[name] = checked(name, value)
  }
  return limits
}

function checked(name: LimitName, value: number): number {
  const option = `limits.${name}`
  const min = MAY_BE_ZERO.has(name) ? 0 : 1
  if (name === 'maxMs' || name === 'maxFileMs')
    return value === Number.POSITIVE_INFINITY ? value : number(option, value, { min, max: MAX_TIMER_MS })
  if (name === 'maxFiles') return integer(option, value, { min, max: MAX_FILES })
  if (name === 'maxQueueBytes') return integer(option, value, { min, max: MAX_QUEUE_BYTES })
  if (name === 'maxTextLength' || name === 'maxAttributeLength') return integer(option, value, { min, max: MAX_LENGTH })
  return value === Number.POSITIVE_INFINITY ? value : integer(option, value, { min })
}
