// Recognises a request that enters the same gate twice, and admits it without a second permit.
//
// That happens if `politely(fetch, { gate })` wraps a fetch whose global dispatcher is
// `politeAgent({ gate })`. With `maxConcurrent: 1` the second permit would wait for the release of
// the first, which would never come.
//
// `permit.run` calls the code that sends the request in a new async context. The context holds a
// `Sending`, which names the permit. If that code calls `gate.enter` for the same URL, the gate
// finds the permit there. Contexts nest, since a request may pass through several gates.
import { OptionError } from '@politely/core'
import { AsyncVariable, describeValue } from '@politely/fetcher/internal'
import { isRedirect } from '../redirects/redirect.ts'
import { watchCodedBody } from './coded-bodies.ts'
import { beginBody, endBody } from './open-bodies.ts'
import type { Permit } from './permit.ts'
import { isResponse, locationOf, type RequestReport } from './request-report.ts'
import { observeSentRequests, type RequestListeners } from './sent-requests.ts'

/** A permit from which a nested permit for the same request can be made. */
export interface NestablePermit extends Permit {
  /**
   * The request has a socket. If `send` enters the gate afterwards, that is a new request.
   */
  endNesting(): void
  /**
   * Reports the response. Unlike `report`, does not end the sending. Only the first report counts.
   * @param sending How the request was sent. Default: with this permit.
   */
  applyResponse(report: RequestReport, sending?: Sending): void
  /**
   * Releases what the next request would wait for: the concurrency limits and, with
   * `pauseFrom: 'end'`, the slots.
   */
  releaseConcurrency(): void
  /** The URLs that led to the URL of the request, as the caller of the gate gave them. */
  readonly redirectedFrom: readonly string[]
}

/** One for all gates. */
const innermost = new AsyncVariable<Sending>()

/**
 * A request that has a permit and is being sent. It ends when the headers of the response arrive:
 * later code in the context is the caller's.
 */
export class Sending {
  readonly #gate: object
  /**
   * Undefined after the end, to free memory: a context lives as long as the sockets that were
   * opened in it.
   */
  #permit: NestablePermit | undefined
  /** The enclosing context: a request that this one is part of, usually through another gate. */
  #outer: Sending | undefined
  /** Whether the request has entered the gate for the second time. */
  #hasNested = false
  /** Whether `send` has used a fetch or an agent that has the same gate. It checks redirects. */
  #hasEntered = false

  constructor(gate: object, permit: NestablePermit) {
    this.#gate = gate
    this.#permit = permit
  }

  run<T>(send: () => T): T {
    if (typeof send !== 'function')
      throw new OptionError(
        'send',
        `${describeValue(send)} is not a function; write permit.run(() => fetch(permit.url, { redirect: 'manual' }))`,
      )
    this.#outer = firstOpen(innermost.getStore())
    observeSentRequests(LISTENERS)
    return innermost.run(this, send)
  }

  /** A request with this path has been sent in the context. */
  saw(path: string): void {
    const permit = this.#permit
    if (permit === undefined) return
    const { url } = permit
    // Most URLs have no fragment and are in normal form. They need no URL parser.
    const isFound = (url.endsWith(path) && !url.includes('#')) || withoutFragment(url).endsWith(path)
    if (isFound) permit.sent()
  }

  /** The permit, until the sending ends. */
  get permit(): NestablePermit | undefined {
    return this.#permit
  }

  end(): void {
    this.#permit = undefined
    this.#outer = firstOpen(this.#outer)
  }

  get outer(): Sending | undefined {
    return this.#outer
  }

  get hasEntered(): boolean {
    return this.#hasEntered
  }

  get isOpen(): boolean {
    return this.#permit !== undefined
  }

  /**
   * Returns the URLs that led to the URL of the request. Empty for the URL of another request that
   * is made while this one is sent.
   */
  sourcesOf(url: string): readonly string[] {
    const { redirectedFrom = [], url: own = '' } = this.#permit ?? {}
    return redirectedFrom.length > 0 && withoutFragment(url) === withoutFragment(own) ? redirectedFrom : []
  }

  isThrough(gate: object): boolean {
    return this.isOpen && this.#gate === gate
  }

