// Measures whether hostile sites slow down the crawl of honest sites. Many honest origins have a
// crawl-delay, some responses are 429 or 503, and nearly a third of the requests are aborted. One
// in ten honest origins is a tenant of a platform. The crawl runs alone, and beside hosts whose
// responses do not end: hosts of one domain, of several sites, and of several tenants of that
// platform.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { RobotsClient } from '@politely/fetcher'
import { type DoneMessage, PoliteGate, type StartMessage } from '@politely/gate'
import { politeAgent } from '@politely/gate/undici'
import { seededRandom } from '@politely/testkit/random-robots'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { request } from 'undici'
import type { Row, Sheet } from '../../sheet.ts'
import { NumberProcess } from '../number-process.ts'
import type { Plan } from '../plan.ts'

interface Size {
  readonly origins: number
  readonly pages: number
  /** Honest requests that are pending or queued at once. */
  readonly concurrency: number
  /** The hosts of the hostile domain. */
  readonly hostileHosts: number
  /**
   * The option of the gate. Shorter than its default, since this crawl takes seconds instead of
   * minutes.
   */
  readonly slowAfterMs: number
}

const FULL: Size = { origins: 200, pages: 100, concurrency: 2_000, hostileHosts: 400, slowAfterMs: 500 }
const QUICK: Size = { origins: 50, pages: 20, concurrency: 500, hostileHosts: 100, slowAfterMs: 200 }

/** Requests to each hostile host that are pending or queued at once. */
const HOSTILE_PAGES = 5
/**
 * How many hostile sites or tenants there are, and how many hosts each of them has. Together they
 * may have 20 × 8 requests under way.
 */
const HOSTILE_SITES = 20
const HOSTS_PER_SITE = 5
/**
 * The page of a hostile site or tenant takes this many times `slowAfterMs`. Then the crawler
 * requests the next one.
 */
const DRIPPING_SHARE = 3
/** A platform of the Public Suffix List. Its names lead to this machine. */
const PLATFORM = 'netlify.app'

const CRAWL_DELAY_MS = 100
const RETRY_AFTER_MS = 1_000
const ABORT_SHARE = 0.3
const MAX_ABORT_DELAY_MS = 3_000
/** The time limit. A crawl that exceeds it fails, because the hostile domain has stopped it. */
const MAX_CRAWL_MS = 180_000

interface Crawl {
  readonly tookMs: number
  readonly completed: number
  readonly aborted: number
  readonly pushbacks: number
  /**
   * The smallest difference between an actual delay and the required one, in milliseconds. Negative
   * if a delay was too short.
   */
  readonly minSpareMs: number
  readonly hostileRequests: number
}

/** The hostile hosts of each crawl. */
type Hostile = 'none' | 'domain' | 'sites' | 'tenants'

export async function gateHostileDomain({ turns }: Plan): Promise<Sheet> {
  const size = turns > 10 ? FULL : QUICK
  const alone = await crawl(size, 'none')
  const besideDomain = await crawl(size, 'domain')
  const besideSites = await crawl(size, 'sites')
  const besideTenants = await crawl(size, 'tenants')
  const all = [alone, besideDomain, besideSites, besideTenants]
  const rowOf = (name: string, one: Crawl): Row => ({
    name,
    cells: [
      one.completed,
      one.aborted,
      one.pushbacks,
      one.hostileRequests,
      one.tookMs / 1_000,
      pagesPerSecond(one),
      one.minSpareMs,
    ],
  })
  const shareOf = (what: string, one: Crawl, atLeast: number) => ({
    what: `gate: honest throughput beside ${what}`,
    value: pagesPerSecond(one) / pagesPerSecond(alone),
    unit: '×',
    target: { atLeast },
  })
  return {
    workload: 'gate, hostile domain',
    over: 'own',
    title: `gate: ${size.origins} honest origins with ${size.pages} pages each, beside hosts whose responses do not end`,
    columns: [
      { name: 'completed', unit: '' },
      { name: 'aborted', unit: '' },
      { name: '429 and 503', unit: '' },
      { name: 'hostile requests', unit: '' },
      { name: 'took', unit: 's' },
      { name: 'pages', unit: '/s' },
      { name: 'smallest margin', unit: 'ms' },
    ],
    rows: [
      rowOf('honest sites alone', alone),
      rowOf(`beside a hostile domain with ${size.hostileHosts} hosts`, besideDomain),
      rowOf(`beside ${HOSTILE_SITES} hostile sites`, besideSites),
      rowOf(`beside ${HOSTILE_SITES} hostile tenants of a platform`, besideTenants),
    ],
    findings: [
      shareOf('a hostile domain', besideDomain, 0.95),
      shareOf(`${HOSTILE_SITES} hostile sites`, besideSites, 0.9),
      shareOf(`${HOSTILE_SITES} hostile tenants`, besideTenants, 0.9),
      {
        what: 'gate: smallest margin over the required delay, under stress',
        value: Math.min(...all.map(({ minSpareMs }) => minSpareMs)),
        unit: 'ms',
        target: { atLeast: 0 },
      },
    ],
    notes: [],
  }
}

function pagesPerSecond({ completed, tookMs }: Crawl): number {
  return completed / (tookMs / 1_000)
}

function honestHost(n: number): string {
  return n % 10 === 0 ? `site${n}.${PLATFORM}` : `site${n}.test`
}

