// Measures contestants in rounds. In each round every contestant measures all files once, and each
// round starts with another one. So other work on the machine, and the state that one contestant
// leaves to the next, affect all of them equally.
import { median } from './median.ts'

export interface Contestant {
  /**
   * Returns nanoseconds for one file or per check; undefined for a file that the contestant cannot
   * process.
   */
  measure(file: number): number | undefined | Promise<number | undefined>
}

/**
 * Returns the median of the rounds for each contestant and each file; undefined if it cannot
 * process the file.
 */
export async function measureInRounds(
  contestants: readonly Contestant[],
  files: number,
  rounds: number,
): Promise<readonly (readonly (number | undefined)[])[]> {
  const samples = contestants.map(() => Array.from({ length: files }, () => [] as number[]))
  // The first round is not counted. It warms up the code, and contestants determine how often to
  // repeat short work.
  for (let round = 0; round <= rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      const index = (turn + round) % contestants.length
      collectGarbage() // before each contestant, so that it does not pay for another's garbage
      for (let file = 0; file < files; file++) {
        const measured = (contestants[index] as Contestant).measure(file)
        const ns = measured instanceof Promise ? await measured : measured
        if (ns !== undefined && round > 0) samples[index]?.[file]?.push(ns)
      }
    }
  }
  return samples.map((of) => of.map((ns) => (ns.length === 0 ? undefined : median(ns))))
}

/**
 * Returns the ratio of two contestants' times on one file. Each measures `turns` times,
 * alternately.
 */
export async function measurePairwise(a: Contestant, b: Contestant, file: number, turns: number): Promise<number> {
  const ns: [number[], number[]] = [[], []]
  for (let turn = 0; turn < 2 * turns; turn++) {
    const index = (turn + Math.floor(turn / 2)) % 2 === 0 ? 0 : 1 // a b b a a b b a
    const measured = (index === 0 ? a : b).measure(file)
    ns[index].push((measured instanceof Promise ? await measured : measured) ?? Number.NaN)
  }
  return median(ns[0]) / median(ns[1])
}

/** Does nothing if Node runs without --expose-gc. */
export function collectGarbage(): void {
  globalThis.gc?.()
}

/** Returns the time of a monotonic clock in nanoseconds. */
export function nowNs(): number {
  return performance.now() * 1e6
}
