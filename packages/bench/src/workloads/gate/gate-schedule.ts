// Crawls twenty origins over real sockets, in pairs with ten different crawl-delays. Measures
// whether any delay is too short, and how close the crawl comes to the ideal schedule. Runs once
// without and once with responses of 429.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RobotsClient } from '@politely/fetcher'
import { PoliteGate } from '@politely/gate'
import { politeAgent } from '@politely/gate/undici'
import { lookupIn } from '@politely/testkit/servers/lookup'
import { CrawlTimeline } from '@politely/timeline'
import { request } from 'undici'
import { median } from '../../median.ts'
import type { Row, Sheet } from '../../sheet.ts'
import type { Plan } from '../plan.ts'

/** The crawl-delays in milliseconds. Each is used by two origins, one of which responds slowly. */
const DELAYS = [100, 120, 150, 200, 250, 300, 400, 500, 750, 1_000]
const SLOW_RESPONSE_MS = 120
/**
 * With pushbacks, each origin responds to every 25th request with 429 and a Retry-After of one
 * second.
 */
const PUSHBACK_EVERY = 25
const RETRY_AFTER_MS = 1_000
/** The number of requests in a full run and in a quick one. */
const REQUESTS = { full: 2_000, quick: 400 }

interface Origin {
  readonly host: string
  readonly delayMs: number
  readonly requests: number
  readonly isSlow: boolean
  /**
   * The times at which requests started in the gate and arrived at the server, by the same clock.
   */
  readonly startedAt: number[]
  readonly arrivedAt: number[]
  /** The indexes of requests that got a 429. The next gap must be longer. */
  readonly pushedBack: Set<number>
}

export async function gateSchedule({ turns }: Plan): Promise<readonly Sheet[]> {
  const requests = turns > 10 ? REQUESTS.full : REQUESTS.quick
  return [await crawl(requests, 'without'), await crawl(requests, 'with')]
}

