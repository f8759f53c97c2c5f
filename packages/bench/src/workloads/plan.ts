// How much a run does.

import type { Library } from '../libraries/library.ts'
import { bareWalk } from '../libraries/naive-walk.ts'

export interface Plan {
  readonly libraries: readonly Library[]
  /** Generated files. */
  readonly files: number
  /** Of the real files no more than so many. */
  readonly mostRealFiles: number
  /** Rounds that count. */
  readonly rounds: number
  /** Turns of each, where two are measured against each other again before one is accused. */
  readonly turns: number
  /** Origins that are held in memory, and bytes of real files. */
  readonly origins: number
  readonly realBytes: number
  /** One measurement lasts at least so long: what is over sooner is repeated. */
  readonly leastNs: number
  /** A library that takes longer for one hostile file is ended. */
  readonly patienceMs: number
  /** 1: all hostile files are tried; 3: every third one. */
  readonly hostileSteps: { readonly ours: number; readonly others: number }
  /** The approximate length of a turn with a long file. */
  readonly turnNs: number
  /** The number of robots.txt files that one turn fetches. */
  readonly coldFetches: number
  /** The number of sites that the client knows. */
  readonly warmOrigins: number
  /** The number of fresh copies of a long file that are asked a first question. */
  readonly copies: number
}

/** Files of so many bytes at most are small ones: they are what a crawler of very many origins meets. */
export const SMALL_OCTETS = 8_192

/** For a record. */
export const full: Omit<Plan, 'libraries'> = {
  files: 2_000,
  mostRealFiles: Number.POSITIVE_INFINITY,
  rounds: 9,
  turns: 15,
  origins: 100_000,
  realBytes: 200_000_000,
  leastNs: 150_000,
  patienceMs: 2_000,
  hostileSteps: { ours: 1, others: 3 },
  turnNs: 40e6,
  coldFetches: 5_000,
  warmOrigins: 1_000,
  copies: 7,
}

/** To see that everything works, or which way a change goes: done in a minute. */
export const quick: Omit<Plan, 'libraries'> = {
  files: 150,
  mostRealFiles: 150,
  rounds: 3,
  turns: 7,
  origins: 3_000,
  realBytes: 10_000_000,
  leastNs: 100_000,
  patienceMs: 500,
  hostileSteps: { ours: 1, others: 8 },
  turnNs: 15e6,
  coldFetches: 300,
  warmOrigins: 100,
  copies: 3,
}

/** The walk that looks at no URL stands in the workload about questions only: in all others it is the other one over again. */
export function withoutBareWalk(plan: Plan): Plan {
  return { ...plan, libraries: plan.libraries.filter((one) => one !== bareWalk) }
}

/** What needs a process for each library, and patience, is left to those that are asked all questions when time is short. */
export function withoutSlowOnes(plan: Plan): Plan {
  return { ...plan, libraries: plan.libraries.filter(({ questions }) => questions === 'all') }
}
