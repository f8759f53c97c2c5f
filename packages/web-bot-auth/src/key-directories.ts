// KeyDirectories: fetches and caches the key sets that signatures name.
//
// A stranger chooses the URL. So only public addresses are connected to, no redirect is followed,
// and time, bytes and keys are bounded. A fetch that succeeds replaces what is known of the URL. A
// fetch that fails proves nothing, and changes nothing.
//
// The stranger may own the domain of the URL, with any number of hosts and paths, and keep others
// out; or a third party does, and gets the requests. So each site has a share of the fetches at a
// time and of the memory, and gets few requests a minute.
import type { LookupFunction } from 'node:net'
import { NetworkGuard } from '@politely/fetcher'
import {
  assertOptions,
  callable,
  DomainTurns,
  Fifo,
  integer,
  messageOf,
  type Site,
  siteOf,
} from '@politely/fetcher/internal'
import { ACCEPT_KEYS, boundedGet, maxAgeOf, pageNote } from './bounded-get.ts'
import { DomainMap } from './domain-map.ts'
import { isForSignatures, type Jwk, type PublicKey, readPublicKey, validityOf } from './keys.ts'
import { DIRECTORY_PATH } from './profiles.ts'

/** Options of `KeyDirectories`. Experimental. */
export interface DirectoryOptions {
  /** The time limit of one fetch. Milliseconds. Default 5,000. */
  readonly timeoutMs?: number | undefined
  /** The size limit of a key set. Bytes. Default 65,536. */
  readonly maxBodyBytes?: number | undefined
  /** How many keys a key set may have. Default 100. A larger one is not used at all. */
  readonly maxKeys?: number | undefined
  /**
   * How many key sets are kept. Default 1,000; their keys take at most about 32 MiB. When there are
   * more, the registrable domains with the most lose their least recently used.
   */
  readonly maxDirectories?: number | undefined
  /**
   * How many fetches may run at the same time. Default 20. A site may have a fifth of them, and a
   * platform half. A request beyond it is `unverified`.
   */
  readonly maxFetches?: number | undefined
  /**
   * The shortest time between two fetches of one URL. The second fetch is for a key that the first
   * set lacked, or follows a failure. Milliseconds. Default 60,000.
   */
  readonly retryMs?: number | undefined
  /** Private addresses and blocks, such as `127.0.0.1`, to treat as public. Default none. */
  readonly allowAddresses?: readonly string[] | undefined
  /** A resolver with the signature of `dns.lookup`. Default `dns.lookup`. */
  readonly lookup?: LookupFunction | undefined
  /** The clock: returns milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

/** The checked limits. */
interface Limits {
  readonly timeoutMs: number
  readonly maxBodyBytes: number
  readonly maxKeys: number
  readonly maxDirectories: number
  readonly maxFetches: number
  readonly retryMs: number
}

/** A public key that can verify, within its time. */
type DirectoryKey = PublicKey & NonNullable<ReturnType<typeof validityOf>>

/** The result of a search: a key, or why it was not found. */
export type FoundKey =
  | { readonly kind: 'key'; readonly key: DirectoryKey }
  | { readonly kind: 'unknown-key'; readonly detail: string }
  | { readonly kind: 'failed'; readonly detail: string }

interface Directory {
  /** By thumbprint. */
  readonly keys: ReadonlyMap<string, DirectoryKey>
  readonly freshUntil: number
  /** About how much memory it takes. */
  readonly bytes: number
}

/** How a fetch ended. The key set of an earlier fetch stays when it fails. */
interface Fetched {
  readonly directory: Directory | undefined
  readonly failure: string | undefined
}

/** The defaults of `maxBodyBytes` and `maxKeys`. */
export const MAX_BODY_BYTES = 65_536
export const MAX_KEYS = 100

const KNOWN: Readonly<Record<keyof DirectoryOptions, true>> = {
  timeoutMs: true,
  maxBodyBytes: true,
  maxKeys: true,
  maxDirectories: true,
  maxFetches: true,
  retryMs: true,
  allowAddresses: true,
  lookup: true,
  now: true,
}

/**
 * For how long a key set without Cache-Control is fresh; and the bounds of what a site may say. Our
 * choice.
 */
const DEFAULT_TTL_MS = 3_600_000
const MIN_TTL_MS = 60_000
const MAX_TTL_MS = 86_400_000

/** All fetches at a time are enough for this many sites. Our choice. */
const SITES_AT_ONCE = 5
/** How many requests of each kind a site gets within `ASKED_MS`. Our choice. */
const MAX_ASKED_PER_SITE = 10
const ASKED_MS = 60_000
/** How many of these requests are remembered. Our choice. */
const MAX_ASKED = 10_000

/** The memory of an imported key. Measured, and rounded up for RSA. */
const BYTES_PER_KEY = 6_000
/** The memory for all key sets; and for each set, if `maxDirectories` is large. Our choice. */
const KEPT_BYTES = 2 ** 25
const BYTES_PER_DIRECTORY = 2 ** 15
/** The memory for an attempt: its URL, and a failure that names the URL too. */
const BYTES_PER_ATTEMPT = 2 ** 12

/**
 * The key sets of agents, for `verify`. One object serves all requests of a server. It keeps up to
 * `maxDirectories` key sets in memory, and no connection. Experimental.
 * @throws {OptionError} for an invalid or unknown option.
 */
export class KeyDirectories {
  readonly #limits: Limits
  readonly #guard: NetworkGuard
  readonly #now: () => number
  /** By URL. An evicted key set is fetched again for its next signature, before `retryMs` is over. */
  readonly #directories: DomainMap<Directory>
  /** By URL: when it may be fetched again, and how the last fetch failed. */
  readonly #attempts: DomainMap<{ readonly nextAt: number; readonly failure: string | undefined }>
  readonly #fetches = new Map<string, Promise<Fetched>>()
  /** The sites of these fetches. */
  readonly #fetching: DomainTurns<never>
  /** The sites of the requests within `ASKED_MS`, and when they began, the oldest first. */
  readonly #asked = new Fifo<{ readonly site: Site; readonly at: number }>()
  readonly #asking = new DomainTurns<never>(Number.POSITIVE_INFINITY, MAX_ASKED_PER_SITE)

