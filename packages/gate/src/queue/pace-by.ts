// Chooses the pace keys of an origin. Requests with the same key share a pace.
import { isIP, type LookupFunction } from 'node:net'
import { escapeControls, OptionError } from '@politely/core'
import type { PaceLimits } from '@politely/core/engine'
import { registrableDomainOf, withoutCredentials } from '@politely/fetcher'
import { boundedLookup, describeValue, onAbort, type Site, siteOf } from '@politely/fetcher/internal'
import { LRUCache } from 'lru-cache'
import type { Pacing } from '../options/pacing.ts'
import { MAX_CACHED_ORIGINS, type SitePacing } from '../options/site-pacing.ts'
import { isPromise } from '../pace/is-promise.ts'
import type { PaceLevel } from '../pace/wait-cause.ts'

/** The pace keys of a request, and its site. */
export interface PaceKeys {
  /** The request counts towards the concurrency limit of this site. */
  readonly site: Site
  /** The key of its queue. */
  readonly key: string
  /**
   * Its registrable domain and its IP address, as far as they have limits of their own. The one
   * with the most hosts comes first.
   */
  readonly shared: readonly SharedKey[]
  /** The options for its origin. */
  readonly pacing: SitePacing
}

/** A registrable domain or an IP address with limits of its own. */
export interface SharedKey {
  readonly level: 'domain' | 'address'
  /** Differs from every key of a queue. */
  readonly key: string
  /** The shortest delay between two requests; 0 if there need not be one. */
  readonly limits: PaceLimits
  /** How many requests may be under way at once. Infinity for no limit. */
  readonly maxConcurrent: number
}

/**
 * Returns the pace keys of a request: a promise if that takes a DNS lookup. Throws what the caller's
 * functions throw.
 */
export type PaceKeysOf = (origin: string, url: string) => PaceKeys | Promise<PaceKeys>

/** The longest key that a function of `paceBy` may return, in characters. Our choice. */
const MAX_KEY_LENGTH = 500
/** How many addresses are cached. Our choice. */
const MAX_CACHED_HOSTS = 10_000
/** How long an address is cached. Most DNS records on the web live longer. Our choice. */
const ADDRESS_TTL_MS = 10 * 60 * 1000
/** After this time a lookup counts as failed. */
const MAX_LOOKUP_MS = 20_000

/**
 * @param sitePacingOf Returns the options for an origin.
 * @param closing After its abort, no lookup keeps the process alive.
 */
export function paceKeysBy(
  pacing: Pacing,
  sitePacingOf: (origin: string) => SitePacing,
  lookup: LookupFunction | undefined,
  closing: AbortSignal,
): PaceKeysOf {
  const { keyOf } = pacing
  const keysOfOrigin = originKeysBy(pacing, sitePacingOf, lookup, closing)
  if (keyOf === undefined) return keysOfOrigin
  return (origin, url) => {
    const key = ownKeyOf(keyOf, url)
    const keys = keysOfOrigin(origin)
    return isPromise(keys) ? keys.then((found) => ({ ...found, key })) : { ...keys, key }
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

function originKeysBy(
  pacing: Pacing,
  sitePacingOf: (origin: string) => SitePacing,
  lookup: LookupFunction | undefined,
  closing: AbortSignal,
): (origin: string) => PaceKeys | Promise<PaceKeys> {
  const { paceBy, minDelayPerAddressMs, maxConcurrentPerAddress } = pacing
  const limitsAddresses = minDelayPerAddressMs > 0 || maxConcurrentPerAddress < Number.POSITIVE_INFINITY
  const cache = new LRUCache<string, PaceKeys & { readonly address: string }>({ max: MAX_CACHED_ORIGINS })
  const keysWith = (origin: string, address: string): PaceKeys => {
    const cached = cache.get(origin)
    if (cached?.address === address) return cached
    const key = queueKeyOf(paceBy, origin, address)
    const shared = sharedKeysOf(pacing, origin, limitsAddresses ? address : undefined)
    const keys = { site: siteOf(origin), key, shared, pacing: sitePacingOf(origin), address }
    cache.set(origin, keys)
    return keys
  }
  if (paceBy !== 'address' && !limitsAddresses) return (origin) => keysWith(origin, '')
  const addressOf = byAddress(boundedLookup(lookup, closing), closing)
  return (origin) => {
    const address = addressOf(origin)
    return isPromise(address) ? address.then((found) => keysWith(origin, found)) : keysWith(origin, address)
  }
}

function queueKeyOf(paceBy: PaceLevel, origin: string, address: string): string {
  switch (paceBy) {
    case 'origin':
      return origin
    case 'host':
      return hostOf(origin)
    case 'domain':
      return registrableDomainOf(origin)
    case 'address':
      return address
    case 'key':
      return '' // `ownKeyOf` chooses it
  }
}

export const NO_KEYS: readonly SharedKey[] = []

function sharedKeysOf(pacing: Pacing, origin: string, address: string | undefined): readonly SharedKey[] {
  const { minDelayPerDomainMs, minDelayPerAddressMs, maxConcurrentPerAddress } = pacing
  if (address === undefined && minDelayPerDomainMs === 0) return NO_KEYS
  const keys: SharedKey[] = []
  if (address !== undefined) {
    const limits = delayOnly(minDelayPerAddressMs)
    keys.push({ level: 'address', key: `address:${address}`, limits, maxConcurrent: maxConcurrentPerAddress })
  }
  if (minDelayPerDomainMs > 0) {
    // `maxConcurrentPerDomain` is kept by `ConcurrencyLimit`, so that domains take turns.
    const key = `domain:${registrableDomainOf(origin)}`
    keys.push({ level: 'domain', key, limits: delayOnly(minDelayPerDomainMs), maxConcurrent: Number.POSITIVE_INFINITY })
  }
  return keys
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
