// `restoreRules`: validates plain data and creates a crawler's rules from it.
import { dialectFor } from './choose-dialect.ts'
import { type Dialect, dialects } from './dialect.ts'
import { OptionError } from './errors.ts'
import { BOUND_VERSION, type BoundDialect, type BoundRules } from './match/bound-rules.ts'
import { CrawlerRules } from './match/crawler-rules.ts'
import { countPackedRules } from './match/packed-rules.ts'
import type { DayRange, RequestRate } from './timed-records.ts'
import { originOf } from './url/origin.ts'

/**
 * Restores a crawler's rules from a cache or another thread: from
 * `JSON.parse(JSON.stringify(rules))` or `structuredClone(rules.toJSON())`. The restored rules give
 * the same verdicts.
 *
 * Caches are not trusted. Returns undefined for data of another version, damaged data and any other
 * value. Never throws.
 */
export function restoreRules(bound: unknown): CrawlerRules | undefined {
  if (!isBoundRules(bound)) return undefined
  const dialect = dialectOf(bound.dialect)
  const count = countPackedRules(bound.packed, bound.groupsAt)
  if (dialect === undefined || count === undefined) return undefined
  return new CrawlerRules(withOwnRecords(bound), dialect, count)
}

/** Copies the records, so that the rules share no objects with the caller's data. */
function withOwnRecords(bound: BoundRules): BoundRules {
  return {
    ...bound,
    requestRates: bound.requestRates.map(({ requests, periodMs, between }) => ({
      requests,
      periodMs,
      between: between && ownDayRange(between),
    })),
    visitTimes: bound.visitTimes.map(ownDayRange),
  }
}

function ownDayRange({ from, to }: DayRange): DayRange {
  return { from, to }
}

function dialectOf(dialect: BoundRules['dialect']): Dialect | undefined {
  if (typeof dialect === 'object' && !Object.values(dialect.parsing).every((value) => typeof value === 'string'))
    return undefined
  try {
    return dialectFor(typeof dialect === 'string' ? dialect : { ...dialect, access: dialects.rfc9309.access })
  } catch (error) {
    if (error instanceof OptionError) return undefined // an unknown dialect
    throw error
  }
}

function isBoundRules(data: unknown): data is BoundRules {
  if (!isObject(data)) return false
  const { version, dialect, productTokens, origin, packed, groupsAt, crawlDelayMs, requestRates, visitTimes, file } =
    data as Partial<Record<keyof BoundRules, unknown>>
  return (
    version === BOUND_VERSION &&
    (typeof dialect === 'string' || (isObject(dialect) && isObject((dialect as Partial<BoundDialect>).parsing))) &&
    isListOf(productTokens, (token) => typeof token === 'string') &&
    (origin === undefined || (typeof origin === 'string' && originOf(origin) === origin)) &&
    typeof packed === 'string' &&
    typeof groupsAt === 'number' &&
    (crawlDelayMs === undefined || (Number.isFinite(crawlDelayMs) && (crawlDelayMs as number) >= 0)) &&
    isListOf(requestRates, isRequestRate) &&
    isListOf(visitTimes, isDayRange) &&
    (file === undefined || typeof file === 'string')
  )
}

function isRequestRate(item: unknown): boolean {
  if (!isObject(item)) return false
  const { requests, periodMs, between } = item as Partial<Record<keyof RequestRate, unknown>>
  return isPositive(requests) && isPositive(periodMs) && (between === undefined || isDayRange(between))
}

function isDayRange(item: unknown): boolean {
  if (!isObject(item)) return false
  const { from, to } = item as Partial<Record<keyof DayRange, unknown>>
  return isMinuteOfDay(from) && isMinuteOfDay(to)
}

function isMinuteOfDay(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 1440
}

function isPositive(value: unknown): boolean {
  return Number.isFinite(value) && (value as number) > 0
}

function isListOf(list: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(isItem)
}

function isObject(item: unknown): item is object {
  return typeof item === 'object' && item !== null
}
