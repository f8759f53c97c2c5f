// The way of the requests to one origin through the gate: its site, its options, its pace keys and its
// lane. A route is found by one look-up for each request.
//
// Routes that were not used for long are dropped. A lane lives as long as a route leads to it, or one
// of its requests waits or is under way. The pacer keeps the pace longer than that.
import { isIP, type LookupFunction } from 'node:net'
import { escapeControls, OptionError } from '@politely/core'
import type { PaceLimits } from '@politely/core/engine'
import { registrableDomainOf, withoutCredentials } from '@politely/fetcher'
import { boundedLookup, describeValue, onAbort, type Site, siteOf } from '@politely/fetcher/internal'
import { LRUCache } from 'lru-cache'
import { type Pacing, paceLimitsOf } from '../options/pacing.ts'
import { MAX_CACHED_ORIGINS, type SitePacing } from '../options/site-pacing.ts'
import { isPromise } from '../pace/is-promise.ts'
import type { PaceLevel } from '../pace/wait-cause.ts'
import type { AllowedCheck } from './allowed-check.ts'
import type { GateContext } from './gate-context.ts'
import { Lane } from './lane.ts'

/** A registrable domain or an IP address with limits of its own. */
export interface SharedKey {
  readonly level: 'domain' | 'address'
  /** Differs from every key of a lane. */
  readonly key: string
  /** The shortest delay between two requests; 0 if there need not be one. */
  readonly limits: PaceLimits
  /** How many requests may be under way at once. Infinity for no limit. */
  readonly maxConcurrent: number
}

/** The longest key that a function of `paceBy` may return, in characters. Our choice. */
const MAX_KEY_LENGTH = 500
/** How many addresses are cached. Our choice. */
const MAX_CACHED_HOSTS = 10_000
/** How long an address is cached. Most DNS records on the web live longer. Our choice. */
const ADDRESS_TTL_MS = 10 * 60 * 1000
/** After this time a lookup counts as failed. */
const MAX_LOOKUP_MS = 20_000

export const NO_KEYS: readonly SharedKey[] = []

/** What the gate knows about one origin, and with a function as `paceBy` about one key of it. */
export class Route {
  readonly lane: Lane
  /** Requests count towards the concurrency limit of this site. */
  readonly site: Site
  /** The options for the origin. */
  readonly pacing: SitePacing
  /**
   * Its registrable domain and its IP address, as far as they have limits of their own. The one
   * with the most hosts comes first.
   */
  readonly shared: readonly SharedKey[]
  /** The address that `lookup` found; empty if the gate does not need it. */
  readonly address: string
  readonly #context: GateContext
  /** What the limits come from. */
  #source: object | undefined
  #limits: PaceLimits | undefined
  /** The end of the attempt to fetch robots.txt whose pause the pacer knows. */
  toldAttemptAt: number | undefined
  /** Whether a long delay of the site was logged. */
  hasLoggedDelay = false

  constructor(
    context: GateContext,
    lane: Lane,
    { site, pacing, shared, address }: Pick<Route, 'site' | 'pacing' | 'shared' | 'address'>,
  ) {
    this.#context = context
    this.lane = lane
    this.site = site
    this.pacing = pacing
    this.shared = shared
    this.address = address
  }

  /**
   * Returns the delays and visit times that the caller and the site ask for. If robots.txt has
   * changed, the pacer learns of the pauses that its fetch causes.
   */
  limitsFor(check: AllowedCheck): PaceLimits {
    if (this.#limits !== undefined && check.source === this.#source) return this.#limits
    const { pacing, robotsPauses, log } = this.#context
    const limits = paceLimitsOf(check.asked, this.pacing, pacing.pauseFrom)
    this.#source = check.source
    this.#limits = limits
    robotsPauses.note(check.verdict, this, limits)
    log.delays(check.origin, limits, this)
    return limits
  }
}

/** The routes and the lanes of a gate. */
export class Routes {
  readonly #context: GateContext
  readonly #keyOf: Pacing['keyOf']
  readonly #sitePacingOf: (origin: string) => SitePacing
  readonly #addressOf: ((origin: string) => string | Promise<string>) | undefined
  readonly #routes: LRUCache<string, Route>
  readonly #lanes = new Map<string, Lane>()

