// RedisPacer: keeps one pace for all workers of a fleet, in Redis. The pace itself is in
// pace-script.ts.
import { OptionError } from '@politely/core'
import {
  applyResponse,
  type Delay,
  isPushback,
  MAX_RETRY_AFTER_MS,
  type PaceLimits,
  type PaceResponse,
  retryAfterMs,
  startPace,
} from '@politely/core/engine'
import {
  assertOptions,
  callable,
  integer,
  MAX_TIMEOUT_MS,
  number,
  oneOf,
  withTimeout,
} from '@politely/fetcher/internal'
import type { PaceReason, Pacer, Reservation, Ticket, WaitEstimate } from '@politely/gate'
import { LRUCache } from 'lru-cache'
import { type Commands, commandsOf, type RedisClient } from './client.ts'
import { RedisTimeoutError } from './errors.ts'
import { checkedKeyPrefix, DEFAULT_KEY_PREFIX, keyOf } from './keys.ts'
import { isLocal, LocalFallback } from './local-fallback.ts'
import {
  type DoneReply,
  type EstimateReply,
  type PaceReply,
  replyOf,
  type SlotReply,
  type Turn,
  type WaitReply,
} from './pace-reply.ts'
import { PACE_SCRIPT } from './pace-script.ts'
import { publish, type RedisFailureMessage, type RedisPacerCounters, type ReportingPacer } from './pacer-events.ts'

/** Options of a `RedisPacer`. Only `client` is required. */
export interface RedisPacerOptions {
  /**
   * A client of ioredis or node-redis, connected to Redis 7 or later, or Valkey. The caller closes
   * it.
   */
  readonly client: RedisClient
  /**
   * The beginning of all keys. Workers that share a pace use the same one.
   * @default 'politely:'
   */
  readonly keyPrefix?: string | undefined
  /**
   * What happens while Redis is away. `wait`: requests wait until it is back, with the reason
   * `pacer-failure`. `local`: the worker paces its requests itself, with delays that are
   * `fleetSize` times as long.
   * @default 'wait'
   */
  readonly onFailure?: 'wait' | 'local' | undefined
  /**
   * How many `RedisPacer` objects share the pace in all processes, at most. Required for
   * `onFailure: 'local'`.
   */
  readonly fleetSize?: number | undefined
  /**
   * How long to wait for a reply of Redis. A longer wait is a failure. After a loss of data, and
   * with an empty Redis, the first slot of each key comes later by three times this time. All
   * workers use the same value. Milliseconds.
   * @default 2000
   */
  readonly timeoutMs?: number | undefined
  /**
   * @internal The clock of the pace instead of that of Redis, in milliseconds since 1970. It must
   * not advance during a call. For tests and simulations.
   */
  readonly now?: (() => number) | undefined
}

type Operation = RedisFailureMessage['operation']

interface ScriptRequest {
  readonly limits?: PaceLimits
  readonly slot?: number | undefined
  readonly [argument: string]: unknown
}

/** The keys of one hash tag, which are on one server. They fail and recover together. */
interface Bucket {
  readonly name: string
  /**
   * How many attempts have failed since the last call that succeeded. Calls that were under way
   * together are one attempt.
   */
  failures: number
  /** How many calls were made. They have the numbers 1, 2 and so on. */
  calls: number
  /**
   * How many calls had been made at the last failed attempt. The failure of a call with a number up
   * to this one is not another attempt.
   */
  callsAtFailure: number
  /** After a failure, no call is made before this time. */
  retryAt: number
  /** The epoch of the last reply. See pace-script.ts. */
  epoch: number | undefined
  /** Calls that have to be made again. */
  readonly unsent: { readonly operation: Operation; readonly key: string; readonly request: ScriptRequest }[]
  resending: Promise<void> | undefined
  timer: NodeJS.Timeout | undefined
}

/** A pause after a pushback, by this worker's clock. */
interface PushbackPause {
  readonly until: number
  readonly because: PaceReason
}

/**
 * A pushback pause that this worker caused. Another worker would not know of it if Redis lost it.
 */
interface KnownPushback extends PushbackPause {
  /** The epoch in which Redis learned of it; -1 if it does not know yet. */
  readonly epoch: number
  /**
   * A report of it is under way or will be sent again. Its reply has the pause as Redis knows it.
   */
  readonly isReported: boolean
}

