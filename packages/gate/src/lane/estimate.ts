// Estimates how long a request would wait: for `PoliteGate.when` and for `maxWaitMs`.
import type { PaceLimits } from '@politely/core/engine'
import { isPromise } from '@politely/core/internal'
import type { WaitEstimate } from '../pace/pacer.ts'
import type { WaitLevel } from '../pace/wait-cause.ts'
import type { AllowedForecast } from '../report/forecast.ts'
import type { GateContext } from './gate-context.ts'
import { lengthened } from './jitter.ts'
import type { Route } from './route.ts'

/** How long a request would wait, and what for. */
export type WaitForecast = Pick<AllowedForecast, 'waitMs' | 'because' | 'level' | 'ahead'>

type LevelEstimate = WaitEstimate & { readonly level: WaitLevel }

/**
 * Estimates the wait at each level. The longest one counts. Reads the state of the lanes before it
 * returns, so requests that arrive afterwards change nothing.
 * @param willReserve Whether the request enters the gate after that time.
 * @returns A promise if the pacer replies with one.
 */
export function estimateWait(
  context: GateContext,
  route: Route,
  ownLimits: PaceLimits,
  willReserve = false,
): WaitForecast | Promise<WaitForecast> {
  const { pacer, pacing, sharedLimits } = context
  const {
    lane,
    shared,
    pacing: { jitter },
  } = route
  const ahead = lane.waiting
  const limits = lengthened(ownLimits, 1 + jitter / 2) // for the requests ahead: half of the jitter on average
  const estimates = [atLevel(pacing.paceBy, pacer.estimate(lane.key, limits, lane.withoutSlot, willReserve))]
  for (const { level, key, limits } of shared) {
    if (limits.ownDelayMs > 0)
      estimates.push(atLevel(level, pacer.estimate(key, limits, sharedLimits.get(key)?.waiting ?? 0, willReserve)))
  }
  const full = fullLevel(context, route)
  return estimates.some(isPromise)
    ? Promise.all(estimates).then((found) => longestOf(found, full, ahead))
    : longestOf(estimates as LevelEstimate[], full, ahead)
}

/** Returns the level whose concurrency limit a request of this route would wait for now. */
export function fullLevel(
  { pacing, concurrency, sharedLimits }: GateContext,
  { lane, site, shared, pacing: { maxConcurrentPerKey } }: Route,
): WaitLevel | undefined {
  if (lane.isFullFor(maxConcurrentPerKey)) return pacing.paceBy
  return shared.find(({ key }) => sharedLimits.get(key)?.isFull)?.level ?? concurrency.fullLevel(site)
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
