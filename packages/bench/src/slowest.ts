// Finds the file with the worst ratio, and counts the files with a ratio over 1. Noise must not decide, so these files are measured again.

/** No more suspects than so many are measured again. */
const MOST_DUELS = 60

export interface Slowest {
  readonly file: number
  /** Our time, in times of theirs. */
  readonly ratio: number
  /** On how many files we are slower. */
  readonly slower: number
}

/**
 * The worst of many ratios is the one that noise did most for. So the worst are measured again, until the worst of those that
 * were is worse than the first that was not; and each that is slower, before it is counted.
 *
 * @param ratios For each file; NaN for one that does not count.
 */
export async function slowestOf(
  ratios: readonly number[],
  measureAgain: (file: number) => Promise<number>,
): Promise<Slowest> {
  const suspects = ratios.map((ratio, file) => ({ file, ratio })).filter(({ ratio }) => !Number.isNaN(ratio))
  suspects.sort((a, b) => b.ratio - a.ratio)
  let worst = { file: -1, ratio: 0 }
  let slower = 0
  for (const [i, { file, ratio }] of suspects.entries()) {
    if (ratio <= 1 && ratio <= worst.ratio) break
    const isHeard = i < MOST_DUELS
    const fair = isHeard ? await measureAgain(file) : ratio
    if (fair > 1) slower++
    if (isHeard && fair > worst.ratio) worst = { file, ratio: fair }
  }
  return { ...worst, slower }
}
