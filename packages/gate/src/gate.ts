// PoliteGate: starts a request when robots.txt allows it and a slot is free.
//
// ARCHITECTURE.md lists the files through which a request passes, in their order.
import { debuglog } from 'node:util'
import { escapeControls, type HasHref, OptionError } from '@politely/core'
import { isOfClass, markClass, otherCopyProblem } from '@politely/core/engine'
import { type ClientVerdict, RobotsClient, withoutCredentials } from '@politely/fetcher'
import {
  assertKnown,
  assertOptions,
  callable,
  clientPort,
  describeValue,
  urlText,
  watchFakeTimers,
  withMethods,
} from '@politely/fetcher/internal'
import { enterArguments, type WhenArguments, whenArguments } from './options/enter-arguments.ts'
import type { EnterOptions, GateCheckOptions, PoliteGateOptions, WhenOptions } from './options/gate-options.ts'
import { GATE_OPTIONS, OPTIONS_ELSEWHERE, paceLimitsOf, pacingOf } from './options/pacing.ts'
import { sitePacingBy } from './options/site-pacing.ts'
import { isPromise } from './pace/is-promise.ts'
import { LocalPacer } from './pace/local-pacer.ts'
import { LocalStarts } from './pace/local-starts.ts'
import type { Permit } from './permit/permit.ts'
import { sendingThrough } from './permit/sending.ts'
import { Activity } from './queue/activity.ts'
import { Budgets } from './queue/budgets.ts'
import { CheckedPacer } from './queue/checked-pacer.ts'
import { ConcurrencyLimit } from './queue/concurrency-limit.ts'
import { Disobedience } from './queue/disobedience.ts'
import { estimateWait } from './queue/estimate.ts'
import type { GateContext } from './queue/gate-context.ts'
import { OpenPermits } from './queue/open-permits.ts'
import { type PaceKeys, type PaceKeysOf, paceKeysBy } from './queue/pace-by.ts'
import { RequestQueue } from './queue/queue.ts'
import { QueuedRequest } from './queue/queued-request.ts'
import { RobotsCheck } from './queue/robots-check.ts'
import { RobotsPauses } from './queue/robots-pauses.ts'
import { SharedLimits } from './queue/shared-limit.ts'
import { OpenRedirects } from './redirects/open-redirects.ts'
import { RedirectTargets } from './redirects/redirect-targets.ts'
import type { AllowedVerdict } from './report/allowed-verdict.ts'
import { Counters, type GateCounters } from './report/counters.ts'
import { causeText, GateClosedError } from './report/errors.ts'
import type { EventSource, ReportingGate } from './report/events.ts'
import type { Forecast } from './report/forecast.ts'
import { GateLog } from './report/gate-log.ts'
import type { GateGauges } from './report/gauges.ts'
import { Progress, warnOfProgress } from './report/progress.ts'
import type { QueueState } from './report/queue-state.ts'

/** Whether permits remember where they entered the gate: with `NODE_DEBUG=politely`. */
const isTracing = debuglog('politely').enabled

/** What the HTTP clients of this package need of a gate beside its public methods. */
type GatePort = Pick<GateContext, 'activity' | 'now' | 'openRedirects' | 'pacing' | 'redirects' | 'robots'>

/** Returns the port of a gate. The class sets this function, since the context is private there. */
export let gatePort: (gate: PoliteGate) => GatePort

/**
 * Like `gate.when`, for an adapter that keeps a request elsewhere until its turn, and enters the
 * gate then. A pacer in another process may count the request as waiting.
 */
export let forecastEntry: (gate: PoliteGate, url: string, redirectedFrom: readonly string[]) => Promise<Forecast>

/**
 * Starts each request when robots.txt allows it and a slot is free. `enter` checks the URL with the
 * RobotsClient, and then waits for the delay that the caller and the site ask for, and for the
 * concurrency limits. Requests with the same pace key start in order of arrival. `politely`,
 * `politeHttpAgent` and `politeAgent` call `enter` for every request of an HTTP client.
 *
 * @example
 * ```ts
 * import { RobotsClient } from '@politely/fetcher'
 * import { PoliteGate } from '@politely/gate'
 *
 * const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0 (+https://example.com/bot)' })
 * const gate = new PoliteGate({ robots, minDelayMs: 2_000 })
 * const permit = await gate.enter('https://example.com/page')
 * try {
 *   const headers = { 'user-agent': robots.userAgent }
 *   permit.report(await permit.run(() => fetch(permit.url, { headers, redirect: 'manual' })))
 * } finally {
 *   permit.release()
 * }
 * gate.close()
 * await robots.close()
 * ```
 */
