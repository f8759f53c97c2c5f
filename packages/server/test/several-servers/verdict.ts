// What the log of the site says about a run, compared with what the clients recorded.
import type { Arrival, Delivery, Grant, RunEvent } from './events.ts'
import type { Run } from './fleet.ts'

const DELAY_MS = 1_000
/** The pause after 503 without Retry-After, which doubles in a series. */
const BACKOFF_MS = 5_000
/** For so long, each origin waits after the backend has started again. */
const AFTER_LOSS_MS = 7_000

export interface Verdict {
  readonly pages: number
  /** Pages a second in each phase. */
  readonly pace: readonly string[]
  /** Gaps that were too short, by the times at which the clients sent. */
  readonly shortGaps: readonly string[]
  /** Gaps that were too short, by the times at which the site read the requests. A busy machine adds some. */
  readonly shortArrivals: readonly string[]
  /** Requests whose permit was granted after a report of Retry-After was delivered, and before it was over. */
  readonly withinRetryAfter: readonly string[]
  /** Such requests whose permit was granted before the report was delivered, or at the same time. */
  readonly underWayAtRetryAfter: readonly string[]
  /** Requests to an origin that began before the end of another response of this origin. */
  readonly overlaps: readonly string[]
  readonly reports: number
  readonly pushbacks: number
  /** Reports by state, and by whether the server that granted the permit took it. */
  readonly states: Readonly<Record<string, number>>
  readonly lost: number
  readonly late: number
  readonly refusedReports: number
  readonly faults: Readonly<Record<string, number>>
  /** The longest times for which an origin got no permit, without pauses. The longest comes first. */
  readonly stuck: readonly string[]
  readonly longestStuckMs: number
  readonly robotsFetches: number
  /** How long calls took beyond the time that they were held, in milliseconds: median, 99 %, longest. */
  readonly latency: readonly string[]
}

/** Milliseconds, as they are printed. */
const ms = (value: number): string => value.toFixed(1)

const ofKind = <K extends RunEvent['kind']>(events: readonly RunEvent[], kind: K) =>
  events.filter((event): event is Extract<RunEvent, { kind: K }> => event.kind === kind)

export function judge(run: Run): Verdict {
  const { events, phases } = run
  const start = phases[0]?.from ?? 0
  const at = (time: number) => {
    const phase = phases.find(({ from, to }) => time >= from && time < to)?.name ?? 'after'
    return `${((time - start) / 1_000).toFixed(3)} s (${phase})`
  }
  const arrivals = ofKind(events, 'arrival')
  const pages = arrivals.filter(({ path }) => path !== '/robots.txt')
  const byOrigin = new Map(run.origins.map((origin) => [origin, pages.filter((page) => page.origin === origin)]))
  const grants = new Map(ofKind(events, 'grant').map((grant) => [grant.visit, grant]))
  const deliveries = ofKind(events, 'delivery')
  const pushbacks = deliveries.filter(({ status }) => status === 429 || status === 503)
  const faults = ofKind(events, 'fault').map(({ path, status, server }) => {
    const place = path.startsWith('http') ? 'site' : path
    return `${place} ${status === 0 ? 'no answer' : status}${server === '' ? '' : ` of ${server[0]}`}`
  })
  const within = [...byOrigin].flatMap(([origin, requests]) =>
    pushbacks
      .filter((pushback) => pushback.origin === origin)
      .flatMap((pushback) => withinPause(pushback, requests, grants)),
  )
  const stuck = [...byOrigin.keys()].flatMap((origin) => stuckTimes(run, origin)).sort((a, b) => b.ms - a.ms)
  return {
    pages: pages.length,
    pace: phases.map(({ name, from, to }) => {
      const inPhase = pages.filter((page) => page.at >= from && page.at < to).length
      return `${name}: ${inPhase} in ${((to - from) / 1_000).toFixed(0)} s, ${((inPhase / (to - from)) * 1_000).toFixed(1)} a second`
    }),
    shortGaps: shortGaps(byOrigin, ({ sentAt }) => sentAt, at),
    shortArrivals: shortGaps(byOrigin, (page) => page.at, at),
    withinRetryAfter: within.filter(({ isLater }) => isLater).map(({ show }) => show(at)),
    underWayAtRetryAfter: within.filter(({ isLater }) => !isLater).map(({ show }) => show(at)),
    overlaps: [...byOrigin.values()].flatMap((requests) => overlaps(requests, at)),
    reports: deliveries.length,
    pushbacks: pushbacks.length,
    states: countBy(deliveries, ({ state, granted, server, status }) => {
      const what = status === 429 || status === 503 ? 'pushback ' : ''
      return `${what}${state}${state === 'lost' || granted === server ? '' : ' elsewhere'}`
    }),
    lost: deliveries.filter(({ state }) => state === 'lost').length,
    late: ofKind(events, 'late').length,
    refusedReports: run.refusedReports.length,
    faults: countBy(faults, (fault) => fault),
    stuck: stuck.slice(0, 10).map(({ text }) => text(at)),
    longestStuckMs: stuck[0]?.ms ?? 0,
    robotsFetches: arrivals.length - pages.length,
    latency: latencies(events),
  }
}

function shortGaps(
  byOrigin: ReadonlyMap<string, readonly Arrival[]>,
  timeOf: (page: Arrival) => number,
  at: (time: number) => string,
): string[] {
  return [...byOrigin].flatMap(([origin, requests]) => {
    const sorted = requests.toSorted((a, b) => timeOf(a) - timeOf(b))
    return sorted.slice(1).flatMap((page, n) => {
      const before = sorted[n] as Arrival
      const gapMs = timeOf(page) - timeOf(before)
      if (gapMs >= DELAY_MS) return []
      return [`${origin}: ${ms(gapMs)} ms at ${at(timeOf(page))}: ${before.visit}, ${page.visit}`]
    })
  })
}

