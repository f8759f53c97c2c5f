// Defers requests: they wait outside of Crawlee's pool until their turn is near, so that the pool
// works for other sites meanwhile.
//
// A deferred request stays locked in Crawlee's queue, as it does when Crawlee itself delays it
// (sameDomainDelaySecs). When its turn is near, it goes straight to the pool and not through the
// queue again: that would cost several queue operations, a RequestQueueV1 would hold it back for 3
// seconds, and a storage on disk would read all locked requests again. The gate alone decides when
// a request starts. The estimate that is used here only decides when the request goes to the pool.
import { AsyncResource } from 'node:async_hooks'
import type { Request } from '@crawlee/basic'
import { originOf } from '@politely/core'
import { registrableDomainOf, withoutCredentials } from '@politely/fetcher'
import { MAX_TIMER_MS } from '@politely/fetcher/internal'
import type { PoliteGate } from '@politely/gate'
import { type CrawleeInternals, type RequestSource, restoreLock, shortenLock } from './crawlee-internals.ts'
import type { PoolTask } from './pool-task.ts'

/**
 * How long a request on its way to the gate holds up the next one of its origin. Its handler may
 * never use the gate. Our choice.
 */
const MAX_APPROACH_MS = 1_000
/**
 * While the robots.txt files of this number of registrable domains are being fetched, a request of
 * another domain waits for its robots.txt in the pool. Otherwise all requests of a long queue would
 * be taken into memory at once. Our choice.
 */
const MAX_FETCHING_DOMAINS = 32
/**
 * How many requests of one registrable domain may be in the pool without having reached the gate.
 * Our choice.
 */
const MAX_ON_THE_WAY = 4
/**
 * Lock of a deferred request. After a crash another process gets the request when the lock expires.
 * Our choice: the documentation promises a minute.
 */
const LOCK_SECS = 45
const RENEW_LOCKS_EVERY_MS = 20_000
/**
 * After the queue was empty, it is not asked again for this many times the duration of the last
 * query: a storage on disk reads all locked requests for each query. Our choice.
 */
const EMPTY_QUEUE_PAUSE = 3
const MAX_EMPTY_QUEUE_PAUSE_MS = 2_000

interface Deferred {
  readonly request: Request
  readonly source: RequestSource
  /** Settles when the last change of the request's lock is done. Never rejects. */
  locked: Promise<void>
}

/** The requests of one origin. */
interface OriginQueue {
  readonly origin: string
  readonly domain: Domain
  /** Deferred requests by key, in the order in which they came. */
  waiting: Map<string, Deferred>
  /**
   * Tasks whose request was admitted to the pool and has not passed the gate yet, each with its
   * timer. The next request waits for them.
   */
  readonly approaching: Map<PoolTask, NodeJS.Timeout>
  /** Fires when the first request should go to the pool. */
  timer: NodeJS.Timeout | undefined
  /** Whether a request is being estimated, is ready for the pool, or is being taken by a task. */
  isHandingOver: boolean
  /** The pending estimate. An origin has one at a time. */
  estimate: Promise<Estimate> | undefined
}

/**
 * A registrable domain. A site may have any number of hosts, and their requests share a concurrency
 * limit. If all of them waited for it in the pool, no task would be left for other sites.
 */
interface Domain {
  readonly name: string
  /** How many queues the domain has. */
  queues: number
  /** How many of them have a pending estimate. */
  pendingEstimates: number
  /**
   * Queues with a request that is ready for the pool, or is in the pool and has not passed the
   * gate.
   */
  readonly approaching: Set<OriginQueue>
  /** Those of them whose request has not reached the gate. */
  readonly onTheWay: Set<OriginQueue>
  /**
   * Queues whose first request could start now, and is deferred until a request of another queue
   * has reached or passed the gate.
   */
  readonly held: Set<OriginQueue>
}

/** When a request could start. */
interface Estimate {
  readonly waitMs: number
  /** Whether it would then wait for a concurrency limit that all hosts of a domain share. */
  readonly isDomainFull: boolean
}