  /**
   * @param sitePacingOf Returns the options for an origin. Throws what the caller's function throws.
   * @param closing After its abort, no lookup keeps the process alive.
   */
  constructor(
    context: GateContext,
    sitePacingOf: (origin: string) => SitePacing,
    lookup: LookupFunction | undefined,
    closing: AbortSignal,
  ) {
    this.#context = context
    const { paceBy, keyOf, minDelayPerAddressMs, maxConcurrentPerAddress } = context.pacing
    this.#keyOf = keyOf
    this.#sitePacingOf = sitePacingOf
    const limitsAddresses = minDelayPerAddressMs > 0 || maxConcurrentPerAddress < Number.POSITIVE_INFINITY
    const needsAddress = paceBy === 'address' || limitsAddresses
    this.#addressOf = needsAddress ? byAddress(boundedLookup(lookup, closing), closing) : undefined
    this.#routes = new LRUCache({
      max: MAX_CACHED_ORIGINS,
      dispose: ({ lane, site }) => {
        lane.routes--
        context.concurrency.letGo(site)
        this.removeIfUnused(lane)
      },
    })
  }

  /** The lanes, also those without requests. */
  get lanes(): Iterable<Lane> {
    return this.#lanes.values()
  }

  /** Returns the lane of a pace key, if there is one. */
  laneOf(key: string): Lane | undefined {
    return this.#lanes.get(key)
  }

  /**
   * Returns the route of a URL: a promise if that takes a DNS lookup. Throws what the caller's
   * functions throw.
   */
  of(origin: string, url: string): Route | Promise<Route> {
    const ownKey = this.#keyOf === undefined ? undefined : ownKeyOf(this.#keyOf, url)
    if (this.#addressOf === undefined) return this.#routeOf(origin, ownKey, '')
    const address = this.#addressOf(origin)
    return isPromise(address)
      ? address.then((found) => this.#routeOf(origin, ownKey, found))
      : this.#routeOf(origin, ownKey, address)
  }

  /** Removes a lane that no route leads to, and that has no requests. */
  removeIfUnused(lane: Lane): void {
    if (lane.routes === 0 && lane.isIdle) this.#lanes.delete(lane.key)
  }

  #routeOf(origin: string, ownKey: string | undefined, address: string): Route {
    const name = ownKey === undefined ? origin : `${ownKey} ${origin}`
    const known = this.#routes.get(name)
    if (known?.address === address) return known
    const { pacing, concurrency } = this.#context
    const sitePacing = this.#sitePacingOf(origin) // throws what the caller's function throws
    const lane = this.#laneFor(ownKey ?? laneKeyOf(pacing.paceBy, origin, address))
    const route = new Route(this.#context, lane, {
      site: concurrency.hold(siteOf(origin)),
      pacing: sitePacing,
      shared: sharedKeysOf(pacing, origin, address),
      address,
    })
    lane.routes++
    this.#routes.set(name, route)
    return route
  }

  #laneFor(key: string): Lane {
    let lane = this.#lanes.get(key)
    if (lane === undefined) {
      lane = new Lane(key, this.#context)
      this.#lanes.set(key, lane)
    }
    return lane
  }
}

/** Returns the pace key that the caller's function chooses. It differs from every other key. */
function ownKeyOf(keyOf: (url: string) => string, url: string): string {
  const loggable = withoutCredentials(url)
  const key: unknown = keyOf(loggable)
  if (typeof key === 'string' && key.length > 0 && key.length <= MAX_KEY_LENGTH) return `key:${key}`
  throw new OptionError(
    'paceBy',
    `the function returned ${describeValue(key)} for ${escapeControls(loggable)}; expected a text of 1 to ${MAX_KEY_LENGTH} characters, such as "example.com"`,
  )
}

function laneKeyOf(paceBy: PaceLevel, origin: string, address: string): string {
  switch (paceBy) {
    case 'host':
      return hostOf(origin)
    case 'domain':
      return registrableDomainOf(origin)
    case 'address':
      return address
    default:
      return origin
  }
}

function sharedKeysOf(pacing: Pacing, origin: string, address: string): readonly SharedKey[] {
  const { minDelayPerDomainMs, minDelayPerAddressMs, maxConcurrentPerAddress } = pacing
  const keys: SharedKey[] = []
  if (minDelayPerAddressMs > 0 || maxConcurrentPerAddress < Number.POSITIVE_INFINITY) {
    const limits = delayOnly(minDelayPerAddressMs)
    keys.push({ level: 'address', key: `address:${address}`, limits, maxConcurrent: maxConcurrentPerAddress })
  }
  if (minDelayPerDomainMs > 0) {
    // `maxConcurrentPerDomain` is kept by `ConcurrencyLimit`, so that domains take turns.
    const key = `domain:${registrableDomainOf(origin)}`
    keys.push({ level: 'domain', key, limits: delayOnly(minDelayPerDomainMs), maxConcurrent: Number.POSITIVE_INFINITY })
  }
  return keys.length === 0 ? NO_KEYS : keys
}

function delayOnly(ownDelayMs: number): PaceLimits {
  return { ownDelayMs, maxDelayMs: undefined, crawlDelayMs: undefined }
}

function hostOf(origin: string): string {
  return new URL(origin).hostname
}

function byAddress(lookup: LookupFunction, closing: AbortSignal): (origin: string) => string | Promise<string> {
  const cache = new LRUCache<string, Promise<string>>({ max: MAX_CACHED_HOSTS, ttl: ADDRESS_TTL_MS })
  return (origin) => {
    const host = hostOf(origin).replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0) return host
    let address = cache.get(host)
    if (address === undefined) {
      address = firstAddress(host, lookup, closing)
      cache.set(host, address)
      // A failed lookup is not cached.
      void address.then((found) => found === host && cache.delete(host))
    }
    return address
  }
}

/**
 * Resolves to the host itself if it has no address, or if the lookup fails or times out. The
 * request itself will report the cause.
 */
function firstAddress(host: string, lookup: LookupFunction, closing: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(host), MAX_LOOKUP_MS)
    const removeListener = onAbort(closing, () => timer.unref())
    lookup(host, { all: true }, (error, found) => {
      clearTimeout(timer)
      removeListener()
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found]
      resolve(error ? host : (addresses.sort()[0] ?? host))
    })
  })
}
