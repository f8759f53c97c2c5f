// In which state an origin is, in one word; and what holds there. RFC 9309 §2.3.1.
import { decidingAttempt, type Entry } from './entry.ts'
import { type AccessPolicy, DAY_MS } from './policy.ts'

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
  const { copy } = entry
  switch (decidingAttempt(entry, now).kind) {
    case 'success':
      return 'rules'
    case 'restricted':
      return 'restricted'
    case 'unavailable':
      return outlivesUnavailable(entry, now, policy) ? 'unavailable-with-copy' : 'unavailable'
    case 'unreachable': {
      const hasCopy = copy !== undefined
      const isLong = now - (entry.unreachableSince ?? now) >= policy.afterDays * DAY_MS
      if (isLong) return hasCopy && policy.thenAssume === 'copy' ? 'long-lost-with-copy' : 'long-lost'
      return hasCopy && policy.whenUnreachable === 'use-copy' ? 'lost-with-copy' : 'lost'
    }
  }
}

/** May its copy still be obeyed although the server says that there is no file? In the draft of 2019 for a day. */
export function outlivesUnavailable(entry: Entry | undefined, now: number, policy: AccessPolicy): boolean {
  const copy = entry?.copy
  return copy !== undefined && now - copy.confirmedAt < policy.copyAfterUnavailableMs
}
