// Checks the argument of functions that take a robots.txt file.
import type { HasBytes } from '../bytes.ts'
import { describeOther, describeValue, withoutCredentials } from '../describe-value.ts'
import { OptionError } from '../errors.ts'

/** The URL of a robots.txt, or of a site, and nothing else. */
const URL_OF_FILE = /^(?:https?|ftp|file):\/\/[^\s/?#]*(?:\/(?:\S*robots\.txt[^\s/]*)?)?$/i
/** The name of a text file, and nothing else. `Disallow:/a.txt` is a rule. */
const FILE_NAME = /^(?:[a-z]:)?[^\s:#]*\.txt$/i
/** Longer texts are files, even if they are one line. */
const MAX_NAME_LENGTH = 1_000

/** What a text is that is not a file. */
type OtherText = 'a URL' | 'the name of a file'

const REMEDIES: Readonly<Record<OtherText, string>> = {
  'a URL': 'write new RobotsClient({ userAgent }).check(url) of @politely/fetcher, or pass the text of the response',
  'the name of a file': 'pass what the file contains: readFileSync(name)',
}

/**
 * Checks that a value is a file. Without this check, an ArrayBuffer, a promise, or the URL of a
 * file would be parsed as an empty file, which allows everything. Bytes are never taken for a URL.
 *
 * @throws {OptionError} for a value of another type, and for a URL or the name of a file.
 */
export function assertSource(source: unknown): asserts source is Uint8Array | string | HasBytes {
  assertTextOrBytes(source)
  const other = typeof source === 'string' ? otherText(source) : undefined
  if (other === undefined) return
  const text = describeValue(withoutCredentials(source as string))
  throw new OptionError('source', `${text} is ${other}, not the text of a robots.txt; ${REMEDIES[other]}`)
}

/** @throws {OptionError} for a value of another type. */
export function assertTextOrBytes(source: unknown): asserts source is Uint8Array | string | HasBytes {
  if (typeof source === 'string' || source instanceof Uint8Array) return
  if (typeof (source as HasBytes | undefined | null)?.bytes === 'string') return
  const problem = source === undefined ? 'is missing' : `${describeOther(source)} is not a robots.txt file`
  throw new OptionError(
    'source',
    `${problem}; expected its text, such as "User-agent: *", or its bytes: a Uint8Array, or { bytes } with one character for each byte`,
  )
}

/** Returns what a text is that is certainly not a file. */
export function otherText(text: string): OtherText | undefined {
  if (text.length > MAX_NAME_LENGTH) return undefined
  return URL_OF_FILE.test(text) ? 'a URL' : FILE_NAME.test(text) ? 'the name of a file' : undefined
}
