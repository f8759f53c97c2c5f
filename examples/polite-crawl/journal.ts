// What the crawl says as it goes, and the table at the end.
import { styleText } from 'node:util'
import { type Access, describeVerdict } from '@politely/core'
import { type ClientVerdict, displayUrl } from '@politely/fetcher'

/** What is counted of one origin. */
interface Tally {
  readonly access: Access | undefined
  readonly crawlDelayMs: number | undefined
  fetched: number
  refused: number
  longestWaitMs: number
  leftAt: number | undefined
  leastGapMs: number | undefined
}

export class Journal {
  readonly #start = performance.now()
  readonly #tallies = new Map<string, Tally>()

  /** A page was fetched after its turn had come. */
  fetched(verdict: ClientVerdict, status: number, waitedMs: number, leftAt: number, location: string | null): void {
    const tally = this.#tallyOf(verdict)
    tally.fetched++
    tally.longestWaitMs = Math.max(tally.longestWaitMs, waitedMs)
    if (tally.leftAt !== undefined) {
      tally.leastGapMs = Math.min(tally.leastGapMs ?? Number.POSITIVE_INFINITY, leftAt - tally.leftAt)
    }
    tally.leftAt = leftAt
    const wait = waitedMs < 1 ? 'at once' : `waited ${seconds(waitedMs)}`
    this.#line(styleText('green', '✓'), verdict, `${status}, ${wait}; ${describeVerdict(verdict)}`)
    if (location !== null) this.#note(`it redirects to ${location}`)
  }

  /** A page was not fetched. */
  refused(verdict: ClientVerdict): void {
    this.#tallyOf(verdict).refused++
    this.#line(styleText('red', '✗'), verdict, describeVerdict(verdict))
  }

  /** It was allowed, and then the request itself failed. */
  failed(url: string, error: Error): void {
    console.log(`  ${this.#clock()}  ${styleText('yellow', '!')}  ${displayUrl(url)}`)
    this.#note(error.message)
  }

  /** A table that a person understands at a glance. */
  summary(): void {
    const rows = [...this.#tallies].map(([origin, tally]) => [
      displayUrl(origin).replace(/^https?:\/\//, ''),
      robotsOf(tally.access),
      String(tally.fetched),
      String(tally.refused),
      tally.crawlDelayMs === undefined ? '–' : seconds(tally.crawlDelayMs),
      tally.leastGapMs === undefined ? '–' : seconds(tally.leastGapMs),
      seconds(tally.longestWaitMs),
    ])
    const heads = ['origin', 'robots.txt', 'fetched', 'refused', 'pause asked', 'least gap', 'longest wait']
    const widths = heads.map((head, i) => Math.max(head.length, ...rows.map((row) => row[i]?.length ?? 0)))
    const print = (cells: readonly string[]) =>
      `  ${cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('   ')}`
    console.log(`\n${styleText('bold', print(heads))}`)
    for (const row of rows) console.log(print(row))
  }

  #tallyOf(verdict: ClientVerdict): Tally {
    const known = 'origin' in verdict && 'access' in verdict ? verdict : undefined
    const origin = known?.origin ?? 'no origin'
    let tally = this.#tallies.get(origin)
    if (tally === undefined) {
      const { access, crawlDelayMs } = known ?? { access: undefined, crawlDelayMs: undefined }
      tally = {
        access,
        crawlDelayMs,
        fetched: 0,
        refused: 0,
        longestWaitMs: 0,
        leftAt: undefined,
        leastGapMs: undefined,
      }
      this.#tallies.set(origin, tally)
    }
    return tally
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
function robotsOf(access: Access | undefined): string {
  if (access === undefined) return 'no URL to ask about'
  const answer = access.status === undefined ? access.reason : String(access.status)
  const hops = access.hops.length === 0 ? '' : `${access.hops.map((hop) => hop.status).join(', ')} → `
  const meaning = {
    success: '',
    unavailable: ': allows all',
    restricted: ': disallows all',
    unreachable: ': disallows all',
  }[access.outcome]
  return `${hops}${answer}${meaning}${access.copy?.truncated ? ', cut at 500 KiB' : ''}`
}
