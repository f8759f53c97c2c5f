// Formats the report about one page for people.
import { describeOutcome } from '@politely/core'
import { adviceOn } from '../../output/advice.ts'
import { durationText, sizeText, waitText } from '../../output/amounts.ts'
import { outcomeText } from '../../output/outcome-text.ts'
import { reasonText } from '../../output/reason-text.ts'
import { shorten } from '../../output/shorten.ts'
import { bold, dim, green, printable, red, yellow } from '../../output/style.ts'
import type { FetchReport } from './report.ts'

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
  const lines = [
    `${headline(report)}  ${bold(printable(url))}`,
    ...(problem === undefined ? [] : [row('problem', printable(problem))]),
    ...(page === undefined || outcomeText(page) === undefined
      ? []
      : [row('outcome', `${page.kind}: ${describeOutcome(page)}`)]),
    ...(verdict === undefined ? [] : [row('because', shorten(reasonText(verdict)))]),
    ...(isRedirect
      ? [row(isRepeated ? 'requests' : 'redirects', [...hops, ...refusedTarget(report)].join(' → '))]
      : []),
    ...(waits.length === 0 ? [] : [row('waited', waits.join(', '))]),
    ...(tookMs === undefined
      ? []
      : [
          row(
            requests.length === 0 ? 'read' : 'received',
            `${sizeText(bytes)}${typeText(contentType)} in ${durationText(tookMs)}`,
          ),
        ]),
    ...(report.cache === undefined ? [] : [row('cache', cacheText(report.cache))]),
    ...(verdict?.because === 'unreachable'
      ? [row('try again', `in ${durationText(Math.max(0, verdict.access.nextAttemptAt - now))}`)]
      : []),
    ...(report.waitMs === undefined ? [] : [row('try again', `in ${durationText(report.waitMs)} (${report.waitFor})`)]),
    ...adviceOn(verdict?.access, proxy).map((advice) => row('advice', advice)),
  ]
  return `${lines.join('\n')}\n`
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

function row(label: string, text: string): string {
  return `  ${dim(label.padEnd(11))} ${text}`
}
