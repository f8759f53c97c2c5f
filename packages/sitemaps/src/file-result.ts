// The result of one file: what was read, and what is missing.
import { describeVerdict } from '@politely/core'
import { withoutCredentials } from '@politely/core/internal'
import type { ClientVerdict } from '@politely/fetcher'
import type { ForeignHost } from './entry.ts'
import type { SitemapLimits } from './limits.ts'
import type { DateTrust } from './parse/date-trust.ts'
import type { SitemapFormat, SitemapProblem } from './parse/found.ts'

/** What each reason means. A reason `limit: NAME` names the limit that was reached. */
export const reasonMeanings = {
  'cut-off': 'the file ended before its end',
  'gzip-damaged': 'the gzip data is damaged; what came before was read',
  'not-gzip': 'the data begins like gzip, or is declared as packed, but cannot be unpacked',
  'html-instead': 'the server sent a web page instead of a sitemap',
  'not-a-sitemap': 'the file is neither a sitemap, nor a feed, nor a list of URLs',
  xml: 'the file begins like XML, but has no element',
  empty: 'the file is empty',
  status: 'the server answered with a status other than 200',
  network: 'the request failed',
  disallowed: 'robots.txt does not allow the URL, or is unreachable; see `verdict`',
  refused: 'the gate did not send the request',
  redirects: 'the file redirects too often, or to no URL',
  duplicate: 'the file was read before, under this URL or another one',
  since: 'the index says that the file did not change since the given time',
  'not-reached': 'the reading ended before this file',
  'no-fetch': 'the file is listed by bytes that were read without a fetch',
  'robots-unreachable': 'robots.txt, which names the sitemaps, could not be fetched',
  'no-sitemaps': 'robots.txt names no sitemap',
} as const

/** Why a file is not complete. */
export type SitemapReason = keyof typeof reasonMeanings | `limit: ${keyof SitemapLimits}`

/**
 * - `complete`: the whole file was read. It may have problems.
 * - `partial`: a part of the file was read; `reason` says why the rest is missing.
 * - `failed`: nothing was read.
 * - `unchanged`: the server answered 304 to a conditional request.
 * - `skipped`: the file was not requested.
 * @inline
 */
export type SitemapOutcome = 'complete' | 'partial' | 'failed' | 'unchanged' | 'skipped'

/** The result of one file. JSON-safe. */
export interface SitemapFile {
  /** The URL by which the file was requested. */
  readonly url: string
  /** The redirects of the file: each URL that redirected, and its status. */
  readonly hops: readonly { readonly url: string; readonly status: number }[]
  /** The URL of the index that lists the file. Missing for a file that the caller or robots.txt names. */
  readonly parent?: string
  /** The number of indexes above the file. */
  readonly depth: number
  /** The other host, if the file is of another host than the index that lists it. */
  readonly foreign: false | ForeignHost
  readonly outcome: SitemapOutcome
  readonly reason?: SitemapReason
  /** More about the reason, as a sentence. */
  readonly detail?: string
  /** The verdict about the URL, if it was refused. */
  readonly verdict?: ClientVerdict
  readonly status?: number
  readonly contentType?: string
  readonly format?: SitemapFormat
  /** Such as `utf-8`. */
  readonly encoding?: string
  /** How often the file was packed with gzip, apart from the content encoding of HTTP. */
  readonly gzipLayers: number
  /** The bytes of the body, after the content encoding of HTTP was undone. */
  readonly bytesIn: number
  /** The bytes after gzip was unpacked. */
  readonly bytesOut: number
  /** The number of entries read, with the entries that `since` left out. */
  readonly entries: number
  /** The number of entries that `since` left out. */
  readonly skippedEntries: number
  /** The number of sitemaps that the file lists and that were queued. */
  readonly sitemaps: number
  /** The number of entries of another host. */
  readonly foreignEntries: number
  /** How far the dates of the file can be trusted. */
  readonly dates: DateTrust
  readonly problems: readonly SitemapProblem[]
  /** The validators for the next conditional request. */
  readonly etag?: string
  readonly lastModified?: string
}

/** Returns one sentence about the file: its URL without credentials, a colon, and what became of it. */
export function describeFile(file: SitemapFile): string {
  return `${withoutCredentials(file.url)}: ${describeResult(file)}`
}

/** `describeFile` without the URL. */
export function describeResult({ outcome, reason, detail, verdict, status, entries, sitemaps }: SitemapFile): string {
  const ofSitemaps = sitemaps > 0 ? `, ${sitemaps} ${sitemaps === 1 ? 'sitemap' : 'sitemaps'}` : ''
  const read = `${entries} ${entries === 1 ? 'entry' : 'entries'}${ofSitemaps}`
  if (reason === undefined) return outcome === 'unchanged' ? 'unchanged' : `${outcome}: ${read}`
  const meaning = reason.startsWith('limit: ')
    ? `the limit ${reason.slice('limit: '.length)} was reached`
    : reasonMeanings[reason as keyof typeof reasonMeanings]
  const why = reason === 'status' ? `status ${status}` : (detail ?? meaning)
  if (verdict !== undefined && reason === 'disallowed') return `${outcome}: ${describeVerdict(verdict)}`
  return outcome === 'partial' ? `partial (${why}): ${read}` : `${outcome}: ${why}`
}
