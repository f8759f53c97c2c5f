// Formats a verdict for people: allowed or not, why, and where the rules came from.
import type { Access, DayRange, RequestRate, Verdict } from '@politely/core'
import { displayUrl, withoutCredentials } from '@politely/fetcher'
import { adviceOn } from '../../output/advice.ts'
import { durationText } from '../../output/amounts.ts'
import { groupNote } from '../../output/group-note.ts'
import { reasonText } from '../../output/reason-text.ts'
import { shorten } from '../../output/shorten.ts'
import { bold, dim, green, printable, red } from '../../output/style.ts'
import { hang } from '../../output/wrap.ts'
import type { EdgeComparison } from './compare-edge.ts'
import type { Headers } from './response-headers.ts'

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
  readonly headers?: Headers | undefined
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
  const rows = [
    headline(verdict),
    row('because', shorten(reasonText(verdict))),
    row('crawler', `${context.crawler}${groupNote(verdict, context.productTokens)}`),
    ...(access === undefined ? fileRows(file) : accessRows(access, headers, now)),
    ...(crawlDelayMs === undefined ? [] : [row('crawl-delay', `${durationText(crawlDelayMs)} between requests`)]),
    ...(requestRates.length === 0 ? [] : [row('rate', requestRates.map(rateText).join(', '))]),
    ...(visitTimes.length === 0 ? [] : [row('visit-time', visitTimes.map(hoursText).join(', '))]),
    ...(edge === undefined ? [] : edge.lines.map((line, i) => row(i === 0 ? 'edge' : '', line))),
    ...adviceOn(access, context.proxy).map((advice) => row('advice', advice)),
  ]
  return `${rows.join('\n')}\n`
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

/** The column at which the text of a row begins. */
const INDENT = 14

function row(label: string, text: string): string {
  return `  ${dim(label.padEnd(INDENT - 3))} ${hang(text, INDENT)}`
}

function fileRows(file: ReportContext['file']): readonly string[] {
  return file === undefined ? [] : [row('robots.txt', `${printable(file.name)}, ${size(file.bytes)}`)]
}

function accessRows(access: Access, headers: Headers | undefined, now: number): readonly string[] {
  const chain = redirectChain(access)
  const [first, ...others] = chain.map((text, i) => (i === chain.length - 1 ? `${text}${sizeNote(access)}` : text))
  return [
    row('robots.txt', first as string),
    ...others.map((text) => row('', `→ ${text}`)),
    row(access.outcome === 'unreachable' ? 'tried' : 'fetched', attemptText(access, headers, now)),
    ...typeRows(access, headers),
  ]
}

/** Every URL of the attempt, with the status of its response. */
function redirectChain({ hops, url, status }: Access): readonly string[] {
  const last = status === undefined ? printable(url) : `${printable(url)} (${status})`
  return [...hops.map((hop) => `${printable(hop.url)} (${hop.status})`), last]
}

function sizeNote({ outcome, copy }: Access): string {
  if (copy === undefined || outcome !== 'success') return ''
  return copy.truncated ? `, cut at ${size(copy.bytes)}` : `, ${size(copy.bytes)}`
}

/** When the attempt was made, how old its response was, and when the next attempt is due. */
function attemptText(
  { outcome, checkedAt, nextAttemptAt, copy }: Access,
  headers: Headers | undefined,
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
function typeRows({ outcome, looksLike }: Access, headers: Headers | undefined): readonly string[] {
  const type = headers?.['content-type']
  if (outcome !== 'success' || looksLike !== undefined || type === undefined || /^\s*text\/plain\s*(?:;|$)/i.test(type))
    return []
  return [row('type', `${printable(type)}; some crawlers read a robots.txt only as text/plain (RFC 9309 §2.3)`)]
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