export class PoliteGate implements AsyncDisposable, ReportingGate {
  readonly #robots: RobotsClient
  readonly #context: GateContext
  /** By pace key: each queue that has a request waiting or under way. */
  readonly #queues = new Map<string, RequestQueue>()
  readonly #paceKeysOf: PaceKeysOf
  readonly #disobedience: Disobedience
  readonly #closing = new AbortController()
  readonly #progress: Progress | undefined = undefined

  static {
    gatePort = (gate) => gate.#context
    forecastEntry = (gate, url, redirectedFrom) => gate.#forecast(url, whenArguments({ redirectedFrom }), true)
    markClass('PoliteGate', PoliteGate)
  }

  /** @throws {OptionError} for an invalid or unknown option. */
  constructor(options: PoliteGateOptions) {
    const given = ['RobotsClient', 'PoliteGate'].find((name) => isOfClass(name, options))
    if (given !== undefined)
      throw new OptionError('options', `a ${given} was given instead of options; write new PoliteGate({ robots })`)
    assertOptions(options, '{ robots: new RobotsClient({ userAgent }) }')
    const { robots, now: clock, lookup, logger, ...pacingOptions } = options
    assertRobots(robots)
    assertKnown(options, GATE_OPTIONS, OPTIONS_ELSEWHERE)
    const pacing = pacingOf(pacingOptions)
    const { timeOrigin } = performance
    const now = callable('now', clock, 'a function that returns milliseconds') ?? (() => timeOrigin + performance.now())
    const ownLogger = withMethods('logger', logger, [], 'an object with debug, info or warn, such as console')
    const redirects = new RedirectTargets(now)
    const source: EventSource = { gate: this, now, counters: new Counters() }
    this.#robots = robots
    const sitePacingOf = sitePacingBy(pacing)
    this.#paceKeysOf = paceKeysBy(
      pacing,
      sitePacingOf,
      callable('lookup', lookup, 'a function like dns.lookup'),
      this.#closing.signal,
    )
    const ownPacer = pacing.pacer ?? new LocalPacer(clock)
    const pacer = new CheckedPacer(ownPacer, source)
    const port = clientPort(robots)
    const log = new GateLog(ownLogger ?? port.logger(), now)
    this.#disobedience = new Disobedience(sitePacingOf, source.counters, log)
    const paceKeysOf = this.#paceKeysOf
    const robotsPauses = new RobotsPauses({ pacer, pacing, log, paceKeysOf, now: port.now })
    const sight = { isSendingSeen: true }
    this.#context = {
      ...source,
      log,
      pacing,
      pacer,
      concurrency: new ConcurrencyLimit(pacing, now),
      robots: new RobotsCheck(robots, redirects, robotsPauses, this.#closing.signal, source, this.#disobedience.admits),
      robotsPauses,
      redirects,
      openRedirects: new OpenRedirects(),
      activity: new Activity(),
      sharedLimits: new SharedLimits({ pacer, now, sight }),
      openPermits: new OpenPermits(log, pacing.releaseWarningMs, this.#queues),
      sight,
      budgets: pacing.budget === undefined ? undefined : new Budgets(pacing.budget),
      localStarts: ownPacer instanceof LocalPacer && clock === undefined ? new LocalStarts(ownPacer) : undefined,
    }
    if (pacing.progressMs !== undefined) {
      if (log.informs) this.#progress = new Progress(this, log, pacing.progressMs)
      else warnOfProgress(pacing.progressMs)
    }
  }

  /** The client that fetches and caches robots.txt. */
  get robots(): RobotsClient {
    return this.#robots
  }

  /** A snapshot of what the gate has counted since it was created. */
  get counters(): GateCounters {
    return this.#context.counters.snapshot()
  }

  /** The present size of the gate: its queues, and the requests that wait or are under way. */
  get gauges(): GateGauges {
    const { now, openPermits } = this.#context
    const queues = [...this.#queues.values()]
    const { oldest } = openPermits
    const waitingSince = queues.map((queue) => queue.waitingSince ?? Number.POSITIVE_INFINITY)
    const at = now()
    return {
      queues: queues.length,
      waiting: queues.reduce((sum, { waiting }) => sum + waiting, 0),
      underWay: queues.reduce((sum, { underWay }) => sum + underWay, 0),
      oldestPermitMs: oldest === undefined ? 0 : at - oldest.startedAt,
      oldestWaitMs: waitingSince.reduce((longest, since) => Math.max(longest, at - since), 0),
    }
  }

  /** The queues that have a request waiting or under way. */
  queues(): readonly QueueState[] {
    const { now, openPermits } = this.#context
    const oldest = openPermits.oldestByKey()
    return Array.from(this.#queues.values(), ({ key, waiting, underWay, heldBy }) => {
      const startedAt = oldest.get(key)
      return {
        key,
        waiting,
        underWay,
        heldBy: heldBy?.because,
        level: heldBy?.level,
        oldestMs: startedAt === undefined ? undefined : now() - startedAt,
      }
    })
  }