async function crawl(requests: number, pushbacks: 'with' | 'without'): Promise<Sheet> {
  const origins = originsFor(requests)
  const byHost = new Map(origins.map((origin) => [origin.host, origin]))
  const server = createServer((received, response) => {
    const origin = byHost.get((received.headers.host ?? '').replace(/:\d+$/, ''))
    if (origin === undefined) return void response.writeHead(421).end()
    if (received.url === '/robots.txt') {
      return void response.end(`User-agent: *\nCrawl-delay: ${origin.delayMs / 1_000}\n`)
    }
    const n = origin.arrivedAt.push(performance.now())
    const isBusy = pushbacks === 'with' && n % PUSHBACK_EVERY === 0
    if (isBusy) origin.pushedBack.add(n - 1)
    const respond = () => response.writeHead(isBusy ? 429 : 200, isBusy ? { 'retry-after': '1' } : {}).end('page')
    if (origin.isSlow) setTimeout(respond, SLOW_RESPONSE_MS)
    else respond()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const lookup = lookupIn()

  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup })
  const gate = new PoliteGate({ robots, minDelayMs: 0, now: () => performance.now() })
  const agent = politeAgent({ gate, lookup })
  const timeline = new CrawlTimeline({ gate })
  try {
    for (const { host } of origins) await robots.check(`http://${host}:${port}/`)
    const requestsDone = origins.flatMap((origin) =>
      Array.from({ length: origin.requests }, async (_, n) => {
        const { body } = await request(`http://${origin.host}:${port}/page/${n}`, { dispatcher: agent })
        await body.dump()
      }),
    )
    await Promise.all(requestsDone)
    const start = Math.min(...origins.flatMap(({ arrivedAt }) => arrivedAt))
    for (const { origin, marks } of timeline.rows()) {
      const host = new URL(origin).hostname
      for (const mark of marks) if (mark.kind === 'start') byHost.get(host)?.startedAt.push(mark.at)
    }
    return sheetOf(origins, pushbacks, requests, timeline.text({ columns: 100 }), start)
  } finally {
    timeline.stop()
    await agent.close()
    await robots.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

/** Gives each origin a number of requests so that all crawls take about the same time. */
function originsFor(requests: number): readonly Origin[] {
  const rate = 2 * DELAYS.reduce((sum, ms) => sum + 1 / ms, 0)
  return DELAYS.flatMap((delayMs) =>
    ['fast', 'slow'].map((name) => ({
      host: `${name}-${delayMs}.test`,
      delayMs,
      requests: Math.max(2, Math.round(requests / rate / delayMs)),
      isSlow: name === 'slow',
      startedAt: [],
      arrivedAt: [],
      pushedBack: new Set<number>(),
    })),
  )
}

/**
 * Returns the duration of an origin's crawl if nothing is late. The gate sees a 429 only when it
 * arrives; requests that are due before that have already started.
 */
function idealMs({ delayMs, requests, pushedBack, isSlow }: Origin): number {
  const responseMs = isSlow ? SLOW_RESPONSE_MS : 0
  const startedMeanwhile = Math.floor(responseMs / delayMs)
  const longerMs = Math.max(0, responseMs + RETRY_AFTER_MS - (startedMeanwhile + 1) * delayMs)
  const longer = [...pushedBack].filter((n) => n + startedMeanwhile < requests - 1).length
  return (requests - 1) * delayMs + longer * longerMs
}

function sheetOf(
  origins: readonly Origin[],
  pushbacks: 'with' | 'without',
  planned: number,
  plot: string,
  start: number,
): Sheet {
  const gapsOf = (times: readonly number[]) => times.slice(1).map((at, n) => at - (times[n] ?? Number.NaN))
  let minMargin = Number.POSITIVE_INFINITY
  let minMarginAtServer = Number.POSITIVE_INFINITY
  let worst = Number.POSITIVE_INFINITY
  const rows = origins.map((origin): Row => {
    const { host, delayMs, startedAt, arrivedAt } = origin
    // The first request may arrive late, because it opens the connection.
    const [gaps, gapsAtServer] = [gapsOf(startedAt), gapsOf(arrivedAt.slice(1))]
    const tookMs = (startedAt.at(-1) ?? Number.NaN) - (startedAt[0] ?? Number.NaN)
    const share = idealMs(origin) / tookMs
    minMargin = Math.min(minMargin, Math.min(...gaps) - delayMs)
    minMarginAtServer = Math.min(minMarginAtServer, Math.min(...gapsAtServer) - delayMs)
    worst = Math.min(worst, share)
    return {
      name: host,
      cells: [arrivedAt.length, delayMs, Math.min(...gaps), median(gaps), Math.min(...gapsAtServer), share],
    }
  })
  const requests = origins.reduce((sum, { arrivedAt }) => sum + arrivedAt.length, 0)
  const tookMs = Math.max(...origins.flatMap(({ arrivedAt }) => arrivedAt)) - start
  const share = Math.max(...origins.map(idealMs)) / tookMs
  const suffix = pushbacks === 'with' ? ', some responses 429' : ''
  return {
    workload: `gate, schedule${suffix}`,
    over: 'own',
    title: `gate: ${requests} requests (${planned} planned) to ${origins.length} origins, each with its own crawl-delay${suffix}`,
    columns: [
      { name: 'requests', unit: '' },
      { name: 'crawl-delay', unit: 'ms' },
      { name: 'min gap', unit: 'ms' },
      { name: 'median', unit: 'ms' },
      { name: 'min at server', unit: 'ms' },
      { name: 'of ideal', unit: '×' },
    ],
    rows,
    findings: [
      {
        what: `gate: smallest margin over the crawl-delay${suffix}`,
        value: minMargin,
        unit: 'ms',
        target: { atLeast: 0 },
      },
      { what: `gate: smallest margin at the server${suffix}`, value: minMarginAtServer, unit: 'ms', target: null },
      {
        what: `gate: throughput, share of the ideal schedule${suffix}`,
        value: share,
        unit: '×',
        target: { atLeast: 0.97 },
      },
      { what: `gate: share of the slowest origin${suffix}`, value: worst, unit: '×', target: null },
    ],
    notes: [plot],
  }
}
