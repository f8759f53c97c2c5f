// The facts of a report, from one pass over the records. The memory grows with the sites, the rules
// that refuse, the changes and the requests without a result, and not with the decisions. Gaps need
// the starts of requests: a million of them are kept.
//
// Chains are read one after another, so the records of two processes are not in the order of time.
// What depends on that order is collected for each site, and sorted at the end.
import { type CrawlerRules, type Dialect, parseRobots, type Rule } from '@politely/core'
import { delayOf } from '@politely/core/engine'
import { ChangeCounter, type CrawlerChange, entryOf, samplePaths, sampleUrl } from '@politely/core/review'
import type { DecisionRecord, ResultRecord } from '../record.ts'
import type { EvidenceItem } from './read.ts'

/**
 * How often something happened; absent for never. Of the `decisions`, some were `refused`, and
 * `against-rules` let a request start although robots.txt disallows it. `requests` were sent, and
 * ended `answered`, `failed` or `not-reported`; `not-sent` were given up before. `stored-page`: a
 * cache answered.
 */
export type Counts = Partial<Record<CountName, number>>

type CountName = 'decisions' | 'refused' | 'against-rules' | 'requests' | Exclude<ResultRecord['outcome'], 'noted'>

/** A change of a robots.txt, and its effect on one crawler, for paths made from both files. */
export interface ChangeFacts extends CrawlerChange {
  readonly origin: string
  /** The change happened between these times. */
  readonly after: string
  readonly before: string
  /** The hashes of the files; empty for no robots.txt. */
  readonly from: string
  readonly to: string
  /** The delay that each file asks for. Milliseconds, 0 for none. */
  readonly delayMs: readonly number[]
  /** `unknown`: one of the files is missing. */
  readonly effect: 'changed' | 'none' | 'unknown'
}

/** What one crawler did at one site. */
interface SiteFacts {
  readonly origin: string
  /** The product tokens of the crawler. A file may have a group for each. */
  readonly crawler: string
  readonly counts: Counts
  /** The SHA-256 of the robots.txt that decided last; without one, such as `unreachable`. */
  readonly robotsTxt: string
  /**
   * The gaps between requests while the site asked for a delay: their count, and how many were more
   * than 1 ms `shorter` than the delay. The other fields are about the gap that is the smallest
   * `part` of its delay. Milliseconds. Absent for no gaps.
   */
  readonly gaps?: { count: number; shorter: number; gapMs: number; delayMs: number; part: number } | undefined
}

/** What a folder of evidence says about a crawl. JSON-safe. Times are in ISO 8601. */
export interface ReportFacts {
  readonly version: 1
  /** The times of the first and the last record. */
  readonly from: string
  readonly to: string
  readonly totals: Counts
  /** The most frequent first. Without a line, `rule` is the `because` of the verdict. */
  readonly refusals: readonly {
    origin: string
    count: number
    sha256: string
    line: number | undefined
    rule: string
  }[]
  /** By what requests waited for last, the longest in all first. */
  readonly waits: readonly { cause: string; count: number; totalMs: number; longestMs: number }[]
  /** Requests by their starts, and refusals. Empty bars are left out. */
  readonly bars: readonly { time: string; started: number; refused: number }[]
  /** How long a bar is. Milliseconds. */
  readonly barMs: number
  /** The most requests first. */
  readonly sites: readonly SiteFacts[]
  /** Changes with an effect come first. */
  readonly changes: readonly ChangeFacts[]
  /** Records that could not be written. */
  readonly lostRecords: number
  /** Lines that are not records. */
  readonly unreadable: number
  /** Decisions to send a request of which no result is known. */
  readonly withoutResult: number
  /** Requests that `gaps` leaves out, since there were over a million. */
  readonly unmeasured: number
}

/** Returns a robots.txt, one character for each byte; without `bytes` if it is missing or damaged. */
export type FileOf = (sha256: string) => Promise<{ readonly bytes?: string | undefined }>

/** Milliseconds. Each is a multiple of the one before. */
const BAR_WIDTHS = [1, 2, 10, 30, 60, 120, 600, 1_800, 3_600, 10_800, 21_600, 86_400, 604_800].map((s) => s * 1_000)
const MAX_BARS = 40
/** Starts of requests, of all sites together. */
const MAX_STARTS = 1_000_000
/** How many copies of a site are collected before those without a change are removed. */
const MANY_COPIES = 1_000

type Start = { readonly at: number; readonly delayMs: number }
type Copy = readonly [confirmedAt: number, sha256: string]

interface Site extends SiteFacts {
  readonly by: DecisionRecord['by']
  robotsTxt: string
  /** Requests while the site asked for a delay. */
  readonly starts: Start[]
  /** The hashes of robots.txt by the times at which it was confirmed; empty for no file. */
  copies: Map<number, string>
}

