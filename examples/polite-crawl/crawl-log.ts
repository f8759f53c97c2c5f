// Prints the progress of the crawl, and a summary table at the end.
import { styleText } from 'node:util'
import { type Access, describeVerdict } from '@politely/core'
import { type ClientVerdict, displayUrl } from '@politely/fetcher'

/** The figures of one origin. */
interface OriginStats {
  readonly access: Access | undefined
  readonly crawlDelayMs: number | undefined
  fetched: number
  refused: number
  maxWaitMs: number
  lastStartAt: number | undefined
  minGapMs: number | undefined
}

export class CrawlLog {
  readonly #start = performance.now()
  readonly #statsByOrigin = new Map<string, OriginStats>()

  /** Logs a fetched page. */
  fetched(verdict: ClientVerdict, status: number, waitedMs: number, startedAt: number, location: string | null): void {
    const stats = this.#statsOf(verdict)
    stats.fetched++
    stats.maxWaitMs = Math.max(stats.maxWaitMs, waitedMs)
    if (stats.lastStartAt !== undefined) {
      stats.minGapMs = Math.min(stats.minGapMs ?? Number.POSITIVE_INFINITY, startedAt - stats.lastStartAt)
    }
    stats.lastStartAt = startedAt
    const wait = waitedMs < 1 ? 'no wait' : `waited ${seconds(waitedMs)}`
    this.#line(styleText('green', '✓'), verdict, `${status}, ${wait}; ${describeVerdict(verdict)}`)
    if (location !== null) this.#note(`it redirects to ${location}`)
  }

  /** Logs a page that robots.txt disallows. */
  refused(verdict: ClientVerdict): void {
    this.#statsOf(verdict).refused++
    this.#line(styleText('red', '✗'), verdict, describeVerdict(verdict))
  }

  /** Logs an allowed page whose request failed. */
  failed(url: string, error: Error): void {
    console.log(`  ${this.#clock()}  ${styleText('yellow', '!')}  ${displayUrl(url)}`)
    this.#note(error.message)
  }

  /** Prints the summary table. */
  summary(): void {
    const rows = [...this.#statsByOrigin].map(([origin, stats]) => [
      displayUrl(origin).replace(/^https?:\/\//, ''),
      describeAccess(stats.access),
      String(stats.fetched),
      String(stats.refused),
      stats.crawlDelayMs === undefined ? '–' : seconds(stats.crawlDelayMs),
      stats.minGapMs === undefined ? '–' : seconds(stats.minGapMs),
      seconds(stats.maxWaitMs),
    ])
    const headers = ['origin', 'robots.txt', 'fetched', 'refused', 'crawl-delay', 'min gap', 'max wait']
    const widths = headers.map((head, i) => Math.max(head.length, ...rows.map((row) => row[i]?.length ?? 0)))
    const print = (cells: readonly string[]) =>
      `  ${cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('   ')}`
    console.log(`\n${styleText('bold', print(headers))}`)
    for (const row of rows) console.log(print(row))
  }

  #statsOf(verdict: ClientVerdict): OriginStats {
    const { origin = 'no origin', access, crawlDelayMs } = verdict
    let stats = this.#statsByOrigin.get(origin)
    if (stats === undefined) {
      stats = {
        access,
        crawlDelayMs,
        fetched: 0,
        refused: 0,
        maxWaitMs: 0,
        lastStartAt: undefined,
        minGapMs: undefined,
      }
      this.#statsByOrigin.set(origin, stats)
    }
    return stats
  }

  #line(mark: string, verdict: ClientVerdict, text: string): void {
    console.log(`  ${this.#clock()}  ${mark}  ${styleText('bold', displayUrl(verdict.url))}`)
    this.#note(text)
  }

  #note(text: string): void {
    console.log(`             ${styleText('dim', text)}`)
  }

  #clock(): string {
    return seconds(performance.now() - this.#start).padStart(7)
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}

/** `200`, `404: none`, `301, 302 → 200`, `503: down`. */
function describeAccess(access: Access | undefined): string {
  if (access === undefined) return 'invalid URL'
  const result = access.status === undefined ? access.reason : String(access.status)
  const hops = access.hops.length === 0 ? '' : `${access.hops.map((hop) => hop.status).join(', ')} → `
  const meaning = {
    success: '',
    unavailable: ': allows all',
    restricted: ': disallows all',
    unreachable: ': disallows all',
  }[access.outcome]
  return `${hops}${result}${meaning}${access.copy?.truncated ? ', cut at 500 KiB' : ''}`
}
