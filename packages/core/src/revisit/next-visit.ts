// When to fetch a page again, from what earlier visits found and from what the site says.
import { describeValue } from '../describe-value.ts'
import { OptionError } from '../errors.ts'
import { assertKnownOptions } from '../known-options.ts'
import { outcomesThatMay, STATUS_KINDS } from '../page/outcome.ts'
import { changeRate, type Observation } from './change-rate.ts'

/** What a visit to a page found. */
export interface PastVisit {
  /** When the visit was. Milliseconds since 1970. */
  readonly at: number
  /** The status of the response, after revalidation: a 304 is one too. 0: no response arrived. */
  readonly status: number
  /**
   * Whether the page differs from the last copy, by its validator or by a hash of its body or text.
   * Ignored for the first visit and for visits without a page.
   */
  readonly changed: boolean
  /** The time in `Last-Modified`. Milliseconds since 1970. */
  readonly lastModified?: number | undefined
}

/** What a sitemap says of the page. An entry of `@politely/sitemaps` has the same names. */
export interface SitemapHint {
  /** Milliseconds since 1970. */
  readonly lastmod?: number | undefined
  /** A value of the sitemap protocol, from `always` to `never`. Another text is ignored. */
  readonly changefreq?: string | undefined
  /** From 0 to 1. Default 0.5. */
  readonly priority?: number | undefined
  /** How far the dates of the file can be trusted: `dates` of its result. Default: not trusted. */
  readonly trust?: { readonly isTrusted: boolean } | undefined
}

/** What the site says of the next visit to a page, and how often the caller wants to visit pages. */
export interface NextVisitOptions {
  /** The time now. Milliseconds since 1970. Default: the time of the last visit. */
  readonly now?: number | undefined
  /** Until when HTTP lets the copy be used without a request. Milliseconds since 1970. Default: none. */
  readonly freshUntil?: number | undefined
  /** What a sitemap says of the page. Default: none. */
  readonly sitemap?: SitemapHint | undefined
  /** The time in `unavailable_after` of the robots tag. Milliseconds since 1970. Default: none. */
  readonly unavailableAfter?: number | undefined
  /** The shortest time between two visits. Milliseconds, above 0. Default: an hour. */
  readonly minIntervalMs?: number | undefined
  /** The longest time between two visits. Milliseconds, up to a century. Default: 180 days. */
  readonly maxIntervalMs?: number | undefined
  /**
   * The time to the second visit of an unknown page. A page that changes as often has this interval
   * too. Milliseconds. Scale it to trade freshness for requests. Default: a week.
   */
  readonly defaultIntervalMs?: number | undefined
}

/**
 * Why the next visit is at this time.
 *
 * - `first-visit`: the page was never visited, or only once, and nothing tells how often it changes.
 * - `change-rate`: from how often earlier visits found a change.
 * - `last-modified`: from the age of the page at its only visit.
 * - `sitemap`: the sitemap has a later date than the last visit, which is then due at that date. Or
 *   its `changefreq` is all that is known.
 * - `fresh`: HTTP lets the copy be used until then.
 * - `gone`: 404 or 410. Each further 404 doubles the interval, and each 410 quadruples it.
 * - `refused`: another 4xx. Each further one doubles the interval.
 * - `failed`: 5xx, another failure that may pass (407, 408, 421, 425, 429, 430), or no response. The
 *   first retry is after `minIntervalMs`; each further failure doubles it.
 * - `unavailable-after`: the site says when the page ends. The last visit is then; none comes later.
 * - `min`, `max`: the interval was limited by `minIntervalMs` or `maxIntervalMs`.
 * @inline
 */
export type NextVisitReason =
  | 'first-visit'
  | 'change-rate'
  | 'last-modified'
  | 'sitemap'
  | 'fresh'
  | 'gone'
  | 'refused'
  | 'failed'
  | 'unavailable-after'
  | 'min'
  | 'max'

/** When to fetch a page again. Both times are undefined if that is never. */
export type NextVisit =
  | {
      /** Milliseconds since 1970. In the past if the visit is overdue. */
      readonly at: number
      /** The time from the last visit. Milliseconds. 0 without a visit. */
      readonly intervalMs: number
      readonly because: NextVisitReason
    }
  | {
      /** No visit: the page is unavailable. */
      readonly at: undefined
      /** No visit. Otherwise milliseconds. */
      readonly intervalMs: undefined
      readonly because: 'unavailable-after'
    }

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The largest time of a Date, in milliseconds, apart from the longest interval. */
const MAX_TIME = 8e15

/** The longest interval: a century. Milliseconds. */
const MAX_INTERVAL_MS = 36_525 * DAY_MS

/** Only the last visits count. Older ones would weigh too little to change the result. */
const MAX_VISITS = 50

/** A `Last-Modified` so close to the visit is the time of the response, not of a change. */
const SAME_TIME_MS = 60_000

/**
 * The powers by which the interval depends on the rate: for pages that change less often than in
 * every default interval, and more often. Chosen by simulation.
 */
const RARE = 0.4
const FREQUENT = 0.2

