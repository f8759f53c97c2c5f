// Simulates the crawl of a fleet with a virtual clock, without sockets. The pace is core's own: the
// simulation keeps the state of ten million origins in typed arrays, and calls `delayOf`,
// `takeSlot` and `applyResponse` for each request.
//
// An origin is always in one state: it waits for its slot (in the wheel), it waits for a free
// connection (in a queue), one request to it is under way (in the wheel, until the response), or it
// is done. So each origin has at most one event, and a request at a time.
//
// What is left out: the time that Redis, DNS and the queue take, and the differences of clocks.
import { applyResponse, type Delay, delayOf, type Pace, startPace, takeSlot } from '@politely/core/engine'
import { seededRandom } from '@politely/testkit/random-robots'
import { Caches } from './caches.ts'
import { lifetimeOf, retryWaits } from './lifetimes.ts'
import { crawler, redis, web } from './parameters.ts'
import { ROBOTS, type Sites } from './sites.ts'
import { Wheel } from './wheel.ts'

/**
 * How the work is divided. `partition`: all URLs of a registrable domain go to one worker, which
 * paces them itself. `shared`: any worker takes any URL, and a pacer in Redis grants the slots.
 * Both share the robots.txt cache in Redis.
 */
export type Plan = 'partition' | 'shared'

export interface Options {
  readonly plan: Plan
  readonly workers: number
  readonly seed: number
  /** When worker 0 dies, in milliseconds from the start; undefined for never. */
  readonly deathAt?: number | undefined
  /** Called for each event, for tests. */
  readonly observe?: ((event: Event) => void) | undefined
}

export interface Event {
  readonly kind: 'robots' | 'page' | 'pushback' | 'fetched'
  readonly id: number
  readonly worker: number
  readonly at: number
  /** The Retry-After header of a pushback. */
  readonly retryAfter?: string | undefined
}

/**
 * The calls of Redis: `get` reads an entry, `lease` asks for the right to fetch (SET NX), `reread`
 * reads again with the lease, since another worker may just have fetched, `set` writes the entry,
 * `release` ends the lease, `poll` reads and asks again while another worker fetches, `slot` runs
 * the pacer's script for a request that starts, `report` tells the pacer of a pushback or of the
 * end of a series.
 */
type CallKind = 'get' | 'lease' | 'reread' | 'set' | 'release' | 'poll' | 'slot' | 'report'

/** What happened. Times are milliseconds from the start. */
export interface Run {
  readonly plan: Plan
  readonly workers: number
  /** When the last URL was done. */
  readonly makespanMs: number
  /** When this share of all URLs was done, and the time that connections were in use until then. */
  readonly milestones: { readonly share: number; readonly at: number; readonly busyMs: number }[]
  /** The time that connections were in use, summed over all. */
  readonly busyMs: number
  readonly fetched: number
  /** URLs of sites whose robots.txt stayed unreachable. */
  readonly refused: number
  /** Requests for pages, including requests that were answered with a pushback. */
  readonly pages: number
  readonly pushbacks: number
  /** Requests for pages that could not start when the one before had ended. */
  readonly waits: number
  readonly robots: { readonly fetches: number; readonly refetches: number; readonly avoidedByLease: number }
  /** Checks of robots.txt, and where the answer was. */
  readonly cache: { readonly checks: number; readonly memoryHits: number; readonly redisHits: number }
  /** Calls of Redis for robots.txt and for the pace. */
  readonly calls: Readonly<Record<CallKind, number>>
  /** In each minute: requests for pages, fetches of robots.txt, calls of Redis. */
  readonly perMinute: { readonly pages: number[]; readonly robots: number[]; readonly calls: number[] }
  /** The largest number of pace keys in Redis at the end of a minute. */
  readonly pacerKeys: number
  /**
   * The most fresh entries in the memory of a worker: the mean of the workers, and the worker with
   * the most.
   */
  readonly entries: { readonly mean: number; readonly most: number }
  /** Requests, robots.txt included, of each worker. */
  readonly requestsOf: number[]
  /**
   * The smallest gap between the starts of two requests, relative to the one asked for, and how
   * many were shorter than it.
   */
  readonly pace: { readonly smallest: number; readonly gaps: number; readonly short: number }
  /**
   * The origins that waited because a worker died, and their URLs; the requests that it had under
   * way, which another worker repeats; and the origins with a pause that ends after the death was
   * noticed, which only the dead worker's own pacer knew of.
   */
  readonly death: {
    readonly delayedOrigins: number
    readonly delayedUrls: number
    readonly lostRequests: number
    readonly forgottenPauses: number
  }
}

const WAITING = 0
const FETCHING_ROBOTS = 1
const FETCHING_PAGE = 2

