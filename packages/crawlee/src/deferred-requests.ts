// Defers requests: they wait outside of Crawlee's pool until their turn is near. Meanwhile the pool
// works for other sites.
//
// A deferred request stays locked in Crawlee's queue, just like when Crawlee itself delays it
// (sameDomainDelaySecs). When its turn is near, it goes straight to the pool, not through the queue
// again. That would cost several queue operations, a RequestQueueV1 would hold it back for 3
// seconds, and a storage on disk would read all locked requests again. The gate alone decides when
// a request starts. The estimate here only decides when it goes to the pool.
//
// `DeferredRequests` changes the state of each request. The requests and their queues are in
// origin-queues.ts, the estimates in start-estimates.ts, and the locks in queue-locks.ts.
//
//   state        the request
//   arriving     comes from Crawlee's queue; a task waits for its estimate
//   deferred     waits behind the first request of its origin, or is the first and has a timer
//   estimating   is the first of its origin, and waits for its estimate
//   ready        waits for a task of the pool, and until its domain has room there
//   taken        belongs to a task, which reads it again and waits for a new estimate
//   on-the-way   is in the pool, and has not reached the gate
//   at-gate      is in the pool, and waits at the gate
//   passed       has passed the gate, or will not; its task still runs
//   gone         is not tracked any more
//
// A turn is near if the estimated wait is at most `deferBeyondMs`. If several rows apply, the first
// row counts.
//
//   from                  event                                             to
//   taken                 another crawler has handled it                    gone
//   arriving, taken       its task is aborted, since the crawl ends         on-the-way
//   arriving              another request of its origin has not passed      deferred
//   arriving, taken       its turn is near, and its domain has room         on-the-way
//   arriving, taken       otherwise                                         deferred
//   deferred              it becomes the first, or its timer fires          estimating
//   estimating            its turn is not near                              deferred, with a timer
//   estimating            its turn is near                                  ready
//   ready                 its domain has room, and a task takes it          taken
//   on-the-way            it reaches the gate                               at-gate
//   on-the-way            `MAX_APPROACH_MS` are over                        passed
//   on-the-way, at-gate   it passes the gate, or its task ends              passed
//   passed                its task ends                                     gone
//   at-gate, passed       the gate has refused it until a later time        deferred
//   deferred, ready,      the crawl ends, and the request returns to        gone
//   estimating            Crawlee's queue
//
// Example: /1 and /2 of one origin with a crawl-delay of 10 seconds.
//
//           both arrive           /1 has passed           10 seconds later
//   /1      arriving, on-the-way  at-gate, passed, gone
//   /2      arriving, deferred    estimating, deferred    estimating, ready, taken, on-the-way, …
import { AsyncResource } from 'node:async_hooks'
import type { Request } from '@crawlee/basic'
import { originOf } from '@politely/core'
import { MAX_TIMER_MS } from '@politely/fetcher/internal'
import type { PoliteGate } from '@politely/gate'
import { type GatePort, gatePort } from '@politely/gate/internal'
import { type CrawleeInternals, changeLock, type RequestSource } from './crawlee-internals.ts'
import {
  hasRoom,
  isApproaching,
  isDeferred,
  type OriginQueue,
  OriginQueues,
  requestKeyOf,
  type TrackedRequest,
} from './origin-queues.ts'
import type { PoolTask } from './pool-task.ts'
import { QueueLocks } from './queue-locks.ts'
import { StartEstimates } from './start-estimates.ts'

/**
 * How long a request on its way to the gate holds up the next one of its origin. Its handler may
 * never use the gate. Our choice.
 */
const MAX_APPROACH_MS = 1_000
/**
 * After a query has found the queue empty, the next query comes this many times the duration of
 * that query later. A storage on disk reads all locked requests for each query. Our choice.
 */
const EMPTY_QUEUE_PAUSE = 3
const MAX_EMPTY_QUEUE_PAUSE_MS = 2_000

export class DeferredRequests {
  readonly #internals: CrawleeInternals
  readonly #deferBeyondMs: number
  readonly #queues = new OriginQueues()
  readonly #port: GatePort
  readonly #estimates: StartEstimates
  readonly #locks: QueueLocks
  /** Whether a request will be answered without its site. Undefined without the option `cache`. */
  readonly #isFresh: ((request: Request) => Promise<boolean>) | undefined
  /** Crawlee's queue counts as empty until this time. `performance.now()`. */
  #emptyUntil = 0
  /**
   * The async context of timers. Otherwise a timer would inherit the timeouts of the task that sets
   * it.
   */
  readonly #timerScope = new AsyncResource('politely.DeferredRequests')

