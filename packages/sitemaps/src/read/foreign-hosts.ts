// Knows the other hosts that a site names: whether a request may go there, and whether their
// robots.txt names the file that lists their pages.
import { isIP } from 'node:net'
import { BlockedAddressError, type NetworkGuard, type RobotsClient } from '@politely/fetcher'
import { isPrivateHost, orAborted } from '@politely/fetcher/internal'
import type { ForeignHost } from '../entry.ts'

/** More private names are refused without a lookup, since a site may list any number of them. */
const MAX_LOOKUPS = 20

export class ForeignHosts {
  readonly #robots: RobotsClient | undefined
  readonly #guard: NetworkGuard
  readonly #maxHosts: number
  /** The sitemaps that each origin names; undefined if its robots.txt is unreachable. */
  readonly #named = new Map<string, ReadonlySet<string> | undefined>()
  /** The refusals of private names; undefined if the name has a public address. */
  readonly #lookups = new Map<string, Promise<BlockedAddressError | undefined>>()

  constructor(robots: RobotsClient | undefined, guard: NetworkGuard, maxHosts: number) {
    this.#robots = robots
    this.#guard = guard
    this.#maxHosts = maxHosts
  }

  /**
   * Returns the URL of the chain that decides which hosts a site may name: the first URL with a public
   * host.
   */
  publicOf(chain: readonly (string | undefined)[]): string | undefined {
    return chain.find((url) => url !== undefined && this.#guard.reachOf([url]) === 'public')
  }

  /**
   * Returns the guard's refusal of a URL that a site named: the target of a redirect is refused in
   * the same way.
   * @param from The URL with a public host that led to this one, if one did.
   */
  async refusalOf(
    url: string,
    from: string | undefined,
    signal: AbortSignal,
  ): Promise<BlockedAddressError | undefined> {
    const { hostname } = new URL(url)
    const chain = from === undefined ? [] : [from]
    if (!isPrivateHost(hostname) || this.#guard.reachOf([...chain, url]) === 'any') return undefined
    const isAddress = hostname.startsWith('[') || isIP(hostname) !== 0
    if (isAddress) return this.#guard.refusalOfRedirect(chain, url)
    const blocked = new BlockedAddressError(hostname, [])
    if (!this.#lookups.has(hostname)) {
      if (this.#lookups.size >= MAX_LOOKUPS) return blocked
      this.#lookups.set(
        hostname,
        this.#guard.refusalOfRedirect(chain, url).catch(() => blocked),
      )
    }
    return orAborted(this.#lookups.get(hostname) as Promise<BlockedAddressError | undefined>, [signal])
  }

  /**
   * Looks for the proof that a file may list pages of another host, which `refusalOf` admits.
   * @param files The URLs of the file and of the indexes that lead to it.
   */
  async proofOf(origin: string, files: readonly string[], signal: AbortSignal): Promise<ForeignHost> {
    const named = await this.#namedBy(origin, signal)
    if (named === undefined) return { origin, proof: 'unchecked' }
    return { origin, proof: files.some((file) => named.has(file)) ? 'robots.txt' : 'none' }
  }

  async #namedBy(origin: string, signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
    if (this.#named.has(origin)) return this.#named.get(origin)
    if (this.#robots === undefined || this.#named.size >= this.#maxHosts) return undefined
    const named = await this.#fetch(this.#robots, origin, signal)
    this.#named.set(origin, named)
    return named
  }

  async #fetch(robots: RobotsClient, origin: string, signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
    try {
      const sitemaps = await robots.sitemaps(origin, { signal })
      return sitemaps.access.outcome === 'unreachable' ? undefined : new Set(sitemaps.map(withoutHash))
    } catch {
      if (signal.aborted) throw signal.reason
      return undefined // such as a port that fetch does not allow
    }
  }
}

/** Returns the URL in the form by which files are compared. */
export function withoutHash(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null) return url
  parsed.hash = ''
  return parsed.href
}
