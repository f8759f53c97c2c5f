// What the gate knows about one origin: its site, its options, its pace keys and its lane.
import type { PaceLimits } from '@politely/core/engine'
import type { Site } from '@politely/fetcher/internal'
import { paceLimitsOf } from '../options/pacing.ts'
import type { SitePacing } from '../options/site-pacing.ts'
import type { AllowedCheck } from '../robots/allowed-check.ts'
import type { GateContext } from './gate-context.ts'
import type { SharedKey } from './shared-limit.ts'

/** What the requests of a route need to know of their lane. */
export interface RoutedLane {
  /** The pace key. */
  readonly key: string
  /** How many requests wait. */
  readonly waiting: number
  /** How many of them the pacer does not know yet. */
  readonly withoutSlot: number
  /** Whether its own limit holds up a request, if so many requests may be under way. */
  isFullFor(maxConcurrent: number): boolean
}

/** What the gate knows about one origin, and with a function as `paceBy` about one key of it. */
export class Route<L extends RoutedLane = RoutedLane> {
  readonly lane: L
  /** Requests count towards the concurrency limit of this site. */
  readonly site: Site
  /** The options for the origin. */
  readonly pacing: SitePacing
  /**
   * Its registrable domain and its IP address, if they have their own limits. The key with the most
   * hosts comes first.
   */
  readonly shared: readonly SharedKey[]
  /** The address that `lookup` found; empty if the gate does not need it. */
  readonly address: string
  readonly #context: GateContext
  /** What the limits come from. */
  #source: object | undefined
  #limits: PaceLimits | undefined
  /** The end of the last attempt to fetch robots.txt that the pacer and the circuit know. */
  toldAttemptAt: number | undefined
  /** Whether a long delay of the site was logged. */
  hasLoggedDelay = false

  constructor(
    context: GateContext,
    lane: L,
    { site, pacing, shared, address }: Pick<Route, 'site' | 'pacing' | 'shared' | 'address'>,
  ) {
    this.#context = context
    this.lane = lane
    this.site = site
    this.pacing = pacing
    this.shared = shared
    this.address = address
  }

  /**
   * Returns the delays and visit times that the caller and the site ask for. If robots.txt has
   * changed, the pacer learns of the pauses that its fetch causes.
   */
  limitsFor(check: AllowedCheck): PaceLimits {
    if (this.#limits !== undefined && check.source === this.#source) return this.#limits
    const { pacing, robotsPauses, log } = this.#context
    const limits = paceLimitsOf(check.asked, this.pacing, pacing.pauseFrom)
    this.#source = check.source
    this.#limits = limits
    robotsPauses.note(check.verdict, this, limits)
    log.delays(check.origin, limits, this)
    return limits
  }
}
