// The facts of a report, from one pass over the records. The memory grows with the number of sites,
// by about 2 KB for each, and not with the number of decisions.
import { type CrawlerRules, type Dialect, parseRobots, type Rule } from '@politely/core'
import { delayOf } from '@politely/core/engine'
import { ChangeCounter, type LineChange, samplePaths, sampleUrl } from '@politely/core/review'
import type { DecisionRecord, EvidenceRecord, GapRecord, ResultRecord } from '../record.ts'
import { GapCounter, type Gaps, TimelineCounter } from './report-counts.ts'

/** How often something happened, in all or at one site. */
export interface Counts {
  /** Decisions about a URL: for a request, for a page of a cache, or alone. */
  decisions: number
  refused: number
  /** Decisions that let a request start although robots.txt disallows it: the option `obey`. */
  againstRules: number
  /** Requests that were sent: `answered`, `failed` and `notReported`. */
  requests: number
  answered: number
  failed: number
  notReported: number
  /** Answered requests by the class of their status, such as `2xx`. */
  statuses: Record<string, number>
  /** Requests that were given up before they were sent. */
  notSent: number
  /** Pages that a cache answered without a request. */
  fromStore: number
  /** The length of the bodies that the caller has noted. */
  bytes: number
}

export interface SiteFacts extends Counts {
  readonly origin: string
  /**
   * What its robots.txt was like at some time: `found`, `missing`, `unreachable`, `restricted`,
   * `redirected`, `not-robots-txt` or `cut`.
   */
  readonly robotsTxt: string[]
  /** The files that decided; at most 20. */
  readonly files: { readonly sha256: string; decisions: number }[]
  /** Absent for fewer than two requests. */
  gaps?: Gaps
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
  /** The times of the first and the last record, in ISO 8601; empty without records. */
  from: string
  to: string
  readonly crawlers: (Pick<DecisionRecord['by'], 'userAgent' | 'purpose' | 'politely'> & { decisions: number })[]
  readonly totals: Counts
  /** By `because` of the verdict. */
  readonly refusals: Record<string, number>
  /** The lines that refused most, at most 1,000; `otherRules` counts the refusals by other lines. */
  rules: readonly RuleRefusals[]
  otherRules: number
  /** How many different files have decided. */
  robotsTxtFiles: number
  /** The causes are those of `Permit.waitedFor`. The longest total comes first. */
  readonly waits: { readonly cause: string; count: number; totalMs: number; longestMs: number }[]
  timeline: { readonly widthMs: number; readonly bars: ReturnType<TimelineCounter['bars']> }
  /** The site with the most requests comes first. */
  readonly sites: SiteFacts[]
  /** At most 5,000; `otherChanges` counts the others. */
  readonly changes: ChangeFacts[]
  otherChanges: number
  /** Each is one start of a process. */
  chains: number
  /** The process was killed, or is still running. */
  chainsWithoutEnd: number
  /** The records that say that others are missing; the first 100. */
  readonly gaps: Pick<GapRecord, 'lost' | 'since' | 'time' | 'error'>[]
  lostRecords: number
  /** Lines that are not records. */
  unreadable: number
  /** Decisions to send a request of which no result is known. */
  withoutResult: number
  /** Results of a request whose decision is missing. */
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
/** Decisions that wait for their result, and those that have ended and may get another. */
const [MAX_OPEN, MAX_CLOSED] = [1_000_000, 100_000]

interface Site {
  readonly facts: SiteFacts
  readonly gaps: GapCounter
  /** The file that is in force, and when it was last confirmed. The hash is empty for no file. */
  file?: { readonly sha256: string; readonly at: number }
  readonly recent: string[]
  change?: Change
}

interface Change {
  readonly origin: string
  readonly from: string
  readonly to: string
  readonly after: number
  readonly before: number
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
    version: 1,
    ...{
      from: '',
      to: '',
      crawlers: [],
      totals: newCounts(),
      refusals: {},
      rules: [],
      otherRules: 0,
      robotsTxtFiles: 0,
    },
    ...{ waits: [], timeline: { widthMs: 0, bars: [] }, sites: [], changes: [], otherChanges: 0, chains: 0 },
    ...{
      chainsWithoutEnd: 0,
      gaps: [],
      lostRecords: 0,
      unreadable: 0,
      withoutResult: 0,
      withoutDecision: 0,
      hashedUrls: 0,
    },
  }
  readonly #crawlers = new Map<string, ReportFacts['crawlers'][number]>()
  readonly #waits = new Map<string, ReportFacts['waits'][number]>()
  readonly #sites = new Map<string, Site>()
  #rules = new Map<string, RuleRefusals>()
  readonly #timeline = new TimelineCounter()
  readonly #changes: Change[] = []
  readonly #running = new Set<string>()
  readonly #open = new Map<string, Pending>()
  readonly #closed = new Map<string, Pending>()

