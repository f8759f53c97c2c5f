// Remembers private URLs that redirects led to, so that the network guard can tell a hop from a
// direct request.
//
// Many clients, such as `fetch`, follow redirects themselves, and send a hop like any other
// request. A public page must not lead such a client to a private address. A redirect to a public
// name needs no entry: the guard checks the addresses of public names in any case.
import { isPrivateHost } from '@politely/fetcher/internal'

/**
 * A client usually follows a redirect at once, but a request may also wait in the caller's own
 * queue.
 */
const TTL_MS = 10 * 60 * 1000

/**
 * More targets than this in ten minutes are an attack. Then the oldest are evicted, and every
 * private URL counts as a target.
 */
const MAX_TARGETS = 10_000

/**
 * Clients follow at most 20 redirects, so a longer chain is a loop. Also the number of values read
 * from one Location.
 */
const MAX_CHAIN = 20

interface Target {
  /** The origins whose redirects led there, in order. */
  readonly chain: readonly string[]
  /** When the entry expires, by the gate's clock. */
  readonly expiresAt: number
}

export class RedirectTargets {
  readonly #now: () => number
  /** By `keyOf`; oldest first. */
  readonly #targets = new Map<string, Target>()
  /** Applies to every private URL. Set when there were too many targets. */
  #overflow: Target | undefined

  /** @param now A clock in milliseconds that never goes back. */
  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * Stores the targets of a response to a request for this URL. Some clients follow every 3xx
   * response with a Location.
   * @param chain The URLs that led to this URL, as the caller of the gate gave them.
   */
  note(url: string, status: number, location: string | null, chain: readonly string[] = []): void {
    if (status < 300 || status > 399 || location === null) return
    const from = new URL(url)
    const origins = chain.map((text) => new URL(text).origin)
    for (const target of possibleTargets(location, from)) this.#add(from, target, origins)
  }

  /** Returns the origins whose redirects led to this URL, in order. Empty if none did. */
  to(url: string): readonly string[] {
    if (this.#targets.size === 0) return []
    const parsed = URL.parse(url)
    if (parsed === null || !isPrivateHost(parsed.hostname)) return []
    const target = this.#targets.get(keyOf(parsed)) ?? this.#overflow
    return target !== undefined && this.#now() < target.expiresAt ? target.chain : []
  }

  #add(from: URL, target: URL, given: readonly string[]): void {
    if (!isPrivateHost(target.hostname) || target.hostname.length > MAX_HOST_LENGTH) return
    const before = [...this.to(from.href), ...given]
    if (target.hostname === from.hostname && before.length === 0) return // the caller requested this private host directly
    const added = { chain: [...before, from.origin].slice(-MAX_CHAIN), expiresAt: this.#now() + TTL_MS }
    const key = keyOf(target)
    this.#targets.delete(key)
    this.#targets.set(key, added)
    this.#evict(added)
  }

  /** Removes the targets that have expired, and the oldest ones if there are too many. */
  #evict(newest: Target): void {
    for (const [key, { expiresAt }] of this.#targets) {
      if (expiresAt > newest.expiresAt - TTL_MS) {
        if (this.#targets.size <= MAX_TARGETS) return
        this.#overflow = newest // it had not expired
      }
      this.#targets.delete(key)
    }
  }
}

/**
 * Returns every URL that some client may follow. Clients decode a Location as UTF-8 or Latin-1,
 * choose one of several comma-separated values, and some end the host earlier than the URL
 * standard.
 */
function possibleTargets(location: string, from: URL): readonly URL[] {
  const texts = [location, Buffer.from(location, 'latin1').toString()]
  const values = new Set([...texts, ...texts.flatMap((text) => text.split(/,\s*/, MAX_CHAIN))])
  return [...values].flatMap((value) => {
    const urls = [URL.parse(value, from.href), URL.parse(withShortHost(value), from.href)]
    return urls.filter((url) => url !== null)
  })
}

/**
 * Rewrites a URL as older clients read it: the host ends at the first character that is invalid in
 * a host name, and the path follows.
 */
function withShortHost(value: string): string {
  return value.replace(/^([a-z]+:)?\/\/([^/?#@]*@)?([\w.:[\]-]+)([^/?#])/i, '$1//$3/$4')
}

/**
 * Returns a key that all spellings of a URL share. Clients drop the fragment and the credentials,
 * and escape unusual characters in different ways. So the key keeps only the letters and digits of
 * the path. If two URLs of a host share a key, both count as targets.
 */
function keyOf({ origin, pathname, search }: URL): string {
  const decoded = `${pathname}${search}`.replace(/%[0-9a-f]{2}/gi, (byte) =>
    String.fromCharCode(Number(`0x${byte.slice(1)}`)),
  )
  const path = decoded.replace(/[^0-9a-z]/gi, '').toLowerCase()
  return `${origin}/${path.slice(0, MAX_KEY_LENGTH)}`
}

/** A site chooses the length of its URLs, and must not choose how much memory they take. */
const MAX_KEY_LENGTH = 200

/**
 * No longer name has an address, so no client can connect to it. RFC 1035 §2.3.4; with a dot at the
 * end.
 */
const MAX_HOST_LENGTH = 254
