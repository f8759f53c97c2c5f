// Combines the state of an entry (access/) with the rules of its copy (match/) into one verdict.
import { type Attempt, decidingAttempt, dueAt, type Entry, isBlocked } from './access/entry.ts'
import { type OriginAccess, originAccessOf } from './access/plan.ts'
import type { AccessPolicy } from './access/policy.ts'
import { stateOf, states } from './access/state.ts'
import type { LooksLike } from './foreign-format.ts'
import type { CrawlerRules } from './match/crawler-rules.ts'
import type { RulesVerdict } from './match/verdict.ts'
import type { UrlInput } from './url/origin.ts'

/** Whether a crawler may fetch a URL, and why. A discriminated union by `because`; JSON-safe. */
export type Verdict =
  | RulesVerdict
  /** The site has no robots.txt. RFC 9309 §2.3.1.3. */
  | { readonly allowed: true; readonly because: 'unavailable' }
  /** The content of robots.txt is unknown, so everything is disallowed. RFC 9309 §2.3.1.4. */
  | { readonly allowed: false; readonly because: 'unreachable' }
  /**
   * The server refused to send robots.txt (401, 403), which restricts the whole site in the two
   * oldest dialects.
   */
  | { readonly allowed: false; readonly because: 'restricted' }
  /**
   * robots.txt has been unreachable for more than `afterDays`, so it counts as unavailable.
   * RFC 9309 §2.3.1.4.
   */
  | { readonly allowed: true; readonly because: 'unreachable-too-long' }

/** The state of robots.txt that a verdict is based on. JSON-safe. */
export interface Access {
  /**
   * The outcome of the last attempt to fetch robots.txt. If early refreshes failed while its result
   * was still fresh, the last attempt before them; `failedRefresh` is then the last attempt.
   */
  readonly outcome: Attempt['kind']
  /** The reason of that outcome. */
  readonly reason: Attempt['reason']
  /** The status of the last response; undefined without a response. */
  readonly status: number | undefined
  /** The platform's error message for a failure; for people. */
  readonly detail: string | undefined
  /** The last URL that was requested. */
  readonly url: string
  /** The redirects that led to that URL. */
  readonly hops: Attempt['hops']
  /**
   * What the response looks like, if it is not a robots.txt: an HTML page, or a challenge for
   * browsers, for example. Undefined for a response that may be a robots.txt. If the rules of a
   * copy were checked, the format of the copy.
   */
  readonly looksLike?: LooksLike | undefined
  /** When that attempt ended. Milliseconds since 1970. */
  readonly checkedAt: number
  /**
   * How long the response asked to wait (Retry-After), from `checkedAt` on. Milliseconds, at most a
   * day; absent if it did not ask.
   */
  readonly retryAfterMs?: number | undefined
  /** The last attempt, if it was an early refresh that failed while the result was still fresh. */
  readonly failedRefresh?:
    | Pick<Access, 'reason' | 'status' | 'detail' | 'url' | 'checkedAt' | 'retryAfterMs'>
    | undefined
  /** When the next attempt is due. Milliseconds since 1970. */
  readonly nextAttemptAt: number
  /** The copy whose rules were checked; undefined if the verdict does not depend on a copy. */
  readonly copy:
    | {
        /** `stale`: the last attempt failed, and the last good copy is used. */
        readonly freshness: 'fresh' | 'stale'
        /**
         * Milliseconds since the server last sent this file, or confirmed that it has not changed.
         */
        readonly ageMs: number
        /** The size of the copy, in bytes. */
        readonly bytes: number
        /** Whether the copy was cut off at the size limit. RFC 9309 §2.5. */
        readonly truncated: boolean
      }
    | undefined
}

/**
 * Decides whether a URL may be fetched. @param rules The rules of the entry's copy, or of an empty
 * file if it has no copy.
 */
export function decide(
  entry: Entry,
  rules: CrawlerRules,
  url: UrlInput,
  now: number,
  policy: AccessPolicy,
): { readonly verdict: Verdict; readonly access: Access } {
  const originAccess = originAccessOf(entry, now, policy)
  const deciding = decidingAttempt(entry, now, policy)
  return {
    verdict: verdictOf(originAccess, deciding, rules.check(url)),
    access: accessOf(entry, originAccess, deciding, now, policy),
  }
}

/** Returns `decide(…).verdict.allowed`, and skips everything that only people read. */
export function allows(entry: Entry, rules: CrawlerRules, url: UrlInput, now: number, policy: AccessPolicy): boolean {
  const { holds } = states[stateOf(entry, now, policy)]
  if (holds === 'fresh-rules' || holds === 'stale-rules') return rules.isAllowed(url)
  return decide(entry, rules, url, now, policy).verdict.allowed
}

function verdictOf(originAccess: OriginAccess, deciding: Attempt, byRules: RulesVerdict): Verdict {
  switch (byRules.because) {
    case 'robots-txt-itself': // §2.2.2: always allowed, except at an address that the network guard blocks
      return isBlocked(deciding) ? { allowed: false, because: 'unreachable' } : byRules
    case 'invalid-url':
    case 'other-origin':
      return byRules
  }
  switch (originAccess.holds) {
    case 'rules':
      return byRules
    case 'allow-all':
      return { allowed: true, because: originAccess.because }
    case 'disallow-all':
      return { allowed: false, because: originAccess.because }
  }
}

function accessOf(
  entry: Entry,
  originAccess: OriginAccess,
  deciding: Attempt,
  now: number,
  policy: AccessPolicy,
): Access {
  const { kind: outcome, reason, status, detail, url, at: checkedAt, retryAfterMs } = deciding
  const hops = deciding.hops.map((hop) => ({ ...hop })) // the caller may change them
  const nextAttemptAt = dueAt(entry, policy)
  const copy =
    originAccess.holds === 'rules'
      ? {
          freshness: originAccess.freshness,
          ageMs: Math.max(0, now - originAccess.copy.confirmedAt),
          bytes: originAccess.copy.bytes.length,
          truncated: originAccess.copy.truncated,
        }
      : undefined
  const looksLike = originAccess.holds === 'rules' ? originAccess.copy.looksLike : deciding.looksLike
  const hasFailedRefresh = entry.latest !== deciding
  // Most sites need none of the optional fields. Objects with the same fields are fast to create.
  if (!looksLike && !retryAfterMs && !hasFailedRefresh)
    return { outcome, reason, status, detail, url, hops, checkedAt, nextAttemptAt, copy }
  return {
    outcome,
    reason,
    status,
    detail,
    url,
    hops,
    ...(looksLike && { looksLike }),
    checkedAt,
    ...(retryAfterMs && { retryAfterMs }),
    ...(hasFailedRefresh && { failedRefresh: failedRefreshOf(entry.latest) }),
    nextAttemptAt,
    copy,
  }
}

function failedRefreshOf({ reason, status, detail, url, at, retryAfterMs }: Attempt): Access['failedRefresh'] {
  return { reason, status, detail, url, checkedAt: at, ...(retryAfterMs && { retryAfterMs }) }
}