/** Returns the requests that were sent in the pause of a delivered report. */
function withinPause(pushback: Delivery, requests: readonly Arrival[], grants: ReadonlyMap<string, Grant>) {
  const { retryAfter, answeredAt, calledAt, firstAt, attempts, state } = pushback
  if (retryAfter === undefined || state === 'lost') return []
  const until = (attempts === 1 ? calledAt : firstAt) + retryAfter * 1_000
  return requests
    .filter(({ sentAt }) => sentAt > answeredAt && sentAt < until)
    .map(({ sentAt, visit, origin }) => {
      const { calledAt: askedAt, heldMs, receivedAt, server } = grants.get(visit) as Grant
      const show = (at: (time: number) => string) =>
        `${origin}: ${visit} sent at ${at(sentAt)}, permit of ${server} asked ${ms(sentAt - askedAt)}, held ${heldMs}, ` +
        `received ${ms(sentAt - receivedAt)} before; ${pushback.visit} of ${pushback.granted} had reported ${pushback.status} ` +
        `with ${retryAfter} s to ${pushback.server} ${ms(sentAt - answeredAt)} before (${state}, attempt ${attempts}), ` +
        `${ms(until - sentAt)} were left`
      return { isLater: askedAt + heldMs > answeredAt, show }
    })
}

function overlaps(requests: readonly Arrival[], at: (time: number) => string): string[] {
  const sorted = requests.toSorted((a, b) => a.at - b.at)
  let last: Arrival | undefined
  return sorted.flatMap((page) => {
    const before = last
    if (last === undefined || page.endedAt > last.endedAt) last = page
    if (before === undefined || page.at >= before.endedAt) return []
    return [
      `${page.origin}: ${page.visit} at ${at(page.at)}, ${ms(before.endedAt - page.at)} ms before the end of ${before.visit}`,
    ]
  })
}

/** Returns the times between two permits of an origin, without the pauses that the site asked for. */
function stuckTimes(run: Run, origin: string) {
  const { events, phases } = run
  const from = phases[0]?.from ?? 0
  const to = phases.at(-1)?.to ?? 0
  const grants = ofKind(events, 'grant').filter((grant) => grant.origin === origin)
  const waits = ofKind(events, 'wait').filter((wait) => wait.origin === origin)
  const times = [from, ...grants.map(({ receivedAt }) => receivedAt).filter((time) => time < to), to].sort(
    (a, b) => a - b,
  )
  const pauses = pausesOf(ofKind(events, 'delivery').filter((delivery) => delivery.origin === origin))
  const away = run.withoutBackend.map(({ from, to }) => ({ from, to: to + AFTER_LOSS_MS }))
  return times.slice(1).map((end, n) => {
    const begin = times[n] as number
    const explained = [...pauses, ...away]
    const unexplained = end - begin - covered(explained, begin, end)
    const text = (at: (time: number) => string) => {
      const reasons = countBy(
        waits.filter((wait) => wait.at > begin && wait.at < end),
        ({ state, because }) => `${state} ${because}`,
      )
      return `${origin}: ${ms(unexplained)} of ${ms(end - begin)} ms until ${at(end)}: ${JSON.stringify(reasons)}`
    }
    return { ms: unexplained, text }
  })
}

function pausesOf(deliveries: readonly Delivery[]): { from: number; to: number }[] {
  let series = 0
  return deliveries
    .toSorted((a, b) => a.answeredAt - b.answeredAt)
    .flatMap(({ status, retryAfter, firstAt, answeredAt }) => {
      if (status === 200) series = 0
      if (status !== 429 && status !== 503) return []
      const pauseMs = retryAfter === undefined ? BACKOFF_MS * 2 ** series : retryAfter * 1_000
      series++
      return [{ from: firstAt, to: answeredAt + pauseMs }]
    })
}

/** Returns how much of a time is in any of these times. */
function covered(times: readonly { readonly from: number; readonly to: number }[], from: number, to: number): number {
  let end = from
  let sum = 0
  for (const time of times.toSorted((a, b) => a.from - b.from)) {
    const begin = Math.max(time.from, end)
    const last = Math.min(time.to, to)
    if (last <= begin) continue
    sum += last - begin
    end = last
  }
  return sum
}

function latencies(events: readonly RunEvent[]): string[] {
  const calls = Map.groupBy(ofKind(events, 'call'), ({ path }) => path)
  return [...calls].map(([path, ofPath]) => {
    const sorted = ofPath.map(({ tookMs, heldMs }) => tookMs - heldMs).sort((a, b) => a - b)
    const part = (share: number) => ms(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0)
    const overMs = Math.max(...ofPath.map(({ heldMs, holdMs }) => heldMs - holdMs))
    return `${path}: ${sorted.length} calls, ${part(0.5)}, ${part(0.99)}, ${part(1)}; held ${overMs} ms longer than asked at most`
  })
}

function countBy<T>(items: readonly T[], nameOf: (item: T) => string): Record<string, number> {
  const counts = Object.entries(Object.groupBy(items, nameOf)).map(([name, list = []]) => [name, list.length] as const)
  return Object.fromEntries(counts.sort(([a], [b]) => (a < b ? -1 : 1)))
}
