// Twenty origins, each with a crawl-delay of its own, asked over real sockets: is any pause shorter than asked, and how far behind the
// ideal schedule does the crawl fall? Once as it is, and once with answers of 429 thrown in.
import { createServer } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { RobotsClient } from '@politely/fetcher'
import { CrawlTimeline, PoliteGate, politeAgent } from '@politely/gate'
import { request } from 'undici'
import { median } from '../median.ts'
import type { Row, Sheet } from '../sheet.ts'
import type { Plan } from './plan.ts'

/** Crawl-delays, each of two origins. The second of them takes its time for every answer. Milliseconds. */
const DELAYS = [100, 120, 150, 200, 250, 300, 400, 500, 750, 1_000]
const SLOW_ANSWER_MS = 120
/** With pushbacks, every so manieth request of an origin is answered 429 with a Retry-After of a second. */
const PUSHBACK_EVERY = 25
const RETRY_AFTER_MS = 1_000
/** Requests in a full run, and in a quick one. */
const REQUESTS = { full: 2_000, quick: 400 }

interface Origin {
  readonly host: string
  readonly delayMs: number
  readonly requests: number
  readonly isSlow: boolean
  /** When requests left the gate, and when they reached the server, by one clock. */
  readonly leftAt: number[]
  readonly cameAt: number[]
  /** After which of them a 429 was sent: the next gap is longer. */
  readonly pushedBack: Set<number>
}

export async function gateSchedule({ turns }: Plan): Promise<readonly Sheet[]> {
  const requests = turns > 10 ? REQUESTS.full : REQUESTS.quick
  return [await crawl(requests, 'without'), await crawl(requests, 'with')]
}

async function crawl(requests: number, pushbacks: 'with' | 'without'): Promise<Sheet> {
  const origins = originsFor(requests)
  const byHost = new Map(origins.map((origin) => [origin.host, origin]))
  const server = createServer((asked, response) => {
    const origin = byHost.get((asked.headers.host ?? '').replace(/:\d+$/, ''))
    if (origin === undefined) return void response.writeHead(421).end()
    if (asked.url === '/robots.txt') {
      return void response.end(`User-agent: *\nCrawl-delay: ${origin.delayMs / 1_000}\n`)
    }
    const n = origin.cameAt.push(performance.now())
    const isBusy = pushbacks === 'with' && n % PUSHBACK_EVERY === 0
    if (isBusy) origin.pushedBack.add(n - 1)
    const answer = () => response.writeHead(isBusy ? 429 : 200, isBusy ? { 'retry-after': '1' } : {}).end('page')
    if (origin.isSlow) setTimeout(answer, SLOW_ANSWER_MS)
    else answer()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const lookup: LookupFunction = (_, { all }, done) =>
    all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)

  const robots = new RobotsClient({ userAgent: 'ExampleBot/1.0', lookup })
  const gate = new PoliteGate({ robots, minDelayMs: 0, now: () => performance.now() })
  const agent = politeAgent({ gate, lookup })
  const timeline = new CrawlTimeline({ gate })
  try {
    for (const { host } of origins) await robots.check(`http://${host}:${port}/`)
    const asked = origins.flatMap((origin) =>
      Array.from({ length: origin.requests }, async (_, n) => {
        const { body } = await request(`http://${origin.host}:${port}/page/${n}`, { dispatcher: agent })
        await body.dump()
      }),
    )
    await Promise.all(asked)
    const start = Math.min(...origins.flatMap(({ cameAt }) => cameAt))
    for (const { origin, marks } of timeline.rows()) {
      const host = new URL(origin).hostname
      for (const mark of marks) if (mark.kind === 'start') byHost.get(host)?.leftAt.push(mark.at)
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

/** All of them are busy for about as long. */
function originsFor(requests: number): readonly Origin[] {
  const rate = 2 * DELAYS.reduce((sum, ms) => sum + 1 / ms, 0)
  return DELAYS.flatMap((delayMs) =>
    ['fast', 'slow'].map((name) => ({
      host: `${name}-${delayMs}.test`,
      delayMs,
      requests: Math.max(2, Math.round(requests / rate / delayMs)),
      isSlow: name === 'slow',
      leftAt: [],
      cameAt: [],
      pushedBack: new Set<number>(),
    })),
  )
}

/**
 * How long an origin's crawl takes where nothing is late. A 429 is heard when it is answered; requests whose turn comes before that have
 * left by then.
 */
function idealMs({ delayMs, requests, pushedBack, isSlow }: Origin): number {
  const answerMs = isSlow ? SLOW_ANSWER_MS : 0
  const inBetween = Math.floor(answerMs / delayMs)
  const longerMs = Math.max(0, answerMs + RETRY_AFTER_MS - (inBetween + 1) * delayMs)
  const longer = [...pushedBack].filter((n) => n + inBetween < requests - 1).length
  return (requests - 1) * delayMs + longer * longerMs
}

function sheetOf(
  origins: readonly Origin[],
  pushbacks: 'with' | 'without',
  wanted: number,
  plot: string,
  start: number,
): Sheet {
  const gapsOf = (times: readonly number[]) => times.slice(1).map((at, n) => at - (times[n] ?? Number.NaN))
  let least = Number.POSITIVE_INFINITY
  let leastAtServer = Number.POSITIVE_INFINITY
  let worst = Number.POSITIVE_INFINITY
  const rows = origins.map((origin): Row => {
    const { host, delayMs, leftAt, cameAt } = origin
    // The first of them may come late, by what connecting takes.
    const [gaps, gapsAtServer] = [gapsOf(leftAt), gapsOf(cameAt.slice(1))]
    const tookMs = (leftAt.at(-1) ?? Number.NaN) - (leftAt[0] ?? Number.NaN)
    const share = idealMs(origin) / tookMs
    least = Math.min(least, Math.min(...gaps) - delayMs)
    leastAtServer = Math.min(leastAtServer, Math.min(...gapsAtServer) - delayMs)
    worst = Math.min(worst, share)
    const asked = cameAt.length
    return { name: host, cells: [asked, delayMs, Math.min(...gaps), median(gaps), Math.min(...gapsAtServer), share] }
  })
  const requests = origins.reduce((sum, { cameAt }) => sum + cameAt.length, 0)
  const tookMs = Math.max(...origins.flatMap(({ cameAt }) => cameAt)) - start
  const share = Math.max(...origins.map(idealMs)) / tookMs
  const words = pushbacks === 'with' ? ', some answered 429' : ''
  return {
    workload: `gate, schedule${words}`,
    over: 'own',
    title: `gate: ${requests} requests (${wanted} wanted) to ${origins.length} origins, each with its own crawl-delay${words}`,
    columns: [
      { name: 'requests', unit: '' },
      { name: 'asked', unit: 'ms' },
      { name: 'least gap', unit: 'ms' },
      { name: 'median', unit: 'ms' },
      { name: 'least at server', unit: 'ms' },
      { name: 'of ideal', unit: '×' },
    ],
    rows,
    findings: [
      { what: `gate: least gap over what is asked${words}`, value: least, unit: 'ms', target: { atLeast: 0 } },
      { what: `gate: the same at the server${words}`, value: leastAtServer, unit: 'ms', target: null },
      { what: `gate: throughput of the ideal schedule${words}`, value: share, unit: '×', target: { atLeast: 0.97 } },
      { what: `gate: of the origin that is furthest behind${words}`, value: worst, unit: '×', target: null },
    ],
    asides: [plot],
  }
}
