// The facts of a report, from one pass over the records. The memory grows with the number of sites,
// about 1 KB for each, and not with the number of decisions.
import { type CrawlerRules, type Dialect, parseRobots, type Rule } from '@politely/core'
import { delayOf } from '@politely/core/engine'
import { ChangeCounter, type LineChange, samplePaths, sampleUrl } from '@politely/core/review'
import type { DecisionRecord, EvidenceRecord, GapRecord, ResultRecord } from '../record.ts'
import { GapCounter, type Gaps, type TimelineBar, TimelineCounter } from './report-counts.ts'

/** How often something happened, in all or at one site. */
export interface Counts {
  /** Decisions about a URL: for a request, for a page of a cache, or alone. */
  decisions: number
  /** Requests that were sent: `answered`, `failed` and `notReported`. */
  requests: number
  answered: number
  /** Answered requests by the class of their status, such as `2xx`. */
  statuses: Record<string, number>
  failed: number
  notReported: number
  /** Requests that were given up before they were sent. */
  notSent: number
  /** Pages that a cache answered without a request. */
  fromStore: number
  refused: number
  /** Decisions that let a request start although robots.txt disallows it: the option `obey`. */
  againstRules: number
  /** The length of the bodies that the caller has noted. */
  bytes: number
}

/** What robots.txt of a site was like during the crawl. A site may have had several states. */
export type RobotsTxtState = (typeof STATES)[number]

const STATES = ['found', 'missing', 'unreachable', 'restricted', 'redirected', 'not-robots-txt', 'cut'] as const

export interface SiteFacts extends Readonly<Counts> {
  readonly origin: string
  readonly robotsTxt: readonly RobotsTxtState[]
  /** The files that decided, by SHA-256; the first 20. */
  readonly files: readonly { readonly sha256: string; readonly decisions: number }[]
  /** Absent for fewer than two requests. */
  readonly gaps?: Gaps
}

/** Decisions to refuse by one line of a file. */
export interface RuleRefusals {
  readonly origin: string
  readonly sha256: string
  readonly line: number
  readonly rule: string
  count: number
}

/** A site changed its robots.txt. An absent hash: the site had no robots.txt. */
export interface ChangeFacts {
  readonly origin: string
  /** The change happened between these times, in ISO 8601. */
  readonly after: string
  readonly before: string
  readonly from?: string
  readonly to?: string
  readonly userAgent: string
  /**
   * What changes for this crawler, for paths made from the rules of both files and for URLs of the
   * crawl near the change. `unknown`: one of the files is missing.
   */
  readonly effect: 'none' | 'changed' | 'unknown'
  /** How many paths and URLs were compared. */
  readonly samplePaths?: number
  readonly urls?: number
  readonly disallowed?: readonly LineChange[]
  readonly allowed?: readonly LineChange[]
  /** The delay that each file asks for. Milliseconds, 0 for none. */
  readonly delayMs?: readonly [from: number, to: number]
}

export interface WaitFacts {
  /** What the requests waited for: see `Permit.waitedFor` of `@politely/gate`. */
  readonly cause: string
  count: number
  totalMs: number
  longestMs: number
}

