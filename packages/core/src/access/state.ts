// The state of an origin: one word for what the client knows about its robots.txt, and what follows
// for its URLs. RFC 9309 §2.3.1.
import { decidingAttempt, type Entry, isBlocked } from './entry.ts'
import type { AccessPolicy } from './policy.ts'
import { isUnreachableTooLong } from './unreachable-time.ts'

/**
 * What a client knows about the robots.txt of an origin:
 *
 * - `unknown`: the client has not tried to fetch robots.txt yet.
 * - `rules`: the last fetch succeeded.
 * - `unavailable`: the site has no robots.txt.
 * - `restricted`: the server refuses access with 401 or 403, in a dialect that obeys this.
 * - `lost`: robots.txt is unreachable.
 * - `long-lost`: robots.txt has been unreachable for `afterDays` or longer.
 *
 * With `-with-copy`, the client obeys the last good copy.
 */
export type State =
  | 'unknown'
  | 'rules'
  | 'unavailable'
  | 'unavailable-with-copy'
  | 'restricted'
  | 'lost'
  | 'lost-with-copy'
  | 'long-lost'
  | 'long-lost-with-copy'

/**
 * What a state means.
 * @inline
 */
export interface StateKind {
  /**
   * What decides: the rules of a fresh or stale copy, or everything is allowed or disallowed.
   * `nothing-yet`: robots.txt has to be fetched first.
   */
  readonly holds: 'nothing-yet' | 'fresh-rules' | 'stale-rules' | 'allow-all' | 'disallow-all'
  /** One phrase about the site, for people. */
  readonly meaning: string
  /** The section of RFC 9309, or the draft, that says so. */
  readonly source: string
}

/**
 * Every state of an origin. Attempts move an origin between them (`settle`); time alone ends a held
 * result and `unavailable-with-copy`.
 */
export const states: Readonly<Record<State, StateKind>> = {
  unknown: { holds: 'nothing-yet', meaning: 'robots.txt has not been fetched yet', source: '§2.3' },
  rules: { holds: 'fresh-rules', meaning: 'robots.txt was fetched', source: '§2.3.1.1' },
  unavailable: { holds: 'allow-all', meaning: 'the site has no robots.txt', source: '§2.3.1.3' },
  'unavailable-with-copy': {
    holds: 'stale-rules',
    meaning: 'the site no longer has a robots.txt; the last good copy is obeyed until it is a day old',
    source: 'draft of 2019',
  },
  restricted: {
    holds: 'disallow-all',
    meaning: 'the server refuses access with 401 or 403 (in the dialects of 1994 and 1996)',
    source: 'draft of 1996, §3.1',
  },
  lost: {
    holds: 'disallow-all',
    meaning: 'robots.txt is unreachable, and there is no copy to obey',
    source: '§2.3.1.4',
  },
  'lost-with-copy': {
    holds: 'stale-rules',
    meaning: 'robots.txt is unreachable; the last good copy is obeyed',
    source: '§2.4',
  },
  'long-lost': { holds: 'allow-all', meaning: 'robots.txt has been unreachable for 30 days', source: '§2.3.1.4' },
  'long-lost-with-copy': {
    holds: 'stale-rules',
    meaning: 'robots.txt has been unreachable for 30 days; the last good copy is still obeyed',
    source: '§2.3.1.4',
  },
}

/**
 * Returns the state of an origin at the time `now`.
 *
 * @param entry The origin's entry. Undefined if the origin is unknown.
 * @param now Milliseconds since 1970.
 */
export function stateOf(entry: Entry | undefined, now: number, policy: AccessPolicy): State {
  if (entry === undefined) return 'unknown'
  const deciding = decidingAttempt(entry, now, policy)
  switch (deciding.kind) {
    case 'success':
      return 'rules'
    case 'restricted':
      return 'restricted'
    case 'unavailable':
      return isCopyObeyedAfterUnavailable(entry, now, policy) ? 'unavailable-with-copy' : 'unavailable'
    case 'unreachable': {
      if (isBlocked(deciding)) return 'lost' // neither a copy nor any number of days makes a request to a blocked address safe
      const hasCopy = entry.copy !== undefined
      if (isUnreachableTooLong(entry, now, policy))
        return hasCopy && policy.thenAssume === 'copy' ? 'long-lost-with-copy' : 'long-lost'
      return hasCopy && policy.whenUnreachable === 'use-copy' ? 'lost-with-copy' : 'lost'
    }
  }
}

/**
 * Returns whether the copy is still obeyed although the site no longer has robots.txt: in the draft
 * of 2019, until the copy is a day old. A copy that was confirmed after `now` has an unknown age,
 * so it is not obeyed.
 */
export function isCopyObeyedAfterUnavailable(entry: Entry | undefined, now: number, policy: AccessPolicy): boolean {
  const copy = entry?.copy
  if (copy === undefined) return false
  const ageMs = now - copy.confirmedAt
  return ageMs >= -policy.minTtlMs && ageMs < policy.copyAfterUnavailableMs
}
