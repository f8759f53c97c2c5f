// What the lanes, waiting requests and permits of one gate share. HTTP clients get a part of it
// (`gatePort`).
//
// References go one way: the gate knows its routes, a route knows its lane, a lane its requests, a
// request its permit, and all of them know this object. None of them calls the gate. The way back is
// one method each: a request may leave its lane, and a permit releases the limits that its lane
// acquired.

import type { Decisions } from '@politely/fetcher/internal'
import type { Circuits } from '../circuit/circuits.ts'
import type { Pacing } from '../options/pacing.ts'
import type { LocalStarts } from '../pace/local-starts.ts'
import type { OpenRedirects } from '../redirects/open-redirects.ts'
import type { RedirectTargets } from '../redirects/redirect-targets.ts'
import type { EventSource } from '../report/events.ts'
import type { GateLog } from '../report/gate-log.ts'
import type { RobotsCheck } from '../robots/robots-check.ts'
import type { RobotsPauses } from '../robots/robots-pauses.ts'
import type { Activity } from './activity.ts'
import type { Budgets } from './budgets.ts'
import type { CheckedPacer } from './checked-pacer.ts'
import type { ConcurrencyLimit } from './concurrency-limit.ts'
import type { OpenPermits } from './open-permits.ts'
import type { SharedLimits } from './shared-limit.ts'

/** Each `PoliteGate` has one. */
export interface GateContext extends EventSource {
  /** The caller's options: delays and concurrency limits. */
  readonly pacing: Pacing
  readonly log: GateLog
  readonly pacer: CheckedPacer
  readonly concurrency: ConcurrencyLimit
  readonly circuits: Circuits
  readonly robots: RobotsCheck
  /** Undefined without the option `evidence`. */
  readonly decisions: Decisions | undefined
  readonly robotsPauses: RobotsPauses
  readonly redirects: RedirectTargets
  readonly openRedirects: OpenRedirects
  readonly activity: Activity
  readonly sharedLimits: SharedLimits
  readonly openPermits: OpenPermits
  /** Undefined without the option `budget`. */
  readonly budgets: Budgets | undefined
  /** Undefined with a clock or a pacer of the caller's own. */
  readonly localStarts: LocalStarts | undefined
}
