// The callers of a server: their tokens, and how much each of them may use.
//
// The token file has one line for each token. `politely serve token` prints them:
//
//   # name  SHA-256 of the token                                      quotas
//   search  sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c…  permits=200 per-second=50
//   images  sha256:60303ae22b998861bce3b28f33eec1be758a213c86c93c07…
import { createHash, randomBytes } from 'node:crypto'
import { OptionError } from '@politely/core'
import { describeValue } from '@politely/fetcher/internal'
import { TokenFileError } from './errors.ts'

/** What one tenant may use. `Infinity` for no limit. */
export interface Quotas {
  /** How many permits it may hold. */
  readonly permits: number
  /** How many permits it gets in a second, on average. A tenth of a minute's worth may come at once. */
  readonly perSecond: number
  /** How many of its URLs may wait. */
  readonly waiting: number
  /** How many bytes it may fetch through the server in a minute. */
  readonly bytesPerMinute: number
  /** Which part of the concurrency of a pace key it may use. From 0 to 1. */
  readonly share: number
}

export const DEFAULT_QUOTAS: Quotas = {
  permits: 10_000,
  perSecond: Number.POSITIVE_INFINITY,
  waiting: 200_000,
  bytesPerMinute: Number.POSITIVE_INFINITY,
  share: 1,
}

/** The quotas by their names in the file, such as `per-second`. */
const FIELDS: ReadonlyMap<string, keyof Quotas> = new Map(
  (Object.keys(DEFAULT_QUOTAS) as (keyof Quotas)[]).map((field) => [
    field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    field,
  ]),
)

/** A quota that a tenant has used up. */
export type UsedUp = 'permits' | 'rate' | 'share' | 'waiting' | 'bytes'

const NAME = /^[\w.-]{1,64}$/
const NAME_EXPECTED = 'write up to 64 letters, digits, ".", "-" or "_"'

/** Seconds' worth of permits, or of bytes, that may come at once. */
const BURST_SECONDS = 6

/** Counts down an amount that grows with time. */
class Allowance {
  readonly #now: () => number
  #left = 0
  #at = Number.NEGATIVE_INFINITY

  constructor(now: () => number) {
    this.#now = now
  }

  /** Returns how long it takes until this much is left. Milliseconds; 0 if it is. */
  waitMs(amount: number, perSecond: number): number {
    if (perSecond === Number.POSITIVE_INFINITY) return 0
    const now = this.#now()
    const max = Math.max(perSecond * BURST_SECONDS, 1)
    this.#left = Math.min(max, this.#left + (Math.max(0, now - this.#at) / 1_000) * perSecond)
    this.#at = now
    const missing = Math.min(amount, max) - this.#left
    return missing <= 0 ? 0 : perSecond === 0 ? 60_000 : Math.ceil((missing / perSecond) * 1_000)
  }

  take(amount: number, perSecond: number): void {
    if (perSecond < Number.POSITIVE_INFINITY) this.#left -= amount
  }
}

export class Tenant {
  readonly name: string
  quotas: Quotas
  /** How many of its URLs wait. */
  waiting = 0
  /** How many of its calls of /v1/check are under way. */
  checking = 0
  #permits = 0
  readonly #permitsByKey = new Map<string, number>()
  readonly #rate: Allowance
  readonly #bytes: Allowance

  constructor(name: string, quotas: Quotas, now: () => number) {
    this.name = name
    this.quotas = quotas
    this.#rate = new Allowance(now)
    this.#bytes = new Allowance(now)
  }

