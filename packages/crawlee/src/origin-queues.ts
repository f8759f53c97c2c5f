// The requests of a crawl that have not passed the gate: a queue for each origin, and what all
// hosts of a registrable domain share.
//
// A queue keeps its requests in order of arrival. The first request moves through the states that
// deferred-requests.ts lists; the others are `deferred`. In two cases, several requests of a queue
// are in the pool. With `deferBeyondMs: Infinity`, no request is deferred. While the crawl ends,
// the requests of aborted tasks aren't deferred.
//
// `enter` is the only function that changes a state. It also updates what follows from the state:
// the queue, the counts of the domain, and the set `ready`.
//
// Example: a domain with two hosts, whose concurrency limit is reached.
//
//   queue of https://a.example.com   /1 at-gate, /2 deferred, /3 deferred
//   queue of https://b.example.com   /1 ready, but has no room; /2 deferred
//   domain example.com               on the way 0, at the gate 1
import type { Request } from '@crawlee/basic'
import { registrableDomainOf } from '@politely/fetcher'
import type { OuterLane } from '@politely/gate/internal'
import type { RequestSource } from './crawlee-internals.ts'

/**
 * How many requests of one registrable domain may be in the pool without having reached the gate.
 * Our choice.
 */
const MAX_ON_THE_WAY = 4

/**
 * Where a request is in each state. The lock of a request that is outside of the pool is short, and
 * is renewed.
 */
const PLACES = {
  arriving: 'queue',
  deferred: 'outside',
  estimating: 'outside',
  ready: 'outside',
  taken: 'way',
  'on-the-way': 'way',
  'at-gate': 'gate',
  passed: 'behind',
  gone: 'behind',
} as const

export type RequestState = keyof typeof PLACES

export interface TrackedRequest {
  /** Identifies the request in Crawlee's queue. */
  readonly key: string
  readonly queue: OriginQueue
  readonly source: RequestSource
  request: Request
  state: RequestState
  /** The timer that ends the state, if there is one. */
  timer?: NodeJS.Timeout | undefined
  /** The pending estimate of its wait. */
  estimate?: Promise<number> | undefined
  /** Whether it would then wait for a concurrency limit that all hosts of its domain share. */
  isDomainFull?: boolean
  /** Settles when the last change of the request's lock is done. Never rejects. */
  locked: Promise<void>
  /**
   * Whether Crawlee's queue has delivered the request once more since it was admitted to the pool:
   * its lock has expired, or a retry was queued before the failed task ended.
   */
  isDeliveredAgain: boolean
}

/** The requests of one origin that have not passed the gate, in the order in which they came. */
export interface OriginQueue {
  readonly origin: string
  readonly domain: Domain
  readonly requests: Set<TrackedRequest>
  /** The gate has refused requests until this time, and none goes to the pool before. `performance.now()`. */
  restsUntil: number
  /** The lane of the last estimate. The gate keeps the turn of the queue in it. */
  lane: OuterLane | undefined
}

/**
 * A registrable domain. A site may have any number of hosts, and their requests share a concurrency
 * limit. If all these requests waited for the limit in the pool, no task would be left for other
 * sites.
 */
export interface Domain {
  readonly name: string
  /** How many of its origins have a queue. */
  queues: number
  /** How many estimates of its requests are pending. */
  pendingEstimates: number
  /** How many of its requests are in the pool, and have not reached the gate. */
  onTheWay: number
  /** How many of its requests wait at the gate. */
  atGate: number
}

export class OriginQueues {
  /** The requests in the state `ready`, in the order in which they entered it. */
  readonly ready: Set<TrackedRequest> = new Set()
  /** All requests that are not gone, by key. */
  readonly requests: Map<string, TrackedRequest> = new Map()
  readonly #queues = new Map<string, OriginQueue>()
  readonly #domains = new Map<string, Domain>()

  get all(): Iterable<OriginQueue> {
    return this.#queues.values()
  }

  /** Adds an arriving request to the queue of an origin. */
  add(origin: string, request: Request, source: RequestSource): TrackedRequest {
    const fresh = { state: 'arriving', locked: Promise.resolve(), isDeliveredAgain: false } as const
    const tracked = { key: requestKeyOf(request), queue: this.#queueOf(origin), source, request, ...fresh }
    this.requests.set(tracked.key, tracked)
    tracked.queue.requests.add(tracked)
    return tracked
  }

  /** Changes the state of a request. Ends its timer. */
  enter(tracked: TrackedRequest, state: RequestState): void {
    const { queue, state: last } = tracked
    const { domain } = queue
    clearTimeout(tracked.timer)
    tracked.timer = undefined
    tracked.state = state
    domain.onTheWay += Number(PLACES[state] === 'way') - Number(PLACES[last] === 'way')
    domain.atGate += Number(PLACES[state] === 'gate') - Number(PLACES[last] === 'gate')
    if (last === 'ready') this.ready.delete(tracked)
    if (state === 'ready') this.ready.add(tracked)
    if (PLACES[state] === 'behind') queue.requests.delete(tracked)
    if (state === 'gone') this.requests.delete(tracked.key)
  }

  /** Deletes an empty queue. */
  delete(queue: OriginQueue): void {
    const { origin, domain } = queue
    attach(queue, undefined) // an estimate may have ended after `clear`
    if (this.#queues.get(origin) !== queue) return
    this.#queues.delete(origin)
    domain.queues--
    if (domain.queues === 0) this.#domains.delete(domain.name)
  }

  /** Forgets all queues. */
  clear(): void {
    for (const queue of this.#queues.values()) attach(queue, undefined)
    this.#queues.clear()
    this.#domains.clear()
  }

  #queueOf(origin: string): OriginQueue {
    const known = this.#queues.get(origin)
    if (known !== undefined) return known
    const domain = this.#domainOf(registrableDomainOf(origin))
    const queue: OriginQueue = { origin, domain, requests: new Set(), restsUntil: 0, lane: undefined }
    this.#queues.set(origin, queue)
    domain.queues++
    return queue
  }

  #domainOf(name: string): Domain {
    const known = this.#domains.get(name)
    if (known !== undefined) return known
    const domain: Domain = { name, queues: 0, pendingEstimates: 0, onTheWay: 0, atGate: 0 }
    this.#domains.set(name, domain)
    return domain
  }
}

/** From now on the turn of a queue is in this lane. */
export function attach(queue: OriginQueue, lane: OuterLane | undefined): void {
  if (lane === queue.lane || (lane !== undefined && queue.requests.size === 0)) return
  lane?.attach()
  queue.lane?.detach()
  queue.lane = lane
}

export function isDeferred({ state }: TrackedRequest): boolean {
  return PLACES[state] === 'outside'
}

export function isApproaching({ state }: TrackedRequest): boolean {
  return PLACES[state] === 'way' || PLACES[state] === 'gate'
}

/**
 * Returns whether the other requests of its domain leave room for a request in the pool. While the
 * concurrency limit of the domain is reached, one request waits for it at the gate.
 */
export function hasRoom(tracked: TrackedRequest): boolean {
  const { atGate, onTheWay } = tracked.queue.domain
  const others = onTheWay - Number(tracked.state === 'taken') // which counts already
  return tracked.isDomainFull ? atGate + others === 0 : others < MAX_ON_THE_WAY
}

export function requestKeyOf({ id, uniqueKey }: Request): string {
  return id ?? uniqueKey
}
