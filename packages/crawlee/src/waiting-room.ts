// Where requests are whose turn is far off: out of Crawlee's pool, so that others get their place, and back in its queue in time.
//
// They stay locked in the queue meanwhile, like those that Crawlee itself puts off (sameDomainDelaySecs). Turns are the gate's: what is foreseen
// here only says when it is worth coming back.
import { AsyncResource } from 'node:async_hooks'
import type { Request } from '@crawlee/basic'
import { originOf } from '@politely/core'
import type { Pass, PoliteGate } from '@politely/gate'
import type { Inside, RequestSource } from './inside.ts'
import type { Task } from './task.ts'

/** Timers hold no more than about 24 days; longer waits are cut into pieces. */
const LONGEST_TIMER_MS = 60 * 60 * 1000
/** Who was called and does not come was taken by another process that shares the queue. Our choice. */
const LOST_AFTER_MS = 60 * 1000
/** Nobody knows when a site's place is free; one request of it stands at the gate for it, and the others look again after this. Our choice. */
const HELD_UP_MS = 100
/** While more questions than this wait for robots.txt, requests wait for it in the pool: or all of a queue's origins would be asked at once. */
const MOST_FORESEEING = 32

interface Parked {
  readonly request: Request
  readonly source: RequestSource
}

/** The requests of one origin. */
interface Line {
  /** By their keys, in the order in which they came. */
  waiting: Map<string, Parked>
  /** They went on, and have not left yet. */
  readonly ahead: Set<Task>
  /** Settles when everyone who has come was told whether to wait. It never rejects. */
  decided: Promise<unknown>
  /** Is back in Crawlee's queue, and expected here. */
  called: string | undefined
  /** When the first one is called, or is given up. */
  timer: NodeJS.Timeout | undefined
  /** It is being found out when that is. */
  isForeseeing: boolean
  /** The pause between two requests, as far as it is known. */
  pauseMs: number
}

interface Foreseen {
  readonly waitMs: number
  /** How many stand at the gate. */
  readonly ahead: number
  readonly crawlDelayMs: number
}

const NO_WAIT: Foreseen = { waitMs: 0, ahead: 0, crawlDelayMs: 0 }

export class WaitingRoom {
  readonly #inside: Inside
  readonly #gate: PoliteGate
  readonly #parkFromMs: number
  readonly #lines = new Map<string, Line>()
  /** What each task of the pool is at. */
  readonly #tasks = new Map<Task, { readonly key: string; readonly origin: string }>()
  /** Keys of all requests that wait here or are under way: the queue may give them out once more, since its locks expire. */
  readonly #here = new Set<string>()
  /** Questions to the gate that are under way. */
  #foreseeing = 0
  /** Timers must not inherit the timeouts of the task that sets them. */
  readonly #outside = new AsyncResource('politely.WaitingRoom')

  constructor(inside: Inside, gate: PoliteGate, parkFromMs: number) {
    this.#inside = inside
    this.#gate = gate
    this.#parkFromMs = parkFromMs
  }

