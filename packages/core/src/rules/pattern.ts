// Does a rule's path match? RFC 9309 §2.2.2 and §2.2.3: `*` is any run of octets, a final `$` is the end, all else is
// itself, and the end of the path may be reached before the end of the URL.

/** A rule's path, cut at its wildcards. */
export interface Pattern {
  /** The literal pieces between the `*`s. The first one stands at the start of the path. */
  readonly pieces: readonly [string, ...string[]]
  /** Whether the last piece must stand at the very end (`$`). */
  readonly end: 'anywhere' | 'anchored'
}

/** @param wildcards Whether `*` and a final `$` are special, or octets like any other. */
export function patternOf(path: string, wildcards: 'special' | 'literal'): Pattern {
  if (wildcards === 'literal') return { pieces: [path], end: 'anywhere' }
  const anchored = path.endsWith('$')
  const [first = '', ...others] = (anchored ? path.slice(0, -1) : path).split('*')
  return { pieces: [first, ...others], end: anchored ? 'anchored' : 'anywhere' }
}

/**
 * Each piece is taken at the first place where it fits, which leaves the most room for those after it; so there is nothing
 * to go back to, and no more than `pattern × path` octets are ever compared. Patterns come from the site: no RegExp.
 */
export function matches(path: string, { pieces, end }: Pattern): boolean {
  const [first] = pieces
  if (!path.startsWith(first)) return false
  const last = pieces.length - 1
  if (last === 0) return end === 'anywhere' || path.length === first.length
  let from = first.length
  for (let i = 1; i < last; i++) {
    const piece = pieces[i] as string
    const at = path.indexOf(piece, from)
    if (at === -1) return false
    from = at + piece.length
  }
  const tail = pieces[last] as string
  if (end === 'anywhere') return path.indexOf(tail, from) !== -1
  return path.length - tail.length >= from && path.endsWith(tail)
}
