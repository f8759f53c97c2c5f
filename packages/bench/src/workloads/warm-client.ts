// Measures the time of one check through the client when robots.txt is cached.
import { RobotsClient } from '@politely/fetcher'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { LRUCache } from 'lru-cache'
import { countAllowed, countAllowedSync, separateCopy } from '../check-loops.ts'
import { CRAWLER } from '../crawler.ts'
import { type SiteFile, siteFiles } from '../files/site-file.ts'
import { urlsFor } from '../files/site-urls.ts'
import { ours, reference } from '../libraries/libraries.ts'
import { type Contestant, measureInRounds, nowNs } from '../rounds.ts'
import type { Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'
import { withRobotsServer } from './robots-server.ts'

/** Most links of a page lead to the same site. */
const LINKS_PER_PAGE = 10
const CHECKS_PER_SITE = 50

export async function warmClient(plan: Plan): Promise<Sheet> {
  const client = new RobotsClient({ userAgent: `${CRAWLER}/1.0`, lookup: lookupIn() })
  try {
    return await withRobotsServer(plan.warmOrigins, (port) => compare(plan, client, port))
  } finally {
    await client.close()
  }
}

async function compare(plan: Plan, client: RobotsClient, port: number): Promise<Sheet> {
  const files = Array.from(siteFiles(plan.warmOrigins), (file, i) => ({
    ...file,
    origin: `http://site${i}.test:${port}`,
  }))
  const { success } = await client.prefetch(files.map(({ origin }) => `${origin}/`))
  if (success !== files.length) throw new Error(`only ${success} of ${files.length} files could be fetched`)
  const cache = new LRUCache<string, { readonly rules: unknown }>({ max: files.length })
  for (const file of files) {
    const rules = await reference.prepare(file.bytes.toString('utf8'), `${file.origin}/robots.txt`)
    cache.set(file.origin, { rules })
  }

  const count = {
    isAllowed: separateCopy(countAllowed, 'isAllowed'),
    check: separateCopy(countAllowed, 'check'),
    theirs: separateCopy(countAllowedSync, `${reference.name} in a cache`),
  }
  const byIsAllowed = (url: string) => client.isAllowed(url)
  const byCheck = async (url: string) => (await client.check(url)).allowed
  const byTheirs = (known: typeof cache, url: string) => reference.isAllowed(known.get(new URL(url).origin)?.rules, url)

  const urls = { 'in runs of ten': urlsInRuns(files, LINKS_PER_PAGE), 'site by site': urlsInRuns(files, 1) }
  const rows: Sheet['rows'][number][] = []
  const findings: Sheet['findings'][number][] = []
  for (const [order, urlsInOrder] of Object.entries(urls)) {
    const contestants = [
      new WarmContestant(urlsInOrder.length, () => count.isAllowed(byIsAllowed, urlsInOrder)),
      new WarmContestant(urlsInOrder.length, () => count.check(byCheck, urlsInOrder)),
      new WarmContestant(urlsInOrder.length, () => count.theirs(byTheirs, cache, urlsInOrder)),
    ]
    const medians = await measureInRounds(contestants, 1, plan.rounds)
    const [isAllowed = Number.NaN, check = Number.NaN, theirs = Number.NaN] = medians.map(
      ([ns]) => (ns ?? Number.NaN) / 1e3,
    )
    rows.push(
      { name: `${ours.name}, isAllowed, ${order}`, cells: [isAllowed, theirs / isAllowed] },
      { name: `${ours.name}, check, ${order}`, cells: [check, theirs / check] },
      { name: `${reference.name} + LRU cache, ${order}`, cells: [theirs, 1] },
    )
    const target = order === 'in runs of ten'
    findings.push(
      {
        what: `warm, ${order}: one check`,
        value: isAllowed,
        unit: 'µs',
        target: target ? { atMost: 1.2 } : null,
      },
      {
        what: `warm, ${order}: rate against ${reference.name} + LRU`,
        value: theirs / isAllowed,
        unit: '×',
        target: target ? { atLeast: 6 } : null,
      },
    )
  }
  return {
    workload: 'warm client',
    over: 'own',
    title: `warm client: ${files.length} sites cached, ${CHECKS_PER_SITE} checks for each`,
    columns: [
      { name: 'one check', unit: 'µs' },
      { name: 'rate', unit: `× ${reference.name}` },
    ],
    rows,
    findings,
    notes: [],
  }
}

/** Returns the URLs of all sites in runs: `length` URLs of one site, then of the next. */
function urlsInRuns(files: readonly SiteFile[], length: number): string[] {
  const urlsOfSites = files.map((file, i) => urlsFor(file, i + 1, CHECKS_PER_SITE))
  const urls: string[] = []
  for (let start = 0; start < CHECKS_PER_SITE; start += length) {
    for (const siteUrls of urlsOfSites) urls.push(...siteUrls.slice(start, start + length))
  }
  return urls
}

/** Measures one loop over all URLs. */
class WarmContestant implements Contestant {
  readonly #checks: number
  readonly #countAllowed: () => number | Promise<number>
  /** The count of allowed URLs. It prevents V8 from optimizing the checks away. */
  allowed = 0

  constructor(checks: number, countAllowed: () => number | Promise<number>) {
    this.#checks = checks
    this.#countAllowed = countAllowed
  }

  async measure(): Promise<number> {
    const start = nowNs()
    this.allowed += await this.#countAllowed()
    return (nowNs() - start) / this.#checks
  }
}
