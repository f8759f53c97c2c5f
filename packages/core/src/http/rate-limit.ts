// Parses the headers that say how many requests a site still accepts, and until when.
//
// The headers, and what each says:
//
//   RateLimit: "day";r=50;t=30                           50 requests in the next 30 seconds
//   RateLimit-Policy: "day";q=100;w=60                   100 requests in each minute
//   RateLimit: limit=100, remaining=50, reset=30         50 requests in the next 30 seconds
//   RateLimit-Remaining: 50 and RateLimit-Reset: 30      the same
//   X-RateLimit-Remaining: 50 and X-RateLimit-Reset: 30  the same
//
// The first two are from draft-ietf-httpapi-ratelimit-headers-10 (27 September 2025), §3 and §4.
// The third is from draft 07 (24 June 2023), and the fourth from draft 06 (22 December 2022). No
// document defines the headers with `X-`: their reset may also be a date, or a time since 1970.
import { type Headers, headerOf } from './headers.ts'
import { membersOf } from './list.ts'
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

const PREFIXES = ['ratelimit', 'x-ratelimit', 'x-rate-limit']

/** The headers that `rateLimitOf` reads, in lower case. */
export const rateLimitHeaders: readonly string[] = [
  'age',
  'ratelimit',
  'ratelimit-policy',
  ...PREFIXES.flatMap((prefix) => [`${prefix}-remaining`, `${prefix}-reset`]),
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
  if (Number(headerOf(headers, 'age')) > 0) return undefined // the response is from a cache (draft 10, §7.3)
  const policies = membersIn(headerOf(headers, 'ratelimit-policy'))
  // In draft 07 the value is one dictionary, so its commas separate parameters.
  const limits = membersIn(headerOf(headers, 'ratelimit')?.replace(/,(?=\s*(?:limit|remaining|reset)\s*=)/gi, ';'))
  const pauses = limits.map(({ value, r, t, remaining, reset }) => {
    const policy = policies.find((one) => one.value === value)
    return pauseMs(r ?? remaining, retryAfterMs(t ?? reset ?? policy?.w, now), policy?.qu)
  })
  for (const prefix of PREFIXES) {
    const resetMs = retryAfterMs(headerOf(headers, `${prefix}-reset`), now)
    const remaining = membersIn(headerOf(headers, `${prefix}-remaining`))
    pauses.push(...remaining.map(({ value, w }) => pauseMs(value, resetMs ?? retryAfterMs(w, now))))
  }
  if (!pauses.some((ms) => ms !== undefined))
    pauses.push(...policies.map(({ value, q, w, qu }) => pauseMs(q ?? value, retryAfterMs(w, now), qu)))
  const longest = Math.ceil(Math.max(...pauses.map((ms) => ms ?? 0)))
  return longest > 0 ? { pauseMs: Math.min(longest, MAX_RETRY_AFTER_MS) } : undefined
}

/**
 * Returns the pause that one limit asks for; undefined if it is invalid.
 * @param unit What the limit counts. Default: requests. If it counts bytes or other units, they are
 * not spread.
 */
function pauseMs(remaining = '', resetMs: number | undefined, unit = '"requests"'): number | undefined {
  if (resetMs === undefined || !/^-?\d+(?:\.\d+)?$/.test(remaining)) return undefined
  if (Number(remaining) < 1) return resetMs
  return unit === '"requests"' ? resetMs / Number(remaining) : 0
}

function membersIn(list = ''): readonly Member[] {
  const members = membersOf(list).slice(0, MAX_MEMBERS)
  return members.map((member) =>
    Object.fromEntries(
      member.split(';').map((part) => {
        const [name = '', argument] = part.split('=', 2).map((text) => text.trim())
        return argument === undefined ? ['value', name] : [name.toLowerCase(), argument]
      }),
    ),
  )
}
