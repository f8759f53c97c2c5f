// Contestants run side by side: in every round each takes its turn over all files, and every round begins with another one,
// so that what the machine does meanwhile, and what one leaves to the next, falls on all of them.
import { median } from './median.ts'

export interface Contestant {
  /** Nanoseconds for one file, or per question put to it; undefined for a file that it cannot take. */
  measure(file: number): number | undefined | Promise<number | undefined>
}

/** For each contestant and each file the median of its rounds; undefined where it could not take the file. */
export async function inRounds(
  contestants: readonly Contestant[],
  files: number,
  rounds: number,
): Promise<readonly (readonly (number | undefined)[])[]> {
  const seen = contestants.map(() => Array.from({ length: files }, () => [] as number[]))
  // The first is not counted: in it the code gets warm, and each finds out how often it must repeat what is over too soon.
  for (let round = 0; round <= rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      const who = (turn + round) % contestants.length
      collectGarbage() // each clears up after itself
      for (let file = 0; file < files; file++) {
        const given = (contestants[who] as Contestant).measure(file)
        const ns = given instanceof Promise ? await given : given
        if (ns !== undefined && round > 0) seen[who]?.[file]?.push(ns)
      }
    }
  }
  return seen.map((of) => of.map((ns) => (ns.length === 0 ? undefined : median(ns))))
}

/** The ratio of two contestants on one file, by so many turns of each, one after the other. */
export async function duel(a: Contestant, b: Contestant, file: number, turns: number): Promise<number> {
  const ns: [number[], number[]] = [[], []]
  for (let turn = 0; turn < 2 * turns; turn++) {
    const who = (turn + Math.floor(turn / 2)) % 2 === 0 ? 0 : 1 // a b b a a b b a
    const given = (who === 0 ? a : b).measure(file)
    ns[who].push((given instanceof Promise ? await given : given) ?? Number.NaN)
  }
  return median(ns[0]) / median(ns[1])
}

/** Where Node runs without --expose-gc, garbage is collected when it likes. */
export function collectGarbage(): void {
  globalThis.gc?.()
}

/** Nanoseconds of a clock that only goes forward. */
export function nowNs(): number {
  return performance.now() * 1e6
}
