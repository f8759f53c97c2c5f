// After the network: the entry that follows from the last one and an outcome.
import { type Headers, headerOf } from '../http/headers.ts'
import { retryAfterMs } from '../http/retry-after.ts'
import type { Copy } from './copy.ts'
import { attemptsBefore, ENTRY_VERSION, type Entry, type HeldResult, holdsUntil } from './entry.ts'
import { afterFailure } from './evidence.ts'
import { freshForMs } from './freshness.ts'
import type { Outcome, Success, Unchanged, Unreachable } from './outcome.ts'
import type { AccessPolicy } from './policy.ts'
import { outlivesUnavailable, stateOf } from './state.ts'

/**
 * The next entry. An answer (success, unchanged, unavailable) holds as long as its headers say, RFC 9309 §2.4; a failure is
 * asked about again after growing waits and keeps the last good copy, §2.3.1.4, and the whole answer while that still holds.
 */
export function settle(
  last: Entry | undefined,
  origin: string,
  outcome: Outcome,
  now: number,
  policy: AccessPolicy,
): Entry {
  const { kind, url, hops } = outcome
  const entry = { version: ENTRY_VERSION, origin, earlier: attemptsBefore(last) } as const
  const latest = { url, hops, at: now, status: outcome.status, detail: undefined }
  switch (kind) {
    case 'success':
    case 'unchanged':
      return {
        ...entry,
        ...answered(outcome.headers, now, policy),
        latest: { ...latest, kind: 'success', reason: 'status' },
        copy: kind === 'success' ? received(outcome, now) : confirmed(outcome, now),
      }
    case 'unavailable':
    case 'restricted':
      return {
        ...entry,
        ...answered(outcome.headers, now, policy),
        latest: { ...latest, kind, reason: outcome.reason },
        // The site has taken its rules back, or refused all crawlers; the draft of 2019 lets a copy outlive the first.
        copy: kind === 'unavailable' && outlivesUnavailable(last, now, policy) ? last?.copy : undefined,
      }
    case 'unreachable': {
      const counted = afterFailure(last, outcome, now, policy)
      return {
        ...entry,
        ...counted,
        latest: { ...latest, kind, reason: outcome.reason, detail: outcome.detail },
        copy: copyBefore(last, now, policy),
        nextAttemptAt: now + waitMs(outcome, counted.failures, now, policy),
        held: heldAnswer(last, now, policy),
      }
    }
  }
}

function answered(headers: Headers, now: number, policy: AccessPolicy) {
  return {
    nextAttemptAt: now + freshForMs(headers, now, policy),
    unreachableSince: undefined,
    failures: 0,
    unreachableForMs: 0,
    held: undefined,
  }
}

/** Returns the answer that a failure leaves in force. The early refresh was our choice, so its failure must not end a valid answer. */
function heldAnswer(last: Entry | undefined, now: number, policy: AccessPolicy): HeldResult | undefined {
  if (last === undefined) return undefined
  const until = holdsUntil(last, now, policy)
  return now < until ? { attempt: last.held?.attempt ?? last.latest, until } : undefined
}

/** What a failure leaves to obey; not a copy that the site took back longer ago than the policy lets it live on. */
function copyBefore(last: Entry | undefined, now: number, policy: AccessPolicy): Copy | undefined {
  return stateOf(last, now, policy) === 'unavailable' ? undefined : last?.copy
}

function received({ body, headers, url }: Success, now: number): Copy {
  return {
    ...body,
    confirmedAt: now,
    url,
    etag: headerOf(headers, 'etag'),
    lastModified: headerOf(headers, 'last-modified'),
  }
}

/** A 304 may carry newer validators. RFC 9111 §4.3.4. */
function confirmed({ copy, headers }: Unchanged, now: number): Copy {
  return {
    ...copy,
    confirmedAt: now,
    etag: headerOf(headers, 'etag') ?? copy.etag,
    lastModified: headerOf(headers, 'last-modified') ?? copy.lastModified,
  }
}

/** Retry-After comes before all; else 1, 2, 4 … minutes up to an hour, and half of that after a 503 (Google asks it sooner). */
function waitMs({ status, headers }: Unreachable, failures: number, now: number, policy: AccessPolicy): number {
  const asked = headers === undefined ? undefined : retryAfterMs(headerOf(headers, 'retry-after'), now)
  if (asked !== undefined) return Math.min(Math.max(asked, policy.minTtlMs), policy.maxTtlMs)
  const grown = Math.min(policy.firstRetryMs * 2 ** (failures - 1), policy.maxRetryMs)
  return status === 503 ? grown / 2 : grown
}
