// Makes the calls of a FleetPacer. Handles failed calls, late replies, and the loss of all data.
//
// Each key belongs to one of 64 buckets, whose keys fail and recover together. A cluster of Redis
// spreads the buckets over its servers by their hash tags. In Postgres, a row that another session
// has locked holds up few other keys. There are two ways to make a call:
//
//   tryCall   for `reserve` and `estimate`, and to tell the server of known pauses; `tryCircuit` is the
//             same for circuits. Returns undefined after a failure. Until the next attempt is due,
//             all calls for the same bucket return undefined at once.
//   deliver   for calls whose loss could shorten a delay. A call that has failed is kept, and made
//             again until the server has replied. The calls of a bucket are repeated in order.
//
// If a reply takes longer than `timeoutMs`, the call has failed. If the reply has a slot, the
// server gets the slot back.
//
// Example: the server is away for a second, beginning now.
//
//      0 ms   deliver('report') fails and is kept
//    100 ms   tryCall('reserve') for the same bucket returns undefined without a call
//    250 ms   the report is made again, and fails
//    750 ms   it is made again, and fails
//   1750 ms   it is made again, and succeeds: `onRecovered` and `onPossibleLoss` are called
import { withTimeout } from '@politely/fetcher/internal'
import type { FleetFailureMessage, FleetRecoveredMessage, ReportingPacer } from '@politely/gate'
import type { PacerOutage } from '@politely/gate/internal'
import type { CircuitReply, PaceReply, PauseReply, PlainReply } from './pace-reply.ts'
import type { CircuitChange, Operation, PaceTransport, ScriptRequest } from './pace-transport.ts'
import { publish } from './publish.ts'

/**
 * A function makes the request at the time of the call. It tells all that is known of the key by
 * then, so of several such calls for the same key only one is made again.
 */
type DeliveredRequest = ScriptRequest | (() => ScriptRequest)

/** Keys that are on one server. They fail and recover together. */
class Bucket {
  readonly name: string
  /**
   * How many attempts have failed since the last call that succeeded. Calls that were under way
   * together are one attempt.
   */
  failures = 0
  /** What the last of them failed with. */
  error: unknown
  /** How many calls were made. They have the numbers 1, 2 and so on. */
  calls = 0
  /**
   * How many calls had been made at the last failed attempt. The failure of a call with a number up
   * to this one is not another attempt.
   */
  callsAtFailure = 0
  /** When the last call failed. */
  failedAt = 0
  /** After a failure, no call is made before this time. */
  retryAt = 0
  /** The epoch of the last reply. */
  epoch: number | undefined
  /** Calls that have to be made again. */
  readonly unsent: { readonly operation: Operation; readonly key: string; readonly request: DeliveredRequest }[] = []
  resending: Promise<void> | undefined
  timer: NodeJS.Timeout | undefined

  constructor(name: string) {
    this.name = name
  }
}

/** All workers of a cluster must use the same number. */
const BUCKETS = 64
const MIN_RETRY_MS = 250
const MAX_RETRY_MS = 5_000

interface PaceCallsOptions {
  readonly transport: PaceTransport
  readonly timeoutMs: number
  readonly now: () => number
  /** Whether the script uses the time of `now` instead of the clock of the server. */
  readonly hasTestClock: boolean
  /** Whether the pacer grants slots while the server is away. */
  readonly grants: boolean
  /** The pacer that messages on diagnostics channels name. */
  readonly pacer: ReportingPacer
  /** A reply to `report` has the pause of a key, as the server knows it. */
  readonly onPause: (key: string, reply: PauseReply) => void
  /** A call has succeeded after a failed one. */
  readonly onRecovered: () => void
  /**
   * The server may not know all pauses: calls had failed, or it has lost data and a new epoch
   * began.
   */
  readonly onPossibleLoss: () => void
}

export class PaceCalls {
  readonly counters: { calls: number; failures: number } = { calls: 0, failures: 0 }
  readonly #options: PaceCallsOptions
  readonly #buckets = new Map<string, Bucket>()
  #outage: { readonly since: number; failures: number; error: unknown; readonly grants: boolean } | undefined
  #hasReply = false
  #isStartingEpochs = false
  #isClosed = false

  constructor(options: PaceCallsOptions) {
    this.#options = options
  }

