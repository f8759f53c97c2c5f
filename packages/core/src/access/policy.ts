// The options of the caller that decide how robots.txt is fetched and for how long it is valid, and
// their defaults.

import { type AccessDefaults, dialects } from '../dialect.ts'
import { DAY_MS } from '../timed-records.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/**
 * Decides how robots.txt is fetched, for how long its result is valid, and what follows if it
 * cannot be fetched. RFC 9309 §2.3.1 and §2.4.
 */
export interface AccessPolicy {
  /**
   * How long a result is valid if its headers do not say. Milliseconds; default 24 hours. RFC 9309
   * §2.4.
   */
  readonly ttlMs: number
  /**
   * The shortest time for which a result is valid, whatever its headers say. Milliseconds; default
   * 1 minute.
   */
  readonly minTtlMs: number
  /**
   * The longest time for which a result is valid, whatever its headers say. Milliseconds; default 7
   * days. RFC 9309 §2.4 recommends 24 hours at most. The default is longer because a site that
   * sends a longer max-age asks for it, and Google follows it too.
   */
  readonly maxTtlMs: number
  /** How many redirects are followed. Default 5. RFC 9309 §2.3.1.2. */
  readonly maxRedirects: number
  /**
   * What the client does while robots.txt is unreachable and it has a copy. `use-copy`, the
   * default, obeys the copy: RFC 9309 §2.4 allows this also after 24 hours. `disallow` disallows
   * everything, which is the letter of §2.3.1.4. Without a copy everything is disallowed either
   * way.
   */
  readonly whenUnreachable: AccessDefaults['whenUnreachable']
  /**
   * After how many days of failed attempts `thenAssume` applies. Only days that failed attempts
   * show are counted (access/unreachable-time.ts). Default 30; `Infinity` for never. RFC 9309
   * §2.3.1.4.
   */
  readonly afterDays: number
  /**
   * What the client does after `afterDays`. `copy`, the default and what Google does, obeys the
   * last good copy; without a copy, robots.txt counts as unavailable. `unavailable` ignores the
   * copy. RFC 9309 §2.3.1.4 allows both.
   */
  readonly thenAssume: 'copy' | 'unavailable'
  /**
   * What 401 and 403 mean: robots.txt is `unavailable`, so everything is allowed, or the site is
   * `restricted`: everything is disallowed.
   */
  readonly forbidden: AccessDefaults['forbidden']
  /**
   * Until which age a copy is obeyed although robots.txt is now unavailable. Milliseconds; default
   * 0: never.
   */
  readonly copyAfterUnavailableMs: number
  /**
   * What a 5xx response means if its page says "not found". The title or a heading has to say so.
   * `by-status`, the default: robots.txt is unreachable. `unavailable`: it does not exist, for
   * sites that send such pages instead of a 404 (Google does this). A 503, and a 5xx with
   * Retry-After, is unreachable in either case.
   */
  readonly notFoundPages: 'by-status' | 'unavailable'
  /**
   * What a response means whose body is not a robots.txt, such as a login page or a challenge for
   * browsers (`Access.looksLike`). `obey`, the default and the letter of RFC 9309 §2.3.1.1: its
   * readable lines are obeyed. Usually it has no such line, so everything is allowed.
   * `unreachable`: the content of robots.txt is unknown, so everything is disallowed.
   */
  readonly foreignBodies: 'obey' | 'unreachable'
  /**
   * How long before the end of a result a check starts a refresh in the background. Milliseconds;
   * default 0: never. A refresh never starts in the first half of the time for which the result is
   * valid.
   */
  readonly refreshAheadMs: number
  /**
   * The wait after the first failed attempt. Each further failure doubles it. Milliseconds; default
   * 1 minute.
   */
  readonly firstRetryMs: number
  /** The longest wait after a failed attempt without Retry-After. Milliseconds; default 1 hour. */
  readonly maxRetryMs: number
}

/** Returns the policy of a dialect, with our own defaults for what its standard leaves open. */
export function accessPolicyOf(defaults: AccessDefaults): AccessPolicy {
  return {
    ttlMs: defaults.ttlHours * HOUR,
    minTtlMs: MINUTE,
    maxTtlMs: 7 * DAY_MS,
    maxRedirects: 5,
    whenUnreachable: defaults.whenUnreachable,
    afterDays: defaults.afterDays,
    thenAssume: 'copy',
    forbidden: defaults.forbidden,
    copyAfterUnavailableMs: defaults.copyAfterUnavailableHours * HOUR,
    notFoundPages: 'by-status',
    foreignBodies: 'obey',
    refreshAheadMs: 0,
    firstRetryMs: MINUTE,
    maxRetryMs: HOUR,
  }
}

/** The policy of the default dialect, `rfc9309`. */
export const defaultAccessPolicy: AccessPolicy = accessPolicyOf(dialects.rfc9309.access)
