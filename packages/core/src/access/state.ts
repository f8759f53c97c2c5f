// In which state an origin is, in one word; and what holds there. RFC 9309 §2.3.1.
import { decidingAttempt, type Entry, isBlocked } from './entry.ts'
import { isLongLost } from './evidence.ts'
import type { AccessPolicy } from './policy.ts'

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

/** What holds in a state, and what people should know about it. */
interface StateKind {
  /** What is obeyed: the rules of a copy, fresh or stale; everything allowed; everything disallowed; not known before an attempt. */
  readonly holds: 'nothing-yet' | 'fresh-rules' | 'stale-rules' | 'allow-all' | 'disallow-all'
  readonly meaning: string
  /** The section that says so, or that the choice is ours. */
  readonly source: string
}

/** Every state that an origin can be in. An attempt or the days move it from one to another; `settle` does the first. */
export const states: Readonly<Record<State, StateKind>> = {
  unknown: { holds: 'nothing-yet', meaning: 'nobody has asked yet', source: '§2.3' },
  rules: { holds: 'fresh-rules', meaning: 'its robots.txt is known', source: '§2.3.1.1' },
  unavailable: { holds: 'allow-all', meaning: 'it has no robots.txt', source: '§2.3.1.3' },
  'unavailable-with-copy': {
    holds: 'stale-rules',
    meaning: 'it has none now, and a copy is obeyed for some time more (in the draft of 2019)',
    source: 'draft of 2019',
  },
  restricted: {
    holds: 'disallow-all',
    meaning: '401 or 403 (in the reading of the nineties)',
    source: 'draft of 1996, §3.1',
  },
  lost: { holds: 'disallow-all', meaning: 'unreachable, and there is no copy to obey', source: '§2.3.1.4' },
  'lost-with-copy': { holds: 'stale-rules', meaning: 'unreachable, and the last good copy is obeyed', source: '§2.4' },
  'long-lost': { holds: 'allow-all', meaning: 'unreachable for 30 days', source: '§2.3.1.4' },
  'long-lost-with-copy': {
    holds: 'stale-rules',
    meaning: 'unreachable for 30 days, and the last good copy is still obeyed',
    source: '§2.3.1.4',
  },
}

export function stateOf(entry: Entry | undefined, now: number, policy: AccessPolicy): State {
  if (entry === undefined) return 'unknown'
  const deciding = decidingAttempt(entry, now, policy)
  switch (deciding.kind) {
    case 'success':
      return 'rules'
    case 'restricted':
      return 'restricted'
    case 'unavailable':
      return outlivesUnavailable(entry, now, policy) ? 'unavailable-with-copy' : 'unavailable'
    case 'unreachable': {
      if (isBlocked(deciding)) return 'lost' // neither a copy nor the days make a request to that address safe
      const hasCopy = entry.copy !== undefined
      if (isLongLost(entry, now, policy))
        return hasCopy && policy.thenAssume === 'copy' ? 'long-lost-with-copy' : 'long-lost'
      return hasCopy && policy.whenUnreachable === 'use-copy' ? 'lost-with-copy' : 'lost'
    }
  }
}

/**
 * Returns whether the copy is still obeyed although the server now says that the file is missing; in the draft of 2019 for a day. A copy that
 * was confirmed after `now` is not, since its age is unknown.
 */
export function outlivesUnavailable(entry: Entry | undefined, now: number, policy: AccessPolicy): boolean {
  const copy = entry?.copy
  if (copy === undefined) return false
  const ageMs = now - copy.confirmedAt
  return ageMs >= -policy.minTtlMs && ageMs < policy.copyAfterUnavailableMs
}