  constructor(options: DirectoryOptions = {}) {
    assertOptions(options, '{ timeoutMs: 5000 }', KNOWN)
    const { timeoutMs = 5_000, maxBodyBytes = MAX_BODY_BYTES, maxKeys = MAX_KEYS } = options
    const { maxDirectories = 1_000, maxFetches = 20, retryMs = 60_000, allowAddresses, lookup } = options
    this.#limits = {
      timeoutMs: integer('timeoutMs', timeoutMs, { min: 1, max: 600_000, example: 5_000 }),
      maxBodyBytes: integer('maxBodyBytes', maxBodyBytes, { min: 1, max: 2 ** 28, example: MAX_BODY_BYTES }),
      maxKeys: integer('maxKeys', maxKeys, { min: 1, example: MAX_KEYS }),
      maxDirectories: integer('maxDirectories', maxDirectories, { min: 1, example: 1_000 }),
      maxFetches: integer('maxFetches', maxFetches, { min: 1, example: 20 }),
      retryMs: integer('retryMs', retryMs, { min: 0, example: 60_000 }),
    }
    this.#guard = new NetworkGuard({ network: 'public-only', allowAddresses, lookup })
    this.#now = callable('now', options.now, 'a function that returns milliseconds') ?? Date.now
    const bytesEach = Math.max(BYTES_PER_DIRECTORY, Math.ceil(KEPT_BYTES / maxDirectories))
    this.#directories = new DomainMap(maxDirectories, bytesEach, (url) => this.#attempts.delete(url))
    this.#attempts = new DomainMap(maxDirectories, BYTES_PER_ATTEMPT)
    this.#fetching = new DomainTurns(maxFetches, Math.ceil(maxFetches / SITES_AT_ONCE))
  }

