// Measures the processor time of one page of a crawl, in the process that crawls. No page has to
// wait.
import { type Contestant, measureInRounds } from '../../rounds.ts'
import type { Finding, Sheet } from '../../sheet.ts'
import { NumberProcess } from '../number-process.ts'
import type { Plan } from '../plan.ts'

const HOSTS = 50
const CONCURRENCY = 64
const RULES = 40

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
  { name: 'robots.check, undici.request', bare: REQUEST, atMost: 1.1 },
  { name: 'gate.enter, undici.request', bare: REQUEST, atMost: 1.2 },
  { name: 'undici.request, politeAgent', bare: REQUEST, atMost: 1.4 },
  { name: FETCH },
  { name: BY_HAND, bare: FETCH },
  { name: POLITE_FETCH, bare: FETCH, atMost: 1.2 },
]
/** The target for our fetch, relative to the version by hand. */
const AT_MOST_BY_HAND = 1.15

export async function crawl(plan: Plan): Promise<Sheet> {
  const server = new NumberProcess(SERVER_SCRIPT, [RULES])
  const methods: CrawlMethod[] = []
  try {
    const port = await server.nextNumber()
    for (const { name } of METHODS) methods.push(new CrawlMethod(name, port, plan.crawlPages))
    const medians = await measureInRounds(methods, 1, plan.rounds)
    const micros = medians.map(([ns = Number.NaN]) => ns / 1e3)
    return sheetOf(plan, new Map(METHODS.map(({ name }, i) => [name, micros[i] as number])))
  } finally {
    for (const method of methods) method.end()
    server.kill()
  }
}

/**
 * One way to crawl, in its own process, so that the garbage and the compiled code of one way do not
 * slow down another.
 */
class CrawlMethod implements Contestant {
  readonly #child: NumberProcess
  readonly #pages: number

  constructor(name: string, port: number, pages: number) {
    this.#child = new NumberProcess(CLIENT_SCRIPT, [name, port, HOSTS, CONCURRENCY])
    this.#pages = pages
  }

  measure(): Promise<number> {
    return this.#child.request(this.#pages)
  }

  end(): void {
    this.#child.kill()
  }
}

function sheetOf({ crawlPages }: Plan, micros: ReadonlyMap<string, number>): Sheet {
  const ratio = (name: string, other: string) => (micros.get(name) as number) / (micros.get(other) as number)
  const findings = METHODS.flatMap(({ name, bare, atMost }): Finding[] =>
    bare === undefined || atMost === undefined
      ? []
      : [{ what: `crawl: ${name}, against ${bare}`, value: ratio(name, bare), unit: '×', target: { atMost } }],
  )
  return {
    workload: 'crawl',
    over: 'own',
    title: `crawl: ${crawlPages} pages of ${HOSTS} hosts on loopback, ${CONCURRENCY} at once, robots.txt of ${RULES} rules`,
    columns: [
      { name: 'one page', unit: 'µs of processor' },
      { name: 'against bare', unit: '×' },
    ],
    rows: METHODS.map(({ name, bare = name }) => ({ name, cells: [micros.get(name) ?? null, ratio(name, bare)] })),
    findings: [
      ...findings,
      {
        what: `crawl: ${POLITE_FETCH}, against robots-parser by hand`,
        value: ratio(POLITE_FETCH, BY_HAND),
        unit: '×',
        target: { atMost: AT_MOST_BY_HAND },
      },
    ],
    notes: [],
  }
}
