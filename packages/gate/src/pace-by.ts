// What shares a pace: an origin, a host, all hosts of a domain, or all that is at one address.
import { isIP, type LookupFunction } from 'node:net'
import { registrableDomainOf } from '@politely/fetcher'
import { boundedLookup } from '@politely/fetcher/lookup'
import { LRUCache } from 'lru-cache'

/**
 * What requests must have in common to be kept apart. `origin` (the default): scheme, host and port, as robots.txt has it. `host`: the
 * host, on whatever port. `domain`: the registrable domain (`example.co.uk`, with all that is under it); a name that has none counts by
 * itself. `address`: the IP address that the host has; of several, the one that sorts first.
 */
export type PaceBy = 'origin' | 'host' | 'domain' | 'address'

/** The key under which requests to this origin are paced. */
export type PaceKeyOf = (origin: string) => string | Promise<string>

/** Names, and for how long an address is believed: most records on the web live longer. Our choice. */
const MOST_NAMES = 10_000
const ADDRESS_TTL_MS = 10 * 60 * 1000
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
  const known = new LRUCache<string, Promise<string>>({ max: MOST_NAMES, ttl: ADDRESS_TTL_MS })
  return (origin) => {
    const host = hostOf(origin).replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0) return host
    let address = known.get(host)
    if (address === undefined) {
      address = firstAddress(host, lookup)
      known.set(host, address)
      // What was not found is looked for again.
      void address.then((found) => found === host && known.delete(host))
    }
    return address
  }
}

/** A name without an address counts by itself, and so does one that is not found in time: the request will say what is wrong. */
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
