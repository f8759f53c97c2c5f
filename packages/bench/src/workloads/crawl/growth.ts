// How the processor time of a page grows with the number of sites and of requests at once. All sites
// share their connections, so the difference is the gate's. Every site is visited before the first
// round.
import { median } from '../../median.ts'
import type { Row, Sheet } from '../../sheet.ts'
import type { Plan } from '../plan.ts'
import { RULES, ratiosOf, samplesOf } from './crawl.ts'

const WAYS = [
  { name: 'gate.enter, undici.request', shown: 'enter', bare: 'undici.request' },
  { name: 'politely(undici.fetch)', shown: 'politely', bare: 'undici.fetch' },
] as const
const ROUNDS_SHARE = 1 / 3

export async function growth(plan: Plan): Promise<Sheet> {
  const rows: Row[] = []
  for (const hosts of plan.growthHosts)
    for (const atOnce of plan.growthAtOnce) rows.push(await rowOf(plan, hosts, atOnce))
  return {
    workload: 'growth',
    over: 'own',
    title: `growth: ${WAYS.map(({ name }) => name).join('; ')}; robots.txt of ${RULES} rules`,
    columns: WAYS.flatMap(({ shown }) => [
      { name: `${shown} adds`, unit: 'µs of processor' },
      { name: 'against bare', unit: '×' },
    ]),
    rows,
    findings: [],
    notes: [],
  }
}

async function rowOf(plan: Plan, hosts: number, atOnce: number): Promise<Row> {
  const samples = await samplesOf(
    WAYS.flatMap(({ name, bare }) => [bare, name]),
    {
      hosts,
      atOnce,
      pools: 'one',
      warmUpPages: Math.max(plan.crawlWarmUpPages, hosts),
      rounds: Math.ceil(plan.crawlRounds * ROUNDS_SHARE),
      pages: plan.crawlPages,
    },
  )
  const cells = WAYS.flatMap(({ name, bare }) => {
    const bareNs = samples.get(bare) ?? []
    const added = (samples.get(name) ?? []).map((ns, round) => ns - (bareNs[round] ?? Number.NaN))
    return [median(added) / 1e3, median(ratiosOf(samples, name, bare))]
  })
  return { name: `${hosts.toLocaleString('en')} sites, ${atOnce} at once`, cells }
}
