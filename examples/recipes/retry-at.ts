// When a refused request may be made again, whichever client has wrapped the error.
import { isPolitelyError } from '@politely/core'

/**
 * Returns the date of a refusal. Milliseconds since 1970. Undefined for every other error, and for a
 * refusal without a date, such as a page that robots.txt disallows.
 */
export function retryAtOf(error: unknown): number | undefined {
  for (let found = error; found instanceof Error; found = found.cause)
    if (isPolitelyError(found) && 'retryAt' in found) return found.retryAt as number | undefined
  return undefined
}
