// Evaluates a request log: line by line for one site, and in total.
import { type Entry, mebibytes, type RequestLog, ROBOTS_PATH, type Site } from './local-sites.ts'

/** A request that the server received, or a page that was never requested. */
export interface Finding {
  readonly path: string
  /** Undefined for a page that was never requested. */
  readonly entry: Entry | undefined
  readonly note: string
  /** Whether the site's robots.txt was obeyed. Undefined where it asks for nothing. */
  readonly obeyed: boolean | undefined
}

export interface Totals {
  readonly allowed: Share
  readonly disallowed: Share
  /** Pages of sites whose robots.txt is unreachable. */
  readonly unreachable: Share
  /** The shortest time between two pages of a site with a crawl-delay. Milliseconds. */
  readonly shortestGapMs: number | undefined
  /** The largest number of bytes that was sent of one robots.txt. */
  readonly longestRobots: number
  /** The User-Agent headers of requests for robots.txt, without duplicates. */
  readonly robotsUserAgents: readonly string[]
  /** The User-Agent headers of requests for pages, without duplicates. */
  readonly pageUserAgents: readonly string[]
}

export interface Share {
  readonly requested: number
  readonly of: number
}

/**
 * The part of a crawl-delay that the server must observe. One request may take longer on its way
 * than the next.
 */
const MIN_OBSERVED_DELAY = 0.9

/** Returns the requests to a site in order, then the pages that were never requested. */
export function findingsOf(site: Site, entries: readonly Entry[]): readonly Finding[] {
  const requested = entries.map((entry, i) => findingOf(site, entry, entries.slice(0, i)))
  const neverRequested = Object.entries(site.pages)
    .filter(([path]) => !entries.some((entry) => entry.path === path))
    .map(([path, { is }]) => {
      const obeyed = is === 'disallowed' ? true : undefined
      return { path, entry: undefined, note: 'never requested', obeyed }
    })
  return [...requested, ...neverRequested]
}

export function totalsOf(log: RequestLog): Totals {
  const sites = [...log]
  const share = (belongs: (site: Site, path: string) => boolean): Share => {
    const wanted = sites.flatMap(([site, entries]) =>
      Object.keys(site.pages)
        .filter((path) => belongs(site, path))
        .map((path) => entries.some((entry) => entry.path === path)),
    )
    return { requested: wanted.filter(Boolean).length, of: wanted.length }
  }
  const gaps = sites
    .filter(([site]) => site.robots.crawlDelayMs !== undefined)
    .flatMap(([, entries]) => entries.map((entry, i) => gapBefore(entry, entries.slice(0, i))))
    .filter((gap) => gap !== undefined)
  const all = sites.flatMap(([, entries]) => entries)
  const robots = all.filter(({ path }) => path === ROBOTS_PATH)
  const pages = all.filter(({ path }) => path !== ROBOTS_PATH)
  return {
    allowed: share((site, path) => site.pages[path]?.is === 'allowed'),
    disallowed: share((site, path) => site.pages[path]?.is === 'disallowed' && !isUnreachable(site)),
    unreachable: share(isUnreachable),
    shortestGapMs: gaps.length === 0 ? undefined : Math.min(...gaps),
    longestRobots: Math.max(0, ...robots.map(({ bytes }) => bytes)),
    robotsUserAgents: userAgentsOf(robots),
    pageUserAgents: userAgentsOf(pages),
  }
}

function findingOf(site: Site, entry: Entry, before: readonly Entry[]): Finding {
  const { path, userAgent, location, bytes } = entry
  const { crawlDelayMs, body } = site.robots
  const found = (note: string, obeyed?: boolean): Finding => ({ path, entry, note, obeyed })
  if (path === ROBOTS_PATH) return found(body.length > 2 ** 20 ? `${mebibytes(bytes)} of it read` : userAgent)
  if (site.pages[path]?.is === 'disallowed')
    return found(isUnreachable(site) ? 'counts as disallowed' : 'is disallowed', false)
  if (location !== undefined) return found(`to ${location}`)
  const gap = gapBefore(entry, before)
  if (crawlDelayMs === undefined || gap === undefined) return found('')
  return found(`after ${seconds(gap)}`, gap >= MIN_OBSERVED_DELAY * crawlDelayMs)
}

/** Returns the time since the previous page. Milliseconds. */
function gapBefore({ path, at }: Entry, before: readonly Entry[]): number | undefined {
  const last = before.findLast((entry) => entry.path !== ROBOTS_PATH)
  return path === ROBOTS_PATH || last === undefined ? undefined : at - last.at
}

function userAgentsOf(entries: readonly Entry[]): readonly string[] {
  return [...new Set(entries.map(({ userAgent }) => userAgent))]
}

function isUnreachable({ robots }: Site): boolean {
  return robots.status >= 500
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
