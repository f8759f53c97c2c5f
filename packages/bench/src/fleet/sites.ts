// The sites of the simulated web, in typed arrays: ten million origins fit in 120 MB.
import { seededRandom } from '@politely/testkit/random-robots'
import { web } from './parameters.ts'

/** What a site answers for robots.txt. `flaky`: 503 twice, then rules. */
export const ROBOTS = { rules: 0, missing: 1, flaky: 2, unreachable: 3 } as const

/** The sites. The index of each array is the origin. */
export interface Sites {
  readonly count: number
  /** How many URLs all sites have. */
  readonly urls: number
  readonly domains: number
  /** How many URLs the crawler will fetch from an origin; at least one. */
  readonly urlsOf: Int32Array
  /** The number of an origin's registrable domain. */
  readonly domainOf: Int32Array
  /** The crawl-delay of an origin in `web.crawlDelays`, counted from 1; 0 for none. */
  readonly delayOf: Uint8Array
  /** A value of `ROBOTS`. */
  readonly robotsOf: Uint8Array
  /** 1 if the origin is overloaded. */
  readonly isOverloaded: Uint8Array
}

/**
 * Generates sites. The same arguments give the same sites. The number of URLs is met to within a
 * percent.
 */
export function generateSites({ origins, urls, seed }: { origins: number; urls: number; seed: number }): Sites {
  const random = seededRandom(seed)
  const urlsOf = sizes(origins, urls / origins, urls * web.largestSiteShare, web.tailExponent, random)
  const { hostsPerDomain, largestDomainShare, domainTailExponent } = web
  const hostsOf = sizes(
    origins / hostsPerDomain,
    hostsPerDomain,
    origins * largestDomainShare,
    domainTailExponent,
    random,
  )
  const domainOf = new Int32Array(origins)
  let domains = 0
  for (let id = 0; id < origins; domains++) {
    const end = Math.min(origins, id + (hostsOf[domains] ?? 1))
    domainOf.fill(domains, id, end)
    id = end
  }
  const delayOf = new Uint8Array(origins)
  const robotsOf = new Uint8Array(origins)
  const isOverloaded = new Uint8Array(origins)
  const delayShares = web.crawlDelays.map(({ share }) => share)
  const robotsShares = [web.missingShare, web.flakyShare, web.unreachableShare]
  const overloadedShares = [web.overloadedShare]
  for (let id = 0; id < origins; id++) {
    delayOf[id] = drawn(random(), delayShares)
    robotsOf[id] = drawn(random(), robotsShares)
    isOverloaded[id] = drawn(random(), overloadedShares)
  }
  const sum = urlsOf.reduce((total, size) => total + size, 0)
  return { count: origins, urls: sum, domains, urlsOf, domainOf, delayOf, robotsOf, isOverloaded }
}

/** Returns sizes at evenly spaced quantiles of a power law with this mean, in random order. */
function sizes(count: number, mean: number, largest: number, exponent: number, random: () => number): Int32Array {
  const max = Math.max(2, Math.round(largest))
  const scale = scaleFor(mean, max, exponent)
  const list = new Int32Array(count)
  for (let i = 0; i < list.length; i++) {
    const quantile = (i + 0.5) / list.length
    const j = Math.floor(random() * (i + 1)) // shuffles while it fills
    list[i] = list[j] as number
    list[j] = Math.min(max, Math.ceil(scale * (1 - quantile) ** (-1 / exponent)))
  }
  return list
}

/**
 * Returns the scale of the power law that gives this mean, if sizes are rounded up. Found by
 * bisection.
 */
function scaleFor(mean: number, max: number, exponent: number): number {
  let low = 0
  let high = max
  for (let round = 0; round < 60; round++) {
    const scale = (low + high) / 2
    let sum = 0
    for (let size = 0; size < max; size++) sum += size <= scale ? 1 : (scale / size) ** exponent
    if (sum < mean) low = scale
    else high = scale
  }
  return high
}

/**
 * Returns the number, from 1 on, of the share in which a random value lies; 0 if it lies in none.
 */
function drawn(value: number, shares: readonly number[]): number {
  let sum = 0
  for (const [i, share] of shares.entries()) {
    sum += share
    if (value < sum) return i + 1
  }
  return 0
}
