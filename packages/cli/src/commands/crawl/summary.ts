// Counts what happened in a crawl.
import type { PageOutcome } from '@politely/core'
import type { ClientVerdict } from '@politely/fetcher'
import type { Permit } from '@politely/gate'
import { adviceOnContact } from '../../crawler.ts'
import { reasonText } from '../../output/sentences.ts'
import { bold, countText, durationText, printable, type Row, sizeText, waitText } from '../../output/style.ts'
import { hang } from '../../output/wrap.ts'

/** What happened to one URL. */
export interface PageReport {
  /** Without credentials. */
  readonly url: string
  readonly outcome: 'fetched' | 'refused' | 'failed'
  readonly status: number | undefined
  /** How many requests were sent for it. More than 1 with `--retry`. */
  readonly attempts: number
  /** What became of the request; undefined if it says nothing about the site. */
  readonly page: PageOutcome | undefined
  /** How many links led to the page. */
  readonly depth: number
  /** How many responses asked for fewer requests: 429 or 503. */
  readonly pushbacks: number
  /** How long its requests waited for their turn, with the pauses of --retry. Milliseconds. */
  readonly waitedMs: number
  /** Of the last request that waited; `backoff` if only --retry paused. */
  readonly waitedFor: Permit['waitedFor'] | undefined
  readonly bytes: number
  /** The target of a redirect. */
  readonly location: string | undefined
  /** How many links of the page were left out because of nofollow. */
  readonly nofollow: number
  /** Why the page did not arrive. */
  readonly problem: string | undefined
  readonly verdict: ClientVerdict | undefined
}

/** How many reasons of refusals, or of failures, are listed. */
const MAX_REASONS = 10

export class CrawlSummary {
  readonly #startedAt = performance.now()
  readonly #byStatus = new Map<string, number>()
  readonly #outcomes = new Map<string, number>()
  readonly #refusals = new Map<string, number>()
  readonly #problems = new Map<string, number>()
  #pages = 0
  #bytes = 0
  #waits = 0
  #waitedMs = 0
  #longestMs = 0
  #pushbacks = 0
  /** What the header lacks for a site that wants fewer requests, or none. */
  readonly #advice: string | undefined

  constructor(userAgent: string) {
    this.#advice = adviceOnContact(userAgent)
  }

  add(report: PageReport): void {
    const { outcome, status, page, bytes, waitedMs, waitedFor, pushbacks, problem, verdict, url } = report
    if (waitText(waitedMs, waitedFor) !== undefined) this.#waits++
    this.#waitedMs += waitedMs
    this.#longestMs = Math.max(this.#longestMs, waitedMs)
    this.#bytes += bytes
    this.#pushbacks += pushbacks
    if (page !== undefined) count(this.#outcomes, page.kind)
    if (outcome === 'fetched') {
      this.#pages++
      count(this.#byStatus, String(status))
    } else if (outcome === 'refused' && verdict !== undefined) {
      count(this.#refusals, `${verdict.origin ?? url}: ${reasonText(verdict)}`)
    } else count(this.#problems, problem ?? '')
  }

  /** One line. */
  counts(): string {
    const refused = total(this.#refusals)
    const failed = total(this.#problems)
    return [
      countText(this.#pages, 'page'),
      `${refused} refused`,
      ...(failed === 0 ? [] : [`${failed} failed`]),
      sizeText(this.#bytes),
      durationText(performance.now() - this.#startedAt),
    ].join(', ')
  }

  text(isInterrupted: boolean, leftOut: number): string {
    const hasProblems = [...this.#outcomes.keys()].some((kind) => kind !== 'served' && kind !== 'redirect')
    const isUnwelcome = this.#pushbacks > 0 || this.#byStatus.has('403')
    const waited = `${durationText(this.#waitedMs)} in all, at most ${durationText(this.#longestMs)}`
    const rows: readonly Row[] = [
      ['statuses', listed(this.#byStatus)],
      ['outcomes', hasProblems && listed(this.#outcomes)],
      ['waits', this.#waits && `${countText(this.#waits, 'request')} waited ${waited}`],
      ['pushed', this.#pushbacks && `${countText(this.#pushbacks, 'response')} asked for fewer requests`],
      ['advice', isUnwelcome && this.#advice],
      ['nofollow', leftOut && `${countText(leftOut, 'link')} left out; --nofollow follow requests them`],
      ['refused', reasons(this.#refusals)],
      ['failed', reasons(this.#problems)],
    ]
    const lines = rows.flatMap(([label, text]) =>
      [text || []].flat().map((each, n) => `  ${(n === 0 ? label : '').padEnd(8)}  ${each}`),
    )
    return `${[`${bold(this.counts())}${isInterrupted ? ' (interrupted)' : ''}`, ...lines].join('\n')}\n`
  }
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([what, pages]) => `${pages} × ${what}`).join(', ')
}

function reasons(counts: ReadonlyMap<string, number>): readonly string[] {
  const sorted = [...counts].sort(([, a], [, b]) => b - a)
  const shown = sorted.slice(0, MAX_REASONS).map(([reason, urls]) => hang(`${urls} × ${printable(reason)}`, 12))
  return sorted.length > MAX_REASONS ? [...shown, `and ${sorted.length - MAX_REASONS} more reasons`] : shown
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, each) => sum + each, 0)
}
