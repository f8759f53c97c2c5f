// The size of a test run. `npm test` is the short run; `npm run test:all` sets POLITELY_TEST_ALL=1
// for the full run.

/** Whether this is the full run. */
export const isFullRun: boolean = process.env.POLITELY_TEST_ALL === '1'

/**
 * Returns how many of the generated cases to run: all of them in the full run, a tenth in the short
 * one.
 */
export function sampled(cases: number): number {
  return isFullRun ? cases : Math.ceil(cases / 10)
}

/**
 * Returns the cases to run, of several that differ in one value: all of them in the full run, the
 * first in the short one.
 */
export function firstInShortRun<T>(cases: readonly T[]): readonly T[] {
  return isFullRun ? cases : cases.slice(0, 1)
}
