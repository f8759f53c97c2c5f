// Remembers which private URLs redirects led to, so that the network guard knows a hop from a direct request.
//
// Many clients follow redirects themselves, `fetch` among them, and send a hop like any other request. A public page must not lead such a client to a
// private address. Connections to public names need no note: they are guarded by their name.
import { isPrivateHost } from '@politely/fetcher/host-name'

/** A hop follows its redirect at once, but may wait in the caller's own queue. */
const TTL_MS = 10 * 60 * 1000

/** More than this in ten minutes is an attack. From then on every private URL counts as a target, rather than that one is forgotten. */
const MAX_TARGETS = 10_000

/** Longer chains are loops, or close to one: clients follow 20 redirects. */
const MAX_CHAIN = 20

interface Target {
  /** The origins whose redirects led there, in their order. */
  readonly chain: readonly string[]
  readonly until: number
}

export class RedirectTargets {
  readonly #now: () => number
  /** By `keyOf`, the oldest first. */
  readonly #targets = new Map<string, Target>()
  /** For every private URL, after too many targets. */
  #overflow: Target | undefined

  /** @param now A clock in milliseconds that never goes back. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Notes the answer to a request for this URL. Some clients follow every 3xx that has a Location. */
  note(url: string, status: number, location: string | null): void {
    if (status < 300 || status > 399 || location === null) return
    const from = new URL(url)
    for (const target of readingsOf(location, from)) this.#note(from, target)
  }

  /** Returns the origins whose redirects led to this URL, in their order; none for a URL that is not known as a target. */
  to(url: string): readonly string[] {
    if (this.#targets.size === 0) return []
    const parsed = URL.parse(url)
    if (parsed === null || !isPrivateHost(parsed.hostname)) return []
    const target = this.#targets.get(keyOf(parsed)) ?? this.#overflow
    return target !== undefined && this.#now() < target.until ? target.chain : []
  }

  #note(from: URL, target: URL): void {
    if (!isPrivateHost(target.hostname)) return
    const before = this.to(from.href)
    if (target.hostname === from.hostname && before.length === 0) return // the caller asked for this host
    const noted = { chain: [...before, from.origin].slice(-MAX_CHAIN), until: this.#now() + TTL_MS }
    const key = keyOf(target)
    this.#targets.delete(key)
    this.#targets.set(key, noted)
    if (this.#targets.size > MAX_TARGETS) this.#shrink(noted)
  }

  #shrink(newest: Target): void {
    for (const [key, { until }] of this.#targets) {
      if (this.#targets.size <= MAX_TARGETS) return
      if (until > newest.until - TTL_MS) this.#overflow = newest
      this.#targets.delete(key)
    }
  }
}

/** Where clients may go: they read a header as UTF-8 or Latin-1, take one of several values, and end the host where the URL standard does not. */
function readingsOf(location: string, from: URL): readonly URL[] {
  const texts = [location, Buffer.from(location, 'latin1').toString()]
  const values = new Set([...texts, ...texts.flatMap((text) => text.split(/,\s*/, MAX_CHAIN))])
  return [...values].flatMap((value) => {
    const urls = [URL.parse(value, from.href), URL.parse(withShortHost(value), from.href)]
    return urls.filter((url) => url !== null)
  })
}

/** As older clients read it: the host ends at the first character that no host name has, and the rest is the path. */
function withShortHost(value: string): string {
  return value.replace(/^([a-z]+:)?\/\/([^/?#@]*@)?([\w.:[\]-]+)([^/?#])/i, '$1//$3/$4')
}

/**
 * A key that all spellings of a URL share: clients drop the fragment and the credentials, and encode odd characters in different ways. So
 * everything but letters and digits is left out of the path. Where two URLs of a host share a key, both count as targets.
 */
function keyOf({ origin, pathname, search }: URL): string {
  const decoded = `${pathname}${search}`.replace(/%[0-9a-f]{2}/gi, (byte) =>
    String.fromCharCode(Number(`0x${byte.slice(1)}`)),
  )
  const path = decoded.replace(/[^0-9a-z]/gi, '').toLowerCase()
  return `${origin}/${path.slice(0, MAX_KEY_LENGTH)}`
}

/** A site chooses the length of its URLs. */
const MAX_KEY_LENGTH = 200
