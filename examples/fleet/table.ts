// The live table of a crawl, and the summary after it.
import { availableParallelism, loadavg } from 'node:os'
import type { FleetOptions, FleetReport, FleetState, WorkerState } from './fleet.ts'
import { idealMs } from './small-web.ts'
import type { OriginReport } from './web.ts'
import type { WorkerCounts } from './worker.ts'

const COLUMNS = ['worker', 'pages/s', 'pages', 'refused', 'under way', 'early', 'robots.txt', 'commands']

/** Draws the table again in the place of the last one. */
export class LiveTable {
  #last: { readonly seconds: number; readonly pages: ReadonlyMap<number, number> } = { seconds: 0, pages: new Map() }
  #drawnLines = 0

  draw(state: FleetState): void {
    const lines = this.#linesOf(state)
    const up = this.#drawnLines === 0 ? '' : `\x1b[${this.#drawnLines}A`
    process.stdout.write(`${up}${lines.map((line) => `\x1b[2K${line}\n`).join('')}`)
    this.#drawnLines = lines.length
  }

  #linesOf(state: FleetState): string[] {
    const { seconds, workers } = state
    const elapsed = seconds - this.#last.seconds
    const rates = workers.map(({ pid, counts }) => ((counts?.pages ?? 0) - (this.#last.pages.get(pid) ?? 0)) / elapsed)
    this.#last = { seconds, pages: new Map(workers.map(({ pid, counts }) => [pid, counts?.pages ?? 0])) }
    return [...tableOf(workers, (i) => (rates[i] ?? 0).toFixed(0)), '', progressLine(state)]
  }
}

const PROGRESS_EVERY_S = 5

/** Prints a line every five seconds, for output to a file or a pipe. */
export class ProgressLines {
  #nextAt = 0

  draw(state: FleetState): void {
    if (state.seconds < this.#nextAt) return
    this.#nextAt += PROGRESS_EVERY_S
    console.log(progressLine(state))
  }
}

function progressLine({ seconds, found, done, waiting }: FleetState): string {
  return `${done} of ${found} URLs done after ${seconds.toFixed(0)} s; ${waiting} origins wait for their next slot`
}

/** The table at the end of a crawl, with the mean of the pages per second. */
export function finalTable({ workers, web }: FleetReport): string[] {
  return tableOf(workers, (i) => ((1000 * (workers[i]?.counts?.pages ?? 0)) / web.spanMs).toFixed(0))
}

/** The lines of the table: one for each worker, and the fleet. */
function tableOf(workers: readonly WorkerState[], rateOf: (i: number) => string): string[] {
  const sum = (of: (counts: WorkerCounts) => number) =>
    workers.reduce((total, { counts }) => total + (counts ? of(counts) : 0), 0)
  const figures: ((counts: WorkerCounts) => number)[] = [
    (counts) => counts.pages,
    (counts) => counts.refused,
    (counts) => counts.underWay,
    (counts) => counts.early,
    (counts) => counts.robotsFetches,
    ({ sent }) => sent.jobs + sent.store + sent.pacerTrips,
  ]
  const rows = workers.map(({ index, counts }, i) => [
    `${index}`,
    rateOf(i),
    ...figures.map((of) => (counts ? `${of(counts)}` : '')),
  ])
  const total = workers.reduce((all, _, i) => all + Number(rateOf(i)), 0)
  rows.push(['fleet', Number.isNaN(total) ? '' : `${total}`, ...figures.map((of) => `${sum(of)}`)])
  const widths = COLUMNS.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i]?.length ?? 0), 6))
  return [COLUMNS, ...rows].map((row) => row.map((cell, i) => cell.padStart(widths[i] ?? 0)).join('  '))
}

/** What the crawl was, measured. */
export interface Summary {
  readonly lines: readonly string[]
  /** What went wrong. Empty if the fleet was polite and lost nothing. */
  readonly problems: readonly string[]
}

/**
 * @param toleranceMs How much shorter than asked a gap may be. The server grants the slots, and a
 * busy machine may stop a worker between its slot and its request.
 */
