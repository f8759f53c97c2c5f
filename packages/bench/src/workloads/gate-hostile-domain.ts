// Measures whether a hostile domain slows down the crawl of honest sites. Many origins have a crawl-delay, some responses are 429 or 503, and
// nearly a third of the requests are aborted. The crawl runs once alone, and once beside a domain whose hosts never finish a response.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { RobotsClient } from '@politely/fetcher'
import { type DoneMessage, PoliteGate, type StartMessage } from '@politely/gate'
import { politeAgent } from '@politely/gate/undici'
import { lookupIn } from '@politely/testkit/lookup'
import { seededRandom } from '@politely/testkit/random-robots'
import { request } from 'undici'
import type { Row, Sheet } from '../sheet.ts'
import { NumberProcess } from './number-process.ts'
import type { Plan } from './plan.ts'

interface Size {
  readonly origins: number
  readonly pages: number
  /** Honest requests that are pending or queued at once. */
  readonly concurrency: number
  readonly hostileHosts: number
  /** Requests to each hostile host. */
  readonly hostilePages: number
}

const FULL: Size = { origins: 200, pages: 100, concurrency: 2_000, hostileHosts: 400, hostilePages: 5 }
const QUICK: Size = { origins: 50, pages: 20, concurrency: 500, hostileHosts: 100, hostilePages: 5 }

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
  /** The smallest difference between an actual delay and the required one, in milliseconds. Negative if a delay was too short. */
  readonly minSpareMs: number
  readonly hostileRequests: number
}

export async function gateHostileDomain({ turns }: Plan): Promise<Sheet> {
  const size = turns > 10 ? FULL : QUICK
  const without = await crawl(size, 'without')
  const beside = await crawl(size, 'with')
  const rowOf = (name: string, one: Crawl): Row => ({
    name,
    cells: [one.completed, one.aborted, one.pushbacks, one.hostileRequests, one.tookMs / 1_000, one.minSpareMs],
  })
  const share = without.tookMs / beside.tookMs
  const minSpareMs = Math.min(without.minSpareMs, beside.minSpareMs)
  return {
    workload: 'gate, hostile domain',
    over: 'own',
    title: `gate: ${size.origins} honest origins with ${size.pages} pages each, and one hostile domain with ${size.hostileHosts} hosts`,
    columns: [
      { name: 'completed', unit: '' },
      { name: 'aborted', unit: '' },
      { name: '429 and 503', unit: '' },
      { name: 'hostile requests', unit: '' },
      { name: 'took', unit: 's' },
      { name: 'smallest margin', unit: 'ms' },
    ],
    rows: [rowOf('honest sites alone', without), rowOf('beside the hostile domain', beside)],
    findings: [
      { what: 'gate: honest throughput beside a hostile domain', value: share, unit: '×', target: { atLeast: 0.95 } },
      {
        what: 'gate: smallest margin over the required delay, under stress',
        value: minSpareMs,
        unit: 'ms',
        target: { atLeast: 0 },
      },
    ],
    notes: [],
  }
}

async function crawl(size: Size, hostile: 'with' | 'without'): Promise<Crawl> {
  const server = new NumberProcess(new URL('./gate-hostile-domain-child.ts', import.meta.url), [CRAWL_DELAY_MS])
  const port = await server.nextNumber()
  const lookup = lookupIn()
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, minTtlMs: 500 })
  const gate = new PoliteGate({ robots, minDelayMs: 0 })
  const agent = politeAgent({ gate, lookup })
  const delays = watchDelays(gate)
  const end = new AbortController()
  const counts = { completed: 0, aborted: 0, hostileRequests: 0 }

  const fetchPage = async (url: string, signal: AbortSignal) => {
    const { body } = await request(url, { dispatcher: agent, signal })
    await body.dump()
  }
  const fetchHostile = async (host: number, page: number) => {
    counts.hostileRequests++
    await fetchPage(`http://h${host}-.evil.test:${port}/${page}`, end.signal).catch(() => undefined)
  }
  const random = seededRandom(1)
  const pages = Array.from({ length: size.pages * size.origins }, (_, n) => ({
    url: `http://site${n % size.origins}.test:${port}/page/${Math.floor(n / size.origins)}`,
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
    const hosts = Array.from({ length: hostile === 'with' ? size.hostileHosts : 0 }, (_, host) => host)
    // The first robots.txt of each hostile host is fetched now. It has expired when their pages are requested.
    await Promise.all(hosts.map((host) => robots.check(`http://h${host}-.evil.test:${port}/`)))
    await robots.prefetch(pages.slice(0, size.origins).map(({ url }) => url))
    const hostileRequests = hosts.flatMap((host) =>
      Array.from({ length: size.hostilePages }, (_, page) => fetchHostile(host, page)),
    )
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

/** Measures the delays of every honest origin: its crawl-delay, and Retry-After from the moment when the gate has seen the response. */
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
    // The gate sees the response when its headers arrive: after the start of the request and before its end.
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
