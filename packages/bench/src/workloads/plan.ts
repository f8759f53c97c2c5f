// The size of a run: numbers of files, rounds and origins, and time limits.
import type { Library } from '../libraries/library.ts'

export interface Plan {
  readonly libraries: readonly Library[]
  /** The number of generated files. */
  readonly files: number
  /** The most real files to use. */
  readonly maxRealFiles: number
  /** Measured rounds, after one warm-up round. */
  readonly rounds: number
  /**
   * Measurements of each of two libraries when a file is measured again, and rounds of the gate's
   * workload.
   */
  readonly turns: number
  /** For `memory`: generated origins, and bytes of real files. */
  readonly origins: number
  readonly realBytes: number
  /** The minimum duration of one measurement. Shorter work is repeated. */
  readonly minNs: number
  /** The time limit for one hostile file. A library that takes longer is killed. */
  readonly timeoutMs: number
  /** 1: use all hostile files; 3: use every third one. */
  readonly hostileSteps: { readonly ours: number; readonly others: number }
  /** The approximate length of a turn with a long file. */
  readonly turnNs: number
  /** The number of robots.txt files that one turn fetches. */
  readonly coldFetches: number
  /** The number of pages that one turn of a crawl fetches. */
  readonly crawlPages: number
  /** The number of pages that each way to crawl fetches before the first turn. */
  readonly crawlWarmUpPages: number
  readonly crawlRounds: number
  /** The numbers of sites for `growth`. */
  readonly growthHosts: readonly number[]
  /** The numbers of requests at once for `growth`. */
  readonly growthAtOnce: readonly number[]
  /** The number of sites that the client knows. */
  readonly warmOrigins: number
  /** The number of new copies of a long file on which the first check is measured. */
  readonly copies: number
}

/**
 * The size limit of files in `memory`. Most sites that a large crawler visits have files this
 * small.
 */
export const SMALL_FILE_BYTES = 8_192

/** The size of a recorded run. */
export const full: Omit<Plan, 'libraries'> = {
  files: 2_000,
  maxRealFiles: Number.POSITIVE_INFINITY,
  rounds: 9,
  turns: 15,
  origins: 100_000,
  realBytes: 200_000_000,
  minNs: 150_000,
  timeoutMs: 2_000,
  hostileSteps: { ours: 1, others: 3 },
  turnNs: 40e6,
  coldFetches: 5_000,
  crawlPages: 4_000,
  crawlWarmUpPages: 32_000,
  crawlRounds: 30,
  growthHosts: [50, 5_000, 50_000],
  growthAtOnce: [1, 8, 64],
  warmOrigins: 1_000,
  copies: 7,
}

/**
 * The size of a one-minute run. It shows that everything works, and whether a change makes
 * something faster or slower.
 */
export const quick: Omit<Plan, 'libraries'> = {
  files: 150,
  maxRealFiles: 150,
  rounds: 3,
  turns: 7,
  origins: 3_000,
  realBytes: 10_000_000,
  minNs: 100_000,
  timeoutMs: 500,
  hostileSteps: { ours: 1, others: 8 },
  turnNs: 15e6,
  coldFetches: 300,
  crawlPages: 1_000,
  crawlWarmUpPages: 4_000,
  crawlRounds: 5,
  growthHosts: [50, 500],
  growthAtOnce: [1, 8, 64],
  warmOrigins: 100,
  copies: 3,
}

/**
 * Removes slow libraries. Quick runs do this for workloads that start a process for each library.
 */
export function withoutSampledLibraries(plan: Plan): Plan {
  return { ...plan, libraries: plan.libraries.filter(({ checks }) => checks === 'all') }
}
