// Estimates how long a request would wait: for `PoliteGate.when` and for `maxWaitMs`.
import type { PaceLimits } from '@politely/core/engine'
import { isPromise } from '../pace/is-promise.ts'
import type { WaitEstimate } from '../pace/pacer.ts'
import type { WaitLevel } from '../pace/wait-cause.ts'
import type { AllowedForecast } from '../report/forecast.ts'
import type { GateContext } from './gate-context.ts'
import { lengthened } from './jitter.ts'
import type { PaceKeys } from './pace-by.ts'

/** How long a request would wait, and what for. */
export type WaitForecast = Pick<AllowedForecast, 'waitMs' | 'because' | 'level' | 'ahead'>

/** How many requests a queue has. */
interface QueueLength {
  readonly waiting: number
  /** How many of them the pacer has reserved no slot for. */
  readonly withoutSlot: number
  readonly underWay: number
}

type LevelEstimate = WaitEstimate & { readonly level: WaitLevel }

/**
 * Estimates the wait at each level. The longest one counts. Reads the state of the queues before it
 * returns, so requests that arrive afterwards change nothing.
 * @param queue The queue of the request; undefined if it is empty.
 * @param willReserve Whether the request enters the gate after that time.
 * @returns A promise if the pacer replies with one.
 */
export function estimateWait(
  { pacer, pacing, concurrency, sharedLimits }: GateContext,
  { site, key, shared, pacing: { maxConcurrentPerKey, jitter } }: PaceKeys,
  ownLimits: PaceLimits,
  queue: QueueLength | undefined,
  willReserve = false,
): WaitForecast | Promise<WaitForecast> {
  const ahead = queue?.waiting ?? 0
  const limits = lengthened(ownLimits, 1 + jitter / 2) // for the requests ahead: half of the jitter on average
  const estimates = [atLevel(pacing.paceBy, pacer.estimate(key, limits, queue?.withoutSlot ?? 0, willReserve))]
  let full: WaitLevel | undefined = (queue?.underWay ?? 0) >= maxConcurrentPerKey ? pacing.paceBy : undefined
  for (const { level, key, limits } of shared) {
    const limit = sharedLimits.get(key)
    if (limit?.pacedKey.isFull) full ??= level
    if (limits.ownDelayMs > 0)
      estimates.push(atLevel(level, pacer.estimate(key, limits, limit?.waiting ?? 0, willReserve)))
  }
  full ??= concurrency.fullLevel(site)
  return estimates.some(isPromise)
    ? Promise.all(estimates).then((found) => longestOf(found, full, ahead))
    : longestOf(estimates as LevelEstimate[], full, ahead)
}

function atLevel(
  level: WaitLevel,
  estimate: WaitEstimate | Promise<WaitEstimate>,
): LevelEstimate | Promise<LevelEstimate> {
  return isPromise(estimate) ? estimate.then((found) => ({ ...found, level })) : { ...estimate, level }
}

/** @param full The level whose concurrency limit is reached. */
function longestOf(estimates: readonly LevelEstimate[], full: WaitLevel | undefined, ahead: number): WaitForecast {
  const { waitMs, because, level } = estimates.reduce((a, b) => (b.waitMs > a.waitMs ? b : a))
  if (waitMs > 0) return { waitMs, because, level, ahead }
  return { waitMs, because: full === undefined ? because : 'concurrency', level: full, ahead }
}