/**
 * The number of the slot in every `Pace` that the simulation passes to core: later than all
 * pushbacks before it.
 */
const SLOT = 1

const MINUTE = 60_000
const MILESTONES = [0.5, 0.9, 0.99, 0.999]

/**
 * The delays after a request, by the value of `Sites.delayOf`. They do not depend on the time,
 * since no site here has a Request-rate.
 */
const delays: readonly Delay[] = [undefined, ...web.crawlDelays.map(({ delayMs }) => delayMs)].map((crawlDelayMs) =>
  delayOf({ ownDelayMs: crawler.ownDelayMs, maxDelayMs: crawler.maxDelayMs, crawlDelayMs }, 0),
)

export function simulate(sites: Sites, { plan, workers, seed, deathAt, observe }: Options): Run {
  const { count, urlsOf, domainOf } = sites
  const random = seededRandom(seed ^ 0x5eed)
  const noticedAt = (deathAt ?? Number.POSITIVE_INFINITY) + crawler.deathNoticedAfterMs
  const lifetimeMs = { 200: lifetimeOf(200), 404: lifetimeOf(404) }
  const retryMs = retryWaits(crawler.robotsAttempts)

  // The state of each origin.
  const state = new Uint8Array(count)
  const left = urlsOf.slice()
  const workerOf = new Int16Array(count).fill(-1)
  const freshUntil = new Float64Array(count)
  const failures = new Uint8Array(count)
  const fetchedRobots = new Uint8Array(count)
  const nextSlotAt = new Float64Array(count)
  const pushbacks = new Uint8Array(count)
  // What the site asked for, kept apart from the pacer's state to compare with.
  const lastStart = new Float64Array(count).fill(-1)
  const earliestStart = new Float64Array(count)
  const caches = new Caches(count, workers, plan === 'partition')

  const next = new Int32Array(count) // links the wheel's lists, and the queues
  const wheel = new Wheel(next)
  const queues = Array.from({ length: plan === 'shared' ? 1 : workers }, () => ({ first: -1, last: -1 }))
  const busy = new Int32Array(workers)
  let free = workers * crawler.connections
  const isDead = new Uint8Array(workers)
  const scratch: { -readonly [Key in keyof Pace]: Pace[Key] } = { ...startPace, slots: SLOT }

  const requestsOf = new Array<number>(workers).fill(0)
  const perMinute = { pages: [] as number[], robots: [] as number[], calls: [] as number[] }
  const pacerKeyChanges: number[] = []
  const calls: Record<CallKind, number> = {
    get: 0,
    lease: 0,
    reread: 0,
    set: 0,
    release: 0,
    poll: 0,
    slot: 0,
    report: 0,
  }
  const robots = { fetches: 0, refetches: 0, avoidedByLease: 0 }
  const cache = { checks: 0, memoryHits: 0, redisHits: 0 }
  const pace = { smallest: Number.POSITIVE_INFINITY, gaps: 0, short: 0 }
  const death = { delayedOrigins: 0, delayedUrls: 0, lostRequests: 0, forgottenPauses: 0 }
  const milestones: { share: number; at: number; busyMs: number }[] = []
  /** The time now. */
  let clock = 0
  let busyMs = 0
  let fetched = 0
  let refused = 0
  let pages = 0
  let pushbackCount = 0
  let waits = 0

  for (let id = 0; id < count; id++) becomeReady(id)
  while (wheel.size > 0) wheel.turn(onEvent)

  return {
    plan,
    workers,
    makespanMs: clock,
    milestones,
    busyMs,
    fetched,
    refused,
    pages,
    pushbacks: pushbackCount,
    waits,
    robots,
    cache,
    calls,
    perMinute,
    pacerKeys: largestSum(pacerKeyChanges),
    entries: { mean: caches.largestTotal / workers, most: caches.largest },
    requestsOf,
    pace,
    death,
  }

  function onEvent(id: number, now: number): void {
    clock = now
    if (deathAt !== undefined && isDead[0] === 0 && now >= deathAt) die()
    const worker = workerOf[id] as number
    if (state[id] === WAITING) becomeReady(id)
    else if (isDead[worker] === 1) {
      death.lostRequests++
      postpone(id)
    } else {
      busy[worker] = (busy[worker] as number) - 1
      free++
      if (state[id] === FETCHING_ROBOTS) onRobots(id, worker)
      else onPage(id)
      startQueued(worker)
    }
  }

  /** The origin's slot has come: its next request starts as soon as a connection is free. */
  function becomeReady(id: number): void {
    const owner = plan === 'partition' ? ownerOf(id) : -1
    const queue = queueOf(owner)
    const isFree = owner === -1 ? free > 0 : (busy[owner] as number) < crawler.connections
    if (owner !== -1 && isDead[owner] === 1) postpone(id)
    else if (isFree && queue.first === -1) start(id, owner === -1 ? freeWorker() : owner)
    else {
      next[id] = -1
      if (queue.first === -1) queue.first = id
      else next[queue.last] = id
      queue.last = id
    }
  }

  function startQueued(worker: number): void {
    const queue = queueOf(worker)
    const id = queue.first
    if (id === -1 || (busy[worker] as number) >= crawler.connections) return
    queue.first = next[id] as number
    start(id, worker)
  }

  function queueOf(worker: number): { first: number; last: number } {
    return queues[plan === 'partition' ? worker : 0] as { first: number; last: number }
  }

  /**
   * Returns the worker that owns the origin's domain. Once a death is noticed, the domains of
   * worker 0 are spread over the others.
   */
  function ownerOf(id: number): number {
    const domain = domainOf[id] as number
    const owner = hash(domain, seed) % workers
    return isDead[owner] === 1 && clock >= noticedAt ? 1 + (hash(domain, seed + 1) % (workers - 1)) : owner
  }

  /** Returns a random worker with a free connection. There is one. */
  function freeWorker(): number {
    for (;;) {
      const worker = Math.floor(random() * workers)
      if (isDead[worker] === 0 && (busy[worker] as number) < crawler.connections) return worker
    }
  }

  /**
   * A worker checks robots.txt for a URL: in its memory, then in Redis, then at the site. Then it
   * requests the page.
   */
  function start(id: number, worker: number): void {
    const last = workerOf[id] as number
    if (plan === 'partition' && last !== -1 && last !== worker) pushbacks[id] = 0 // the pacer of the dead worker is gone
    workerOf[id] = worker
    cache.checks++
    if (clock >= (freshUntil[id] as number)) startRobots(id, worker)
    else {
      if (caches.has(id, worker)) cache.memoryHits++
      else {
        call('get')
        cache.redisHits++
        caches.add(id, worker)
      }
      startPage(id, worker)
    }
  }

  function startRobots(id: number, worker: number): void {
    call('get')
    call('lease')
    call('reread')
    robots.fetches++
    if (fetchedRobots[id] === 1) robots.refetches++
    addAt(perMinute.robots, minute(), 1)
    observe?.({ kind: 'robots', id, worker, at: clock })
    const ms = request(id, worker, FETCHING_ROBOTS)
    if (plan === 'partition' || (left[id] as number) < 2) return
    // Another worker has the next URL of the site: it does not get the lease, and waits for the
    // entry.
    robots.avoidedByLease++
    call('get')
    call('lease')
    call('poll', 2 * Math.ceil(ms / crawler.leasePollMs))
  }

  function onRobots(id: number, worker: number): void {
    call('set')
    call('release')
    const answer = sites.robotsOf[id]
    const failed = failures[id] as number
    if (answer === ROBOTS.unreachable || (answer === ROBOTS.flaky && failed < 2)) {
      failures[id] = failed + 1
      if (failed + 1 < crawler.robotsAttempts) wait(id, clock + (retryMs[failed] as number))
      else {
        refused += left[id] as number
        noteProgress()
      }
      return
    }
    caches.delete(id)
    caches.add(id, worker)
    if (plan === 'shared' && (left[id] as number) > 1) caches.add(id, Math.floor(random() * workers))
    fetchedRobots[id] = 1
    freshUntil[id] = clock + lifetimeMs[answer === ROBOTS.missing ? 404 : 200]
    startPage(id, worker)
  }

  function startPage(id: number, worker: number): void {
    const last = lastStart[id] as number
    if (last >= 0) {
      pace.gaps++
      if (clock < (earliestStart[id] as number)) pace.short++
      pace.smallest = Math.min(pace.smallest, (clock - last) / ((earliestStart[id] as number) - last))
    }
    const delay = delays[sites.delayOf[id] as number] as Delay
    nextSlotAt[id] = takeSlot(paceOf(id), clock, delay).nextSlotAt
    if (plan === 'shared') {
      call('slot')
      if (last < 0 || clock > last + redis.pacerTtlMs) addAt(pacerKeyChanges, minute(), 1)
      if (last >= 0 && clock > last + redis.pacerTtlMs) pacerKeyEnds(last)
    }
    lastStart[id] = clock
    earliestStart[id] = clock + (askedMs[sites.delayOf[id] as number] as number)
    pages++
    addAt(perMinute.pages, minute(), 1)
    observe?.({ kind: 'page', id, worker, at: clock })
    request(id, worker, FETCHING_PAGE)
  }

  function onPage(id: number): void {
    const isPushback = sites.isOverloaded[id] === 1 && random() < web.pushbackShare
    const retryAfter = isPushback && random() < 0.5 ? `${web.retryAfterSeconds}` : undefined
    const before = pushbacks[id] as number
    const { nextSlotAt: slotAt, pushbacks: after } = applyResponse(
      paceOf(id),
      { status: isPushback ? 503 : 200, retryAfter },
      SLOT,
      clock,
    )
    nextSlotAt[id] = slotAt
    pushbacks[id] = after
    if (plan === 'shared' && (isPushback || before > 0)) call('report')
    if (isPushback) {
      pushbackCount++
      const askedFor = retryAfter === undefined ? backoffMs(before) : web.retryAfterSeconds * 1000
      earliestStart[id] = Math.max(earliestStart[id] as number, clock + askedFor)
      observe?.({ kind: 'pushback', id, worker: workerOf[id] as number, at: clock, retryAfter })
    } else {
      left[id] = (left[id] as number) - 1
      fetched++
      observe?.({ kind: 'fetched', id, worker: workerOf[id] as number, at: clock })
      noteProgress()
      if (left[id] === 0) {
        if (plan === 'shared') pacerKeyEnds(lastStart[id] as number)
        return
      }
    }
    if (slotAt <= clock) becomeReady(id)
    else {
      waits++
      wait(id, slotAt)
    }
  }

  /** Starts a request and returns how long it will take, in milliseconds. */
  function request(id: number, worker: number, kind: number): number {
    const { mean, min, max } = web.responseMs
    const ms = Math.min(max, Math.max(min, Math.ceil(-mean * Math.log(1 - random()))))
    busy[worker] = (busy[worker] as number) + 1
    free--
    busyMs += ms
    requestsOf[worker] = (requestsOf[worker] as number) + 1
    state[id] = kind
    wheel.add(id, clock + ms)
    return ms
  }

  function wait(id: number, until: number): void {
    state[id] = WAITING
    wheel.add(id, until)
  }

  /**
   * Returns the origin's pace for core's functions. An origin has one request at a time, so they
   * need no more than this of its slots.
   */
  function paceOf(id: number): Pace {
    scratch.nextSlotAt = nextSlotAt[id] as number
    scratch.pushbacks = pushbacks[id] as number
    return scratch
  }

  function call(kind: CallKind, times = 1): void {
    calls[kind] += times
    addAt(perMinute.calls, minute(), times)
  }

  function minute(): number {
    return Math.floor(clock / MINUTE)
  }

  function pacerKeyEnds(lastUse: number): void {
    addAt(pacerKeyChanges, Math.ceil((lastUse + redis.pacerTtlMs) / MINUTE), -1)
  }

  function noteProgress(): void {
    const share = MILESTONES[milestones.length]
    if (share !== undefined && fetched + refused >= share * sites.urls) milestones.push({ share, at: clock, busyMs })
  }

  /**
   * Worker 0 dies. Its requests are lost, and what it alone may do waits until the death is
   * noticed.
   */
  function die(): void {
    isDead[0] = 1
    free -= crawler.connections - (busy[0] as number)
    if (plan === 'shared') return
    for (let id = 0; id < count; id++) {
      const isOwned = (left[id] as number) > 0 && ownerOf(id) === 0
      if (isOwned && (pushbacks[id] as number) > 0 && (nextSlotAt[id] as number) > noticedAt) death.forgottenPauses++
    }
    const queue = queueOf(0)
    let id = queue.first
    queue.first = -1
    while (id !== -1) {
      const following = next[id] as number
      postpone(id)
      id = following
    }
  }

  function postpone(id: number): void {
    death.delayedOrigins++
    death.delayedUrls += left[id] as number
    wait(id, Math.max(noticedAt, clock + 1))
  }
}

/**
 * What the site asks for after a request, computed without core to compare with. By the value of
 * `Sites.delayOf`.
 */
const askedMs: readonly number[] = [0, ...web.crawlDelays.map(({ delayMs }) => delayMs)].map((delayMs) =>
  Math.min(Math.max(delayMs, crawler.ownDelayMs), crawler.maxDelayMs),
)

/** What a pushback without Retry-After asks for, after this many before it: docs/waiting.md. */
function backoffMs(before: number): number {
  return Math.min(5_000 * 2 ** before, 300_000)
}

function addAt(list: number[], index: number, value: number): void {
  while (list.length <= index) list.push(0)
  list[index] = (list[index] as number) + value
}

/** Returns the largest sum of the first values of a list. */
function largestSum(changes: readonly number[]): number {
  let sum = 0
  return changes.reduce((largest, change) => {
    sum += change
    return Math.max(largest, sum)
  }, 0)
}

/** Returns 32 pseudo-random bits that depend on both numbers. */
function hash(value: number, seed: number): number {
  let bits = Math.imul(value ^ Math.imul(seed, 0x9e3779b1), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
