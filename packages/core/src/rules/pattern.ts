// Does a rule's path match? RFC 9309 §2.2.2 and §2.2.3: `*` is any run of octets, a final `$` is the end, all else is
// itself, and the end of the path may be reached before the end of the URL.
//
// The rule's path is bytes from `start` to `end`, in the form for comparing.
import { type AskedPath, LONG } from '../url/asked-path.ts'

const DOLLAR = 36
const STAR = 42
const SLASH = 47

/** Does the path begin so? */
export function beginsWith(path: AskedPath, rule: Uint8Array, start: number, end: number): boolean {
  const behind = path.start + end - start
  if (behind > path.end) return false
  // What nearly matches differs at the end.
  if (end > start && path.bytes[behind - 1] !== rule[end - 1]) return false
  return standsAt(path.bytes, path.start, rule, start, end - 1)
}

/**
 * Does it match, where `*` is any run of octets and a final `$` is the end? What stands before the first `*` has its place, and so has
 * what stands behind the last one, if the rule is for the end. Each piece between them is taken at the first place where it
 * fits, which leaves the most room for those after it; so there is nothing to go back to, and no more than `pattern × path` octets
 * are ever compared. Patterns come from the site: no RegExp.
 */
export function matchesSpecial(path: AskedPath, rule: Uint8Array, start: number, end: number): boolean {
  const isAnchored = rule[end - 1] === DOLLAR
  let patternEnd = isAnchored ? end - 1 : end
  const star = endOfPiece(rule, start, patternEnd)
  if (!beginsWith(path, rule, start, star)) return false
  let from = path.start + star - start
  if (star === patternEnd) return !isAnchored || from === path.end
  let to = path.end
  if (isAnchored) {
    let last = patternEnd
    while (rule[last - 1] !== STAR) last--
    to -= patternEnd - last
    if (to < from || !standsAt(path.bytes, to, rule, last, patternEnd)) return false
    patternEnd = last - 1
  }
  for (let piece = star + 1; piece < patternEnd; piece++) {
    const pieceEnd = endOfPiece(rule, piece, patternEnd)
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
  const octets = end - start
  // Slashes are everywhere, so what stands behind one is searched for.
  const skipped = octets > 1 && rule[start] === SLASH ? 1 : 0
  const octet = rule[start + skipped] as number
  if (!path.mayHave(octet)) return -1
  if (path.length >= LONG && octets > 1 && !path.mayHaveAll(rule, start, end)) return -1
  const last = to - octets + skipped
  for (let at = path.indexOf(octet, from + skipped, last); at !== -1; at = path.indexOf(octet, at + 1, last)) {
    if (standsAt(path.bytes, at - skipped, rule, start, end)) return at - skipped + octets
    const occurrences = path.searchedInVain(octets)
    if (occurrences === undefined) continue
    const behind = occurrences.behindNext(rule, start, end, from - path.start)
    return behind === -1 || path.start + behind > to ? -1 : path.start + behind
  }
  return -1
}

function endOfPiece(rule: Uint8Array, start: number, end: number): number {
  let i = start
  while (i < end && rule[i] !== STAR) i++
  return i
}

function standsAt(bytes: Uint8Array, at: number, rule: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[at + i - start] !== rule[i]) return false
  return true
}
