// Shows how a pattern matches a path: what each literal piece and each `*` took. For people; the
// matcher itself (pattern.ts) finds the same pieces, but keeps no record.
import type { ParsingRules } from '../dialect.ts'

/** What one part of a pattern matched. Offsets are in the path; the end is exclusive. */
export interface TraceStep {
  /** `*`, `$`, or a literal piece of the pattern. */
  readonly part: string
  readonly start: number
  readonly end: number
}

/** How a pattern matches a path, or which part of it failed. */
export interface PatternTrace {
  readonly matches: boolean
  /**
   * The parts that matched, in order. If the pattern fails, the part after these failed.
   */
  readonly steps: readonly TraceStep[]
}

/**
 * Traces a pattern over a path. Both are in normal form, as `Match.form` and `Explanation.target`
 * are. `*` takes as little as possible, as in the matcher. Before a final `$`, the last `*` takes
 * all that is left before the last piece. RFC 9309 §2.2.2, §2.2.3.
 *
 * @param wildcards Of the dialect. Default `special`.
 */
export function tracePattern(
  form: string,
  target: string,
  wildcards: ParsingRules['wildcards'] = 'special',
): PatternTrace {
  if (wildcards === 'literal') {
    const matches = target.startsWith(form)
    return { matches, steps: matches ? [{ part: form, start: 0, end: form.length }] : [] }
  }
  const isAnchored = form.endsWith('$')
  const pieces = (isAnchored ? form.slice(0, -1) : form).split('*')
  const steps: TraceStep[] = []
  let at = 0
  for (const [i, piece] of pieces.entries()) {
    const isLast = i === pieces.length - 1
    let found = i === 0 ? 0 : target.indexOf(piece, at)
    if (isLast && isAnchored && i > 0) found = Math.max(at, target.length - piece.length)
    const fits = found >= at && target.startsWith(piece, found)
    if (!fits) return { matches: false, steps }
    if (i > 0) steps.push({ part: '*', start: at, end: found })
    if (piece !== '') steps.push({ part: piece, start: found, end: found + piece.length })
    at = found + piece.length
  }
  if (!isAnchored) return { matches: true, steps }
  if (at !== target.length) return { matches: false, steps }
  return { matches: true, steps: [...steps, { part: '$', start: at, end: at }] }
}
