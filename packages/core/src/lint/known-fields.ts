// Fields that some crawlers read and others ignore.

import type { Dialect } from '../dialect.ts'
import type { ParsedRecord } from '../parse/records.ts'
import type { ReportFinding } from './finding.ts'

/**
 * The operator that documents that its crawler reads a field, by the key in lower case; an empty
 * string if no operator does. google/robotstxt lists most of these fields as ignored by Google
 * (reporting_robots.cc, 2026-04). The others are newer than that list.
 */
const READERS: Readonly<Record<string, string>> = {
  'crawl-delay': 'Bing', // Bing Webmaster Tools; Yandex until 2018
  'request-rate': 'Seznam', // Seznam's help for webmasters
  'visit-time': '', // Conner's extended standard, 2002
  'clean-param': 'Yandex', // Yandex Webmaster
  'content-usage': 'PostHog', // draft-ietf-aipref-attach; the README of its image fetcher, 2026-08
  'content-signal': 'Cloudflare', // contentsignals.org, Cloudflare's crawl API
  license: '', // RSL 1.0
  noarchive: '',
  nofollow: '',
  agentmap: '', // a proposal of 2026 for agents
}

/** Reports a field that core does not know: whether any crawler does. @param key In lower case. */
export function lintUnknownField(key: string, line: number, { name }: Dialect, report: ReportFinding): void {
  if (Object.hasOwn(READERS, key)) report('ignored-field', { line, found: whoReads(key, name) })
  else report('unknown-field', line)
}

/** Reports records for Google's crawlers that Google ignores, in the dialect `google`. */
export function lintIgnoredRecords(records: readonly ParsedRecord[], { name }: Dialect, report: ReportFinding): void {
  if (name !== 'google') return
  /** By the list of names, which records of one group share. Undefined is for all crawlers. */
  const isForGoogle = new Map<readonly string[] | undefined, boolean>([[undefined, true]])
  for (const { field, agents, line } of records) {
    if (!Object.hasOwn(READERS, field)) continue
    if (!isForGoogle.has(agents)) isForGoogle.set(agents, agents?.some((agent) => /^\*|google/i.test(agent)) === true)
    if (isForGoogle.get(agents)) report('ignored-field', { line, found: whoReads(field, name) })
  }
}

function whoReads(key: string, dialect: string): string {
  const reader = READERS[key]
  const who = reader === '' ? 'no known crawler reads it' : `${reader} reads it`
  return dialect === 'google' ? `Google ignores it (${who})` : who
}