  add(record: EvidenceRecord): void {
    const facts = this.#facts
    if (facts.from === '' || record.time < facts.from) facts.from = record.time
    if (record.time > facts.to) facts.to = record.time
    if (record.kind === 'decision') this.#decided(record)
    else if (record.kind === 'result') this.#ended(record)
    else if (record.kind === 'end') this.#running.delete(record.chain)
    else if (record.kind === 'start' && record.after === undefined) {
      facts.chains++
      this.#running.add(record.chain)
    } else if (record.kind === 'gap') {
      const { lost, since, time, error } = record
      facts.lostRecords += lost
      if (facts.gaps.length < MAX_GAPS) facts.gaps.push({ lost, since, time, error })
    }
  }

  /** Counts a line that is not a record. */
  addUnreadable(): void {
    this.#facts.unreadable++
  }

  async result(fileOf: FileOf): Promise<ReportFacts> {
    const facts = this.#facts
    for (const { facts: site, gaps } of this.#sites.values()) {
      const found = gaps.result()
      facts.sites.push(found === undefined ? site : { ...site, gaps: found })
    }
    facts.sites.sort((a, b) => b.requests - a.requests || b.decisions - a.decisions)
    facts.robotsTxtFiles = new Set(facts.sites.flatMap(({ files }) => files.map(({ sha256 }) => sha256))).size
    for (const change of this.#changes) facts.changes.push(await factsOfChange(change, fileOf))
    facts.crawlers.push(...this.#crawlers.values())
    facts.waits.push(...[...this.#waits.values()].sort((a, b) => b.totalMs - a.totalMs))
    facts.timeline = { widthMs: this.#timeline.widthMs, bars: this.#timeline.bars() }
    this.#dropRules(MAX_RULES)
    facts.rules = [...this.#rules.values()]
    facts.chainsWithoutEnd = this.#running.size
    facts.withoutResult += this.#open.size
    return facts
  }

  #decided(record: DecisionRecord): void {
    const { chain, id, use, by, verdict, origin, replaces } = record
    const { userAgent, purpose, politely } = by
    const crawler = { userAgent, ...(purpose !== undefined && { purpose }), politely, decisions: 0 }
    entryOf(this.#crawlers, JSON.stringify(crawler), () => crawler).decisions++
    const site = origin === undefined ? undefined : entryOf(this.#sites, origin, newSite)
    this.#count(site, 'decisions')
    if (record.hashed !== undefined) this.#facts.hashedUrls++
    const isRefused = !verdict.allowed && record.obey === undefined
    if (isRefused) this.#refused(record, site)
    else if (!verdict.allowed) this.#count(site, 'againstRules')
    if (use === 'stored-page' && !isRefused) this.#count(site, 'fromStore')
    if (site !== undefined) this.#noteFile(record, site)
    if (replaces !== undefined) this.#open.delete(`${chain} ${replaces}`)
    this.#keep(use === 'request' && !isRefused, `${chain} ${id}`, { site, asked: record.asked })
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
    const { file, recent, facts } = site
    const copy = access.copy === undefined ? undefined : robotsTxt
    const states = { redirected: access.hops.length > 0, 'not-robots-txt': access.looksLike, cut: copy?.truncated }
    for (const [state, isTrue] of Object.entries({ [STATES[access.outcome]]: true, ...states }))
      if (isTrue && !facts.robotsTxt.includes(state)) facts.robotsTxt.push(state)
    if (copy !== undefined) {
      const found = facts.files.find(({ sha256 }) => sha256 === copy.sha256)
      if (found !== undefined) found.decisions++
      else if (facts.files.length < MAX_FILES_OF_SITE) facts.files.push({ sha256: copy.sha256, decisions: 1 })
    }
    const sha256 = copy?.sha256 ?? ''
    const at = copy?.confirmedAt ?? access.checkedAt
    // Another process may still have an older copy: that is not a change back.
    if ((copy !== undefined || access.outcome === 'unavailable') && at > (file?.at ?? 0)) {
      site.file = { sha256, at }
      if (file !== undefined && sha256 !== file.sha256) {
        const [origin, from, to] = [facts.origin, file.sha256, sha256]
        site.change = { origin, from, to, after: file.at, before: at, by, urls: [...recent] }
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
    const { site, asked } = open ?? this.#closed.get(key) ?? {}
    if (body !== undefined) this.#count(site, 'bytes', body.bytes)
    if (permit !== undefined) this.#started(permit, site, asked)
    if (outcome === 'noted') return
    if (open === undefined) {
      if (!this.#closed.has(key)) this.#facts.withoutDecision++
      return
    }
    this.#open.delete(key)
    this.#keep(false, key, open)
    this.#count(site, COUNT_OF[outcome])
    if (outcome === 'stored-page' || outcome === 'not-sent') return
    this.#count(site, 'requests')
    if (status === undefined) return
    const kind = `${Math.floor(status / 100)}xx`
    for (const counts of [this.#facts.totals, site?.facts])
      if (counts !== undefined) counts.statuses[kind] = (counts.statuses[kind] ?? 0) + 1
  }

  #started(permit: NonNullable<ResultRecord['permit']>, site: Site | undefined, asked: Pending['asked']): void {
    const { time, delay, waitedMs, waitedFor } = permit
    const at = Date.parse(time)
    this.#timeline.add(at, 'started')
    site?.gaps.add({ at, askedMs: delayAsked(asked, at), isCapped: delay.because === 'cap' })
    if (waitedMs <= 0) return
    const wait = entryOf(this.#waits, waitedFor, (cause) => ({ cause, count: 0, totalMs: 0, longestMs: 0 }))
    wait.count++
    wait.totalMs += waitedMs
    wait.longestMs = Math.max(wait.longestMs, waitedMs)
  }

  #count(site: Site | undefined, name: Exclude<keyof Counts, 'statuses'>, count = 1): void {
    this.#facts.totals[name] += count
    if (site !== undefined) site.facts[name] += count
  }

  /** Keeps a decision for its results. Drops the oldest of too many. */
  #keep(isOpen: boolean, key: string, pending: Pending): void {
    const [map, max] = isOpen ? [this.#open, MAX_OPEN] : [this.#closed, MAX_CLOSED]
    if (map.set(key, pending).size <= max) return
    map.delete(map.keys().next().value as string)
    if (isOpen) this.#facts.withoutResult++
  }
}

const STATES = { success: 'found', unavailable: 'missing', unreachable: 'unreachable', restricted: 'restricted' }

const COUNT_OF = {
  answered: 'answered',
  failed: 'failed',
  'not-reported': 'notReported',
  'not-sent': 'notSent',
  'stored-page': 'fromStore',
} as const

function newCounts(): Counts {
  const requests = { requests: 0, answered: 0, statuses: {}, failed: 0, notReported: 0, notSent: 0, fromStore: 0 }
  return { decisions: 0, refused: 0, againstRules: 0, ...requests, bytes: 0 }
}

function newSite(origin: string): Site {
  return { facts: { origin, ...newCounts(), robotsTxt: [], files: [] }, gaps: new GapCounter(), recent: [] }
}

async function factsOfChange({ after, before, by, urls, ...change }: Change, fileOf: FileOf): Promise<ChangeFacts> {
  const { userAgent, productTokens, dialect } = by
  const [from, to] = [new Date(after).toISOString(), new Date(before).toISOString()]
  const facts = { ...change, after: from, before: to, userAgent }
  const read = async (sha256: string) => (sha256 === '' ? '' : (await fileOf(sha256)).bytes)
  const [old, now] = [await read(change.from), await read(change.to)]
  if (old === undefined || now === undefined)
    return { ...facts, effect: 'unknown', disallowed: [], allowed: [], delayMs: [] }
  const files = [old, now].map((bytes) => parseRobots({ bytes }, { dialect: dialect as Dialect }))
  const [oldRules, newRules] = files.map((file) => file.forCrawler(productTokens)) as [CrawlerRules, CrawlerRules]
  const counter = new ChangeCounter(userAgent, oldRules, newRules)
  for (const path of samplePaths(files)) counter.add(sampleUrl(path), path)
  for (const url of urls) counter.add(url)
  const { disallowed, allowed } = counter.result()
  const delayMs = [delayAsked(oldRules, before), delayAsked(newRules, before)]
  const isSame = disallowed.length + allowed.length === 0 && delayMs[0] === delayMs[1]
  return { ...facts, effect: isSame ? 'none' : 'changed', disallowed, allowed, delayMs }
}

/** Returns the delay that a site asks for from a time on. Milliseconds. */
function delayAsked(asked: DecisionRecord['asked'], at: number): number {
  if (asked === undefined) return 0
  const { crawlDelayMs, requestRates } = asked
  return delayOf({ ownDelayMs: 0, maxDelayMs: undefined, crawlDelayMs, requestRates }, at).delayMs
}

/** Returns the value of a key, which is created if it is missing. */
function entryOf<T>(map: Map<string, T>, key: string, create: (key: string) => T): T {
  const found = map.get(key)
  if (found !== undefined) return found
  const created = create(key)
  map.set(key, created)
  return created
}
