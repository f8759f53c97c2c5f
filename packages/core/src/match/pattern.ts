// The two basic matchers: whether one pattern matches a path. RFC 9309 §2.2.2 and §2.2.3: `*`
// matches any run of bytes, a final `$` matches the end of the path, and every other byte matches
// itself. A pattern without `$` matches every path that begins with a match.
//
// The pattern is the bytes of `pattern` from `start` to `end`, in normal form. `*` splits it into
// pieces.
import { DOLLAR, STAR } from '../ascii.ts'
import type { RequestPath } from '../url/request-path.ts'

/** What the matchers need of a path. */
export type Searchable = Pick<RequestPath, 'bytes' | 'start' | 'end' | 'findPieceEnd'>

/** Returns whether the path begins with a pattern without special characters. */
export function matchesPrefix(path: Searchable, pattern: Uint8Array, start: number, end: number): boolean {
  return path.start + end - start <= path.end && isAt(path.bytes, path.start, pattern, start, end)
}

/**
 * Returns whether a pattern with `*` or a final `$` matches the path.
 *
 * The piece before the first `*` must be at the start of the path. The piece before a final `$`
 * must be at its end. Each piece between them is matched at its first occurrence after the piece
 * before it, which leaves the most bytes for the pieces after it. So the function never backtracks,
 * and compares at most `pattern × path` bytes. It uses no RegExp, because sites write the patterns.
 */
export function matchesWildcards(path: Searchable, pattern: Uint8Array, start: number, end: number): boolean {
  const isAnchored = pattern[end - 1] === DOLLAR
  let patternEnd = isAnchored ? end - 1 : end
  const firstStar = endOfPiece(pattern, start, patternEnd)
  if (!matchesPrefix(path, pattern, start, firstStar)) return false
  // All pieces that are not matched yet must be between `from` and `to` in the path.
  let from = path.start + firstStar - start
  if (firstStar === patternEnd) return !isAnchored || from === path.end
  let to = path.end
  if (isAnchored) {
    let lastPiece = patternEnd
    while (pattern[lastPiece - 1] !== STAR) lastPiece--
    to -= patternEnd - lastPiece
    if (to < from || !isAt(path.bytes, to, pattern, lastPiece, patternEnd)) return false
    patternEnd = lastPiece - 1
  }
  for (let piece = firstStar + 1; piece < patternEnd; piece++) {
    const pieceEnd = endOfPiece(pattern, piece, patternEnd)
    if (pieceEnd > piece) {
      from = path.findPieceEnd(pattern, piece, pieceEnd, from, to)
      if (from === -1) return false
    }
    piece = pieceEnd
  }
  return true
}

/** Returns the offset of the next `*`, or `end`. */
function endOfPiece(pattern: Uint8Array, start: number, end: number): number {
  let i = start
  while (i < end && pattern[i] !== STAR) i++
  return i
}

function isAt(bytes: Uint8Array, at: number, pattern: Uint8Array, start: number, end: number): boolean {
  // Patterns that nearly match mostly differ in the last byte.
  if (end > start && bytes[at + end - 1 - start] !== pattern[end - 1]) return false
  for (let i = start; i < end; i++) if (bytes[at + i - start] !== pattern[i]) return false
  return true
}
