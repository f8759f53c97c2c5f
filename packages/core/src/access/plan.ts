// Before the network: is an attempt due, and what holds as things stand? RFC 9309 §2.3.1.4 and §2.4.
import type { Copy, Entry } from './entry.ts'
import { type AccessPolicy, DAY_MS } from './policy.ts'

/** Is it time to ask for robots.txt (again)? */
export function isAttemptDue(entry: Entry | undefined, now: number, policy: AccessPolicy): boolean {
  if (entry === undefined || now >= entry.nextAttemptAt) return true
  // The clock has been set back: nobody knows how old the entry is. Small differences are two machines sharing a store.
  return now < entry.latest.at - policy.minTtlMs
}

/** What an entry says about the whole origin at a moment. */
export type Standing =
  /** The rules of this copy hold; `stale` where the last attempt failed. */
  | { readonly holds: 'rules'; readonly copy: Copy; readonly freshness: 'fresh' | 'stale' }
  /** Everything is allowed: §2.3.1.3, or after a long time without an answer §2.3.1.4. */
  | { readonly holds: 'allow-all'; readonly because: 'unavailable' | 'unreachable-too-long' }
  /** Everything is disallowed: §2.3.1.4, or in the reading of the nineties since the site is off limits. */
  | { readonly holds: 'disallow-all'; readonly because: 'unreachable' | 'restricted' }

export function standingOf(entry: Entry, now: number, policy: AccessPolicy): Standing {
  const { latest, copy, unreachableSince } = entry
  if (latest.kind === 'success' && copy !== undefined) return { holds: 'rules', copy, freshness: 'fresh' }
  if (latest.kind === 'restricted') return { holds: 'disallow-all', because: 'restricted' }
  if (latest.kind === 'unavailable') {
    return outlivesUnavailable(copy, now, policy)
      ? { holds: 'rules', copy, freshness: 'stale' }
      : { holds: 'allow-all', because: 'unavailable' }
  }
  const tooLong = now - (unreachableSince ?? now) >= policy.afterDays * DAY_MS
  const obeyCopy = tooLong ? policy.thenAssume === 'copy' : policy.whenUnreachable === 'use-copy'
  if (copy !== undefined && obeyCopy) return { holds: 'rules', copy, freshness: 'stale' }
  return tooLong
    ? { holds: 'allow-all', because: 'unreachable-too-long' }
    : { holds: 'disallow-all', because: 'unreachable' }
}

/** May a copy still be obeyed although the server says that there is no file? In the draft of 2019 for a day. */
export function outlivesUnavailable(copy: Copy | undefined, now: number, policy: AccessPolicy): copy is Copy {
  return copy !== undefined && now - copy.confirmedAt < policy.copyAfterUnavailableMs
}
