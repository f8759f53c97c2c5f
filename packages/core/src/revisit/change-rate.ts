// Estimates how often a page changes, from visits at irregular times.
//
// A visit finds out whether the page has changed since the visit before, but not how often. So the
// share of visits with changes underestimates the rate of a page that changes more often than it is
// visited. The model of Cho and Garcia-Molina ("Estimating Frequency of Change", 2003) is a Poisson
// process with the rate r. Each visit contributes to its likelihood:
//
//   unchanged for t                         e^(-rt)
//   changed within t, time unknown          1 - e^(-rt)
//   changed, last at a known time s ago     r·e^(-rs)    their estimator with the last date of change
//
// The estimate is the rate with the largest likelihood. A weak prior keeps it finite and above 0,
// which is what the bias-reduced estimator of the paper does for regular visits. Older visits weigh
// less, because pages start and cease to change.

/** What one visit says about the time since the visit before. Milliseconds. */
export interface Observation {
  /** The time since the visit before; undefined for the first visit. */
  readonly sinceVisitMs: number | undefined
  readonly changed: boolean
  /** The time since the last change, if that is known. */
  readonly sinceChangeMs: number | undefined
}

/** A visit weighs this many times as much as the visit after it. Chosen by simulation. */
const DECAY = 0.9

/** How many changes the prior is worth. Chosen by simulation. */
const PRIOR_CHANGES = 1

/** How often the range of rates, 16 powers of ten, is halved. */
const STEPS = 40

/**
 * Returns the rate of changes with the largest likelihood, in changes for each millisecond.
 * @param observations Oldest first.
 * @param priorMs The mean time between changes, as far as it can be guessed without visits.
 */
export function changeRate(observations: readonly Observation[], priorMs: number): number {
  let knownChanges = PRIOR_CHANGES // changes at a known time
  let unchangedMs = PRIOR_CHANGES * priorMs
  const changed: { readonly weight: number; readonly ms: number }[] = []
  observations.forEach(({ sinceVisitMs = Number.POSITIVE_INFINITY, changed: hasChanged, sinceChangeMs }, i) => {
    const weight = DECAY ** (observations.length - 1 - i)
    if (!hasChanged) unchangedMs += weight * sinceVisitMs
    else if (sinceChangeMs !== undefined && sinceChangeMs < sinceVisitMs) {
      knownChanges += weight
      unchangedMs += weight * sinceChangeMs
    } else changed.push({ weight, ms: sinceVisitMs })
  })
  if (changed.length === 0) return Math.min(Math.max(knownChanges / unchangedMs, 1e-16), 1)
  // The derivative of the logarithm of the likelihood falls with the rate. Its root is the estimate.
  const slope = (rate: number) =>
    changed.reduce(
      (sum, { weight, ms }) => sum + (weight * ms) / Math.expm1(rate * ms),
      knownChanges / rate - unchangedMs,
    )
  let [low, high] = [-16, 0] // powers of ten
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2
    if (slope(10 ** middle) > 0) low = middle
    else high = middle
  }
  return 10 ** low
}