/** The request of a task. */
interface TaskRequest {
  readonly key: string
  readonly origin: string
  readonly deferred: Deferred
}

export class DeferredRequests {
  readonly #internals: CrawleeInternals
  readonly #gate: PoliteGate
  readonly #deferBeyondMs: number
  /** By origin. */
  readonly #queues = new Map<string, OriginQueue>()
  /** Queues whose first request is ready for the pool, in order. */
  readonly #ready = new Set<OriginQueue>()
  readonly #tasks = new Map<PoolTask, TaskRequest>()
  /**
   * All requests that are deferred or in a task, by key. `again`: Crawlee's queue has delivered the
   * request once more meanwhile, because its lock expired, or because a retry was queued before the
   * failed task ended.
   */
  readonly #tracked = new Map<string, 'once' | 'again'>()
  /** The registrable domains of the queues, by name. */
  readonly #domains = new Map<string, Domain>()
  /** How many of them have a pending estimate. */
  #fetchingDomains = 0
  #renewal: NodeJS.Timeout | undefined
  /** Crawlee's queue counts as empty until this time. `performance.now()`. */
  #emptyUntil = 0
  /**
   * The async context of timers. It keeps them from inheriting the timeouts of the task that sets
   * them.
   */
  readonly #timerScope = new AsyncResource('politely.DeferredRequests')

  constructor(internals: CrawleeInternals, gate: PoliteGate, deferBeyondMs: number) {
    this.#internals = internals
    this.#gate = gate
    this.#deferBeyondMs = deferBeyondMs
  }

