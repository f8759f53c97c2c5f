// DomainMap: what strangers make this process remember, within bounds.
//
// A wildcard in DNS gives a domain any number of hosts, and each host has any number of URLs. A
// least recently used map of fixed size would let one domain evict all others. So this map counts
// bytes for each registrable domain. When it is full, the largest domains lose entries. One domain
// may fill the map while no other needs the room.
//
// One measure limits the bytes and the number of entries: a small entry counts as `minBytes`.
import { registrableDomainOf } from '@politely/fetcher'

interface Domain {
  readonly name: string
  bytes: number
}

interface Entry<V> {
  /** A copy: V8 would keep the text that the caller's URL is a slice of. */
  readonly url: string
  readonly domain: Domain
  readonly value: V
  readonly bytes: number
}

/** The memory of an entry without its texts and value. Measured and rounded up. */
const ENTRY_BYTES = 400

export class DomainMap<V> {
  readonly #maxBytes: number
  readonly #minBytes: number
  readonly #onEvict: (url: string) => void
  /** By URL, the least recently used first. */
  readonly #entries = new Map<string, Entry<V>>()
  readonly #domains = new Map<string, Domain>()
  #bytes = 0

  /** @param maxEntries How many entries of at most `minBytes` there is room for. */
  constructor(maxEntries: number, minBytes: number, onEvict: (url: string) => void = () => undefined) {
    this.#maxBytes = maxEntries * minBytes
    this.#minBytes = minBytes
    this.#onEvict = onEvict
  }

  has(url: string): boolean {
    return this.#entries.has(url)
  }

  /** Returns the value of a URL, which is then the most recently used. */
  get(url: string): V | undefined {
    const entry = this.#entries.get(url)
    if (entry === undefined) return undefined
    this.#entries.delete(url)
    this.#entries.set(entry.url, entry)
    return entry.value
  }

  /** @param valueBytes The memory of the value. */
  set(url: string, value: V, valueBytes: number): void {
    this.delete(url)
    const name = registrableDomainOf(url)
    const domain = this.#domains.get(name) ?? { name: copyOf(name), bytes: 0 }
    const bytes = Math.max(this.#minBytes, ENTRY_BYTES + url.length + valueBytes)
    const entry = { url: copyOf(url), domain, value, bytes }
    this.#domains.set(domain.name, domain)
    this.#entries.set(entry.url, entry)
    this.#count(entry, bytes)
    while (this.#bytes > this.#maxBytes) this.#evict()
  }

  delete(url: string): void {
    const entry = this.#entries.get(url)
    if (entry === undefined) return
    this.#entries.delete(url)
    this.#count(entry, -entry.bytes)
    if (entry.domain.bytes === 0) this.#domains.delete(entry.domain.name)
  }

  #count({ domain }: Entry<V>, bytes: number): void {
    domain.bytes += bytes
    this.#bytes += bytes
  }

  /**
   * Evicts the least recently used entry of the domains that have at least half as much as the
   * largest. Among domains of about the same size, the order of use decides.
   */
  #evict(): void {
    let most = 0
    for (const { bytes } of this.#domains.values()) most = Math.max(most, bytes)
    for (const { url, domain } of this.#entries.values()) {
      if (domain.bytes < most / 2) continue
      this.delete(url)
      this.#onEvict(url)
      return
    }
  }
}

function copyOf(text: string): string {
  return Buffer.from(text).toString()
}
