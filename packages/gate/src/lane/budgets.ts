// The option `budget`: how many requests of a pace key may start.
import { boundedMap, integer } from '@politely/fetcher/internal'
import type { Pacing } from '../options/pacing.ts'

interface Count {
  /** Infinity for no limit. */
  readonly budget: number
  started: number
}

/** The requests of this many keys are counted, each in about 150 bytes. Our choice. */
const MAX_KEYS = 1_000_000

export class Budgets {
  readonly #budget: NonNullable<Pacing['budget']>
  /** By pace key. */
  readonly #counts = boundedMap<Count>(MAX_KEYS)

  constructor(budget: NonNullable<Pacing['budget']>) {
    this.#budget = budget
  }

  /**
   * Returns the budget of a key if a further request would exceed it; otherwise undefined. Throws
   * what the caller's function throws.
   * @param waiting How many requests wait and will start before that request.
   * @throws {OptionError} if the function returns an invalid budget.
   */
  usedUp(key: string, waiting = 0): number | undefined {
    const { budget, started } = this.#countOf(key)
    return started + waiting >= budget ? budget : undefined
  }

  /** Counts a request that starts. Returns whether it uses up the budget. */
  take(key: string): boolean {
    const count = this.#counts.peek(key)
    if (count === undefined) return false // forgotten while the request waited
    count.started++
    return count.started >= count.budget
  }

  /** Takes back the count of a request that does not start after all. */
  giveBack(key: string): void {
    const count = this.#counts.peek(key)
    if (count !== undefined && count.started > 0) count.started--
  }

  #countOf(key: string): Count {
    const known = this.#counts.get(key)
    if (known !== undefined) return known
    const count = { budget: budgetOf(this.#budget, key), started: 0 }
    this.#counts.set(key, count)
    return count
  }
}

function budgetOf(option: NonNullable<Pacing['budget']>, key: string): number {
  if (typeof option === 'number') return option
  const budget = option(key)
  if (budget === undefined || budget === Number.POSITIVE_INFINITY) return Number.POSITIVE_INFINITY
  return integer(`budget(${JSON.stringify(key)})`, budget, { min: 0, example: 1_000 })
}
