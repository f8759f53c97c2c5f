// Remembers where redirects led, so that the network guard knows a hop from a direct request.
//
// Many clients follow redirects themselves, `fetch` among them, and send a hop like any other request. A public page must not lead such a client to a
// private address, so the gate notes the target of every redirect that it sees to another host.
import { LRUCache } from 'lru-cache'
import { redirectionOf } from './redirect.ts'

/** A hop follows its redirect at once, but may wait in the caller's own queue. */
const TTL_MS = 10 * 60 * 1000

/** A site chooses the length of its URLs. Bytes, about. */
const MAX_BYTES = 4 * 1024 * 1024

/** Longer chains are loops, or close to one: clients follow 20 redirects. */
const MAX_CHAIN = 20

export class RedirectTargets {
  /** By URL: the origins whose redirects led to it. */
  readonly #chains = new LRUCache<string, readonly string[]>({
    ttl: TTL_MS,
    maxSize: MAX_BYTES,
    sizeCalculation: (chain, url) => url.length + chain.reduce((bytes, origin) => bytes + origin.length, 200),
  })

  /** Notes the answer to a request for this URL. */
  note(url: string, status: number, location: string | null): void {
    // Some clients follow every 3xx that has a Location.
    if (status < 300 || status > 399 || location === null) return
    const from = new URL(url)
    const target = redirectionOf(from, 'GET', status, location)?.url
    if (target === undefined) return
    const before = this.to(url)
    if (target.hostname === from.hostname && before.length === 0) return // it leads where the caller asked to go
    this.#chains.set(keyOf(target), [...before, from.origin].slice(-MAX_CHAIN))
  }

  /** Returns the origins whose redirects led to this URL, in their order; none for a URL that is not known as a target. */
  to(url: string): readonly string[] {
    if (this.#chains.size === 0) return []
    const parsed = URL.parse(url)
    return (parsed && this.#chains.get(keyOf(parsed))) ?? []
  }
}

function keyOf(url: URL): string {
  return url.hash === '' ? url.href : url.href.slice(0, -url.hash.length)
}
