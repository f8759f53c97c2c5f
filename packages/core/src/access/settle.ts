// The entry after an attempt, made from the entry before it and the outcome.
import { type Headers, headerOf } from '../http/headers.ts'
import { retryAfterMs } from '../http/retry-after.ts'
import { DAY_MS } from '../timed-records.ts'
import type { Copy } from './copy.ts'
import { ENTRY_VERSION, type Entry, earlierAttempts, type HeldResult, holdsUntil } from './entry.ts'
import { freshForMs, lifetimeMs } from './freshness.ts'
import type { Outcome, Success, Unchanged, Unreachable } from './outcome.ts'
import type { AccessPolicy } from './policy.ts'
import { isCopyObeyedAfterUnavailable, stateOf } from './state.ts'
import { countFailure } from './unreachable-time.ts'

/**
 * Returns the next entry. A result (every outcome but `unreachable`) is valid for as long as its
 * headers say, RFC 9309 §2.4. After a failure the client waits longer each time, and keeps the last
 * good copy, §2.3.1.4. If the last result is still valid, it stays in force.
 */
export function settle(
  last: Entry | undefined,
  origin: string,
  outcome: Outcome,
  now: number,
  policy: AccessPolicy,
): Entry {
  const { kind, url, hops } = outcome
  const entry = { version: ENTRY_VERSION, origin, earlier: earlierAttempts(last) } as const
  const { looksLike } = outcome
  const requestedMs = requestedWaitMs(outcome.headers, now)
  const latest = {
    url,
    hops,
    at: now,
    status: outcome.status,
    detail: undefined,
    ...(looksLike && { looksLike }),
    ...(requestedMs && { retryAfterMs: requestedMs }),
  }
  switch (kind) {
    case 'success':
    case 'unchanged': {
      const copy = kind === 'success' ? newCopy(outcome, now) : confirmedCopy(outcome, now)
      return {
        ...entry,
        ...resultFields(outcome.headers, copy.lifetimeMs, now, policy),
        latest: { ...latest, kind: 'success', reason: 'status' },
        copy,
      }
    }
    case 'unavailable':
    case 'restricted':
      return {
        ...entry,
        ...resultFields(outcome.headers, lifetimeMs(outcome.headers, now), now, policy),
        latest: { ...latest, kind, reason: outcome.reason },
        // The site removed its rules or refused all crawlers, so the copy goes. After `unavailable`
        // the draft of 2019 keeps it for a day.
        copy: kind === 'unavailable' && isCopyObeyedAfterUnavailable(last, now, policy) ? last?.copy : undefined,
      }
    case 'unreachable': {
      const counted = countFailure(last, outcome, now, policy)
      return {
        ...entry,
        ...counted,
        latest: { ...latest, kind, reason: outcome.reason, detail: outcome.detail },
        copy: copyAfterFailure(last, now, policy),
        nextAttemptAt: now + retryDelayMs(outcome, counted.failures, now, policy),
        held: heldResult(last, now, policy),
      }
    }
  }
}

/**
 * Returns how long a response asks to wait, for `Attempt.retryAfterMs`; 0 or undefined if it does
 * not ask. At most a day: a mistyped value must not end a crawl. Milliseconds.
 */
function requestedWaitMs(headers: Headers | undefined, now: number): number | undefined {
  const askedMs = headers && retryAfterMs(headerOf(headers, 'retry-after'), now)
  return askedMs && Math.min(askedMs, DAY_MS)
}

/**
 * Returns the fields of an entry whose latest attempt ended with a result: it is valid for a time,
 * and no failures are counted.
 */
function resultFields(headers: Headers, lifetime: number | undefined, now: number, policy: AccessPolicy) {
  return {
    nextAttemptAt: now + freshForMs(headers, lifetime, now, policy),
    unreachableSince: undefined,
    failures: 0,
    unreachableForMs: 0,
    held: undefined,
  }
}

/**
 * Returns the result that is still valid after a failure. The early refresh was our choice, so its
 * failure must not end a valid result.
 */
function heldResult(last: Entry | undefined, now: number, policy: AccessPolicy): HeldResult | undefined {
  if (last === undefined) return undefined
  const until = holdsUntil(last, now, policy)
  return now < until ? { attempt: last.held?.attempt ?? last.latest, until } : undefined
}

/**
 * Returns the copy that a failure leaves. It drops a copy that the site removed, once the policy no
 * longer obeys it.
 */
function copyAfterFailure(last: Entry | undefined, now: number, policy: AccessPolicy): Copy | undefined {
  return stateOf(last, now, policy) === 'unavailable' ? undefined : last?.copy
}

function newCopy({ body, headers, url, looksLike }: Success, now: number): Copy {
  return {
    ...body,
    confirmedAt: now,
    url,
    etag: headerOf(headers, 'etag'),
    lastModified: headerOf(headers, 'last-modified'),
    lifetimeMs: lifetimeMs(headers, now),
    ...(looksLike && { looksLike }),
  }
}

/**
 * Returns the copy that a 304 confirmed. The 304 may have newer validators and a newer lifetime.
 * RFC 9111 §4.3.4.
 */
function confirmedCopy({ copy, headers }: Unchanged, now: number): Copy {
  return {
    ...copy,
    confirmedAt: now,
    etag: headerOf(headers, 'etag') ?? copy.etag,
    lastModified: headerOf(headers, 'last-modified') ?? copy.lastModified,
    lifetimeMs: lifetimeMs(headers, now) ?? copy.lifetimeMs,
  }
}

/**
 * Returns how long to wait after a failed attempt: the time in Retry-After, from `minTtlMs` to
 * `maxTtlMs`; otherwise 1, 2, 4 … minutes up to an hour, and half of that after a 503, which Google
 * retries sooner.
 */
function retryDelayMs(outcome: Unreachable, failures: number, now: number, policy: AccessPolicy): number {
  const { status, headers } = outcome
  const asked = headers === undefined ? outcome.retryAfterMs : retryAfterMs(headerOf(headers, 'retry-after'), now)
  if (asked !== undefined) return Math.min(Math.max(asked, policy.minTtlMs), policy.maxTtlMs)
  const grown = Math.min(policy.firstRetryMs * 2 ** (failures - 1), policy.maxRetryMs)
  return status === 503 ? grown / 2 : grown
}
