// The requests that rest because the circuit of their origin is open.
//
// Such a request leaves the line of its lane and rests here, so that it doesn't
// delay other origins of the same lane. When a probe may start, the first of them goes back to its
// lane, and becomes the probe if the keeper agrees. If the circuit closes, all go back, in order of
// arrival. If the probe fails, all are rejected, or with `whenOpen: 'wait'` they rest again.
import type { ClientVerdict } from '@politely/fetcher'
import { type Linked, LinkedList, MAX_TIMER_MS } from '@politely/fetcher/internal'

/** A URL that robots.txt allows: an `AllowedCheck`. */
export interface RestingUrl {
  readonly origin: string
  readonly verdict: ClientVerdict
}

/** A request that may rest. */
export interface RestingRequest extends Linked<RestingRequest> {
  readonly check: RestingUrl
  /** Whether it has neither started nor ended. */
  readonly isWaiting: boolean
  hasRested: boolean
  fail(error: unknown): void
}

/** The lane of a resting request. */
export interface RestingLane {
  /** A request of this lane begins to rest. */
  rests(): void
  /**
   * It goes back to the line: `first` to its front, `in-order` before the requests that arrived later.
   * `gone`: it has ended.
   */
  resume(request: RestingRequest, to: 'first' | 'in-order' | 'gone'): void
  advance(): void
}

/** How often the line looks whether the request that is to become the probe has ended. */
const LOOK_MS = 1_000

export class RestingLine {
  /** Returns how long no probe may start. Milliseconds. */
  readonly #probeInMs: () => number
  readonly #resting = new LinkedList<RestingRequest>()
  readonly #laneOf = new WeakMap<RestingRequest, RestingLane>()
  /** The request that is to become the probe, if it has gone back to its lane. */
  #candidate: RestingRequest | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(probeInMs: () => number) {
    this.#probeInMs = probeInMs
  }

  /** A request rests. The first to become the probe keeps its position. */
  rest(request: RestingRequest, lane: RestingLane): void {
    this.#laneOf.set(request, lane)
    if (this.#candidate === request) {
      this.#candidate = undefined
      this.#resting.addFirst(request)
    } else this.#resting.add(request)
    request.hasRested = true
    lane.rests()
    this.arm()
  }

  /** A request has ended, wherever it was. */
  remove(request: RestingRequest): void {
    if (this.#resting.delete(request)) {
      this.#laneOf.get(request)?.resume(request, 'gone')
      if (this.#resting.size === 0) this.arm() // ends the timer
    } else if (this.#candidate === request) {
      this.#candidate = undefined
      this.arm(1)
    }
  }

  /** All requests go back to their lanes. */
  resumeAll(): void {
    this.#candidate = undefined
    const lanes = new Set<RestingLane>()
    for (const request of this.#resting) {
      this.#resting.delete(request)
      const lane = this.#laneOf.get(request) as RestingLane
      lane.resume(request, 'in-order')
      lanes.add(lane)
    }
    this.arm()
    for (const lane of lanes) lane.advance()
  }

  /** @param errorOf Returns the error for a request. */
  rejectAll(errorOf: (request: RestingRequest) => unknown): void {
    for (const request of this.#resting) {
      this.#resting.delete(request)
      request.fail(errorOf(request))
      this.#laneOf.get(request)?.resume(request, 'gone')
    }
    this.arm()
  }

  /** Starts the timer for the next probe, if requests rest. */
  arm(waitMs: number = Math.max(1, this.#probeInMs())): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#resting.size === 0) return
    this.#timer = setTimeout(() => this.#sendProbe(), Math.min(Math.ceil(waitMs), MAX_TIMER_MS))
  }

  #sendProbe(): void {
    this.#timer = undefined
    const request = this.#resting.first
    if (request === undefined) return
    if (this.#probeInMs() > 0)
      this.arm() // the timer uses another clock
    else if (this.#candidate?.isWaiting) this.arm(LOOK_MS)
    else {
      this.#resting.delete(request)
      this.#candidate = request
      this.arm(LOOK_MS)
      const lane = this.#laneOf.get(request) as RestingLane
      lane.resume(request, 'first')
      lane.advance()
    }
  }
}
