// Gives a client the tdmrep.json of an origin: from memory if it is fresh, otherwise by a fetch.
//
// The file is fetched like robots.txt: by the same transports, under the same limits, with the same
// freshness and waits. Four things differ:
//
// - It means something else. Without it, nothing is known, and nothing is disallowed.
// - RFC 9309 §2.2.2 always lets a crawler request /robots.txt, but no other file. So the client
//   asks robots.txt first, also for each redirect.
// - An answer about a page waits for a single request. No caller waits for the retries.
// - It stays in memory, with the entry of its origin. The key of a store is an origin, and its text
//   is that origin's robots.txt: tools and other versions of the client read it as such.
import { describeReason } from '@politely/core'
import { type AccessPolicy, type Entry, plan, settle } from '@politely/core/engine'
import { type OriginAccess, originAccessOf, withoutCredentials } from '@politely/core/internal'
import { parseTdmrep, tdmrepTerms } from '@politely/core/usage'
import { failure } from '../fetch/failure.ts'
import { FIRST_RETRY_MS, RobotsFetcher, type TurnFailure } from '../fetch/robots-fetcher.ts'
import type { ClientSettings } from '../options/options.ts'
import type { ClientVerdict } from '../report/client-verdict.ts'
import { reportedHeaders } from '../report/reported-headers.ts'
import type { Telemetry } from '../report/telemetry.ts'
import { entrySince } from './entry-since.ts'
import { type FlightWork, type JoinOptions, takeTurn } from './flights.ts'
import type { CachedTdmrep } from './memory.ts'
import type { SharedParts } from './robots-cache.ts'

/**
 * Returns the verdict on a URL, or a promise if it is not known yet.
 * @param redirectedFrom The URLs whose redirects led to it.
 */
type CheckTarget = (url: string, redirectedFrom: readonly string[]) => ClientVerdict | Promise<ClientVerdict>

/** What it shares with the rest of its client. The client aborts `closing` before it calls `close`. */
export interface TdmrepParts extends SharedParts {
  readonly settings: ClientSettings
  readonly telemetry: Telemetry
  readonly closing: AbortSignal
  readonly check: CheckTarget
}

export class TdmrepLoader {
  readonly #parts: TdmrepParts
  readonly #policy: AccessPolicy
  readonly #fetcher: RobotsFetcher
  /** The timers of retries. */
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor(parts: TdmrepParts) {
    const { settings, ownRequests } = parts
    this.#parts = parts
    this.#policy = policyOf(settings.policy)
    this.#fetcher = new RobotsFetcher({ ...settings, policy: this.#policy, retries: 0 }, ownRequests)
  }

