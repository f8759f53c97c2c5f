// What is remembered of one origin's robots.txt. JSON-safe and versioned, so that a store can keep it.
import type { Copy } from './copy.ts'
import type { Hop, UnavailableReason } from './outcome.ts'
import { type AccessPolicy, DAY_MS } from './policy.ts'
import type { FailureReason } from './reply.ts'

/** The shape of `Entry`; another number is another shape, and so a miss. */
export const ENTRY_VERSION = 4

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
  /** When the first of the failures since the last answer came, for people to read. Milliseconds since 1970. */
  readonly unreachableSince: number | undefined
  /** How many attempts in a row have failed. */
  readonly failures: number
  /** For how long failed attempts show that robots.txt is unreachable; see access/evidence.ts. Milliseconds. */
  readonly unreachableForMs: number
  /** The answer before `latest`, where that was an attempt ahead of its end that failed. Until its end it is what holds. */
  readonly held: HeldResult | undefined
}

export interface HeldResult {
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

/** More would say little more, and a fleet remembers a million origins. */
export const EARLIER_ATTEMPTS = 4

/** The attempts before the one that has just ended. */
export function attemptsBefore(last: Entry | undefined): readonly Attempt[] {
  return last === undefined ? NONE : [last.latest, ...last.earlier].slice(0, EARLIER_ATTEMPTS)
}

const NONE: readonly Attempt[] = []

/**
 * Returns the time until which the last answer of the site holds, or 0 where the site gave none or its age is unknown. The policy's own
 * `maxTtlMs` bounds it, whichever process wrote the entry. Milliseconds since 1970.
 */
export function holdsUntil(entry: Entry, now: number, policy: AccessPolicy): number {
  const { latest, held } = entry
  if ((held?.attempt ?? latest).kind === 'unreachable' || isClockBack(entry, now, policy)) return 0
  return answerEnd(entry, policy)
}

/** The end of the answer in `held`, or else of `latest`, without regard to the clock. A held attempt came before `latest`. */
function answerEnd({ latest, held, nextAttemptAt }: Entry, { maxTtlMs }: AccessPolicy): number {
  if (held === undefined) return Math.min(nextAttemptAt, latest.at + maxTtlMs)
  return Math.min(held.until, Math.min(held.attempt.at, latest.at) + maxTtlMs)
}

/**
 * Returns the time from which the next attempt is due. The policy's longest time for an answer, or wait after a failure, bounds it,
 * whichever process wrote the entry. Milliseconds since 1970.
 */
export function dueAt({ latest, nextAttemptAt }: Entry, { maxTtlMs, maxRetryMs }: AccessPolicy): number {
  const longestMs = latest.kind === 'unreachable' ? Math.max(maxTtlMs, maxRetryMs) : maxTtlMs
  return Math.min(nextAttemptAt, latest.at + longestMs)
}

/** Returns whether the next attempt is due. */
export function isAttemptDue(entry: Entry, now: number, policy: AccessPolicy): boolean {
  return now >= dueAt(entry, policy) || isClockBack(entry, now, policy)
}

/**
 * Returns whether the clock was set back since the latest attempt, so that the age of the entry is unknown. Machines that share a store
 * have clocks that differ by a little.
 */
export function isClockBack({ latest }: Entry, now: number, { minTtlMs }: AccessPolicy): boolean {
  return now < latest.at - minTtlMs
}

/** Returns the attempt that decides what holds now: the latest, unless that failed while an earlier answer still holds. */
export function decidingAttempt(entry: Entry, now: number, policy: AccessPolicy): Attempt {
  const { latest, held } = entry
  return held !== undefined && now < holdsUntil(entry, now, policy) ? held.attempt : latest
}

/** Returns whether the network guard refused the address, so that the client must not request anything there. */
export function isBlocked({ kind, reason }: Pick<Attempt, 'kind' | 'reason'>): boolean {
  return kind === 'unreachable' && reason === 'blocked-address'
}

/**
 * Returns until when an entry is worth keeping. Milliseconds since 1970. That is longer than its answer holds: the copy is obeyed while
 * the site is unreachable, and for how long it has been so decides what holds then. RFC 9309 §2.3.1.4.
 */
export function keepUntil(entry: Entry, now: number, policy: AccessPolicy): number {
  const { afterDays, maxTtlMs, maxRetryMs } = policy
  const days = Number.isFinite(afterDays) ? afterDays : 365
  // The entry may come from a clock that was ahead of this one.
  const end = Math.min(Math.max(dueAt(entry, policy), answerEnd(entry, policy)), now + Math.max(maxTtlMs, maxRetryMs))
  return end + Math.max(days, 1) * DAY_MS
}
