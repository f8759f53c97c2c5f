// The cache entry for one origin: what the client knows about its robots.txt. JSON-safe and
// versioned, so that a store can keep it.
//
// An attempt either fails (`unreachable`) or ends with a *result*: `success`, `unavailable` or
// `restricted`. A result is valid for the time that its headers and the policy give. An early
// refresh (`refreshAheadMs`) starts a new attempt before that time is over. If it fails, `held`
// keeps the result, which stays valid until its original end.

import type { LooksLike } from '../foreign-format.ts'
import { DAY_MS } from '../timed-records.ts'
import type { Copy } from './copy.ts'
import type { Hop, UnavailableReason } from './outcome.ts'
import type { AccessPolicy } from './policy.ts'
import { type FailureReason, failuresThatAre } from './reply.ts'

/**
 * The version of the shape of `Entry` and of its text. A stored entry with another version is a
 * cache miss.
 */
export const ENTRY_VERSION = 5

/**
 * What a client knows about the robots.txt of one origin: its attempts and the last good copy.
 * JSON-safe.
 */
export interface Entry {
  readonly version: typeof ENTRY_VERSION
  readonly origin: string
  /** The last attempt and what it led to. */
  readonly latest: Attempt
  /**
   * The attempts before `latest`, newest first; at most four. They show people how the state came
   * about and decide nothing.
   */
  readonly earlier: readonly Attempt[]
  /** When the next attempt is due. Milliseconds since 1970. */
  readonly nextAttemptAt: number
  /**
   * The last good copy. Failures keep it; the next result replaces or drops it. After `unavailable`
   * a policy may keep it for a time.
   */
  readonly copy: Copy | undefined
  /**
   * When the first of the current row of failures ended; for people to read. Milliseconds
   * since 1970.
   */
  readonly unreachableSince: number | undefined
  /** The number of attempts in a row that have failed. */
  readonly failures: number
  /**
   * For how long robots.txt has been unreachable, as far as failed attempts show; see
   * unreachable-time.ts. Milliseconds.
   */
  readonly unreachableForMs: number
  /** The result that is still valid although `latest`, an early refresh, failed. */
  readonly held: HeldResult | undefined
}

/** A result that a failed early refresh did not end. */
export interface HeldResult {
  /** The attempt that led to the result. */
  readonly attempt: Attempt
  /** When the result stops being valid. Milliseconds since 1970. */
  readonly until: number
}

/** One attempt to fetch robots.txt, with its redirects and retries, and what it led to. */
export interface Attempt {
  readonly kind: 'success' | 'unavailable' | 'restricted' | 'unreachable'
  readonly reason: 'status' | UnavailableReason | FailureReason
  /** The HTTP status; undefined if no server responded. */
  readonly status: number | undefined
  /** The platform's error message for a failure; for people. */
  readonly detail: string | undefined
  /** When the attempt ended. Milliseconds since 1970. */
  readonly at: number
  /** The redirects that were followed. */
  readonly hops: readonly Hop[]
  /** The last URL that was requested. */
  readonly url: string
  /** What the response looks like, if it is not a robots.txt. */
  readonly looksLike?: LooksLike | undefined
  /**
   * How long the response asked to wait (Retry-After), from `at` on. Milliseconds, more than 0 and
   * at most a day; absent if it did not ask.
   */
  readonly retryAfterMs?: number | undefined
}

/**
 * How many attempts before the latest one are kept. A process may keep entries for a million
 * origins, so there are few.
 */
export const MAX_EARLIER_ATTEMPTS = 4

/** Returns the attempts before the attempt that has just ended, newest first. */
export function earlierAttempts(last: Entry | undefined): readonly Attempt[] {
  return last === undefined ? NONE : [last.latest, ...last.earlier].slice(0, MAX_EARLIER_ATTEMPTS)
}

const NONE: readonly Attempt[] = []

