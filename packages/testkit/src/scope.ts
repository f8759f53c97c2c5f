// The size of a test run. `npm test` is the short run, which leaves out the tests with the tag `full`.
// `npm run test:all` sets POLITELY_TEST_ALL=1 for the full run, and `npm run test:all -- --deep` sets it
// to `deep`, for the run before a release.

const isDeepRun = process.env.POLITELY_TEST_ALL === 'deep'

/** Whether this is the full run, or the deep one. */
export const isFullRun: boolean = process.env.POLITELY_TEST_ALL === '1' || isDeepRun

/**
 * Whether the processes that tests start use the builds, which are what users get, instead of the
 * sources.
 */
export const usesBuilds: boolean = isFullRun || process.env.POLITELY_TEST_BUILDS === '1'

/** Node 22 cannot start sources with `await using`, which a build compiles for it. */
export const startsProcesses: boolean = usesBuilds || Number.parseInt(process.versions.node, 10) >= 24

/**
 * Returns how many of the generated cases to run: all of them in the deep run, a third in the full
 * one, a thirtieth in the short one.
 */
export function sampled(cases: number): number {
  return Math.ceil(cases / (isDeepRun ? 1 : isFullRun ? 3 : 30))
}

/**
 * Returns how many cases of a long fuzz test to run: all of them in the deep run, a sixteenth in the
 * full one.
 * @param short The number for the short run.
 */
export function deepSampled(cases: number, short: number): number {
  if (!isFullRun) return short
  return isDeepRun ? cases : Math.ceil(cases / 16)
}

/** Returns the cases to run: in the short run without those whose names match. */
export function withoutSlow<T extends { readonly name: string }>(cases: readonly T[], slow: RegExp): readonly T[] {
  return isFullRun ? cases : cases.filter(({ name }) => !slow.test(name))
}

/**
 * Returns the cases to run, of several that differ in one value: all of them in the full run, the
 * first in the short one.
 */
export function firstInShortRun<T>(cases: readonly T[]): readonly T[] {
  return isFullRun ? cases : cases.slice(0, 1)
}
