// The option `jitter`: makes delays longer at random, and never shorter.
//
// The pacer gets limits whose delays are longer already. So it keeps them like any other delay: for
// all processes of a fleet, and with the same reason.
import type { PaceLimits } from '@politely/core/engine'

/** Returns limits whose delays are longer by a random part of up to `jitter`. */
export function withJitter(limits: PaceLimits, jitter: number): PaceLimits {
  return jitter === 0 ? limits : lengthened(limits, 1 + jitter * Math.random())
}

/** Returns limits whose delays are this many times as long. */
export function lengthened(limits: PaceLimits, factor: number): PaceLimits {
  if (factor === 1) return limits
  const { ownDelayMs, maxDelayMs, crawlDelayMs, requestRates, delayFactor } = limits
  return {
    ...limits,
    ownDelayMs: ownDelayMs * factor,
    maxDelayMs: maxDelayMs && maxDelayMs * factor,
    crawlDelayMs: crawlDelayMs && crawlDelayMs * factor,
    requestRates: requestRates?.map((rate) => ({ ...rate, periodMs: rate.periodMs * factor })),
    delayFactor: delayFactor && delayFactor * factor,
  }
}