const KNOWN: Readonly<Record<keyof RedisPacerOptions, true>> = {
  client: true,
  keyPrefix: true,
  onFailure: true,
  fleetSize: true,
  timeoutMs: true,
  now: true,
}
const EXAMPLE = '{ client: new Redis("redis://localhost:6379") }'

/** Spreads the keys over the servers of a cluster. All workers must use the same number. */
const BUCKETS = 64
const MIN_RETRY_MS = 250
const MAX_RETRY_MS = 5_000
const MAX_PUSHBACKS = 10_000

/**
 * How long the first reply is expected to take. Later ones: as long as the slowest of the last few.
 */
const FIRST_EXPECTED_MS = 10
const EXPECTED_DECAY = 0.9
/** The shortest time that a reply may take without the slot being reserved again. */
const MIN_REPLY_MS = 2
/** How long the gate may take from the reply to its last slot until the request starts. */
const START_MS = 2
/** A request has at most this many slots: of its address, its domain and its origin. */
const MAX_LEVELS = 3
/**
 * How late the timer of a worker that waits for its turn may be. If it is later, the next worker
 * calls too early.
 */
const TIMER_MS = 3

/**
 * Keeps one pace for all workers of a fleet, in Redis or Valkey and by its clock. Pass it to the
 * gates of all workers: `new PoliteGate({ robots, pacer })`. `reserve` is one call of Redis.
 *
 * If Redis loses data, each key counts as just visited by the slowest worker, so no delay is
 * shorter than asked. Redis must run with `maxmemory-policy noeviction`. The caller closes the
 * Redis client, after `close`.
 */
export class RedisPacer implements Pacer, ReportingPacer {
  readonly #commands: Commands
  readonly #keyPrefix: string
  readonly #timeoutMs: number
  readonly #local: LocalFallback | undefined
  /** A clock in milliseconds that never goes back. */
  readonly #now: () => number
  readonly #hasTestClock: boolean
  readonly #buckets = new Map<string, Bucket>()
  readonly #pushbacks = new LRUCache<string, KnownPushback>({ max: MAX_PUSHBACKS })
  /**
   * The pushback pauses that Redis named as the reason for a wait, for use while Redis is away.
   * They may include a turn, so Redis is not told of them.
   */
  readonly #pausesOfOthers = new LRUCache<string, PushbackPause>({ max: MAX_PUSHBACKS })
  readonly #counters = { calls: 0, failures: 0, repeats: 0, localSlots: 0 }
  /** How long a reply takes at most, as far as the last ones show. Milliseconds. */
  #expectedMs = FIRST_EXPECTED_MS
  /**
   * The longest allowance of any worker with this `timeoutMs`, since a later reply is not used.
   * Milliseconds.
   */
  readonly #maxAllowanceMs: number
  #isPolicyChecked = false
  #isClosed = false
  #isSharing = false
  #isShareDue = false
  #isStartingEpochs = false

  /**
   * @throws {OptionError} for an invalid option, such as a `client` of neither library, or
   * `onFailure: 'local'` without `fleetSize`.
   */
  constructor(options: RedisPacerOptions) {
    assertOptions(options, EXAMPLE, KNOWN)
    const { client, keyPrefix = DEFAULT_KEY_PREFIX, onFailure = 'wait', fleetSize, timeoutMs = 2_000, now } = options
    this.#commands = commandsOf(client)
    this.#keyPrefix = checkedKeyPrefix(keyPrefix)
    this.#timeoutMs = number('timeoutMs', timeoutMs, { min: 1, max: MAX_TIMEOUT_MS })
    this.#hasTestClock = callable('now', now, 'a function that returns milliseconds') !== undefined
    this.#maxAllowanceMs = this.#hasTestClock ? 0 : MAX_LEVELS * this.#timeoutMs + START_MS
    this.#now = now ?? (() => performance.now())
    if (fleetSize !== undefined) integer('fleetSize', fleetSize, { min: 1 })
    if (oneOf('onFailure', onFailure, ['wait', 'local']) === 'local') {
      if (fleetSize === undefined) {
        throw new OptionError('fleetSize', "is missing; onFailure: 'local' needs the number of workers, such as 4")
      }
      this.#local = new LocalFallback(now, fleetSize)
    }
  }

