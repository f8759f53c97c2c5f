// Checks records: the fields other than user-agent lines and rules. RFC 9309 §2.2.4.

import { textOf } from '../bytes.ts'
import type { OtherField } from '../parse/directive.ts'
import { crawlDelayMsOf, dayRangeOf, requestRateOf } from '../parse/pace-records.ts'
import type { ParsedRecord } from '../parse/records.ts'
import { splitSitemaps } from '../parse/sitemaps.ts'
import { MAX_TIMED_RECORDS } from '../timed-records.ts'
import { originOf } from '../url/origin.ts'
import type { Report } from './finding.ts'
import type { FindingCode } from './finding-kinds.ts'
import { nameOf } from './name.ts'

/** A longer delay is reported. With this one a crawler can fetch 1,440 pages a day. Our choice. */
const MAX_USUAL_DELAY_MS = 60_000

/** Checks the value of one record. */
export function lintRecord(field: OtherField, value: string, line: number, report: Report): void {
  switch (field) {
    case 'sitemap':
      lintSitemaps(splitSitemaps(textOf(value)), line, report)
      break
    case 'license':
      if (originOf(textOf(value)) === undefined)
        report('license-not-absolute', line, `License: ${absoluteExample(textOf(value))}`)
      break
    case 'crawl-delay': {
      const delayMs = crawlDelayMsOf(value)
      if (delayMs === undefined) report('crawl-delay-unreadable', line)
      else if (delayMs > MAX_USUAL_DELAY_MS) report('crawl-delay-very-long', line)
      break
    }
    case 'request-rate':
      if (requestRateOf(value) === undefined) report('request-rate-unreadable', line)
      break
    case 'visit-time':
      if (dayRangeOf(value) === undefined) report('visit-time-unreadable', line)
      break
    case 'noindex':
      report('noindex-not-supported', line)
      break
    case 'host':
      report('host-deprecated', line)
      break
  }
}

function lintSitemaps(urls: readonly string[], line: number, report: Report): void {
  if (urls.length > 1) report('several-sitemaps-on-one-line', line)
  const relative = urls.find((url) => originOf(url) === undefined)
  if (relative !== undefined) report('sitemap-not-absolute', line, `Sitemap: ${absoluteExample(relative)}`)
}

/** Reports request-rates and visit-times in excess of the number that is kept for a crawler. */
export function lintTimedRecords(records: readonly ParsedRecord[], report: Report): void {
  lintRecordCount('request-rate', requestRateOf, 'too-many-request-rates', records, report)
  lintRecordCount('visit-time', dayRangeOf, 'too-many-visit-times', records, report)
}

function lintRecordCount(
  field: OtherField,
  parse: (value: string) => unknown,
  code: FindingCode,
  records: readonly ParsedRecord[],
  report: Report,
): void {
  /**
   * The lines of the field by the user-agent lines that they belong to. Records of one group share
   * the same array of names.
   */
  const linesFor = new Map<readonly string[], number[]>()
  for (const { field: of, value, line, agents } of records) {
    if (of !== field || agents === undefined || parse(value) === undefined) continue
    const lines = linesFor.get(agents)
    if (lines === undefined) linesFor.set(agents, [line])
    else lines.push(line)
  }
  const counts = new Map<string, number>()
  for (const [agents, lines] of linesFor) {
    /**
     * The largest number of earlier lines for one of the names, except names whose excess has been
     * reported.
     */
    let above = 0
    for (const name of new Set(agents.map(nameOf))) {
      const count = counts.get(name) ?? 0
      if (count <= MAX_TIMED_RECORDS) above = Math.max(above, count)
      counts.set(name, count + lines.length)
    }
    const first = lines[MAX_TIMED_RECORDS - above]
    if (first !== undefined) report(code, first)
  }
}

/** Returns an example of an absolute URL for a relative one. */
function absoluteExample(value: string): string {
  if (/^[a-z]+:/i.test(value)) return 'https://example.com/'
  return value.startsWith('//') ? `https:${value}` : `https://example.com/${value.replace(/^\/+/, '')}`
}

/** Reports records that belong to no crawler, and different crawl-delays for one crawler. */
export function lintRecordAgents(records: readonly ParsedRecord[], report: Report): void {
  /**
   * The first crawl-delay by crawler name. The array of names is a key too, so that further records
   * of the group need one look-up.
   */
  const delays = new Map<string | readonly string[], number>()
  for (const { field, value, line, agents } of records) {
    if (agents === undefined) continue
    if (agents.length === 0) report('record-before-group', line)
    const delayMs = field === 'crawl-delay' ? crawlDelayMsOf(value) : undefined
    if (delayMs === undefined) continue
    const keys = delays.has(agents) ? [agents] : [agents, ...agents.map(nameOf)]
    const differs = keys.some((key) => (delays.get(key) ?? delayMs) !== delayMs)
    if (differs) report('several-crawl-delays', line)
    for (const key of keys) if (!delays.has(key)) delays.set(key, delayMs)
  }
}