  /** Whether no request is deferred. */
  get isEmpty(): boolean {
    return [...this.#queues.values()].every(({ waiting }) => waiting.size === 0)
  }

  /** Returns whether the pool has something to do. */
  async hasWork(queryQueue: () => Promise<boolean>): Promise<boolean> {
    if (this.#ready.size > 0) return true
    if (performance.now() < this.#emptyUntil) return false
    const start = performance.now()
    const hasWork = await queryQueue()
    if (!hasWork && !this.isEmpty) {
      const end = performance.now()
      this.#emptyUntil = end + Math.min((end - start) * EMPTY_QUEUE_PAUSE, MAX_EMPTY_QUEUE_PAUSE_MS)
    }
    return hasWork || this.#ready.size > 0
  }

  /** To be called when requests may have been added to Crawlee's queue. */
  queueChanged(): void {
    this.#emptyUntil = 0
  }

  /** Returns the next request that is ready for the pool. Undefined if no request is ready. */
  async takeReady(task: PoolTask): Promise<Request | undefined> {
    for (const queue of this.#ready) {
      this.#ready.delete(queue)
      const [first] = queue.waiting
      const [key, deferred] = first as [string, Deferred]
      queue.waiting.delete(key)
      const request = await this.#reload(key, deferred)
      const { origin } = queue
      if (request === undefined) {
        leavePool(queue)
        this.#endHandover(queue)
      } else if (await this.#decide(task, { key, origin, deferred: { ...deferred, request } }, true)) {
        await restoreLock(deferred.source, request)
        return request
      }
    }
    return undefined
  }

  /** Returns whether a request from Crawlee's queue may start now. If not, it is deferred. */
  async admits(task: PoolTask, request: Request, source: RequestSource): Promise<boolean> {
    const key = request.id ?? request.uniqueKey
    const origin = originOf(request.url)
    if (origin === undefined || request.skipNavigation) return true
    const isTracked = this.#tracked.has(key)
    this.#tracked.set(key, isTracked ? 'again' : 'once')
    if (isTracked) return false
    const deferred = { request, source, locked: Promise.resolve() }
    return this.#decide(task, { key, origin, deferred }, false)
  }

  /** Admits a request to the pool, or defers it. */
  async #decide(task: PoolTask, taskRequest: TaskRequest, isReady: boolean): Promise<boolean> {
    const { key, origin, deferred } = taskRequest
    const queue = this.#queueOf(origin)
    const mayDefer = this.#deferBeyondMs !== Number.POSITIVE_INFINITY
    // A later request does not overtake one that is deferred or being estimated.
    if (!isReady && mayDefer && (queue.waiting.size > 0 || queue.isHandingOver)) {
      this.#defer(queue, key, deferred)
      return false
    }
    queue.isHandingOver = true
    const isAdmitted = !mayDefer || (await this.#isNear(queue, deferred.request.url, isReady)) || task.signal.aborted
    if (isAdmitted) {
      const timer = () => setTimeout(() => this.passedGate(task), MAX_APPROACH_MS)
      queue.approaching.set(task, this.#timerScope.runInAsyncScope(timer))
      joinPool(queue)
      this.#tasks.set(task, taskRequest)
      this.#tracked.set(key, 'once')
    } else {
      if (isReady) leavePool(queue)
      // The request goes to the front.
      const others = queue.waiting
      queue.waiting = new Map()
      this.#defer(queue, key, deferred)
      for (const [otherKey, other] of others) queue.waiting.set(otherKey, other)
    }
    this.#endHandover(queue)
    return isAdmitted
  }

  /** Estimates whether a request may be in the pool now. */
  async #isNear(queue: OriginQueue, url: string, isReady: boolean): Promise<boolean> {
    const estimate = await (isReady ? this.#estimate(queue, url) : this.#estimateOrDefer(queue, url))
    return queue.approaching.size === 0 && estimate.waitMs <= this.#deferBeyondMs && hasRoom(queue, estimate)
  }

  /**
   * To be called when the request of a task reaches the gate. From then on MAX_APPROACH_MS no
   * longer applies.
   */
  reachedGate(task: PoolTask): void {
    const queue = this.#queueOfTask(task)
    if (!queue?.approaching.has(task)) return
    clearTimeout(queue.approaching.get(task))
    if (queue.domain.onTheWay.delete(queue)) this.#wakeHeld(queue.domain)
  }

  /**
   * To be called when the request of a task has passed the gate, or will not. The next request of
   * its origin no longer waits for it.
   */
  passedGate(task: PoolTask): void {
    const queue = this.#queueOfTask(task)
    if (!queue?.approaching.has(task)) return
    clearTimeout(queue.approaching.get(task))
    queue.approaching.delete(task)
    if (queue.approaching.size === 0) leavePool(queue)
    this.#scheduleFirst(queue)
    this.#wakeHeld(queue.domain)
  }

  /**
   * To be called when a task has ended. Returns the task's request to Crawlee's queue if it is not
   * handled and nothing else returns it: the queue has delivered it again meanwhile, or the crawl
   * ended before the request's handler began.
   */
  async taskEnded(task: PoolTask): Promise<void> {
    this.passedGate(task)
    const taskRequest = this.#tasks.get(task)
    if (taskRequest === undefined) return
    const { key, deferred } = taskRequest
    this.#tasks.delete(task)
    const isHandled = Boolean(deferred.request.handledAt)
    const isInterrupted = task.signal.aborted && !task.isAbortedAtGate
    const mustReclaim = !isHandled && (this.#tracked.get(key) === 'again' || isInterrupted)
    this.#tracked.delete(key)
    if (!isHandled) this.queueChanged()
    if (mustReclaim) await this.#timerScope.runInAsyncScope(() => this.#reclaim(deferred))
  }

  /** Ends the crawl: returns deferred requests to Crawlee's queue, for another run. */
  async close(): Promise<void> {
    const queues = [...this.#queues.values()]
    this.#queues.clear()
    this.#domains.clear()
    this.#ready.clear()
    clearInterval(this.#renewal)
    this.#renewal = undefined
    for (const { timer, approaching } of queues) {
      for (const each of [timer, ...approaching.values()]) clearTimeout(each)
    }
    for (const { waiting } of queues) {
      // The last one first, because each goes to the front.
      for (const [key, deferred] of [...waiting].reverse()) {
        this.#tracked.delete(key)
        await deferred.locked
        await this.#reclaim(deferred)
      }
    }
    this.queueChanged()
  }

  #queueOf(origin: string): OriginQueue {
    const known = this.#queues.get(origin)
    if (known !== undefined) return known
    const domain = this.#domainOf(registrableDomainOf(origin))
    const queue: OriginQueue = {
      origin,
      domain,
      waiting: new Map(),
      approaching: new Map(),
      timer: undefined,
      isHandingOver: false,
      estimate: undefined,
    }
    this.#queues.set(origin, queue)
    domain.queues++
    return queue
  }

  #domainOf(name: string): Domain {
    const known = this.#domains.get(name)
    if (known !== undefined) return known
    const domain: Domain = {
      name,
      queues: 0,
      pendingEstimates: 0,
      approaching: new Set(),
      onTheWay: new Set(),
      held: new Set(),
    }
    this.#domains.set(name, domain)
    return domain
  }

  #queueOfTask(task: PoolTask): OriginQueue | undefined {
    const taskRequest = this.#tasks.get(task)
    return taskRequest && this.#queues.get(taskRequest.origin)
  }

  #defer(queue: OriginQueue, key: string, deferred: Deferred): void {
    queue.waiting.set(key, deferred)
    this.#timerScope.runInAsyncScope(() => {
      deferred.locked = shortenLock(deferred.source, deferred.request, LOCK_SECS)
      this.#renewal ??= setInterval(() => void this.#renewLocks(), RENEW_LOCKS_EVERY_MS).unref()
    })
  }

  /** Renews the locks one after another: a storage on disk writes a file for each. */
  async #renewLocks(): Promise<void> {
    for (const { waiting } of [...this.#queues.values()]) {
      for (const [key, deferred] of [...waiting]) {
        if (waiting.get(key) !== deferred) continue // a task has taken it meanwhile
        deferred.locked = deferred.locked.then(() => shortenLock(deferred.source, deferred.request, LOCK_SECS))
        await deferred.locked
      }
    }
  }

  /**
   * Like `#estimate`, but returns an endless wait for a request whose robots.txt must be fetched
   * first.
   */
  async #estimateOrDefer(queue: OriginQueue, url: string): Promise<Estimate> {
    const isFetching = queue.domain.pendingEstimates > 0
    const estimate = this.#estimate(queue, url)
    if (!isFetching && this.#fetchingDomains > MAX_FETCHING_DOMAINS) return estimate
    const later: Estimate = { waitMs: Number.POSITIVE_INFINITY, isDomainFull: false }
    return Promise.race([estimate, new Promise<Estimate>((resolve) => setImmediate(resolve, later))])
  }

  /**
   * Returns when a request could start. Returns the pending estimate if there is one: it is that of
   * the same request.
   */
  #estimate(queue: OriginQueue, url: string): Promise<Estimate> {
    queue.estimate ??= this.#newEstimate(queue, url)
    return queue.estimate
  }

