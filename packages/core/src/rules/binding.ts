// A file -> what it says to one crawler. RFC 9309 §2.2.1.
import type { Dialect, Reading } from '../dialect.ts'
import { compact, octetsOf, type Source } from '../octets.ts'
import type { AskedPath } from '../url/asked-path.ts'
import { BOUND_VERSION, type BoundRules } from './bound-rules.ts'
import { crawlDelayMsOf } from './crawl-delay.ts'
import { dayRangeOf } from './day-range.ts'
import { groupsOf, type WrittenFile } from './groups.ts'
import { readingsOf, recordsFor } from './other-records.ts'
import { packRules } from './ranking.ts'
import { requestRateOf } from './request-rate.ts'
import { askedNames, type Selection, selectGroups } from './selection.ts'

/** Whether the bound form keeps the `rules` only, or the whole `file` too. */
export type Keep = 'rules' | 'file'

/** What of a file is said to a crawler. */
export interface Said {
  readonly file: WrittenFile
  readonly selection: Selection
}

/** @param about The path of a single question: what cannot decide it is left out. */
export function saidTo(productTokens: readonly string[], source: Source, reading: Reading, about?: AskedPath): Said {
  const { own, isWanted } = askedNames(productTokens, reading)
  const file = groupsOf(source, reading, isWanted, about)
  return { file, selection: selectGroups(file.groups, own, reading) }
}

export function bindRules(
  { file, selection: { groups, names } }: Said,
  productTokens: readonly string[],
  dialect: Dialect,
  origin: string | undefined,
  keep: Keep,
): BoundRules {
  const { reading } = dialect
  const { packed, groupsAt } = packRules(file, groups, reading)
  const records = recordsFor(file.others, names)
  const delays = readingsOf(records, 'crawl-delay', crawlDelayMsOf)
  return {
    version: BOUND_VERSION,
    dialect,
    productTokens,
    origin: origin === undefined ? undefined : compact(origin),
    packed,
    groupsAt,
    crawlDelayMs: delays.length === 0 ? undefined : delays.reduce((a, b) => Math.max(a, b)),
    requestRates: readingsOf(records, 'request-rate', requestRateOf),
    visitTimes: readingsOf(records, 'visit-time', dayRangeOf),
    file: keep === 'file' ? octetsOf(file.source) : undefined,
  }
}
