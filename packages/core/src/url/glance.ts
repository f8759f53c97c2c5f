// What can be told of a URL as it stands. Most rules are literal and short, and for those nobody has to lay out the whole URL: an octet that is
// sent as it is, and stands so in the form for comparing, can be compared where it stands. Only a dot segment, further on, could take it away.
import { isSteady } from './plain-url.ts'

/** Of four octets of which one may be another in the form for comparing. */
export const UNSTEADY = -1

/** Can there be a segment `.` or `..` in it, in one of its spellings? */
export function mayHaveDotSegment(url: string, from: number): boolean {
  for (let dot = url.indexOf('.', from); dot !== -1; dot = url.indexOf('.', dot + 1)) {
    if (separates(url.charCodeAt(dot - 1))) return true
  }
  for (let percent = url.indexOf('%', from); percent !== -1; percent = url.indexOf('%', percent + 1)) {
    if (percent + 2 < url.length && mayBeDot(url.charCodeAt(percent + 1), url.charCodeAt(percent + 2))) return true
  }
  return false
}

/** A client takes `\` for a slash, and takes out tabs and line ends. */
function separates(c: number): boolean {
  return c === SLASH || c === BACKSLASH || c < SPACE
}

function mayBeDot(high: number, low: number): boolean {
  return high < SPACE || (high === TWO && (low < SPACE || low === UPPER_E || low === LOWER_E))
}

/** Four octets as one number, or those that there are; or `UNSTEADY`. */
export function fourFrom(url: string, at: number): number {
  if (at + 3 < url.length) {
    const a = url.charCodeAt(at)
    const b = url.charCodeAt(at + 1)
    const c = url.charCodeAt(at + 2)
    const d = url.charCodeAt(at + 3)
    if (!isSteady(a) || !isSteady(b) || !isSteady(c) || !isSteady(d)) return UNSTEADY
    return a | (b << 8) | (c << 16) | (d << 24)
  }
  let four = 0
  for (let i = at; i < url.length; i++) {
    const c = url.charCodeAt(i)
    if (!isSteady(c)) return UNSTEADY
    four |= c << (8 * (i - at))
  }
  return four
}

const SPACE = 32
const SLASH = 47
const TWO = 50
const UPPER_E = 69
const BACKSLASH = 92
const LOWER_E = 101
