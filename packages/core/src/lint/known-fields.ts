// Fields that some crawlers read and others ignore.

import type { Dialect } from '../dialect.ts'
import type { Directive } from '../parse/directive.ts'
import type { Report } from './finding.ts'

/**
 * Who documents that it reads a field, by the key in lower case; an empty string for nobody.
 * google/robotstxt lists most of them as fields that Google ignores (reporting_robots.cc,
 * 2026-04). The others are new fields, which are of interest to other readers.
 */
const READERS: Readonly<Record<string, string>> = {
  'crawl-delay': 'Bing', // Bing Webmaster Tools; Yandex until 2018
  'request-rate': 'Seznam', // Seznam's help for webmasters
  'visit-time': '', // Conner's extended standard, 2002
  'clean-param': 'Yandex', // Yandex Webmaster
  'content-usage': '', // draft-ietf-aipref-attach
  'content-signal': 'Cloudflare', // contentsignals.org, Cloudflare's crawl API
  license: '', // RSL 1.0
  noarchive: '',
  nofollow: '',
  'revisit-after': '',
  agentmap: '', // a proposal of 2026 for agents
}

/**
 * Reports a field that is known, but that readers in this dialect ignore.
 *
 * @param key In lower case. @returns Whether there is such a finding.
 */
export function lintIgnoredField(
  directive: Directive | 'unknown',
  key: string,
  line: number,
  { name, parsing }: Dialect,
  report: Report,
): boolean {
  const reader = Object.hasOwn(READERS, key) ? READERS[key] : undefined
  const isIgnored = directive === 'unknown' || name === 'google'
  let found: string | undefined
  if (directive === 'allow' && parsing.allow === 'unknown') found = `the dialect ${name} has no Allow`
  else if (reader !== undefined && isIgnored) {
    const who = reader === '' ? 'no large crawler is known to read it' : `${reader} reads it`
    found = name === 'google' ? `Google ignores it (${who})` : who
  }
  if (found !== undefined) report('ignored-field', { line, found })
  return found !== undefined
}
