// How crawlers read one line: for editors that highlight robots.txt.
import { decodeText, encodeText, rangeOf } from '../bytes.ts'
import type { Directive } from '../parse/directive.ts'
import { LineReader } from '../parse/line-reader.ts'

/** The parts of a line. Offsets are in UTF-16 code units; each end is exclusive. */
export interface FieldOfLine {
  /** `unknown` for a key that is not known; undefined for a line without a field. */
  readonly directive: Directive | 'unknown' | undefined
  /** Where the key begins, or the text of a line without a field. */
  readonly start: number
  readonly keyEnd: number
  readonly valueStart: number
  /** The end of the value, or of the text of a line without a field. A comment may follow. */
  readonly end: number
}

/** Reads one line, without its line end, as lenient as crawlers do. */
export function fieldOfLine(line: string): FieldOfLine {
  const reader = new LineReader().open(rangeOf(encodeText(line)), 'lenient')
  reader.nextLine()
  const directive = reader.readKey(true)
  reader.findLineEnd()
  if (directive !== undefined) reader.readValue()
  const { bytes, contentStart, keyEnd, valueStart, contentEnd } = reader
  const from = line.startsWith('\ufeff') ? 3 : 0 // the reader skips a byte order mark, and the decoder drops it
  const offset = (at: number) => (from > 0 ? 1 : 0) + decodeText(bytes.subarray(from, Math.max(from, at))).length
  const [start, end] = [offset(contentStart), offset(contentEnd)]
  if (directive === undefined) return { directive, start, keyEnd: start, valueStart: start, end }
  return { directive, start, keyEnd: offset(keyEnd), valueStart: offset(valueStart), end }
}