  /** Whether a request goes on now. If not, it waits here. */
  async admits(task: Task, request: Request, source: RequestSource): Promise<boolean> {
    const key = request.id ?? request.uniqueKey
    const origin = originOf(request.url)
    if (this.#here.has(key)) return false
    if (origin === undefined || request.skipNavigation) return true
    this.#here.add(key)
    const line = this.#lineOf(origin)
    // One after another: who comes later does not overtake who is being decided about.
    const decided = line.decided.then(() => this.#decide(task, key, origin, { request, source }))
    line.decided = decided
    return decided
  }

  async #decide(task: Task, key: string, origin: string, parked: Parked): Promise<boolean> {
    const line = this.#lineOf(origin)
    const isCalled = line.called === key
    if (!isCalled && line.waiting.size > 0) {
      line.waiting.set(key, parked)
      return false
    }
    const { url } = parked.request
    const foreseen = await (isCalled ? this.#foresee(url) : this.#foreseeInTime(url))
    const waitMs = foreseen === undefined ? Number.POSITIVE_INFINITY : waitOf(line, foreseen)
    const goesOn = waitMs <= this.#parkFromMs || task.signal.aborted
    if (goesOn) {
      line.ahead.add(task)
      this.#tasks.set(task, { key, origin })
    } else line.waiting = new Map([[key, parked], ...line.waiting])
    if (isCalled) line.called = undefined
    this.#watch(origin, line)
    return goesOn
  }

  /** A request of this task leaves; or it does not, and who comes after it need not wait for it. */
  entered(task: Task, pass: Pass | undefined): void {
    const at = this.#tasks.get(task)
    const line = at && this.#lines.get(at.origin)
    if (line === undefined || !line.ahead.delete(task)) return
    if (pass !== undefined && originOf(pass.url) === at?.origin) line.pauseMs = pass.delay.delayMs
    this.#watch(at?.origin as string, line)
  }

  /** The task is over. */
  over(task: Task): void {
    this.entered(task, undefined)
    const at = this.#tasks.get(task)
    if (at === undefined) return
    this.#tasks.delete(task)
    this.#here.delete(at.key)
  }

  /** The crawl has ended: who waits here goes back to the queue, for another one. */
  async close(): Promise<void> {
    const lines = [...this.#lines.values()]
    this.#lines.clear()
    for (const { timer } of lines) clearTimeout(timer)
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
      ahead: new Set(),
      decided: Promise.resolve(),
      called: undefined,
      timer: undefined,
      isForeseeing: false,
      pauseMs: 0,
    }
    this.#lines.set(origin, line)
    return line
  }

  /** The same, unless robots.txt has to be fetched first: that, too, is waited for outside of the pool. */
  async #foreseeInTime(url: string): Promise<Foreseen | undefined> {
    const foreseen = this.#foresee(url)
    if (this.#parkFromMs === Number.POSITIVE_INFINITY || this.#foreseeing > MOST_FORESEEING) return foreseen
    return Promise.race([foreseen, new Promise<undefined>((resolve) => setImmediate(resolve, undefined))])
  }

  /** What the gate says of a request. One that is refused, or hears of a closed gate when it wants to leave, need not wait here. */
  async #foresee(url: string): Promise<Foreseen> {
    this.#foreseeing++
    try {
      const forecast = await this.#gate.when(url)
      if (!forecast.allowed) return NO_WAIT
      const { verdict, because, ahead } = forecast
      const isHeldUp = because === 'concurrency' && ahead > 0
      const waitMs = isHeldUp ? this.#parkFromMs + HELD_UP_MS : forecast.waitMs
      return { waitMs, ahead, crawlDelayMs: ('crawlDelayMs' in verdict && verdict.crawlDelayMs) || 0 }
    } catch {
      return NO_WAIT
    } finally {
      this.#foreseeing--
    }
  }

  /** Sees to it that the first one is called in time. What was planned before may not hold any more. */
  #watch(origin: string, line: Line): void {
    if (line.called !== undefined || line.isForeseeing) return
    clearTimeout(line.timer)
    line.timer = undefined
    if (line.waiting.size > 0) void this.#outside.runInAsyncScope(() => this.#plan(origin, line))
    else if (line.ahead.size === 0 && this.#lines.get(origin) === line) this.#lines.delete(origin)
  }

  async #plan(origin: string, line: Line): Promise<void> {
    line.isForeseeing = true
    const [first] = line.waiting
    const [key, parked] = first as [string, Parked]
    const foreseen = await this.#foresee(parked.request.url)
    line.isForeseeing = false
    if (this.#lines.get(origin) !== line) return // the crawl has ended
    const earlyMs = waitOf(line, foreseen) - this.#parkFromMs
    if (earlyMs > 0) {
      line.timer = setTimeout(() => this.#watch(origin, line), Math.min(earlyMs, LONGEST_TIMER_MS))
      return
    }
    line.waiting.delete(key)
    this.#here.delete(key)
    line.called = key
    line.timer = setTimeout(() => {
      if (line.called === key) line.called = undefined
      this.#watch(origin, line)
    }, LOST_AFTER_MS)
    await this.#giveBack(parked)
    void this.#inside.autoscaledPool?.notify()
  }

  async #giveBack({ request, source }: Parked): Promise<void> {
    try {
      await source.reclaimRequest(request, { forefront: true })
    } catch (error) {
      this.#inside.log.exception(
        error as Error,
        `${request.url} waited for its turn, and could not be put back in the queue`,
      )
    }
  }
}

/** In how many milliseconds a request could leave, with those before it that do not stand at the gate yet. */
function waitOf({ ahead, pauseMs }: Line, foreseen: Foreseen): number {
  return foreseen.waitMs + Math.max(0, ahead.size - foreseen.ahead) * Math.max(pauseMs, foreseen.crawlDelayMs)
}
