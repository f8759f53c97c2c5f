// A verdict, as people read it: the answer, why, and where the rules came from.
import { styleText } from 'node:util'
import { type Access, describeReason, escapeControls } from '@politely/core'
import { type CheckedUrl, type ClientVerdict, displayUrl } from '@politely/fetcher'
import { shortened } from './shortened.ts'

/** What could be asked about: all but what is no URL. */
export type Answered = Extract<ClientVerdict, CheckedUrl>

/**
 * Three or four lines:
 *
 *     ✗ disallowed  https://example.com/private
 *       because     line 2 of robots.txt says "Disallow: /private" to *
 *       robots.txt  https://example.com/robots.txt (200), asked just now, good for 24 h
 *       crawl-delay 10 s between requests
 */
export function reportOn(verdict: Answered, now: number): string {
  const { access, crawlDelayMs } = verdict
  const rows = [
    headline(verdict),
    row('because', shortened(describeReason(verdict))),
    row('robots.txt', `${routeOf(access)}, ${timesOf(access, now)}`),
    ...(crawlDelayMs === undefined ? [] : [row('crawl-delay', `${duration(crawlDelayMs)} between requests`)]),
  ]
  return `${rows.join('\n')}\n`
}

function headline({ allowed, url, origin }: Answered): string {
  const answer = allowed ? styleText('green', '✓ allowed   ') : styleText('red', '✗ disallowed')
  // Typed as A-labels: what they spell stands beside it. Typed as Unicode: the A-labels stand in the row of robots.txt.
  const host = displayUrl(origin).replace(/^\w+:\/\//, '')
  const spelled = displayUrl(url) === url ? '' : styleText('dim', ` (${shown(host)})`)
  return `${answer}  ${styleText('bold', shown(url))}${spelled}`
}

function row(label: string, text: string): string {
  return `  ${styleText('dim', label.padEnd(11))} ${text}`
}

/** Each URL that was asked, with the status it answered. */
function routeOf({ hops, url, status }: Access): string {
  const last = status === undefined ? shown(url) : `${shown(url)} (${status})`
  return [...hops.map((hop) => `${shown(hop.url)} (${hop.status})`), last].join(' → ')
}

function timesOf({ outcome, checkedAt, nextAttemptAt, copy }: Access, now: number): string {
  const asked = now - checkedAt < 1000 ? 'just now' : `${duration(now - checkedAt)} ago`
  const next = duration(Math.max(0, nextAttemptAt - now))
  if (outcome === 'unreachable') {
    const kept = copy === undefined ? '' : `; the copy is ${duration(copy.ageMs)} old`
    return `asked ${asked}, again in ${next}${kept}`
  }
  return `asked ${asked}, good for ${next}`
}

function shown(text: string): string {
  return escapeControls(shortened(text))
}

const UNITS = [
  [86_400_000, 'days'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
] as const

/** In the largest unit that it holds twice, so that a day is 24 h; to one decimal where that says something. */
function duration(ms: number): string {
  const [unit, name] = UNITS.find(([size]) => ms >= 1.95 * size) ?? [1000, 's']
  const count = ms / unit
  return `${Number(count.toFixed(count < 10 ? 1 : 0))} ${name}`
}
