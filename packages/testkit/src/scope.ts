// The size of a test run. `npm test` is the short run; `npm run test:all` sets POLITELY_TEST_ALL=1 for the full run.

/** Whether this is the full run. */
export const isFullRun: boolean = process.env.POLITELY_TEST_ALL === '1'

/** Returns how many of the generated cases to run: all of them in the full run, a tenth in the short one. */
export function sampled(cases: number): number {
  return isFullRun ? cases : Math.ceil(cases / 10)
}