/** What a folder of evidence says about a crawl. JSON-safe. */
export interface ReportFacts {
  readonly version: 1
  /** The times of the first and the last record. Absent without records. */
  readonly period?: { readonly from: string; readonly to: string }
  readonly crawlers: readonly {
    readonly userAgent: string
    readonly productTokens: readonly string[]
    readonly purpose?: string
    readonly politely: string
    readonly dialect: string
    decisions: number
  }[]
  readonly totals: Readonly<Counts>
  /** The different files that decided, and how many files the records name. */
  readonly robotsTxtFiles: { readonly decided: number; readonly recorded: number }
  readonly refusals: {
    /** By `because` of the verdict. */
    readonly byReason: Readonly<Record<string, number>>
    /** The lines that refused most, at most 1,000. */
    readonly byRule: readonly RuleRefusals[]
    /** Refusals by rules that are not in `byRule`. */
    readonly byOtherRules: number
  }
  /** How many sites had each state at some time. */
  readonly robotsTxtStates: Readonly<Record<RobotsTxtState, number>>
  /** By total time. */
  readonly waits: readonly WaitFacts[]
  readonly timeline: { readonly widthMs: number; readonly bars: readonly TimelineBar[] }
  /** By the number of requests. */
  readonly sites: readonly SiteFacts[]
  /** In the order in which the crawl noticed them, at most 5,000. */
  readonly changes: readonly ChangeFacts[]
  readonly otherChanges: number
  /** What the records cannot say. */
  readonly missing: {
    readonly chains: number
    /** Chains without an `end`: the process was killed, or is still running. */
    readonly chainsWithoutEnd: number
    readonly chainsWithSignature: number
    readonly lostRecords: number
    /** The first 100. */
    readonly gaps: readonly Pick<GapRecord, 'lost' | 'since' | 'time' | 'error'>[]
    /** Decisions to send a request of which no result is known. */
    readonly withoutResult: number
    /** Results of a request whose decision is missing. */
    readonly withoutDecision: number
    /** Decisions about a URL of which only the hash is kept. */
    readonly hashedUrls: number
  }
}

/** Returns the bytes of a robots.txt; undefined if the file is missing. */
export type FileOf = (sha256: string) => Promise<Uint8Array | undefined>

const MAX_RULES = 1_000
const MAX_CHANGES = 5_000
const MAX_FILES_OF_SITE = 20
const MAX_GAPS = 100
/** URLs of a site from before a change, and from after it. */
const MAX_URLS = [5, 20] as const
/** Decisions that wait for their result, and those that have ended and may get another. */
const MAX_OPEN = 1_000_000
const MAX_CLOSED = 100_000

interface Site {
  readonly origin: string
  readonly counts: Counts
  readonly states: Set<RobotsTxtState>
  readonly files: Map<string, number>
  readonly gaps: GapCounter
  /** The file that is in force, and when it was last confirmed. The hash is empty for no file. */
  file?: { readonly sha256: string; readonly at: number }
  readonly recent: string[]
  change?: Change
}

