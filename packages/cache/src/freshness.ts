// Says whether a response may be stored, and how long it is fresh (RFC 9111). http-cache-semantics
// decides; what it leaves out stands here.
import { httpDate } from '@politely/core/internal'
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

/** What http-cache-semantics says of a response. */
interface Judgement {
  readonly isStorable: boolean
  readonly lifetimeMs: number
}

/** What is known of a response when it arrives. */
interface Received extends Judgement, Freshness {
  readonly headers: HeaderFields
}

/** How many judgements are remembered. Most responses of a site have the same directives. */
const MAX_REMEMBERED = 1_000
/** Longer directives are rare. */
const MAX_KEY_LENGTH = 500

/** Decides for one cache. */
export class FreshnessRules {
  readonly #heuristic: number
  /** By all that decides, for responses of which no date does. */
  readonly #judgements: Map<string, Judgement> = new Map()
  /** The last date that was read. Responses that arrive together have the same one. */
  #lastDate: { readonly text: string; readonly ms: number | undefined } = { text: '', ms: undefined }
  /** One request asks several times about one record. */
  #lastRecord: ResponseRecord | undefined
  #last: Received = { headers: {}, isStorable: false, ageMs: 0, lifetimeMs: 0 }

  /** @param heuristic The share of the age of a page without a lifetime for which it is fresh (RFC 9111 §4.2.2). */
  constructor(heuristic: number) {
    this.#heuristic = heuristic
  }

  /** Returns why a response to a GET without `no-store` is not stored; undefined if it may be (RFC 9111 §3). */
  obstacleTo(record: ResponseRecord): string | undefined {
    const { status } = record
    const { headers, isStorable } = this.#received(record)
    if (status === 206) return 'it is a part of a page'
    if (headers.vary?.split(',').some((name) => name.trim() === '*')) return 'its Vary is *'
    if (isStorable) return undefined
    const directives = directivesOf(headers['cache-control'])
    if (directives.has('no-store')) return 'its Cache-Control says no-store'
    const isLasting = directives.has('max-age') || headers.expires !== undefined
    return `a response with status ${status}${isLasting ? '' : ' and without a lifetime'} is not stored`
  }

  /** Until when a new response is fresh. Milliseconds since 1970; undefined if it is not. */
  freshUntil(record: ResponseRecord): number | undefined {
    const { ageMs, lifetimeMs } = this.#received(record)
    return lifetimeMs > ageMs ? record.receivedAt + lifetimeMs - ageMs : undefined
  }

  freshnessOf(record: ResponseRecord, now: number): Freshness {
    const received = this.#received(record)
    const { ageMs } = received
    const lifetimeMs = record.isOutdated ? 0 : received.lifetimeMs
    const residentMs = now - record.receivedAt
    // If the clock was set back, the age is not known.
    return residentMs < 0 ? { ageMs, lifetimeMs: 0 } : { ageMs: ageMs + residentMs, lifetimeMs }
  }

  #received(record: ResponseRecord): Received {
    if (record === this.#lastRecord) return this.#last
    const { receivedAt, requestedAt } = record
    const headers = Object.fromEntries(record.headers)
    const { isStorable, lifetimeMs } = this.#judge(record, headers)
    const apparentMs = receivedAt - (this.#dateOf(headers.date, receivedAt) ?? receivedAt)
    const ageMs = Math.max(ageOf(headers.age) + receivedAt - requestedAt, apparentMs, 0)
    this.#lastRecord = record
    this.#last = { headers, isStorable, ageMs, lifetimeMs }
    return this.#last
  }

  #judge({ status, receivedAt }: ResponseRecord, headers: HeaderFields): Judgement {
    const { 'cache-control': directives, pragma, vary, expires } = headers
    const isDated = expires !== undefined || (this.#heuristic > 0 && headers['last-modified'] !== undefined)
    const key = isDated ? '' : `${status}\n${directives}\n${pragma}\n${vary}`
    const known = this.#judgements.get(key)
    if (known !== undefined) return known
    time = receivedAt
    const policy = new TimedPolicy(
      { method: 'GET', headers: {} },
      { status, headers: plain(headers, receivedAt) },
      { shared: false, cacheHeuristic: this.#heuristic, immutableMinTimeToLive: 0 },
    )
    const judgement = {
      isStorable: policy.storable(),
      lifetimeMs: Math.min(policy.maxAge() * 1000, MAX_SECONDS * 1000),
    }
    if (this.#judgements.size >= MAX_REMEMBERED) this.#judgements.clear()
    if (!isDated && key.length <= MAX_KEY_LENGTH) this.#judgements.set(key, judgement)
    return judgement
  }

  #dateOf(text: string | undefined, now: number): number | undefined {
    if (text === undefined) return undefined
    if (text !== this.#lastDate.text) this.#lastDate = { text, ms: httpDate(text, now) }
    return this.#lastDate.ms
  }
}

/** Reads Age (RFC 9111 §5.1): milliseconds, 0 if it is missing or invalid, at most 2^31 seconds (§1.2.2). */
function ageOf(age: string | undefined): number {
  const seconds = age === undefined ? undefined : AGE.exec(age)?.[1]
  return Math.min(Number(seconds ?? 0), MAX_SECONDS) * 1000
}
const AGE = /^\s*(\d+)\s*(?:,|$)/

type ResponseRecord = Pick<PageRecord, 'status' | 'headers' | 'requestedAt' | 'receivedAt' | 'isOutdated'>

/** The directives of Cache-Control, by their names in lower case (RFC 9111 §5.2). */
export function directivesOf(cacheControl: string | undefined): ReadonlyMap<string, string> {
  if (cacheControl === undefined) return NO_DIRECTIVES
  const found = new Map<string, string>()
  for (const [, name = '', quoted, token, rest = ''] of cacheControl.matchAll(DIRECTIVE))
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), (quoted ?? token ?? '') + rest.trimEnd())
  return found
}
const NO_DIRECTIVES: ReadonlyMap<string, string> = new Map()
const DIRECTIVE = /([!#$%&'*+.^_`|~\w-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,"]*)))?([^,]*)/g

/** The value of a directive in milliseconds; undefined if it is not a number of seconds. */
export function secondsOf(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+$/.test(value) ? Math.min(Number(value), MAX_SECONDS) * 1000 : undefined
}

/** A longer time counts as this (RFC 9111 §1.2.2). */
const MAX_SECONDS = 2 ** 31

/**
 * Writes headers so that http-cache-semantics reads them as meant. Cache-Control: names in lower case,
 * no commas inside of quotes, at most 2^31 seconds, none for an invalid max-age, and the first of
 * two equal directives. Dates: in the formats of HTTP
 * alone (RFC 9110 §5.6.7).
 */
function plain(headers: HeaderFields, at: number): Record<string, string> {
  const read = { ...headers }
  const { 'cache-control': directives, expires } = read
  if (directives !== undefined) {
    const parts = [...directivesOf(directives)].map(([name, value]) => {
      const seconds = secondsOf(value) ?? (name === 'max-age' ? 0 : undefined)
      const text = seconds === undefined ? value.replaceAll(/[",]/g, ' ').trim() : String(seconds / 1000)
      return text === '' ? name : `${name}=${text}`
    })
    read['cache-control'] = parts.join(', ')
  }
  if (expires !== undefined && httpDate(expires, at) === undefined) read.expires = '0'
  for (const name of ['date', 'last-modified'])
    if (read[name] !== undefined && httpDate(read[name], at) === undefined) delete read[name]
  return read
}
