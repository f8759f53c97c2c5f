// Chooses the pace key of an origin. Requests with the same key share a pace.
import { isIP, type LookupFunction } from 'node:net'
import { registrableDomainOf } from '@politely/fetcher'
import { boundedLookup } from '@politely/fetcher/lookup'
import { LRUCache } from 'lru-cache'

/**
 * Which requests share a pace. `origin` (the default): those with the same scheme, host and port, like the scope of robots.txt. `host`: those
 * with the same host, on any port. `domain`: those with the same registrable domain, such as `example.co.uk` and all hosts under it; a host
 * without one is its own key. `address`: those whose hosts have the same IP address. If a host has several, the first in alphabetical order
 * counts.
 */
export type PaceBy = 'origin' | 'host' | 'domain' | 'address'

/** Returns the pace key of an origin: a promise if that takes a DNS lookup. */
export type PaceKeyOf = (origin: string) => string | Promise<string>

/** How many addresses are cached. Our choice. */
const MAX_CACHED_HOSTS = 10_000
/** How long an address is cached. Most DNS records on the web live longer. Our choice. */
const ADDRESS_TTL_MS = 10 * 60 * 1000
/** After this time a lookup counts as failed. */
const MAX_LOOKUP_MS = 20_000

export function paceKeyBy(by: PaceBy, lookup: LookupFunction | undefined): PaceKeyOf {
  switch (by) {
    case 'origin':
      return (origin) => origin
    case 'host':
      return hostOf
    case 'domain':
      return registrableDomainOf
    case 'address':
      return byAddress(boundedLookup(lookup))
  }
}

function hostOf(origin: string): string {
  return new URL(origin).hostname
}

function byAddress(lookup: LookupFunction): PaceKeyOf {
  const cache = new LRUCache<string, Promise<string>>({ max: MAX_CACHED_HOSTS, ttl: ADDRESS_TTL_MS })
  return (origin) => {
    const host = hostOf(origin).replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0) return host
    let address = cache.get(host)
    if (address === undefined) {
      address = firstAddress(host, lookup)
      cache.set(host, address)
      // A failed lookup is not cached.
      void address.then((found) => found === host && cache.delete(host))
    }
    return address
  }
}

/** Resolves to the host itself if it has no address, or if the lookup fails or times out. The request itself will report the cause. */
function firstAddress(host: string, lookup: LookupFunction): Promise<string> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(host), MAX_LOOKUP_MS)
    lookup(host, { all: true }, (error, found) => {
      clearTimeout(timer)
      const addresses = Array.isArray(found) ? found.map(({ address }) => address) : [found]
      resolve(error ? host : (addresses.sort()[0] ?? host))
    })
  })
}
