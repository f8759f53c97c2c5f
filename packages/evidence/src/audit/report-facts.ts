// The facts of a report, from one pass over the records. The memory grows with the number of sites,
// by about 3 KB for each, and not with the number of decisions.
import { type CrawlerRules, type Dialect, parseRobots, type Rule } from '@politely/core'
import { delayOf } from '@politely/core/engine'
import { ChangeCounter, type LineChange, samplePaths, sampleUrl } from '@politely/core/review'
import type { DecisionRecord, GapRecord, ResultRecord } from '../record.ts'
import type { EvidenceItem } from './read.ts'
import { GapCounter, type Gaps, TimelineCounter } from './report-counts.ts'

/**
 * How often something happened, in all or at one site; absent for never. `decisions`: about a URL,
 * for a request, for a page of a cache, or alone. `refused` of them, and `against-rules`, which let
 * a request start although robots.txt disallows it. `requests` were sent, and ended `answered` (by
 * class of status: `2xx` …), `failed` or `not-reported`; `not-sent` were given up before.
 * `stored-page`: a cache answered without a request. `bytes`: of the bodies that the caller noted.
 */
export type Counts = Partial<Record<CountName, number>>

type CountName =
  | 'decisions'
  | 'refused'
  | 'against-rules'
  | 'requests'
  | Exclude<ResultRecord['outcome'], 'noted'>
  | `${number}xx`
  | 'bytes'

export interface SiteFacts {
  readonly origin: string
  readonly counts: Counts
  /**
   * What its robots.txt was like at some time: `success`, `unavailable`, `unreachable` or
   * `restricted`; and `redirected`, `not-robots-txt` or `cut`.
   */
  readonly robotsTxt: string[]
  /** The files that decided; at most 20. */
  readonly files: { readonly sha256: string; decisions: number }[]
  /** Absent for fewer than two requests. */
  gaps?: Gaps | undefined
}

/** Decisions to refuse by one line of a file. */
export interface RuleRefusals {
  readonly origin: string
  readonly sha256: string
  readonly line: number
  readonly rule: string
  count: number
}

/**
 * A site changed its robots.txt. `disallowed` and `allowed` are what changes for this crawler, for
 * paths made from the rules of both files, and for URLs of the crawl near the change.
 */
export interface ChangeFacts {
  readonly origin: string
  /** The change happened between these times, in ISO 8601. */
  readonly after: string
  readonly before: string
  /** The hashes of the files; empty for no robots.txt. */
  readonly from: string
  readonly to: string
  readonly userAgent: string
  /** `unknown`: one of the files is missing. */
  readonly effect: 'none' | 'changed' | 'unknown'
  readonly disallowed: readonly LineChange[]
  readonly allowed: readonly LineChange[]
  /** The delay that each file asks for. Milliseconds, 0 for none. */
  readonly delayMs: readonly number[]
}

/** What a folder of evidence says about a crawl. JSON-safe. */
export interface ReportFacts {
  readonly version: 1
  /** The times of the first and the last record, in ISO 8601. */
  from: string
  to: string
  crawlers: (Pick<DecisionRecord['by'], 'userAgent' | 'purpose' | 'politely'> & { readonly decisions: number })[]
  readonly totals: Counts
  /** By `because` of the verdict. */
  readonly refusals: Record<string, number>
  /** The lines that refused most, at most 1,000; `otherRules` counts the refusals by other lines. */
  rules: readonly RuleRefusals[]
  otherRules: number
  /** How many different files have decided. */
  robotsTxtFiles: number
  /** By `waitedFor` of the permits. */
  waits: { readonly cause: string; count: number; totalMs: number; longestMs: number }[]
  timeline: { readonly widthMs: number; readonly bars: ReturnType<TimelineCounter['result']> }
  /** The site with the most requests comes first. */
  sites: SiteFacts[]
  /** At most 5,000; `otherChanges` counts the others. */
  readonly changes: ChangeFacts[]
  otherChanges: number
  /** Starts of a process; without an end, it was killed or is still running. */
  chains: number
  chainsWithoutEnd: number
  /** Records that could not be written, and what says so; the first 100. */
  lostRecords: number
  readonly gaps: Pick<GapRecord, 'lost' | 'since' | 'time' | 'error'>[]
  /** Lines that are not records. */
  unreadable: number
  /** Decisions to send a request of which no result is known, and results without a decision. */
  withoutResult: number
  withoutDecision: number
  /** Decisions about a URL of which only the hash is kept. */
  hashedUrls: number
}

