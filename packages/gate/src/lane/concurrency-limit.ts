// Limits how many requests are under way at once: in all, to each site, and to each platform with
// many sites. Without the last two limits, one owner with many hosts and slow pages could occupy
// all of `maxConcurrent`.
//
// Several owners with slow pages could still do that, since a body need not end. `SlowItems`
// exempts such requests.

import { DomainTurns, type Site, SlowItems, type TurnOutcome } from '@politely/fetcher/internal'
import type { CheckedPacing } from '../options/option-table.ts'
import type { WaitCause } from '../pace/wait-cause.ts'
import type { Grant } from './grant.ts'

type Limits = Pick<CheckedPacing, 'maxConcurrent' | 'maxConcurrentPerDomain' | 'slowAfterMs'>

/** A lane whose first request waits for a limit. */
export interface WaitingLane {
  /**
   * The limit may have capacity now: acquires it, or waits again. Returns the limit that the first
   * request waits for afterwards. Undefined if it waits for something else.
   */
  advance(): WaitCause | undefined
  /** Whether the lane is first in the line of the `SharedLimit` of a registrable domain. */
  readonly isFirstOfDomain: boolean
  /** The site whose turn it waits for. `ConcurrencyLimit` sets it. */
  waitsForSite?: Site | undefined
}

const FULL: Readonly<Record<'domain' | 'gate', WaitCause>> = {
  domain: { because: 'concurrency', level: 'domain' },
  gate: { because: 'concurrency', level: 'gate' },
}

export class ConcurrencyLimit {
  /** How many requests each site and each platform has. */
  readonly turns: DomainTurns<WaitingLane>
  /** The requests that have started and hold a limit. */
  readonly requests: SlowItems<Grant>
  #isWaking = false

  constructor({ maxConcurrent, maxConcurrentPerDomain, slowAfterMs }: Limits, now: () => number) {
    this.turns = new DomainTurns(maxConcurrent, maxConcurrentPerDomain)
    this.requests = new SlowItems(this.turns, slowAfterMs, now, () => this.#wake())
  }

  /**
   * Returns the level whose limit a request to this site would have to wait for; undefined if it
   * could start now.
   */
  fullLevel(site: Site): 'domain' | 'gate' | undefined {
    const limit = this.turns.fullLimit(site)
    return limit === 'all' ? 'gate' : limit
  }

  /** Counts a request to this site as under way. `start` or `release` must follow. */
  acquire(site: Site): void {
    this.turns.start(site)
  }

  /**
   * Counts a request to this site as under way. If that would exceed a limit, returns the limit
   * instead, and calls the lane's `advance` once there is capacity. A lane that tries again for the
   * same site keeps its position among the waiting lanes.
   */
  acquireOrWait(lane: WaitingLane, site: Site): WaitCause | undefined {
    const full = this.fullLevel(site)
    if (full !== undefined && lane.waitsForSite?.name === site.name) return FULL[full]
    this.forget(lane)
    if (full === undefined) {
      this.acquire(site)
      return undefined
    }
    this.turns.add(site, lane)
    lane.waitsForSite = site
    this.requests.updateTimer()
    return FULL[full]
  }

  /** To be called when a request starts, after `acquire`. From now on it may become exempt. */
  start(grant: Grant): void {
    this.requests.start(grant)
  }

  /** Counts a request that has started as ended. Then calls waiting lanes, as `release` does. */
  end(grant: Grant): void {
    let outcome: TurnOutcome | undefined
    try {
      outcome = this.requests.end(grant) // throws if the caller's clock throws
    } finally {
      this.turns.end(grant.site, outcome)
      this.#wake()
    }
  }

  /**
   * Releases what was acquired for a request that does not start. Then calls one waiting lane after
   * the other, until one of them acquires what was released.
   */
  release(site: Site): void {
    this.turns.end(site)
    this.#wake()
  }

  /** Removes a waiting lane. */
  forget(lane: WaitingLane): void {
    const { waitsForSite } = lane
    if (waitsForSite === undefined) return
    lane.waitsForSite = undefined
    this.turns.delete(waitsForSite, lane)
    this.requests.updateTimer()
  }

  /**
   * A lane that is called may release in turn. The loop handles that release as well, so that
   * calls do not nest.
   */
  #wake(): void {
    if (this.#isWaking) return
    this.#isWaking = true
    try {
      for (let lane = this.turns.next(); lane !== undefined; lane = this.turns.next()) {
        lane.waitsForSite = undefined
        lane.advance()
      }
    } finally {
      this.#isWaking = false
    }
    this.requests.updateTimer()
  }
}
