// Does a hostile domain slow down the crawl of honest sites? Many origins with a crawl-delay, some answers 429 and 503, nearly a third of the
// requests aborted: once by themselves, and once beside a domain whose hosts never finish an answer.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { LookupFunction } from 'node:net'
import { RobotsClient } from '@politely/fetcher'
import { type DoneMessage, PoliteGate, politeAgent, type StartMessage } from '@politely/gate'
import { seededRandom } from '@politely/testkit/random-robots'
import { request } from 'undici'
import type { Row, Sheet } from '../sheet.ts'
import { Child } from './child.ts'
import type { Plan } from './plan.ts'

interface Size {
  readonly origins: number
  readonly pages: number
  /** Honest requests under way or waiting at once. */
  readonly atOnce: number
  readonly hostileHosts: number
  /** For each hostile host. */
  readonly hostilePages: number
}

const FULL: Size = { origins: 200, pages: 100, atOnce: 2_000, hostileHosts: 400, hostilePages: 5 }
const QUICK: Size = { origins: 50, pages: 20, atOnce: 500, hostileHosts: 100, hostilePages: 5 }

const CRAWL_DELAY_MS = 100
const RETRY_AFTER_MS = 1_000
const ABORTED = 0.3
const LATEST_ABORT_MS = 3_000
/** A crawl that is not over by then fails: the hostile domain has stopped it. */
const LONGEST_CRAWL_MS = 180_000

interface Crawl {
  readonly tookMs: number
  readonly answered: number
  readonly aborted: number
  readonly pushbacks: number
  /** The shortest pause over what the site asked for. Milliseconds; negative for one that was too short. */
  readonly leastSpareMs: number
  readonly hostileRequests: number
}

export async function gateHostileDomain({ turns }: Plan): Promise<Sheet> {
  const size = turns > 10 ? FULL : QUICK
  const without = await crawl(size, 'without')
  const beside = await crawl(size, 'with')
  const rowOf = (name: string, one: Crawl): Row => ({
    name,
    cells: [one.answered, one.aborted, one.pushbacks, one.hostileRequests, one.tookMs / 1_000, one.leastSpareMs],
  })
  const share = without.tookMs / beside.tookMs
  const leastSpareMs = Math.min(without.leastSpareMs, beside.leastSpareMs)
  return {
    workload: 'gate, hostile domain',
    over: 'own',
    title: `gate: ${size.origins} honest origins with ${size.pages} pages each, and one hostile domain with ${size.hostileHosts} hosts`,
    columns: [
      { name: 'answered', unit: '' },
      { name: 'aborted', unit: '' },
      { name: '429 and 503', unit: '' },
      { name: 'hostile requests', unit: '' },
      { name: 'took', unit: 's' },
      { name: 'least gap over what is asked', unit: 'ms' },
    ],
    rows: [rowOf('honest sites alone', without), rowOf('beside the hostile domain', beside)],
    findings: [
      { what: 'gate: honest throughput beside a hostile domain', value: share, unit: '×', target: { atLeast: 0.95 } },
      {
        what: 'gate: least gap over what is asked, under stress',
        value: leastSpareMs,
        unit: 'ms',
        target: { atLeast: 0 },
      },
    ],
    asides: [],
  }
}

async function crawl(size: Size, hostile: 'with' | 'without'): Promise<Crawl> {
  const server = new Child(new URL('./hostile-domain-child.ts', import.meta.url), [CRAWL_DELAY_MS])
  const port = await server.said()
  const lookup: LookupFunction = (_, { all }, done) =>
    all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)
  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup, minTtlMs: 500 })
  const gate = new PoliteGate({ robots, minDelayMs: 0 })
  const agent = politeAgent({ gate, lookup })
  const pauses = watchPauses(gate)
  const ending = new AbortController()
  const counts = { answered: 0, aborted: 0, hostileRequests: 0 }

  const ask = async (url: string, signal: AbortSignal) => {
    const { body } = await request(url, { dispatcher: agent, signal })
    await body.dump()
  }
  const askHostile = async (host: number, page: number) => {
    counts.hostileRequests++
    await ask(`http://h${host}-.evil.test:${port}/${page}`, ending.signal).catch(() => undefined)
  }
  const roll = seededRandom(1)
  const pages = Array.from({ length: size.pages * size.origins }, (_, n) => ({
    url: `http://site${n % size.origins}.test:${port}/page/${Math.floor(n / size.origins)}`,
    abortsAfterMs: roll() < ABORTED ? roll() * LATEST_ABORT_MS : undefined,
  }))
  const queue = pages.values()
  const askHonest = async () => {
    for (const { url, abortsAfterMs } of queue) {
      const abort = new AbortController()
      const timer = abortsAfterMs === undefined ? undefined : setTimeout(() => abort.abort(), abortsAfterMs)
      try {
        await ask(url, abort.signal)
        counts.answered++
      } catch (error) {
        if (!abort.signal.aborted) throw error
        counts.aborted++
      } finally {
        clearTimeout(timer)
      }
    }
  }
  const limit = setTimeout(() => void agent.destroy(new Error('the crawl does not end')), LONGEST_CRAWL_MS)
  try {
    const hosts = Array.from({ length: hostile === 'with' ? size.hostileHosts : 0 }, (_, host) => host)
    // Their first robots.txt is fetched and has expired by the time their pages are asked for.
    await Promise.all(hosts.map((host) => robots.check(`http://h${host}-.evil.test:${port}/`)))
    await robots.prefetch(pages.slice(0, size.origins).map(({ url }) => url))
    const others = hosts.flatMap((host) =>
      Array.from({ length: size.hostilePages }, (_, page) => askHostile(host, page)),
    )
    const start = performance.now()
    await Promise.all(Array.from({ length: size.atOnce }, askHonest))
    const tookMs = performance.now() - start
    ending.abort()
    await Promise.all(others)
    return { ...counts, tookMs, ...pauses.seen() }
  } finally {
    clearTimeout(limit)
    pauses.stop()
    await agent.destroy()
    gate.close()
    await robots.close()
    server.end()
  }
}

/** Follows the pauses of every honest origin: the crawl-delay, and Retry-After once its answer has been heard. */
function watchPauses(gate: PoliteGate) {
  /** By origin: no request may leave before this moment. */
  const earliest = new Map<string, number>()
  let leastSpareMs = Number.POSITIVE_INFINITY
  let pushbacks = 0
  const left = (message: unknown) => {
    const { gate: its, origin, at } = message as StartMessage
    if (its !== gate || origin.includes('evil')) return
    leastSpareMs = Math.min(leastSpareMs, at - (earliest.get(origin) ?? Number.NEGATIVE_INFINITY))
    earliest.set(origin, at + CRAWL_DELAY_MS)
  }
  const done = (message: unknown) => {
    const { gate: its, origin, at, status, tookMs } = message as DoneMessage
    if (its !== gate || (status !== 429 && status !== 503)) return
    pushbacks++
    // The gate hears of the answer when its headers come, which is after the request left and before it was over.
    earliest.set(origin, Math.max(earliest.get(origin) ?? 0, at - tookMs + RETRY_AFTER_MS))
  }
  subscribe('politely:gate:start', left)
  subscribe('politely:gate:done', done)
  return {
    seen: () => ({ leastSpareMs, pushbacks }),
    stop: () => {
      unsubscribe('politely:gate:start', left)
      unsubscribe('politely:gate:done', done)
    },
  }
}
