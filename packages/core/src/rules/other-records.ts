// Records beside the rules. RFC 9309 §2.2.4 leaves them to those who want them: they are kept as written, and never guessed
// into rules.
import { textOf } from '../octets.ts'
import type { Selection } from './selection.ts'

/** Whom a field speaks to: the user-agent lines right above it, or everyone wherever it stands. */
type Audience = 'agents-above' | 'everyone'

/** A field that is kept. */
export type OtherField =
  | 'sitemap'
  | 'crawl-delay'
  | 'request-rate'
  | 'visit-time'
  | 'host'
  | 'clean-param'
  | 'noindex'
  | 'content-usage'
  | 'content-signal'
  | 'license'

export const otherFields: Readonly<Record<OtherField, Audience>> = {
  sitemap: 'everyone', // sitemaps.org
  'crawl-delay': 'agents-above', // Bing, Yandex
  'request-rate': 'agents-above', // Seznam; Conner's extended standard
  'visit-time': 'agents-above', // Conner's extended standard
  host: 'everyone', // Yandex, until 2018
  'clean-param': 'everyone', // Yandex
  noindex: 'agents-above', // Google, until 2019
  'content-usage': 'agents-above', // AIPREF: a rule of its group
  'content-signal': 'agents-above', // Content Signals: as Cloudflare lays it out
  license: 'everyone', // RSL
}

/** A line that is neither a user-agent line nor a rule, taken apart and not judged. Octets. */
export interface WrittenRecord {
  /** `unknown`: nobody told us what it means. */
  readonly field: OtherField | 'unknown'
  /** The key as it stands in the file. */
  readonly key: string
  readonly value: string
  readonly line: number
  /** The user-agent values it speaks to: none, where it stands above them all; undefined where it is not about crawlers. */
  readonly agents: readonly string[] | undefined
}

/** The records that speak to a crawler, in the order of the file. Lines that stand together share one array of agents. */
export function recordsFor(records: readonly WrittenRecord[], names: Selection['names']): readonly WrittenRecord[] {
  const speaks = new Map<WrittenRecord['agents'], boolean>([[undefined, false]])
  return records.filter(({ agents }) => {
    if (!speaks.has(agents)) speaks.set(agents, agents?.some(names) ?? false)
    return speaks.get(agents)
  })
}

/** What the records of one field say, as far as it can be read. */
export function readingsOf<T>(
  records: readonly WrittenRecord[],
  field: OtherField,
  read: (value: string) => T | undefined,
): readonly T[] {
  return records
    .filter((record) => record.field === field)
    .map(({ value }) => read(value))
    .filter((reading) => reading !== undefined)
}

/** A record beside the rules, as it stands in the file, decoded from UTF-8. JSON-safe. RFC 9309 §2.2.4. */
export interface OtherRecord {
  /** Which record it is; `unknown` for a field that is not known, which is kept all the same. */
  readonly field: OtherField | 'unknown'
  /** The key as written, such as `Crawl-Delay`. */
  readonly key: string
  /** The value as written, without blanks at its ends and without a comment. */
  readonly value: string
  /** The line in the file, counted from 1. */
  readonly line: number
  /**
   * The user-agent values that it speaks to, as written: those right above it, so none where it stands above them all.
   * Undefined for what is said to everyone (sitemap, host, clean-param, license) and for what is unknown.
   */
  readonly agents: readonly string[] | undefined
}

/** The records for people and programs to read. */
export function readableRecords(records: readonly WrittenRecord[]): readonly OtherRecord[] {
  const readable = new Map<WrittenRecord['agents'], OtherRecord['agents']>()
  return records.map(({ field, key, value, line, agents }) => {
    if (!readable.has(agents)) readable.set(agents, agents?.map(textOf))
    return { field, key: textOf(key), value: textOf(value), line, agents: readable.get(agents) }
  })
}
