// Where requests are whose turn is far off: out of Crawlee's pool, so that others get their place, and back in its queue in time.
//
// They stay locked in the queue meanwhile, like those that Crawlee itself puts off (sameDomainDelaySecs). Turns are the
// gate's: what is foreseen here only says when it is worth coming back.
import { AsyncResource } from 'node:async_hooks'
import type { Request } from '@crawlee/basic'
import { originOf } from '@politely/core'
import type { PoliteGate } from '@politely/gate'
import type { CrawleeInternals, RequestSource } from './crawlee-internals.ts'
import type { PoolTask } from './pool-task.ts'
import { expectRequeued, forgetRequeued, type RequeuedRequest, takeRequeued } from './requeued-request.ts'

/** Timers hold no more than about 24 days; longer waits are cut into pieces. */
const LONGEST_TIMER_MS = 60 * 60 * 1000
/** Who was called and does not come was taken by another process that shares the queue. Our choice. */
const LOST_AFTER_MS = 5_000
/** Who has gone on and asks for nothing in this time is not waited for: its handler may have other ways to a page. Our choice. */
const LATE_AFTER_MS = 1_000
/**
 * While more questions than this wait for robots.txt, requests wait for it in the pool: or all of a queue's origins would be
 * asked at once. Our choice.
 */
const MOST_FORESEEING = 32

interface Parked {
  readonly request: Request
  readonly source: RequestSource
}

/** The requests of one origin. */
interface Line {
  /** By their keys, in the order in which they came. */
  waiting: Map<string, Parked>
  /** Went on, and is on its way to the gate or stands there: nobody follows it into the pool before it has left. */
  readonly ahead: Map<PoolTask, NodeJS.Timeout>
  /** Settles when everyone who has come was told whether to wait. It never rejects. */
  decided: Promise<unknown>
  /** Is back in Crawlee's queue, and expected here. */
  called: RequeuedRequest | undefined
  /** When the first one is called, or is given up. */
  timer: NodeJS.Timeout | undefined
  /** It is being found out when that is. */
  isForeseeing: boolean
}

export class WaitingRoom {
  readonly #internals: CrawleeInternals
  readonly #gate: PoliteGate
  readonly #deferBeyondMs: number
  readonly #lines = new Map<string, Line>()
  /** What each task of the pool is at. */
  readonly #tasks = new Map<PoolTask, { readonly key: string; readonly origin: string; readonly parked: Parked }>()
  /**
   * By their keys, all requests that wait here or are under way, and whether the queue has given one out once more meanwhile: its locks
   * expire, and a request that is to be tried again is in the queue before its task is over.
   */
  readonly #here = new Map<string, 'once' | 'once-more'>()
  /** Questions to the gate that are under way. */
  #foreseeing = 0
  /** Timers must not inherit the timeouts of the task that sets them. */
  readonly #outside = new AsyncResource('politely.WaitingRoom')

  constructor(internals: CrawleeInternals, gate: PoliteGate, deferBeyondMs: number) {
    this.#internals = internals
    this.#gate = gate
    this.#deferBeyondMs = deferBeyondMs
  }