  async #newEstimate(queue: OriginQueue, url: string): Promise<Estimate> {
    const { domain } = queue
    if (domain.pendingEstimates++ === 0) this.#fetchingDomains++
    try {
      const forecast = await this.#gate.when(url)
      if (!forecast.allowed) return NOW
      const { waitMs, because, level } = forecast
      return { waitMs, isDomainFull: because === 'concurrency' && (level === 'domain' || level === 'address') }
    } catch {
      return NOW
    } finally {
      queue.estimate = undefined
      if (--domain.pendingEstimates === 0) this.#fetchingDomains--
    }
  }

  /**
   * To be called when the first request of a queue was taken by a task, was put back, or was
   * dropped.
   */
  #endHandover(queue: OriginQueue): void {
    queue.isHandingOver = false
    this.#scheduleFirst(queue)
  }

  /**
   * Schedules the handover of a queue's first request to the pool. Replaces an earlier schedule,
   * which may be out of date.
   */
  #scheduleFirst(queue: OriginQueue): void {
    if (queue.isHandingOver) return
    clearTimeout(queue.timer)
    queue.timer = undefined
    if (queue.approaching.size > 0) return
    if (queue.waiting.size > 0) void this.#timerScope.runInAsyncScope(() => this.#handOverFirst(queue))
    else if (this.#queues.get(queue.origin) === queue) this.#deleteQueue(queue)
  }

  #deleteQueue({ origin, domain }: OriginQueue): void {
    this.#queues.delete(origin)
    domain.queues--
    if (domain.queues === 0) this.#domains.delete(domain.name)
    else this.#wakeHeld(domain)
  }

  /**
   * To be called when a domain may have room for requests in the pool. Schedules the first ones
   * that are deferred until then.
   */
  #wakeHeld({ onTheWay, held }: Domain): void {
    let room = MAX_ON_THE_WAY - onTheWay.size
    for (const queue of held) {
      if (room <= 0) return
      room--
      this.#scheduleFirst(queue)
    }
  }

  /**
   * Makes a queue's first request ready for the pool if its turn is near. Otherwise sets a timer.
   */
  async #handOverFirst(queue: OriginQueue): Promise<void> {
    const { domain } = queue
    queue.isHandingOver = true
    domain.held.delete(queue)
    const [first] = queue.waiting.values()
    const estimate = await this.#estimate(queue, (first as Deferred).request.url)
    if (this.#queues.get(queue.origin) !== queue) return // the crawl has ended
    const untilNearMs = estimate.waitMs - this.#deferBeyondMs
    if (untilNearMs <= 0 && hasRoom(queue, estimate)) {
      joinPool(queue)
      this.#ready.add(queue)
      void this.#internals.autoscaledPool?.notify()
      return
    }
    queue.isHandingOver = false
    if (untilNearMs <= 0) domain.held.add(queue)
    else {
      queue.timer = setTimeout(() => this.#scheduleFirst(queue), Math.min(untilNearMs, MAX_TIMER_MS))
      this.#wakeHeld(domain)
    }
  }

  /**
   * Returns the current state of a deferred request. Undefined if another crawler has handled it
   * after its lock expired.
   */
  async #reload(key: string, deferred: Deferred): Promise<Request | undefined> {
    await deferred.locked
    try {
      const current = await currentRequest(deferred)
      if (current === undefined) this.#tracked.delete(key)
      return current
    } catch {
      return deferred.request // the storage has failed; the task's own use of it will report the error
    }
  }

  /** Returns a request to the front of Crawlee's queue. */
  async #reclaim(deferred: Deferred): Promise<void> {
    try {
      const current = await currentRequest(deferred)
      if (current !== undefined) await deferred.source.reclaimRequest(current, { forefront: true })
    } catch (error) {
      this.#internals.log.exception(
        error as Error,
        `${withoutCredentials(deferred.request.url)} was deferred, and could not be put back in the queue; it stays locked until its lock expires`,
      )
    }
  }
}

