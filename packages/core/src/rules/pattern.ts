// Does a rule's path match? RFC 9309 §2.2.2 and §2.2.3: `*` is any run of octets, a final `$` is the end, all else is
// itself, and the end of the path may be reached before the end of the URL.
//
// The rule's path is bytes from `start` to `end`, in the form for comparing.
import { type AskedPath, LONG } from '../url/asked-path.ts'

const DOLLAR = 36
const STAR = 42

/** Does the path begin so? */
export function beginsWith(path: AskedPath, rule: Uint8Array, start: number, end: number): boolean {
  const { bytes, start: from } = path
  const last = end - start - 1
  // Rules that do not match differ most often at their ends.
  if (last >= path.end - from || rule[end - 1] !== bytes[from + last]) return last === -1
  for (let i = 0; i < last; i++) if (rule[start + i] !== bytes[from + i]) return false
  return true
}

/**
 * Does it match, where `*` is any run of octets and a final `$` is the end? Each piece between them is taken at the first place where it
 * fits, which leaves the most room for those after it; so there is nothing to go back to, and no more than `pattern × path` octets
 * are ever compared. Patterns come from the site: no RegExp.
 */
export function matchesSpecial(path: AskedPath, rule: Uint8Array, start: number, end: number): boolean {
  const isAnchored = rule[end - 1] === DOLLAR
  const patternEnd = isAnchored ? end - 1 : end
  let from = path.start
  for (let piece = start; ; ) {
    if (piece > start && piece < patternEnd && rule[piece] !== STAR && !path.has(rule[piece] as number)) return false
    let pieceEnd = piece
    while (pieceEnd < patternEnd && rule[pieceEnd] !== STAR) pieceEnd++
    const isLast = pieceEnd === patternEnd
    const octets = pieceEnd - piece
    if (piece === start) {
      if (!beginsWith(path, rule, piece, pieceEnd)) return false
      if (isLast) return octets === path.length
      from += octets
    } else if (isLast && isAnchored) {
      return path.end - octets >= from && standsAt(path, path.end - octets, rule, piece, pieceEnd)
    } else {
      const at = placeOf(path, rule, piece, pieceEnd, from)
      if (at === -1 || isLast) return at !== -1
      from = at + octets
    }
    piece = pieceEnd + 1
  }
}

/** The first place of a piece in the path, or -1. */
function placeOf(path: AskedPath, rule: Uint8Array, start: number, end: number, from: number): number {
  if (start === end) return from
  if (path.length >= LONG && end - start > 1 && !path.mayHave(rule, start, end)) return -1
  const { bytes } = path
  const first = rule[start] as number
  const lastPlace = path.end - (end - start)
  for (let at = from; at <= lastPlace; at++) if (bytes[at] === first && standsAt(path, at, rule, start, end)) return at
  return -1
}

function standsAt(path: AskedPath, at: number, rule: Uint8Array, start: number, end: number): boolean {
  const { bytes } = path
  for (let i = start; i < end; i++) if (bytes[at + i - start] !== rule[i]) return false
  return true
}
