// Permits that the gate has granted for a URL before the request for it is made: the next request
// for the URL that enters the gate gets the permit, and doesn't wait again. `siteQueue` reserves
// them for the URLs that it yields.
import type { Permit } from './permit.ts'

/** A request that waits or is under way. */
export interface EnteredRequest {
  readonly url: string
  readonly redirectedFrom: readonly string[]
}

export class ReservedPermits {
  readonly #permits = new Map<string, Permit[]>()
  /** How many permits were reserved, and not yet given back. Undefined before the first one. */
  #yielded: number | undefined

  /** Whether no permit is reserved, as in most programs. */
  get isEmpty(): boolean {
    return this.#permits.size === 0
  }

  /** How many URLs were yielded with a permit, and are not done. Undefined if none ever was. */
  get yielded(): number | undefined {
    return this.#yielded
  }

  /**
   * @returns A function to call when the URL is done. It releases the permit, unless a request has
   * taken it.
   */
  add(permit: Permit): () => void {
    this.#yielded = (this.#yielded ?? 0) + 1
    let isDone = false
    const name = requestName(permit.url)
    const permits = this.#permits.get(name)
    if (permits === undefined) this.#permits.set(name, [permit])
    else permits.push(permit)
    return () => {
      if (!isDone) this.#yielded = (this.#yielded ?? 0) - 1
      isDone = true
      if (this.#remove(name, permit)) permit.release()
    }
  }

  /** Whether this permit is reserved. */
  has(permit: Permit): boolean {
    return this.#permits.get(requestName(permit.url))?.includes(permit) ?? false
  }

  /** Returns the permit that was reserved first for this URL, and removes it. */
  take(url: string): Permit | undefined {
    const name = requestName(url)
    const permit = this.#permits.get(name)?.[0]
    if (permit !== undefined) this.#remove(name, permit)
    return permit
  }

  #remove(name: string, permit: Permit): boolean {
    const permits = this.#permits.get(name) ?? []
    const index = permits.indexOf(permit)
    if (index === -1) return false
    permits.splice(index, 1)
    if (permits.length === 0) this.#permits.delete(name)
    return true
  }
}

/**
 * Returns the same text for all ways in which HTTP clients write a URL: normalised, and without the
 * parts that they don't send in it. An invalid URL stays as it is.
 */
export function requestName(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null) return url
  parsed.hash = ''
  parsed.username = ''
  parsed.password = ''
  return parsed.href
}

/** Whether one of these requests is for one of the URLs, or for a redirect from it. */
export function includesRequestFor(urls: Iterable<string>, requests: Iterable<EnteredRequest>): boolean {
  const names = new Set(Array.from(urls, requestName))
  for (const { url, redirectedFrom } of requests)
    if ([url, ...redirectedFrom].some((one) => names.has(requestName(one)))) return true
  return false
}