const FREQUENCIES: ReadonlyMap<string, number> = new Map([
  ['always', HOUR_MS],
  ['hourly', HOUR_MS],
  ['daily', DAY_MS],
  ['weekly', 7 * DAY_MS],
  ['monthly', 30 * DAY_MS],
  ['yearly', 365 * DAY_MS],
  ['never', 3650 * DAY_MS],
])

const KNOWN: Readonly<Record<keyof NextVisitOptions, true>> = {
  now: true,
  freshUntil: true,
  sitemap: true,
  unavailableAfter: true,
  minIntervalMs: true,
  maxIntervalMs: true,
  defaultIntervalMs: true,
}

/**
 * Returns when to fetch a page again.
 *
 * The rate of changes is the maximum-likelihood estimate of Cho and Garcia-Molina ("Estimating
 * Frequency of Change", 2003) for irregular visits, with the times of `Last-Modified` where they are
 * known. We did not take Nutch's AdaptiveFetchSchedule: it visits a page that always differs as often
 * as it may.
 *
 * The interval grows with the time between changes, but less than in proportion, because the copy of
 * a page that changes all the time is out of date whatever the crawler does ("Effective Page Refresh
 * Policies", 2003). It is `defaultIntervalMs` for a page that changes as often as that. A page that
 * changes 10 times less often has a 2.5 times longer interval (10^0.4), and one that changes 10 times
 * more often a 1.6 times shorter one (10^0.2).
 *
 * docs/revisit.md compares it with fixed intervals and with Nutch.
 *
 * @param history The visits, oldest first. The last 50 pages that arrived count.
 * @throws {OptionError} for an invalid history or option, or for an empty history without `now`.
 */
export function nextVisit(history: readonly PastVisit[], options: NextVisitOptions = {}): NextVisit {
  assertHistory(history)
  const settings = readOptions(options)
  const last = history.at(-1)
  const now = settings.now ?? last?.at
  if (now === undefined)
    throw new OptionError('now', 'is missing; write the time, which an empty history does not have')
  const { unavailableAfter } = settings
  if (unavailableAfter !== undefined && unavailableAfter <= now) {
    return { at: undefined, intervalMs: undefined, because: 'unavailable-after' }
  }
  if (last === undefined) return { at: now, intervalMs: 0, because: 'first-visit' }

  let { intervalMs, because } = limit(planned(history, last, settings), settings)
  if (unavailableAfter !== undefined && unavailableAfter < last.at + intervalMs) {
    intervalMs = Math.max(unavailableAfter - last.at, settings.minIntervalMs)
    because = 'unavailable-after'
  }
  intervalMs = Math.round(intervalMs)
  return { at: last.at + intervalMs, intervalMs, because }
}

interface Plan {
  intervalMs: number
  because: NextVisitReason
}

type Intervals = 'minIntervalMs' | 'maxIntervalMs' | 'defaultIntervalMs'
type Settings = NextVisitOptions & { readonly [name in Intervals]: number }

/** Returns the next visit without the limits of the caller. */
function planned(history: readonly PastVisit[], last: PastVisit, settings: Settings): Plan {
  const { minIntervalMs, freshUntil, sitemap } = settings
  const kind = kindOf(last.status)
  if (kind === 'failed') {
    const failures = history.length - 1 - history.findLastIndex(({ status }) => kindOf(status) !== 'failed')
    return { intervalMs: minIntervalMs * 2 ** (failures - 1), because: kind }
  }
  let plan =
    kind === 'page'
      ? planFromChanges(history, settings)
      : { intervalMs: settings.defaultIntervalMs * missingFactor(history), because: kind }
  const { lastmod, trust } = sitemap ?? {}
  if (trust?.isTrusted === true && lastmod !== undefined && lastmod > last.at) {
    const intervalMs = Math.max(lastmod - last.at, minIntervalMs)
    if (intervalMs < plan.intervalMs) plan = { intervalMs, because: 'sitemap' }
  }
  return freshUntil !== undefined && freshUntil > last.at + plan.intervalMs
    ? { intervalMs: freshUntil - last.at, because: 'fresh' }
    : plan
}

/** Returns how many default intervals to wait, by how often the page was missing in a row. */
function missingFactor(history: readonly PastVisit[]): number {
  const missing = history.slice(1 + history.findLastIndex(({ status }) => kindOf(status) === 'page'))
  const answers = missing.filter(({ status }) => kindOf(status) !== 'failed')
  return answers.reduce((factor, { status }) => factor * (status === 410 ? 4 : 2), 0.5)
}

