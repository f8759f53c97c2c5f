// Does a rule match a path? RFC 9309 §2.2.2 and §2.2.3: `*` is any run of bytes, a final `$` is the end of the path, every other byte is itself,
// and the rule may end before the path does.
//
// The rule is the bytes from `start` to `end`, in the form for comparing.
import { DOLLAR, STAR } from '../ascii.ts'
import type { RequestPath } from '../url/request-path.ts'

/** Does the path begin with the rule? */
export function matchesPrefix(path: RequestPath, rule: Uint8Array, start: number, end: number): boolean {
  return path.start + end - start <= path.end && isAt(path.bytes, path.start, rule, start, end)
}

/**
 * Does a rule with `*` or a final `$` match? The piece before the first `*` can only be at the beginning of the path, and the piece before a
 * final `$` only at its end. Each piece between them is taken at the first offset where it fits, which leaves the most room for those behind
 * it. So it never backtracks, and at most `pattern × path` bytes are compared. Sites write the patterns: no RegExp.
 */
export function matchesWildcards(path: RequestPath, rule: Uint8Array, start: number, end: number): boolean {
  const isAnchored = rule[end - 1] === DOLLAR
  let patternEnd = isAnchored ? end - 1 : end
  const star = endOfPiece(rule, start, patternEnd)
  if (!matchesPrefix(path, rule, start, star)) return false
  let from = path.start + star - start
  if (star === patternEnd) return !isAnchored || from === path.end
  let to = path.end
  if (isAnchored) {
    let last = patternEnd
    while (rule[last - 1] !== STAR) last--
    to -= patternEnd - last
    if (to < from || !isAt(path.bytes, to, rule, last, patternEnd)) return false
    patternEnd = last - 1
  }
  for (let piece = star + 1; piece < patternEnd; piece++) {
    const pieceEnd = endOfPiece(rule, piece, patternEnd)
    if (pieceEnd > piece) {
      from = path.findPiece(rule, piece, pieceEnd, from, to)
      if (from === -1) return false
    }
    piece = pieceEnd
  }
  return true
}

function endOfPiece(rule: Uint8Array, start: number, end: number): number {
  let i = start
  while (i < end && rule[i] !== STAR) i++
  return i
}

function isAt(bytes: Uint8Array, at: number, rule: Uint8Array, start: number, end: number): boolean {
  // Of rules that nearly match, most differ at the end.
  if (end > start && bytes[at + end - 1 - start] !== rule[end - 1]) return false
  for (let i = start; i < end; i++) if (bytes[at + i - start] !== rule[i]) return false
  return true
}
