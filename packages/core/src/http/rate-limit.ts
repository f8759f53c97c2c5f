// Parses the headers that say how many requests a site still accepts, and until when.
//
// The headers, and what each says:
//
//   RateLimit: "day";r=50;t=30                           50 requests in the next 30 seconds
//   RateLimit-Policy: "day";q=100;w=60                   100 requests in each minute
//   RateLimit: limit=100, remaining=50, reset=30         50 requests in the next 30 seconds
//   RateLimit-Remaining: 50 and RateLimit-Reset: 30      the same
//   X-RateLimit-Remaining: 50 and X-RateLimit-Reset: 30  the same
//   retry-after-ms: 1500                                 no request for 1.5 seconds
//
// The first two are from draft-ietf-httpapi-ratelimit-headers-11 (23 May 2026), §3 and §4. The third
// is from draft 07 (24 June 2023), and the fourth from draft 06 (22 December 2022). Their numbers
// are non-negative Integers, and the names of policies Strings (RFC 9651 §3.3.1 and §3.3.3); any
// other value makes a limit invalid. No document defines the headers with `X-`, GitLab's
// RateLimit-ResetTime, Discord's X-RateLimit-Reset-After and retry-after-ms: a reset may also be a
// date, or a time since 1970.

import { membersOf } from './header-lines.ts'
import { type Headers, headerOf } from './headers.ts'
import { MAX_RETRY_AFTER_MS, retryAfterMs } from './retry-after.ts'

/** What the rate limit headers of a response ask for. */
export interface RateLimit {
  /** The time from now to the next request. Milliseconds, above 0 and at most a day. */
  readonly pauseMs: number
}

/** A list member: its parameters by name, in lower case. Its value has the name `value`. */
type Member = Readonly<Record<string, string>>

/** Further members of a list are ignored, so that a long header costs little. Our choice. */
const MAX_MEMBERS = 100

/** An Integer that is not negative (RFC 9651 §3.3.1). */
const INTEGER = /^\d{1,15}$/
/** Also what servers send in X-RateLimit-Remaining. Our choice. */
const NUMBER = /^-?\d+(?:\.\d+)?$/
/** A String (RFC 9651 §3.3.3). */
const STRING = /^"(?:[^"\\]|\\["\\])*"$/

/** The header with what remains, the syntax of its value, and the headers with the reset, best first. */
const COUNTS: readonly (readonly [remaining: string, syntax: RegExp, resets: readonly string[]])[] = [
  ['ratelimit-remaining', INTEGER, ['ratelimit-reset', 'ratelimit-resettime']],
  ['x-ratelimit-remaining', NUMBER, ['x-ratelimit-reset-after', 'x-ratelimit-reset']],
  ['x-rate-limit-remaining', NUMBER, ['x-rate-limit-reset']],
]

/** The headers that `rateLimitOf` reads, in lower case. */
export const rateLimitHeaders: readonly string[] = [
  'age',
  'ratelimit',
  'ratelimit-policy',
  'retry-after-ms',
  ...COUNTS.flatMap(([remaining, , resets]) => [remaining, ...resets]),
]

/**
 * Returns the pause that the rate limit headers of a response ask for. Undefined if the headers
 * are absent or invalid, or if they ask for no pause.
 *
 * If no request remains, the pause lasts until the reset. Otherwise the requests that remain are
 * spread evenly over the time until the reset. Of several limits, the longest pause counts. Without
 * a valid RateLimit, the requests of each RateLimit-Policy are spread evenly over its window.
 *
 * @param now Milliseconds since 1970, for a reset that is a date.
 */
export function rateLimitOf(headers: Headers, now: number): RateLimit | undefined {
  if (Number(headerOf(headers, 'age')) > 0) return undefined // the response is from a cache (draft 11, §7.3)
  const secondsMs = (seconds = '') => (INTEGER.test(seconds) ? retryAfterMs(seconds, now) : undefined)
  const policies = membersIn(headerOf(headers, 'ratelimit-policy')).filter(({ qu = '""' }) => STRING.test(qu))
  // In draft 07 the value is one dictionary, so its commas separate parameters.
  const limits = membersIn(headerOf(headers, 'ratelimit')?.replace(/,(?=\s*(?:limit|remaining|reset)\s*=)/gi, ';'))
  const pauses = limits.map(({ value, r, t, remaining, reset }) => {
    if (value === undefined) return pauseMs(remaining, secondsMs(reset))
    if (!STRING.test(value)) return undefined
    const policy = policies.find((one) => one.value === value)
    return pauseMs(r, secondsMs(t ?? policy?.w), policy?.qu)
  })
  for (const [name, syntax, resets] of COUNTS) {
    const resetMs = resets.map((reset) => retryAfterMs(headerOf(headers, reset), now)).find((ms) => ms !== undefined)
    const remaining = membersIn(headerOf(headers, name))
    pauses.push(...remaining.map(({ value, w }) => pauseMs(value, resetMs ?? secondsMs(w), undefined, syntax)))
  }
  const afterMs = headerOf(headers, 'retry-after-ms') ?? ''
  if (/^\d+(?:\.\d+)?$/.test(afterMs)) pauses.push(Number(afterMs))
  if (!pauses.some((ms) => ms !== undefined))
    pauses.push(
      ...policies.map(({ value = '', q, w, qu }) => pauseMs(STRING.test(value) ? q : value, secondsMs(w), qu)),
    )
  const longest = Math.ceil(Math.max(...pauses.map((ms) => ms ?? 0)))
  return longest > 0 ? { pauseMs: Math.min(longest, MAX_RETRY_AFTER_MS) } : undefined
}

/**
 * Returns the pause that one limit asks for; undefined if it is invalid.
 * @param unit What the limit counts. Default: requests. If it counts bytes or other units, they are
 * not spread.
 */
function pauseMs(
  remaining = '',
  resetMs: number | undefined,
  unit = '"requests"',
  syntax: RegExp = INTEGER,
): number | undefined {
  if (resetMs === undefined || !syntax.test(remaining)) return undefined
  if (Number(remaining) < 1) return resetMs
  return unit === '"requests"' ? resetMs / Number(remaining) : 0
}

function membersIn(list = ''): readonly Member[] {
  const members = membersOf(list).slice(0, MAX_MEMBERS)
  return members.map((member) => {
    const [first = '', ...others] = (member.match(/(?:[^;"]|"[^"]*"?)+/g) ?? []).map((part) => part.trim())
    // In a dictionary, the first part is a parameter too.
    const isParameter = !first.startsWith('"') && first.includes('=')
    return Object.fromEntries([...others, isParameter ? first : `value=${first}`].map(nameAndValue))
  })
}

function nameAndValue(parameter: string): [name: string, value: string] {
  const at = parameter.indexOf('=')
  return at === -1 ? [parameter, ''] : [parameter.slice(0, at).trim(), parameter.slice(at + 1).trim()]
}