  /**
   * Counts a further permit. Returns the quota that it would exceed instead, and how long to wait
   * before asking again.
   */
  take(key: string, maxConcurrent: number): { readonly because: UsedUp; readonly waitMs: number } | undefined {
    const { permits, perSecond, share } = this.quotas
    if (this.#permits >= permits) return { because: 'permits', waitMs: 1_000 }
    const waitMs = this.#rate.waitMs(1, perSecond)
    if (waitMs > 0) return { because: 'rate', waitMs }
    const ofKey = this.#permitsByKey.get(key) ?? 0
    if (share < 1 && ofKey >= Math.max(1, Math.floor(share * maxConcurrent))) return { because: 'share', waitMs: 1_000 }
    this.#rate.take(1, perSecond)
    this.#permits++
    this.#permitsByKey.set(key, ofKey + 1)
    return undefined
  }

  get mayWait(): boolean {
    return this.waiting < this.quotas.waiting
  }

  /** A permit that was counted is not granted after all. */
  giveBack(key: string): void {
    this.#rate.take(-1, this.quotas.perSecond)
    this.ended(key)
  }

  ended(key: string): void {
    this.#permits--
    const left = (this.#permitsByKey.get(key) ?? 1) - 1
    if (left > 0) this.#permitsByKey.set(key, left)
    else this.#permitsByKey.delete(key)
  }

  /** Returns how long to wait before the next fetch through the server. Milliseconds. */
  get fetchWaitMs(): number {
    return this.#bytes.waitMs(1, this.quotas.bytesPerMinute / 60)
  }

  fetched(bytes: number): void {
    this.#bytes.take(bytes, this.quotas.bytesPerMinute / 60)
  }
}

/** All tenants of a server, found by their tokens. */
export class Tenants {
  readonly #now: () => number
  #byHash = new Map<string, Tenant>()
  /** Also those whose tokens were removed: they may still hold permits. */
  readonly #byName = new Map<string, Tenant>()
  /** How many tenants there are; 0 until tokens are loaded. */
  size = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * Replaces the tokens. Tenants keep what they hold.
   * @throws {TokenFileError} for a line that is not valid, and for a file without a token. Then the old
   * tokens stay.
   */
  load(text: string): void {
    const byHash = new Map<string, Tenant>()
    for (const [n, line] of text.split('\n').entries()) {
      const words = line
        .replace(/(?:^|\s)#.*$/, '')
        .trim()
        .split(/\s+/)
      if (words[0] === '') continue
      const { name, hash, quotas } = parsed(words, n + 1)
      if (byHash.has(hash))
        throw new TokenFileError(n + 1, 'has the token of an earlier line; make one with politely serve token')
      const tenant = this.#byName.get(name) ?? new Tenant(name, quotas, this.#now)
      this.#byName.set(name, tenant) // a tenant may have two tokens, while one of them is replaced
      byHash.set(hash, tenant)
      tenant.quotas = quotas
    }
    if (byHash.size === 0) throw new TokenFileError(1, 'there is no token in it; write politely serve token NAME')
    this.#byHash = byHash
    this.size = new Set(byHash.values()).size
  }

  byToken(token: string): Tenant | undefined {
    return this.#byHash.get(hashOf(token))
  }
}

function parsed([name = '', hash = '', ...quotas]: readonly string[], line: number) {
  if (!NAME.test(name)) throw new TokenFileError(line, `${describeValue(name)} is not a name; ${NAME_EXPECTED}`)
  if (!/^sha256:[\da-f]{64}$/.test(hash))
    throw new TokenFileError(
      line,
      `${describeValue(hash)} is not a hash; write the line that politely serve token prints`,
    )
  const found: { -readonly [Name in keyof Quotas]: Quotas[Name] } = { ...DEFAULT_QUOTAS }
  for (const quota of quotas) {
    const [, label = '', value = ''] = /^([a-z-]+)=([\d.]+)$/.exec(quota) ?? []
    const field = FIELDS.get(label)
    const number = Number(value)
    if (field === undefined || !(number <= (field === 'share' ? 1 : Number.MAX_SAFE_INTEGER)))
      throw new TokenFileError(
        line,
        `${describeValue(quota)} is not a quota; write one of ${[...FIELDS.keys()].join(', ')}, such as permits=100`,
      )
    found[field] = number
  }
  return { name, hash: hash.slice('sha256:'.length), quotas: found }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/**
 * Makes a token of 256 bits for a tenant, and its line for the token file.
 * @throws {OptionError} for a name with other characters than letters, digits, ".", "-" and "_".
 */
export function newToken(name: string): { readonly token: string; readonly line: string } {
  if (!NAME.test(name)) throw new OptionError('name', `${describeValue(name)} is not a name; ${NAME_EXPECTED}`)
  const token = `politely_${randomBytes(32).toString('base64url')}`
  return { token, line: `${name} sha256:${hashOf(token)}` }
}
