// The back door of the bound form: plain data in, rules out.
import { dialectFor } from './choose-dialect.ts'
import { type Dialect, dialects } from './dialect.ts'
import { OptionError } from './option-error.ts'
import { BOUND_VERSION, type BoundDialect, type BoundRules } from './rules/bound-rules.ts'
import { CrawlerRules } from './rules/crawler-rules.ts'
import type { DayRange } from './rules/day-range.ts'
import { areWellPacked } from './rules/packed-rules.ts'
import type { RequestRate } from './rules/request-rate.ts'

/**
 * Reads a crawler's rules out of what a cache or another thread kept, `JSON.parse(JSON.stringify(rules))` or
 * `structuredClone(rules.toJSON())`. They answer as the rules did that it was made of.
 *
 * Caches are not trusted: what is of another version, or is no such data, is `undefined`, as if nothing had been kept.
 */
export function restoreRules(bound: unknown): CrawlerRules | undefined {
  if (!isBoundRules(bound)) return undefined
  const dialect = dialectOf(bound.dialect)
  return dialect === undefined ? undefined : new CrawlerRules(withOwnRecords(bound), dialect)
}

/** Copies the records of the data, so that later changes of it, and what else it holds, do not stay with the rules. */
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

function dialectOf(kept: BoundRules['dialect']): Dialect | undefined {
  if (typeof kept === 'object' && !Object.values(kept.reading).every((answer) => typeof answer === 'string'))
    return undefined
  try {
    return dialectFor(typeof kept === 'string' ? kept : { ...kept, access: dialects.rfc9309.access })
  } catch (error) {
    if (error instanceof OptionError) return undefined // one that is not known here
    throw error
  }
}

function isBoundRules(data: unknown): data is BoundRules {
  if (typeof data !== 'object' || data === null) return false
  const { version, dialect, productTokens, origin, packed, groupsAt, crawlDelayMs, requestRates, visitTimes, file } =
    data as Partial<Record<keyof BoundRules, unknown>>
  return (
    version === BOUND_VERSION &&
    (typeof dialect === 'string' || (isObject(dialect) && isObject((dialect as Partial<BoundDialect>).reading))) &&
    isListOf(productTokens, (token) => typeof token === 'string') &&
    (origin === undefined || typeof origin === 'string') &&
    typeof packed === 'string' &&
    typeof groupsAt === 'number' &&
    areWellPacked(packed, groupsAt) &&
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

function isObject(item: unknown): boolean {
  return typeof item === 'object' && item !== null
}
