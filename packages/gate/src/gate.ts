// PoliteGate: starts a request when robots.txt allows it and a slot is free.
//
// ARCHITECTURE.md lists the files that a request passes through, in their order. The states of a
// request, and the method that takes it to the next state:
//
//   | state     | means                     | next state at once | or, if it has to wait |
//   |-----------|---------------------------|--------------------|-----------------------|
//   | `arrived` | `enter` was called        | `#enterAnew`       | `#enterLater`         |
//   | `checked` | robots.txt allows it      | `#enterAnew`       | `#enterLater`         |
//   | `routed`  | its lane is known         | `#enterAnew`       | `#startLater`         |
//   | `granted` | the lane gave it a permit | `#start`           | `#startLater`         |
//   | `started` | the caller has the permit |                    |                       |
//
// Most requests pass through all states within the call of `enter`. A request that has a permit
// already is `granted` when it arrives: `#enterAgain` checks where it was redirected from.
import { debuglog } from 'node:util'
import { type HasHref, OptionError } from '@politely/core'
import { escapeControls, isOfClass, isPromise, markClass, otherCopyProblem } from '@politely/core/internal'
import { type ClientVerdict, type DecisionReceipt, RobotsClient, withoutCredentials } from '@politely/fetcher'
import {
  assertKnown,
  assertOptions,
  callable,
  checkedSink,
  clientPort,
  describeValue,
  urlText,
  watchFakeTimers,
  withMethods,
} from '@politely/fetcher/internal'
import { Circuits, keeperOf } from './circuit/circuits.ts'
import { Activity } from './lane/activity.ts'
import { Budgets } from './lane/budgets.ts'
import { CheckedPacer } from './lane/checked-pacer.ts'
import { ConcurrencyLimit } from './lane/concurrency-limit.ts'
import { estimateWait, type WaitForecast } from './lane/estimate.ts'
import type { ReceivingGate } from './lane/foreign-permit.ts'
import type { GateContext } from './lane/gate-context.ts'
import type { PermitRecord } from './lane/grant.ts'
import { GrantedPermit } from './lane/granted-permit.ts'
import type { Lane } from './lane/lane.ts'
import { OpenPermits } from './lane/open-permits.ts'
import type { Route } from './lane/route.ts'
import { Routes } from './lane/routes.ts'
import { SharedLimits } from './lane/shared-limit.ts'
import { type EnterCall, enterArguments, type WhenArguments, whenArguments } from './options/enter-arguments.ts'
import type { EnterOptions, PoliteGateOptions, WhenOptions } from './options/gate-options.ts'
import { GATE_OPTIONS, OPTIONS_ELSEWHERE, pacingOf } from './options/pacing.ts'
import { sitePacingBy } from './options/site-pacing.ts'
import { LocalPacer } from './pace/local-pacer.ts'
import { LocalStarts } from './pace/local-starts.ts'
import type { CircuitReport } from './pace/pacer.ts'
import { requestsWithOpenBodies } from './permit/open-bodies.ts'
import type { Permit } from './permit/permit.ts'
import { includesRequestFor, ReservedPermits } from './permit/reserved-permits.ts'
import { sendingThrough } from './permit/sending.ts'
import { OpenRedirects } from './redirects/open-redirects.ts'
import { RedirectTargets } from './redirects/redirect-targets.ts'
import type { AllowedVerdict } from './report/allowed-verdict.ts'
import { type GateCounters, GateCounts } from './report/counters.ts'
import { causeText, GateClosedError, RobotsDisallowedError } from './report/errors.ts'
import type { EventSource, ReportingGate } from './report/events.ts'
import type { Forecast, RefusedForecast } from './report/forecast.ts'
import { GateLog } from './report/gate-log.ts'
import type { GateGauges } from './report/gauges.ts'
import { ProgressLog, warnOfProgress } from './report/progress.ts'
import type { QueueState } from './report/queue-state.ts'
import { AllowedCheck } from './robots/allowed-check.ts'
import { Disobedience } from './robots/disobedience.ts'
import { RobotsCheck } from './robots/robots-check.ts'
import { RobotsPauses } from './robots/robots-pauses.ts'

