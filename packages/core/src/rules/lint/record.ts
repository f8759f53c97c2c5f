// Records beside the rules. RFC 9309 §2.2.4.

import { textOf } from '../../octets.ts'
import { originOf } from '../../url/origin.ts'
import { crawlDelayMsOf } from '../crawl-delay.ts'
import { dayRangeOf } from '../day-range.ts'
import type { OtherField, WrittenRecord } from '../other-records.ts'
import { requestRateOf } from '../request-rate.ts'
import type { Report } from './finding.ts'
import { nameOf } from './name.ts'

/** A crawler that keeps it fetches at most 1,440 pages a day. Our choice of what is long. */
const LONG_DELAY_MS = 60_000

/** The value of one record. */
export function lintRecord(field: OtherField, value: string, line: number, report: Report): void {
  switch (field) {
    case 'sitemap':
      if (originOf(textOf(value)) === undefined) report('sitemap-not-absolute', line, `Sitemap: ${onHost(value)}`)
      break
    case 'license':
      if (originOf(textOf(value)) === undefined) report('license-not-absolute', line, `License: ${onHost(value)}`)
      break
    case 'crawl-delay': {
      const delayMs = crawlDelayMsOf(value)
      if (delayMs === undefined) report('crawl-delay-unreadable', line)
      else if (delayMs > LONG_DELAY_MS) report('crawl-delay-very-long', line)
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

/** A whole URL in the place of a path. */
function onHost(value: string): string {
  if (/^[a-z]+:/i.test(value)) return 'https://example.com/'
  return textOf(value.startsWith('//') ? `https:${value}` : `https://example.com/${value.replace(/^\/+/, '')}`)
}

/** Whom the records speak to: somebody, and to nobody with two voices. */
export function lintAudiences(records: readonly WrittenRecord[], report: Report): void {
  /** The first crawl-delay for a name, and for the names that stand together, so that none is looked up more than once. */
  const delays = new Map<string | readonly string[], number>()
  for (const { field, value, line, agents } of records) {
    if (agents === undefined) continue
    if (agents.length === 0) report('record-before-group', line)
    const delayMs = field === 'crawl-delay' ? crawlDelayMsOf(value) : undefined
    if (delayMs === undefined) continue
    const speaksTo = delays.has(agents) ? [agents] : [agents, ...agents.map(nameOf)]
    const differs = speaksTo.some((who) => (delays.get(who) ?? delayMs) !== delayMs)
    if (differs) report('several-crawl-delays', line)
    for (const who of speaksTo) if (!delays.has(who)) delays.set(who, delayMs)
  }
}
