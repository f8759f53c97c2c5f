// PoliteGate: lets a request leave when robots.txt allows it and its turn has come.
import type { LookupFunction } from 'node:net'
import { type HasHref, isPushback, OptionError, type PaceLimits, type PageResponse } from '@politely/core'
import { type BlockedAddressError, type ClientVerdict, RobotsClient, registrableDomainOf } from '@politely/fetcher'
import { linkSignals, onAbort } from '@politely/fetcher/abort-listeners'
import { callable } from '@politely/fetcher/option-checks'
import { type GateCounters, Tally } from './counters.ts'
import { GateClosedError, OpenRedirectError, RobotsDisallowedError } from './errors.ts'
import { channels } from './events.ts'
import { type Forecast, retryAtOf } from './forecast.ts'
import { LocalPacer } from './local-pacer.ts'
import { OpenRedirects } from './open-redirects.ts'
import { type PaceKey, paceKey } from './pace-by.ts'
import type { Pacer } from './pacer.ts'
import { checkedEstimate } from './pacer-checks.ts'
import { type Pacing, type PacingOptions, pacingOf } from './pacing.ts'
import type { Permit } from './permit.ts'
import { isPromise, KeyQueue, type Shared, type TakenSlot, type WaitReason } from './queue.ts'
import { type AllowedVerdict, type GrantedPermit, type House, QueuedRequest } from './queued-request.ts'
import { RedirectTargets } from './redirect-targets.ts'
import { sendingThrough } from './sending.ts'
import { Slots } from './slots.ts'

export interface PoliteGateOptions extends PacingOptions {
  /** Who knows what robots.txt says. It stays yours to close. */
  readonly robots: RobotsClient
  /** A clock in milliseconds since 1970 that never goes back. For tests and simulations. */
  readonly now?: () => number
  /** Your own resolver, in the form of `dns.lookup`; used where `paceBy` is `address`. */
  readonly lookup?: LookupFunction | undefined
}

export interface EnterOptions {
  /** Aborting it gives the turn back, and rejects with the signal's reason. */
  readonly signal?: AbortSignal | null
}

/** What stands at one key now. JSON-safe. */
export interface QueueState {
  /** An origin, or what `paceBy` says. */
  readonly key: string
  readonly waiting: number
  readonly underWay: number
  /** What the first one waits for. */
  readonly heldBy: WaitReason | undefined
}

export class PoliteGate implements AsyncDisposable {
  readonly #robots: RobotsClient
  readonly #pacing: Pacing
  readonly #now: () => number
  readonly #pacer: Pacer
  readonly #keyOf: PaceKey
  /** Of keys with somebody who waits or is under way. What is remembered of the others, the pacer knows. */
  readonly #queues = new Map<string, KeyQueue>()
  readonly #slots: Slots
  readonly #closing = new AbortController()
  readonly #tally = new Tally()
  readonly #redirects: RedirectTargets
  readonly #openRedirects = new OpenRedirects()
  readonly #shared: Shared
  readonly #house: House
  /** Calls of `enter` whose request is not over yet, and what is held. */
  #inside = 0
  readonly #draining = new Set<() => void>()