  /**
   * Calls the server. Returns undefined after a failure, and until the next attempt is due.
   * @throws The error of the server, if it rejects the call.
   */
  async tryCall<R extends PaceReply = PlainReply>(
    operation: Operation,
    key: string,
    request: ScriptRequest,
  ): Promise<R | undefined> {
    const bucket = this.#bucketOf(key)
    const reply = await this.#attempt(operation, bucket, key, async () => {
      const reply = await this.#call(operation, bucket, key, request)
      return { reply: reply as R, epoch: reply.epoch }
    })
    if (reply?.kind === 'pause') this.#options.onPause(key, reply)
    return reply
  }

  /**
   * Reads or changes the circuit of an origin. Returns undefined after a failure, and until the
   * next attempt is due.
   * @throws The error of the server, if it rejects the call.
   */
  async tryCircuit(operation: Operation, origin: string, change?: CircuitChange): Promise<CircuitReply | undefined> {
    const bucket = this.#bucketOf(origin)
    return this.#attempt(operation, bucket, origin, async () => {
      this.counters.calls++
      const { transport, timeoutMs, hasTestClock, now } = this.#options
      const reply = await withTimeout(transport.circuit(origin, change, bucket.name), timeoutMs, () => {
        throw transport.timeoutError(timeoutMs)
      })
      return { reply: hasTestClock ? { ...reply, now: now() } : reply, epoch: bucket.epoch }
    })
  }

  async #attempt<R>(
    operation: Operation,
    bucket: Bucket,
    key: string,
    make: () => Promise<{ readonly reply: R; readonly epoch: number | undefined }>,
  ): Promise<R | undefined> {
    if (bucket.failures > 0) {
      const now = this.#options.now()
      if (now < bucket.retryAt) return undefined
      bucket.retryAt = now + retryMs(bucket.failures) // the other keys wait for the outcome of this attempt
    }
    const call = ++bucket.calls
    try {
      const { reply, epoch } = await make()
      this.#succeeded(bucket, key, epoch)
      return reply
    } catch (error) {
      this.#failed(operation, bucket, key, call, error)
      if (this.#options.transport.isRejection(error)) throw error
      return undefined
    }
  }

  /**
   * Makes a call whose loss could shorten a delay. If it fails, it is made again until it succeeds.
   * A late call lengthens a delay; it never shortens one.
   */
  async deliver(operation: Operation, key: string, request: DeliveredRequest): Promise<void> {
    const bucket = this.#bucketOf(key)
    if (await this.#isAnswered(operation, key, request)) return
    const isSame = (call: Bucket['unsent'][number]) => call.operation === operation && call.key === key
    if (typeof request !== 'function' || !bucket.unsent.some(isSame)) bucket.unsent.push({ operation, key, request })
    this.#resendLater(bucket)
  }

  hasUnsent(key: string): boolean {
    return this.#bucketOf(key).unsent.length > 0
  }

  /**
   * Repeats the failed calls of a key's bucket, so that the server knows them before the next call.
   */
  async resend(key: string): Promise<void> {
    await this.#resendUnsent(this.#bucketOf(key))
  }

  /** Returns how long to wait before the next call for a key. Milliseconds. */
  untilRetryMs(key: string): number {
    return Math.max(this.#bucketOf(key).retryAt - this.#options.now(), 1)
  }

  /** Returns the last error of the calls for a key; undefined after a call that succeeded. */
  failureOf(key: string): unknown {
    const { failures, error } = this.#bucketOf(key)
    return failures > 0 ? error : undefined
  }

  /**
   * The outage of all buckets: from the first failed call on, until a call succeeds and no other
   * bucket fails.
   */
  get outage(): PacerOutage | undefined {
    return this.#outage
  }

  /** Gives up the calls that would be made again. */
  close(): void {
    this.#isClosed = true
    for (const { timer, unsent } of this.#buckets.values()) {
      clearTimeout(timer)
      unsent.length = 0
    }
  }

  #resendLater(bucket: Bucket): void {
    if (this.#isClosed || bucket.timer !== undefined || bucket.unsent.length === 0) return
    bucket.timer = setTimeout(() => {
      bucket.timer = undefined
      void this.#resendUnsent(bucket).then(() => this.#resendLater(bucket))
    }, retryMs(bucket.failures)).unref()
  }

  /** Makes the calls again that have failed, in order. */
  async #resendUnsent(bucket: Bucket): Promise<void> {
    if (bucket.unsent.length === 0) return
    bucket.resending ??= (async () => {
      for (let next = bucket.unsent[0]; next !== undefined; next = bucket.unsent[0]) {
        if (!(await this.#isAnswered(next.operation, next.key, next.request))) return
        bucket.unsent.shift()
      }
    })().finally(() => {
      bucket.resending = undefined
    })
    await bucket.resending
  }

  /**
   * Calls the server. Returns false if it has not replied, so that the call has to be made again. A
   * rejected call counts as a reply.
   */
  async #isAnswered(operation: Operation, key: string, request: DeliveredRequest): Promise<boolean> {
    try {
      return (await this.tryCall(operation, key, typeof request === 'function' ? request() : request)) !== undefined
    } catch {
      return true
    }
  }

  async #call(operation: Operation, { name }: Bucket, key: string, request: ScriptRequest): Promise<PaceReply> {
    const pending = this.#send(operation, name, key, request)
    const startOthers = ({ isEpochLost }: PaceReply) => void (isEpochLost && this.#startEpochs())
    pending.then(startOthers, () => undefined)
    return withTimeout(pending, this.#options.timeoutMs, () => {
      const giveBack = (late: PaceReply) => {
        if (late.kind === 'slot') {
          // Not before its time: the pause before the slot must not end sooner. A timer may fire a little early.
          const giveBackMs = late.waitMs === undefined ? 0 : Math.ceil(late.waitMs) + 1
          setTimeout(() => void this.deliver('cancel', key, { slot: late.slot }), giveBackMs)
        }
        // If the call had the same turn, the worker still has its ticket.
        const turn = late.kind === 'slot' || late.kind === 'wait' ? late.turn : undefined
        if (turn !== undefined && turn.turnAt !== request.turnAt) void this.deliver('cancelWait', key, { ...turn })
      }
      pending.then(giveBack, () => undefined)
      throw this.#options.transport.timeoutError(this.#options.timeoutMs)
    })
  }

  /** @param bucket The name of the bucket. */
  #send(op: Operation, bucket: string, key: string, request: ScriptRequest): Promise<PaceReply> {
    this.counters.calls++
    const { transport, hasTestClock, now } = this.#options
    return transport.pace(key, { ...request, op, ...(hasTestClock && { now: now() }) }, bucket)
  }

  /**
   * Makes one call for each bucket. The call starts the epoch of the bucket if that is lost too. So
   * the keys of all buckets wait at the same time, and a key that is first visited an
   * hour later need not wait. Only the worker whose call has found the loss does this, not the
   * whole fleet. If such a call fails, the next call for the same bucket finds the loss again.
   */
  async #startEpochs(): Promise<void> {
    if (this.#options.transport.isEpochShared || this.#isStartingEpochs || this.#isClosed) return
    this.#isStartingEpochs = true
    const none = { knownPauses: [] } // changes nothing but the epoch
    const calls = Array.from({ length: BUCKETS }, (_, name) => this.#send('pause', `${name}`, '', none))
    await withTimeout(Promise.allSettled(calls), this.#options.timeoutMs, () => undefined)
    this.#isStartingEpochs = false
  }

  #succeeded(bucket: Bucket, key: string, epoch: number | undefined): void {
    const { failures } = bucket
    const isNewEpoch = bucket.epoch !== epoch
    bucket.epoch = epoch
    bucket.failures = 0
    if (this.#outage !== undefined && !this.#hasFailingBucket()) this.#outage = undefined
    if (failures > 0) {
      this.#options.onRecovered()
      this.#publish<FleetRecoveredMessage>('recovered', { key, failures })
    }
    if (failures > 0 || isNewEpoch) this.#options.onPossibleLoss()
    if (!this.#hasReply) {
      this.#hasReply = true
      this.#options.transport.onFirstReply?.(key, this.#options.pacer)
    }
  }

  /** @param call The number of the call. */
  #failed(operation: Operation, bucket: Bucket, key: string, call: number, error: unknown): void {
    this.counters.failures++
    if (this.#options.transport.isRejection(error)) {
      bucket.retryAt = 0 // the server has replied, so the next call need not wait
    } else if (call > bucket.callsAtFailure) {
      bucket.failures++
      bucket.callsAtFailure = bucket.calls
      bucket.retryAt = this.#options.now() + retryMs(bucket.failures)
      bucket.error = error
    }
    if (!this.#options.transport.isRejection(error)) this.#noteOutage(bucket, error)
    this.#publish<FleetFailureMessage>('failure', { key, operation, error })
  }

  #noteOutage(bucket: Bucket, error: unknown): void {
    const { now, hasTestClock, grants } = this.#options
    bucket.failedAt = now()
    this.#outage ??= { since: hasTestClock ? now() : Date.now(), failures: 0, error, grants }
    this.#outage.failures++
    this.#outage.error = error
  }

  /**
   * A bucket whose requests wait fails again within the longest pause and the time of a call. If it
   * did not, it has no more requests, and does not count.
   */
  #hasFailingBucket(): boolean {
    const { now, timeoutMs } = this.#options
    const since = now() - MAX_RETRY_MS - 2 * timeoutMs
    return [...this.#buckets.values()].some(({ failures, failedAt }) => failures > 0 && failedAt > since)
  }

  #publish<T extends { readonly pacer: ReportingPacer; readonly at: number }>(
    channel: keyof PaceTransport['channels'],
    message: Omit<T, 'pacer' | 'at'>,
  ): void {
    const { transport, pacer, now } = this.#options
    publish(transport.channels[channel], { pacer, at: now(), ...message })
  }

  #bucketOf(key: string): Bucket {
    const name = bucketName(key)
    const bucket = this.#buckets.get(name) ?? new Bucket(name)
    this.#buckets.set(name, bucket)
    return bucket
  }
}

function retryMs(failures: number): number {
  return Math.min(MIN_RETRY_MS * 2 ** Math.max(failures - 1, 0), MAX_RETRY_MS)
}

/** Returns the bucket of a key: a number below `BUCKETS`, by FNV-1a. */
function bucketName(key: string): string {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return `${(hash >>> 0) % BUCKETS}`
}
