import type { WaitLevel, WaitReason } from '../pace/wait-cause.ts'

/** The present state of one queue. JSON-safe. */
export interface QueueState {
  /** The pace key: an origin, or what `paceBy` says. */
  readonly key: string
  /** How many requests wait. */
  readonly waiting: number
  /**
   * How many requests count towards the concurrency limits: the requests under way, and the first
   * waiting request while the pacer replies to its `reserve`. `waiting` counts that request too.
   */
  readonly underWay: number
  /**
   * What the first request waits for, or waited for last. Undefined if none waits, or if nothing
   * has held it up.
   */
  readonly heldBy: WaitReason | undefined
  /** The level that it waits for. */
  readonly level: WaitLevel | undefined
  /**
   * The age of the oldest permit that is not released. Milliseconds, by the gate's clock; undefined
   * if all permits are released.
   */
  readonly oldestMs: number | undefined
}
