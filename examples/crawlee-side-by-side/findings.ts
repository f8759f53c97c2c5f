// What a journal says: line by line of one site, and in all.
import { type Entry, type Journal, mebibytes, ROBOTS_PATH, type Site } from './small-web.ts'

/** A request that came, or a page that was never asked for. */
export interface Finding {
  readonly path: string
  /** `undefined` is a page that was never asked for. */
  readonly entry: Entry | undefined
  readonly note: string
  /** Whether the site had its will, where it had one. */
  readonly obeyed: boolean | undefined
}

export interface Totals {
  readonly allowed: Share
  readonly disallowed: Share
  /** Pages of sites whose robots.txt is out of reach. */
  readonly unreachable: Share
  /** Between two pages of sites that ask for a pause. Milliseconds. */
  readonly shortestGapMs: number | undefined
  /** The most that was sent of one robots.txt. Bytes. */
  readonly longestRobots: number
  /** What it called itself, each name once. */
  readonly robotsNames: readonly string[]
  readonly pageNames: readonly string[]
}

export interface Share {
  readonly requested: number
  readonly of: number
}

/** How much of a pause has to be seen here, since one request may take longer on its way than the next. */
const SEEN = 0.9

/** What came of a site, in order; after it what was never asked for. */
export function findingsOf(site: Site, entries: readonly Entry[]): readonly Finding[] {
  const asked = entries.map((entry, i) => findingOf(site, entry, entries.slice(0, i)))
  const missed = Object.entries(site.pages)
    .filter(([path]) => !entries.some((entry) => entry.path === path))
    .map(([path, { is }]) => {
      const obeyed = is === 'disallowed' ? true : undefined
      return { path, entry: undefined, note: 'never asked for', obeyed }
    })
  return [...asked, ...missed]
}

export function totalsOf(journal: Journal): Totals {
  const sites = [...journal]
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
    robotsNames: namesOf(robots),
    pageNames: namesOf(pages),
  }
}

function findingOf(site: Site, entry: Entry, before: readonly Entry[]): Finding {
  const { path, userAgent, location, bytes } = entry
  const { crawlDelayMs, body } = site.robots
  const found = (note: string, obeyed?: boolean): Finding => ({ path, entry, note, obeyed })
  if (path === ROBOTS_PATH) return found(body.length > 2 ** 20 ? `${mebibytes(bytes)} of it taken` : userAgent)
  if (site.pages[path]?.is === 'disallowed')
    return found(isUnreachable(site) ? 'counts as disallowed' : 'is disallowed', false)
  if (location !== undefined) return found(`to ${location}`)
  const gap = gapBefore(entry, before)
  if (crawlDelayMs === undefined || gap === undefined) return found('')
  return found(`after ${seconds(gap)}`, gap >= SEEN * crawlDelayMs)
}

/** From the page before it to this page. Milliseconds. */
function gapBefore({ path, at }: Entry, before: readonly Entry[]): number | undefined {
  const last = before.findLast((entry) => entry.path !== ROBOTS_PATH)
  return path === ROBOTS_PATH || last === undefined ? undefined : at - last.at
}

function namesOf(entries: readonly Entry[]): readonly string[] {
  return [...new Set(entries.map(({ userAgent }) => userAgent))]
}

function isUnreachable({ robots }: Site): boolean {
  return robots.status >= 500
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