interface Change {
  readonly site: Site
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
  readonly #totals = newCounts()
  readonly #sites = new Map<string, Site>()
  readonly #crawlers = new Map<string, ReportFacts['crawlers'][number]>()
  readonly #chains = new Map<string, { hasEnd: boolean; hasSignature: boolean }>()
  readonly #byReason: Record<string, number> = {}
  #byRule = new Map<string, RuleRefusals>()
  readonly #waits = new Map<string, WaitFacts>()
  readonly #timeline = new TimelineCounter()
  readonly #changes: Change[] = []
  readonly #gaps: ReportFacts['missing']['gaps'][number][] = []
  readonly #open = new Map<string, Pending>()
  readonly #closed = new Map<string, Pending>()
  readonly #n = {
    recorded: 0,
    byOtherRules: 0,
    otherChanges: 0,
    lost: 0,
    withoutResult: 0,
    withoutDecision: 0,
    hashed: 0,
  }
  #first = Number.POSITIVE_INFINITY
  #last = Number.NEGATIVE_INFINITY

  add(record: EvidenceRecord): void {
    const at = Date.parse(record.time)
    this.#first = Math.min(this.#first, at)
    this.#last = Math.max(this.#last, at)
    const chain = entryOf(this.#chains, record.chain, () => ({ hasEnd: false, hasSignature: false }))
    if (record.kind === 'decision') this.#decided(record, at)
    else if (record.kind === 'result') this.#ended(record)
    else if (record.kind === 'robots-txt') this.#n.recorded++
    else if (record.kind === 'head') chain.hasSignature = true
    else if (record.kind === 'end') chain.hasEnd = true
    else if (record.kind === 'gap') {
      const { lost, since, time, error } = record
      this.#n.lost += lost
      if (this.#gaps.length < MAX_GAPS) this.#gaps.push({ lost, since, time, error })
    }
  }

  async result(fileOf: FileOf): Promise<ReportFacts> {
    const sites = Array.from(this.#sites.values(), factsOfSite).sort(
      (a, b) => b.requests - a.requests || b.decisions - a.decisions || (a.origin < b.origin ? -1 : 1),
    )
    const changes: ChangeFacts[] = []
    for (const change of this.#changes) changes.push(await factsOfChange(change, fileOf))
    const chains = [...this.#chains.values()]
    const { recorded, byOtherRules, otherChanges, lost, withoutResult, withoutDecision, hashed } = this.#n
    const byRule = rarestLast(this.#byRule)
    return {
      version: 1,
      ...(chains.length > 0 && { period: { from: isoTime(this.#first), to: isoTime(this.#last) } }),
      crawlers: [...this.#crawlers.values()],
      totals: this.#totals,
      robotsTxtFiles: {
        decided: new Set(sites.flatMap(({ files }) => files.map(({ sha256 }) => sha256))).size,
        recorded,
      },
      refusals: {
        byReason: this.#byReason,
        byRule: byRule.slice(0, MAX_RULES),
        byOtherRules: byOtherRules + sum(byRule.slice(MAX_RULES)),
      },
      robotsTxtStates: Object.fromEntries(
        STATES.map((state) => [state, sites.filter(({ robotsTxt }) => robotsTxt.includes(state)).length]),
      ) as ReportFacts['robotsTxtStates'],
      waits: [...this.#waits.values()].sort((a, b) => b.totalMs - a.totalMs),
      timeline: { widthMs: this.#timeline.widthMs, bars: this.#timeline.result() },
      sites,
      changes,
      otherChanges,
      missing: {
        chains: chains.length,
        chainsWithoutEnd: chains.filter(({ hasEnd }) => !hasEnd).length,
        chainsWithSignature: chains.filter(({ hasSignature }) => hasSignature).length,
        lostRecords: lost,
        gaps: this.#gaps,
        withoutResult: withoutResult + this.#open.size,
        withoutDecision,
        hashedUrls: hashed,
      },
    }
  }

  #decided(record: DecisionRecord, at: number): void {
    const { chain, id, use, by, verdict, origin, replaces } = record
    const site = origin === undefined ? undefined : entryOf(this.#sites, origin, () => newSite(origin))
    const dialect = typeof by.dialect === 'string' ? by.dialect : 'custom'
    const { userAgent, productTokens, purpose, politely } = by
    const crawler = entryOf(
      this.#crawlers,
      JSON.stringify([userAgent, productTokens, purpose, politely, dialect]),
      () => ({
        userAgent,
        productTokens,
        ...(purpose !== undefined && { purpose }),
        politely,
        dialect,
        decisions: 0,
      }),
    )
    crawler.decisions++
    this.#count(site, 'decisions')
    if (record.hashed !== undefined) this.#n.hashed++
    const isAdmitted = verdict.allowed || record.obey !== undefined
    if (!verdict.allowed && isAdmitted) this.#count(site, 'againstRules')
    if (!isAdmitted) this.#refused(record, site, at)
    else if (use === 'stored-page') this.#count(site, 'fromStore')
    if (replaces !== undefined) this.#open.delete(`${chain} ${replaces}`)
    if (site !== undefined) this.#noteFile(record, site)
    const isOpen = isAdmitted && use === 'request'
    this.#keep(isOpen ? this.#open : this.#closed, `${chain} ${id}`, { site, asked: record.asked })
  }

  #refused({ verdict, robotsTxt, origin = '' }: DecisionRecord, site: Site | undefined, at: number): void {
    this.#count(site, 'refused')
    this.#timeline.add(at, 'refused')
    this.#byReason[verdict.because] = (this.#byReason[verdict.because] ?? 0) + 1
    if (verdict.because !== 'rule') return
    const { line, text, directive } = verdict.rule as Rule
    const sha256 = robotsTxt?.sha256 ?? ''
    const rule = `${directive === 'allow' ? 'Allow' : 'Disallow'}: ${text}`
    entryOf(this.#byRule, `${origin} ${sha256} ${line}`, () => ({ origin, sha256, line, rule, count: 0 })).count++
    if (this.#byRule.size <= 100 * MAX_RULES) return
    const rules = rarestLast(this.#byRule)
    this.#n.byOtherRules += sum(rules.slice(50 * MAX_RULES))
    this.#byRule = new Map(
      rules.slice(0, 50 * MAX_RULES).map((each) => [`${each.origin} ${each.sha256} ${each.line}`, each]),
    )
  }

  /** Notes the state of robots.txt, and whether the site has changed it. */
  #noteFile({ access, robotsTxt, by, url, hashed }: DecisionRecord, site: Site): void {
    if (access === undefined) return
    site.states.add(STATE_OF[access.outcome])
    if (access.hops.length > 0) site.states.add('redirected')
    if (access.looksLike !== undefined) site.states.add('not-robots-txt')
    if (robotsTxt?.truncated) site.states.add('cut')
    const copy = access.copy === undefined ? undefined : robotsTxt
    const sha256 = copy?.sha256 ?? ''
    const { files, recent, file } = site
    if (copy !== undefined && (files.has(sha256) || files.size < MAX_FILES_OF_SITE))
      files.set(sha256, (files.get(sha256) ?? 0) + 1)
    if (copy !== undefined || access.outcome === 'unavailable') {
      const at = copy?.confirmedAt ?? access.checkedAt
      // Another process may still have an older copy. That is no change back.
      if (file === undefined || at > file.at) site.file = { sha256, at }
      if (file !== undefined && at > file.at && sha256 !== file.sha256) {
        const change = { site, from: file.sha256, to: sha256, after: file.at, before: at, by, urls: [...recent] }
        site.change = change
        if (this.#changes.length < MAX_CHANGES) this.#changes.push(change)
        else this.#n.otherChanges++
      }
    }
    if (hashed !== undefined || recent.includes(url)) return
    if (recent.push(url) > MAX_URLS[0]) recent.shift()
    if ((site.change?.urls.length ?? Number.POSITIVE_INFINITY) < MAX_URLS[0] + MAX_URLS[1]) site.change?.urls.push(url)
  }

  #ended({ chain, id, outcome, status, permit, body }: ResultRecord): void {
    const key = `${chain} ${id}`
    const open = this.#open.get(key)
    const { site, asked } = open ?? this.#closed.get(key) ?? {}
    if (body !== undefined) this.#count(site, 'bytes', body.bytes)
    if (permit !== undefined) this.#started(permit, site, asked)
    if (outcome === 'noted') return
    if (open === undefined) {
      if (!this.#closed.has(key)) this.#n.withoutDecision++
      return
    }
    this.#open.delete(key)
    this.#keep(this.#closed, key, open)
    this.#count(site, COUNT_OF[outcome])
    if (outcome === 'stored-page' || outcome === 'not-sent') return
    this.#count(site, 'requests')
    if (status === undefined) return
    const kind = `${Math.floor(status / 100)}xx`
    for (const { statuses } of [this.#totals, ...(site ? [site.counts] : [])])
      statuses[kind] = (statuses[kind] ?? 0) + 1
  }

  #started(permit: NonNullable<ResultRecord['permit']>, site: Site | undefined, asked: Pending['asked']): void {
    const at = Date.parse(permit.time)
    this.#timeline.add(at, 'started')
    site?.gaps.add({ at, askedMs: delayAsked(asked, at), isCapped: permit.delay.because === 'cap' })
    if (permit.waitedMs <= 0) return
    const wait = entryOf(this.#waits, permit.waitedFor, (cause) => ({ cause, count: 0, totalMs: 0, longestMs: 0 }))
    wait.count++
    wait.totalMs += permit.waitedMs
    wait.longestMs = Math.max(wait.longestMs, permit.waitedMs)
  }

  #count(site: Site | undefined, name: Exclude<keyof Counts, 'statuses'>, count = 1): void {
    this.#totals[name] += count
    if (site !== undefined) site.counts[name] += count
  }

  /** Keeps a decision for its results. Drops the oldest of too many. */
  #keep(map: Map<string, Pending>, key: string, pending: Pending): void {
    map.set(key, pending)
    if (map.size <= (map === this.#open ? MAX_OPEN : MAX_CLOSED)) return
    map.delete(map.keys().next().value as string)
    if (map === this.#open) this.#n.withoutResult++
  }
}

const STATE_OF = {
  success: 'found',
  unavailable: 'missing',
  unreachable: 'unreachable',
  restricted: 'restricted',
} as const

const COUNT_OF = {
  answered: 'answered',
  failed: 'failed',
  'not-reported': 'notReported',
  'not-sent': 'notSent',
  'stored-page': 'fromStore',
} as const

function newCounts(): Counts {
  const requests = { requests: 0, answered: 0, statuses: {}, failed: 0, notReported: 0, notSent: 0, fromStore: 0 }
  return { decisions: 0, ...requests, refused: 0, againstRules: 0, bytes: 0 }
}

function newSite(origin: string): Site {
  return { origin, counts: newCounts(), states: new Set(), files: new Map(), gaps: new GapCounter(), recent: [] }
}

function factsOfSite({ origin, counts, states, files, gaps: counter }: Site): SiteFacts {
  const gaps = counter.result()
  return {
    origin,
    ...counts,
    robotsTxt: STATES.filter((state) => states.has(state)),
    files: Array.from(files, ([sha256, decisions]) => ({ sha256, decisions })),
    ...(gaps && { gaps }),
  }
}

async function factsOfChange(
  { site, from, to, after, before, by, urls }: Change,
  fileOf: FileOf,
): Promise<ChangeFacts> {
  const { userAgent, productTokens, dialect } = by
  const change = {
    origin: site.origin,
    after: isoTime(after),
    before: isoTime(before),
    ...(from && { from }),
    ...(to && { to }),
    userAgent,
  }
  const [old, now] = await Promise.all([from, to].map((sha256) => (sha256 === '' ? new Uint8Array() : fileOf(sha256))))
  if (old === undefined || now === undefined) return { ...change, effect: 'unknown' }
  const files = [old, now].map((bytes) => parseRobots(bytes, { dialect: dialect as Dialect }))
  const [oldRules, newRules] = files.map((file) => file.forCrawler(productTokens)) as [CrawlerRules, CrawlerRules]
  const counter = new ChangeCounter(userAgent, oldRules, newRules)
  const paths = samplePaths(files)
  for (const path of paths) counter.add(sampleUrl(path), path)
  for (const url of urls) counter.add(url)
  const { disallowed, allowed } = counter.result()
  const delayMs = [delayAsked(oldRules, before), delayAsked(newRules, before)] as const
  const isSame = disallowed.length + allowed.length === 0 && delayMs[0] === delayMs[1]
  const counts = { samplePaths: paths.length, urls: urls.length, disallowed, allowed, delayMs }
  return { ...change, effect: isSame ? 'none' : 'changed', ...counts }
}

/** Returns the delay that a site asks for, from a time on. Milliseconds. */
function delayAsked(asked: DecisionRecord['asked'], at: number): number {
  if (asked === undefined) return 0
  const { crawlDelayMs, requestRates } = asked
  return delayOf({ ownDelayMs: 0, maxDelayMs: undefined, crawlDelayMs, requestRates }, at).delayMs
}

function rarestLast(rules: ReadonlyMap<string, RuleRefusals>): readonly RuleRefusals[] {
  return [...rules.values()].sort((a, b) => b.count - a.count)
}

function sum(rules: readonly RuleRefusals[]): number {
  return rules.reduce((total, { count }) => total + count, 0)
}

function isoTime(at: number): string {
  return new Date(at).toISOString()
}

/** Returns the value of a key, which is created if it is missing. */
function entryOf<T>(map: Map<string, T>, key: string, create: (key: string) => T): T {
  const found = map.get(key)
  if (found !== undefined) return found
  const created = create(key)
  map.set(key, created)
  return created
}
