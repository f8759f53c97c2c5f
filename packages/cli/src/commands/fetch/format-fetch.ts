// Formats the report about one page for people.
import type { CacheReport } from '@politely/cache'
import { describeOutcome, type PageOutcome } from '@politely/core'
import type { ClientVerdict } from '@politely/fetcher'
import type { StartMessage } from '@politely/gate'
import { adviceOn, outcomeText, reasonText } from '../../output/sentences.ts'
import {
  bold,
  durationText,
  green,
  linesOf,
  printable,
  type Row,
  red,
  shorten,
  sizeText,
  waitText,
  yellow,
} from '../../output/style.ts'

/** What happened to one URL. */
export interface FetchReport {
  /** Without credentials. */
  readonly url: string
  /** `fetched`, or the kind of problem. */
  readonly outcome: 'fetched' | 'refused' | 'wait-too-long' | 'failed'
  /** What became of the last request; undefined if it says nothing about the site. */
  readonly page: PageOutcome | undefined
  /** The verdict about the last URL. */
  readonly verdict: ClientVerdict | undefined
  /** What the cache of `--cache` did for the page. */
  readonly cache?: CacheReport | undefined
  /** Every request that was sent, in order: a redirect is a hop. None for a page that was stored. */
  readonly requests: readonly SentRequest[]
  readonly contentType: string | undefined
  /** The size of the page after decoding. */
  readonly bytes: number
  /** From the start of the last request, or of the check if none was sent, to the end of the body. Milliseconds. */
  readonly tookMs: number | undefined
  /**
   * How long the next request to the site has to wait, if the response asked for it: by a Retry-After,
   * or by a status such as 429. Milliseconds.
   */
  readonly waitMs?: number | undefined
  /** What the wait is for. */
  readonly waitFor?: 'retry-after' | 'backoff' | undefined
  /** Why the page did not arrive, or may not be requested now. */
  readonly problem: string | undefined
}

export interface SentRequest {
  readonly url: string
  readonly status: number | undefined
  /** How long the request waited for its turn. Milliseconds. */
  readonly waitedMs: number
  readonly waitedFor: StartMessage['waitedFor']
}

/**
 * Returns lines such as these:
 *
 *     ✓ 200  https://example.com/page
 *       because     no rule of the group for * (line 1) matches
 *       redirects   https://example.com/ (301) → https://example.com/page (200)
 *       waited      5 s (crawl-delay)
 *       received    12 kB of text/html in 350 ms
 *       cache       stored: the site sent it
 *
 * @param proxy The value of `--proxy`.
 */
export function formatFetch(report: FetchReport, now: number, proxy?: string): string {
  const { url, page, verdict, requests, contentType, bytes, tookMs, problem } = report
  const waits = requests.flatMap(({ waitedMs, waitedFor }) => waitText(waitedMs, waitedFor) ?? [])
  const hops = hopsOf(report)
  const isRedirect = hops.length > 1 || (verdict !== undefined && hops.length === 1 && report.outcome !== 'fetched')
  const isRepeated = requests.some(({ url }, i) => url === requests[i - 1]?.url)
  const rows: readonly Row[] = [
    ['problem', problem && printable(problem)],
    ['outcome', page && outcomeText(page) && `${page.kind}: ${describeOutcome(page)}`],
    ['because', verdict && shorten(reasonText(verdict))],
    [isRepeated ? 'requests' : 'redirects', isRedirect ? [...hops, ...refusedTarget(report)].join(' → ') : ''],
    ['waited', waits.join(', ')],
    [
      requests.length === 0 ? 'read' : 'received',
      tookMs === undefined ? '' : `${sizeText(bytes)}${typeText(contentType)} in ${durationText(tookMs)}`,
    ],
    ['cache', report.cache && cacheText(report.cache)],
    [
      'try again',
      verdict?.because === 'unreachable' && `in ${durationText(Math.max(0, verdict.access.nextAttemptAt - now))}`,
    ],
    ['try again', report.waitMs === undefined ? '' : `in ${durationText(report.waitMs)} (${report.waitFor})`],
    ['advice', adviceOn(verdict?.access, proxy)],
  ]
  return `${[`${headline(report)}  ${bold(printable(url))}`, ...linesOf(11, rows)].join('\n')}\n`
}

/** The requests, and the ends of a redirect that were stored. */
function hopsOf({ url, requests, verdict, cache }: FetchReport): readonly string[] {
  const sent = requests.map((each) => `${printable(each.url)}${each.status === undefined ? '' : ` (${each.status})`}`)
  if (cache === undefined || verdict === undefined) return sent
  const first = URL.parse(url)?.href ?? url
  const isFirstStored = (requests[0]?.url ?? verdict.url) !== first
  const isLastStored = (requests.at(-1)?.url ?? first) !== verdict.url
  const stored = (end: string) => `${printable(end)} (stored)`
  return [...(isFirstStored ? [stored(first)] : []), ...sent, ...(isLastStored ? [stored(verdict.url)] : [])]
}

/** `hit (5 min old): it is fresh`. */
function cacheText({ state, ageMs, because }: NonNullable<FetchReport['cache']>): string {
  const isOld = state === 'hit' || state === 'stale'
  return `${state}${isOld ? ` (${durationText(ageMs)} old)` : ''}: ${printable(because)}`
}

function headline({ outcome, page, requests, verdict }: FetchReport): string {
  const { status } = { status: requests.at(-1)?.status, ...page } // a page that was stored has its own
  switch (outcome) {
    case 'fetched':
      return page !== undefined && outcomeText(page) !== undefined ? yellow(`! ${status}`) : green(`✓ ${status}`)
    case 'refused':
      return red(verdict?.because === 'invalid-url' ? '✗ invalid' : '✗ disallowed')
    case 'wait-too-long':
      return yellow('✗ not now')
    case 'failed':
      return red('✗ failed')
  }
}

/** The target of the last redirect, if the gate refused it. */
function refusedTarget({ outcome, verdict, requests }: FetchReport): readonly string[] {
  if (outcome === 'fetched' || verdict === undefined || requests.length === 0) return []
  return [`${printable(verdict.url)} (not requested)`]
}

function typeText(contentType: string | undefined): string {
  return contentType === undefined ? '' : ` of ${printable(contentType.replace(/;.*$/, ''))}`
}
