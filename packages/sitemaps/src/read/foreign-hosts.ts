// Finds the proof that a file may list pages of another host: that host's robots.txt names the file.
import type { RobotsClient } from '@politely/fetcher'
import type { ForeignHost } from '../entry.ts'

export class ForeignHosts {
  readonly #robots: RobotsClient | undefined
  readonly #maxHosts: number
  /** The sitemaps that each origin names; undefined if its robots.txt is unreachable. */
  readonly #named = new Map<string, ReadonlySet<string> | undefined>()

  constructor(robots: RobotsClient | undefined, maxHosts: number) {
    this.#robots = robots
    this.#maxHosts = maxHosts
  }

  /** @param files The URLs of the file and of the indexes that lead to it. */
  async check(origin: string, files: readonly string[], signal: AbortSignal): Promise<ForeignHost> {
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
      return undefined // such as a host that is not public
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
