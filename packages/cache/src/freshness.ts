// Says whether a response may be stored, and how long it is fresh (RFC 9111). http-cache-semantics
// decides; what it leaves out stands here.
import { httpDate } from '@politely/core/engine'
import CachePolicy from 'http-cache-semantics'
import type { PageRecord } from './page-store.ts'

export type HeaderFields = Readonly<Record<string, string>>

/** How fresh a stored response is. */
export interface Freshness {
  /** RFC 9111 §4.2.3. Milliseconds. */
  readonly ageMs: number
  /** How long it is fresh, from the time at which the site made it (RFC 9111 §4.2.1). Milliseconds. */
  readonly lifetimeMs: number
}

/** The time of the policy that is being asked. Milliseconds since 1970. */
let time = 0
class TimedPolicy extends CachePolicy {
  now(): number {
    return time
  }
}

/** The options that the caller chose. */
export interface FreshnessOptions {
  /** The share of the age of a page without a lifetime for which it is fresh (RFC 9111 §4.2.2). */
  readonly heuristic: number
}

function policyOf(
  headers: HeaderFields,
  status: number,
  request: HeaderFields,
  at: number,
  options: FreshnessOptions,
): CachePolicy {
  time = at
  return new TimedPolicy(
    { method: 'GET', headers: plain(request, at) },
    { status, headers: plain(headers, at) },
    { shared: false, cacheHeuristic: options.heuristic, immutableMinTimeToLive: 0 },
  )
}

/** Decides for one cache. Remembers what it found out about records in memory. */
export class FreshnessRules {
  readonly #options: FreshnessOptions
  readonly #atReceipt: WeakMap<object, Freshness> = new WeakMap()

  constructor(options: FreshnessOptions) {
    this.#options = options
  }

  /** Returns whether a response to a GET may be stored (RFC 9111 §3). */
  isStorable(record: ResponseRecord, request: HeaderFields): boolean {
    const headers = Object.fromEntries(record.headers)
    const policy = policyOf(headers, record.status, request, record.receivedAt, this.#options)
    this.#remember(record, headers, policy)
    const isPart = record.status === 206
    const variesBeyondRequest = headers.vary?.split(',').some((name) => name.trim() === '*') === true
    return !isPart && !variesBeyondRequest && policy.storable()
  }

  freshnessOf(record: ResponseRecord, now: number): Freshness {
    let found = this.#atReceipt.get(record.headers)
    if (found === undefined) {
      const headers = Object.fromEntries(record.headers)
      found = this.#remember(record, headers, policyOf(headers, record.status, {}, record.receivedAt, this.#options))
    }
    const residentMs = now - record.receivedAt
    // The clock was set back, so the age is not known.
    if (residentMs < 0) return { ageMs: found.ageMs, lifetimeMs: 0 }
    return { ageMs: found.ageMs + residentMs, lifetimeMs: found.lifetimeMs }
  }

  /** Remembers how fresh a response was when it arrived. Its list of headers is made for it alone. */
  #remember(record: ResponseRecord, headers: HeaderFields, policy: CachePolicy): Freshness {
    const { receivedAt, requestedAt } = record
    time = receivedAt
    const delayMs = receivedAt - requestedAt
    const dateMs = httpDate(headers.date ?? '', receivedAt) ?? receivedAt
    const apparentMs = Math.max(0, receivedAt - dateMs)
    const ageMs = Math.max(policy.age() * 1000 + delayMs, apparentMs)
    const found = { ageMs, lifetimeMs: policy.maxAge() * 1000 }
    this.#atReceipt.set(record.headers, found)
    return found
  }
}

type ResponseRecord = Pick<PageRecord, 'status' | 'headers' | 'requestedAt' | 'receivedAt'>

/** The directives of Cache-Control, by their names in lower case (RFC 9111 §5.2). */
export function directivesOf(cacheControl: string | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [, name = '', quoted, token] of (cacheControl ?? '').matchAll(DIRECTIVE))
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), quoted ?? token ?? '')
  return found
}
const DIRECTIVE = /([!#$%&'*+.^_`|~\w-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,"]*)))?[^,]*/g

/** The value of a directive in milliseconds; undefined if it is not a number of seconds. */
export function secondsOf(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+$/.test(value) ? Number(value) * 1000 : undefined
}

/**
 * Writes headers so that http-cache-semantics reads them as meant. Cache-Control: names in lower case,
 * no commas inside of quotes, and the first of two equal directives. Dates: in the formats of HTTP
 * alone (RFC 9110 §5.6.7). Age: in whole seconds.
 */
function plain(headers: HeaderFields, at: number): Record<string, string> {
  const read = { ...headers }
  const { 'cache-control': directives, expires, age } = read
  if (directives !== undefined) {
    const parts = [...directivesOf(directives)].map(([name, value]) => {
      const text = value.replaceAll(/[",]/g, ' ').trim()
      return text === '' ? name : `${name}=${text}`
    })
    read['cache-control'] = parts.join(', ')
  }
  if (expires !== undefined && httpDate(expires, at) === undefined) read.expires = '0'
  for (const name of ['date', 'last-modified'])
    if (read[name] !== undefined && httpDate(read[name], at) === undefined) delete read[name]
  if (age !== undefined && !/^\s*\d+\s*(?:,|$)/.test(age)) delete read.age
  return read
}