  /**
   * Returns what is known about the file of an origin. Fetches the file if it is not in memory or is
   * stale. Callers that wait for one origin share one flight.
   * @throws {ReentryError} if the caller's `fetch` or `dispatcher` asks while it makes a request for
   * this file.
   */
  async load(origin: string, options: JoinOptions): Promise<CachedTdmrep> {
    this.#parts.closing.throwIfAborted()
    const url = tdmrepUrl(origin)
    const known = this.#usable(origin, options.since)
    if (known !== undefined) return known
    const { ownRequests, flights } = this.#parts
    ownRequests.assertOutside(url)
    const join = () => flights.join(url, (work) => this.#refresh(url, origin, work), options)
    const cached = await join()
    // As for robots.txt, the flight may have found its entry before this caller joined.
    return this.#isUsable(cached, options.since) ? cached : join()
  }

  /** Returns what an entry means now. */
  accessOf(entry: Entry): OriginAccess {
    return originAccessOf(entry, this.#parts.settings.now(), this.#policy)
  }

  /** Tells the flight of an origin to ignore what memory knew. */
  forget(origin: string): void {
    this.#parts.flights.forget(tdmrepUrl(origin))
  }

  /** Ends all attempts under way, and closes the connections. The flights end with the client. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#fetcher.abortAll()
    await this.#fetcher.close()
  }

  #usable(origin: string, since: number | undefined): CachedTdmrep | undefined {
    const cached = this.#parts.entries.tdmrepOf(origin)
    return cached !== undefined && this.#isUsable(cached, since) ? cached : undefined
  }

  #isUsable({ entry }: CachedTdmrep, since: number | undefined): boolean {
    return plan(entrySince(entry, since), this.#parts.settings.now(), this.#policy) !== 'obtain'
  }

  /** The work of one flight. @param retry Set for a retry. */
  async #refresh(url: string, origin: string, work: FlightWork, retry?: Retry): Promise<CachedTdmrep> {
    const known = retry === undefined ? this.#usable(origin, work.since) : undefined
    if (known !== undefined) return known
    work.isDroppable = false
    const { now } = this.#parts.settings
    const last = retry === undefined ? this.#parts.entries.tdmrepOf(origin) : retry.last
    const startedAt = now()
    const { outcome, requests, isTemporary } = await this.#fetcher.fetch(url, last?.entry.copy, (target, from) =>
      this.#takeTurn(target, from, work),
    )
    this.#parts.closing.throwIfAborted() // the outcome of an aborted attempt says nothing about the site
    const at = now()
    const entry = settle(work.isForgotten ? undefined : last?.entry, origin, outcome, at, this.#policy)
    this.#parts.redirectLimits.pauseAfter(outcome, entry)
    const file = entry.copy && parseTdmrep(entry.copy)
    const cached = { entry, file }
    this.#parts.entries.keepTdmrep(origin, cached)
    if (isTemporary) this.#retryLater(url, origin, { number: (retry?.number ?? 0) + 1, last })
    const headers = outcome.headers && reportedHeaders(outcome.headers)
    const isNew = last?.file?.isReadable !== false
    const problem = isNew && file?.isReadable === false ? file.problems[0]?.why : undefined
    this.#parts.telemetry.fetchedTdmrep({ origin, url, entry, headers, requests, tookMs: at - startedAt }, problem)
    return cached
  }

  /** Repeats an attempt after a moment, as an attempt that no caller waits for. */
  #retryLater(url: string, origin: string, retry: Retry): void {
    if (retry.number > this.#parts.settings.retries) return
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer)
        const { flights } = this.#parts
        if (this.#parts.closing.aborted || flights.phaseOf(url) !== undefined) return // a caller asks again
        void flights.startAhead(url, (work) => this.#refresh(url, origin, work, retry)).catch(() => undefined)
      },
      FIRST_RETRY_MS * 2 ** (retry.number - 1),
    )
    timer.unref()
    this.#timers.add(timer)
  }

  /** Takes the turn of a redirect, unless the crawler may not request its target. */
  #takeTurn(target: string, redirectedFrom: readonly string[], work: FlightWork): TurnFailure | Promise<TurnFailure> {
    const verdict = this.#parts.check(target, redirectedFrom)
    if (verdict instanceof Promise) return work.moveTo(target, verdict.then(refusalOf))
    return refusalOf(verdict) ?? takeTurn(target, work, this.#parts.telemetry)
  }
}

/** A repetition of an attempt. */
interface Retry {
  /** Counted from 1. */
  readonly number: number
  /** What was known before the attempt. Together they count as one failure. */
  readonly last: CachedTdmrep | undefined
}

function refusalOf(verdict: ClientVerdict): TurnFailure {
  if (verdict.allowed) return undefined
  const { access, url } = verdict
  if (access?.reason === 'blocked-address') return failure('blocked-address', access.detail ?? '')
  const target = `${withoutCredentials(url)}, to which the file is redirected`
  const detail =
    verdict.because === 'rule'
      ? `robots.txt disallows ${target}`
      : `the crawler may not fetch ${target}: ${describeReason(verdict)}`
  return failure('disallowed-target', detail)
}

/** Returns the URL of the file of an origin. */
export function tdmrepUrl(origin: string): string {
  return `${origin}${tdmrepTerms.path}`
}

/** Returns the policy for this file. A policy about the meaning of robots.txt does not apply to it. */
function policyOf(policy: AccessPolicy): AccessPolicy {
  return {
    ...policy,
    forbidden: 'unavailable',
    foreignBodies: 'obey', // it is JSON, which a robots.txt is not
    notFoundPages: 'by-status',
    copyAfterUnavailableMs: 0,
    refreshAheadMs: 0,
  }
}