export function summaryOf(
  report: FleetReport,
  { web: shape, workers, partition, chaos, url, backend }: FleetOptions,
  toleranceMs = 50,
): Summary {
  const { origins, repeated, startMs, spanMs } = report.web
  const total = (of: (origin: (typeof origins)[number]) => number) =>
    origins.reduce((sum, origin) => sum + of(origin), 0)
  const requests = total(({ requests }) => requests)
  const robotsFetches = total(({ robotsFetches }) => robotsFetches)
  const missing = total(({ missing }) => missing)
  const disallowed = total(({ disallowed }) => disallowed)
  const unserved = origins.filter(({ requests }) => requests === 0)
  const killed = new Set(report.killed)
  const repeats = repeated.reduce((sum, { pids }) => sum + pids.length - 1, 0)
  const causeless = repeated.filter(({ pids }) => pids.slice(0, -1).some((pid) => !killed.has(pid)))
  const permitGap = smallestGap(origins, (origin) => ({ gapMs: origin.minPermitGapMs, delayMs: origin.delayMs }))
  const arrivalGap = smallestGap(origins, (origin) => ({ gapMs: origin.minArrivalGapMs, delayMs: origin.delayMs }))
  const { domainDelayMs } = shape
  const domainGap = smallestGap(origins, (origin) => ({ gapMs: origin.minDomainGapMs, delayMs: domainDelayMs }))
  const soon = total(({ soonArrivals }) => soonArrivals)
  const per = (of: (counts: WorkerCounts) => number) => {
    const commands = report.workers.reduce((sum, { counts }) => sum + (counts ? of(counts) : 0), 0)
    const pages = report.workers.reduce((sum, { counts }) => sum + (counts?.pages ?? 0), 0)
    return (commands / pages).toFixed(2)
  }
  const early = report.workers.reduce((sum, { counts }) => sum + (counts?.early ?? 0), 0)
  const ideal = idealMs(shape)
  const name = backend === 'redis' ? 'Redis' : 'Postgres'
  const lines = [
    `${workers} workers, ${shape.origins} origins, ${partition ? 'partitioned by registrable domain' : `one pace in ${name}`}`,
    `URLs            ${report.found} found, ${report.done} done, ${missing} pages missed, ${disallowed} disallowed pages requested`,
    `requests        ${requests} for pages, ${repeats} of them repeated after a kill; ${robotsFetches} for the robots.txt files of ${origins.length} origins`,
    `smallest gap    ${permitGap.text} between permits; ${arrivalGap.text} between arrivals at the server, ${soon} of them more than 10 ms short`,
    `time            ${seconds(spanMs)}; the ideal schedule takes ${seconds(ideal)}: ${percent(ideal / spanMs)} of the ideal throughput, ${((1000 * requests) / spanMs).toFixed(0)} pages/s`,
    ...(ideal / spanMs < GOOD_SHARE ? reasonsOf(report).map((reason) => `lost time       ${reason}`) : []),
    `start           the first page was requested after ${seconds(startMs)}${partition || url ? '' : `, since each origin counts as just visited with an empty ${name}`}`,
    `per page        ${per(({ sent }) => sent.pacer)} calls of the pacer in ${per(({ sent }) => sent.pacerTrips)} commands to ${name}, ${per(({ sent }) => sent.store)} of the store, ${per(({ sent }) => sent.jobs)} for jobs and URLs; ${early} runs of jobs came too early`,
    `shared data     ${(report.maxSharedBytes / 2 ** 20).toFixed(1)} MiB at most, ${report.sharedKeys} keys at the end, ${report.keysWithoutExpiry.length} without expiry`,
  ]
  if (domainDelayMs > 0) lines.push(`domains         ${domainGap.text} between permits for one registrable domain`)
  if (report.chaos) {
    const { kills, restarts, wipes } = report.chaos
    lines.push(
      `chaos           ${kills} workers killed, ${name} restarted ${restarts} times, ${wipes} of them ${backend === 'redis' ? 'without its data' : 'by a crash'}`,
    )
  }
  const problems = [
    missing > 0 && `no worker got ${missing} pages`,
    report.done !== report.found && `${report.found - report.done} URLs are not done`,
    unserved.length > 0 && `${unserved.length} origins were not served`,
    disallowed > 0 && `${disallowed} disallowed pages were requested`,
    causeless.length > 0 && `${causeless.length} pages were sent twice although no worker was killed`,
    // A fleet whose Redis has lost its data, or whose holder of a lease was killed, fetches
    // robots.txt again.
    chaos === undefined &&
      origins.some(({ robotsFetches }) => robotsFetches !== 1) &&
      'a robots.txt was not fetched exactly once',
    permitGap.shortMs > toleranceMs && `a gap between permits was ${permitGap.shortMs.toFixed(1)} ms too short`,
    domainGap.shortMs > toleranceMs && `a gap in a domain was ${domainGap.shortMs.toFixed(1)} ms too short`,
    report.keysWithoutExpiry.length > 0 && `keys never expire: ${report.keysWithoutExpiry.slice(0, 3).join(', ')}`,
  ].filter((problem) => problem !== false)
  return { lines, problems }
}

/** With less of the ideal throughput, the summary says where the time went. */
const GOOD_SHARE = 0.95

/** Returns where the time went: at the origin that was done last, and on this machine. */
function reasonsOf({ web, chaos }: FleetReport): string[] {
  const [slowest] = web.origins.toSorted((one, other) => other.lastMs - one.lastMs)
  if (slowest === undefined) return []
  const { host, requests, delayMs, firstMs, lastMs } = slowest
  const lateMs = lastMs - firstMs - (requests - 1) * delayMs
  const [load = 0] = loadavg()
  return [
    `${host}, the last origin, got its first request after ${seconds(firstMs)}, and the ${requests - 1} others ${seconds(lateMs)} later in all than its delay of ${delayMs} ms asks for`,
    ...(chaos?.wipes ? [`${chaos.wipes} losses of data, after each of which every origin waited 6 s longer`] : []),
    `the load of this machine was ${load.toFixed(1)} in the last minute, with ${availableParallelism()} processors`,
  ]
}

interface Gap {
  /** By how much it is shorter than the delay to keep. Milliseconds; below 0 if it is longer. */
  readonly shortMs: number
  readonly text: string
}

/** Returns the gap that was shortest compared with the delay to keep. */
function smallestGap(
  origins: readonly OriginReport[],
  of: (origin: OriginReport) => { readonly gapMs: number | undefined; readonly delayMs: number },
): Gap {
  let worst: Gap = { shortMs: Number.NEGATIVE_INFINITY, text: 'none' }
  for (const origin of origins) {
    const { gapMs, delayMs } = of(origin)
    if (gapMs === undefined || delayMs - gapMs <= worst.shortMs) continue
    worst = { shortMs: delayMs - gapMs, text: `${gapMs.toFixed(1)} of ${delayMs} ms` }
  }
  return worst
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}