/** Whether permits remember where they entered the gate: with `NODE_DEBUG=politely`. */
const isTracing = debuglog('politely').enabled

/** What the HTTP clients, queues and servers of Politely need of a gate, on top of its public methods. */
export interface GatePort
  extends Pick<
    GateContext,
    'activity' | 'decisions' | 'log' | 'now' | 'openRedirects' | 'pacer' | 'pacing' | 'redirects' | 'robots'
  > {
  /** The same as the public method, for arguments that are valid. Returns no promise if none is needed. */
  readonly enter: (
    url: string,
    signal: AbortSignal | undefined,
    redirectedFrom: readonly string[],
  ) => Permit | Promise<Permit>
  /** Like `enter`, for a URL whose request is made later: it has no permit yet. See `reserve`. */
  readonly enterAnew: (...args: Parameters<GatePort['enter']>) => GrantedPermit | Promise<GrantedPermit>
  /**
   * Like the public `when`, for a request that waits elsewhere until its turn, and enters the gate
   * then. Asks the pacer only if the lane does not know how long it has to wait. A pacer in another
   * process may then count the request as waiting.
   * @param attach Gets its lane: see `Entrance`.
   */
  readonly forecast: (
    url: string,
    redirectedFrom: readonly string[],
    attach: (lane: OuterLane) => void,
  ) => Promise<Forecast>
  /**
   * Returns where a URL of an outer queue enters, or why it is refused. Asks no pacer.
   * @param mayFetch Whether robots.txt may be fetched.
   * @returns The promise of the verdict, if robots.txt is not known; undefined if it may not be fetched.
   */
  readonly entranceOf: (
    url: string,
    redirectedFrom: readonly string[],
    mayFetch: boolean,
  ) => Promise<Entrance | RefusedForecast | { readonly pending: Promise<ClientVerdict> | undefined }>
  /**
   * Returns what a `ForeignPermit` needs of this gate.
   * @param isOwn Whether this gate has granted the permit.
   */
  readonly receiverOf: (record: PermitRecord, isOwn: boolean) => ReceivingGate
  /** Asks a pacer of several processes which requests under way of a pace key have ended elsewhere. */
  readonly findEnded: (key: string) => Promise<void>
  /** Returns the circuit of an origin, as far as this gate knows it, and the end of its cooling period. */
  readonly circuitOf: (origin: string) => CircuitReport & { readonly retryAt: number }
  /**
   * Keeps a permit for the next request for its URL. @returns A function to call when the URL is
   * done. It releases the permit, unless a request has taken it.
   */
  readonly reserve: (permit: Permit) => () => void
  /**
   * Whether a request for one of these URLs, or for a redirect from one, waits or is under way. A
   * reserved permit is not a request.
   */
  readonly isBusyWith: (urls: Iterable<string>) => boolean
}

export type OuterLane = Pick<Lane, 'key' | 'attach' | 'detach' | 'expectedWaitMs'>

/** Where a URL that waits outside of the gate enters it. */
export interface Entrance {
  /**
   * The lane of its pace key. An outer queue attaches to it while it has URLs for it, and so keeps
   * the turn that the pacer gives to the first of them.
   */
  readonly lane: OuterLane
  readonly maxConcurrent: number
  /** What the request has to wait for, as far as is known without a call of the pacer. */
  readonly knownWait: () => WaitForecast | undefined
  /**
   * Starts the request if it may start now. Otherwise returns how long it has to wait, or why it is
   * refused. One call of the pacer says all of that: `reserve`.
   */
  readonly tryEnter: (options?: OuterOptions) => Promise<GrantedPermit | Forecast>
}

