// Remembers where redirects led, so that the network guard knows a hop from a direct request.
//
// Many clients follow redirects themselves, `fetch` among them, and send a hop like any other request. A public page must not lead such a client to a
// private address, so the gate notes the target of every redirect that it sees to another host.
import { LRUCache } from 'lru-cache'
import { isRedirect, redirectionOf } from './redirect.ts'

/** A hop follows its redirect at once, but may wait in the caller's own queue. */
const TTL_MS = 10 * 60 * 1000
const MAX_TARGETS = 10_000

/** Longer chains are loops, or close to one: clients follow 20 redirects. */
const MAX_CHAIN = 20

export class RedirectTargets {
  readonly #chains = new LRUCache<string, readonly string[]>({ max: MAX_TARGETS, ttl: TTL_MS })

  /** Notes the answer to a request for this URL. */
  note(url: string, status: number, location: string | null): void {
    if (!isRedirect(status, location)) return
    const from = new URL(url)
    const target = redirectionOf(from, 'GET', status, location)?.url
    if (target === undefined) return
    const before = this.to(url)
    if (target.hostname === from.hostname && before.length === 0) return // it leads where the caller asked to go
    this.#chains.set(keyOf(target), [...before, from.href].slice(-MAX_CHAIN))
  }

  /** Returns the URLs whose redirects led to this one, in their order; empty for a URL that is not known as a target. */
  to(url: string): readonly string[] {
    if (this.#chains.size === 0) return []
    const parsed = URL.parse(url)
    return (parsed && this.#chains.get(keyOf(parsed))) ?? []
  }
}

function keyOf(url: URL): string {
  return url.hash === '' ? url.href : url.href.slice(0, -url.hash.length)
}
