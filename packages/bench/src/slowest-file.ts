// Finds the file with the worst ratio and counts files with a ratio over 1. Measures these files
// again, because noise may have caused the ratio.

/** The most files that are measured again. */
const MAX_REMEASURED_FILES = 60

export interface Slowest {
  readonly file: number
  /** Our time divided by the time of the other library. */
  readonly ratio: number
  /** The number of files on which we are slower. */
  readonly slower: number
}

/**
 * The worst of many ratios is usually due to noise. So this measures files again, worst first,
 * until the worst new ratio is worse than the next old one. It also measures each file with a ratio
 * over 1 again before it counts it.
 *
 * @param ratios One for each file; NaN for a file to ignore.
 */
export async function findSlowestFile(
  ratios: readonly number[],
  measureAgain: (file: number) => Promise<number>,
): Promise<Slowest> {
  const candidates = ratios.map((ratio, file) => ({ file, ratio })).filter(({ ratio }) => !Number.isNaN(ratio))
  candidates.sort((a, b) => b.ratio - a.ratio)
  let worst = { file: -1, ratio: 0 }
  let slower = 0
  for (const [i, { file, ratio }] of candidates.entries()) {
    if (ratio <= 1 && ratio <= worst.ratio) break
    const isRemeasured = i < MAX_REMEASURED_FILES
    const corrected = isRemeasured ? await measureAgain(file) : ratio
    if (corrected > 1) slower++
    if (isRemeasured && corrected > worst.ratio) worst = { file, ratio: corrected }
  }
  return { ...worst, slower }
}
