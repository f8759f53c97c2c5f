// What the queues, queued requests and permits of one gate share.
//
// References go one way: a permit knows its queue, a queued request knows its queue, and a queue
// knows this object. The gate creates all of them and calls them. None of them calls the gate.

import type { Pacing } from '../options/pacing.ts'
import type { RedirectTargets } from '../redirects/redirect-targets.ts'
import type { EventSource } from '../report/events.ts'
import type { Activity } from './activity.ts'
import type { CheckedPacer } from './checked-pacer.ts'
import type { ConcurrencyLimit } from './concurrency-limit.ts'
import type { RobotsCheck } from './robots-check.ts'
import type { SharedLimits } from './shared-limit.ts'

/** Each `PoliteGate` has one. */
export interface GateContext extends EventSource {
  /** The caller's options: delays and concurrency limits. */
  readonly pacing: Pacing
  readonly pacer: CheckedPacer
  readonly concurrency: ConcurrencyLimit
  readonly robots: RobotsCheck
  readonly redirects: RedirectTargets
  readonly activity: Activity
  readonly sharedLimits: SharedLimits
  /**
   * Whether the gate saw when the last request was sent. Some HTTP clients do not show it. True
   * before the first request.
   */
  readonly sight: { isSendingSeen: boolean }
}
