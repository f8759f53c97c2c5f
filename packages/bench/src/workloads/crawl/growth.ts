// How the processor time of a page grows with the number of sites and of requests at once. The ways to
// crawl take turns, and share their connections between all sites, so the difference is the gate's.
import { median } from '../../median.ts'
import type { Sheet } from '../../sheet.ts'
import { NumberProcess } from '../number-process.ts'
import type { Plan } from '../plan.ts'
import { CLIENT_SCRIPT, RULES, ratiosOf, type Samples, SERVER_SCRIPT, turns } from './crawl.ts'

const WAYS = [
  { name: 'gate.enter, undici.request', bare: 'undici.request' },
  { name: 'politely(undici.fetch)', bare: 'undici.fetch' },
] as const
const AT_ONCE = [1, 8, 64] as const
const ROUNDS_SHARE = 1 / 3

export async function growth(plan: Plan): Promise<Sheet> {
  const rows: Sheet['rows'][number][] = []
  for (const hosts of plan.growthHosts) {
    for (const atOnce of AT_ONCE) {
      const samples = await samplesOf(plan, hosts, atOnce)
      const cells = WAYS.flatMap(({ name, bare }) => {
        const added = (samples.get(name) ?? []).map(
          (ns, round) => (ns - (samples.get(bare)?.[round] ?? Number.NaN)) / 1e3,
        )
        return [median(added), median(ratiosOf(samples, name, bare))]
      })
      rows.push({ name: `${hosts.toLocaleString('en')} sites, ${atOnce} at once`, cells })
    }
  }
  return {
    workload: 'growth',
    over: 'own',
    title: `growth: sites on loopback that share their connections, robots.txt of ${RULES} rules`,
    columns: WAYS.flatMap(({ name }) => [
      { name: `${name}: added`, unit: 'µs of processor' },
      { name: 'against bare', unit: '×' },
    ]),
    rows,
    findings: [],
    notes: [],
  }
}

/** Every site is visited before the first round. */
async function samplesOf(plan: Plan, hosts: number, atOnce: number): Promise<Samples> {
  const server = new NumberProcess(SERVER_SCRIPT, [RULES])
  const crawlers = new Map<string, NumberProcess>()
  try {
    const port = await server.nextNumber()
    for (const name of WAYS.flatMap((way) => [way.bare, way.name]))
      crawlers.set(name, new NumberProcess(CLIENT_SCRIPT, [name, port, hosts, atOnce, 'one']))
    const warmUpPages = Math.max(plan.crawlWarmUpPages, hosts)
    return await turns(crawlers, {
      warmUpPages,
      rounds: Math.ceil(plan.crawlRounds * ROUNDS_SHARE),
      pages: plan.crawlPages,
    })
  } finally {
    for (const crawler of crawlers.values()) crawler.kill()
    server.kill()
  }
}