  /**
   * Returns a nested permit if this request enters the gate for the second time. For any other
   * request, such as a request for a token or a retry, releases the concurrency limits, so that the
   * other request can start, and returns undefined.
   */
  nestedPermit(url: string): Permit | undefined {
    const outer = this.#permit
    if (outer === undefined) return undefined
    this.#hasEntered = true
    if (this.#hasNested || withoutFragment(url) !== withoutFragment(outer.url)) {
      outer.releaseConcurrency()
      return undefined
    }
    this.#hasNested = true
    return new NestedPermit(this.#gate, outer)
  }
}

/** Returns the request that the calling code is sending with a permit of this gate. */
export function sendingThrough(gate: object): Sending | undefined {
  let sending = innermost.getStore()
  while (sending !== undefined && !sending.isThrough(gate)) sending = sending.outer
  return sending
}

/** Calls `endNesting` of a permit that a gate has granted. A permit of the caller's own has none. */
export function endNesting(permit: Permit): void {
  ;(permit as Partial<NestablePermit>).endNesting?.()
}

/** The lines of X-Robots-Tag in the response to the request of a permit. */
const robotsTags = new WeakMap<Permit, readonly string[]>()

/** Returns the lines of X-Robots-Tag in the response, if undici received it and they matter. */
export function robotsTagsOfPermit(permit: Permit): readonly string[] | undefined {
  return robotsTags.get(permit)
}

/**
 * A property of a request of undici: its permits. It may have several: see `NestedPermit`. A WeakMap
 * would take a tenth of the time that the gate needs for a page.
 */
const PERMITS: unique symbol = Symbol('politely.permits')
type RequestOfUndici = { [PERMITS]?: readonly NestablePermit[] }

const LISTENERS: RequestListeners = {
  onSent: (path) => {
    for (let open = firstOpen(innermost.getStore()); open !== undefined; open = firstOpen(open.outer)) open.saw(path)
  },
  // The sending may end before the headers of the response arrive.
  onCreated: (request) => {
    const permits = openPermits()
    if (permits !== undefined) (request as RequestOfUndici)[PERMITS] = permits
  },
  onRobotsTags: (request, lines) => {
    for (const permit of (request as RequestOfUndici)[PERMITS] ?? []) robotsTags.set(permit, lines)
  },
  onHeaders: (request, status, headers) => {
    watchCodedBody(request, (request as RequestOfUndici)[PERMITS], status, headers)
    beginBody(request, (request as RequestOfUndici)[PERMITS])
  },
  onHttpRequest: (request) => {
    beginBody(request, openPermits())
    request.once('close', () => endBody(request))
  },
}

/** Returns the permits of the request that is being sent. */
function openPermits(): readonly NestablePermit[] | undefined {
  const first = firstOpen(innermost.getStore())
  if (first?.permit === undefined) return undefined
  const permits = [first.permit]
  for (let open = firstOpen(first.outer); open?.permit !== undefined; open = firstOpen(open.outer))
    permits.push(open.permit)
  return permits
}

function firstOpen(sending: Sending | undefined): Sending | undefined {
  let open = sending
  while (open !== undefined && !open.isOpen) open = open.outer
  return open
}

function withoutFragment(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null) return url
  parsed.hash = ''
  return parsed.href
}

/** A second permit for a request that has one. It holds no concurrency limit. */
class NestedPermit implements NestablePermit {
  readonly waitedMs = 0
  readonly waitedFor = 'none'
  readonly waitedLevel = undefined
  readonly url: Permit['url']
  readonly verdict: Permit['verdict']
  readonly delay: Permit['delay']
  readonly redirectedFrom: NestablePermit['redirectedFrom']
  readonly #outer: NestablePermit
  readonly #sending: Sending
  #hasSocket = false

  constructor(gate: object, outer: NestablePermit) {
    this.url = outer.url
    this.verdict = outer.verdict
    this.delay = outer.delay
    this.redirectedFrom = outer.redirectedFrom
    this.#outer = outer
    this.#sending = new Sending(gate, this)
  }

  run<T>(send: () => T): T {
    return this.#sending.run(send)
  }

  report(report: RequestReport): void {
    this.#sending.end()
    this.applyResponse(report)
  }

  applyResponse(report: RequestReport, sending: Sending = this.#sending): void {
    this.#outer.applyResponse(report, sending)
    // The adapter follows the redirect before the caller can release the outer permit.
    if (isResponse(report) && isRedirect(report.status, locationOf(report))) this.releaseConcurrency()
  }

  releaseConcurrency(): void {
    this.#outer.releaseConcurrency()
  }

  sent(): void {
    this.#outer.sent()
  }

  endNesting(): void {
    this.#hasSocket = true
    this.#sending.end()
    this.#outer.endNesting()
  }

  release(report?: RequestReport): void {
    this.#sending.end()
    try {
      if (report !== undefined) this.applyResponse(report)
    } finally {
      // A sent request has ended now. `send` may make another request before the caller releases
      // the outer permit, such as a retry. After `endNesting` the gate does not recognise the other
      // request as part of `send`, so the limits must be free before the other request enters.
      if (this.#hasSocket) this.releaseConcurrency()
    }
  }

  [Symbol.dispose](): void {
    this.release()
  }
}
