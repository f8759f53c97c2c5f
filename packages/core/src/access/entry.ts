// What is remembered of one origin's robots.txt. JSON-safe and versioned, so that a store can keep it.
import type { Hop, UnavailableReason } from './outcome.ts'
import { type AccessPolicy, DAY_MS } from './policy.ts'
import type { FailureReason } from './reply.ts'

/** The shape of `Entry`; another number is another shape, and so a miss. */
export const ENTRY_VERSION = 2

export interface Entry {
  readonly version: typeof ENTRY_VERSION
  readonly origin: string
  /** What the last attempt meant. */
  readonly latest: Attempt
  /** The attempts before it, the latest of them first; so many that people see how it came about. */
  readonly earlier: readonly Attempt[]
  /** When the next attempt is due. Milliseconds since 1970. */
  readonly nextAttemptAt: number
  /** The last good copy. It outlives failures; what the server says next ends it, or the policy's time after `unavailable`. */
  readonly copy: Copy | undefined
  /** When the first of the failures since the last answer came. Milliseconds since 1970. */
  readonly unreachableSince: number | undefined
  /** How many attempts in a row have failed. */
  readonly failures: number
  /** The answer before `latest`, where that was an attempt ahead of its end that failed. Until its end it is what holds. */
  readonly held: HeldAnswer | undefined
}

export interface HeldAnswer {
  readonly attempt: Attempt
  /** Milliseconds since 1970. */
  readonly until: number
}

/** One attempt to get robots.txt: the first request, its redirects and retries, and what they meant together. */
export interface Attempt {
  readonly kind: 'success' | 'unavailable' | 'restricted' | 'unreachable'
  readonly reason: 'status' | UnavailableReason | FailureReason
  /** Absent where no server answered. */
  readonly status: number | undefined
  /** What the platform said of a failure; for people. */
  readonly detail: string | undefined
  /** When it ended. Milliseconds since 1970. */
  readonly at: number
  /** The redirects that were followed. */
  readonly hops: readonly Hop[]
  /** The URL that answered, or did not. */
  readonly url: string
}

/** A robots.txt as it was received. */
export interface Copy {
  /** Octets, one character for each (latin1). */
  readonly octets: string
  /** Whether the size limit cut it off. */
  readonly truncated: boolean
  /** When a server last said that this is the file. Milliseconds since 1970. */
  readonly confirmedAt: number
  /** The URL that gave it; only that one is asked whether it has changed. */
  readonly url: string
  readonly etag: string | undefined
  readonly lastModified: string | undefined
}

/** More would say little more, and a fleet remembers a million origins. */
export const EARLIER_ATTEMPTS = 4

/** The attempts before the one that has just ended. */
export function attemptsBefore(last: Entry | undefined): readonly Attempt[] {
  return last === undefined ? NONE : [last.latest, ...last.earlier].slice(0, EARLIER_ATTEMPTS)
}

const NONE: readonly Attempt[] = []

/**
 * Until when the last answer of the site holds; 0 where it gave none, or nobody knows. No answer holds for longer than the policy's
 * own `maxTtlMs`, whoever wrote the entry. Milliseconds since 1970.
 */
export function holdsUntil(entry: Entry, now: number, policy: AccessPolicy): number {
  const { latest, held, nextAttemptAt } = entry
  const { kind, at } = held?.attempt ?? latest
  if (kind === 'unreachable' || isClockBack(entry, now, policy)) return 0
  return Math.min(held?.until ?? nextAttemptAt, at + policy.maxTtlMs)
}

/** Is it time to ask again? No later than the policy lets anything hold or wait, whoever wrote the entry. */
export function isAttemptDue(entry: Entry, now: number, policy: AccessPolicy): boolean {
  const { latest, nextAttemptAt } = entry
  const { maxTtlMs, maxRetryMs } = policy
  const longestMs = latest.kind === 'unreachable' ? Math.max(maxTtlMs, maxRetryMs) : maxTtlMs
  return now >= Math.min(nextAttemptAt, latest.at + longestMs) || isClockBack(entry, now, policy)
}

/** The clock has been set back: nobody knows how old the entry is. Small differences are two machines sharing a store. */
function isClockBack({ latest }: Entry, now: number, { minTtlMs }: AccessPolicy): boolean {
  return now < latest.at - minTtlMs
}

/** The attempt from which follows what holds now: the latest, unless that failed while an answer still holds. */
export function decidingAttempt({ latest, held }: Entry, now: number): Attempt {
  return held !== undefined && now < held.until ? held.attempt : latest
}

/**
 * Until when an entry is worth keeping. Milliseconds since 1970. Longer than its answer holds: the copy is obeyed while the site is
 * unreachable, and how long it has been so decides what holds then. RFC 9309 §2.3.1.4.
 */
export function keepUntil({ nextAttemptAt, held }: Entry, { afterDays }: AccessPolicy): number {
  const days = Number.isFinite(afterDays) ? afterDays : 365
  return Math.max(nextAttemptAt, held?.until ?? 0) + Math.max(days, 1) * DAY_MS
}
