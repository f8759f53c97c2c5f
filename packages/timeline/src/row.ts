// What a timeline records.
import type { WaitLevel } from '@politely/gate/internal'

/**
 * The events of one origin. Times are milliseconds since the first mark of the timeline. JSON-safe.
 */
export interface TimelineRow {
  readonly origin: string
  readonly marks: readonly TimelineMark[]
}

/**
 * One event of an origin. `at` is its time in milliseconds since the first mark of the timeline.
 */
export type TimelineMark =
  /** A request started, after it had waited for `waitedMs`. */
  | {
      readonly kind: 'start'
      readonly at: number
      /** How long the request waited in its queue. Milliseconds. */
      readonly waitedMs: number
      /** Whose limit it waited for last; undefined if it did not wait. */
      readonly waitedLevel: WaitLevel | undefined
    }
  /** A response asked for fewer requests: status 429, 430, 503 or 529. */
  | { readonly kind: 'pushback'; readonly at: number; readonly status: number }
  /** The circuit of the origin opened. */
  | {
      readonly kind: 'rest'
      readonly at: number
      /** How long no request starts. Milliseconds. */
      readonly forMs: number
    }
  /** robots.txt refused a request. */
  | { readonly kind: 'refuse'; readonly at: number }
