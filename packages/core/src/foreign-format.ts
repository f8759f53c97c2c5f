// Recognises a body that is not a robots.txt by its first bytes: an error page, a login page, a
// single-page application, a file in another encoding. A robots.txt has no signature of its own, so
// only formats that it cannot have are recognised.
import { knownKeyOf } from './parse/directive.ts'

/**
 * What a response looks like that is not a robots.txt.
 *
 * - `challenge`: its headers say that it is a challenge for browsers (`cf-mitigated`,
 *   `x-amzn-waf-action`). All others describe the body.
 * - `html`, `xml`, `json`: a document in this format.
 * - `utf-16`: text in UTF-16, whose rules no crawler can read. RFC 9309 §2.3 asks for UTF-8.
 * - `gzip`: compressed, and no Content-Encoding header says so.
 * - `binary`: any other bytes that are not text.
 * - `text`: plain text without a line that a robots.txt could have, such as `Access denied`.
 */
export type LooksLike = 'challenge' | 'html' | 'xml' | 'json' | 'utf-16' | 'gzip' | 'binary' | 'text'

/** The format of a body that is not a robots.txt. */
export type ForeignFormat = Exclude<LooksLike, 'challenge'>

/** How other formats begin, after blanks and a byte order mark. */
const SIGNATURES: readonly (readonly [RegExp, ForeignFormat])[] = [
  [
    /^(?:<\?xml[^>]{0,200}>\s*)?(?:<!--[^>]{0,500}-->\s*)?<(?:!doctype\s+html|html|head|body|title|meta|script)\b/i,
    'html',
  ],
  [/^<(?:\?xml|urlset|sitemapindex|rss|error)\b/i, 'xml'],
  [/^[[{]\s{0,200}["{}[\]]/, 'json'],
]

/** A comment or a field. */
const LINE = /^[^\S\n]*(?:#|[\w-]+[^\S\n]*:)/m

/** Whether a line begins with a known key of one or two words, with or without a colon. */
function beginsWithKey(line: string): boolean {
  const [both = '', first = ''] = /^\s*([\w-]+)(?:[\t ]+[\w-]+)?/.exec(line.slice(0, 40)) ?? []
  return [first, both.trim()].some((key) => knownKeyOf(key)?.name.length === key.length)
}

/** The number of bytes that are searched. */
const SNIFFED_BYTES = 2000

/**
 * Returns the format of a body that is not a robots.txt; undefined for everything that may be one,
 * also for an empty body.
 * @param bytes The body, one character for each byte (latin1).
 */
export function foreignFormatOf(bytes: string): ForeignFormat | undefined {
  const start = bytes.slice(0, SNIFFED_BYTES)
  if (/^(?:\xff\xfe|\xfe\xff|[^\0]\0[^\0]\0|\0[^\0]\0[^\0])/.test(start)) return 'utf-16'
  if (start.startsWith('\x1f\x8b')) return 'gzip'
  const text = start.replace(/^(?:\xef\xbb\xbf)*\s*/, '')
  const signature = SIGNATURES.find(([pattern]) => pattern.test(text))
  if (signature !== undefined) return signature[1]
  if (text === '' || LINE.test(text) || text.split(/\r\n|\r|\n/).some(beginsWithKey)) return undefined
  return isText(text) ? 'text' : 'binary'
}

/**
 * Returns whether bytes may be text: none of them is a control character that no text has.
 * @param bytes One character for each byte (latin1).
 */
export function isText(bytes: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these bytes are not in any text
  return !/[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(bytes)
}