  constructor(
    internals: CrawleeInternals,
    gate: PoliteGate,
    deferBeyondMs: number,
    isFresh?: (request: Request) => Promise<boolean>,
  ) {
    this.#isFresh = isFresh
    this.#internals = internals
    this.#deferBeyondMs = deferBeyondMs
    this.#port = gatePort(gate)
    this.#estimates = new StartEstimates(this.#port)
    this.#locks = new QueueLocks(internals, this.#queues.requests)
  }

  /** Whether no request is deferred. */
  get isEmpty(): boolean {
    for (const tracked of this.#queues.requests.values()) if (isDeferred(tracked)) return false
    return true
  }

  /** Returns whether the pool has something to do. */
  async hasWork(queryQueue: () => Promise<boolean>): Promise<boolean> {
    if (this.#hasReady) return true
    if (performance.now() < this.#emptyUntil) return false
    const start = performance.now()
    const hasWork = await queryQueue()
    if (!hasWork && !this.isEmpty) {
      const end = performance.now()
      this.#emptyUntil = end + Math.min((end - start) * EMPTY_QUEUE_PAUSE, MAX_EMPTY_QUEUE_PAUSE_MS)
    }
    return hasWork || this.#hasReady
  }

  /** Whether a request is ready for the pool, and its domain has room there. */
  get #hasReady(): boolean {
    for (const tracked of this.#queues.ready) if (hasRoom(tracked)) return true
    return false
  }

  /** To be called when requests may have been added to Crawlee's queue. */
  queueChanged(): void {
    this.#emptyUntil = 0
  }

  /** Returns the next request that is ready for the pool. Undefined if no request is ready. */
  async takeReady(task: PoolTask): Promise<Request | undefined> {
    for (const tracked of this.#queues.ready) {
      if (!hasRoom(tracked)) continue
      this.#queues.enter(tracked, 'taken')
      const request = await this.#locks.reload(tracked)
      if (request === undefined) {
        this.#queues.enter(tracked, 'gone')
        this.#scheduleFirst(tracked.queue)
        continue
      }
      tracked.request = request
      if (!(await this.#admitOrDefer(task, tracked))) continue
      await changeLock(this.#internals, request)
      return request
    }
    return undefined
  }

  /** Returns whether a request from Crawlee's queue may start now. If not, it is deferred. */
  async admits(task: PoolTask, request: Request, source: RequestSource): Promise<boolean> {
    const origin = originOf(request.url)
    if (origin === undefined || request.skipNavigation) return true
    const isFresh = this.#isFresh !== undefined && (await this.#isFresh(request))
    const known = this.#queues.requests.get(requestKeyOf(request))
    if (known !== undefined) {
      known.isDeliveredAgain = true
      return false
    }
    if (isFresh) return true
    const tracked = this.#queues.add(origin, request, source)
    const isFirst = tracked.queue.requests.size === 1
    if (isFirst || this.#admitsAll || task.signal.aborted) return this.#admitOrDefer(task, tracked)
    this.#defer(tracked)
    return false
  }

  /**
   * To be called when the request of a task reaches the gate. From then on MAX_APPROACH_MS no
   * longer applies.
   */
  reachedGate({ tracked }: PoolTask): void {
    if (tracked?.state !== 'on-the-way') return
    this.#queues.enter(tracked, 'at-gate')
    this.#notifyPool()
  }

  /**
   * To be called when the request of a task has passed the gate, or will not. The next request of
   * its origin no longer waits for it.
   */
  passedGate({ tracked }: PoolTask): void {
    if (tracked === undefined || !isApproaching(tracked)) return
    this.#queues.enter(tracked, 'passed')
    this.#scheduleFirst(tracked.queue)
    this.#notifyPool()
  }

  /**
   * To be called when a task has ended. Returns the task's request to Crawlee's queue if it is not
   * handled and nothing else returns it: the queue has delivered it again meanwhile, or the crawl
   * ended before the request's handler began.
   */
  async taskEnded(task: PoolTask): Promise<void> {
    this.passedGate(task)
    const { tracked } = task
    if (tracked === undefined) return
    this.#queues.enter(tracked, 'gone')
    const isHandled = Boolean(tracked.request.handledAt)
    const isInterrupted = task.signal.aborted && !task.isAbortedAtGate
    if (!isHandled) this.queueChanged()
    if (isHandled || !(tracked.isDeliveredAgain || isInterrupted)) return
    await this.#timerScope.runInAsyncScope(() => this.#locks.reclaim(tracked))
  }

  /**
   * Defers the request of a task again, because the gate has refused it. It keeps its lock, and goes
   * straight to the pool later. Returns false for a request that is not tracked.
   * @param origin The origin that takes no requests for `waitMs`: after a redirect, its target's.
   * @param waitMs Default: until the circuit of the origin lets a request through.
   */
  deferAgain(task: PoolTask, origin: string | undefined, waitMs?: number): boolean {
    const { tracked } = task
    if (tracked === undefined || origin === undefined) return false
    this.passedGate(task)
    this.#queues.enter(tracked, 'gone')
    task.tracked = undefined
    const again = this.#queues.add(origin, tracked.request, tracked.source)
    again.queue.restsUntil = performance.now() + (waitMs ?? this.#port.circuitOf(origin).waitMs)
    this.#defer(again)
    this.#scheduleFirst(again.queue)
    return true
  }

  /**
   * Whether some requests are deferred, all of them for sites that rest: their last requests failed,
   * and no success is known since.
   */
  get hasOnlyResting(): boolean {
    const queues = [...this.#queues.all].filter(({ requests }) => requests.size > 0)
    return queues.length > 0 && queues.every(({ origin }) => this.#port.circuitOf(origin).state !== 'closed')
  }

  /** Takes out the deferred requests, one after another. Leaves out requests that another crawler has handled. */
  async *takeAll(): AsyncGenerator<TrackedRequest> {
    for (const tracked of [...this.#queues.all].flatMap(({ requests }) => [...requests])) {
      if (!isDeferred(tracked)) continue
      this.#queues.enter(tracked, 'gone')
      this.#scheduleFirst(tracked.queue)
      const request = await this.#locks.reload(tracked)
      if (request !== undefined) yield { ...tracked, request }
    }
  }

  /** Ends the crawl: returns deferred requests to Crawlee's queue, for another run. */
  async close(): Promise<void> {
    const queues = [...this.#queues.all].map(({ requests }) => [...requests])
    this.#queues.clear()
    this.#locks.close()
    for (const { timer } of queues.flat()) clearTimeout(timer)
    // The last request of each queue first, because each goes to the front.
    const deferred = queues.flatMap((requests) => requests.filter(isDeferred).reverse())
    for (const tracked of deferred) this.#queues.enter(tracked, 'gone')
    for (const tracked of deferred) await this.#locks.reclaim(tracked)
    this.queueChanged()
  }

  /** Whether no request is deferred, however long it waits at the gate. */
  get #admitsAll(): boolean {
    return this.#deferBeyondMs === Number.POSITIVE_INFINITY
  }

  /** Admits an arriving or taken request to the pool, or defers it. */
  async #admitOrDefer(task: PoolTask, tracked: TrackedRequest): Promise<boolean> {
    const isNear = this.#admitsAll || ((await this.#estimates.of(tracked)) <= this.#deferBeyondMs && hasRoom(tracked))
    const isAdmitted = (isNear && tracked.queue.restsUntil <= performance.now()) || task.signal.aborted
    if (!isAdmitted) {
      this.#defer(tracked)
      this.#scheduleFirst(tracked.queue)
      return false
    }
    this.#queues.enter(tracked, 'on-the-way')
    tracked.isDeliveredAgain = false
    task.tracked = tracked
    const endApproach = () => this.passedGate(task)
    tracked.timer = this.#timerScope.runInAsyncScope(() => setTimeout(endApproach, MAX_APPROACH_MS))
    return true
  }

  #defer(tracked: TrackedRequest): void {
    this.#queues.enter(tracked, 'deferred')
    this.#timerScope.runInAsyncScope(() => this.#locks.shorten(tracked))
  }

  /**
   * To be called when another request may be the first of a queue, or the timer of the first one
   * has fired. Estimates the wait of a deferred request.
   */
  #scheduleFirst(queue: OriginQueue): void {
    const [first] = queue.requests
    if (first === undefined) this.#queues.delete(queue)
    else if (first.state === 'deferred') void this.#timerScope.runInAsyncScope(() => this.#handOver(first))
  }

  /** To be called when a request may be ready, or a domain may have room for requests in the pool. */
  #notifyPool(): void {
    if (this.#hasReady) void this.#internals.autoscaledPool?.notify()
  }

  /**
   * Makes the first request of a queue ready for the pool if its turn is near. Otherwise sets a
   * timer.
   */
  async #handOver(first: TrackedRequest): Promise<void> {
    this.#queues.enter(first, 'estimating')
    const { queue } = first
    const untilBackMs = () => queue.restsUntil - performance.now()
    if (untilBackMs() > 0) return this.#waitFor(first, untilBackMs())
    const waitMs = await this.#estimates.of(first)
    if (first.state !== 'estimating') return // the crawl has ended
    const untilNearMs = Math.max(waitMs - this.#deferBeyondMs, untilBackMs())
    if (untilNearMs > 0) return this.#waitFor(first, untilNearMs)
    this.#queues.enter(first, 'ready')
    this.#notifyPool()
  }

  /** Defers the first request of a queue for this time. */
  #waitFor(first: TrackedRequest, ms: number): void {
    this.#queues.enter(first, 'deferred')
    first.timer = setTimeout(() => this.#scheduleFirst(first.queue), Math.min(Math.ceil(ms), MAX_TIMER_MS))
  }
}
