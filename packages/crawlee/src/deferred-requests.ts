// Requests that wait outside of Crawlee's pool until their turn is near, so that the pool works for other sites meanwhile.
//
// A deferred request stays locked in Crawlee's queue, as it does when Crawlee itself delays it (sameDomainDelaySecs). It is handed to the
// pool from here, and does not go through the queue again: that would cost several queue operations, a RequestQueueV1 would hold it back for
// 3 seconds, and a storage on disk would read all locked requests again. The gate alone decides when a request starts; the forecast that is
// used here only says when to hand it to the pool.
import { AsyncResource } from 'node:async_hooks'
import type { Request } from '@crawlee/basic'
import { originOf } from '@politely/core'
import type { PoliteGate } from '@politely/gate'
import { type CrawleeInternals, type RequestSource, restoreLock, shortenLock } from './crawlee-internals.ts'
import type { PoolTask } from './pool-task.ts'

/** Node's timers hold about 24 days. A longer wait is split. */
const MAX_TIMER_MS = 60 * 60 * 1000
/** A request that has not come to the gate after this time no longer holds up the next one of its origin: its handler may not use the gate. Our choice. */
const MAX_APPROACH_MS = 1_000
/** While more forecasts than this are pending, requests wait for robots.txt in the pool, so that not all origins of a queue are asked at once. Our choice. */
const MAX_FORECASTS = 32
/** Lock of a deferred request. After a crash another process gets the request when this has passed. Our choice: the documentation promises a minute. */
const LOCK_SECS = 45
/** Locks are renewed this often. */
const RENEW_EVERY_MS = 20_000
/** After an empty answer the queue is not asked again for this many times the duration of that question: a storage on disk reads all locked requests for it. Our choice. */
const EMPTY_QUEUE_PAUSE = 3
const MAX_EMPTY_QUEUE_PAUSE_MS = 2_000

interface Deferred {
  readonly request: Request
  readonly source: RequestSource
  /** Settles when the last change of its lock is done. It never rejects. */
  locked: Promise<void>
}

/** The requests of one origin. */
interface Line {
  /** By key, in the order in which they came. */
  waiting: Map<string, Deferred>
  /** Tasks whose request goes on and has not yet passed the gate. The next request of the origin waits for them. */
  readonly ahead: Map<PoolTask, NodeJS.Timeout>
  /** Settles when each request that has come so far is admitted or deferred. It never rejects. */
  decided: Promise<unknown>
  /** Fires when the first request should be handed over. */
  timer: NodeJS.Timeout | undefined
  /** The first request is being forecast, is ready for the pool, or is being taken by a task. */
  isHandingOver: boolean
}

export class DeferredRequests {
  readonly #internals: CrawleeInternals
  readonly #gate: PoliteGate
  readonly #deferBeyondMs: number
  readonly #lines = new Map<string, Line>()
  /** Lines whose first request is ready for the pool, in order. */
  readonly #ready = new Set<Line>()
  readonly #tasks = new Map<PoolTask, { readonly key: string; readonly origin: string; readonly deferred: Deferred }>()
  /**
   * By key, all requests that are deferred or in a task. `again`: the queue has delivered the request once more meanwhile, because its lock
   * expired, or because a retry is in the queue before the task that failed is over.
   */
  readonly #held = new Map<string, 'once' | 'again'>()
  #forecasts = 0
  #renewal: NodeJS.Timeout | undefined
  /** Until this time the queue is taken to be empty. `performance.now()`. */
  #emptyUntil = 0
  /** Timers must not inherit the timeouts of the task that sets them. */
  readonly #outside = new AsyncResource('politely.DeferredRequests')

  constructor(internals: CrawleeInternals, gate: PoliteGate, deferBeyondMs: number) {
    this.#internals = internals
    this.#gate = gate
    this.#deferBeyondMs = deferBeyondMs
  }