  /**
   * Finds a key by the URL of its key set and its thumbprint. Fetches the key set if it is not
   * known, no longer fresh, or does not have the key for now. Never rejects.
   * @param skewMs How long before its `nbf`, and after its `exp`, a key still counts.
   * @internal
   */
  async find(url: string, keyid: string, skewMs = 0): Promise<FoundKey> {
    let directory = this.#directories.get(url)
    const isKnown = this.#current(directory?.keys.get(keyid), skewMs)
    const attempt = this.#attempts.get(url)
    let failure = attempt?.failure
    const isDue = directory === undefined || this.#now() >= directory.freshUntil || !isKnown
    if (isDue && (attempt === undefined || this.#now() >= attempt.nextAt)) {
      const fetching = this.#fetches.get(url) ?? this.#begin(url)
      if (typeof fetching !== 'string') ({ directory, failure } = await fetching)
      else if (!isKnown) return { kind: 'failed', detail: fetching }
    }
    const key = directory?.keys.get(keyid)
    if (key !== undefined && this.#current(key, skewMs)) return { kind: 'key', key }
    if (directory === undefined || failure !== undefined)
      return { kind: 'failed', detail: failure ?? 'the key set is no longer kept' }
    const why = key === undefined ? `${url} has no key ${keyid}` : `the time of the key ${keyid} is not now (nbf, exp)`
    return { kind: 'unknown-key', detail: why }
  }

  #current(key: DirectoryKey | undefined, skewMs: number): boolean {
    return key !== undefined && key.from - skewMs <= this.#now() && this.#now() < key.until + skewMs
  }

  /** Begins a fetch. Returns why not if it may not begin now. */
  #begin(url: string): Promise<Fetched> | string {
    const { origin, pathname } = new URL(url)
    const site = siteOf(origin)
    const { underWay } = this.#fetching
    const limit = this.#fetching.fullLimit(site)
    if (limit === 'all') return `${underWay} other key sets are being fetched`
    if (limit === 'domain') return `too many other key sets of ${site.name} are being fetched`
    // Each kind counts apart, so that invented URLs keep out neither the well-known key sets nor
    // the fetch that shows that a known key was revoked.
    const isKnown = this.#directories.has(url)
    const kind = isKnown ? 'known' : pathname === DIRECTORY_PATH ? 'well-known' : 'other'
    const platform = isKnown ? undefined : site.platform
    if (!this.#mayAsk({ name: `${kind} ${site.name}`, platform }))
      return `${site.name} was asked for too many key sets within a minute`
    this.#fetching.start(site)
    const fetching = this.#fetch(url).finally(() => {
      this.#fetches.delete(url)
      this.#fetching.end(site)
    })
    this.#fetches.set(url, fetching)
    return fetching
  }

  /** Counts a request to a site. Returns false if the site has had too many. */
  #mayAsk(site: Site): boolean {
    const now = this.#now()
    const isOver = ({ at }: { readonly at: number }) => Math.abs(now - at) >= ASKED_MS || this.#asked.size >= MAX_ASKED
    for (let first = this.#asked.first; first !== undefined && isOver(first); first = this.#asked.first) {
      this.#asked.delete(first)
      this.#asking.end(first.site)
    }
    if (this.#asking.fullLimit(site) !== undefined) return false
    this.#asking.start(site)
    this.#asked.add({ site, at: now })
    return true
  }

  async #fetch(url: string): Promise<Fetched> {
    let directory: Directory | undefined
    let failure: string | undefined
    try {
      directory = await this.#request(url)
      this.#directories.set(url, directory, directory.bytes)
    } catch (error) {
      directory = this.#directories.get(url)
      failure = messageOf(error)
    }
    const attempt = { nextAt: this.#now() + this.#limits.retryMs, failure }
    this.#attempts.set(url, attempt, failure?.length ?? 0)
    return { directory, failure }
  }

  async #request(url: string): Promise<Directory> {
    const { timeoutMs, maxBodyBytes, maxKeys } = this.#limits
    const got = await boundedGet(url, { guard: this.#guard, timeoutMs, maxBodyBytes, accept: ACCEPT_KEYS })
    if (got.status !== 200) throw new Error(`${url} has status ${got.status}; a key set needs 200, without a redirect`)
    if (got.headers['content-encoding'] !== undefined)
      throw new Error(`${url} has a Content-Encoding, which was not asked for`)
    const keys = await keysOf(url, got.body.toString(), maxKeys)
    const bytes = keys.size * BYTES_PER_KEY + 2 * got.body.length
    const maxAge = maxAgeOf(got)
    const ttlMs = maxAge === undefined ? DEFAULT_TTL_MS : Math.min(Math.max(maxAge * 1000, MIN_TTL_MS), MAX_TTL_MS)
    return { keys, freshUntil: this.#now() + ttlMs, bytes }
  }
}

/**
 * Returns the keys of a JWK set (RFC 7517 §5) that can verify, by thumbprint. Other keys are
 * ignored.
 */
async function keysOf(url: string, text: string, maxKeys: number): Promise<ReadonlyMap<string, DirectoryKey>> {
  let keys: unknown
  try {
    keys = (JSON.parse(text) as { readonly keys?: unknown } | null)?.keys
  } catch {
    throw new Error(`${url} is not JSON${pageNote(text)}`)
  }
  if (!Array.isArray(keys)) throw new Error(`${url} is not a JWK set: it has no list \`keys\``)
  if (keys.length > maxKeys) throw new Error(`${url} has ${keys.length} keys, which is more than ${maxKeys}`)
  const found = new Map<string, DirectoryKey>()
  for (const jwk of keys as readonly unknown[]) {
    const given = Object(jwk) as Jwk
    const validity = validityOf(given)
    const key = validity && isForSignatures(given) ? await readPublicKey(given) : undefined
    if (key !== undefined && validity !== undefined) found.set(key.kid, { ...key, ...validity })
  }
  return found
}