  /** Whether a request goes on now. If not, it waits here. */
  async admits(task: PoolTask, request: Request, source: RequestSource): Promise<boolean> {
    const key = request.id ?? request.uniqueKey
    const origin = originOf(request.url)
    const call = takeRequeued(source, key)
    if (origin === undefined || request.skipNavigation) return true
    if (call !== undefined && this.#lines.get(origin)?.called !== call) call.taken()
    const isHere = this.#here.has(key)
    this.#here.set(key, isHere ? 'once-more' : 'once')
    if (isHere) return false
    const line = this.#lineOf(origin)
    // One after another: who comes later does not overtake who is being decided about.
    const decided = line.decided.then(() => this.#decide(task, key, origin, { request, source }, call))
    line.decided = decided
    return decided
  }

  async #decide(
    task: PoolTask,
    key: string,
    origin: string,
    parked: Parked,
    call: RequeuedRequest | undefined,
  ): Promise<boolean> {
    const line = this.#lineOf(origin)
    const isCalled = call !== undefined
    if (!isCalled && line.waiting.size > 0) {
      line.waiting.set(key, parked)
      return false
    }
    const { url } = parked.request
    const waitMs = await (isCalled ? this.#foresee(url) : this.#foreseeInTime(url))
    const isFree = line.ahead.size === 0 && waitMs <= this.#deferBeyondMs
    const goesOn = isFree || this.#deferBeyondMs === Number.POSITIVE_INFINITY || task.signal.aborted
    if (goesOn) {
      line.ahead.set(
        task,
        this.#outside.runInAsyncScope(() => setTimeout(() => this.left(task), LATE_AFTER_MS)),
      )
      this.#tasks.set(task, { key, origin, parked })
    } else line.waiting = new Map([[key, parked], ...line.waiting])
    if (line.called === call) line.called = undefined
    this.#watch(origin, line)
    return goesOn
  }

  /** A request of this task has come to the gate. */
  arrived(task: PoolTask): void {
    const at = this.#tasks.get(task)
    if (at !== undefined) clearTimeout(this.#lines.get(at.origin)?.ahead.get(task))
  }

  /** It has left, or it does not: who comes after it need not wait for it. */
  left(task: PoolTask): void {
    this.arrived(task)
    const at = this.#tasks.get(task)
    const line = at && this.#lines.get(at.origin)
    if (line?.ahead.delete(task)) this.#watch((at as { origin: string }).origin, line)
  }

  /** The task is over. If its request was given out once more, and is not handled, the queue gets it back: nobody else would see to it. */
  async over(task: PoolTask): Promise<void> {
    this.left(task)
    const at = this.#tasks.get(task)
    if (at === undefined) return
    this.#tasks.delete(task)
    const isOwed = this.#here.get(at.key) === 'once-more' && !at.parked.request.handledAt
    this.#here.delete(at.key)
    if (isOwed) await this.#outside.runInAsyncScope(() => this.#giveBack(at.parked))
  }

  /** The crawl has ended: who waits here goes back to the queue, for another one. */
  async close(): Promise<void> {
    const lines = [...this.#lines.values()]
    this.#lines.clear()
    for (const { timer, ahead, called } of lines) {
      for (const each of [timer, ...ahead.values()]) clearTimeout(each)
      if (called !== undefined) forgetRequeued(called)
    }
    for (const { waiting } of lines) {
      // The last one first, so that the first one is before it.
      for (const [key, parked] of [...waiting].reverse()) {
        this.#here.delete(key)
        await this.#giveBack(parked)
      }
    }
  }

  #lineOf(origin: string): Line {
    const known = this.#lines.get(origin)
    if (known !== undefined) return known
    const line: Line = {
      waiting: new Map(),
      ahead: new Map(),
      decided: Promise.resolve(),
      called: undefined,
      timer: undefined,
      isForeseeing: false,
    }
    this.#lines.set(origin, line)
    return line
  }

  /** The same, unless robots.txt has to be fetched first: that, too, is waited for outside of the pool. */
  async #foreseeInTime(url: string): Promise<number> {
    const foreseen = this.#foresee(url)
    if (this.#deferBeyondMs === Number.POSITIVE_INFINITY || this.#foreseeing > MOST_FORESEEING) return foreseen
    return Promise.race([foreseen, new Promise<number>((resolve) => setImmediate(resolve, Number.POSITIVE_INFINITY))])
  }

  /** In how many milliseconds a request could leave; 0 for one that is refused, or will hear from the gate what is wrong with that. */
  async #foresee(url: string): Promise<number> {
    this.#foreseeing++
    try {
      const forecast = await this.#gate.when(url)
      return forecast.allowed ? forecast.waitMs : 0
    } catch {
      return 0
    } finally {
      this.#foreseeing--
    }
  }

  /** Sees to it that the first one is called in time. What was planned before may not hold any more. */
  #watch(origin: string, line: Line): void {
    if (line.called !== undefined || line.isForeseeing) return
    clearTimeout(line.timer)
    line.timer = undefined
    if (line.ahead.size > 0) return
    if (line.waiting.size > 0) void this.#outside.runInAsyncScope(() => this.#plan(origin, line))
    else if (this.#lines.get(origin) === line) this.#lines.delete(origin)
  }

  async #plan(origin: string, line: Line): Promise<void> {
    line.isForeseeing = true
    const [first] = line.waiting
    const [key, parked] = first as [string, Parked]
    const waitMs = await this.#foresee(parked.request.url)
    line.isForeseeing = false
    if (this.#lines.get(origin) !== line) return // the crawl has ended
    const earlyMs = waitMs - this.#deferBeyondMs
    if (earlyMs > 0) {
      line.timer = setTimeout(() => this.#watch(origin, line), Math.min(earlyMs, LONGEST_TIMER_MS))
      return
    }
    line.waiting.delete(key)
    this.#here.delete(key)
    const gone = () => {
      forgetRequeued(call)
      if (line.called === call) line.called = undefined
      this.#watch(origin, line)
    }
    const call: RequeuedRequest = { source: parked.source, key, taken: gone }
    expectRequeued(call)
    line.called = call
    line.timer = setTimeout(gone, LOST_AFTER_MS)
    if (!(await this.#giveBack(parked))) gone()
    void this.#internals.autoscaledPool?.notify()
  }

  /** Whether it is in the queue again. */
  async #giveBack({ request, source }: Parked): Promise<boolean> {
    try {
      // Its lock may have expired: what another crawler has handled by now would be pending again, and what has failed there would be
      // as before that.
      const now = request.id === undefined ? undefined : await source.getRequest?.(request.id)
      if (now?.handledAt) return false
      await source.reclaimRequest(now && now.retryCount > request.retryCount ? now : request, { forefront: true })
      return true
    } catch (error) {
      this.#internals.log.exception(
        error as Error,
        `${request.url} waited for its turn, and could not be put back in the queue`,
      )
      return false
    }
  }
}
