// Remembers why a request was skipped. Crawlee itself reports only the reason "robotsTxt".
import type { ClientVerdict } from '@politely/fetcher'

const verdicts = new WeakMap<object, ClientVerdict>()

/**
 * Returns the verdict of a skipped request. `skipped` is the object that Crawlee passes to
 * `onSkippedRequest`. Undefined if the request was skipped for a reason other than robots.txt. If
 * robots.txt is unreachable (`because: 'unreachable'`), `verdict.access.nextAttemptAt` is the time
 * of the next attempt.
 */
export function verdictOf(skipped: { readonly url: string; readonly reason: string }): ClientVerdict | undefined {
  return verdicts.get(skipped)
}

/** @internal */
export function rememberVerdict(skipped: object, verdict: ClientVerdict): void {
  verdicts.set(skipped, verdict)
}
