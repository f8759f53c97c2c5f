// The one place that sees both what is known of robots.txt and what it says.
import { type Attempt, decidingAttempt, dueAt, type Entry, isBlocked } from './access/entry.ts'
import { type OriginAccess, originAccessOf } from './access/plan.ts'
import type { AccessPolicy } from './access/policy.ts'
import { stateOf, states } from './access/state.ts'
import type { CrawlerRules } from './match/crawler-rules.ts'
import type { RulesVerdict } from './match/verdict.ts'
import type { UrlInput } from './url/origin.ts'

/** May this URL be fetched, and why? A discriminated union by `because`; JSON-safe. */
export type Verdict =
  | RulesVerdict
  /** The site has no robots.txt. RFC 9309 §2.3.1.3. */
  | { readonly allowed: true; readonly because: 'unavailable' }
  /** The content of robots.txt is unknown, so everything is disallowed. RFC 9309 §2.3.1.4. */
  | { readonly allowed: false; readonly because: 'unreachable' }
  /** The server refused to show robots.txt (401, 403), which in the reading of the nineties restricts the whole site. */
  | { readonly allowed: false; readonly because: 'restricted' }
  /** It has been unreachable for more than `afterDays`, which counts as unavailable. RFC 9309 §2.3.1.4. */
  | { readonly allowed: true; readonly because: 'unreachable-too-long' }

/** Where an answer comes from. JSON-safe. */
export interface Access {
  /** What the last attempt to get robots.txt meant, and why; the last that was answered, if later ones ahead of its end failed. */
  readonly outcome: Attempt['kind']
  readonly reason: Attempt['reason']
  /** The status of the last answer; absent where no server answered. */
  readonly status: number | undefined
  /** What the platform said of a failure; for people. */
  readonly detail: string | undefined
  /** The URL that answered, or did not, and the redirects that led to it. */
  readonly url: string
  readonly hops: Attempt['hops']
  /** When that attempt ended. Milliseconds since 1970. */
  readonly checkedAt: number
  /** When the next one is due. Milliseconds since 1970. */
  readonly nextAttemptAt: number
  /** The copy whose rules were obeyed, if any were. */
  readonly copy:
    | {
        /** `stale`: the last attempt failed, and the last good copy is obeyed. */
        readonly freshness: 'fresh' | 'stale'
        /** Milliseconds since a server last said that this is the file. */
        readonly ageMs: number
        /** Whether the size limit cut it off. RFC 9309 §2.5. */
        readonly truncated: boolean
      }
    | undefined
}

/** Brings together what is known of an origin and what its rules say; `rules` are those of the entry's copy, or of no file. */
export function decide(
  entry: Entry,
  rules: CrawlerRules,
  url: UrlInput,
  now: number,
  policy: AccessPolicy,
): { readonly verdict: Verdict; readonly access: Access } {
  const standing = originAccessOf(entry, now, policy)
  const deciding = decidingAttempt(entry, now, policy)
  return {
    verdict: verdictOf(standing, deciding, rules.check(url)),
    access: accessOf(entry, standing, deciding, now, policy),
  }
}

/** `decide(…).verdict.allowed`, without what only people read. */
export function allows(entry: Entry, rules: CrawlerRules, url: UrlInput, now: number, policy: AccessPolicy): boolean {
  const { holds } = states[stateOf(entry, now, policy)]
  if (holds === 'fresh-rules' || holds === 'stale-rules') return rules.isAllowed(url)
  return decide(entry, rules, url, now, policy).verdict.allowed
}

function verdictOf(standing: OriginAccess, deciding: Attempt, byRules: RulesVerdict): Verdict {
  switch (byRules.because) {
    case 'robots-txt-itself': // §2.2.2: whatever else holds, except for an address that must not be requested
      return isBlocked(deciding) ? { allowed: false, because: 'unreachable' } : byRules
    case 'invalid-url':
    case 'other-origin':
      return byRules
  }
  switch (standing.holds) {
    case 'rules':
      return byRules
    case 'allow-all':
      return { allowed: true, because: standing.because }
    case 'disallow-all':
      return { allowed: false, because: standing.because }
  }
}

function accessOf(entry: Entry, standing: OriginAccess, deciding: Attempt, now: number, policy: AccessPolicy): Access {
  const { kind: outcome, reason, status, detail, url, hops, at: checkedAt } = deciding
  const nextAttemptAt = dueAt(entry, policy)
  const copy =
    standing.holds === 'rules'
      ? {
          freshness: standing.freshness,
          ageMs: Math.max(0, now - standing.copy.confirmedAt),
          truncated: standing.copy.truncated,
        }
      : undefined
  return { outcome, reason, status, detail, url, hops, checkedAt, nextAttemptAt, copy }
}