/** Returns a robots.txt, one character for each byte; without `bytes` if it is missing or damaged. */
export type FileOf = (sha256: string) => Promise<{ readonly bytes?: string | undefined }>

const MAX_RULES = 1_000
const MAX_CHANGES = 5_000
const MAX_FILES_OF_SITE = 20
const MAX_GAPS = 100
/** URLs of a site from before a change, and together with those from after it. */
const [MAX_RECENT, MAX_URLS] = [5, 25]
/** Requests without a result, and other decisions, which may get one more. */
const [MAX_OPEN, MAX_CLOSED] = [1_000_000, 50_000]

interface Site extends SiteFacts {
  readonly gapCounter: GapCounter
  /** The file that is in force, and when it was last confirmed. The hash is empty for no file. */
  file?: { readonly sha256: string; readonly at: number }
  readonly recent: string[]
  change?: Change
}

type Change = Pick<ChangeFacts, 'origin' | 'from' | 'to' | 'after' | 'before'> & {
  readonly by: DecisionRecord['by']
  readonly urls: string[]
}

interface Pending {
  readonly site: Site | undefined
  readonly asked: DecisionRecord['asked']
}

/** Counts what the records say. Records of several chains should come in the order of their times. */
export class FactCounter {
  readonly #facts: ReportFacts = {
    ...{ version: 1, from: '', to: '', crawlers: [], totals: {}, refusals: {}, rules: [], otherRules: 0 },
    ...{ robotsTxtFiles: 0, waits: [], timeline: { widthMs: 0, bars: [] }, sites: [], changes: [], otherChanges: 0 },
    ...{ chains: 0, chainsWithoutEnd: 0, lostRecords: 0, gaps: [], unreadable: 0 },
    ...{ withoutResult: 0, withoutDecision: 0, hashedUrls: 0 },
  }
  readonly #crawlers = new Map<string, number>()
  readonly #waits = new Map<string, ReportFacts['waits'][number]>()
  readonly #sites = new Map<string, Site>()
  #rules = new Map<string, RuleRefusals>()
  readonly #timeline = new TimelineCounter()
  readonly #changes: Change[] = []
  /** Whether each chain has ended. */
  readonly #chains = new Map<string, boolean>()
  /** Requests without a result, and then the other decisions: the current ones and those before. */
  #open = new Map<string, Pending>()
  #closed = new Map<string, Pending>()
  #older = new Map<string, Pending>()

  add({ record, level }: Pick<EvidenceItem, 'record' | 'level'>): void {
    const facts = this.#facts
    if (level === 'error') facts.unreadable++
    if (record === undefined) return
    if (facts.from === '' || record.time < facts.from) facts.from = record.time
    if (record.time > facts.to) facts.to = record.time
    this.#chains.set(record.chain, record.kind === 'end')
    if (record.kind === 'decision') this.#decided(record)
    if (record.kind === 'result') this.#ended(record)
    if (record.kind !== 'gap') return
    const { lost, since, time, error } = record
    facts.lostRecords += lost
    if (facts.gaps.length < MAX_GAPS) facts.gaps.push({ lost, since, time, error })
  }

  async result(fileOf: FileOf): Promise<ReportFacts> {
    const facts = this.#facts
    facts.sites = Array.from(this.#sites.values(), ({ origin, counts, robotsTxt, files, gapCounter }) => ({
      ...{ origin, counts, robotsTxt, files, gaps: gapCounter.result() },
    })).sort(({ counts: a }, { counts: b }) => (b.requests ?? 0) - (a.requests ?? 0))
    facts.robotsTxtFiles = new Set(facts.sites.flatMap(({ files }) => files.map(({ sha256 }) => sha256))).size
    for (const change of this.#changes) facts.changes.push(await factsOfChange(change, fileOf))
    facts.crawlers = Array.from(this.#crawlers, ([crawler, decisions]) => ({ ...JSON.parse(crawler), decisions }))
    facts.waits = [...this.#waits.values()].sort((a, b) => b.totalMs - a.totalMs)
    const bars = this.#timeline.result()
    facts.timeline = { widthMs: this.#timeline.widthMs, bars }
    this.#dropRules(MAX_RULES)
    facts.rules = [...this.#rules.values()]
    facts.chains = this.#chains.size
    facts.chainsWithoutEnd = [...this.#chains.values()].filter((hasEnd) => !hasEnd).length
    facts.withoutResult += this.#open.size
    return facts
  }

  #decided(record: DecisionRecord): void {
    const { chain, id, use, verdict, origin, replaces } = record
    const { userAgent, purpose, politely } = record.by
    const crawler = JSON.stringify({ userAgent, purpose, politely })
    this.#crawlers.set(crawler, (this.#crawlers.get(crawler) ?? 0) + 1)
    const site = origin === undefined ? undefined : entryOf(this.#sites, origin, newSite)
    this.#count(site, 'decisions')
    if (record.hashed !== undefined) this.#facts.hashedUrls++
    const isRefused = !verdict.allowed && record.obey === undefined
    if (isRefused) this.#refused(record, site)
    else if (!verdict.allowed) this.#count(site, 'against-rules')
    if (use === 'stored-page' && !isRefused) this.#count(site, 'stored-page')
    if (site !== undefined) this.#noteFile(record, site)
    if (replaces !== undefined) this.#open.delete(`${chain} ${replaces}`)
    const pending = { site, asked: record.asked }
    if (use !== 'request' || isRefused) this.#close(`${chain} ${id}`, pending)
    else this.#open.set(`${chain} ${id}`, pending)
    if (this.#open.size <= MAX_OPEN) return
    this.#facts.withoutResult += this.#open.size
    this.#open = new Map()
  }

  #refused({ time, verdict, robotsTxt, origin = '' }: DecisionRecord, site: Site | undefined): void {
    this.#count(site, 'refused')
    this.#timeline.add(Date.parse(time), 'refused')
    const { refusals } = this.#facts
    refusals[verdict.because] = (refusals[verdict.because] ?? 0) + 1
    if (verdict.because !== 'rule') return
    const { line, text } = verdict.rule as Rule
    const [sha256, rule] = [robotsTxt?.sha256 ?? '', `Disallow: ${text}`]
    entryOf(this.#rules, `${origin} ${sha256} ${line}`, () => ({ origin, sha256, line, rule, count: 0 })).count++
    if (this.#rules.size > 100 * MAX_RULES) this.#dropRules(50 * MAX_RULES)
  }

  /** Keeps the rules that have refused most. */
  #dropRules(max: number): void {
    const rules = [...this.#rules].sort(([, a], [, b]) => b.count - a.count)
    for (const [, { count }] of rules.splice(max)) this.#facts.otherRules += count
    this.#rules = new Map(rules)
  }

  /** Notes what robots.txt is like, and whether the site has changed it. */
  #noteFile({ access, robotsTxt, by, url, hashed }: DecisionRecord, site: Site): void {
    if (access === undefined) return
    const { origin, file, recent, files } = site
    const copy = access.copy === undefined ? undefined : robotsTxt
    const states = [
      access.outcome,
      access.hops.length > 0 && 'redirected',
      access.looksLike && 'not-robots-txt',
      copy?.truncated && 'cut',
    ]
    for (const state of states) if (state && !site.robotsTxt.includes(state)) site.robotsTxt.push(state)
    const found = files.find(({ sha256 }) => sha256 === copy?.sha256)
    if (found !== undefined) found.decisions++
    else if (copy !== undefined && files.length < MAX_FILES_OF_SITE) files.push({ sha256: copy.sha256, decisions: 1 })
    const [sha256, at] = copy === undefined ? ['', access.checkedAt] : [copy.sha256, copy.confirmedAt]
    // Another process may still have an older copy: that is not a change back.
    if ((copy !== undefined || access.outcome === 'unavailable') && at > (file?.at ?? 0)) {
      site.file = { sha256, at }
      if (file !== undefined && sha256 !== file.sha256) {
        const [after, before] = [isoTime(file.at), isoTime(at)]
        site.change = { origin, from: file.sha256, to: sha256, after, before, by, urls: [...recent] }
        if (this.#changes.length < MAX_CHANGES) this.#changes.push(site.change)
        else this.#facts.otherChanges++
      }
    }
    if (hashed !== undefined || recent.includes(url)) return
    if (recent.push(url) > MAX_RECENT) recent.shift()
    if (site.change !== undefined && site.change.urls.length < MAX_URLS) site.change.urls.push(url)
  }

  #ended({ chain, id, outcome, status, permit, body }: ResultRecord): void {
    const key = `${chain} ${id}`
    const open = this.#open.get(key)
    const known = open ?? this.#closed.get(key) ?? this.#older.get(key)
    const { site, asked } = known ?? {}
    if (body !== undefined) this.#count(site, 'bytes', body.bytes)
    if (permit !== undefined) this.#started(permit, site, asked)
    if (known === undefined && outcome !== 'noted') this.#facts.withoutDecision++
    if (open === undefined || outcome === 'noted') return
    this.#open.delete(key)
    this.#close(key, open)
    this.#count(site, outcome)
    if (outcome !== 'stored-page' && outcome !== 'not-sent') this.#count(site, 'requests')
    if (status !== undefined) this.#count(site, `${Math.floor(status / 100)}xx`)
  }

  #started(permit: NonNullable<ResultRecord['permit']>, site: Site | undefined, asked: Pending['asked']): void {
    const { time, delay, waitedMs, waitedFor } = permit
    const at = Date.parse(time)
    this.#timeline.add(at, 'started')
    site?.gapCounter.add({ at, askedMs: delayAsked(asked, at), isCapped: delay.because === 'cap' })
    if (waitedMs <= 0) return
    const wait = entryOf(this.#waits, waitedFor, (cause) => ({ cause, count: 0, totalMs: 0, longestMs: 0 }))
    wait.count++
    wait.totalMs += waitedMs
    wait.longestMs = Math.max(wait.longestMs, waitedMs)
  }

  /** Keeps a decision for one more result. */
  #close(key: string, pending: Pending): void {
    if (this.#closed.set(key, pending).size < MAX_CLOSED) return
    this.#older = this.#closed
    this.#closed = new Map()
  }

  #count(site: Site | undefined, name: CountName, count = 1): void {
    const { totals } = this.#facts
    for (const counts of [totals, site?.counts ?? {}]) counts[name] = (counts[name] ?? 0) + count
  }
}

function newSite(origin: string): Site {
  return { origin, counts: {}, robotsTxt: [], files: [], gapCounter: new GapCounter(), recent: [] }
}

async function factsOfChange({ by, urls, ...change }: Change, fileOf: FileOf): Promise<ChangeFacts> {
  const { userAgent, productTokens } = by
  const read = async (sha256: string) => (sha256 === '' ? '' : (await fileOf(sha256)).bytes)
  const [old, now] = [await read(change.from), await read(change.to)]
  if (old === undefined || now === undefined)
    return { ...change, userAgent, effect: 'unknown', disallowed: [], allowed: [], delayMs: [] }
  const files = [old, now].map((bytes) => parseRobots({ bytes }, { dialect: by.dialect as Dialect }))
  const [oldRules, newRules] = files.map((file) => file.forCrawler(productTokens)) as [CrawlerRules, CrawlerRules]
  const counter = new ChangeCounter(userAgent, oldRules, newRules)
  for (const path of samplePaths(files)) counter.add(sampleUrl(path), path)
  for (const url of urls) counter.add(url)
  const { disallowed, allowed } = counter.result()
  const delayMs = [oldRules, newRules].map((rules) => delayAsked(rules, Date.parse(change.before)))
  const isSame = disallowed.length + allowed.length === 0 && delayMs[0] === delayMs[1]
  return { ...change, userAgent, effect: isSame ? 'none' : 'changed', disallowed, allowed, delayMs }
}

/** Returns the delay that a site asks for from a time on. Milliseconds. */
function delayAsked(asked: DecisionRecord['asked'], at: number): number {
  const { crawlDelayMs, requestRates } = asked ?? {}
  return delayOf({ ownDelayMs: 0, maxDelayMs: undefined, crawlDelayMs, requestRates }, at).delayMs
}

function isoTime(at: number): string {
  return new Date(at).toISOString()
}

/** Returns the value of a key, which is created if it is missing. */
function entryOf<T>(map: Map<string, T>, key: string, create: (key: string) => T): T {
  const value = map.get(key) ?? create(key)
  map.set(key, value)
  return value
}