  /**
   * Waits until a request for this URL may start. Release the permit when the request ends.
   * @throws {RobotsDisallowedError} if robots.txt does not allow the URL: at once, or after a wait
   * during which the rules have changed. Also for a string that is not a valid URL;
   * `error.verdict.because` is then `invalid-url`.
   * @throws {WaitTooLongError} if the request would have to wait longer than `maxWaitMs`.
   * @throws {QueueFullError} if `maxQueuedPerKey` requests wait already.
   * @throws {BudgetError} if the `budget` of its pace key is used up, at once or while it waits.
   * @throws {GateClosedError} after `close`.
   * @throws {OptionError} for a `url` that is neither a string nor an object with an `href`, and
   * for invalid options.
   * @throws The signal's reason after an abort; also whatever a pacer of your own throws, or a
   * function that is an option (`pace`, `paceBy`, `budget`).
   * @throws {AbortedWaitError} if the request waits in its queue, and the signal's reason is a
   * `DOMException` of `AbortSignal.timeout` or of `abort()`. The reason is the `cause`.
   */
  async enter(url: string | HasHref, options?: EnterOptions): Promise<Permit> {
    const text = urlText(url) // read only here, because an object may change while the request waits
    const { signal: abort, maxWaitMs, redirectedFrom } = enterArguments(options)
    const nested = sendingThrough(this)?.nestedPermit(text)
    if (nested !== undefined) {
      // The outer permit may have been granted without these URLs.
      if (redirectedFrom.length > 0) await this.#context.robots.requireAllowed(text, abort, redirectedFrom)
      abort?.throwIfAborted()
      return nested
    }
    const enteredAt = isTracing ? new Error(`enter(${withoutCredentials(text)})`).stack : undefined
    const { robots, activity, log } = this.#context
    activity.begin()
    try {
      let verdict = await robots.requireAllowed(text, abort, redirectedFrom)
      const keysOrPromise = this.#keysFor(verdict, abort)
      const keys = isPromise(keysOrPromise) ? await keysOrPromise : keysOrPromise
      if (isPromise(keysOrPromise)) verdict = await robots.requireAllowed(text, abort, redirectedFrom) // the rules may have changed meanwhile
      this.#closing.signal.throwIfAborted()
      abort?.throwIfAborted()
      const call = { signal: abort, maxWaitMs, redirectedFrom, enteredAt }
      const request = new QueuedRequest(this.#context, keys, verdict, call)
      log.delays(verdict.origin, request.limits)
      const queue = this.#queueFor(keys.key)
      const permitOrPromise = queue.add(request)
      const permit = isPromise(permitOrPromise) ? await unlessFaked(permitOrPromise, request, queue) : permitOrPromise
      if (abort?.aborted) request.cancelPermit(abort.reason)
      abort?.throwIfAborted()
      permit.start()
      this.#disobedience.started(permit.verdict, keys.pacing)
      return permit
    } catch (error) {
      activity.end()
      throw error
    }
  }

  /**
   * Checks robots.txt for a request that a page makes by itself, such as one for an image. It does
   * not wait for a slot. A refusal is counted and published like one of `enter`. With the option
   * `obey`, the gate may admit a URL whose verdict is not `allowed`: see `admits`.
   * @throws {GateClosedError} after `close`.
   * @throws {OptionError} for a `url` that is neither a string nor an object with an `href`, and
   * for invalid options.
   * @throws The signal's reason after an abort.
   */
  async check(url: string | HasHref, options?: GateCheckOptions): Promise<ClientVerdict> {
    const text = urlText(url)
    const { signal, redirectedFrom } = whenArguments(options)
    const { robots } = this.#context
    const verdict = await robots.check(text, signal, redirectedFrom)
    if (this.#disobedience.admits(verdict)) this.#disobedience.checked(verdict)
    else robots.refused(verdict)
    return verdict
  }

  /**
   * Returns whether the gate lets a request with this verdict start: robots.txt allows it, or the
   * option `obey` says not to obey the rules. A concurrency limit, a delay or a budget may still hold
   * up the request.
   * @throws Whatever the function `pace` throws.
   */
  admits(verdict: ClientVerdict): verdict is AllowedVerdict {
    return this.#disobedience.admits(verdict)
  }

  /**
   * Estimates when a request for this URL could start, and says what it would wait for: if the
   * result is `allowed`, its `waitMs` is the wait in milliseconds. It reserves nothing. It waits
   * only for robots.txt, if that has to be fetched, and for a pacer of your own. If the `budget` of
   * the pace key is used up, the result is not `allowed`, and has this `budget`.
   * @throws {GateClosedError} after `close`.
   * @throws {OptionError} for a `url` that is neither a string nor an object with an `href`, and
   * for invalid options.
   * @throws The signal's reason after an abort; also whatever a pacer of your own throws.
   */
  async when(url: string | HasHref, options?: WhenOptions): Promise<Forecast> {
    return this.#forecast(urlText(url), whenArguments(options), false)
  }

  async #forecast(text: string, { signal, redirectedFrom }: WhenArguments, willReserve: boolean): Promise<Forecast> {
    const { robots, now, pacing, budgets } = this.#context
    const verdict = await robots.check(text, signal, redirectedFrom)
    if (!this.#disobedience.admits(verdict))
      return { allowed: false, verdict, retryAt: verdict.retryAt, budget: undefined }
    const keys = await this.#keysFor(verdict, signal)
    const queue = this.#queues.get(keys.key)
    const budget = budgets?.usedUp(keys.key, queue?.waiting)
    if (budget !== undefined) return { allowed: false, verdict, retryAt: undefined, budget }
    const limits = paceLimitsOf(verdict, keys.pacing, pacing.pauseFrom)
    this.#context.robotsPauses.note(verdict, keys.key, limits)
    const { waitMs, ...wait } = await estimateWait(this.#context, keys, limits, queue, willReserve)
    return { allowed: true, verdict, at: now() + waitMs, waitMs, ...wait }
  }

  /**
   * Resolves when no request waits and none is under way. The gate stays open. Requests that arrive
   * meanwhile are admitted, and awaited too, so that redirects and the links of a page can still be
   * followed. To end a crawl: add no more URLs, `await gate.drain()`, `gate.close()`.
   */
  drain(): Promise<void> {
    return this.#context.activity.idle()
  }

  /**
   * Rejects the requests that wait, and all later ones. Permits stay valid. Does not close the
   * RobotsClient or a pacer of your own.
   */
  close(): void {
    if (this.#closing.signal.aborted) return
    const error = new GateClosedError()
    this.#closing.abort(error)
    this.#context.openPermits.stop()
    this.#progress?.stop()
    for (const queue of [...this.#queues.values()]) queue.clear(error)
  }

  /** Closes the gate. Does not wait for requests under way; `drain` does. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
  }

  /** Returns a promise only if a pace key needs a DNS lookup. */
  #keysFor({ origin, url }: AllowedVerdict, signal: AbortSignal | undefined): PaceKeys | Promise<PaceKeys> {
    const keys = this.#paceKeysOf(origin, url)
    return isPromise(keys) ? this.#context.robots.whileOpen(keys, signal) : keys
  }

  readonly #removeQueue = (queue: RequestQueue): void => {
    if (this.#queues.get(queue.key) === queue) this.#queues.delete(queue.key)
  }

  #queueFor(key: string): RequestQueue {
    let queue = this.#queues.get(key)
    if (queue === undefined) {
      queue = new RequestQueue(key, this.#context, this.#removeQueue)
      this.#queues.set(key, queue)
    }
    return queue
  }
}

/** Settles like `permit`, for which a request waits. Warns if it waits for fake timers that stand still. */
function unlessFaked<T>(permit: Promise<T>, { url }: QueuedRequest, { heldBy }: RequestQueue): Promise<T> {
  if (heldBy === undefined || heldBy.because === 'concurrency') return permit
  const waitEnded = watchFakeTimers(
    () => `${escapeControls(withoutCredentials(url))} waits (${causeText(heldBy.because, heldBy.level)})`,
  )
  return waitEnded === undefined ? permit : permit.finally(waitEnded)
}

/** @throws {OptionError} for a value that is not a RobotsClient. */
export function assertRobots(robots: unknown): asserts robots is RobotsClient {
  if (robots instanceof RobotsClient) return
  const problem = robots === undefined ? 'is missing' : `${describeValue(robots)} is not a RobotsClient`
  throw new OptionError(
    'robots',
    otherCopyProblem('RobotsClient', '@politely/fetcher', robots) ??
      `${problem}; write { robots: new RobotsClient({ userAgent }) }`,
  )
}