  /** @throws {OptionError} for an option that cannot be used. */
  constructor(options: PoliteGateOptions) {
    const { robots, now, lookup, ...pacing } = options ?? {}
    if (!(robots instanceof RobotsClient))
      throw new OptionError('robots', 'must be a RobotsClient; write new RobotsClient({ userAgent })')
    this.#robots = robots
    this.#pacing = pacingOf(pacing, lookup)
    this.#now =
      callable('now', now, 'a function that returns milliseconds') ?? (() => performance.timeOrigin + performance.now())
    this.#redirects = new RedirectTargets(this.#now)
    this.#pacer = this.#pacing.pacer ?? new LocalPacer(this.#now)
    this.#keyOf = paceKey(this.#pacing.paceBy, lookup)
    this.#slots = new Slots(this.#pacing)
    this.#shared = {
      now: this.#now,
      pacer: this.#pacer,
      maxConcurrentPerKey: this.#pacing.maxConcurrentPerOrigin,
      slots: this.#slots,
      pacerFailed: (key, error) => this.#pacerFailed(key, error),
      emptied: (queue) => this.#forget(queue),
    }
    this.#house = {
      gate: this,
      now: this.#now,
      tally: this.#tally,
      wishesOf: (verdict) => this.#wishesOf(verdict),
      allowed: (page, signal) => this.#allowed(page, signal),
      allowedNow: (page) => this.#allowedNow(page),
      departed: (key, { ticket, delay }) => this.#tellPacer(key, () => this.#pacer.started?.(key, ticket, delay)),
      redirected: (url, status, location) => this.#redirects.note(url, status, location),
      report: (key, slot, answer) => this.#report(key, slot, answer),
      free: (queue, domain) => this.#free(queue, domain),
      over: () => this.#oneLess(),
    }
  }

  /** Who knows what robots.txt says. */
  get robots(): RobotsClient {
    return this.#robots
  }

  /** A snapshot of what was counted since the gate was made. */
  get counters(): GateCounters {
    return this.#tally.snapshot()
  }

  /** Where somebody waits or is under way. */
  queues(): readonly QueueState[] {
    return Array.from(this.#queues.values(), ({ key, waiting, underWay, heldBy }) => ({
      key,
      waiting,
      underWay,
      heldBy,
    }))
  }

  /**
   * Waits until a request for this URL may leave.
   * @throws {RobotsDisallowedError} where robots.txt does not allow it: at once, or at its turn if the rules have changed since.
   * @throws {GateClosedError} after `close`; the signal's reason after an abort; what a pacer of your own throws.
   */
  async enter(url: string | HasHref, { signal }: EnterOptions = {}): Promise<Permit> {
    const abort = signal ?? undefined
    const again = sendingThrough(this)?.nestedPermit(typeof url === 'string' ? url : url.href)
    if (again !== undefined) {
      abort?.throwIfAborted()
      return again
    }
    this.#inside++
    try {
      let verdict = await this.#allowed(url, abort)
      const found = this.#keyOf(verdict.origin)
      const key = isPromise(found) ? await this.#inTime(abort, (ends) => orAbort(found, ends)) : found
      if (isPromise(found)) verdict = await this.#allowed(url, abort) // the rules may have changed meanwhile
      this.#closing.signal.throwIfAborted()
      abort?.throwIfAborted()
      const entrant = new QueuedRequest(this.#house, verdict, this.#queueOf(key), abort)
      const turn = entrant.turn()
      const pass = isPromise(turn) ? await turn : turn
      if (abort?.aborted) entrant.withdraw(abort.reason)
      abort?.throwIfAborted()
      return started(pass)
    } catch (error) {
      this.#oneLess()
      throw error
    }
  }

  /**
   * Asks for what is requested along with something else, and waits for no turn: a refusal is counted and told as one of `enter` is.
   * @throws {GateClosedError} after `close`; the signal's reason after an abort.
   */
  async check(url: string | HasHref, { signal }: EnterOptions = {}): Promise<ClientVerdict> {
    const verdict = await this.#ask(url, signal ?? undefined)
    if (!isAllowed(verdict)) this.#refused(verdict)
    return verdict
  }

  /**
   * When could a request for this URL leave, and who has the last word on it? Takes no turn, and waits for nothing but robots.txt, where
   * that is not known.
   * @throws {GateClosedError} after `close`; the signal's reason after an abort.
   */
  async when(url: string | HasHref, { signal }: EnterOptions = {}): Promise<Forecast> {
    const verdict = await this.#ask(url, signal ?? undefined)
    if (!isAllowed(verdict)) return { allowed: false, verdict, retryAt: retryAtOf(verdict) }
    const found = this.#keyOf(verdict.origin)
    const key = isPromise(found) ? await this.#inTime(signal ?? undefined, (ends) => orAbort(found, ends)) : found
    const queue = this.#queues.get(key)
    const ahead = queue?.waiting ?? 0
    const { waitMs, because } = checkedEstimate(await this.#pacer.estimate(key, this.#wishesOf(verdict), ahead))
    const { maxConcurrentPerOrigin } = this.#pacing
    const isFull =
      (queue?.underWay ?? 0) >= maxConcurrentPerOrigin || this.#slots.isFull(registrableDomainOf(verdict.origin))
    const lastWord = isFull && waitMs === 0 ? 'concurrency' : because
    return { allowed: true, verdict, at: this.#now() + waitMs, waitMs, because: lastWord, ahead }
  }

  /**
   * Resolves as soon as nobody waits and nothing is under way. It closes nothing: who comes meanwhile is let in, and waited for too, so that
   * a redirect or a page's links still find their way. Our choice. To end a crawl: add nothing, `await gate.drain()`, `gate.close()`.
   */
  async drain(): Promise<void> {
    while (this.#inside > 0) await new Promise<void>((resolve) => this.#draining.add(resolve))
  }

  /** Rejects everyone who waits and whoever comes later; passes stay good. The RobotsClient, and a pacer that you gave, stay open. */
  close(): void {
    if (this.#closing.signal.aborted) return
    const error = new GateClosedError()
    this.#closing.abort(error)
    for (const queue of [...this.#queues.values()]) queue.clear(error)
  }

  /** Closes the gate. It does not wait for who is under way: `drain` does. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
  }

  /** @internal A redirect has freed its slot, and its body may never end. See `OpenRedirects.add`. */
  openRedirect(url: string, close: (error: OpenRedirectError) => void): () => void {
    return this.#openRedirects.add(registrableDomainOf(url), () => close(new OpenRedirectError(url)))
  }

  /** @internal Throws as `enter` does for a host at a blocked address. */
  refuse(url: string, refusal: BlockedAddressError): never {
    const verdict = this.#robots.blockedVerdict(url, refusal)
    this.#refused(verdict)
    throw new RobotsDisallowedError(verdict)
  }

  /** @internal The URLs whose redirects led to this one, in their order, as far as requests through this gate have shown them. */
  redirectedFrom(url: string): readonly string[] {
    return this.#redirects.to(url)
  }

  /** @internal Something is going on that may enter again, such as a redirect: `drain` waits for it. Call what is returned, once. */
  hold(): () => void {
    this.#inside++
    return () => this.#oneLess()
  }

  async #allowed(url: string | HasHref, signal: AbortSignal | undefined): Promise<AllowedVerdict> {
    const verdict = await this.#ask(url, signal)
    return this.#orThrow(verdict)
  }

  /** The same, if the verdict is known without a fetch; otherwise undefined. */
  #allowedNow(url: string): AllowedVerdict | undefined {
    const verdict = this.#robots.checkNow(url)
    return verdict && this.#orThrow(verdict)
  }

  #orThrow(verdict: ClientVerdict): AllowedVerdict {
    if (isAllowed(verdict)) return verdict
    this.#refused(verdict)
    throw new RobotsDisallowedError(verdict)
  }

  #refused(verdict: ClientVerdict): void {
    this.#tally.refused(verdict.because)
    if (channels.refuse.hasSubscribers) {
      channels.refuse.publish({ gate: this, at: this.#now(), url: verdict.url, verdict })
    }
  }

  /** Asks robots.txt. A verdict that is known needs no signal. */
  async #ask(url: string | HasHref, signal: AbortSignal | undefined): Promise<ClientVerdict> {
    this.#closing.signal.throwIfAborted()
    signal?.throwIfAborted()
    const redirectedFrom = this.#redirects.to(typeof url === 'string' ? url : url.href)
    const known = redirectedFrom.length === 0 ? this.#robots.checkNow(url) : undefined
    return known ?? this.#inTime(signal, (ends) => this.#robots.check(url, { signal: ends, redirectedFrom }))
  }

  /**
   * Does something that ends with the gate, and with the signal. `return await` in both cases: two who come in one turn, one with a signal,
   * stay in their order.
   */
  async #inTime<T>(signal: AbortSignal | undefined, work: (ends: AbortSignal) => Promise<T>): Promise<T> {
    const closing = this.#closing.signal
    closing.throwIfAborted()
    if (signal === undefined) return await work(closing)
    signal.throwIfAborted()
    const linked = linkSignals([signal, closing])
    try {
      return await work(linked.signal)
    } finally {
      linked.unlink()
    }
  }

  #wishesOf({ crawlDelayMs, requestRates, visitTimes }: AllowedVerdict): PaceLimits {
    const { minDelayMs: ownDelayMs, maxDelayMs } = this.#pacing
    return { ownDelayMs, maxDelayMs, crawlDelayMs, requestRates, visitTimes }
  }

  #queueOf(key: string): KeyQueue {
    let queue = this.#queues.get(key)
    if (queue === undefined) {
      queue = new KeyQueue(key, this.#shared)
      this.#queues.set(key, queue)
    }
    return queue
  }

  #forget(queue: KeyQueue): void {
    if (this.#queues.get(queue.key) === queue) this.#queues.delete(queue.key)
  }

  /** Frees the slot of a request. Its own queue is called last: others may have waited longer for the slot. */
  #free(queue: KeyQueue, domain: string): void {
    queue.finished()
    this.#slots.release(domain)
    queue.advance()
  }

  #oneLess(): void {
    this.#inside--
    if (this.#inside > 0 || this.#draining.size === 0) return
    const draining = [...this.#draining]
    this.#draining.clear()
    for (const resolve of draining) resolve()
  }

  #report(key: string, slot: TakenSlot, answer: PageResponse | undefined): void {
    if (answer !== undefined && isPushback(answer)) this.#tally.pushbacks++
    this.#tellPacer(key, () => this.#pacer.report(key, slot.ticket, answer))
  }

  /** A pacer that fails here cannot fail the request, which has its turn already. */
  #tellPacer(key: string, tell: () => unknown): void {
    try {
      const told = tell()
      if (isPromise(told)) Promise.resolve(told).catch((error: unknown) => this.#pacerFailed(key, error))
    } catch (error) {
      this.#pacerFailed(key, error)
    }
  }

  #pacerFailed(key: string, error: unknown): void {
    this.#tally.failures++
    if (channels.failure.hasSubscribers) channels.failure.publish({ gate: this, at: this.#now(), key, error })
  }
}

/** A pass that cannot be handed over gives its slot back. */
function started(pass: GrantedPermit): GrantedPermit {
  try {
    pass.depart()
    return pass
  } catch (error) {
    pass.withdraw()
    throw error
  }
}

function isAllowed(verdict: ClientVerdict): verdict is AllowedVerdict {
  return verdict.allowed
}

/** What comes of it, or the signal's reason, if that is aborted before. */
function orAbort<T>(coming: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const unlisten = onAbort(signal, () => reject(signal.reason))
    coming.then(resolve, reject).finally(unlisten)
  })
}
