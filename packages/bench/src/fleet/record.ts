// What a simulation leaves behind: counts, and none of the estimates of bytes, which the tables
// add.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crawler, web } from './parameters.ts'
import { type Plan, type Run, simulate } from './simulate.ts'
import { generateSites, ROBOTS, type Sites } from './sites.ts'

const FILE = join(import.meta.dirname, '../../record/fleet/simulation.json')

export interface Size {
  readonly origins: number
  readonly urls: number
  readonly workers: number
  readonly seed: number
}

export interface FleetRecord extends Size {
  readonly domains: number
  /** The largest number of URLs of a site. */
  readonly largestSite: number
  /**
   * The lower bound that sites set: the longest time that one site takes at the delay it asks for.
   */
  readonly slowestSiteMs: number
  /**
   * The fetches of robots.txt if each site's URLs are spread evenly over this many days: one for
   * each URL, at most one a day.
   */
  readonly spread: { readonly days: number; readonly fetches: number }
  readonly plans: Readonly<Record<Plan, Summary>>
  /** The same crawl at a tenth of the size, in which a worker dies after this time. */
  readonly death: {
    readonly origins: number
    readonly at: number
    readonly plans: Readonly<Record<Plan, Run['death']>>
  }
  /** What the program itself needed. */
  readonly program: { readonly seconds: number; readonly megabytes: number }
}

/** A run without its long lists. */
export interface Summary extends Omit<Run, 'perMinute' | 'requestsOf'> {
  readonly perSecond: Readonly<Record<keyof Run['perMinute'], Rate>>
  /** The requests of the worker with the most, relative to the mean. */
  readonly busiest: number
  /** The lower bound that the fleet's connections set. */
  readonly workMs: number
}

/** Events per second: in the busiest minute, and until 90 % of the URLs were done. */
interface Rate {
  readonly peak: number
  readonly mean: number
}

const DEATH_AT = 60_000
const SPREAD_DAYS = 30

export function simulateFleet(size: Size, progress: (done: string) => void): FleetRecord {
  const start = performance.now()
  const sites = generateSites(size)
  progress(`${sites.count} origins of ${sites.domains} registrable domains, ${sites.urls} URLs`)
  const { workers, seed } = size
  const run = (plan: Plan) => {
    const summary = summaryOf(simulate(sites, { plan, workers, seed }))
    progress(`${plan}: done after ${((performance.now() - start) / 1000).toFixed(0)} s`)
    return summary
  }
  const plans = { partition: run('partition'), shared: run('shared') }
  return {
    ...size,
    urls: sites.urls,
    domains: sites.domains,
    largestSite: sites.urlsOf.reduce((largest, urls) => Math.max(largest, urls), 0),
    slowestSiteMs: slowestSiteMs(sites),
    spread: { days: SPREAD_DAYS, fetches: sites.urlsOf.reduce((sum, urls) => sum + Math.min(urls, SPREAD_DAYS), 0) },
    plans,
    death: simulateDeath(size),
    program: {
      seconds: Math.round((performance.now() - start) / 1000),
      megabytes: Math.round(process.resourceUsage().maxRSS / 1000),
    },
  }
}

function simulateDeath({ workers, seed, ...size }: Size): FleetRecord['death'] {
  const origins = Math.ceil(size.origins / 10)
  const sites = generateSites({ origins, urls: Math.ceil(size.urls / 10), seed })
  const deathIn = (plan: Plan) => simulate(sites, { plan, workers, seed, deathAt: DEATH_AT }).death
  return { origins, at: DEATH_AT, plans: { partition: deathIn('partition'), shared: deathIn('shared') } }
}

function summaryOf(run: Run): Summary {
  const { perMinute, requestsOf, ...counts } = run
  const until = counts.milestones.find(({ share }) => share === 0.9)?.at ?? counts.makespanMs
  const rateOf = (list: readonly number[]): Rate => {
    const minutes = Math.max(1, Math.round(until / 60_000))
    const sum = list.slice(0, minutes).reduce((total, count) => total + count, 0)
    return { peak: list.reduce((most, count) => Math.max(most, count), 0) / 60, mean: sum / minutes / 60 }
  }
  const { pages, robots, calls } = perMinute
  const requests = requestsOf.reduce((total, count) => total + count, 0)
  return {
    ...counts,
    perSecond: { pages: rateOf(pages), robots: rateOf(robots), calls: rateOf(calls) },
    busiest: Math.max(...requestsOf) / (requests / requestsOf.length),
    workMs: counts.busyMs / (counts.workers * crawler.connections),
  }
}

function slowestSiteMs({ urlsOf, delayOf, robotsOf }: Sites): number {
  const delays = [0, ...web.crawlDelays.map(({ delayMs }) => delayMs)]
  return urlsOf.reduce((longest, urls, id) => {
    if (robotsOf[id] === ROBOTS.unreachable) return longest
    const asked = Math.min(Math.max(delays[delayOf[id] as number] as number, crawler.ownDelayMs), crawler.maxDelayMs)
    return Math.max(longest, (urls - 1) * asked)
  }, 0)
}

export function readRecord(): FleetRecord {
  return JSON.parse(readFileSync(FILE, 'utf8'))
}

export function writeRecord(record: FleetRecord): void {
  writeFileSync(FILE, `${JSON.stringify(record, undefined, 2)}\n`)
}