/** The estimate for a request that the gate refuses or fails. */
const NOW: Estimate = { waitMs: 0, isDomainFull: false }

/**
 * Returns whether the first request of a queue may be in the pool, as far as other requests of its
 * domain are concerned. If the domain is full, one request waits for it at the gate.
 */
function hasRoom(queue: OriginQueue, { isDomainFull }: Estimate): boolean {
  const { approaching, onTheWay } = queue.domain
  if (approaching.has(queue)) return true
  return isDomainFull ? approaching.size === 0 : onTheWay.size < MAX_ON_THE_WAY
}

/** To be called when a request of a queue is ready for the pool or admitted to it. */
function joinPool(queue: OriginQueue): void {
  queue.domain.approaching.add(queue)
  queue.domain.onTheWay.add(queue)
}

/** To be called when that request has passed the gate, or will not. */
function leavePool(queue: OriginQueue): void {
  queue.domain.approaching.delete(queue)
  queue.domain.onTheWay.delete(queue)
}

/**
 * Returns the current state of a request. Its lock may have expired: if another crawler has handled
 * it meanwhile, the result is undefined; if another crawler has counted retries, the result is the
 * stored request with those retries.
 */
async function currentRequest({ request, source }: Deferred): Promise<Request | undefined> {
  const stored = request.id === undefined ? undefined : await source.getRequest?.(request.id)
  if (stored?.handledAt) return undefined
  return stored && stored.retryCount > request.retryCount ? stored : request
}
