// Why a request was skipped: Crawlee tells its user no more than "robotsTxt".
import type { ClientVerdict } from '@politely/fetcher'

const verdicts = new WeakMap<object, ClientVerdict>()

/**
 * Why robots.txt does not let a request leave, for what Crawlee hands to `onSkippedRequest`. Undefined where it was skipped for another
 * reason. Where robots.txt is unreachable now (`because: 'unreachable'`), `verdict.access.nextAttemptAt` says when to come back.
 */
export function verdictOf(skipped: { readonly url: string; readonly reason: string }): ClientVerdict | undefined {
  return verdicts.get(skipped)
}

/** @internal */
export function tellVerdict(skipped: object, verdict: ClientVerdict): void {
  verdicts.set(skipped, verdict)
}
