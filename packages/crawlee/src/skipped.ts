// Remembers why a request was skipped. Crawlee itself reports only the reasons "robotsTxt" and
// "filters".
import type { RobotsDirective } from '@politely/core/usage'
import type { ClientVerdict } from '@politely/fetcher'
import type { CircuitOpenError } from '@politely/gate'

/** Why a request was skipped. One field is set. */
interface SkipReason {
  readonly verdict?: ClientVerdict
  readonly refusal?: CircuitOpenError
  readonly tag?: RobotsDirective
}

/** By the object that Crawlee passes to `onSkippedRequest`. */
export const reasons: WeakMap<object, SkipReason> = new WeakMap()

/**
 * Returns the verdict of a skipped request. `skipped` is the object that Crawlee passes to
 * `onSkippedRequest`. Undefined if the request was skipped for a reason other than robots.txt. If
 * robots.txt is unreachable (`because: 'unreachable'`), `verdict.access.nextAttemptAt` is the time
 * of the next attempt.
 */
export function verdictOf(skipped: { readonly url: string; readonly reason: string }): ClientVerdict | undefined {
  return reasons.get(skipped)?.verdict
}

/**
 * Returns why a request was skipped because its site rests: the last requests to it failed (option
 * `circuit`), and it has not come back. `skipped` is the object that Crawlee passes to
 * `onSkippedRequest`, with the reason `filters`. `retryAt` of the error is the time of the next
 * attempt. Undefined if the request was skipped for another reason.
 */
export function refusalOf(skipped: { readonly url: string; readonly reason: string }): CircuitOpenError | undefined {
  return reasons.get(skipped)?.refusal
}

/**
 * Returns the robots tag because of which a link was skipped (`robotsTags: 'obey'`): `nofollow` or
 * `none`, with its source. `skipped` is the object that Crawlee passes to `onSkippedRequest`, with the
 * reason `filters`. Undefined if the link was skipped for another reason.
 */
export function robotsTagOf(skipped: { readonly url: string; readonly reason: string }): RobotsDirective | undefined {
  return reasons.get(skipped)?.tag
}