  /** A snapshot of what the pacer has counted since it was created. */
  get counters(): RedisPacerCounters {
    return { ...this.#counters }
  }

  /**
   * The gap between two requests, A and then B of another worker, is never shorter than the delay.
   * The script lets B start `delay + allowance` after the slot of A, by the clock of Redis. A
   * starts at most `allowance` after its slot, since the gate keeps `startWithinMs`. A slot whose
   * reply took too long is reserved again with a larger allowance.
   *
   * If the script rejects the call, rejects with its error.
   */
  async reserve(key: string, limits: PaceLimits, ticket?: Ticket, furtherSlots = 0): Promise<Reservation> {
    const bucket = this.#bucketOf(key)
    const calledAt = this.#now()
    let slot: number | undefined
    for (;;) {
      const maxReplyMs = this.#hasTestClock
        ? 0
        : Math.min(Math.max(2 * this.#expectedMs, MIN_REPLY_MS), this.#timeoutMs)
      const allowanceMs = this.#hasTestClock ? 0 : (furtherSlots + 1) * maxReplyMs + START_MS
      const timerAllowanceMs = this.#hasTestClock ? 0 : this.#expectedMs + TIMER_MS
      await this.#resend(bucket)
      const knownPauses = this.#knownPausesOf(key, limits)
      const sentAt = this.#now()
      const allowances = { allowanceMs, timerAllowanceMs, maxAllowanceMs: this.#maxAllowanceMs }
      const request = { limits, slot, ...allowances, knownPauses, ...turnOf(ticket) }
      const reply = await this.#tryCall<SlotReply | WaitReply>('reserve', bucket, key, request)
      if (reply === undefined) {
        if (slot !== undefined) void this.#deliver('cancel', key, { slot }) // its reply was too late to be used
        return this.#reserveWithoutRedis(bucket, key, limits, ticket)
      }
      const tookMs = this.#now() - sentAt
      this.#expectedMs = Math.max(tookMs, this.#expectedMs * EXPECTED_DECAY)
      if (reply.kind === 'wait') {
        const { waitMs, because, turn } = reply
        const isPushback = because === 'retry-after' || because === 'backoff'
        if (isPushback && this.#local) this.#pausesOfOthers.set(key, { until: this.#now() + waitMs, because })
        return { kind: 'wait', ticket: waitTicketOf(turn), waitMs, because }
      }
      if (tookMs <= maxReplyMs) {
        const startWithinMs = this.#hasTestClock ? undefined : sentAt + allowanceMs - calledAt
        return { kind: 'slot', ticket: ticketOf(reply), delay: reply.delay, startWithinMs }
      }
      this.#counters.repeats++
      slot = reply.slot
    }
  }

  /**
   * The gate calls this only after `startWithinMs`. Until then the allowance of the slot
   * covers the start.
   */
  async sent(key: string, ticket: Ticket, delay: Delay): Promise<void> {
    if (isLocal(ticket)) this.#local?.sent(key, ticket, delay)
    else await this.#deliver('sent', key, { delay })
  }

  async cancel(key: string, ticket: Ticket): Promise<void> {
    const turn = turnOf(ticket)
    if (isLocal(ticket)) this.#local?.cancel(key, ticket)
    else if (turn !== undefined) await this.#deliver('cancelWait', key, { ...turn })
    else await this.#deliver('cancel', key, { slot: slotOf(ticket) })
  }

  async report(key: string, ticket: Ticket, response: PaceResponse): Promise<void> {
    const isNew = isPushback(response)
    const now = this.#now()
    const utcOffsetMs = this.#hasTestClock ? 0 : Date.now() - now // for dates in Retry-After
    if (isNew) {
      const { lastingPause } = applyResponse(startPace, response, 1, now, utcOffsetMs) // a pushback causes at least the pause of a first one
      this.#remember(key, { ...lastingPause, epoch: -1, isReported: !isLocal(ticket) })
    }
    if (isLocal(ticket)) return this.#local?.report(key, ticket, response)
    // A success changes nothing unless the key had pushbacks when its slot was taken: those that
    // came later are newer than the request.
    if (isNew || hadPushbacks(ticket)) {
      const askedMs = retryAfterMs(response.retryAfter, now + utcOffsetMs)
      const requestedMs = askedMs === undefined ? undefined : Math.min(askedMs, MAX_RETRY_AFTER_MS) // JSON has no Infinity
      await this.#deliver('report', key, { slot: slotOf(ticket), isPushback: isNew, requestedMs })
    }
  }

  async end(key: string, ticket: Ticket, limits: PaceLimits, tookMs: number): Promise<void> {
    if (isLocal(ticket)) return this.#local?.end(key, ticket, limits, tookMs)
    if (limits.pauseFrom === 'end' || limits.delayFactor) {
      await this.#deliver('end', key, { slot: slotOf(ticket), limits, tookMs })
    }
  }

  async estimate(key: string, limits: PaceLimits, ahead: number): Promise<WaitEstimate> {
    const bucket = this.#bucketOf(key)
    const request = { limits, ahead, maxAllowanceMs: this.#maxAllowanceMs }
    const reply = await this.#tryCall<EstimateReply>('estimate', bucket, key, request)
    if (reply !== undefined) return { waitMs: reply.waitMs, because: reply.because }
    return this.#local?.estimate(key, limits, ahead) ?? this.#untilRetry(bucket)
  }

  /**
   * Gives up the calls that have failed and would be made again. Does not close the Redis client.
   */
  close(): void {
    this.#isClosed = true
    for (const { timer, unsent } of this.#buckets.values()) {
      clearTimeout(timer)
      unsent.length = 0
    }
  }

  /** Returns a wait until the next attempt, or a local slot. */
  #reserveWithoutRedis(bucket: Bucket, key: string, limits: PaceLimits, ticket: Ticket | undefined): Reservation {
    if (this.#local === undefined) return { kind: 'wait', ticket, ...this.#untilRetry(bucket) }
    const pauses = [this.#pushbacks.peek(key), this.#pausesOfOthers.peek(key)].filter((pause) => pause !== undefined)
    const [last] = pauses.sort((one, other) => other.until - one.until)
    const pauseMs = last === undefined ? 0 : last.until - this.#now()
    if (last !== undefined && pauseMs > 0) return { kind: 'wait', ticket, waitMs: pauseMs, because: last.because }
    const reservation = this.#local.reserve(key, limits)
    if (reservation.kind === 'slot') this.#counters.localSlots++
    return reservation
  }

  #untilRetry(bucket: Bucket): { waitMs: number; because: 'pacer-failure' } {
    return { waitMs: Math.max(bucket.retryAt - this.#now(), 1), because: 'pacer-failure' }
  }

  /**
   * The pauses of a key that Redis may not know: a pushback that it may have lost, and the last
   * local slot.
   */
  #knownPausesOf(key: string, limits: PaceLimits): readonly object[] {
    const now = this.#now()
    const pauses: object[] = []
    const pushback = this.#pushbacks.peek(key)
    if (pushback !== undefined) {
      const { until, because, epoch } = pushback
      if (until > now) pauses.push({ ms: until - now, because, epoch })
      else this.#pushbacks.delete(key)
    }
    if (this.#local?.isUsed) {
      const { waitMs, because } = this.#local.estimate(key, { ...limits, visitTimes: undefined }, 0)
      if (waitMs > 0) pauses.push({ ms: waitMs, because, epoch: -1 })
    }
    return pauses
  }

  /** Keeps the pause that ends last. If Redis has lost it, a later call tells Redis again. */
  #remember(key: string, pushback: KnownPushback): void {
    const known = this.#pushbacks.peek(key)
    // A pause in a reply of Redis includes those that Redis knows, even if it ends earlier.
    const isIncluded = pushback.epoch !== -1 && (known?.isReported || known?.epoch === pushback.epoch)
    if (known === undefined || isIncluded || pushback.until >= known.until) this.#pushbacks.set(key, pushback)
  }

  /**
   * Tells Redis the pushbacks that it may have lost. The script ignores those that it got in its
   * present epoch.
   */
  async #sharePauses(): Promise<void> {
    this.#isShareDue = true
    if (this.#isSharing) return
    this.#isSharing = true
    const none: PaceLimits = { ownDelayMs: 0, maxDelayMs: undefined, crawlDelayMs: undefined }
    while (this.#isShareDue) {
      this.#isShareDue = false
      for (const key of [...this.#pushbacks.rkeys()]) {
        const knownPauses = this.#knownPausesOf(key, none)
        if (knownPauses.length > 0) await this.#isAnswered('pause', this.#bucketOf(key), key, { knownPauses })
      }
    }
    this.#isSharing = false
  }

  /**
   * Makes a call whose loss could shorten a delay. If it fails, it is made again until it succeeds.
   * A late call lengthens a delay; it never shortens one.
   */
  async #deliver(operation: Operation, key: string, request: ScriptRequest): Promise<void> {
    const bucket = this.#bucketOf(key)
    if (await this.#isAnswered(operation, bucket, key, request)) return
    bucket.unsent.push({ operation, key, request })
    this.#resendLater(bucket)
  }

  #resendLater(bucket: Bucket): void {
    if (this.#isClosed || bucket.timer !== undefined || bucket.unsent.length === 0) return
    bucket.timer = setTimeout(() => {
      bucket.timer = undefined
      void this.#resend(bucket).then(() => this.#resendLater(bucket))
    }, retryMs(bucket.failures)).unref()
  }

  /** Makes the calls again that have failed, in order. */
  async #resend(bucket: Bucket): Promise<void> {
    if (bucket.unsent.length === 0) return
    bucket.resending ??= (async () => {
      for (let next = bucket.unsent[0]; next !== undefined; next = bucket.unsent[0]) {
        if (!(await this.#isAnswered(next.operation, bucket, next.key, next.request))) return
        bucket.unsent.shift()
      }
    })().finally(() => {
      bucket.resending = undefined
    })
    await bucket.resending
  }

  /**
   * Calls Redis. Returns false if Redis has not replied, so that the call has to be made again. An
   * error of the script counts as a reply.
   */
  async #isAnswered(operation: Operation, bucket: Bucket, key: string, request: ScriptRequest): Promise<boolean> {
    try {
      return (await this.#tryCall(operation, bucket, key, request)) !== undefined
    } catch {
      return true
    }
  }

  /**
   * Calls Redis. Returns undefined after a failure, and until the next attempt is due.
   * @throws The error of the script, if it rejects the call.
   */
  async #tryCall<R extends PaceReply = DoneReply>(
    operation: Operation,
    bucket: Bucket,
    key: string,
    request: ScriptRequest,
  ): Promise<R | undefined> {
    if (bucket.failures > 0) {
      const now = this.#now()
      if (now < bucket.retryAt) return undefined
      bucket.retryAt = now + retryMs(bucket.failures) // the other keys wait for the outcome of this attempt
    }
    const call = ++bucket.calls
    const sent = 'knownPauses' in request ? this.#pushbacks.peek(key) : undefined
    try {
      const reply = (await this.#call(operation, bucket, key, request)) as R
      this.#succeeded(bucket, key, reply)
      if (sent !== undefined && this.#pushbacks.peek(key) === sent) {
        this.#pushbacks.set(key, { ...sent, epoch: reply.epoch })
      }
      if (reply.kind === 'pause') {
        const { pauseMs, because, epoch } = reply
        this.#remember(key, { until: this.#now() + pauseMs, because, epoch, isReported: false })
      }
      return reply
    } catch (error) {
      this.#failed(operation, bucket, key, call, error)
      if (isScriptError(error)) throw error
      return undefined
    }
  }

  async #call(operation: Operation, { name }: Bucket, key: string, request: ScriptRequest): Promise<PaceReply> {
    const pending = this.#send(operation, name, key, request)
    const startOthers = ({ isEpochLost }: PaceReply) => void (isEpochLost && this.#startEpochs())
    pending.then(startOthers, () => undefined)
    return withTimeout(pending, this.#timeoutMs, () => {
      const giveBack = (late: PaceReply) => {
        if (late.kind === 'slot') void this.#deliver('cancel', key, { slot: late.slot })
        // If the turn is that of the call, the worker still has its ticket.
        const isNewTurn = late.kind === 'wait' && late.turn.turnAt !== request.turnAt
        if (isNewTurn) void this.#deliver('cancelWait', key, { ...late.turn })
      }
      pending.then(giveBack, () => undefined)
      throw new RedisTimeoutError(this.#timeoutMs)
    })
  }

  /** @param name The hash tag. */
  async #send(operation: Operation, name: string, key: string, request: ScriptRequest): Promise<PaceReply> {
    this.#counters.calls++
    const keys = [keyOf(this.#keyPrefix, name, `pace:${key}`), keyOf(this.#keyPrefix, name, 'epoch')] as const
    const argument = JSON.stringify({ ...request, op: operation, ...(this.#hasTestClock && { now: this.#now() }) })
    return replyOf(operation, await this.#commands.evalScript(PACE_SCRIPT, keys, [argument]))
  }

  /**
   * Makes one call for each hash tag. The call starts the epoch of the hash tag if that is lost
   * too. So the keys of all hash tags wait at the same time, and a key that is first visited an
   * hour later need not wait. Only the worker whose call has found the loss does this, not the
   * whole fleet. If such a call fails, the next call for the same hash tag finds the loss again.
   */
  async #startEpochs(): Promise<void> {
    if (this.#isStartingEpochs || this.#isClosed) return
    this.#isStartingEpochs = true
    const none = { knownPauses: [] } // changes nothing but the epoch
    const calls = Array.from({ length: BUCKETS }, (_, name) => this.#send('pause', `${name}`, '', none))
    await withTimeout(Promise.allSettled(calls), this.#timeoutMs, () => undefined)
    this.#isStartingEpochs = false
  }

  #succeeded(bucket: Bucket, key: string, { epoch }: PaceReply): void {
    const { failures } = bucket
    const isNewEpoch = bucket.epoch !== epoch
    bucket.epoch = epoch
    bucket.failures = 0
    if (failures > 0) {
      this.#local?.pause()
      publish('politely:redis:recovered', { pacer: this, at: this.#now(), key, failures })
    }
    if (failures > 0 || isNewEpoch) void this.#sharePauses()
    if (!this.#isPolicyChecked) {
      this.#isPolicyChecked = true
      void this.#checkPolicy(key)
    }
  }

  /** @param call The number of the call. */
  #failed(operation: Operation, bucket: Bucket, key: string, call: number, error: unknown): void {
    this.#counters.failures++
    if (isScriptError(error)) {
      bucket.retryAt = 0 // Redis has replied, so the next call need not wait
    } else if (call > bucket.callsAtFailure) {
      bucket.failures++
      bucket.callsAtFailure = bucket.calls
      bucket.retryAt = this.#now() + retryMs(bucket.failures)
    }
    publish('politely:redis:failure', { pacer: this, at: this.#now(), key, operation, error })
  }

  /**
   * Warns if Redis may evict the pace of a key, which nothing could detect. Redis may forbid to
   * look.
   */
  async #checkPolicy(key: string): Promise<void> {
    const info = await this.#commands.call(key, ['INFO', 'memory']).catch(() => '')
    const [, policy] = /maxmemory_policy:(\S+)/.exec(String(info)) ?? []
    const isLimited = /maxmemory:[1-9]/.test(String(info))
    if (!isLimited || policy === undefined || policy === 'noeviction') return
    publish('politely:redis:eviction', { pacer: this, policy })
    process.emitWarning(
      `Redis may evict the keys of a RedisPacer under its maxmemory-policy ${policy}, and delays would be shorter than asked; set maxmemory-policy to noeviction`,
      { type: 'PolitelyWarning', code: 'POLITELY_REDIS_EVICTION' },
    )
  }

  #bucketOf(key: string): Bucket {
    const name = bucketName(key)
    let bucket = this.#buckets.get(name)
    if (bucket === undefined) {
      const idle = { epoch: undefined, unsent: [], resending: undefined, timer: undefined }
      bucket = { name, failures: 0, calls: 0, callsAtFailure: 0, retryAt: 0, ...idle }
      this.#buckets.set(name, bucket)
    }
    return bucket
  }
}

/**
 * Returns whether an error is that of the script itself, such as for an argument of the wrong type.
 * Another attempt would end in the same way.
 */
function isScriptError(error: unknown): boolean {
  return error instanceof Error && /^ERR user_script:\d+:/.test(error.message)
}

/** Returns how long to wait before the next attempt. Milliseconds. */
function retryMs(failures: number): number {
  return Math.min(MIN_RETRY_MS * 2 ** Math.max(failures - 1, 0), MAX_RETRY_MS)
}

/** Returns the hash tag of a key: a number below `BUCKETS`, by FNV-1a. */
function bucketName(key: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return `${(hash >>> 0) % BUCKETS}`
}

/** The ticket of a waiting worker begins with it. */
const TURN = 'turn'

function waitTicketOf({ turnAt, turnBefore, turnStepMs }: Turn): string {
  return `${TURN} ${turnAt} ${turnBefore} ${turnStepMs}`
}

function turnOf(ticket: Ticket | undefined): Turn | undefined {
  const [name, ...numbers] = `${ticket}`.split(' ')
  const [turnAt = 0, turnBefore = 0, turnStepMs = 0] = numbers.map(Number)
  return name === TURN ? { turnAt, turnBefore, turnStepMs } : undefined
}

/**
 * The ticket of a slot is the number of the slot, with a plus sign if the key had pushbacks when
 * the slot was taken.
 */
function ticketOf({ slot, hasPushbacks }: SlotReply): string {
  return `${slot}${hasPushbacks ? '+' : ''}`
}

function slotOf(ticket: Ticket): number {
  return Number.parseInt(`${ticket}`, 10)
}

function hadPushbacks(ticket: Ticket): boolean {
  return `${ticket}`.endsWith('+')
}
