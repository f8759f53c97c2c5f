// Generates the tables of docs/scale.md from a record.
import { join } from 'node:path'
import { type DocTable, withTables } from '@politely/testkit/doc-table'
import { crawler, redis, web } from './parameters.ts'
import type { FleetRecord, Summary } from './record.ts'

export const SCALE_PAGE: string = join(import.meta.dirname, '../../../../docs/scale.md')

export function scalePage(page: string, record: FleetRecord): string {
  return withTables(page, tablesOf(record))
}

export function tablesOf(record: FleetRecord): DocTable[] {
  return [assumptions(record), figures(record), billion(record)]
}

function assumptions({ origins, urls, domains, workers, largestSite }: FleetRecord): DocTable {
  const delays = web.crawlDelays.map(({ delayMs, share }) => `${delayMs / 1000} s: ${percent(share)}`).join(', ')
  const { tailExponent, hostsPerDomain, missingShare, flakyShare, unreachableShare } = web
  return {
    head: ['assumed', 'value'],
    rows: [
      ['origins, URLs, workers', `${count(origins)}, ${count(urls)}, ${workers}`],
      [
        'URLs of a site',
        `${(urls / origins).toFixed(1)} on average; the share of sites with more than n falls as n^-${tailExponent}; at most ${count(largestSite)}. [Huberman and Adamic](https://arxiv.org/abs/cond-mat/9901071) found about 0.7 to 0.9`,
      ],
      [
        'hosts of a registrable domain',
        `${hostsPerDomain} on average; the share of domains with more than n falls as n^-${web.domainTailExponent}; at most ${percent(web.largestDomainShare)} of all hosts; ${count(domains)} domains, as in [Common Crawl](https://commoncrawl.github.io/cc-crawl-statistics/) CC-MAIN-2024-42`,
      ],
      ['crawl-delay', `${delays}; others none`],
      [
        'robots.txt',
        `${percent(missingShare)} answer 404, ${percent(flakyShare)} 503 twice, ${percent(unreachableShare)} always 503`,
      ],
      [
        'overloaded sites',
        `${percent(web.overloadedShare)}: they answer ${percent(web.pushbackShare)} of requests with a 503, half of these with a Retry-After of ${web.retryAfterSeconds} s`,
      ],
    ],
  }
}

function figures(record: FleetRecord): DocTable {
  const { partition, shared } = record.plans
  const row = (what: string, of: (run: Summary) => string) => [what, of(partition), of(shared)]
  return {
    head: ['simulated', 'partition', 'shared pacer'],
    rows: [
      ...[0.9, 0.99].map((share) =>
        row(`${percent(share)} of the URLs were done after`, (run) => duration(milestone(run, share).at)),
      ),
      row('all were done after', ({ makespanMs }) => duration(makespanMs)),
      row('the slowest site takes, at the delay that it asks for', () => duration(record.slowestSiteMs)),
      row('connections idle, until 90 % were done', (run) => percent(idleShare(run, milestone(run, 0.9)))),
      row('requests of the busiest worker, relative to the mean', ({ busiest }) => ratio(busiest)),
      row('gaps shorter than asked for', ({ pace }) => `${count(pace.short)} of ${count(pace.gaps)}`),
      row('fetches of robots.txt', ({ robots }) => count(robots.fetches)),
      row("checks that the worker's memory answered", ({ cache }) => percent(cache.memoryHits / cache.checks)),
      row('Redis calls per URL, for robots.txt', (run) => perUrl(run, robotsCalls(run))),
      row('Redis calls per URL, for the pace', (run) => perUrl(run, run.calls.slot + run.calls.report)),
      row('queue calls per URL, if the queue does not know the time', (run) => perUrl(run, queueCalls(run))),
      row('Redis memory for robots.txt, estimated', () => bytes(record.origins * robotsBytes)),
      row('Redis memory for pace keys at their peak, estimated', ({ pacerKeys }) => bytes(pacerKeys * pacerBytes)),
    ],
  }
}