/** Returns the time between visits to a page, by how often it changes. */
function planFromChanges(history: readonly PastVisit[], { defaultIntervalMs, sitemap }: Settings): Plan {
  const pages = history.filter(({ status }) => kindOf(status) === 'page').slice(-MAX_VISITS - 1)
  const hintMs = FREQUENCIES.get(sitemap?.changefreq?.trim().toLowerCase() ?? '')
  const observations: Observation[] = []
  pages.forEach(({ at, changed, lastModified }, i) => {
    const sinceVisitMs = i === 0 ? undefined : at - (pages[i - 1] as PastVisit).at
    const sinceMs = lastModified === undefined ? 0 : at - lastModified
    const sinceChangeMs = sinceMs < SAME_TIME_MS ? undefined : sinceMs
    const hasChanged = i === 0 || changed
    if (i > 0 ? sinceVisitMs !== 0 : sinceChangeMs !== undefined) {
      observations.push({ sinceVisitMs, changed: hasChanged, sinceChangeMs })
    }
  })
  const rate = changeRate(observations, hintMs ?? defaultIntervalMs)
  const weight = 0.5 + (sitemap?.priority ?? 0.5) // an important page is worth more requests
  const changes = rate * defaultIntervalMs // in the default interval
  const intervalMs = (defaultIntervalMs * changes ** (changes < 1 ? -RARE : -FREQUENT)) / Math.sqrt(weight)
  if (pages.length > 1) return { intervalMs, because: 'change-rate' }
  if (observations.length > 0) return { intervalMs, because: 'last-modified' }
  return { intervalMs, because: hintMs === undefined ? 'first-visit' : 'sitemap' }
}

function limit(plan: Plan, { minIntervalMs, maxIntervalMs }: Settings): Plan {
  if (plan.intervalMs < minIntervalMs) return { intervalMs: minIntervalMs, because: 'min' }
  return plan.intervalMs > maxIntervalMs ? { intervalMs: maxIntervalMs, because: 'max' } : plan
}

const PASSING: ReadonlySet<string | undefined> = new Set(outcomesThatMay('pass'))

function kindOf(status: number): 'page' | 'gone' | 'refused' | 'failed' {
  if (status === 404 || status === 410) return 'gone'
  if (status === 0 || status >= 500 || PASSING.has(STATUS_KINDS[status])) return 'failed'
  return status >= 400 ? 'refused' : 'page'
}

function assertHistory(history: unknown): asserts history is readonly PastVisit[] {
  expectThat(Array.isArray(history), 'history', history, 'an array of visits, oldest first')
  let before = -MAX_TIME
  for (const [i, visit] of (history as readonly unknown[]).entries()) {
    const name = `history[${i}]`
    expectThat(typeof visit === 'object' && visit !== null, name, visit, 'a visit, such as { at, status, changed }')
    const { at, status, changed, lastModified } = visit as PastVisit
    expectTime(`${name}.at`, at)
    expectThat(at >= before, `${name}.at`, at, `${before}, the time of the visit before, or later; sort the visits`)
    before = at
    const isStatus = status === 0 || (Number.isInteger(status) && status >= 100 && status <= 599)
    expectThat(isStatus, `${name}.status`, status, 'a status from 100 to 599, or 0 for no response')
    expectThat(typeof changed === 'boolean', `${name}.changed`, changed, 'true or false')
    if (lastModified !== undefined) expectTime(`${name}.lastModified`, lastModified)
  }
}

function readOptions(options: NextVisitOptions): Settings {
  assertKnownOptions(options, KNOWN, '{ now: Date.now() }')
  const { now, freshUntil, unavailableAfter, sitemap = {} } = options
  const { minIntervalMs = HOUR_MS, maxIntervalMs = Math.max(180 * DAY_MS, minIntervalMs) } = options
  const { defaultIntervalMs = Math.min(Math.max(7 * DAY_MS, minIntervalMs), maxIntervalMs) } = options
  expectThat(
    typeof sitemap === 'object' && sitemap !== null,
    'sitemap',
    sitemap,
    'an object such as { lastmod, trust }',
  )
  const { lastmod, changefreq = '', priority = 0.5 } = sitemap
  const times = { now, freshUntil, unavailableAfter, 'sitemap.lastmod': lastmod }
  for (const [name, time] of Object.entries(times)) if (time !== undefined) expectTime(name, time)
  expectThat(typeof changefreq === 'string', 'sitemap.changefreq', changefreq, "a string, such as 'daily'")
  expectNumber('sitemap.priority', priority, 0, 1)
  expectNumber('minIntervalMs', minIntervalMs, 1, MAX_INTERVAL_MS)
  expectNumber('maxIntervalMs', maxIntervalMs, minIntervalMs, MAX_INTERVAL_MS)
  expectNumber('defaultIntervalMs', defaultIntervalMs, minIntervalMs, maxIntervalMs)
  return { ...options, minIntervalMs, maxIntervalMs, defaultIntervalMs }
}

function expectTime(name: string, value: unknown): void {
  const isTime = typeof value === 'number' && Math.abs(value) <= MAX_TIME
  expectThat(isTime, name, value, 'milliseconds since 1970, such as Date.now()')
}

function expectNumber(name: string, value: unknown, min: number, max: number): void {
  expectThat(typeof value === 'number' && value >= min && value <= max, name, value, `a number from ${min} to ${max}`)
}

function expectThat(isValid: boolean, name: string, value: unknown, expected: string): void {
  if (!isValid) throw new OptionError(name, `${describeValue(value)} is invalid; expected ${expected}`)
}
