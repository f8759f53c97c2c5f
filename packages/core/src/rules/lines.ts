// Octets -> lines. What ends a line, what is dropped, and how long a line may be.

/** A line's place in the file: `octets.slice(start, end)` is its content, `number` counts from 1. */
export type VisitLine = (start: number, end: number, number: number) => void

/**
 * A line keeps this many octets; the rest of it is dropped. google/robotstxt: eight URLs of 2,083 octets, less the NUL that
 * ends its buffer. RFC 9309 §2.5 asks for a limit and leaves it open.
 */
const MAX_LINE_OCTETS = 8 * 2083 - 1

/** UTF-8's byte order mark. */
const BOM = '\u00ef\u00bb\u00bf'

/**
 * Visits each line. LF, CR and CR LF end one (RFC 9309 §2.2) and nothing else does: no form feed, no U+2028. The last line
 * needs no end, so a file that ends in a line end has one more, empty line.
 */
export function visitLines(octets: string, visit: VisitLine): void {
  let number = 0
  let start = bomLength(octets)
  while (true) {
    let end = start
    while (end < octets.length && !endsLine(octets.charCodeAt(end))) end++
    visit(start, contentEnd(octets, start, end), ++number)
    if (end === octets.length) return
    const isCrLf = octets.charCodeAt(end) === CR && octets.charCodeAt(end + 1) === LF
    start = end + (isCrLf ? 2 : 1)
  }
}

const LF = 10
const CR = 13

function endsLine(octet: number): boolean {
  return octet === LF || octet === CR
}

/** A mark is dropped, and so is the start of one that was cut short (google/robotstxt; the RFC is silent). */
function bomLength(octets: string): number {
  let length = 0
  while (length < BOM.length && octets.charCodeAt(length) === BOM.charCodeAt(length)) length++
  return length
}

/** Where the content ends: at the limit, and before a NUL, which ends a C string and so the reference's line. */
function contentEnd(octets: string, start: number, end: number): number {
  const limit = Math.min(end, start + MAX_LINE_OCTETS)
  for (let i = start; i < limit; i++) if (octets.charCodeAt(i) === 0) return i
  return limit
}