/** The same mix of sites for a billion origins, spread evenly over some days. */
function billion(record: FleetRecord): DocTable {
  const factor = 1_000_000_000 / record.origins
  const { spread } = record
  const columns = [spread.days, 1].flatMap((days) =>
    [record.plans.partition, record.plans.shared].map((run) => ({ run, perSecond: factor / (days * 86_400) })),
  )
  const row = (what: string, of: (column: (typeof columns)[number]) => string) => [what, ...columns.map(of)]
  const paceCalls = ({ calls }: (typeof columns)[number]['run']) => calls.slot + calls.report
  const processes = ({ run, perSecond }: (typeof columns)[number]) =>
    (robotsCalls(run) / redis.callsPerSecond + (paceCalls(run) + queueCalls(run)) / redis.scriptsPerSecond) * perSecond
  const redisBytes = factor * record.origins * robotsBytes
  const jobBytes = factor * record.urls * (redis.jobBytes + redis.bytesPerKey)
  const days = (value: number) => (value === 1 ? 'a day' : `${value} days`)
  return {
    head: [
      'a billion origins, computed',
      ...[spread.days, 1].flatMap((n) => [`partition, ${days(n)}`, `shared, ${days(n)}`]),
    ],
    rows: [
      row('requests for pages a second', ({ run, perSecond }) => count(run.pages * perSecond)),
      row('fetches of robots.txt a second, if the URLs of a site are crawled together', ({ run, perSecond }) =>
        count(run.robots.fetches * perSecond),
      ),
      row(
        `traffic, at ${bytes(web.pageBytes)} a page`,
        ({ run, perSecond }) => `${bytes(run.pages * perSecond * web.pageBytes)}/s`,
      ),
      row(`workers of ${crawler.connections} connections, all in use`, ({ run, perSecond }) =>
        count((run.busyMs / 1000 / crawler.connections) * perSecond),
      ),
      row('Redis calls a second for robots.txt', ({ run, perSecond }) => count(robotsCalls(run) * perSecond)),
      row('Redis calls a second for the pace', ({ run, perSecond }) => count(paceCalls(run) * perSecond)),
      row('queue calls a second, if the queue does not know the time', ({ run, perSecond }) =>
        count(queueCalls(run) * perSecond),
      ),
      row(
        `Redis processes for these calls, at ${count(redis.callsPerSecond)} reads or ${count(redis.scriptsPerSecond)} scripts a second each`,
        (column) => count(Math.ceil(processes(column))),
      ),
      row('Redis memory for robots.txt', () => bytes(redisBytes)),
      row('Redis memory if all URLs were jobs of the queue', ({ run }) =>
        run.plan === 'shared' ? bytes(jobBytes) : 'none',
      ),
    ],
  }
}

/** The mean size in Redis of what is known of an origin's robots.txt. */
const robotsBytes: number =
  redis.bytesPerKey +
  redis.keyBytes +
  web.missingShare * redis.missingEntryBytes +
  (1 - web.missingShare) * redis.rulesEntryBytes

const pacerBytes: number = redis.bytesPerKey + redis.keyBytes + redis.pacerBytes

function robotsCalls({ calls }: Summary): number {
  return calls.get + calls.lease + calls.reread + calls.set + calls.release + calls.poll
}

/** Returns the calls of a queue that learns from the pacer that a job must wait. */
function queueCalls({ plan, pages, waits }: Summary): number {
  return plan === 'shared' ? pages * redis.callsPerJob + waits * redis.callsPerDelayedJob : 0
}

function milestone(run: Summary, share: number): { readonly at: number; readonly busyMs: number } {
  return run.milestones.find((one) => one.share === share) ?? { at: run.makespanMs, busyMs: run.busyMs }
}

function idleShare({ workers }: Summary, { at, busyMs }: { readonly at: number; readonly busyMs: number }): number {
  return Math.max(0, 1 - busyMs / (at * workers * crawler.connections))
}

function perUrl({ fetched }: Summary, calls: number): string {
  return (calls / fetched).toFixed(2)
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function percent(share: number): string {
  return `${Number((share * 100).toPrecision(3))} %`
}

function ratio(value: number): string {
  return `${value.toFixed(3)}×`
}

function bytes(value: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const power = value < 1 ? 0 : Math.floor(Math.log10(value) / 3)
  return `${Number((value / 1000 ** power).toPrecision(3))} ${units[power]}`
}

function duration(ms: number): string {
  const seconds = ms / 1000
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return seconds < 200_000 ? `${(seconds / 3_600).toFixed(1)} h` : `${(seconds / 86_400).toFixed(1)} days`
}
