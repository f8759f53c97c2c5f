// Tells the pacer the pauses that requests for robots.txt cause.
//
// The client fetches robots.txt, so the gate doesn't see the response. If a site answers with 429,
// 503 or a Retry-After, it asks for fewer requests in general, so pages have to wait too. With the
// option `countRobots`, they also wait for one delay after each fetch.
//
// Each verdict says what the last attempt led to. That attempt may come from this check, from an
// early refresh, from another gate, or from another process with the same store. So the gate looks
// at each verdict before it asks the pacer for a slot. Most verdicts cause no pause, and a few
// comparisons show that.
import type { Access } from '@politely/core'
import { delayOf, type PaceLimits, type PauseReason } from '@politely/core/engine'
import { isPromise, pushbackOf } from '@politely/core/internal'
import { type ClientVerdict, registrableDomainOf } from '@politely/fetcher'
import type { Circuits } from '../circuit/circuits.ts'
import type { SiteCircuit } from '../options/circuit.ts'
import type { Pacing } from '../options/pacing.ts'
import type { Backoff } from '../pace/pacing-options.ts'
import { withBackoff } from '../permit/request-report.ts'
import type { GateLog } from '../report/gate-log.ts'

/** The part of a route that the pauses of its origin need. */
interface PausedRoute {
  readonly lane: { readonly key: string }
  readonly pacing: { readonly circuit: SiteCircuit | undefined }
  /** The end of the last attempt to fetch robots.txt that the pacer and the circuit know. */
  toldAttemptAt: number | undefined
}

/** What it needs of the context of its gate. */
interface PausesContext {
  readonly pacer: { readonly canPause: boolean; pause(key: string, pauseMs: number, because: PauseReason): void }
  readonly log: GateLog
  readonly circuits: Pick<Circuits, 'noteRobots'>
  readonly pacing: Pick<Pacing, 'backoff' | 'countRobots'>
}

type RouteOf = (origin: string, url: string) => PausedRoute | Promise<PausedRoute>

interface Pause {
  /** Counts from the end of the attempt. Milliseconds. */
  readonly pauseMs: number
  readonly because: PauseReason
}

/** The part of an access that describes the last attempt. */
type LastAttempt = NonNullable<Access['failedRefresh']>

export class RobotsPauses {
  readonly #context: PausesContext
  readonly #now: () => number
  readonly #routeOf: RouteOf

  /** @param now The clock of the client, by which verdicts give their times. */
  constructor(context: PausesContext, now: () => number, routeOf: RouteOf) {
    this.#context = context
    this.#now = now
    this.#routeOf = routeOf
  }

  /**
   * Tells the pacer the pause that follows from the last attempt to fetch robots.txt, once for each
   * attempt. The gate calls it before it asks the pacer for a slot.
   * @param route The route of the request.
   * @param limits The delays of the request, for `countRobots`.
   */
  note({ origin, access }: ClientVerdict, route: PausedRoute, limits?: PaceLimits): void {
    if (access === undefined) return
    const last = access.failedRefresh ?? access
    const { circuits, pacing } = this.#context
    const { backoff, countRobots } = pacing
    if (route.toldAttemptAt === last.checkedAt) return
    // After a refusal, which has no limits, the first page may have to wait for this attempt.
    if (limits !== undefined || !countRobots) route.toldAttemptAt = last.checkedAt
    if (route.pacing.circuit !== undefined) circuits.noteRobots(origin, access, route.pacing.circuit, this.#now())
    const pushback = pushbackPause(last, origin, backoff)
    const counted = countRobots && limits !== undefined ? countedPause(access, last, limits) : undefined
    const pause = (counted?.pauseMs ?? 0) > (pushback?.pauseMs ?? 0) ? counted : pushback
    if (pause !== undefined) this.#tell(origin, route, last, pause)
  }

  /** Does the same for a refused request, whose pace key is not known yet. */
  noteRefusal(verdict: ClientVerdict): void {
    const { url, origin, access } = verdict
    const { pacing } = this.#context
    if (access === undefined) return
    const last = access.failedRefresh ?? access
    if (last.status !== undefined && pushbackPause(last, origin, pacing.backoff) === undefined) return
    const route = this.#routeOf(origin, url)
    if (isPromise(route)) void route.then((found) => this.note(verdict, found))
    else this.note(verdict, route)
  }

  #tell(origin: string, route: PausedRoute, last: LastAttempt, { pauseMs, because }: Pause): void {
    const { pacer, log } = this.#context
    const { checkedAt, status, retryAfterMs } = last
    const leftMs = Math.min(checkedAt + pauseMs - this.#now(), pauseMs) // the clock of another process may be ahead
    if (leftMs <= 0 || !pacer.canPause) return
    route.toldAttemptAt = checkedAt
    pacer.pause(route.lane.key, leftMs, because)
    if (because === 'retry-after' || because === 'backoff') log.robotsPushedBack(origin, status, retryAfterMs, leftMs)
  }
}

/**
 * Returns the pause that a response asks for: the time in Retry-After, or the pause of a first
 * pushback. The response of another site, to which robots.txt was redirected, says nothing about
 * this one.
 */
function pushbackPause(last: LastAttempt, origin: string, limits: Backoff): Pause | undefined {
  const { status = 0, retryAfterMs: askedMs, url } = last
  const pushback = pushbackOf(withBackoff({ status, retryAfter: undefined, requestedMs: askedMs }, limits, 0), 0)
  if (pushback === undefined || !isOfSite(url, origin)) return undefined
  const { requestedMs, backoff } = pushback
  return requestedMs === undefined
    ? { pauseMs: backoff.firstMs, because: 'backoff' }
    : { pauseMs: requestedMs, because: 'retry-after' }
}

function isOfSite(url: string, origin: string): boolean {
  return url.startsWith(`${origin}/`) || registrableDomainOf(url) === registrableDomainOf(origin)
}

/**
 * Returns the delay after the fetch. Returns undefined if robots.txt would have to be fetched again
 * before the delay is over: the request would never start.
 */
function countedPause(access: Access, { checkedAt }: LastAttempt, limits: PaceLimits): Pause | undefined {
  const { delayMs: pauseMs, because } = delayOf(limits, checkedAt)
  return checkedAt + pauseMs < access.nextAttemptAt ? { pauseMs, because } : undefined
}
