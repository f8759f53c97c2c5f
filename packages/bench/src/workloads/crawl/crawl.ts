// Measures the processor time of one page of a crawl, in the process that crawls. No page has to
// wait.
//
// V8 compiles the code of a page in several steps, up to about ten thousand pages. So each way to
// crawl has its own process, which lives for the whole run and first fetches many pages. Then all
// take turns in rounds, in random order. Noise of the machine affects all turns of a round
// alike, so the ratio of two ways is taken within a round.
import { median, medianInterval } from '../../median.ts'
import { digits, type Finding, type Row, type Sheet } from '../../sheet.ts'
import { NumberProcess } from '../number-process.ts'
import type { Plan } from '../plan.ts'

const HOSTS = 50
const CONCURRENCY = 64
export const RULES: number = 40

const CLIENT_SCRIPT = new URL('./crawl-child.ts', import.meta.url)
const SERVER_SCRIPT = new URL('./crawl-server-child.ts', import.meta.url)

interface Method {
  /** The name by which `crawl-child.ts` knows the method. */
  readonly name: string
  /**
   * The client without robots.txt that the method is compared with. Undefined for such a client.
   */
  readonly bare?: string
  /** The target for the ratio of the two. */
  readonly atMost?: number
}

const REQUEST = 'undici.request'
const FETCH = 'undici.fetch'
const BY_HAND = 'undici.fetch, robots-parser by hand'
const POLITE_FETCH = 'politely(undici.fetch)'
const METHODS: readonly Method[] = [
  { name: REQUEST },
  { name: 'gate by hand, undici.request', bare: REQUEST },
  { name: 'robots.check, undici.request', bare: REQUEST, atMost: 1.1 },
  { name: 'gate.enter, undici.request', bare: REQUEST, atMost: 1.15 },
  { name: 'undici.request, politeAgent', bare: REQUEST, atMost: 1.4 },
  { name: FETCH },
  { name: BY_HAND, bare: FETCH },
  { name: POLITE_FETCH, bare: FETCH, atMost: 1.2 },
  { name: 'cache miss', bare: POLITE_FETCH, atMost: 1.05 },
  { name: 'cache hit', bare: POLITE_FETCH },
]
/** The target for our fetch, relative to the version by hand. */
const AT_MOST_BY_HAND = 1.08

/** By method: nanoseconds for one page, for each round. */
type Samples = ReadonlyMap<string, readonly number[]>

interface Crawl {
  readonly hosts: number
  readonly atOnce: number
  /** `one`: all hosts share their connections. */
  readonly pools: 'each' | 'one'
  readonly warmUpPages: number
  readonly rounds: number
  readonly pages: number
}

export async function crawl(plan: Plan): Promise<Sheet> {
  const { crawlWarmUpPages: warmUpPages, crawlRounds: rounds, crawlPages: pages } = plan
  const names = METHODS.map(({ name }) => name)
  return sheetOf(
    plan,
    await samplesOf(names, { hosts: HOSTS, atOnce: CONCURRENCY, pools: 'each', warmUpPages, rounds, pages }),
  )
}

/** Starts a process for each method, lets each warm up, and then all take turns. */
export async function samplesOf(
  names: readonly string[],
  { hosts, atOnce, pools, warmUpPages, rounds, pages }: Crawl,
): Promise<Samples> {
  const server = new NumberProcess(SERVER_SCRIPT, [RULES])
  const crawlers = new Map<string, NumberProcess>()
  try {
    const port = await server.nextNumber()
    for (const name of names) crawlers.set(name, new NumberProcess(CLIENT_SCRIPT, [name, port, hosts, atOnce, pools]))
    for (const crawler of crawlers.values()) await crawler.request(warmUpPages)
    const samples = new Map(names.map((name): [string, number[]] => [name, []]))
    for (let round = 0; round < rounds; round++)
      for (const [name, crawler] of shuffled([...crawlers])) samples.get(name)?.push(await crawler.request(pages))
    return samples
  } finally {
    for (const crawler of crawlers.values()) crawler.kill()
    server.kill()
  }
}

function shuffled<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value)
}

export function ratiosOf(samples: Samples, name: string, other: string): number[] {
  const others = samples.get(other) ?? []
  return (samples.get(name) ?? []).map((ns, round) => ns / (others[round] ?? Number.NaN))
}

function rowOf(samples: Samples, { name, bare }: Method): Row {
  const micros = median(samples.get(name) ?? []) / 1e3
  if (bare === undefined) return { name, cells: [micros, null, null] }
  const ratios = ratiosOf(samples, name, bare)
  const [low, high] = medianInterval(ratios)
  return { name, cells: [micros, median(ratios), `${digits(low)} to ${digits(high)}`] }
}

function sheetOf({ crawlPages, crawlRounds, crawlWarmUpPages }: Plan, samples: Samples): Sheet {
  const findings = METHODS.flatMap(({ name, bare, atMost }): Finding[] => {
    if (bare === undefined || atMost === undefined) return []
    const value = median(ratiosOf(samples, name, bare))
    return [{ what: `crawl: ${name}, against ${bare}`, value, unit: '×', target: { atMost } }]
  })
  return {
    workload: 'crawl',
    over: 'own',
    title: `crawl: ${crawlRounds} rounds of ${crawlPages} pages after ${crawlWarmUpPages}, ${HOSTS} hosts on loopback, ${CONCURRENCY} at once, robots.txt of ${RULES} rules`,
    columns: [
      { name: 'one page', unit: 'µs of processor' },
      { name: 'against bare', unit: '×' },
      { name: '95 % interval', unit: '×' },
    ],
    rows: METHODS.map((method) => rowOf(samples, method)),
    findings: [
      ...findings,
      {
        what: `crawl: ${POLITE_FETCH}, against robots-parser by hand`,
        value: median(ratiosOf(samples, POLITE_FETCH, BY_HAND)),
        unit: '×',
        target: { atMost: AT_MOST_BY_HAND },
      },
    ],
    notes: [],
  }
}
