// Does a rule's path match? RFC 9309 §2.2.2 and §2.2.3: `*` is any run of octets, a final `$` is the end, all else is
// itself, and the end of the path may be reached before the end of the URL.
//
// The rule's path is bytes from `start` to `end`, in the form for comparing.
import { type AskedPath, LONG } from '../url/asked-path.ts'

const DOLLAR = 36
const STAR = 42

/** Does the path begin so? */
export function beginsWith(path: AskedPath, rule: Uint8Array, start: number, end: number): boolean {
  return end - start <= path.length && standsAt(path.bytes, path.start, rule, start, end)
}

/**
 * Does it match, where `*` is any run of octets and a final `$` is the end? What stands before the first `*` has its place, and so has
 * what stands behind the last one, if the rule is for the end. Each piece between them is taken at the first place where it
 * fits, which leaves the most room for those after it; so there is nothing to go back to, and no more than `pattern × path` octets
 * are ever compared. Patterns come from the site: no RegExp.
 */
export function matchesSpecial(path: AskedPath, rule: Uint8Array, start: number, end: number): boolean {
  const { bytes } = path
  const isAnchored = rule[end - 1] === DOLLAR
  let patternEnd = isAnchored ? end - 1 : end
  let star = start
  while (star < patternEnd && rule[star] !== STAR) star++
  if (!beginsWith(path, rule, start, star)) return false
  let from = path.start + star - start
  if (star === patternEnd) return !isAnchored || from === path.end
  let to = path.end
  if (isAnchored) {
    let last = patternEnd
    while (rule[last - 1] !== STAR) last--
    to -= patternEnd - last
    if (to < from || !standsAt(bytes, to, rule, last, patternEnd)) return false
    patternEnd = last - 1
  }
  for (let piece = star + 1; piece < patternEnd; piece++) {
    let pieceEnd = piece
    while (pieceEnd < patternEnd && rule[pieceEnd] !== STAR) pieceEnd++
    if (pieceEnd > piece) {
      from = placeBehind(path, rule, piece, pieceEnd, from, to)
      if (from === -1) return false
    }
    piece = pieceEnd
  }
  return true
}

/** Where the path goes on behind the first place of a piece, or -1. */
function placeBehind(path: AskedPath, rule: Uint8Array, start: number, end: number, from: number, to: number): number {
  const { bytes } = path
  const first = rule[start] as number
  const octets = end - start
  if (!path.mayHave(first)) return -1
  if (path.length >= LONG && octets > 1 && !path.mayHaveAll(rule, start, end)) return -1
  const last = to - octets
  for (let at = from; at <= last; at++) {
    if (bytes[at] === first && standsAt(bytes, at, rule, start, end)) return at + octets
  }
  return -1
}

function standsAt(bytes: Uint8Array, at: number, rule: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[at + i - start] !== rule[i]) return false
  return true
}
