// How much of the suite a run covers. `npm test` is the short run; `npm run test:all` sets POLITELY_TEST_ALL=1.

/** Whether this is the full run, `npm run test:all`. */
export const isFullRun: boolean = process.env.POLITELY_TEST_ALL === '1'

/** How many generated cases a test tries: all of them in the full run, a tenth in the short one. */
export function sampled(cases: number): number {
  return isFullRun ? cases : Math.ceil(cases / 10)
}
