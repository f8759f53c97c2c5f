// Before the network: does what is known hold, or is an attempt due? RFC 9309 §2.3.1.4 and §2.4.
import type { Copy } from './copy.ts'
import { type Entry, holdsUntil, isAttemptDue } from './entry.ts'
import type { AccessPolicy } from './policy.ts'
import { stateOf, states } from './state.ts'

/**
 * What to do about a question. `answer`: use the entry. `answer-and-refresh`: use the entry, and fetch robots.txt again in the background.
 * `obtain`: fetch robots.txt first.
 */
export type Plan = 'answer' | 'answer-and-refresh' | 'obtain'

export function plan(entry: Entry | undefined, now: number, policy: AccessPolicy): Plan {
  if (entry === undefined) return 'obtain'
  const isDue = isAttemptDue(entry, now, policy)
  const until = holdsUntil(entry, now, policy)
  if (now >= until) return isDue ? 'obtain' : 'answer'
  const { latest, held } = entry
  // Half the time for which an answer holds is left alone, however short it is; and a wait after a failure is a promise to the site.
  const isEarly = now < ((held?.attempt ?? latest).at + until) / 2 || now < until - policy.refreshAheadMs
  const isWaiting = held !== undefined && !isDue
  return isEarly || isWaiting ? 'answer' : 'answer-and-refresh'
}

/**
 * Returns the time until which, from `latest.at` on, the plan is `answer` and the rules of a fresh copy decide; 0 for an entry where this
 * is not known in advance. Milliseconds since 1970. Until then a caller need not plan each question.
 */
export function freshUntil(entry: Entry, policy: AccessPolicy): number {
  const { latest, held } = entry
  if (latest.kind !== 'success' || held !== undefined) return 0
  const until = holdsUntil(entry, latest.at, policy)
  return Math.min(until, Math.max((latest.at + until) / 2, until - policy.refreshAheadMs))
}

/** What an entry says about the whole origin at a moment. */
export type OriginAccess =
  /** The rules of this copy hold; `stale` where the last attempt did not confirm it. */
  | { readonly holds: 'rules'; readonly copy: Copy; readonly freshness: 'fresh' | 'stale' }
  /** Everything is allowed: §2.3.1.3, or after a long time without an answer §2.3.1.4. */
  | { readonly holds: 'allow-all'; readonly because: 'unavailable' | 'unreachable-too-long' }
  /** Everything is disallowed: §2.3.1.4, or in the reading of the nineties since the site is off limits. */
  | { readonly holds: 'disallow-all'; readonly because: 'unreachable' | 'restricted' }

export function originAccessOf(entry: Entry, now: number, policy: AccessPolicy): OriginAccess {
  const state = stateOf(entry, now, policy)
  switch (state) {
    case 'unavailable':
      return { holds: 'allow-all', because: 'unavailable' }
    case 'long-lost':
      return { holds: 'allow-all', because: 'unreachable-too-long' }
    case 'restricted':
      return { holds: 'disallow-all', because: 'restricted' }
    case 'unknown':
    case 'lost':
      return { holds: 'disallow-all', because: 'unreachable' }
    case 'rules':
    case 'unavailable-with-copy':
    case 'lost-with-copy':
    case 'long-lost-with-copy': {
      const freshness = states[state].holds === 'fresh-rules' ? 'fresh' : 'stale'
      return { holds: 'rules', copy: entry.copy as Copy, freshness }
    }
  }
}
