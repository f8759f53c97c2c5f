// What the caller may choose about getting robots.txt, and what holds when nothing is chosen.

import { type AccessDefaults, dialects } from '../dialect.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
export const DAY_MS: number = 24 * HOUR

export interface AccessPolicy {
  /** How long an answer holds that says nothing about it. Milliseconds; default 24 hours. RFC 9309 §2.4. */
  readonly ttlMs: number
  /** The shortest time an answer holds, whatever its headers say. Milliseconds; default 1 minute. */
  readonly minTtlMs: number
  /**
   * The longest time an answer holds, whatever its headers say. Milliseconds; default 7 days: longer than the 24 hours of
   * RFC 9309 §2.4, since a site that sends a longer max-age asked for it, and Google follows it too.
   */
  readonly maxTtlMs: number
  /** How many redirects are followed. Default 5. RFC 9309 §2.3.1.2. */
  readonly maxRedirects: number
  /**
   * While robots.txt is unreachable and there is a last good copy: `use-copy` obeys it (the default; RFC 9309 §2.4 lets a copy
   * outlive its 24 hours then), `disallow` disallows everything (the letter of §2.3.1.4). Without a copy everything is
   * disallowed either way.
   */
  readonly whenUnreachable: AccessDefaults['whenUnreachable']
  /**
   * After how many days without an answer `thenAssume` holds; days count as far as failed attempts show them (access/evidence.ts).
   * Default 30; `Infinity` for never. RFC 9309 §2.3.1.4.
   */
  readonly afterDays: number
  /**
   * What holds after `afterDays`: `copy` obeys the last good copy; without a copy, robots.txt counts as unavailable
   * (the default, and Google's way); `unavailable` always takes it so. RFC 9309 §2.3.1.4 allows both.
   */
  readonly thenAssume: 'copy' | 'unavailable'
  /** What 401 and 403 mean: that robots.txt is `unavailable`, or that the site is `restricted`: everything is disallowed. */
  readonly forbidden: AccessDefaults['forbidden']
  /** How old a copy may be to be obeyed although the file is unavailable now. Milliseconds; default 0: it is not. */
  readonly copyAfterUnavailableMs: number
  /**
   * What a 5xx means whose page says that nothing was found: what its status says (`by-status`, the default), or that robots.txt
   * is `unavailable`, for sites that answer missing pages so (Google does that).
   */
  readonly notFoundPages: 'by-status' | 'unavailable'
  /**
   * How long before the end of an answer a question about it starts a refresh in the background. Milliseconds; default 0: never
   * before the end. It never uses up more than half of the time for which the answer holds.
   */
  readonly refreshAheadMs: number
  /** The wait before the next try after a first failure, doubled by each further one. Milliseconds; 1 minute. */
  readonly firstRetryMs: number
  /** The longest that this wait grows. Milliseconds; 1 hour. */
  readonly maxRetryMs: number
}

/** What a dialect's standard says about access, and where it says nothing our own defaults. */
export function accessPolicyOf(reading: AccessDefaults): AccessPolicy {
  return {
    ttlMs: reading.ttlHours * HOUR,
    minTtlMs: MINUTE,
    maxTtlMs: 7 * DAY_MS,
    maxRedirects: 5,
    whenUnreachable: reading.whenUnreachable,
    afterDays: reading.afterDays,
    thenAssume: 'copy',
    forbidden: reading.forbidden,
    copyAfterUnavailableMs: reading.copyAfterUnavailableHours * HOUR,
    notFoundPages: 'by-status',
    refreshAheadMs: 0,
    firstRetryMs: MINUTE,
    maxRetryMs: HOUR,
  }
}

export const defaultAccessPolicy: AccessPolicy = accessPolicyOf(dialects.rfc9309.access)