/** The options of `Entrance.tryEnter`. */
interface OuterOptions {
  /** How much later another program may send the request. Milliseconds; default 0. */
  readonly allowanceMs?: number | undefined
  /** How long the request of another program counts as under way: see `LeaseTerms`. Milliseconds. */
  readonly leaseMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** The URLs that led to it, as the option `evidence` shows them. Default: those of the check. */
  readonly shownSources?: readonly string[] | undefined
}

/** Returns the port of a gate. The class sets this function, since the context is private there. */
export let gatePort: (gate: PoliteGate) => GatePort

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
  readonly #routes: Routes
  readonly #port: GatePort
  readonly #disobedience: Disobedience
  readonly #closing = new AbortController()
  /** How many requests have a permit, and start after the calls of this turn of the event loop. */
  #startingSoon = 0
  readonly #reserved = new ReservedPermits()
  readonly #progress: ProgressLog | undefined = undefined

  static {
    gatePort = (gate) => gate.#port
    markClass('PoliteGate', PoliteGate)
  }

  /** @throws {OptionError} for an invalid or unknown option. */
  constructor(options: PoliteGateOptions) {
    const given = ['RobotsClient', 'PoliteGate'].find((name) => isOfClass(name, options))
    if (given !== undefined)
      throw new OptionError('options', `a ${given} was given instead of options; write new PoliteGate({ robots })`)
    assertOptions(options, '{ robots: new RobotsClient({ userAgent }) }')
    const { robots, now: clock, lookup, logger, evidence, ...pacingOptions } = options
    assertRobots(robots)
    assertKnown(options, GATE_OPTIONS, OPTIONS_ELSEWHERE)
    const pacing = pacingOf(pacingOptions)
    const { timeOrigin } = performance
    const now = callable('now', clock, 'a function that returns milliseconds') ?? (() => timeOrigin + performance.now())
    const ownLogger = withMethods('logger', logger, [], 'an object with debug, info or warn, such as console')
    const redirects = new RedirectTargets(now)
    const source: EventSource = { gate: this, now, counters: new GateCounts() }
    this.#robots = robots
    const sitePacingOf = sitePacingBy(pacing)
    const port = clientPort(robots)
    const log = new GateLog(ownLogger ?? port.settings().logger, now)
    const ownPacer = pacing.pacer ?? new LocalPacer(clock)
    const pacer = new CheckedPacer(ownPacer, pacing.pacer === undefined, source, log)
    const concurrency = new ConcurrencyLimit(pacing, now)
    this.#disobedience = new Disobedience(sitePacingOf, source.counters, log)
    // Each of these objects knows the context, and is a part of it.
    const decisions = port.decisionsOf(checkedSink(evidence))
    const context = { ...source, log, pacing, pacer, concurrency, redirects, decisions } as {
      -readonly [P in keyof GateContext]: GateContext[P]
    }
    context.circuits = new Circuits({
      ...source,
      log,
      keeper: keeperOf(pacing.pacer),
      failed: (origin, error) => pacer.failed(origin, error),
    })
    const routes = new Routes(
      context,
      sitePacingOf,
      callable('lookup', lookup, 'a function like dns.lookup'),
      this.#closing.signal,
    )
    context.robotsPauses = new RobotsPauses(context, port.now, (origin, url) => routes.of(origin, url))
    context.robots = new RobotsCheck(robots, context, this.#closing.signal, this.#disobedience)
    context.openRedirects = new OpenRedirects()
    context.activity = new Activity()
    context.sharedLimits = new SharedLimits({ pacer, now })
    context.openPermits = new OpenPermits(log, pacing.releaseWarningMs, concurrency.requests, () => routes.lanes)
    context.budgets = pacing.budget === undefined ? undefined : new Budgets(pacing.budget)
    context.localStarts = ownPacer instanceof LocalPacer && clock === undefined ? new LocalStarts(ownPacer) : undefined
    this.#routes = routes
    this.#context = context
    this.#port = {
      ...context,
      enter: (url, signal, redirectedFrom) => this.#enter(url, signal, redirectedFrom, undefined),
      enterAnew: (url, signal, redirectedFrom) => this.#enterAnew(url, signal, redirectedFrom, undefined),
      forecast: (url, redirectedFrom, attach) => this.#forecast(url, whenArguments({ redirectedFrom }), attach),
      entranceOf: async (url, redirectedFrom, mayFetch) => {
        const { robots } = this.#context
        const verdict = mayFetch ? robots.check(url, undefined, redirectedFrom) : robots.checkKnown(url, redirectedFrom)
        if (verdict === undefined || isPromise(verdict)) return { pending: verdict }
        if (!this.#disobedience.admits(verdict)) return refused(verdict)
        const check = AllowedCheck.by(verdict)
        const route = this.#routes.current(await this.#routeOf(verdict, undefined))
        const { lane, pacing } = route
        return (
          this.#refusalOf(check, route) ?? {
            lane,
            maxConcurrent: pacing.maxConcurrentPerKey,
            knownWait: () => lane.knownWait(route, verdict.origin),
            tryEnter: (options) => this.#tryEnter(check, route, redirectedFrom, options),
          }
        )
      },
      receiverOf: ({ key, origin }, isOwn) => ({
        context,
        knowsTickets: isOwn || !(ownPacer instanceof LocalPacer),
        site: origin === undefined ? pacing : sitePacingOf(origin),
        lane: routes.laneOf(key),
      }),
      findEnded: async (key) => routes.laneOf(key)?.findEnded(),
      circuitOf: (origin) => {
        const report = context.circuits.reportOf(origin)
        return { ...report, retryAt: now() + report.waitMs }
      },
      reserve: (permit) => this.#reserved.add(permit),
      isBusyWith: (urls) =>
        includesRequestFor(urls, [...this.#requests(), ...requestsWithOpenBodies()]) ||
        this.#busyLanes().some(({ isResting }) => isResting),
    }
    if (pacing.progressMs !== undefined) {
      if (log.informs) this.#progress = new ProgressLog(this, log, pacing.progressMs)
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
    const { now, openPermits, circuits, pacer } = this.#context
    const { yielded } = this.#reserved
    const lanes = this.#busyLanes()
    const at = now()
    return {
      queues: lanes.length,
      waiting: lanes.reduce((sum, { waiting }) => sum + waiting, 0),
      underWay: lanes.reduce((sum, { underWay }) => sum + underWay, 0),
      oldestPermitMs: openPermits.oldestMs(at),
      openCircuits: circuits.open,
      oldestWaitMs: lanes.reduce((longest, { waitingSince = at }) => Math.max(longest, at - waitingSince), 0),
      pacerOutageMs: pacer.outage === undefined ? 0 : Math.max(0, at - pacer.outage.since),
      ...(yielded !== undefined && { yielded }),
    }
  }

  /** The queues that have a request waiting or under way. */
  queues(): readonly QueueState[] {
    const { now, openPermits } = this.#context
    const oldest = openPermits.oldestByKey()
    return this.#busyLanes().map(({ key, waiting, underWay, heldBy }) => {
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
   * @throws {CircuitOpenError} if the circuit of its origin is open, at once or after a probe has
   * failed (`circuit`).
   * @throws {GateClosedError} after `close`.
   * @throws {OptionError} for a `url` that is neither a string nor an object with an `href`, and for
   * invalid options.
   * @throws The signal's reason after an abort; also whatever your own pacer throws, or a function
   * that is an option (`pace`, `paceBy`, `budget`).
   * @throws {AbortedWaitError} if the request waits in its queue, and the signal's reason is a
   * `DOMException` of `AbortSignal.timeout` or of `abort()`. The reason is the `cause`.
   */
  enter(url: string | HasHref, options?: EnterOptions): Promise<Permit> {
    // This is not an async function: most requests can start at once, and need one promise only.
    try {
      const text = urlText(url) // read only here, because an object may change while the request waits
      const { signal, redirectedFrom, maxWaitMs } = enterArguments(options)
      const entered = this.#enter(text, signal, redirectedFrom, maxWaitMs)
      return isPromise(entered) ? entered : Promise.resolve(entered)
    } catch (error) {
      return Promise.reject(error)
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
  async check(url: string | HasHref, options?: WhenOptions): Promise<ClientVerdict> {
    const text = urlText(url)
    const { signal, redirectedFrom } = whenArguments(options)
    const { robots } = this.#context
    const verdict = await robots.check(text, signal, redirectedFrom)
    const isAdmitted = this.#disobedience.admits(verdict)
    const written = robots.decide(verdict, redirectedFrom, 'check')?.written
    if (written !== undefined) await robots.whileOpen(written, signal)
    if (isAdmitted) this.#disobedience.checked(verdict)
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
   * only for robots.txt, if that has to be fetched, and for your own pacer. If the `budget` of the
   * pace key is used up, the result is not `allowed`, and has this `budget`. @throws
   * {GateClosedError} after `close`. @throws {OptionError} for a `url` that is neither a string nor
   * an object with an `href`, and for invalid options. @throws The signal's reason after an abort;
   * also whatever your own pacer throws.
   */
  async when(url: string | HasHref, options?: WhenOptions): Promise<Forecast> {
    return this.#forecast(urlText(url), whenArguments(options))
  }

  async #forecast(
    text: string,
    { signal, redirectedFrom }: WhenArguments,
    attach?: (lane: OuterLane) => void,
  ): Promise<Forecast> {
    const { robots, now, circuits } = this.#context
    const verdict = await robots.check(text, signal, redirectedFrom)
    if (!this.#disobedience.admits(verdict)) return refused(verdict)
    const route = this.#routes.current(await this.#routeOf(verdict, signal))
    const check = AllowedCheck.by(verdict)
    const refusal = this.#refusalOf(check, route)
    if (refusal !== undefined) return refusal
    attach?.(route.lane)
    const limits = route.limitsFor(check)
    const wait =
      (attach && route.lane.knownWait(route, verdict.origin)) ??
      (await estimateWait(this.#context, route, limits, attach !== undefined))
    const { waitMs, ...cause } = afterCircuit(wait, circuits.reportOf(verdict.origin))
    return { allowed: true, verdict, at: now() + waitMs, waitMs, ...cause }
  }

  /** Returns why a request that robots.txt allows would be refused. */
  #refusalOf(check: AllowedCheck, { lane, pacing }: Route): RefusedForecast | undefined {
    const { budgets, circuits } = this.#context
    const budget = budgets?.usedUp(lane.key, lane.waiting)
    if (budget !== undefined) return { ...refused(check.verdict), retryAt: undefined, budget }
    const refusal = circuits.refusalOf(check, pacing.circuit)
    if (refusal === undefined) return undefined
    const { retryAt, outcome, because } = refusal
    return { ...refused(check.verdict), retryAt, circuit: { kind: outcome, because } }
  }

  /** See `Entrance`. */
  async #tryEnter(
    check: AllowedCheck,
    found: Route<Lane>,
    redirectedFrom: readonly string[],
    { allowanceMs = 0, leaseMs, signal, shownSources = redirectedFrom }: OuterOptions = {},
  ): Promise<GrantedPermit | Forecast> {
    const { activity, decisions, now } = this.#context
    const { url, verdict } = check
    const route = this.#routes.current(found)
    const how = { allowanceMs, leaseMs, signal, redirectedFrom, maxWaitMs: 0, isOuter: true }
    const call: EnterCall = { url, ...how, enteredAt: stackOf(url), receipt: undefined }
    activity.begin()
    try {
      this.#closing.signal.throwIfAborted()
      const entered = await route.lane.tryAdd(route, check, call)
      if (entered instanceof GrantedPermit) {
        const decide = () => this.#context.robots.decide(entered.verdict, shownSources)
        if (decisions !== undefined) await this.#keep(entered, call, decide)
        if (signal?.aborted) entered.abandon(signal.reason)
        signal?.throwIfAborted()
        return this.#start(entered, route)
      }
      activity.end()
      return { allowed: true, verdict, at: now() + entered.waitMs, ...entered }
    } catch (error) {
      this.#ended(call, error)
      throw error
    }
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
   * RobotsClient or your own pacer.
   */
  close(): void {
    if (this.#closing.signal.aborted) return
    const error = new GateClosedError()
    this.#closing.abort(error)
    this.#context.openPermits.stop()
    this.#progress?.stop()
    const lanes = this.#busyLanes()
    this.#context.circuits.clear(error)
    for (const lane of lanes) lane.clear(error)
  }

  /** Closes the gate. Does not wait for requests under way; `drain` does. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
  }

  #enter(
    url: string,
    signal: AbortSignal | undefined,
    redirectedFrom: readonly string[],
    maxWaitMs: number | undefined,
  ): Permit | Promise<Permit> {
    const nested = sendingThrough(this)?.nestedPermit(url)
    if (nested !== undefined) return this.#enterAgain(nested, signal, redirectedFrom)
    if (!this.#reserved.isEmpty) {
      this.#closing.signal.throwIfAborted()
      signal?.throwIfAborted()
      const reserved = this.#reserved.take(url)
      if (reserved !== undefined) {
        return this.#enterAgain(reserved, signal, redirectedFrom).catch((error: unknown) => {
          reserved.release() // the request does not start
          throw error
        })
      }
    }
    return this.#enterAnew(url, signal, redirectedFrom, maxWaitMs)
  }

  /** Enters a request that has no permit yet. */
  #enterAnew(
    url: string,
    signal: AbortSignal | undefined,
    redirectedFrom: readonly string[],
    maxWaitMs: number | undefined,
  ): GrantedPermit | Promise<GrantedPermit> {
    const enteredAt = stackOf(url)
    const { robots, activity } = this.#context
    activity.begin()
    const call: EnterCall = {
      url,
      signal,
      redirectedFrom,
      maxWaitMs,
      allowanceMs: 0,
      isOuter: false,
      enteredAt,
      receipt: undefined,
    }
    try {
      const check = robots.requireAllowed(url, signal, redirectedFrom)
      if (isPromise(check)) return this.#enterLater(check, call)
      call.receipt = check.receipt
      const route = this.#routeOf(check, signal)
      if (isPromise(route)) return this.#enterLater(check, call, route)
      const permit = route.lane.add(route, check, call)
      // After an abort in the same turn of the event loop, the request must not start. The requests
      // that enter after it start after it.
      return isPromise(permit) || signal !== undefined || this.#startingSoon > 0 || check.receipt?.written !== undefined
        ? this.#startLater(permit, call, route)
        : this.#start(permit, route)
    } catch (error) {
      this.#ended(call, error)
      throw error
    }
  }

  /** Admits a request that has a permit of this gate, which may have been granted without these URLs. */
  async #enterAgain(
    permit: Permit,
    signal: AbortSignal | undefined,
    redirectedFrom: readonly string[],
  ): Promise<Permit> {
    if (redirectedFrom.length > 0)
      await this.#context.robots.requireAllowed(permit.url, signal, redirectedFrom, 'again')
    signal?.throwIfAborted()
    return permit
  }

  /** Enters a request whose robots.txt or whose address is not known yet. */
  async #enterLater(
    pendingCheck: AllowedCheck | Promise<AllowedCheck>,
    call: EnterCall,
    pendingRoute?: Promise<Route<Lane>>,
  ): Promise<GrantedPermit> {
    const { robots } = this.#context
    const { signal, redirectedFrom } = call
    try {
      let check = await pendingCheck
      call.receipt = check.receipt
      const found = pendingRoute ?? this.#routeOf(check, signal)
      const route = isPromise(found) ? await found : found
      if (isPromise(found)) check = await robots.requireAllowed(check.url, signal, redirectedFrom, check) // the rules may have changed meanwhile
      call.receipt = check.receipt
      this.#closing.signal.throwIfAborted()
      signal?.throwIfAborted()
      const current = this.#routes.current(route)
      return this.#startLater(current.lane.add(current, check, call), call, current)
    } catch (error) {
      this.#ended(call, error)
      throw error
    }
  }

  /** Starts a request when it has a permit, and after the calls of this turn of the event loop. */
  async #startLater(
    pending: GrantedPermit | Promise<GrantedPermit>,
    call: EnterCall,
    route: Route<Lane>,
  ): Promise<GrantedPermit> {
    const { url, signal } = call
    const isGranted = !isPromise(pending)
    if (isGranted) this.#startingSoon++
    try {
      const permit = await (isGranted ? pending : unlessFaked(pending, url, route.lane))
      if (call.receipt?.written !== undefined) await this.#keep(permit, call, () => call.receipt)
      if (signal?.aborted) permit.abandon(signal.reason)
      signal?.throwIfAborted()
      return this.#start(permit, route)
    } catch (error) {
      this.#ended(call, error)
      throw error
    } finally {
      if (isGranted) this.#startingSoon--
    }
  }

  /** Waits until the decision about a request with a permit is kept, or gives the permit back. */
  async #keep(permit: GrantedPermit, call: EnterCall, decide: () => DecisionReceipt | undefined): Promise<void> {
    try {
      const receipt = decide()
      permit.receipt = receipt
      call.receipt = receipt
      if (receipt?.written !== undefined) await this.#context.robots.whileOpen(receipt.written, call.signal)
    } catch (error) {
      permit.abandon(error)
      throw error
    }
  }

  /** The request does not start. */
  #ended({ receipt }: EnterCall, error: unknown): void {
    const { activity, decisions, now } = this.#context
    activity.end()
    if (receipt === undefined || error instanceof RobotsDisallowedError) return
    decisions?.ended({ id: receipt.id, at: now(), outcome: 'not-sent', error })
  }

  #start(permit: GrantedPermit, { pacing }: Route): GrantedPermit {
    permit.start()
    if (!pacing.obey.rules || !pacing.obey.delays) this.#disobedience.started(permit.verdict, pacing)
    return permit
  }

  /** Returns a promise only if a pace key needs a DNS lookup. */
  #routeOf(
    { origin, url }: { readonly origin: string; readonly url: string },
    signal: AbortSignal | undefined,
  ): Route<Lane> | Promise<Route<Lane>> {
    const route = this.#routes.of(origin, url)
    return isPromise(route) ? this.#context.robots.whileOpen(route, signal) : route
  }

  /** The requests that wait or are under way. */
  *#requests(): Generator<{ readonly url: string; readonly redirectedFrom: readonly string[] }> {
    for (const { permit } of this.#context.concurrency.requests.started)
      if (permit !== undefined && !this.#reserved.has(permit)) yield permit
    for (const { requests } of this.#routes.lanes) for (const { call } of requests) yield call
  }

  #busyLanes(): readonly Lane[] {
    return [...this.#routes.lanes].filter(({ waiting, underWay }) => waiting > 0 || underWay > 0)
  }
}

function stackOf(url: string): string | undefined {
  return isTracing ? new Error(`enter(${withoutCredentials(url)})`).stack : undefined
}

function refused(verdict: ClientVerdict): RefusedForecast {
  return { allowed: false, verdict, retryAt: verdict.retryAt, budget: undefined, circuit: undefined }
}

/** Returns how long a request would wait whose circuit may be open. */
function afterCircuit(wait: WaitForecast, { state, waitMs }: CircuitReport): WaitForecast {
  return state === 'closed' || waitMs <= wait.waitMs ? wait : { ...wait, waitMs, because: 'circuit', level: 'origin' }
}

/** Settles like `permit`, for which a request waits. Warns if it waits for fake timers that stand still. */
function unlessFaked<T>(permit: Promise<T>, url: string, { heldBy }: Lane): Promise<T> {
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
