// The replies of the script of `RedisPacer`.
import type { Delay } from '@politely/core/engine'
import type { PaceReason } from '@politely/gate'
import { RedisReplyError } from './errors.ts'

interface Reply {
  /** The time since which the server has lost no data. See pace-script.ts. */
  readonly epoch: number
  /**
   * Whether the server had lost the epoch of the hash tag, or never had one. Then an epoch began
   * with the call.
   */
  readonly isEpochLost: boolean
}

export interface SlotReply extends Reply {
  readonly kind: 'slot'
  readonly slot: number
  readonly delay: Delay
  /** Whether the last responses to requests of this key were pushbacks. */
  readonly hasPushbacks: boolean
}

export interface WaitReply extends Reply {
  readonly kind: 'wait'
  readonly waitMs: number
  readonly because: PaceReason
  readonly turn: Turn
}

/** When a worker that waits calls again. */
export interface Turn {
  /**
   * The worker's turn, and the last turn before it, by the clock of Redis. Milliseconds since 1970.
   */
  readonly turnAt: number
  readonly turnBefore: number
  /** The time from this turn to the next. Milliseconds. */
  readonly turnStepMs: number
}

/** The reply to `estimate`. */
export interface EstimateReply extends Reply {
  readonly kind: 'estimate'
  readonly waitMs: number
  readonly because: PaceReason | 'none'
}

/** The pause after a pushback. A slot that is returned does not shorten it. */
export interface PauseReply extends Reply {
  readonly kind: 'pause'
  readonly pauseMs: number
  readonly because: PaceReason
}

export interface DoneReply extends Reply {
  readonly kind: 'done'
}

export type PaceReply = SlotReply | WaitReply | EstimateReply | PauseReply | DoneReply

const DELAY_REASONS = ['own-delay', 'crawl-delay', 'request-rate', 'cap', 'slow-site'] as const
const PAUSE_REASONS = ['retry-after', 'backoff', 'rate-limit'] as const
const WAIT_REASONS = [...DELAY_REASONS, ...PAUSE_REASONS, 'visit-time'] as const

/** The kinds of replies to each operation. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  reserve: ['slot', 'wait'],
  estimate: ['estimate', 'wait'],
  report: ['pause', 'done'],
}

/** @throws {RedisReplyError} for a reply that the script does not give. */
export function replyOf(operation: string, raw: unknown): PaceReply {
  const [kind, epoch, isEpochLost, ...fields] = Array.isArray(raw) ? raw.map(String) : []
  const one = <const T extends string>(reasons: readonly T[], text: string | undefined): T => {
    const reason = reasons.find((known) => known === text)
    if (reason === undefined) throw new RedisReplyError(raw)
    return reason
  }
  const ms = (text: string | undefined): number => {
    const value = Number(text || Number.NaN)
    if (Number.isFinite(value) && value >= 0) return value
    throw new RedisReplyError(raw)
  }
  const [a, b, c, d, e] = fields
  const known = one((KINDS[operation] ?? ['done']) as readonly PaceReply['kind'][], kind)
  const base = { epoch: ms(epoch), isEpochLost: one(['0', '1'], isEpochLost) === '1' }
  switch (known) {
    case 'slot':
      return {
        ...base,
        kind: 'slot',
        slot: ms(a),
        delay: { delayMs: ms(b), because: one(DELAY_REASONS, c) },
        hasPushbacks: one(['0', '1'], d) === '1',
      }
    case 'wait':
      return {
        ...base,
        kind: 'wait',
        waitMs: ms(a),
        because: one(WAIT_REASONS, b),
        turn: { turnAt: ms(c), turnBefore: ms(d), turnStepMs: ms(e) },
      }
    case 'estimate':
      return { ...base, kind: 'estimate', waitMs: ms(a), because: one([...WAIT_REASONS, 'none'], b) }
    case 'pause':
      return { ...base, kind: 'pause', pauseMs: ms(a), because: one(WAIT_REASONS, b) }
    default:
      return { ...base, kind: 'done' }
  }
}