/** Counts what the records say. */
export class FactCounter {
  readonly #facts = { from: '', to: '', totals: {} as Counts, lostRecords: 0, unreadable: 0, unmeasured: 0 }
  readonly #sites = new Map<string, Site>()
  readonly #refusals = new Map<string, ReportFacts['refusals'][number]>()
  readonly #waits = new Map<string, ReportFacts['waits'][number]>()
  readonly #open = new Map<string, { readonly site: Site; readonly asked: DecisionRecord['asked'] }>()
  readonly #bars = new Map<number, ReportFacts['bars'][number]>()
  #barMs = 1_000
  #starts = 0

  add({ record, level }: Pick<EvidenceItem, 'record' | 'level'>): void {
    const facts = this.#facts
    if (level === 'error') facts.unreadable++
    if (record === undefined) return
    if (facts.from === '' || record.time < facts.from) facts.from = record.time
    if (record.time > facts.to) facts.to = record.time
    if (record.kind === 'gap') facts.lostRecords += record.lost
    try {
      if (record.kind === 'decision') this.#decided(record)
      if (record.kind === 'result') this.#ended(record)
    } catch {
      facts.unreadable++ // the record was changed: a part of it is missing, or has another type
    }
  }

  async result(fileOf: FileOf): Promise<ReportFacts> {
    const sites: SiteFacts[] = []
    const changes: ChangeFacts[] = []
    for (const site of this.#sites.values()) {
      const { origin, crawler, counts, robotsTxt, starts } = site
      sites.push({ origin, crawler, counts, robotsTxt, gaps: gapsOf(starts) })
      const copies = withoutRepeats(site.copies)
      for (const [n, copy] of copies.entries()) {
        const last = copies[n - 1] ?? copy
        if (last[1] !== copy[1]) changes.push(await changeOf(site, last, copy, fileOf))
      }
    }
    return {
      version: 1,
      ...this.#facts,
      withoutResult: this.#open.size,
      refusals: [...this.#refusals.values()].sort((a, b) => b.count - a.count),
      waits: [...this.#waits.values()].sort((a, b) => b.totalMs - a.totalMs),
      bars: [...this.#bars.values()].sort((a, b) => a.time.localeCompare(b.time)),
      barMs: this.#barMs,
      sites: sites.sort(({ counts: a }, { counts: b }) => (b.requests ?? 0) - (a.requests ?? 0)),
      changes: changes.sort((a, b) => a.effect.localeCompare(b.effect)),
    }
  }

  #decided(record: DecisionRecord): void {
    const { id, use, verdict, asked, obey, replaces } = record
    const site = this.#noteSite(record)
    this.#count(site, 'decisions')
    if (replaces !== undefined) this.#open.delete(replaces)
    if (!verdict.allowed && obey === undefined) this.#refused(record, site)
    else if (use === 'request') this.#open.set(id, { site, asked })
    else if (use === 'stored-page') this.#count(site, use)
    if (!verdict.allowed && obey !== undefined) this.#count(site, 'against-rules')
  }

  /** Returns the site of a decision, and notes its robots.txt. */
  #noteSite({ by, origin = '', access, robotsTxt }: DecisionRecord): Site {
    const crawler = by.productTokens.join(', ')
    const create = () => ({ origin, crawler, by, counts: {}, robotsTxt: '', starts: [], copies: new Map() })
    const site = entryOf<string, Site>(this.#sites, `${origin} ${crawler}`, create)
    const copy = access?.copy && robotsTxt
    site.robotsTxt = copy?.sha256 ?? access?.outcome ?? ''
    if (copy !== undefined) site.copies.set(Date.parse(isoTime(copy.confirmedAt)), copy.sha256)
    else if (access?.outcome === 'unavailable') site.copies.set(Date.parse(isoTime(access.checkedAt)), '')
    if (site.copies.size > MANY_COPIES) site.copies = new Map(withoutRepeats(site.copies))
    return site
  }

  #refused({ time, verdict, robotsTxt }: DecisionRecord, site: Site): void {
    this.#count(site, 'refused')
    this.#addToBar(Date.parse(time), 0, 1)
    const { line, text } = (verdict.rule ?? {}) as Partial<Rule>
    const [sha256 = '', rule] = line ? [robotsTxt?.sha256, `Disallow: ${text}`] : [undefined, verdict.because]
    const row = { origin: site.origin, count: 0, sha256, line, rule }
    entryOf(this.#refusals, `${row.origin} ${sha256} ${line} ${rule}`, () => row).count++
  }

  #ended({ id, outcome, permit }: ResultRecord): void {
    const { site, asked } = this.#open.get(id) ?? {}
    if (site === undefined || outcome === 'noted') return
    this.#open.delete(id)
    this.#count(site, outcome)
    if (permit === undefined) return
    this.#count(site, 'requests')
    const { time, waitedMs, waitedFor: cause } = permit
    const at = Date.parse(time)
    this.#addToBar(at, 1, 0)
    const delayMs = delayAsked(asked, at)
    if (delayMs > 0 && ++this.#starts > MAX_STARTS) this.#facts.unmeasured++
    else if (delayMs > 0) site.starts.push({ at, delayMs })
    if (cause === 'none') return
    const wait = entryOf(this.#waits, cause, () => ({ cause, count: 0, totalMs: 0, longestMs: 0 }))
    wait.count++
    wait.totalMs += waitedMs
    wait.longestMs = Math.max(wait.longestMs, waitedMs)
  }

  #count({ counts }: Site, name: CountName): void {
    for (const each of [counts, this.#facts.totals]) each[name] = (each[name] ?? 0) + 1
  }

  /** Bars become wider as the period grows. */
  #addToBar(at: number, started: number, refused: number): void {
    const from = Math.floor(at / this.#barMs) * this.#barMs
    const bar = entryOf(this.#bars, from, () => ({ time: isoTime(from), started: 0, refused: 0 }))
    bar.started += started
    bar.refused += refused
    const narrow = [...this.#bars]
    const times = narrow.map(([time]) => time)
    if (Math.max(...times) - Math.min(...times) < MAX_BARS * this.#barMs) return
    this.#barMs = BAR_WIDTHS.find((width) => width > this.#barMs) ?? 2 * this.#barMs
    this.#bars.clear()
    for (const [time, each] of narrow) this.#addToBar(time, each.started, each.refused)
  }
}

/** Returns undefined for fewer than two starts. */
function gapsOf(starts: readonly Start[]): SiteFacts['gaps'] {
  const sorted = starts.toSorted((a, b) => a.at - b.at)
  const gaps = sorted.slice(1).map((start, n) => {
    const last = sorted[n] as Start
    // If the file changed in between, the crawler knew the longer delay at one end only.
    const [gapMs, delayMs] = [start.at - last.at, Math.min(start.delayMs, last.delayMs)]
    return { gapMs, delayMs, part: gapMs / delayMs }
  })
  const [shortest] = gaps.toSorted((a, b) => a.part - b.part)
  const shorter = gaps.filter(({ gapMs, delayMs }) => gapMs < delayMs - 1).length
  return shortest && { count: gaps.length, shorter, ...shortest }
}

/** Returns the copies in order, without those between two copies of the same file. */
function withoutRepeats(copies: Site['copies']): Copy[] {
  const sorted = [...copies].sort(([a], [b]) => a - b)
  return sorted.filter(([, file], n) => file !== sorted[n - 1]?.[1] || file !== sorted[n + 1]?.[1])
}

async function changeOf(site: Site, last: Copy, copy: Copy, fileOf: FileOf): Promise<ChangeFacts> {
  const { origin, crawler, by } = site
  const [from, to] = [last[1], copy[1]]
  const change = { origin, crawler, after: isoTime(last[0]), before: isoTime(copy[0]), from, to }
  const bytes = []
  for (const sha256 of [from, to]) bytes.push(sha256 === '' ? '' : (await fileOf(sha256)).bytes)
  if (bytes.includes(undefined)) return { ...change, disallowed: [], allowed: [], delayMs: [], effect: 'unknown' }
  const files = bytes.map((bytes = '') => parseRobots({ bytes }, { dialect: by.dialect as Dialect }))
  const [old, now] = files.map((file) => file.forCrawler(by.productTokens)) as [CrawlerRules, CrawlerRules]
  const counter = new ChangeCounter(crawler, old, now)
  for (const path of samplePaths(files)) counter.add(sampleUrl(path), path)
  const found = counter.result()
  const delayMs = [old, now].map((rules) => delayAsked(rules, copy[0]))
  const isSame = found.disallowed.length + found.allowed.length === 0 && delayMs[0] === delayMs[1]
  return { ...change, ...found, delayMs, effect: isSame ? 'none' : 'changed' }
}

/** Returns the delay that a site asks for from a time on. Milliseconds. */
function delayAsked(asked: DecisionRecord['asked'], at: number): number {
  const { crawlDelayMs, requestRates } = asked ?? {}
  return delayOf({ ownDelayMs: 0, maxDelayMs: undefined, crawlDelayMs, requestRates }, at).delayMs
}

/** @throws {RangeError} for what is not a time. */
function isoTime(at: number): string {
  return new Date(at).toISOString()
}
