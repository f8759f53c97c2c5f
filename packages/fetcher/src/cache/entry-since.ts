// The entry of an origin as a caller sees it that gives `maxAgeMs`.
import type { Entry } from '@politely/core/engine'

/**
 * Returns the entry for a caller that uses no result from before `since`. A result that is older is
 * stale, so `plan` asks for a new attempt. If a newer attempt failed, the older result no longer
 * holds, and the wait after the failure applies. Other callers may use the entry as it is.
 *
 * @param since Milliseconds since 1970. Default: any result may be used.
 */
export function entrySince(entry: Entry, since: number = Number.NEGATIVE_INFINITY): Entry {
  const { latest, held } = entry
  if (held !== undefined) return held.attempt.at < since ? { ...entry, held: undefined } : entry
  return latest.kind !== 'unreachable' && latest.at < since ? { ...entry, nextAttemptAt: latest.at } : entry
}
