// The replies of the server to a FleetPacer, and how their fields are checked.
import type { Delay } from '@politely/core/engine'
import type { PaceReason } from '@politely/gate/internal'

interface Reply {
  /** The time since which the server has lost no data. */
  readonly epoch: number
  /**
   * Whether the server had lost the epoch of the bucket, or never had one. Then an epoch began with
   * the call.
   */
  readonly isEpochLost: boolean
}

export interface SlotReply extends Reply {
  readonly kind: 'slot'
  readonly slot: number
  /** The time until the slot. Milliseconds; undefined if it is now. */
  readonly waitMs: number | undefined
  readonly delay: Delay
  /** Whether the last responses to requests of this key were pushbacks. */
  readonly hasPushbacks: boolean
  readonly ended: readonly number[] | undefined
  /** The turn of the worker's next request, and the time until then: with `takesTurn`. Milliseconds. */
  readonly turn: WorkerTurn | undefined
  readonly nextWaitMs: number | undefined
}

export interface WaitReply extends Reply {
  readonly kind: 'wait'
  readonly waitMs: number
  readonly because: PaceReason
  readonly turn: WorkerTurn
  readonly ended: readonly number[] | undefined
}

/** The reply to `reserve` if the slot is free, but too many requests are under way. */
export interface FullReply extends Reply {
  readonly kind: 'full'
  /** The time until the first lease is over. Milliseconds. */
  readonly waitMs: number
  /** The turn of the request, or since when it has waited. Milliseconds since 1970. */
  readonly since: number
  /** The slots among the `open` ones of the request that are no longer under way. */
  readonly ended: readonly number[] | undefined
}

/** When a worker that waits calls again. */
export interface WorkerTurn {
  /**
   * The worker's turn, and the last turn before it, by the clock of the server. Milliseconds since
   * 1970.
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

/**
 * A reply without values. `failures`: to `reserve` with `ifClear` for an origin with failures; it has
 * taken neither a slot nor a turn. `renewed`: to `renew`, if the lease was not over.
 */
export interface PlainReply<Kind extends 'failures' | 'renewed' | 'done' = 'done'> extends Reply {
  readonly kind: Kind
}

export type PaceReply =
  | SlotReply
  | WaitReply
  | FullReply
  | EstimateReply
  | PauseReply
  | PlainReply<'failures'>
  | PlainReply<'renewed'>
  | PlainReply

/** The reply to a call about the circuit of an origin. */
export interface CircuitReply {
  readonly isStored: boolean
  /** Empty if the server has no circuit of the origin. */
  readonly value: string
  /** Milliseconds since 1970. */
  readonly now: number
}

/** The fields of a reply by name, with the fields of its delay or turn. Values may be text. */
export type ReplyFields = Readonly<Record<string, unknown>>

const DELAY_REASONS = ['own-delay', 'crawl-delay', 'request-rate', 'cap', 'slow-site'] as const
const PAUSE_REASONS = ['retry-after', 'backoff', 'rate-limit'] as const
const WAIT_REASONS = [...DELAY_REASONS, ...PAUSE_REASONS, 'visit-time'] as const

const ESTIMATE_REASONS = [...WAIT_REASONS, 'none'] as const

/** The kinds of replies to each operation. */
const KINDS: Readonly<Record<string, readonly PaceReply['kind'][]>> = {
  reserve: ['slot', 'wait', 'full', 'failures'],
  estimate: ['estimate', 'wait'],
  report: ['pause', 'done'],
  renew: ['renewed', 'done'],
}
const DONE = ['done'] as const

/**
 * @param invalid Makes the error for a reply that the server does not give.
 * @throws The error that `invalid` returns.
 */
export function paceReplyOf(operation: string, kind: unknown, fields: ReplyFields, invalid: () => Error): PaceReply {
  const { because } = fields
  const known = one(KINDS[operation] ?? DONE, kind, invalid)
  const epoch = ms(fields.epoch, invalid)
  const isEpochLost = flag(fields.isEpochLost, invalid)
  switch (known) {
    case 'slot': {
      const delay = { delayMs: ms(fields.delayMs, invalid), because: one(DELAY_REASONS, because, invalid) }
      const hasPushbacks = flag(fields.hasPushbacks, invalid)
      const ended = slots(fields.ended, invalid)
      const [slot, waitMs] = [ms(fields.slot, invalid), msIfAny(fields.waitMs, invalid)]
      const nextWaitMs = msIfAny(fields.nextWaitMs, invalid)
      const turn = nextWaitMs === undefined ? undefined : turnOf(fields, invalid)
      return { epoch, isEpochLost, kind: known, slot, waitMs, delay, hasPushbacks, ended, turn, nextWaitMs }
    }
    case 'wait': {
      const turn = turnOf(fields, invalid)
      const waitMs = ms(fields.waitMs, invalid)
      const ended = slots(fields.ended, invalid)
      return { epoch, isEpochLost, kind: known, waitMs, because: one(WAIT_REASONS, because, invalid), turn, ended }
    }
    case 'full': {
      const [waitMs, ended] = [ms(fields.waitMs, invalid), slots(fields.ended, invalid)]
      return { epoch, isEpochLost, kind: known, waitMs, since: ms(fields.since, invalid), ended }
    }
    case 'estimate': {
      const waitMs = ms(fields.waitMs, invalid)
      return { epoch, isEpochLost, kind: known, waitMs, because: one(ESTIMATE_REASONS, because, invalid) }
    }
    case 'pause': {
      const pauseMs = ms(fields.pauseMs, invalid)
      return { epoch, isEpochLost, kind: known, pauseMs, because: one(WAIT_REASONS, because, invalid) }
    }
    case 'failures':
    case 'renewed':
    case 'done':
      return { epoch, isEpochLost, kind: known }
  }
}

/**
 * @param invalid Makes the error for a reply that the server does not give.
 * @throws The error that `invalid` returns.
 */
export function circuitReplyOf({ isStored, value, now }: ReplyFields, invalid: () => Error): CircuitReply {
  if (typeof value !== 'string') throw invalid()
  return { isStored: flag(isStored, invalid), value, now: ms(now, invalid) }
}

function one<const T>(expected: readonly T[], value: unknown, invalid: () => Error): T {
  if (expected.includes(value as T)) return value as T
  throw invalid()
}

function turnOf({ turnAt, turnBefore, turnStepMs }: ReplyFields, invalid: () => Error): WorkerTurn {
  return { turnAt: ms(turnAt, invalid), turnBefore: ms(turnBefore, invalid), turnStepMs: ms(turnStepMs, invalid) }
}

function ms(value: unknown, invalid: () => Error): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof number === 'number' && Number.isFinite(number) && number >= 0) return number
  throw invalid()
}

/** Redis has an empty text for a missing field. */
function msIfAny(value: unknown, invalid: () => Error): number | undefined {
  return value === undefined || value === '' ? undefined : ms(value, invalid)
}

/** Redis lists slots as text. */
function slots(value: unknown, invalid: () => Error): readonly number[] | undefined {
  if (value === undefined || value === '') return undefined
  const list = typeof value === 'string' ? value.split(' ') : value
  if (!Array.isArray(list)) throw invalid()
  return list.map((slot) => ms(slot, invalid))
}

function flag(value: unknown, invalid: () => Error): boolean {
  if (value === true || value === '1') return true
  if (value === false || value === '0') return false
  throw invalid()
}
