// Formats a verdict for people: allowed or not, why, and where the rules came from.
import { type Access, type DayRange, describeReason, type RequestRate } from '@politely/core'
import { type CheckedUrl, type ClientVerdict, displayUrl, withoutCredentials } from '@politely/fetcher'
import { shorten } from '../../output/shorten.ts'
import { bold, dim, green, printable, red } from '../../output/style.ts'

/** Every verdict except that on an invalid URL. */
export type ReportedVerdict = Extract<ClientVerdict, CheckedUrl>

/**
 * Returns four lines, and one for each of Crawl-delay, Request-rate and Visit-time:
 *
 *     ✗ disallowed  https://example.com/private
 *       because     line 2 of robots.txt says "Disallow: /private" to *
 *       crawler     ExampleBot
 *       robots.txt  https://example.com/robots.txt (200), fetched just now, fresh for 24 h
 *       crawl-delay 10 s between requests
 *
 * @param crawler The names that the client looked for in robots.txt.
 */
export function formatReport(verdict: ReportedVerdict, crawler: string, now: number): string {
  const { access, crawlDelayMs, requestRates = [], visitTimes = [] } = verdict
  const rows = [
    headline(verdict),
    row('because', shorten(describeReason(verdict))),
    row('crawler', crawler),
    row('robots.txt', `${redirectChain(access)}, ${attemptTimes(access, now)}`),
    ...(crawlDelayMs === undefined ? [] : [row('crawl-delay', `${duration(crawlDelayMs)} between requests`)]),
    ...(requestRates.length === 0 ? [] : [row('rate', requestRates.map(rateText).join(', '))]),
    ...(visitTimes.length === 0 ? [] : [row('visit-time', visitTimes.map(hoursText).join(', '))]),
  ]
  return `${rows.join('\n')}\n`
}

function headline({ allowed, url, origin }: ReportedVerdict): string {
  const mark = allowed ? green('✓ allowed   ') : red('✗ disallowed')
  // A host given as A-labels is printed in Unicode too. For a host given in Unicode, the row of
  // robots.txt shows the A-labels.
  const host = displayUrl(origin).replace(/^\w+:\/\//, '')
  const unicodeHost = displayUrl(url) === url ? '' : dim(` (${printable(host)})`)
  return `${mark}  ${bold(printable(withoutCredentials(url)))}${unicodeHost}`
}

function row(label: string, text: string): string {
  return `  ${dim(label.padEnd(11))} ${text}`
}

function rateText({ requests, periodMs, between }: RequestRate): string {
  const hours = between === undefined ? '' : ` from ${hoursText(between)}`
  return `${requests} ${requests === 1 ? 'request' : 'requests'} in ${duration(periodMs)}${hours}`
}

function hoursText({ from, to }: DayRange): string {
  return `${clock(from)} to ${clock(to)} UTC`
}

/** Minutes of the day as `06:00`. */
function clock(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
}

/** Every URL of the attempt, with the status of its response. */
function redirectChain({ hops, url, status }: Access): string {
  const last = status === undefined ? printable(url) : `${printable(url)} (${status})`
  return [...hops.map((hop) => `${printable(hop.url)} (${hop.status})`), last].join(' → ')
}

function attemptTimes({ outcome, checkedAt, nextAttemptAt, copy }: Access, now: number): string {
  const when = now - checkedAt < 1000 ? 'just now' : `${duration(now - checkedAt)} ago`
  const next = duration(Math.max(0, nextAttemptAt - now))
  if (outcome === 'unreachable') {
    const kept = copy === undefined ? '' : `; the copy is ${duration(copy.ageMs)} old`
    return `last attempt ${when}, next in ${next}${kept}`
  }
  return `fetched ${when}, fresh for ${next}`
}

const UNITS = [
  [86_400_000, 'days'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const

/**
 * Uses the largest unit that fits twice, so that a day is "24 h". Counts below 10 have one decimal.
 */
function duration(ms: number): string {
  const [unit, name] = UNITS.find(([size]) => ms >= 1.95 * size) ?? [1000, 's']
  const count = ms / unit
  return `${Number(count.toFixed(count < 10 ? 1 : 0))} ${name}`
}