function hostileHosts(size: Size, hostile: Hostile): readonly string[] {
  if (hostile === 'none') return []
  if (hostile === 'domain') return Array.from({ length: size.hostileHosts }, (_, n) => `h${n}-.evil.test`)
  const suffix = hostile === 'tenants' ? PLATFORM : 'test'
  return Array.from(
    { length: HOSTILE_SITES * HOSTS_PER_SITE },
    (_, n) => `h${n % HOSTS_PER_SITE}.evil${Math.floor(n / HOSTS_PER_SITE)}.${suffix}`,
  )
}

async function crawl(size: Size, hostile: Hostile): Promise<Crawl> {
  const { slowAfterMs } = size
  const script = new URL('./gate-hostile-domain-child.ts', import.meta.url)
  const server = new NumberProcess(script, [CRAWL_DELAY_MS, DRIPPING_SHARE * slowAfterMs])
  const port = await server.nextNumber()
  const badHosts = hostileHosts(size, hostile)
  const hosts = [...badHosts, ...Array.from({ length: size.origins }, (_, n) => honestHost(n))]
  const lookup = lookupIn(Object.fromEntries(hosts.map((host) => [host, '127.0.0.1'])))
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, network: 'any', minTtlMs: 500 })
  const gate = new PoliteGate({ robots, minDelayMs: 0, slowAfterMs })
  const agent = politeAgent({ gate, lookup, network: 'any' })
  const delays = watchDelays(gate)
  const end = new AbortController()
  const counts = { completed: 0, aborted: 0, hostileRequests: 0 }

  const fetchPage = async (url: string, signal: AbortSignal) => {
    const { body } = await request(url, { dispatcher: agent, signal })
    await body.dump()
  }
  /** A hostile site has as many pages as the crawler requests. */
  const fetchHostile = async (host: string) => {
    while (!end.signal.aborted) {
      counts.hostileRequests++
      await fetchPage(`http://${host}:${port}/${counts.hostileRequests}`, end.signal).catch(() => undefined)
    }
  }
  const random = seededRandom(1)
  const pages = Array.from({ length: size.pages * size.origins }, (_, n) => ({
    url: `http://${honestHost(n % size.origins)}:${port}/page/${Math.floor(n / size.origins)}`,
    abortsAfterMs: random() < ABORT_SHARE ? random() * MAX_ABORT_DELAY_MS : undefined,
  }))
  const queue = pages.values()
  const fetchHonest = async () => {
    for (const { url, abortsAfterMs } of queue) {
      const abort = new AbortController()
      const timer = abortsAfterMs === undefined ? undefined : setTimeout(() => abort.abort(), abortsAfterMs)
      try {
        await fetchPage(url, abort.signal)
        counts.completed++
      } catch (error) {
        if (!abort.signal.aborted) throw error
        counts.aborted++
      } finally {
        clearTimeout(timer)
      }
    }
  }
  const limit = setTimeout(
    () => void agent.destroy(new Error(`the crawl took more than ${MAX_CRAWL_MS / 1_000} s`)),
    MAX_CRAWL_MS,
  )
  try {
    // The first robots.txt of each host of the hostile domain is fetched now. It has expired when
    // their pages are requested.
    await Promise.all(badHosts.map((host) => robots.check(`http://${host}:${port}/`)))
    await robots.prefetch(pages.slice(0, size.origins).map(({ url }) => url))
    const hostileRequests = badHosts.flatMap((host) => Array.from({ length: HOSTILE_PAGES }, () => fetchHostile(host)))
    const start = performance.now()
    await Promise.all(Array.from({ length: size.concurrency }, fetchHonest))
    const tookMs = performance.now() - start
    end.abort()
    await Promise.all(hostileRequests)
    return { ...counts, tookMs, ...delays.results() }
  } finally {
    clearTimeout(limit)
    delays.stop()
    await agent.destroy()
    gate.close()
    await robots.close()
    server.kill()
  }
}

/**
 * Measures the delays of every honest origin: its crawl-delay, and Retry-After from the moment when
 * the gate has seen the response.
 */
function watchDelays(gate: PoliteGate) {
  /** For each origin, the earliest time at which its next request may start. */
  const earliest = new Map<string, number>()
  let minSpareMs = Number.POSITIVE_INFINITY
  let pushbacks = 0
  const onStart = (message: unknown) => {
    const { gate: sender, origin, at } = message as StartMessage
    if (sender !== gate || origin.includes('evil')) return
    minSpareMs = Math.min(minSpareMs, at - (earliest.get(origin) ?? Number.NEGATIVE_INFINITY))
    earliest.set(origin, at + CRAWL_DELAY_MS)
  }
  const onDone = (message: unknown) => {
    const { gate: sender, origin, at, status, tookMs } = message as DoneMessage
    if (sender !== gate || (status !== 429 && status !== 503)) return
    pushbacks++
    // The gate sees the response when its headers arrive: after the start of the request and before
    // its end.
    earliest.set(origin, Math.max(earliest.get(origin) ?? 0, at - tookMs + RETRY_AFTER_MS))
  }
  subscribe('politely:gate:start', onStart)
  subscribe('politely:gate:done', onDone)
  return {
    results: () => ({ minSpareMs, pushbacks }),
    stop: () => {
      unsubscribe('politely:gate:start', onStart)
      unsubscribe('politely:gate:done', onDone)
    },
  }
}
