// The table of a gate: the route of each origin, and the lane of each pace key. A request finds its route,
// and so its lane, by one look-up.
//
// The table drops routes that weren't used for long. A lane lives as long as a route leads to it,
// or one of its requests waits or is under way. The pacer keeps the pace for longer.
import { isIP, type LookupFunction } from 'node:net'
import { OptionError } from '@politely/core'
import type { PaceLimits } from '@politely/core/engine'
import { escapeControls, isPromise } from '@politely/core/internal'
import { registrableDomainOf, withoutCredentials } from '@politely/fetcher'
import { boundedLookup, describeValue, LRUCache, onAbort, requireSockets, siteOf } from '@politely/fetcher/internal'
import type { Pacing } from '../options/pacing.ts'
import { MAX_CACHED_ORIGINS, type SitePacing } from '../options/site-pacing.ts'
import type { PaceLevel } from '../pace/wait-cause.ts'
import type { GateContext } from './gate-context.ts'
import { Lane } from './lane.ts'
import { Route } from './route.ts'
import { NO_KEYS, type SharedKey } from './shared-limit.ts'

/** The longest key that a function of `paceBy` may return, in characters. Our choice. */
const MAX_KEY_LENGTH = 500
/** How many addresses are cached. Our choice. */
const MAX_CACHED_HOSTS = 10_000
/** How long an address is cached. Most DNS records on the web live longer. Our choice. */
const ADDRESS_TTL_MS = 10 * 60 * 1000
/** After this time a lookup counts as failed. */
const MAX_LOOKUP_MS = 20_000

/** The routes and the lanes of a gate. */
export class Routes {
  readonly #context: GateContext
  readonly #keyOf: Pacing['keyOf']
  readonly #sitePacingOf: (origin: string) => SitePacing
  readonly #addressOf: ((origin: string) => string | Promise<string>) | undefined
  readonly #routes: LRUCache<string, Route<Lane>>
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
    if (needsAddress && lookup === undefined)
      requireSockets('a pace by address', 'give the option lookup, or leave it out')
    this.#addressOf = needsAddress ? byAddress(boundedLookup(lookup, closing), closing) : undefined
    this.#routes = new LRUCache({
      max: MAX_CACHED_ORIGINS,
      dispose: ({ lane, site }) => {
        lane.routes--
        context.concurrency.turns.letGo(site)
        this.#removeIfUnused(lane)
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
  of(origin: string, url: string): Route<Lane> | Promise<Route<Lane>> {
    const ownKey = this.#keyOf === undefined ? undefined : ownKeyOf(this.#keyOf, url)
    if (this.#addressOf === undefined) return this.#routeOf(origin, ownKey, '')
    const address = this.#addressOf(origin)
    return isPromise(address)
      ? address.then((found) => this.#routeOf(origin, ownKey, found))
      : this.#routeOf(origin, ownKey, address)
  }

  /**
   * Returns the route itself, or a route like it: during an await, the table may have dropped the
   * route and its lane.
   */
  current(route: Route<Lane>): Route<Lane> {
    const lane = this.#lanes.get(route.lane.key)
    if (lane === route.lane) return route
    if (lane !== undefined) return new Route(this.#context, lane, route)
    this.#lanes.set(route.lane.key, route.lane)
    return route
  }

  #routeOf(origin: string, ownKey: string | undefined, address: string): Route<Lane> {
    const name = ownKey === undefined ? origin : `${ownKey} ${origin}`
    const known = this.#routes.get(name)
    if (known?.address === address) return known
    const { pacing, concurrency } = this.#context
    const sitePacing = this.#sitePacingOf(origin) // throws what the caller's function throws
    const lane = this.#laneFor(ownKey ?? laneKeyOf(pacing.paceBy, origin, address))
    const route = new Route(this.#context, lane, {
      site: concurrency.turns.hold(siteOf(origin)),
      pacing: sitePacing,
      shared: sharedKeysOf(pacing, origin, address),
      address,
    })
    lane.routes++
    this.#routes.set(name, route)
    return route
  }

  /** Removes a lane that no route leads to, and that has no requests. */
  #removeIfUnused(lane: Lane): void {
    if (lane.routes === 0 && lane.isIdle && this.#lanes.get(lane.key) === lane) this.#lanes.delete(lane.key)
  }

  #laneFor(key: string): Lane {
    let lane = this.#lanes.get(key)
    if (lane === undefined) {
      lane = new Lane(key, this.#context, (unused) => this.#removeIfUnused(unused))
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
