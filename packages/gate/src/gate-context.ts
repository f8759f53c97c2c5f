// What the queues, queued requests and permits of one gate share.
//
// References go one way: a permit knows its queue, a queued request knows its queue, and a queue knows this object. The gate creates
// all of them and calls them. None of them calls the gate.
import type { Activity } from './activity.ts'
import type { CheckedPacer } from './checked-pacer.ts'
import type { ConcurrencyLimit } from './concurrency-limit.ts'
import type { Counters } from './counters.ts'
import type { PoliteGate } from './gate.ts'
import type { Pacing } from './pacing.ts'
import type { RequestQueue } from './queue.ts'
import type { RedirectTargets } from './redirect-targets.ts'
import type { RobotsCheck } from './robots-check.ts'
import type { SharedLimits } from './shared-limit.ts'

/** What is needed to count an event of a gate and to publish a message about it. */
export interface EventSource {
  /** Named in every message. */
  readonly gate: PoliteGate
  /** The gate's clock: milliseconds since 1970. It never goes back. */
  readonly now: () => number
  readonly counters: Counters
}

/** Each `PoliteGate` has one. */
export interface GateContext extends EventSource {
  /** The caller's options: delays and concurrency limits. */
  readonly pacing: Pacing
  readonly pacer: CheckedPacer
  readonly concurrency: ConcurrencyLimit
  readonly robots: RobotsCheck
  readonly redirects: RedirectTargets
  readonly activity: Activity
  /** By pace key: each queue that has a request waiting or under way. A queue removes itself when it has neither. */
  readonly queues: Map<string, RequestQueue>
  readonly sharedLimits: SharedLimits
  /**
   * Whether the gate saw when the last request was sent. Some HTTP clients do not show it. True
   * before the first request.
   */
  readonly sight: { isSendingSeen: boolean }
}
