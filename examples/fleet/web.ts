// The small web, in a process of its own: node web.ts SHAPE
//
// It records every request by the monotonic clock of the machine, which all processes share. A
// message 'report' is answered with a WebReport.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  delayOf,
  domainOf,
  hostOf,
  isBusyAtFirst,
  linksOf,
  originOf,
  pagesOf,
  random,
  robotsTxtOf,
  type WebShape,
} from './small-web.ts'

/** What the web has seen of one origin. */
export interface OriginReport {
  readonly host: string
  /** The delay to keep. Milliseconds. */
  readonly delayMs: number
  readonly robotsFetches: number
  /** Requests except the requests for robots.txt. */
  readonly requests: number
  /** Pages that no worker got. */
  readonly missing: number
  /** Requests for what robots.txt disallows. */
  readonly disallowed: number
  /** The smallest time between two permits. Milliseconds; undefined for fewer than two. */
  readonly minPermitGapMs: number | undefined
  /** The smallest time between two arrivals here. Milliseconds; undefined for fewer than two. */
  readonly minArrivalGapMs: number | undefined
  /** Arrivals that came more than 10 ms sooner after the last one than the delay asks for. */
  readonly soonArrivals: number
  /** From the first page request of the crawl to the first one here. Milliseconds. */
  readonly firstMs: number
  /** From the first page request of the crawl to the last one here. Milliseconds. */
  readonly lastMs: number
  /**
   * The smallest time between two permits for the origins of its registrable domain. Milliseconds;
   * undefined for fewer than two.
   */
  readonly minDomainGapMs: number | undefined
}

export interface WebReport {
  readonly origins: readonly OriginReport[]
  /** From the start of this process to the first arrival of a page request. Milliseconds. */
  readonly startMs: number
  /** From the first to the last arrival of a page request. Milliseconds. */
  readonly spanMs: number
  /** Pages that were sent more than once, and the processes that got them, in order. */
  readonly repeated: readonly { readonly url: string; readonly pids: readonly number[] }[]
}

interface Visits {
  robotsFetches: number
  disallowed: number
  readonly arrivals: number[]
  readonly permits: number[]
  /** The process ids of the workers that got a page. */
  readonly pidsOf: Map<number, number[]>
  /** Pages that have answered with a 503. */
  readonly refusedOnce: Set<number>
}

const startedAt = now()
const [argument = ''] = process.argv.slice(2)
const shape = JSON.parse(argument) as WebShape
const visits = Array.from(
  { length: shape.origins },
  (): Visits => ({
    robotsFetches: 0,
    disallowed: 0,
    arrivals: [],
    permits: [],
    pidsOf: new Map(),
    refusedOnce: new Set(),
  }),
)

const server = createServer((request, response) => {
  const arrivedAt = now()
  const { headers, url = '' } = request
  const host = (headers.host ?? '').replace(/:\d+$/, '')
  const origin = originOf(host, shape)
  const site = origin === undefined ? undefined : visits[origin]
  if (origin === undefined || site === undefined) return response.writeHead(421).end()
  if (url === '/robots.txt') {
    site.robotsFetches++
    return response.writeHead(200, { 'content-type': 'text/plain' }).end(robotsTxtOf(origin, shape))
  }
  const [, kind, number] = /^\/(page|moved)\/(\d+)$/.exec(url) ?? []
  const page = Number(number)
  if (url.startsWith('/private/')) site.disallowed++
  if (!(page < pagesOf(origin, shape))) return response.writeHead(404).end()

  site.arrivals.push(arrivedAt)
  site.permits.push(Number(headers['x-permit-ms']))
  if (kind === 'moved') return response.writeHead(301, { location: `/page/${page}` }).end()
  if (isBusyAtFirst(origin, page, shape) && !site.refusedOnce.has(page)) {
    site.refusedOnce.add(page)
    return response.writeHead(503, { 'retry-after': '1' }).end()
  }
  const pids = site.pidsOf.get(page) ?? []
  site.pidsOf.set(page, [...pids, Number(headers['x-pid'])])
  const body = linksOf(origin, page, shape, port)
    .map((link) => `<a href="${link}">${link}</a>`)
    .join('\n')
  const latencyMs = 2 + (random(shape.seed, origin, page) % 20)
  return setTimeout(() => response.writeHead(200, { 'content-type': 'text/html' }).end(body), latencyMs)
})
server.keepAliveTimeout = 60_000 // longer than the delays, so that arrivals do not include the time of a new connection
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
process.send?.({ port })

process.on('message', (message) => {
  if (message === 'report') process.send?.({ report: report() })
})
process.on('disconnect', () => process.exit())

/** CLOCK_MONOTONIC, in milliseconds. */
function now(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

function report(): WebReport {
  const firstAt = minOf(visits.flatMap((site) => site.arrivals)) ?? startedAt
  const lastMsOf = ({ arrivals }: Visits) => (arrivals.at(-1) ?? firstAt) - firstAt
  const repeated = visits.flatMap((site, origin) =>
    Array.from(site.pidsOf, ([page, pids]) => ({ url: `http://${hostOf(origin)}/page/${page}`, pids })),
  )
  return {
    origins: visits.map((site, origin) => ({
      host: hostOf(origin),
      delayMs: delayOf(origin, shape),
      robotsFetches: site.robotsFetches,
      requests: site.arrivals.length,
      missing: pagesOf(origin, shape) - site.pidsOf.size,
      disallowed: site.disallowed,
      minPermitGapMs: minOf(gapsOf(site.permits)),
      minArrivalGapMs: minOf(gapsOf(site.arrivals)),
      soonArrivals: gapsOf(site.arrivals).filter((gap) => gap < delayOf(origin, shape) - 10).length,
      firstMs: (site.arrivals[0] ?? firstAt) - firstAt,
      lastMs: lastMsOf(site),
      minDomainGapMs: minOf(
        gapsOf(visits.flatMap(({ permits }, other) => (domainOf(other) === domainOf(origin) ? permits : []))),
      ),
    })),
    startMs: firstAt - startedAt,
    spanMs: Math.max(...visits.map(lastMsOf)),
    repeated: repeated.filter(({ pids }) => pids.length > 1),
  }
}

function gapsOf(times: readonly number[]): number[] {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted.slice(1).map((time, i) => time - (sorted[i] ?? 0))
}

function minOf(times: readonly number[]): number | undefined {
  return times.length === 0 ? undefined : times.reduce((a, b) => Math.min(a, b))
}
