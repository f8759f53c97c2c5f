// Checks records: the fields other than user-agent lines and rules. RFC 9309 §2.2.4.

import { textOf } from '../bytes.ts'
import type { OtherField } from '../parse/directive.ts'
import { crawlDelayMsOf, dayRangeOf, requestRateOf } from '../parse/pace-records.ts'
import type { ParsedRecord } from '../parse/records.ts'
import { splitSitemaps } from '../parse/sitemaps.ts'
import { MAX_TIMED_RECORDS } from '../timed-records.ts'
import { hostOf, originOf, parseUrl } from '../url/origin.ts'
import { urlOrNull } from '../url/url-or-null.ts'
import { quoted, type ReportFinding } from './finding.ts'
import type { FindingCode } from './finding-kinds.ts'
import { nameOf } from './name.ts'
import { lintPreferences } from './preferences/preference-line.ts'

/** A longer delay is reported. With this one a crawler can fetch 1,440 pages a day. Our choice. */
const MAX_USUAL_DELAY_MS = 60_000

/**
 * Checks the value of one record. @param origin The origin of the site, for URLs to write.
 */
export function lintRecord(
  field: OtherField,
  value: string,
  line: number,
  origin: string,
  report: ReportFinding,
): void {
  switch (field) {
    case 'sitemap':
      lintSitemaps(splitSitemaps(textOf(value)), line, origin, report)
      break
    case 'license':
      if (originOf(textOf(value)) === undefined)
        report('license-not-absolute', line, `License: ${absoluteExample(textOf(value), origin)}`)
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
    case 'content-usage':
    case 'content-signal':
      lintPreferences(field, value, line, report)
      break
    case 'noindex':
      report('noindex-not-supported', line)
      break
    case 'host':
      report('host-deprecated', line)
      break
  }
}

function lintSitemaps(urls: readonly string[], line: number, origin: string, report: ReportFinding): void {
  if (urls.length > 1) report('several-sitemaps-on-one-line', line)
  const relative = urls.find((url) => originOf(url) === undefined)
  if (relative !== undefined) report('sitemap-not-absolute', line, `Sitemap: ${absoluteExample(relative, origin)}`)
  for (const url of urls) {
    const parsed = parseUrl(url)
    if (typeof parsed === 'string' || parsed.origin === origin) continue
    const host = hostOf(parsed.origin)
    if (!PRIVATE_HOST.test(host)) continue
    report('sitemap-on-private-host', { line, found: quoted(host) }, `Sitemap: ${origin}${parsed.path}`)
  }
}

/** Reports a sitemap that an earlier line names. */
export function lintSitemapTwice(records: readonly ParsedRecord[], report: ReportFinding): void {
  const seen = new Set<string>()
  for (const { field, value, line } of records) {
    if (field !== 'sitemap') continue
    const sitemaps = splitSitemaps(textOf(value)).map((url) => urlOrNull(url)?.href ?? url)
    if (sitemaps.every((url) => url !== '' && seen.has(url))) report('duplicate-sitemap', line)
    for (const url of sitemaps) seen.add(url)
  }
}

/** Hosts that only the site itself or its network can reach: RFC 6761, 6762, 1918, 4193. */
const PRIVATE_HOST =
  /(?:^|\.)(?:local|localhost|test|invalid|internal)$|^(?:0|10|127|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.[\d.]+$|^\[(?:::1|f[cd].*)\]$/

/** Reports request-rates and visit-times in excess of the number that is kept for a crawler. */
export function lintTimedRecords(records: readonly ParsedRecord[], report: ReportFinding): void {
  lintRecordCount('request-rate', requestRateOf, 'too-many-request-rates', records, report)
  lintRecordCount('visit-time', dayRangeOf, 'too-many-visit-times', records, report)
}

function lintRecordCount(
  field: OtherField,
  parse: (value: string) => unknown,
  code: FindingCode,
  records: readonly ParsedRecord[],
  report: ReportFinding,
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

/** Returns the absolute URL that was probably meant, or an example of one. */
function absoluteExample(value: string, origin: string): string {
  // A scheme without its colon or slashes, `//host/`, or a host alone.
  const [, scheme = '', rest = ''] = /^(https?(?=:|\/\/))?:?\/*(.*)$/is.exec(value) ?? []
  const isHost = scheme !== '' || value.startsWith('//') || HOST.test(rest)
  const url = isHost ? `${scheme.toLowerCase() || 'https'}://${rest}` : `${origin}/${rest}`
  return originOf(url) === undefined || /^[a-z]+:/i.test(rest) ? `${origin}/` : url
}

/** A host before a path, such as `www.example.com/`; not a file in a folder of the same form. */
const HOST = /^(?:[\w-]+\.)+(?!(?:xml|html?|php|gz)\/)[a-z]{2,}(?::\d+)?\//i

/** Reports records that belong to no crawler, and different crawl-delays for one crawler. */
export function lintRecordAgents(records: readonly ParsedRecord[], report: ReportFinding): void {
  /**
   * The first crawl-delay by crawler name. The array of names is a key too, so that further records
   * of the group need one look-up.
   */
  const delays = new Map<string | readonly string[], number>()
  for (const { field, value, line, agents } of records) {
    if (agents === undefined) continue
    if (agents.length === 0) {
      report('record-before-group', line)
      continue
    }
    const delayMs = field === 'crawl-delay' ? crawlDelayMsOf(value) : undefined
    if (delayMs === undefined) continue
    const keys = delays.has(agents) ? [agents] : [agents, ...agents.map(nameOf).filter((name) => name !== '')]
    const differs = keys.some((key) => (delays.get(key) ?? delayMs) !== delayMs)
    if (differs) report('several-crawl-delays', line)
    for (const key of keys) if (!delays.has(key)) delays.set(key, delayMs)
  }
}