/**
 * Returns the time until which the last result is valid. Returns 0 if the entry has no result other
 * than `unreachable`, or if the age of its result is unknown because the clock was set back. The
 * reader's `maxTtlMs` bounds the time, whichever process wrote the entry. Milliseconds since 1970.
 */
export function holdsUntil(entry: Entry, now: number, policy: AccessPolicy): number {
  const { latest, held } = entry
  if ((held?.attempt ?? latest).kind === 'unreachable' || wasClockSetBack(entry, now, policy)) return 0
  return resultEnd(entry, policy)
}

/**
 * Returns when the result in `held`, or else in `latest`, stops being valid, without a look at the
 * clock.
 */
function resultEnd({ latest, held, nextAttemptAt }: Entry, { maxTtlMs }: AccessPolicy): number {
  if (held === undefined) return Math.min(nextAttemptAt, latest.at + maxTtlMs)
  return Math.min(held.until, Math.min(held.attempt.at, latest.at) + maxTtlMs) // a held attempt came before `latest`
}

/**
 * Returns when the next attempt is due. The reader's policy bounds the time, whichever process
 * wrote the entry: by `maxTtlMs` after a result, by the larger of `maxTtlMs` and `maxRetryMs` after
 * a failure. Milliseconds since 1970.
 */
export function dueAt({ latest, nextAttemptAt }: Entry, { maxTtlMs, maxRetryMs }: AccessPolicy): number {
  const maxWaitMs = latest.kind === 'unreachable' ? Math.max(maxTtlMs, maxRetryMs) : maxTtlMs
  return Math.min(nextAttemptAt, latest.at + maxWaitMs)
}

/** Returns whether the next attempt is due. */
export function isAttemptDue(entry: Entry, now: number, policy: AccessPolicy): boolean {
  return now >= dueAt(entry, policy) || wasClockSetBack(entry, now, policy)
}

/**
 * Returns whether the clock was set back since the latest attempt, so that the age of the entry is
 * unknown. Differences of up to `minTtlMs` are ignored: machines that share a store have slightly
 * different clocks.
 */
export function wasClockSetBack({ latest }: Entry, now: number, { minTtlMs }: AccessPolicy): boolean {
  return now < latest.at - minTtlMs
}

/**
 * Returns the attempt that decides which URLs are allowed now: the latest one, or the held one
 * while its result is valid.
 */
export function decidingAttempt(entry: Entry, now: number, policy: AccessPolicy): Attempt {
  const { latest, held } = entry
  return held !== undefined && now < holdsUntil(entry, now, policy) ? held.attempt : latest
}

/**
 * Returns whether the network guard refused the address, so that the client must not request
 * anything from this origin.
 */
export function isBlocked({ kind, reason }: Pick<Attempt, 'kind' | 'reason'>): boolean {
  return kind === 'unreachable' && reason === 'blocked-address'
}

const OWN_FAILURES = failuresThatAre('own')

/**
 * Returns whether the attempt failed because of the client itself: its network guard, its limits or
 * its transport. This says nothing about the site.
 */
export function isOwnFailure({ reason }: Pick<Attempt, 'reason'>): boolean {
  return OWN_FAILURES.has(reason)
}

/**
 * Returns the time until which a cache or store should keep an entry. Milliseconds since 1970. It
 * is later than the end of the result: the client obeys the copy while the site is unreachable, and
 * counts for how long that lasts. RFC 9309 §2.3.1.4.
 */
export function keepUntil(entry: Entry, now: number, policy: AccessPolicy): number {
  const { afterDays, maxTtlMs, maxRetryMs } = policy
  const days = Number.isFinite(afterDays) ? afterDays : 365
  // The clock that wrote the entry may be ahead of this one, so `now` bounds the end.
  const end = Math.min(Math.max(dueAt(entry, policy), resultEnd(entry, policy)), now + Math.max(maxTtlMs, maxRetryMs))
  return end + Math.max(days, 1) * DAY_MS
}
