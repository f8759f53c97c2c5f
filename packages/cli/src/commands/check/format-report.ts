// Formats a verdict for people: allowed or not, why, and where the rules came from.
import type { Access, DayRange, RequestRate, Verdict } from '@politely/core'
import { displayUrl, withoutCredentials } from '@politely/fetcher'
import { adviceOn, groupNote, reasonText } from '../../output/sentences.ts'
import { bold, dim, durationText, green, linesOf, printable, type Row, red, shorten } from '../../output/style.ts'
import { hang } from '../../output/wrap.ts'
import type { EdgeComparison, EdgeHeaders } from './compare-edge.ts'

/** A verdict about a valid URL. `access` is absent if the rules are from a file of this machine. */
export type ReportedVerdict = Exclude<Verdict, { readonly because: 'invalid-url' }> & {
  readonly url: string
  readonly access?: Access | undefined
  readonly crawlDelayMs: number | undefined
  readonly requestRates?: readonly RequestRate[] | undefined
  readonly visitTimes?: readonly DayRange[] | undefined
}

/** What a report says beside the verdict. */
export interface ReportContext {
  /** The crawler of the command line, for people. */
  readonly crawler: string
  /** The names that the command looks for in robots.txt. */
  readonly productTokens: readonly string[]
  /** Milliseconds since 1970. */
  readonly now: number
  /** The headers of the response that `access` describes, if it arrived in this run. */
  readonly headers?: EdgeHeaders | undefined
  /** The file that `--robots` names. */
  readonly file?: { readonly name: string; readonly bytes: number } | undefined
  readonly edge?: EdgeComparison | undefined
  /** The value of `--proxy`. */
  readonly proxy?: string | undefined
}

/**
 * Returns these lines, and one for each other thing that there is to say:
 *
 *     ✗ disallowed  https://example.com/private
 *       because     line 2 of robots.txt says "Disallow: /private" to *
 *       crawler     ExampleBot, by the group for * (line 1)
 *       robots.txt  https://example.com/robots.txt (200), 32 bytes
 *       fetched     just now, fresh for 24 h
 */
export function formatReport(verdict: ReportedVerdict, context: ReportContext): string {
  const { access, crawlDelayMs, requestRates = [], visitTimes = [] } = verdict
  const { now, headers, file, edge } = context
  const rows: readonly Row[] = [
    ['because', shorten(reasonText(verdict))],
    ['crawler', `${context.crawler}${groupNote(verdict, context.productTokens)}`],
    [
      'robots.txt',
      access === undefined ? file && `${printable(file.name)}, ${size(file.bytes)}` : redirectChain(access),
    ],
    ...(access === undefined ? [] : accessRows(access, headers, now)),
    ['crawl-delay', crawlDelayMs === undefined ? undefined : `${durationText(crawlDelayMs)} between requests`],
    ['rate', requestRates.map(rateText).join(', ')],
    ['visit-time', visitTimes.map(hoursText).join(', ')],
    ['edge', edge?.lines],
    ['advice', adviceOn(access, context.proxy)],
  ]
  return `${[headline(verdict), ...linesOf(11, rows, hang)].join('\n')}\n`
}

function headline({ allowed, url }: ReportedVerdict): string {
  const mark = allowed ? green('✓ allowed   ') : red('✗ disallowed')
  // A host given as A-labels is printed in Unicode too. For a host given in Unicode, the row of
  // robots.txt shows the A-labels.
  const shown = displayUrl(url)
  const unicodeHost =
    shown === url ? '' : dim(` (${printable(shown.replace(/^\w+:\/\/(?:[^/]*@)?([^/?#]*).*$/s, '$1'))})`)
  return `${mark}  ${bold(printable(withoutCredentials(url)))}${unicodeHost}`
}

function accessRows(access: Access, headers: EdgeHeaders | undefined, now: number): readonly Row[] {
  return [
    [access.outcome === 'unreachable' ? 'tried' : 'fetched', attemptText(access, headers, now)],
    ['type', typeNote(access, headers)],
  ]
}

/** Every URL of the attempt, with the status of its response. */
function redirectChain(access: Access): readonly string[] {
  const { hops, url, status } = access
  const last = status === undefined ? printable(url) : `${printable(url)} (${status})`
  const chain = [...hops.map((hop) => `${printable(hop.url)} (${hop.status})`), `${last}${sizeNote(access)}`]
  return chain.map((text, i) => (i === 0 ? text : `→ ${text}`))
}

function sizeNote({ outcome, copy }: Access): string {
  if (copy === undefined || outcome !== 'success') return ''
  return copy.truncated ? `, cut at ${size(copy.bytes)}` : `, ${size(copy.bytes)}`
}

/** When the attempt was made, how old its response was, and when the next attempt is due. */
function attemptText(
  { outcome, checkedAt, nextAttemptAt, copy }: Access,
  headers: EdgeHeaders | undefined,
  now: number,
): string {
  const when = now - checkedAt < 1000 ? 'just now' : `${durationText(now - checkedAt)} ago`
  const next = durationText(Math.max(0, nextAttemptAt - now))
  if (outcome === 'unreachable') {
    const retryAfter = headers?.['retry-after']
    const why =
      retryAfter === undefined ? 'the wait doubles with each failure' : `Retry-After: ${printable(retryAfter)}`
    const kept = copy === undefined ? '' : `; the copy is ${durationText(copy.ageMs)} old`
    return `${when}, next attempt in ${next} (${why})${kept}`
  }
  const age = Number(headers?.age)
  const cached = age > 0 ? `, from a cache that has had it for ${durationText(age * 1000)}` : ''
  return `${when}${cached}, fresh for ${next}`
}

/** Reports a wrong Content-Type (RFC 9309 §2.3), unless the body is wrong too. */
function typeNote({ outcome, looksLike }: Access, headers: EdgeHeaders | undefined): string | undefined {
  const type = headers?.['content-type']
  if (outcome !== 'success' || looksLike !== undefined || type === undefined || /^\s*text\/plain\s*(?:;|$)/i.test(type))
    return undefined
  return `${printable(type)}; some crawlers read a robots.txt only as text/plain (RFC 9309 §2.3)`
}

function rateText({ requests, periodMs, between }: RequestRate): string {
  const hours = between === undefined ? '' : ` from ${hoursText(between)}`
  return `${requests} ${requests === 1 ? 'request' : 'requests'} in ${durationText(periodMs)}${hours}`
}

function hoursText({ from, to }: DayRange): string {
  return `${clock(from)} to ${clock(to)} UTC`
}

/** Minutes of the day as `06:00`. */
function clock(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
}

function size(bytes: number): string {
  if (bytes >= 10_240) return `${Math.round(bytes / 1024)} KiB`
  return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`
}