  /** Whether no request is deferred. */
  get isEmpty(): boolean {
    return [...this.#lines.values()].every(({ waiting }) => waiting.size === 0)
  }

  /** Whether the pool has something to do. */
  async hasWork(askQueue: () => Promise<boolean>): Promise<boolean> {
    if (this.#ready.size > 0) return true
    if (performance.now() < this.#emptyUntil) return false
    const asked = performance.now()
    const hasWork = await askQueue()
    if (!hasWork && !this.isEmpty) {
      const answered = performance.now()
      this.#emptyUntil = answered + Math.min((answered - asked) * EMPTY_QUEUE_PAUSE, MAX_EMPTY_QUEUE_PAUSE_MS)
    }
    return hasWork || this.#ready.size > 0
  }

  /** Tells that requests may have been added to the queue. */
  queueChanged(): void {
    this.#emptyUntil = 0
  }

  /** The next request that is ready for the pool. */
  async takeReady(task: PoolTask): Promise<Request | undefined> {
    for (const line of this.#ready) {
      this.#ready.delete(line)
      const [first] = line.waiting
      const [key, deferred] = first as [string, Deferred]
      line.waiting.delete(key)
      const request = await this.#reload(key, deferred)
      const origin = originOf(deferred.request.url) as string
      if (request === undefined) this.#handedOver(origin, line)
      else if (await this.#decide(task, key, origin, { ...deferred, request }, true)) {
        await restoreLock(deferred.source, request)
        return request
      }
    }
    return undefined
  }

  /** Whether a request from the queue goes on now. If not, it is deferred. */
  async admits(task: PoolTask, request: Request, source: RequestSource): Promise<boolean> {
    const key = request.id ?? request.uniqueKey
    const origin = originOf(request.url)
    if (origin === undefined || request.skipNavigation) return true
    const isHeld = this.#held.has(key)
    this.#held.set(key, isHeld ? 'again' : 'once')
    if (isHeld) return false
    const line = this.#lineOf(origin)
    const deferred = { request, source, locked: Promise.resolve() }
    // One after another, so that a later request does not overtake one whose forecast is pending.
    const decided = line.decided.then(() => this.#decide(task, key, origin, deferred, false))
    line.decided = decided
    return decided
  }

  async #decide(task: PoolTask, key: string, origin: string, deferred: Deferred, isReady: boolean): Promise<boolean> {
    const line = this.#lineOf(origin)
    if (!isReady && (line.waiting.size > 0 || line.isHandingOver)) {
      this.#defer(line, key, deferred)
      return false
    }
    const { url } = deferred.request
    const waitMs = await (isReady ? this.#forecast(url) : this.#forecastInTime(url))
    const isFree = line.ahead.size === 0 && waitMs <= this.#deferBeyondMs
    const goesOn = isFree || this.#deferBeyondMs === Number.POSITIVE_INFINITY || task.signal.aborted
    if (goesOn) {
      const timer = () => setTimeout(() => this.left(task), MAX_APPROACH_MS)
      line.ahead.set(task, this.#outside.runInAsyncScope(timer))
      this.#tasks.set(task, { key, origin, deferred })
      this.#held.set(key, 'once')
    } else {
      const others = line.waiting
      line.waiting = new Map()
      this.#defer(line, key, deferred)
      for (const [each, other] of others) line.waiting.set(each, other)
    }
    if (isReady) this.#handedOver(origin, line)
    else this.#watch(origin, line)
    return goesOn
  }

  /** A request of this task has come to the gate. */
  arrived(task: PoolTask): void {
    const at = this.#tasks.get(task)
    if (at !== undefined) clearTimeout(this.#lines.get(at.origin)?.ahead.get(task))
  }

  /** It has passed the gate, or will not: the next request of its origin need not wait for it. */
  left(task: PoolTask): void {
    this.arrived(task)
    const at = this.#tasks.get(task)
    const line = at && this.#lines.get(at.origin)
    if (line?.ahead.delete(task)) this.#watch((at as { origin: string }).origin, line)
  }

  /**
   * The task has ended. Its request goes back to the queue if it is not handled and nothing else would put it there: the queue delivered it
   * again meanwhile, or the crawl ended before its handler began.
   */
  async over(task: PoolTask): Promise<void> {
    this.left(task)
    const at = this.#tasks.get(task)
    if (at === undefined) return
    this.#tasks.delete(task)
    const isHandled = Boolean(at.deferred.request.handledAt)
    const isCutShort = task.signal.aborted && !task.isTurnedAway
    const isOwed = !isHandled && (this.#held.get(at.key) === 'again' || isCutShort)
    this.#held.delete(at.key)
    if (!isHandled) this.queueChanged()
    if (isOwed) await this.#outside.runInAsyncScope(() => this.#giveBack(at.deferred))
  }

  /** The crawl has ended: deferred requests go back to the queue, for another run. */
  async close(): Promise<void> {
    const lines = [...this.#lines.values()]
    this.#lines.clear()
    this.#ready.clear()
    clearInterval(this.#renewal)
    this.#renewal = undefined
    for (const { timer, ahead } of lines) {
      for (const each of [timer, ...ahead.values()]) clearTimeout(each)
    }
    for (const { waiting } of lines) {
      // The last one first, because each goes to the front.
      for (const [key, deferred] of [...waiting].reverse()) {
        this.#held.delete(key)
        await deferred.locked
        await this.#giveBack(deferred)
      }
    }
    this.queueChanged()
  }

  #lineOf(origin: string): Line {
    const known = this.#lines.get(origin)
    if (known !== undefined) return known
    const line: Line = {
      waiting: new Map(),
      ahead: new Map(),
      decided: Promise.resolve(),
      timer: undefined,
      isHandingOver: false,
    }
    this.#lines.set(origin, line)
    return line
  }

  #defer(line: Line, key: string, deferred: Deferred): void {
    line.waiting.set(key, deferred)
    this.#outside.runInAsyncScope(() => {
      deferred.locked = shortenLock(deferred.source, deferred.request, LOCK_SECS)
      this.#renewal ??= setInterval(() => void this.#renewLocks(), RENEW_EVERY_MS).unref()
    })
  }

  /** One after another: a storage on disk writes a file for each. */
  async #renewLocks(): Promise<void> {
    for (const { waiting } of [...this.#lines.values()]) {
      for (const [key, deferred] of [...waiting]) {
        if (waiting.get(key) !== deferred) continue // handed over meanwhile
        deferred.locked = deferred.locked.then(() => shortenLock(deferred.source, deferred.request, LOCK_SECS))
        await deferred.locked
      }
    }
  }

  /** Like `#forecast`, but a request that has to wait for robots.txt counts as one that has to wait long. */
  async #forecastInTime(url: string): Promise<number> {
    const forecast = this.#forecast(url)
    if (this.#deferBeyondMs === Number.POSITIVE_INFINITY || this.#forecasts > MAX_FORECASTS) return forecast
    return Promise.race([forecast, new Promise<number>((resolve) => setImmediate(resolve, Number.POSITIVE_INFINITY))])
  }

  /** In how many milliseconds a request could start; 0 for one that is refused or that the gate will fail. */
  async #forecast(url: string): Promise<number> {
    this.#forecasts++
    try {
      const forecast = await this.#gate.when(url)
      return forecast.allowed ? forecast.waitMs : 0
    } catch {
      return 0
    } finally {
      this.#forecasts--
    }
  }

  /** The first request of a line is in a task, back in the line, or dropped. */
  #handedOver(origin: string, line: Line): void {
    line.isHandingOver = false
    this.#watch(origin, line)
  }

  /** Sees to it that the first request is handed over in time. Replaces what was planned before, which may be out of date. */
  #watch(origin: string, line: Line): void {
    if (line.isHandingOver) return
    clearTimeout(line.timer)
    line.timer = undefined
    if (line.ahead.size > 0) return
    if (line.waiting.size > 0) void this.#outside.runInAsyncScope(() => this.#plan(origin, line))
    else if (this.#lines.get(origin) === line) this.#lines.delete(origin)
  }

  async #plan(origin: string, line: Line): Promise<void> {
    line.isHandingOver = true
    const [first] = line.waiting.values()
    const waitMs = await this.#forecast((first as Deferred).request.url)
    if (this.#lines.get(origin) !== line) return // the crawl has ended
    const earlyMs = waitMs - this.#deferBeyondMs
    if (earlyMs > 0) {
      line.isHandingOver = false
      line.timer = setTimeout(() => this.#watch(origin, line), Math.min(earlyMs, MAX_TIMER_MS))
      return
    }
    this.#ready.add(line)
    void this.#internals.autoscaledPool?.notify()
  }

  /** The request as the queue has it by now. Undefined if another crawler has handled it after its lock expired. */
  async #reload(key: string, deferred: Deferred): Promise<Request | undefined> {
    await deferred.locked
    const { request, source } = deferred
    try {
      const now = request.id === undefined ? undefined : await source.getRequest?.(request.id)
      if (now?.handledAt) {
        this.#held.delete(key)
        return undefined
      }
      return now && now.retryCount > request.retryCount ? now : request
    } catch {
      return request // the storage fails; the task will hear of it
    }
  }

  async #giveBack({ request, source }: Deferred): Promise<void> {
    try {
      // Its lock may have expired. A request that another crawler has handled must not be pending again, and the retries that it counted must not be lost.
      const now = request.id === undefined ? undefined : await source.getRequest?.(request.id)
      if (now?.handledAt) return
      await source.reclaimRequest(now && now.retryCount > request.retryCount ? now : request, { forefront: true })
    } catch (error) {
      this.#internals.log.exception(
        error as Error,
        `${request.url} was deferred, and could not be put back in the queue; it stays locked until its lock expires`,
      )
    }
  }
}
