// What the visits to a page found, and when the next is due.
import { nextVisit, type PastVisit, type SitemapHint } from '@politely/core/revisit'
import { withValue } from './awaitable.ts'
import type { Awaitable, PageStore, VisitLog } from './page-store.ts'

/** The limits of `nextVisit` that the caller chose. */
export interface RevisitOptions {
  /** The shortest time between two visits. Milliseconds, above 0. Default: an hour. */
  readonly minIntervalMs?: number | undefined
  /** The longest time between two visits. Milliseconds. Default: 180 days. */
  readonly maxIntervalMs?: number | undefined
  /** The time to the second visit of an unknown page. Milliseconds. Default: a week. */
  readonly defaultIntervalMs?: number | undefined
}

/** What one visit found. */
export interface Found {
  /** Milliseconds since 1970. */
  readonly at: number
  /** 0: no response arrived. */
  readonly status: number
  /** Identifies the content. Undefined if that is not known. */
  readonly fingerprint?: string | undefined
  /** Whether the content has changed. Used without a fingerprint to compare. */
  readonly changed: boolean
  /** Milliseconds since 1970. */
  readonly lastModified?: number | undefined
  /** Until when HTTP lets the copy be used. Milliseconds since 1970. */
  readonly freshUntil?: number | undefined
  /** Milliseconds since 1970. */
  readonly unavailableAfter?: number | undefined
}

/** How many visits are kept of a URL. */
const MAX_VISITS = 20

/** Works with the store. If that fails, it says so, and requests go on without it. */
export type StoreAttempt = <T>(work: () => Awaitable<T>) => Awaitable<T | undefined>

export class Visits {
  readonly #store: PageStore
  readonly #options: RevisitOptions
  readonly #attempt: StoreAttempt

  constructor(store: PageStore, options: RevisitOptions, attempt: StoreAttempt) {
    this.#store = store
    this.#options = options
    this.#attempt = attempt
  }

  /** Whether this program asks what is due. Otherwise nothing has to be postponed. */
  isUsed = false

  add(url: string, found: Found): Awaitable<void> {
    return withValue(this.#logOf(url), (log) => {
      return this.#attempt(() => this.#store.setVisits(this.#withVisit(log, url, found)))
    })
  }

  #withVisit(log: VisitLog | undefined, url: string, found: Found): VisitLog {
    const { at, lastModified } = found
    const status = Math.min(found.status, 599) // a few sites refuse with 999
    const isPage = status > 0 && status < 400
    const fingerprint = isPage ? found.fingerprint : undefined // an error page is not another copy of the page
    // The clock may have been set back.
    const earlier = (log?.visits ?? []).filter((visit) => visit.at <= at).slice(1 - MAX_VISITS)
    const isCompared = fingerprint !== undefined && log?.fingerprint !== undefined
    const changed = isPage && (isCompared ? fingerprint !== log.fingerprint : found.changed)
    const visit: PastVisit = { at, status, changed, ...(lastModified !== undefined && { lastModified }) }
    const visits = [...earlier, visit]
    const { sitemap } = log ?? {}
    const dueAt = nextVisit(visits, {
      ...this.#options,
      sitemap,
      freshUntil: found.freshUntil,
      unavailableAfter: found.unavailableAfter,
    }).at
    return { url, visits, fingerprint: fingerprint ?? log?.fingerprint, sitemap, dueAt }
  }

  /** Notes that the next visit is due now, or when a sitemap says. */
  async schedule(url: string, now: number, sitemap: SitemapHint | undefined): Promise<VisitLog> {
    const log = await this.#store.visits(url)
    const { visits = [] } = log ?? {}
    const hint = sitemap ?? log?.sitemap
    const next = nextVisit(visits, { ...this.#options, now, sitemap: hint }).at
    // What the page said of its freshness still counts, unless the sitemap names a change.
    const hasChanged = datesChangeAfter(hint, visits.at(-1)?.at ?? 0)
    const dueAt = log === undefined || hasChanged ? next : log.dueAt
    const planned = { ...log, url, visits, sitemap: hint, dueAt }
    await this.#store.setVisits(planned)
    return planned
  }

  /**
   * Notes that a page that is due was not visited, or not yet: it is due again at this time, or after
   * the default interval.
   */
  async postpone(url: string, now: number, until?: number): Promise<void> {
    const log = await this.#logOf(url)
    if (log?.dueAt === undefined || log.dueAt > now) return
    const { minIntervalMs = HOUR_MS } = this.#options
    const { intervalMs } = nextVisit([{ at: now, status: 200, changed: false }], this.#options)
    const dueAt = until === undefined ? now + (intervalMs ?? 0) : Math.max(until, now + minIntervalMs)
    await this.#attempt(() => this.#store.setVisits({ ...log, dueAt }))
  }

  /** Whether a trusted sitemap dates a change after this time. */
  async hasChangedSince(url: string, time: number): Promise<boolean> {
    return datesChangeAfter((await this.#logOf(url))?.sitemap, time)
  }

  #logOf(url: string): Awaitable<VisitLog | undefined> {
    return this.#attempt(() => this.#store.visits(url))
  }
}

/** Whether a trusted sitemap dates a change after this time. */
function datesChangeAfter(sitemap: SitemapHint | undefined, time: number): boolean {
  return sitemap?.trust?.isTrusted === true && (sitemap.lastmod ?? 0) > time
}

const HOUR_MS = 3_600_000
